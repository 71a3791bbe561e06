//! The terminal that this process shares with others.

use std::io;
use std::os::fd::AsFd;

use rustix::termios::{QueueSelector, tcflush};

/// Drops what somebody typed at a terminal and nobody read yet.
///
/// # Errors
///
/// Fails where it is no terminal.
pub fn drop_typed(terminal: impl AsFd) -> io::Result<()> {
    Ok(tcflush(terminal, QueueSelector::IFlush)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_terminal_has_nothing_to_drop() {
        let (reader, _writer) = io::pipe().unwrap();
        assert!(drop_typed(reader).is_err());
    }
}
