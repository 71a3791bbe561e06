//! Listing a directory.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use haft_protocol::{Count, LogicalPath};

use crate::error::PathError;
use crate::file::FileKind;
use crate::name::shown;
use crate::resolved::Resolved;
use crate::skipped::Skipped;
use crate::view::View;
use crate::walk::{Found, WalkEnd, WalkOptions};

/// What a listing shows.
#[derive(Debug, Clone)]
pub struct ListOptions {
    /// What to go through.
    pub walk: WalkOptions,
    /// The kind to show, where only one is asked for.
    pub kind: Option<FileKind>,
}

impl ListOptions {
    /// Shows what stands in the directory itself.
    pub fn children() -> Self {
        let walk = WalkOptions { depth: Some(NonZeroUsize::MIN), ..WalkOptions::default() };
        Self { walk, kind: None }
    }

    /// Shows everything beneath the directory.
    pub fn tree() -> Self {
        Self { walk: WalkOptions::default(), kind: None }
    }
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The entries that come first, each directory before what is in it.
    pub entries: Vec<Entry>,
    /// How many there are.
    pub total: Count,
    /// How the walk through them ended.
    pub end: WalkEnd,
    /// How many of all have a name that is not UTF-8 and is shown with `\xNN`.
    pub escaped: u64,
    /// What was passed over.
    pub skipped: Skipped,
}

impl Listing {
    /// Tells whether there are entries that are not shown.
    pub fn is_cut(&self) -> bool {
        self.total != Count::Exact(self.entries.len() as u64)
    }
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path.
    pub path: LogicalPath,
    /// The path from the directory that is listed.
    pub relative: String,
    /// The kind.
    pub kind: FileKind,
    /// How many bytes a regular file has, where the system says so.
    pub len: Option<u64>,
    /// When the content last changed, where the system says so.
    pub modified: Option<SystemTime>,
    /// Where a link leads.
    pub target: Option<LinkTarget>,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// To a place in the workspace.
    Place {
        /// The path of the place, after further links.
        path: LogicalPath,
        /// What is there.
        kind: FileKind,
    },
    /// To nothing, or in a circle.
    Nowhere,
    /// To where tools may not go.
    OutOfReach,
}

impl View {
    /// Lists what is in a directory: the first `most` entries by path, with the number of all.
    ///
    /// # Errors
    ///
    /// Fails when the place is no directory, and when the system refuses.
    pub fn list(
        &self,
        place: &Resolved,
        options: &ListOptions,
        most: NonZeroUsize,
        is_called_off: &(dyn Fn() -> bool + Sync),
    ) -> Result<Listing, PathError> {
        let kind = place.look()?.kind;
        if kind != FileKind::Directory {
            return Err(PathError::NotADirectory { path: place.logical().to_string(), kind });
        }
        let all = Mutex::new(First::new(most));
        let report = self.walk(place, &options.walk, is_called_off, || {
            let mut first = Handed { first: First::new(most), all: &all };
            move |found: &Found<'_>| {
                if options.kind.is_none_or(|kind| kind == found.kind()) {
                    first.first.offer(found);
                }
                ControlFlow::Continue(())
            }
        })?;
        let First { total, kept, .. } = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        let total = match report.end {
            WalkEnd::Complete => Count::Exact(total),
            _ => Count::AtLeast(total),
        };
        let entries = kept.into_sorted_vec().into_iter().map(|kept| kept.entry).collect();
        Ok(Listing {
            entries,
            total,
            end: report.end,
            escaped: report.escaped,
            skipped: report.skipped,
        })
    }
}

/// The entries that come first among those offered.
#[derive(Debug)]
struct First {
    most: usize,
    total: u64,
    kept: BinaryHeap<Kept>,
}

impl First {
    fn new(most: NonZeroUsize) -> Self {
        Self { most: most.get(), total: 0, kept: BinaryHeap::new() }
    }

    fn offer(&mut self, found: &Found<'_>) {
        self.total += 1;
        let is_behind = |last: &Kept| by_path(last.path.as_ref(), found.relative()).is_lt();
        if self.kept.len() < self.most || !self.kept.peek().is_some_and(is_behind) {
            self.keep(Kept::of(found));
        }
    }

    fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }
}

/// What one thread gathers; handed in when the thread lets go of it.
struct Handed<'a> {
    first: First,
    all: &'a Mutex<First>,
}

impl Drop for Handed<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.total += self.first.total;
        for kept in self.first.kept.drain() {
            all.keep(kept);
        }
    }
}

#[derive(Debug)]
struct Kept {
    path: OsString,
    entry: Entry,
}

impl Kept {
    fn of(found: &Found<'_>) -> Self {
        let metadata = found.metadata().ok();
        let is_file = found.kind() == FileKind::File;
        let target = (found.kind() == FileKind::Link).then(|| match found.follow() {
            Ok(place) => match place.kind() {
                Some(kind) => LinkTarget::Place { path: place.logical().clone(), kind },
                None => LinkTarget::Nowhere,
            },
            Err(error) if error.denial().is_some() => LinkTarget::OutOfReach,
            Err(_) => LinkTarget::Nowhere,
        });
        let names: Vec<_> = found.relative().iter().map(shown).collect();
        Self {
            path: found.relative().as_os_str().to_owned(),
            entry: Entry {
                path: found.path().clone(),
                relative: names.join("/"),
                kind: found.kind(),
                len: metadata.filter(|_| is_file).map(|metadata| metadata.len),
                modified: metadata.and_then(|metadata| metadata.modified),
                target,
            },
        }
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        by_path(self.path.as_ref(), other.path.as_ref())
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Kept {}

/// Orders paths name by name, so that nothing comes between a directory and what is in it.
fn by_path(a: &Path, b: &Path) -> Ordering {
    let is_slash = |byte: &u8| *byte == b'/';
    a.as_os_str().as_bytes().split(is_slash).cmp(b.as_os_str().as_bytes().split(is_slash))
}
