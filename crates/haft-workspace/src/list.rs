//! Listing a directory.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use haft_protocol::{Count, LogicalPath, limits};

use crate::error::PathError;
use crate::file::{FileKind, Metadata};
use crate::name::shown;
use crate::resolved::Resolved;
use crate::view::View;
use crate::walk::{Found, WalkEnd, WalkOptions, WalkReport};

/// What a listing shows.
#[derive(Debug, Clone)]
pub struct ListOptions {
    /// What to go through.
    pub walk: WalkOptions,
    /// Which entries come first.
    pub order: ListOrder,
    /// How many entries to show; those in the table of limits, where a listing says nothing else.
    pub most: NonZeroUsize,
}

/// Which entries of a listing come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListOrder {
    /// By path, name by name: each directory before what is in it, and nothing between them.
    #[default]
    Path,
    /// The largest files, then what is no file; by path among equals.
    Largest,
    /// What changed last; by path among equals.
    Newest,
}

impl ListOptions {
    /// Shows what stands in the directory itself.
    pub fn children() -> Self {
        let walk = WalkOptions { depth: Some(NonZeroUsize::MIN), ..WalkOptions::default() };
        Self { walk, ..Self::tree() }
    }

    /// Shows everything beneath the directory.
    pub fn tree() -> Self {
        let most = usize::try_from(limits::LIST_ENTRIES).ok().and_then(NonZeroUsize::new);
        Self {
            walk: WalkOptions::default(),
            order: ListOrder::Path,
            most: most.unwrap_or(NonZeroUsize::MIN),
        }
    }
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The entries that come first.
    pub entries: Vec<Entry>,
    /// How many there are.
    pub total: Count,
    /// What the walk through them has to say.
    pub report: WalkReport,
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
    /// Lists what is beneath a directory, or a file alone: what `admits` lets in and comes first, and how many there are.
    ///
    /// # Errors
    ///
    /// Fails when a rule hides the place, when nothing is there and when the system refuses.
    pub fn list(
        &self,
        place: &Resolved,
        options: &ListOptions,
        is_called_off: &(dyn Fn() -> bool + Sync),
        admits: impl Fn(&Found<'_>) -> bool + Sync,
    ) -> Result<Listing, PathError> {
        let first = || First::new(options.order, options.most);
        let all = Mutex::new(first());
        let report = self.walk(place, &options.walk, is_called_off, || {
            let mut handed = Handed { first: first(), all: &all };
            let admits = &admits;
            move |found: &Found<'_>| {
                if admits(found) {
                    handed.first.offer(found);
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
        Ok(Listing { entries, total, report })
    }
}

/// The entries that come first among those offered.
#[derive(Debug)]
struct First {
    order: ListOrder,
    most: usize,
    total: u64,
    kept: BinaryHeap<Kept>,
}

impl First {
    fn new(order: ListOrder, most: NonZeroUsize) -> Self {
        Self { order, most: most.get(), total: 0, kept: BinaryHeap::new() }
    }

    fn offer(&mut self, found: &Found<'_>) {
        self.total += 1;
        let (rank, metadata) = match self.order {
            ListOrder::Path => (0, None),
            ListOrder::Largest => {
                let metadata = found.metadata().ok();
                let is_file = found.kind() == FileKind::File;
                let len = metadata.filter(|_| is_file).map(|it| i128::from(it.len));
                (len.map_or(1, |len| -len), metadata)
            }
            ListOrder::Newest => {
                let metadata = found.metadata().ok();
                let modified = metadata.and_then(|it| it.modified);
                (modified.map_or(i128::MAX, |it| -nanoseconds(it)), metadata)
            }
        };
        let comes_before = |last: &Kept| {
            rank.cmp(&last.rank).then_with(|| by_path(found.relative(), last.path.as_ref())).is_lt()
        };
        if self.kept.len() < self.most || self.kept.peek().is_some_and(comes_before) {
            let metadata = metadata.or_else(|| found.metadata().ok());
            // A file is looked at where it would be shown: looking at each for further names takes long.
            if metadata.is_some_and(|metadata| found.is_twin(&metadata)) {
                self.total -= 1;
                return;
            }
            self.keep(Kept::of(found, rank, metadata));
        }
    }

    fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }
}

/// Returns the nanoseconds from 1970 to a time, negative for one before.
fn nanoseconds(time: SystemTime) -> i128 {
    let whole = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(error) => -whole(error.duration()),
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
    rank: i128,
    path: OsString,
    entry: Entry,
}

impl Kept {
    fn of(found: &Found<'_>, rank: i128, metadata: Option<Metadata>) -> Self {
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
            rank,
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
        self.rank.cmp(&other.rank).then_with(|| by_path(self.path.as_ref(), other.path.as_ref()))
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
