//! What can go wrong with recorded state.

use std::io;
use std::path::{Path, PathBuf};

use haft_protocol::{ArtifactId, RunId, Timestamp};
use haft_tool::ports::PortError;
use rusqlite::ErrorCode;

/// State that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The state directory is not one that records may be trusted to.
    #[error("state directory `{path}` {problem}; choose another with HAFT_STATE_DIR", path = path.display())]
    Directory {
        /// The directory, or the part of its path that is the trouble.
        path: PathBuf,
        /// What is wrong with it, as the end of a sentence.
        problem: String,
    },
    /// The state directory cannot be written to. [`Store::open_to_look`](crate::Store::open_to_look) may do.
    #[error("state directory `{path}` {problem}; choose another with HAFT_STATE_DIR", path = path.display())]
    Unwritable {
        /// The directory, or the file in it that is the trouble.
        path: PathBuf,
        /// What is wrong with it, as the end of a sentence.
        problem: String,
    },
    /// A file of the state directory could not be used.
    #[error("could not {what} `{path}`: {source}", path = path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The database was written by a later haft.
    #[error(
        "state database `{path}` has form {found}, and this haft knows forms up to {known}; use a newer haft, or another state directory with HAFT_STATE_DIR",
        path = path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its form.
        found: i64,
        /// The last form this haft knows.
        known: i64,
    },
    /// The database is not one of ours.
    #[error(
        "`{path}` is a database of another program; move it away, or choose another state directory with HAFT_STATE_DIR",
        path = path.display()
    )]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// The database could not be used.
    #[error("{text}")]
    Database {
        /// What is wrong, with the path, and what would help.
        text: String,
        /// What the database said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A record that cannot follow what is on record.
    #[error("{text}")]
    Refused {
        /// Why not.
        text: String,
    },
    /// The thread that writes has ended.
    #[error("the journal has stopped; start the process again")]
    Stopped,
    /// No call goes by that id.
    #[error("no call on record has an id that is, begins or ends with `{query}`")]
    NoSuchCall {
        /// What was looked for, cut to a length fit for a message.
        query: String,
    },
    /// Several calls go by that part of an id.
    #[error("`{query}` fits several calls: {}", candidates.join(", "))]
    AmbiguousCall {
        /// What was looked for.
        query: String,
        /// Ids that fit, newest first, at most ten.
        candidates: Vec<String>,
    },
    /// A text that cannot be part of an id.
    #[error(
        "`{query}` is not a call: expected `last`, an id, or at least 4 characters of its begin or end"
    )]
    NotAnId {
        /// What was given, cut to a length fit for a message.
        query: String,
    },
    /// No run goes by that id.
    #[error("no run on record has an id that is, begins or ends with `{query}`")]
    NoSuchRun {
        /// What was looked for, cut to a length fit for a message.
        query: String,
    },
    /// Several runs go by that part of an id.
    #[error("`{query}` fits several runs: {}", candidates.join(", "))]
    AmbiguousRun {
        /// What was looked for.
        query: String,
        /// Ids that fit, newest first, at most ten.
        candidates: Vec<String>,
    },
    /// A text that cannot be part of a run's id.
    #[error(
        "`{query}` is not a run: expected `last`, an id, or at least 4 characters of its begin or end"
    )]
    NotARun {
        /// What was given, cut to a length fit for a message.
        query: String,
    },
    /// Somebody has the run open.
    #[error("run {run} is open {}; end that first, or go on from a copy with `haft fork {run}`", holder(*pid))]
    RunInUse {
        /// The run.
        run: RunId,
        /// The number of the process that has it open, where it is known.
        pid: Option<u32>,
        /// Since when, where that is known.
        since: Option<Timestamp>,
    },
    /// Not even the begin of a run can be read.
    #[error("run {run} cannot be read: its first entry {problem}")]
    RunUnreadable {
        /// The run.
        run: RunId,
        /// What is wrong with the entry, as the end of a sentence.
        problem: String,
    },
    /// No artifact goes by that id.
    #[error(
        "no artifact `{id}` is on record; it may have been removed with the call it belongs to"
    )]
    NoSuchArtifact {
        /// The id.
        id: ArtifactId,
    },
    /// An artifact made room for later ones.
    #[error(
        "artifact `{id}` was removed to keep all artifacts within {cap} bytes; make the call again"
    )]
    ArtifactEvicted {
        /// The id.
        id: ArtifactId,
        /// The cap.
        cap: u64,
    },
    /// The bytes of an artifact are not those that were kept.
    #[error("the bytes of artifact `{id}` are gone or were changed; make the call again")]
    ArtifactDamaged {
        /// The id.
        id: ArtifactId,
    },
    /// More bytes than an artifact may have, or than there is room for.
    #[error("{bytes} bytes are too many to keep: {problem}")]
    ArtifactTooLarge {
        /// The bytes of the refused artifact.
        bytes: u64,
        /// Which cap is in the way.
        problem: String,
    },
    /// Secrets that cannot be searched for.
    #[error("the secrets to redact cannot be searched for; hand in fewer")]
    Redaction {
        /// What the search said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A lock that cannot be had.
    #[error("could not lock `{path}` against other processes: {source}", path = path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// Returns a wrapper for errors of one file.
    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match Self::unfit(&path, source.kind()) {
            Some(error) => error,
            None => Self::File { what, path, source },
        }
    }

    /// Returns a wrapper for errors of one lock file.
    pub(crate) fn lock(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match Self::unfit(&path, source.kind()) {
            Some(error) => error,
            None => Self::Lock { path, source },
        }
    }

    /// Says what is wrong with the place when that, and not the single file, is the trouble.
    fn unfit(path: &Path, kind: io::ErrorKind) -> Option<Self> {
        let path = path.to_owned();
        let unwritable =
            |problem: &str| Self::Unwritable { path: path.clone(), problem: problem.to_owned() };
        match kind {
            io::ErrorKind::PermissionDenied => Some(unwritable("is closed to this user")),
            io::ErrorKind::ReadOnlyFilesystem => {
                Some(unwritable("is on a file system that cannot be written"))
            }
            io::ErrorKind::Unsupported => {
                let problem = "is on a file system that has no locks".to_owned();
                Some(Self::Directory { path, problem })
            }
            _ => None,
        }
    }
}

impl From<StoreError> for PortError {
    fn from(error: StoreError) -> Self {
        PortError::with_source(error.to_string(), error)
    }
}

/// Says who has a run open.
fn holder(pid: Option<u32>) -> String {
    match pid {
        Some(pid) if pid == std::process::id() => "in this process already".to_owned(),
        Some(pid) => format!("in process {pid}"),
        None => "in another process".to_owned(),
    }
}

/// Puts an error of the database into words: what is wrong with which file, and what would help.
pub(crate) fn explain(database: &str, error: &rusqlite::Error) -> String {
    let (problem, help) = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ("cannot grow: the disk is full", "free some space"),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            ("is read-only", "make it writable, or choose another directory with HAFT_STATE_DIR")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            ("was locked by another process for too long", "wait for that process, or end it")
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            ("is damaged", "move it away to begin a new one")
        }
        Some(ErrorCode::CannotOpen) => {
            ("cannot be opened", "look at the modes and the owner of the directory it is in")
        }
        Some(ErrorCode::SystemIoFailure) => (
            "cannot be read or written",
            "look at the disk, and at the modes and the owner of the directory it is in",
        ),
        Some(ErrorCode::OutOfMemory) => ("needs more memory than there is", "free some memory"),
        _ => ("refused", "this is a fault of haft; the log has the details"),
    };
    format!("state database `{database}` {problem}; {help}")
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::StoreError;

    #[test]
    fn a_place_that_is_unfit_is_told_with_the_way_out() {
        let read_only = StoreError::lock("/state/open.lock")(ErrorKind::ReadOnlyFilesystem.into());
        insta::assert_snapshot!(read_only, @"state directory `/state/open.lock` is on a file system that cannot be written; choose another with HAFT_STATE_DIR");
        let closed = StoreError::file("open", "/state/haft.db")(ErrorKind::PermissionDenied.into());
        insta::assert_snapshot!(closed, @"state directory `/state/haft.db` is closed to this user; choose another with HAFT_STATE_DIR");
        let other = StoreError::file("write", "/state/objects/ab")(Error::other("no room"));
        insta::assert_snapshot!(other, @"could not write `/state/objects/ab`: no room");
    }
}
