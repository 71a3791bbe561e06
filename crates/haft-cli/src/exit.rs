//! Exit codes, which scripts may rely on.
//!
//! What is typed well and names something that is not there (a tool, a call, a file) is [`Exit::Failed`]. What cannot be
//! understood, or could mean several things, is [`Exit::Usage`]. This holds for every command.

use std::process::ExitCode;

use haft::{Outcome, Status};

/// How the command ended. The numbers never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything went well.
    Ok = 0,
    /// A tool or command could not do what it was asked to, or what was named is not there.
    Failed = 1,
    /// The command line, the arguments or the configuration is not right.
    Usage = 2,
    /// A control refused.
    Denied = 3,
    /// A body ran past its deadline, or a run reached a limit.
    TimedOut = 4,
    /// A run was ended because its terminal is gone.
    HungUp = 129,
    /// Somebody took the call back, or interrupted the run.
    Cancelled = 130,
    /// A run was ended by the system or another program.
    Terminated = 143,
}

impl Exit {
    /// Returns the code for an outcome.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match &outcome.status {
            Status::Ok => Self::Ok,
            Status::Failed(failure) if failure.kind == haft::ErrorKind::InvalidArguments => {
                Self::Usage
            }
            Status::Failed(_) => Self::Failed,
            Status::Denied(_) => Self::Denied,
            Status::TimedOut { .. } => Self::TimedOut,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use haft::{Control, Denial, ErrorKind, Failure};

    use super::*;

    #[test]
    fn every_ending_has_its_code() {
        let code = |status| Exit::of(&Outcome::new(status)) as u8;
        let failed = |kind| code(Status::Failed(Failure::new(kind, "no")));
        assert_eq!(code(Status::Ok), 0);
        assert_eq!(failed(ErrorKind::NotFound), 1);
        assert_eq!(failed(ErrorKind::Internal), 1);
        assert_eq!(failed(ErrorKind::InvalidArguments), 2);
        assert_eq!(code(Status::Denied(Denial::new(Control::Policy, "no"))), 3);
        assert_eq!(code(Status::TimedOut { after_ms: 1 }), 4);
        assert_eq!(code(Status::Cancelled), 130);
    }
}
