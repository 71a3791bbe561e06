//! The server over HTTP, on a port of this machine.
#![expect(clippy::disallowed_methods, reason = "clients open their own connections")]
#![expect(clippy::indexing_slicing, clippy::panic, reason = "a test stops where it fails")]

mod door;
mod room;
mod sessions;
mod site;
mod stateless;
