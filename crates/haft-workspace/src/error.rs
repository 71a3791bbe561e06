//! What goes wrong with roots and with paths.

use std::io;
use std::path::PathBuf;

use haft_protocol::{Control, Denial, ErrorKind, Failure, Outcome, Status, limits};
use rustix::io::Errno;

use crate::file::FileKind;
use crate::globs::GlobError;
use crate::protection::Protected;

/// A workspace that cannot be opened: the operator's configuration is at fault, not a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// No root was given.
    #[error("a workspace needs at least one root")]
    NoRoots,
    /// A root does not exist.
    #[error("the root `{path}` does not exist: make it, or name another directory")]
    RootMissing {
        /// The root as given.
        path: PathBuf,
    },
    /// A root is not a directory.
    #[error("the root `{path}` is not a directory: name the directory it is in")]
    RootNotADirectory {
        /// The root as given.
        path: PathBuf,
    },
    /// A root is a view of processes.
    #[error("the root `{path}` shows processes, whose files hold secrets: name another directory")]
    RootOfProcesses {
        /// The root as given.
        path: PathBuf,
    },
    /// The first root lies in a further one, so that relative paths would change their meaning.
    #[error("the first root `{inner}` lies in the root `{outer}`: give `{outer}` first, or alone")]
    FirstRootInside {
        /// The first root.
        inner: PathBuf,
        /// The root around it.
        outer: PathBuf,
    },
    /// A root cannot be opened.
    #[error("the root `{path}` cannot be opened")]
    Root {
        /// The root as given.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A pattern of the protection list cannot be read.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

/// A path that does not lead to what a call may work with.
///
/// Paths are shown as [`LogicalPath`](haft_protocol::LogicalPath) shows them, or as the caller gave them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is no path.
    #[error("`{given}` is not a path: {problem}")]
    Malformed {
        /// The text, cut to a length fit for a message.
        given: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The path leads out of the workspace.
    #[error("`{given}` leads outside the workspace{}", through(.link.as_ref()))]
    Outside {
        /// The path as given.
        given: String,
        /// The link that leads out, where one does.
        link: Option<String>,
        /// The roots, the first as `.`.
        roots: Vec<String>,
    },
    /// The path names something protected, or leads to it.
    #[error("{}", which_is_protected(.given, .protected))]
    Protected {
        /// The path as given.
        given: String,
        /// The name that is protected, and why.
        protected: Protected,
    },
    /// The path may be read and not written.
    #[error("`{given}` is read-only for tools: {}", .protected.why)]
    WriteProtected {
        /// The path as given.
        given: String,
        /// The name that is protected, and why.
        protected: Protected,
    },
    /// A program may touch anything in a tree, and it holds what haft itself lives in.
    #[error("no program may have all of `{given}`, for haft's own directory is in it: {why}")]
    TreeProtected {
        /// The path as given.
        given: String,
        /// What haft keeps there.
        why: &'static str,
    },
    /// A rule hides the path.
    #[error("a rule hides `{given}`")]
    HiddenByRule {
        /// The path.
        given: String,
    },
    /// Nothing is there.
    #[error("`{given}` does not exist{}", what_is_missing(.given, .missing, .link.as_ref()))]
    NotFound {
        /// The path as given.
        given: String,
        /// The path of the first name that is missing.
        missing: String,
        /// The link that points to nothing, where one does.
        link: Option<String>,
        /// Paths that are there and whose name is much like the missing one, best first.
        nearest: Vec<String>,
    },
    /// Nothing is there, and several names differ from the one given only in spaces or accents.
    #[error("`{given}` does not exist, and {} differ from it only in spaces or accents", quoted(.candidates))]
    Ambiguous {
        /// The path as given.
        given: String,
        /// The names, with what tells them apart spelled out.
        candidates: Vec<String>,
    },
    /// A name that must be a directory is something else.
    #[error("`{path}` is {kind}, not a directory")]
    NotADirectory {
        /// The path of that name.
        path: String,
        /// What it is.
        kind: FileKind,
    },
    /// What must be a regular file is something else.
    #[error("`{path}` is {kind}, not a regular file")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        kind: FileKind,
    },
    /// Links lead to links without end.
    #[error("`{given}` leads through more than {} links", limits::LINK_HOPS)]
    TooManyLinks {
        /// The path as given.
        given: String,
    },
    /// The system refuses.
    #[error("the system does not permit to open `{path}`")]
    PermissionDenied {
        /// The path.
        path: String,
    },
    /// The path kept changing while it was followed.
    #[error("`{path}` changed while it was opened")]
    Changed {
        /// The path.
        path: String,
    },
    /// The system fails.
    #[error("`{path}` cannot be opened")]
    Io {
        /// The path.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

fn through(link: Option<&String>) -> String {
    link.map_or_else(String::new, |link| format!(" through the link `{link}`"))
}

fn which_is_protected(given: &str, protected: &Protected) -> String {
    if *given == protected.name {
        protected.to_string()
    } else {
        format!("`{given}` is out of reach: {protected}")
    }
}

fn what_is_missing(given: &str, missing: &str, link: Option<&String>) -> String {
    match link {
        Some(link) => format!(": the link `{link}` points to `{missing}`, which is not there"),
        None if given == missing => String::new(),
        None => format!(": there is no `{missing}`"),
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl PathError {
    /// Puts a failed system call into the words of its path.
    pub(crate) fn of_system(path: impl Into<String>, error: Errno) -> Self {
        let path = path.into();
        match error {
            Errno::NOENT => {
                Self::NotFound { given: path.clone(), missing: path, link: None, nearest: vec![] }
            }
            Errno::ACCESS | Errno::PERM => Self::PermissionDenied { path },
            // A link or a file stands where a directory or a file was a moment ago.
            Errno::LOOP | Errno::NOTDIR | Errno::NXIO => Self::Changed { path },
            error => Self::Io { path, source: error.into() },
        }
    }

    /// Makes the error for a file that has a protected name beside the one given.
    pub(crate) fn protected_twin(path: String) -> Self {
        let why = "it is the same file as one whose name is protected";
        Self::Protected { given: path.clone(), protected: Protected { name: path, why } }
    }

    /// Returns the refusal this is, where a control of haft refused and not the state of the files.
    pub fn denial(&self) -> Option<Denial> {
        match self {
            Self::Outside { roots, .. } => Some(
                Denial::new(Control::Workspace, self.to_string())
                    .hint(format!("use a path within {}", roots.join(", "))),
            ),
            Self::Protected { .. } => Some(
                Denial::new(Control::Protection, self.to_string())
                    .hint("do without its content, or ask the user to provide what is needed"),
            ),
            Self::WriteProtected { .. } => Some(Denial::new(Control::Protection, self.to_string())),
            Self::TreeProtected { .. } => Some(
                Denial::new(Control::Protection, self.to_string())
                    .hint("a person can name a narrower `--root`")
                    .hint("or keep haft's directories elsewhere, with HAFT_CONFIG_DIR and HAFT_STATE_DIR"),
            ),
            Self::HiddenByRule { .. } => Some(Denial::new(Control::Policy, self.to_string())),
            _ => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Malformed { .. } => ErrorKind::InvalidArguments,
            Self::Outside { .. }
            | Self::Protected { .. }
            | Self::WriteProtected { .. }
            | Self::TreeProtected { .. }
            | Self::HiddenByRule { .. }
            | Self::PermissionDenied { .. } => ErrorKind::PermissionDenied,
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Ambiguous { .. } | Self::Changed { .. } => ErrorKind::Conflict,
            Self::NotADirectory { .. } | Self::NotAFile { .. } | Self::TooManyLinks { .. } => {
                ErrorKind::Unsupported
            }
            Self::Io { source, .. } => match Errno::from_io_error(source) {
                Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::BUSY) => {
                    ErrorKind::Unavailable
                }
                _ => ErrorKind::Upstream,
            },
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::NotFound { nearest, given, .. } => {
                let mut hints = Vec::new();
                if !nearest.is_empty() {
                    hints.push(format!("near it: {}", quoted(nearest)));
                }
                if given.starts_with('~') {
                    hints.push("`~` is a name like any other here".to_owned());
                }
                hints
            }
            Self::NotAFile { kind: FileKind::Directory, .. } => {
                vec!["list it, or name a file in it".to_owned()]
            }
            Self::NotADirectory { kind: FileKind::File, .. } => {
                vec!["read it, or name the directory it is in".to_owned()]
            }
            Self::Ambiguous { .. } => vec!["copy the exact name from a listing".to_owned()],
            Self::Changed { .. } => vec!["try again".to_owned()],
            _ => Vec::new(),
        }
    }
}

/// A refusal becomes a failure to open; whoever can tell them apart asks [`PathError::denial`] first.
impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        let hints = match error.denial() {
            Some(denial) => denial.hints,
            None => error.hints(),
        };
        Failure { kind: error.kind(), model_text: error.to_string(), hints }
    }
}

impl From<PathError> for Status {
    fn from(error: PathError) -> Self {
        match error.denial() {
            Some(denial) => Status::Denied(denial),
            None => Status::Failed(error.into()),
        }
    }
}

impl From<PathError> for Outcome {
    fn from(error: PathError) -> Self {
        Outcome::new(error.into())
    }
}
