//! `haft mcp`, as clients meet it.

mod clients;
mod conformance;
mod faults;
mod floods;
mod http;
mod leaving;
mod lines;
mod wire;
