//! The Model Context Protocol: a registry of tools becomes a server that the clients people already use can speak to.
//!
//! An [`McpServer`] is made of a dispatch, a registry and the context its calls are made in; it adds no power of its own.
//! Every `tools/call` goes through [`haft_tool::Dispatch`], so that rules, records, limits and undo hold for a client's
//! model as they do for anybody else.
//!
//! One handler serves both eras of the protocol: the `initialize` handshake of 2025-11-25 and before, and the stateless
//! 2026-07-28 with `server/discover`. [`McpServer::serve`] speaks over a pair of streams, which for most clients are
//! standard input and output; with the feature `http`, `McpServer::bind` listens on loopback.
//!
//! The crate speaks with the `rmcp` library and shows none of its types.
//!
//! Not here: the command (`haft mcp`), what the tools do, and who may do it.

mod about;
mod asking;
mod call;
mod changes;
mod client;
#[cfg(feature = "conformance")]
#[doc(hidden)]
pub mod conformance;
mod face;
#[cfg(feature = "http")]
mod http;
mod lines;
mod list;
mod progress;
mod resources;
mod result;
mod seal;
mod server;

pub use about::About;
pub use asking::AskTheClient;
#[cfg(feature = "http")]
pub use http::{ListenError, Listening, Token};
pub use seal::SealKey;
pub use server::{End, McpServer, McpServerBuilder, standard_streams};
