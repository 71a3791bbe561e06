//! Ignore rules: `.gitignore`, `.ignore` and `.git/info/exclude`, read through held directories.
//!
//! `.ignore` goes before `.gitignore`, and that before `exclude`; within each, the file nearest to a path decides. Rules
//! of Git end at the top of a repository. A person's global rules are not read: what a tool finds should not depend on
//! whose machine it runs on.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use haft_protocol::limits;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::file::FileKind;
use crate::sys::Dir;
use crate::workspace::Root;

const GIT: &str = ".git";
const GITIGNORE: &str = ".gitignore";
const IGNORE: &str = ".ignore";

/// Rules that hold in a directory: its own, then those above it.
#[derive(Debug)]
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// Where, in a full path, the part begins that these rules are matched with.
    at: usize,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    is_top: bool,
}

/// Which files of rules a directory has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Present {
    git: Option<FileKind>,
    gitignore: bool,
    ignore: bool,
}

impl Present {
    /// Takes note of a name in the directory.
    pub(crate) fn note(&mut self, name: &OsStr, kind: Option<FileKind>) {
        let name = name.as_bytes();
        if name == GITIGNORE.as_bytes() {
            self.gitignore = true;
        } else if name == IGNORE.as_bytes() {
            self.ignore = true;
        } else if name == GIT.as_bytes() {
            self.git = kind.or(Some(FileKind::Other));
        }
    }

    /// Looks into a directory whose names are not read.
    fn look(dir: &Dir) -> Self {
        let kind = |name: &str| dir.look(OsStr::new(name)).ok().map(|metadata| metadata.kind);
        Self {
            git: kind(GIT),
            gitignore: kind(GITIGNORE).is_some(),
            ignore: kind(IGNORE).is_some(),
        }
    }

    fn is_nothing(self) -> bool {
        self.git.is_none() && !self.gitignore && !self.ignore
    }
}

/// Rules as a walk begins.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    /// The rules from above the place where the walk begins.
    pub(crate) rules: Option<Arc<Rules>>,
    /// What full paths begin with: the way from the top of the repository to the root.
    pub(crate) prefix: Vec<u8>,
    /// Files of rules that could not be followed.
    pub(crate) unread: u64,
}

impl Rules {
    /// Adds what a directory has to the rules from above. `at` is where paths within it begin.
    pub(crate) fn within(
        above: Option<&Arc<Rules>>,
        dir: &Dir,
        present: Present,
        at: usize,
        unread: &mut u64,
    ) -> Option<Arc<Rules>> {
        if present.is_nothing() {
            return above.cloned();
        }
        let mut read = |dir: &Dir, name: &str| {
            rules_of(dir, OsStr::new(name)).unwrap_or_else(|| {
                *unread += 1;
                Gitignore::empty()
            })
        };
        let ignore = if present.ignore { read(dir, IGNORE) } else { Gitignore::empty() };
        let gitignore = if present.gitignore { read(dir, GITIGNORE) } else { Gitignore::empty() };
        let info = match present.git {
            // In a linked worktree this is a file, and the rules are elsewhere.
            Some(FileKind::Directory) => {
                dir.child(OsStr::new(GIT)).and_then(|git| git.child(OsStr::new("info"))).ok()
            }
            _ => None,
        };
        let exclude = match info {
            Some(info) if info.look(OsStr::new("exclude")).is_ok() => read(&info, "exclude"),
            _ => Gitignore::empty(),
        };
        let is_top = present.git.is_some();
        Some(Arc::new(Self { above: above.cloned(), at, ignore, gitignore, exclude, is_top }))
    }

    /// Tells whether the rules leave a path out. `full` is the path from where the topmost rules stand.
    pub(crate) fn leave_out(&self, full: &[u8], is_directory: bool) -> bool {
        let mut ignore = Match::None;
        let mut gitignore = Match::None;
        let mut exclude = Match::None;
        let mut is_within_repository = true;
        let mut next = Some(self);
        while let Some(rules) = next {
            let path = Path::new(OsStr::from_bytes(full.get(rules.at..).unwrap_or_default()));
            if ignore.is_none() {
                ignore = rules.ignore.matched(path, is_directory);
            }
            if is_within_repository && gitignore.is_none() {
                gitignore = rules.gitignore.matched(path, is_directory);
            }
            if is_within_repository && exclude.is_none() {
                exclude = rules.exclude.matched(path, is_directory);
            }
            is_within_repository &= !rules.is_top;
            next = rules.above.as_deref();
        }
        ignore.or(gitignore).or(exclude).is_ignore()
    }

    /// Gathers the rules from above a directory of a root. Where they leave out a part of its own path, none of them
    /// hold: whoever names a directory means it.
    pub(crate) fn leading_to(root: &Root, path: &Path) -> Beginning {
        let mut beginning = Self::above_root(root);
        let mut full = beginning.prefix.clone();
        let mut dir = Arc::clone(&root.dir);
        for name in path {
            let present = Present::look(&dir);
            let above = beginning.rules.as_ref();
            beginning.rules = Self::within(above, &dir, present, full.len(), &mut beginning.unread);
            full.extend_from_slice(name.as_bytes());
            if beginning.rules.as_ref().is_some_and(|rules| rules.leave_out(&full, true)) {
                return Beginning { rules: None, ..beginning };
            }
            full.push(b'/');
            match dir.child(name) {
                Ok(child) => dir = Arc::new(child),
                Err(_) => break,
            }
        }
        beginning
    }

    /// Gathers the rules from above a root, where it lies within a repository.
    fn above_root(root: &Root) -> Beginning {
        let mut beginning = Beginning::default();
        if root.dir.look(OsStr::new(GIT)).is_ok() {
            return beginning;
        }
        let mut above = Vec::new();
        for path in root.path.ancestors().skip(1) {
            let Ok(dir) = Dir::open_absolute(path) else { return beginning };
            let present = Present::look(&dir);
            above.push((path, dir, present));
            if present.git.is_some() {
                break;
            }
        }
        let Some((top, _, present)) = above.last() else { return beginning };
        if present.git.is_none() {
            return beginning;
        }
        let way = |path: &Path| path.strip_prefix(top).map(|way| way.as_os_str().len()).ok();
        for (path, dir, present) in above.iter().rev() {
            // The slash after the way, where there is a way.
            let at = way(path).map_or(0, |len| if len == 0 { 0 } else { len + 1 });
            let rules = beginning.rules.as_ref();
            beginning.rules = Self::within(rules, dir, *present, at, &mut beginning.unread);
        }
        if let Ok(way) = root.path.strip_prefix(top) {
            beginning.prefix = [way.as_os_str().as_bytes(), b"/"].concat();
        }
        beginning
    }
}

/// Reads a file of rules. Lines that are no rules are passed over, as Git does; `None` means the file is not followed.
fn rules_of(dir: &Dir, name: &OsStr) -> Option<Gitignore> {
    // A link is not followed, for Git does not; and nothing else than a regular file is opened.
    if dir.look(name).ok()?.kind != FileKind::File {
        return None;
    }
    let (file, metadata) = dir.open_file(name).ok()?;
    if metadata.kind != FileKind::File || metadata.len > limits::IGNORE_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limits::IGNORE_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut builder = GitignoreBuilder::new("");
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line) {
            let _ = builder.add_line(None, line.strip_suffix('\r').unwrap_or(line));
        }
    }
    builder.build().ok()
}
