//! What each command takes, prints, and how it ends.

mod bash;
mod calls;
mod doors;
mod envelopes;
mod interrupting;
mod mcp;
mod own;
mod pages;
mod printing;
mod records;
mod roots;
mod rules;
mod terminal;
mod undoing;
