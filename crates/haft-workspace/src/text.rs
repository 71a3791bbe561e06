//! Path text taken apart.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use haft_protocol::limits;

use crate::error::PathError;

/// Characters shown of a text that is no path.
const SHOWN_CHARS: usize = 120;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// To a name in the directory.
    Name(OsString),
    /// To the directory above.
    Up,
}

impl Step {
    /// Returns the name that a step goes to, where it goes to one.
    pub(crate) fn name(self) -> Option<OsString> {
        match self {
            Self::Name(name) => Some(name),
            Self::Up => None,
        }
    }

    /// Tells whether a step goes to this name.
    pub(crate) fn is(&self, name: &OsStr) -> bool {
        matches!(self, Self::Name(it) if it == name)
    }
}

/// A path taken apart at its slashes. Nothing is folded: `a/..` stays two steps, for `a` may be a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathText {
    /// Whether the path begins with a slash.
    pub(crate) is_absolute: bool,
    /// The steps.
    pub(crate) steps: Vec<Step>,
    /// Whether the path ends so that only a directory can be meant.
    pub(crate) wants_directory: bool,
}

impl PathText {
    /// Takes apart what a caller wrote.
    pub(crate) fn of_text(text: &str) -> Result<Self, PathError> {
        let malformed = |problem: String| {
            let given = haft_text::visible_line(text).chars().take(SHOWN_CHARS).collect();
            Err(PathError::Malformed { given, problem })
        };
        if text.is_empty() {
            return malformed("it is empty; `.` is the workspace itself".to_owned());
        }
        if text.contains('\0') {
            return malformed("it contains a NUL byte".to_owned());
        }
        if text.len() > limits::PATH_BYTES {
            return malformed(format!(
                "it has {} bytes, {} can be",
                text.len(),
                limits::PATH_BYTES
            ));
        }
        if let Some(name) = text.split('/').find(|name| name.len() > limits::FILE_NAME_BYTES) {
            let bytes = name.len();
            return malformed(format!(
                "one of its names has {bytes} bytes, {} can be",
                limits::FILE_NAME_BYTES
            ));
        }
        Ok(Self::of_bytes(text.as_bytes()))
    }

    /// Takes apart where a link points.
    pub(crate) fn of_link(target: &OsStr) -> Self {
        Self::of_bytes(target.as_bytes())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let steps = bytes
            .split(|byte| *byte == b'/')
            .filter_map(|name| match name {
                b"" | b"." => None,
                b".." => Some(Step::Up),
                name => Some(Step::Name(OsStr::from_bytes(name).to_owned())),
            })
            .collect();
        Self {
            is_absolute: bytes.starts_with(b"/"),
            steps,
            wants_directory: bytes.ends_with(b"/") || bytes.ends_with(b"/."),
        }
    }
}
