//! What goes wrong with changes to files.

use std::io;

use haft_protocol::{ErrorKind, Failure, Outcome, Status, limits};
use haft_tool::ports::PortError;
use rustix::io::Errno;

use crate::error::PathError;
use crate::file::FileKind;

/// A change that was not made. What stood there before stands there still.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The path does not lead to what a call may work with.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The name would be a trap on some system.
    #[error("`{path}` cannot be made: {problem}")]
    Name {
        /// The path.
        path: String,
        /// What is wrong with the name.
        problem: String,
    },
    /// What stands there is not what the caller took it for.
    #[error("`{path}` changed since it was read: {problem}; nothing was written")]
    Changed {
        /// The path.
        path: String,
        /// What is different.
        problem: &'static str,
    },
    /// Something stands where something new was to be.
    #[error("`{path}` already exists: it is {kind}")]
    Exists {
        /// The path.
        path: String,
        /// What it is.
        kind: FileKind,
    },
    /// The thing is of a kind that is never written to, moved or removed.
    #[error("`{path}` is {kind}: {wanted}")]
    Kind {
        /// The path.
        path: String,
        /// What it is.
        kind: FileKind,
        /// What it would have to be.
        wanted: &'static str,
    },
    /// A root is no entry of the workspace.
    #[error("`{path}` is a root of the workspace, which stays where it is")]
    Root {
        /// The path.
        path: String,
    },
    /// Too many directories are missing on the way to the place.
    #[error(
        "`{}` needs {missing} new directories; at most {} are made for one change, and nothing was made", begin(.path), limits::NEW_DIRECTORIES
    )]
    TooDeep {
        /// The path.
        path: String,
        /// How many are missing.
        missing: usize,
    },
    /// A directory that was to be removed holds something.
    #[error("the directory `{path}` is not empty")]
    NotEmpty {
        /// The path.
        path: String,
    },
    /// A directory that was to be moved holds what may not be touched.
    #[error("`{path}` cannot be moved as a whole: {problem}")]
    Holds {
        /// The path.
        path: String,
        /// What it holds.
        problem: String,
    },
    /// A directory cannot become part of itself.
    #[error("`{from}` cannot be moved into itself")]
    IntoItself {
        /// The directory.
        from: String,
    },
    /// The two places lie on different devices.
    #[error(
        "`{from}` and `{to}` lie on different devices, and a directory is only moved within one"
    )]
    OtherDevice {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// The permission bits of the file say that it is not to be written.
    #[error("`{path}` is read-only (mode {mode:o})")]
    ReadOnly {
        /// The path.
        path: String,
        /// The permission bits.
        mode: u32,
    },
    /// The disk or the quota is full.
    #[error("there is no room for `{path}`: {source}; nothing was changed")]
    NoRoom {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system refuses to change the directory.
    #[error("`{path}` cannot be written: {source}; nothing was changed")]
    Refused {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// What would be taken away could not be kept, or the change could not be put on record, so it was not made.
    #[error("`{path}` was not changed, for it could not be put on record: {source}")]
    Unrecorded {
        /// The path.
        path: String,
        /// Why.
        #[source]
        source: PortError,
    },
}

impl WriteError {
    /// Puts a failed system call into the words of its path.
    pub(crate) fn of_system(path: impl Into<String>, error: Errno) -> Self {
        let path = path.into();
        match error {
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => {
                Self::NoRoom { path, source: error.into() }
            }
            Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::NAMETOOLONG | Errno::TXTBSY => {
                Self::Refused { path, source: error.into() }
            }
            Errno::EXIST => Self::Changed { path, problem: "something stands there now" },
            Errno::NOTEMPTY => Self::NotEmpty { path },
            error => Self::Path(PathError::of_system(path, error)),
        }
    }

    pub(crate) fn of_io(path: impl Into<String>, error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => Self::of_system(path, errno),
            None => Self::Path(PathError::Io { path: path.into(), source: error }),
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Path(_) | Self::Unrecorded { .. } => ErrorKind::Unavailable,
            Self::Name { .. } => ErrorKind::InvalidArguments,
            Self::Changed { .. } | Self::Exists { .. } | Self::NotEmpty { .. } => {
                ErrorKind::Conflict
            }
            Self::Kind { .. }
            | Self::Root { .. }
            | Self::IntoItself { .. }
            | Self::OtherDevice { .. } => ErrorKind::Unsupported,
            Self::Holds { .. } | Self::ReadOnly { .. } | Self::Refused { .. } => {
                ErrorKind::PermissionDenied
            }
            Self::TooDeep { .. } => ErrorKind::LimitExceeded,
            Self::NoRoom { .. } => ErrorKind::Upstream,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Changed { .. } => Some("read it again, then decide anew"),
            Self::Exists { .. } => Some("choose another path, or remove or replace what is there"),
            Self::NotEmpty { .. } => {
                Some("remove what is in it first; some of it may be hidden from you")
            }
            Self::Holds { .. } => Some("move what else is in it piece by piece"),
            Self::Name { .. } => Some("choose another name"),
            Self::TooDeep { .. } => {
                Some("choose a shorter path, or make the first directories first")
            }
            Self::NoRoom { .. } => Some("ask the user to make room"),
            Self::ReadOnly { .. } | Self::Refused { .. } => {
                Some("ask the user to change the permissions, or work elsewhere")
            }
            _ => None,
        }
    }
}

/// Shows the begin of a path that may be very long.
fn begin(path: &str) -> String {
    let end = path.floor_char_boundary(80);
    match path.get(..end) {
        Some(begin) if begin.len() < path.len() => format!("{begin}…"),
        _ => path.to_owned(),
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        let error = match error {
            WriteError::Path(error) => return error.into(),
            WriteError::Unrecorded { path, source } => {
                let failure = Failure::from(source);
                let text = format!(
                    "`{path}` was not changed, for it could not be put on record: {}",
                    failure.model_text
                );
                return Failure { model_text: text, ..failure };
            }
            error => error,
        };
        let failure = Failure::new(error.kind(), error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<WriteError> for Status {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Path(error) => error.into(),
            error => Status::Failed(error.into()),
        }
    }
}

impl From<WriteError> for Outcome {
    fn from(error: WriteError) -> Self {
        Outcome::new(error.into())
    }
}
