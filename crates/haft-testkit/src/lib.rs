//! Rig, conformance kits and page runner for the tests of haft.
//!
//! Used from `tests/it` only. A [`Rig`] is a dispatch over doors made of memory, each of which can be told to fail,
//! hang or panic; the [kits](mod@kit) are what every implementation of a contract has to pass; a [`ModelServer`] answers with
//! a real model.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a rig that cannot be set up is a test that fails"
)]

pub mod doors;
mod effects;
pub mod kit;
mod mcp;
mod model_server;
#[cfg(feature = "pages")]
pub mod pages;
mod rig;
mod script;

pub use effects::MemoryEffects;
pub use mcp::{Era, McpClient};
pub use model_server::{Answer, Event, ModelServer, Weights};
pub use rig::{Rig, RigBuilder, echo, pure_tool};
pub use script::{Line, ScriptedModel, finished, wish};
