//! Patterns over names and paths.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};
use haft_protocol::{ErrorKind, Failure};

/// Patterns of which one must match.
///
/// A pattern without a slash is matched with the last name of a path; one with a slash, be it the first character,
/// with the whole path. A slash at the end says nothing. `*` and `?` do not match a slash, `**` matches any number of names, `{a,b}` and
/// `[a-z]` stand for alternatives.
///
/// ```
/// use std::path::Path;
/// use haft_workspace::Globs;
///
/// let globs = Globs::new(&["*.rs", "/docs/**"])?;
/// assert!(globs.matches(Path::new("src/lib.rs")));
/// assert!(globs.matches(Path::new("docs/a/b.md")));
/// assert!(!globs.matches(Path::new("src/docs/b.md")));
/// # Ok::<(), haft_workspace::GlobError>(())
/// ```
#[derive(Clone)]
pub struct Globs {
    patterns: Vec<String>,
    by_name: GlobSet,
    by_path: GlobSet,
    literal: Vec<PathBuf>,
}

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not a pattern for paths: {}",
    haft_text::visible_line(pattern),
    haft_text::visible_line(problem)
)]
pub struct GlobError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub problem: String,
}

impl From<GlobError> for Failure {
    fn from(error: GlobError) -> Self {
        Failure::new(ErrorKind::InvalidArguments, error.to_string())
            .hint("write `\\` before a character that stands for itself")
    }
}

impl Globs {
    /// Reads patterns. Case matters.
    ///
    /// # Errors
    ///
    /// Fails on the first pattern that cannot be read.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, GlobError> {
        Self::build(patterns, false)
    }

    /// Reads patterns that match whatever the case.
    ///
    /// # Errors
    ///
    /// Fails on the first pattern that cannot be read.
    pub fn folded<S: AsRef<str>>(patterns: &[S]) -> Result<Self, GlobError> {
        Self::build(patterns, true)
    }

    pub(crate) fn none() -> Self {
        Self {
            patterns: Vec::new(),
            by_name: GlobSet::empty(),
            by_path: GlobSet::empty(),
            literal: Vec::new(),
        }
    }

    fn build<S: AsRef<str>>(patterns: &[S], folds_case: bool) -> Result<Self, GlobError> {
        let mut names = GlobSetBuilder::new();
        let mut paths = GlobSetBuilder::new();
        let mut literal = Vec::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let failed = |error: globset::Error| GlobError {
                pattern: pattern.to_owned(),
                problem: error.kind().to_string(),
            };
            let anchored = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/'));
            let body = anchored.unwrap_or(pattern);
            let body = body.strip_suffix('/').unwrap_or(body);
            let glob = GlobBuilder::new(body)
                .case_insensitive(folds_case)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(failed)?;
            let is_path = anchored.is_some() || body.contains('/');
            if is_path {
                paths.add(glob)
            } else {
                names.add(glob)
            };
            if !body.contains(['*', '?', '[', '{', '\\']) {
                literal.push(PathBuf::from(body));
            }
        }
        let built = |set: GlobSetBuilder| {
            set.build().map_err(|error| GlobError {
                pattern: patterns.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "),
                problem: error.kind().to_string(),
            })
        };
        Ok(Self {
            patterns: patterns.iter().map(|it| it.as_ref().to_owned()).collect(),
            by_name: built(names)?,
            by_path: built(paths)?,
            literal,
        })
    }

    /// Tells whether a relative path is matched.
    pub fn matches(&self, path: &Path) -> bool {
        self.match_name(path.file_name().unwrap_or(path.as_os_str()))
            || (!self.by_path.is_empty() && self.by_path.is_match(path))
    }

    /// Tells whether a name in a directory is matched, itself or by its path.
    pub(crate) fn match_name_or_path(&self, parent: &Path, name: &OsStr) -> bool {
        self.match_name(name)
            || (!self.by_path.is_empty() && self.by_path.is_match(parent.join(name)))
    }

    fn match_name(&self, name: &OsStr) -> bool {
        !self.by_name.is_empty() && self.by_name.is_match_candidate(&Candidate::new(name))
    }

    /// Returns the patterns that name one path and no other.
    pub(crate) fn literal(&self) -> &[PathBuf] {
        &self.literal
    }
}

impl fmt::Debug for Globs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.patterns).finish()
    }
}
