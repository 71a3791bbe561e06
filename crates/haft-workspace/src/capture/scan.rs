//! How a tree stands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_protocol::{Notice, NoticeKind, limits};

use crate::error::PathError;
use crate::file::{FileId, FileKind, Metadata};
use crate::resolved::Resolved;
use crate::view::View;
use crate::walk::{Found, WalkEnd, WalkOptions, WalkReport};

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
            let ignored = report.skipped.ignored_files + report.skipped.ignored_directories;
            if ignored > 0 {
                let (one, more) = ("entry", "entries");
                let what = if ignored == 1 { one } else { more };
                say(format!(
                    "changes in what ignore rules leave out are not told: {ignored} {what} in `{path}`"
                ));
            }
        }
        notices
    }
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
