//! The caller's hold on a command that runs on another thread.

use std::io;
use std::os::fd::OwnedFd;

/// The caller's hold on a command: a word stops it, and so does letting go.
#[derive(Debug)]
pub(crate) struct Leash(OwnedFd);

impl Leash {
    /// Makes a leash, and the end of it that becomes readable when the command is to stop.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (held, hold) = io::pipe()?;
        Ok((Self(hold.into()), held.into()))
    }

    /// Has the command stopped.
    pub(crate) fn stop(&self) {
        let _ = rustix::io::write(&self.0, b"s");
    }
}
