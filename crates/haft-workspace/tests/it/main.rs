//! The workspace on real file systems.

#![expect(clippy::disallowed_methods, reason = "tests prepare their own files")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod binding;
mod capturing;
mod corpus;
mod edges;
mod escapes;
mod folding;
mod hand;
mod kinds;
mod listing;
mod model;
mod printed;
mod protected;
mod races;
mod repairing;
mod rig;
mod roots;
mod rules;
mod undoing;
mod walking;
mod wandering;
mod writing;
