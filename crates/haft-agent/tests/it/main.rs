//! What a model at work promises.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, looks at files outside of everything, and starts itself again to be killed"
)]

mod calls;
mod cancel;
mod entrances;
mod kill;
mod limits;
mod loops;
mod machine;
mod operations;
mod record;
mod rig;
mod room;
mod subagents;
mod turn;
