//! The door to processes: the only crate that starts programs.
//!
//! ```no_run
//! use haft_process::{Command, End, Launcher};
//!
//! # async fn example(directory: std::os::fd::OwnedFd) -> Result<(), haft_process::LaunchError> {
//! // First in `main`: this process may have been started to act as the helper.
//! let helper = haft_process::helper::run_if_requested();
//!
//! let launcher = Launcher::new(Some(helper), "/tmp");
//! let command = Command::of(["sh", "-c", "echo hello"], directory);
//! let finished = launcher.run(command, std::future::pending()).await?;
//! assert_eq!(finished.end, End::Exited(0));
//! assert_eq!(finished.stdout.kept().head, "hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! * [`Launcher`] runs a [`Command`] to its end and says how it [`Finished`]: it returns when the command ends although
//!   others hold its streams, asks before it kills, and leaves nothing running. Dropping the future stops everything.
//! * [`Captured`] is what it wrote: start and end in memory, more of it on disk, every byte counted.
//! * [`SandboxLevel`] says how far it is confined. The strongest level that works is found by trying what must not work
//!   ([`Launcher::self_test`]), stands in every result, and is never quietly weaker than demanded.
//! * [`helper`] is what applies all this: the program itself, started again. Without it the process group is killed and
//!   nothing more is promised.
//! * [`terminal`] is what this process and a person share.
//!
//! Linux has it all. Other systems have no helper, so level `group` at most.
//!
//! Not here: what a command may be (`haft-policy`), where it may work (`haft-workspace`), and what a model is told of it
//! (`haft-coding`).
#![expect(clippy::disallowed_methods, reason = "the door to processes")]

mod allowance;
mod captured;
mod command;
mod error;
mod finished;
pub mod helper;
mod launcher;
mod leash;
mod plain;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "portable.rs")]
mod platform;
#[cfg(target_os = "linux")]
mod procfs;
mod report;
mod scratch;
mod supervise;
pub mod terminal;
#[cfg(target_os = "linux")]
mod trials;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only the helper on Linux speaks"))]
mod wire;

pub use allowance::Allowance;
pub use captured::Captured;
pub use command::{Capture, Command, Sandbox};
pub use error::LaunchError;
pub use finished::{Cleanup, Confinement, End, Finished, LeftBehind, Process};
pub use haft_protocol::{SandboxLevel, SandboxLevelError};
pub use launcher::Launcher;
pub use report::{HelperState, LevelReport, Report, Trial};
