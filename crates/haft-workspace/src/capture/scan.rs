//! How a tree stands.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use haft_protocol::{Notice, NoticeKind, limits};

use crate::error::PathError;
use crate::file::{FileId, FileKind, Metadata};
use crate::name::shown;
use crate::resolved::Resolved;
use crate::sys::Dir;
use crate::view::View;
use crate::walk::{Found, Glance, LeftOut, WalkEnd, WalkOptions, WalkReport};
use crate::workspace::Workspace;

/// What the system tells of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: FileKind,
    pub(crate) id: FileId,
    pub(crate) mode: u32,
    len: u64,
    modified: Option<SystemTime>,
    changed: (i64, u32),
    /// When a directory was made, where the system remembers.
    born: Option<SystemTime>,
    /// Where a link points; text alone, as it is shown.
    target: Option<Box<str>>,
}

impl Seen {
    fn of(metadata: &Metadata, born: Option<SystemTime>, target: Option<Box<str>>) -> Self {
        Self {
            kind: metadata.kind,
            id: metadata.id,
            mode: metadata.mode,
            len: metadata.len,
            modified: metadata.modified,
            changed: metadata.changed,
            born,
            target,
        }
    }

    pub(crate) fn target(&self) -> &str {
        self.target.as_deref().unwrap_or_default()
    }

    /// Tells whether this is what stood there before. What stands in a directory is told by itself.
    pub(super) fn is_still(&self, before: &Self) -> bool {
        if self.kind == FileKind::Directory {
            return before.kind == self.kind && before.mode == self.mode;
        }
        self == before
    }

    /// Tells whether this is what stood elsewhere before, moved and not written to. The identity alone does not tell: the
    /// system gives that of what is gone to what is new.
    pub(super) fn is_moved(&self, before: &Self) -> bool {
        let is_same = match (self.kind, self.born, before.born) {
            (FileKind::Directory, Some(born), Some(was_born)) => born == was_born,
            (FileKind::Directory, _, _) => self.modified == before.modified,
            _ => self.len == before.len && self.modified == before.modified,
        };
        is_same && self.id == before.id && self.kind == before.kind
    }
}

/// A directory that was met by its name alone.
#[derive(Debug)]
struct Closed {
    /// As it is shown.
    path: String,
    /// What it looks like, where it can be opened.
    glance: Option<Glance>,
}

/// Something protected, met by its name.
#[derive(Debug)]
struct Guarded {
    seen: Seen,
    /// Of a directory, what is in it by how it is shown; nothing, where not all of that was looked at.
    within: Option<BTreeMap<String, Seen>>,
}

impl Guarded {
    /// Tells where something is other than before.
    fn changes(&self, path: &str, before: &Self, changed: &mut Vec<String>) {
        let (Some(now), Some(was)) = (&self.within, &before.within) else {
            if self.seen != before.seen {
                changed.push(path.to_owned());
            }
            return;
        };
        if !self.seen.is_still(&before.seen) {
            changed.push(path.to_owned());
        }
        let is_other =
            |(path, now): &(&String, &Seen)| was.get(*path).is_none_or(|was| !now.is_still(was));
        let gone = was.keys().filter(|path| !now.contains_key(*path));
        changed.extend(now.iter().filter(is_other).map(|(path, _)| path).chain(gone).cloned());
    }
}

/// How much is looked at in directories that are protected, in one look.
const GUARDED_ENTRIES: u64 = 4_000;

/// Names that are told of what changed and was not looked at.
const NAMED: usize = 3;

/// How trees stand.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// What is in them, by root and by path from it, byte by byte: what is in a directory comes after it.
    pub(super) seen: BTreeMap<usize, BTreeMap<OsString, Seen>>,
    /// Directories among that which ignore rules leave out, so that nothing in them was looked at.
    closed: HashMap<(usize, PathBuf), Closed>,
    /// What is protected, by how it is shown.
    protected: BTreeMap<String, Guarded>,
    ends: Vec<(String, WalkReport)>,
    /// Whether ignore rules leave out a directory that they did not in an earlier look.
    hides_more: bool,
}

impl Scan {
    /// Looks through a tree.
    pub(super) fn add(&mut self, view: &View, place: &Resolved) -> Result<(), PathError> {
        let options = WalkOptions {
            entries: NonZeroU64::new(limits::SCAN_ENTRIES),
            deadline: Some(Instant::now() + Duration::from_millis(limits::SCAN_MS)),
            ..WalkOptions::default()
        };
        let (root, start) = (place.root, place.path());
        let parts: Mutex<Vec<Met>> = Mutex::default();
        let guarded = AtomicU64::new(0);
        let report = view.walk_all_names(place, &options, || {
            let mut part = Part { met: Met::default(), parts: &parts };
            let (start, guarded) = (&start, &guarded);
            move |found: &Found<'_>| {
                if let Ok(metadata) = found.metadata() {
                    let target = found.link_target().map(Into::into);
                    let path = start.join(found.relative());
                    let seen = Seen::of(&metadata, found.directory_born(), target);
                    match found.left_out() {
                        Some(LeftOut::Protected) => {
                            let within = within(found, guarded);
                            let met = (found.path().to_string(), Guarded { seen, within });
                            part.met.protected.push(met);
                            return ControlFlow::Continue(());
                        }
                        Some(LeftOut::Ignored) if metadata.kind == FileKind::Directory => {
                            let (path, shown) = (path.clone(), found.path().to_string());
                            let closed = Closed { path: shown, glance: found.glance() };
                            part.met.closed.push(((root, path), closed));
                        }
                        Some(LeftOut::Ignored) | None => {}
                    }
                    part.met.seen.push((path.into_os_string(), seen));
                }
                ControlFlow::Continue(())
            }
        })?;
        let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let seen = self.seen.entry(root).or_default();
        for part in parts {
            seen.extend(part.seen);
            self.closed.extend(part.closed);
            self.protected.extend(part.protected);
        }
        self.ends.push((place.logical().to_string(), report));
        Ok(())
    }

    /// Looks again, by name, at what an earlier look saw and this one did not: ignore rules may have come between.
    pub(super) fn look_again(&mut self, before: &Self, workspace: &Workspace) {
        for (root, seen) in &before.seen {
            let now = self.seen.entry(*root).or_default();
            let Some(root) = workspace.root(*root) else { continue };
            let mut held: Option<(&Path, Option<Dir>)> = None;
            for path in seen.keys() {
                let whole = Path::new(path);
                let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else {
                    continue;
                };
                if now.contains_key(path) {
                    continue;
                }
                if held.as_ref().is_none_or(|(at, _)| *at != parent) {
                    held = Some((parent, root.dir.readable_beneath(parent, root.beneath).ok()));
                }
                let Some((_, Some(dir))) = &held else { continue };
                if let Ok(metadata) = dir.look(name) {
                    let is_link = metadata.kind == FileKind::Link;
                    let target = is_link.then(|| dir.read_link(name).ok()).flatten();
                    let target = target.map(|it| match it.to_str() {
                        Some(text) => text.into(),
                        None => shown(&it).into(),
                    });
                    let is_directory = metadata.kind == FileKind::Directory;
                    let born = is_directory.then(|| dir.born(name)).flatten();
                    now.insert(path.clone(), Seen::of(&metadata, born, target));
                }
            }
        }
        self.hides_more = self.closed.keys().any(|key| {
            let (root, path) = key;
            let seen = before.seen.get(root);
            let was_seen = || seen.is_some_and(|it| it.contains_key(path.as_os_str()));
            !before.closed.contains_key(key) && was_seen()
        });
    }

    /// Tells whether a directory was left out by ignore rules.
    pub(super) fn is_closed(&self, root: usize, path: &Path) -> bool {
        self.closed.contains_key(&(root, path.to_owned()))
    }

    /// Says what changed that nobody looked at: in which directories something did, and what is protected.
    pub(super) fn unseen_changes(&self, before: &Self) -> Vec<Notice> {
        let has_changed = |(key, now): &(&(usize, PathBuf), &Closed)| {
            before.closed.get(key).is_some_and(|was| was.glance != now.glance)
        };
        let closed = self.closed.iter().filter(has_changed);
        let closed = named(closed.map(|(_, now)| now.path.clone()).collect());
        let closed = closed.map(|names| {
            format!("something changed in {names}: ignore rules leave out what it is")
        });

        let mut changed = Vec::new();
        for (path, now) in &self.protected {
            match before.protected.get(path) {
                Some(was) => now.changes(path, was, &mut changed),
                None => changed.push(path.clone()),
            }
        }
        let gone = before.protected.keys().filter(|path| !self.protected.contains_key(*path));
        changed.extend(gone.cloned());
        let protected = named(changed).map(|names| {
            format!(
                "{names} changed: what is protected is not looked at, and no undo brings it back"
            )
        });
        let texts = [closed, protected].into_iter().flatten();
        texts.map(|text| Notice::new(NoticeKind::Skipped, text)).collect()
    }

    /// Tells whether everything was looked at.
    pub(super) fn missed_nothing(&self) -> bool {
        self.ends.iter().all(|(_, report)| {
            matches!(report.end, WalkEnd::Complete | WalkEnd::Satisfied)
                && report.skipped.ignored_directories == 0
        })
    }

    /// Says what was not looked at.
    pub(super) fn notices(&self) -> Vec<Notice> {
        let mut notices = Vec::new();
        for (path, report) in &self.ends {
            let mut say = |text: String| notices.push(Notice::new(NoticeKind::Skipped, text));
            match report.end {
                WalkEnd::Complete | WalkEnd::Satisfied | WalkEnd::Cancelled => {}
                WalkEnd::Deadline => say(format!(
                    "changes in `{path}` are not all known: looking through it took more than {} s",
                    limits::SCAN_MS / 1000
                )),
                WalkEnd::Entries => say(format!(
                    "changes in `{path}` are not all known: it holds more than {} entries",
                    limits::SCAN_ENTRIES
                )),
            }
        }
        if self.hides_more {
            let text = "ignore rules leave out directories that they did not before the command: what is new in these is not told";
            notices.push(Notice::new(NoticeKind::Skipped, text));
        }
        notices
    }
}

/// What one thread met.
#[derive(Default)]
struct Met {
    seen: Vec<(OsString, Seen)>,
    closed: Vec<((usize, PathBuf), Closed)>,
    protected: Vec<(String, Guarded)>,
}

/// Looks at what is in a directory that is protected, as far as there is room.
fn within(found: &Found<'_>, looked_at: &AtomicU64) -> Option<BTreeMap<String, Seen>> {
    if found.kind() != FileKind::Directory {
        return Some(BTreeMap::new());
    }
    let mut within = BTreeMap::new();
    let is_all = found.names_within(|path, metadata| {
        let shown = found.path_within(path).to_string();
        within.insert(shown, Seen::of(metadata, None, None));
        looked_at.fetch_add(1, Ordering::Relaxed) < GUARDED_ENTRIES
    });
    is_all.then_some(within)
}

/// Names the first of some paths, and counts the rest; nothing, where there is none.
fn named(mut paths: Vec<String>) -> Option<String> {
    paths.sort_unstable();
    let more = paths.len().saturating_sub(NAMED);
    let names: Vec<String> = paths.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| names.join(", ") + &more)
}

/// What one thread met, handed over when it is done.
struct Part<'p> {
    met: Met,
    parts: &'p Mutex<Vec<Met>>,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let met = std::mem::take(&mut self.met);
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(met);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(inode: u64, born: Option<u64>, modified: u64) -> Seen {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        Seen {
            kind: FileKind::Directory,
            id: FileId { device: 1, inode },
            mode: 0o755,
            len: 0,
            modified: Some(at(modified)),
            changed: (0, 0),
            born: born.map(at),
            target: None,
        }
    }

    #[test]
    fn a_directory_that_took_the_number_of_one_that_is_gone_did_not_move() {
        let before = directory(7, Some(1), 5);
        assert!(directory(7, Some(1), 9).is_moved(&before), "things in it may have changed");
        assert!(!directory(7, Some(2), 5).is_moved(&before));
        assert!(!directory(8, Some(1), 5).is_moved(&before));
        // Where the system does not remember.
        assert!(directory(7, None, 5).is_moved(&before));
        assert!(!directory(7, None, 6).is_moved(&before));
    }
}
