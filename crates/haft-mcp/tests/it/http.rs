//! The server over HTTP, on a port of this machine.

mod door;
mod sessions;
mod site;
mod stateless;
