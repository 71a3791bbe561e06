//! How a tree stands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_protocol::{Notice, NoticeKind, limits};

use crate::error::PathError;
use crate::file::{FileId, FileKind, Metadata};
use crate::name::shown;
use crate::resolved::Resolved;
use crate::sys::Dir;
use crate::view::View;
use crate::walk::{Found, WalkEnd, WalkOptions, WalkReport};
use crate::workspace::Workspace;

/// What the system tells of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: FileKind,
    pub(crate) id: FileId,
    pub(crate) mode: u32,
    len: u64,
    modified: Option<std::time::SystemTime>,
    changed: (i64, u32),
    /// Where a link points; text alone, as it is shown.
    target: Option<Box<str>>,
}

impl Seen {
    fn of(metadata: &Metadata, target: Option<Box<str>>) -> Self {
        Self {
            kind: metadata.kind,
            id: metadata.id,
            mode: metadata.mode,
            len: metadata.len,
            modified: metadata.modified,
            changed: metadata.changed,
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

    /// Tells whether this is what stood elsewhere before, moved and not written to.
    pub(super) fn is_moved(&self, before: &Self) -> bool {
        self.id == before.id
            && self.kind == before.kind
            && (self.kind == FileKind::Directory
                || (self.len == before.len && self.modified == before.modified))
    }
}

/// How trees stand.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// What is in them, by root and by path from it, byte by byte: what is in a directory comes after it.
    pub(super) seen: BTreeMap<usize, BTreeMap<OsString, Seen>>,
    ends: Vec<(String, WalkReport)>,
    /// Whether ignore rules leave out more than in an earlier look.
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
        let parts: Mutex<Vec<Vec<(OsString, Seen)>>> = Mutex::default();
        let report = view.walk(place, &options, &|| false, || {
            let mut part = Part { found: Vec::new(), parts: &parts };
            let start = &start;
            move |found: &Found<'_>| {
                if let Ok(metadata) = found.metadata() {
                    let target = found.link_target().map(Into::into);
                    let path = start.join(found.relative());
                    part.found.push((path.into_os_string(), Seen::of(&metadata, target)));
                }
                ControlFlow::Continue(())
            }
        })?;
        let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.seen.entry(root).or_default().extend(parts.into_iter().flatten());
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
                    now.insert(path.clone(), Seen::of(&metadata, target));
                }
            }
        }
        let ignored = |scan: &Self| scan.ends.iter().map(|(_, report)| ignored(report)).sum();
        let (was, is): (u64, u64) = (ignored(before), ignored(self));
        self.hides_more = is > was;
    }

    /// Tells whether everything was looked at.
    pub(super) fn missed_nothing(&self) -> bool {
        self.ends.iter().all(|(_, report)| {
            matches!(report.end, WalkEnd::Complete | WalkEnd::Satisfied) && ignored(report) == 0
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
            let ignored = ignored(report);
            if ignored > 0 {
                let (one, more) = ("entry", "entries");
                let what = if ignored == 1 { one } else { more };
                say(format!(
                    "changes in what ignore rules leave out are not told: {ignored} {what} in `{path}`"
                ));
            }
        }
        if self.hides_more {
            let text = "ignore rules leave out more than before the command: what is new there is not told";
            notices.push(Notice::new(NoticeKind::Skipped, text));
        }
        notices
    }
}

fn ignored(report: &WalkReport) -> u64 {
    report.skipped.ignored_files + report.skipped.ignored_directories
}

/// What one thread found, handed over when it is done.
struct Part<'p> {
    found: Vec<(OsString, Seen)>,
    parts: &'p Mutex<Vec<Vec<(OsString, Seen)>>>,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let found = std::mem::take(&mut self.found);
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(found);
    }
}
