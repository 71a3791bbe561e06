//! Walking a tree: many threads, each on held directories.
//!
//! A directory is opened beneath its root without following a link, and what is done to its entries goes through that
//! handle. So a path that is swapped during the walk leads nowhere new, and nothing has to be checked twice.

mod found;
mod queue;
mod worker;

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use haft_protocol::{LogicalPath, limits};

use crate::error::PathError;
use crate::file::FileKind;
use crate::globs::Globs;
use crate::protection::own::OwnPlaces;
use crate::resolved::Resolved;
use crate::rules::{Beginning, Rules};
use crate::skipped::Skipped;
use crate::sys::Dir;
use crate::twins::Twins;
use crate::view::View;
use crate::workspace::Root;

pub use found::Found;
pub(crate) use found::{Glance, LeftOut};
use queue::Queue;
use worker::{Worker, goes_down};

/// What a walk goes through.
///
/// As it is by default it meets everything beneath its beginning except what ignore rules leave out and the folders of
/// version control (`.git`, `.hg`, `.jj`, `.svn`), which are entered only where a walk begins in one. Links are met and
/// not followed.
#[derive(Debug, Clone, Default)]
pub struct WalkOptions {
    /// How deep to go; 1 is what stands in the directory itself. Everything, where nothing is set.
    pub depth: Option<NonZeroUsize>,
    /// Whether to meet what ignore rules leave out.
    pub include_ignored: bool,
    /// Whether to pass over names that begin with a dot.
    pub skip_dotted: bool,
    /// What to meet, by paths from where the walk begins. A pattern without wildcards is a path that is met even where
    /// ignore rules leave it out.
    pub only: Option<Globs>,
    /// What to pass over, with all that is in it, by paths from where the walk begins.
    pub without: Option<Globs>,
    /// How many threads to walk with. As many as the machine runs at once, eight at most, where nothing is set.
    pub threads: Option<NonZeroUsize>,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// How many entries to look at before stopping, where not the number in the table of limits.
    pub entries: Option<NonZeroU64>,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkEnd {
    /// Everything was met.
    Complete,
    /// Whoever walked had enough.
    Satisfied,
    /// The deadline passed.
    Deadline,
    /// The number of entries was reached.
    Entries,
    /// The walk was called off.
    Cancelled,
}

/// What a walk has to say at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkReport {
    /// How it ended.
    pub end: WalkEnd,
    /// How many entries of directories were looked at.
    pub entries: u64,
    /// How many directories were as deep as the walk was to go, and were not entered.
    pub unentered: u64,
    /// How many of those that were met have a name that is not UTF-8 and is shown with `\xNN`.
    pub escaped: u64,
    /// What was passed over.
    pub skipped: Skipped,
}

impl View {
    /// Walks from a place and hands everything it meets to visitors, one for each thread, in no order.
    ///
    /// A walk from a file meets that file. A visitor that breaks ends the walk. `is_called_off` is asked at each entry.
    ///
    /// # Errors
    ///
    /// Fails when nothing is there, when it is a file that a rule hides, and when the system refuses.
    pub fn walk<V>(
        &self,
        place: &Resolved,
        options: &WalkOptions,
        is_called_off: &(dyn Fn() -> bool + Sync),
        visitor: impl Fn() -> V + Sync,
    ) -> Result<WalkReport, PathError>
    where
        V: FnMut(&Found<'_>) -> ControlFlow<()>,
    {
        self.go_through(place, options, Names::Seen, is_called_off, visitor)
    }

    /// Walks like [`walk`](Self::walk), and also meets by name what ignore rules and the protection leave out.
    ///
    /// # Errors
    ///
    /// Fails like [`walk`](Self::walk).
    pub(crate) fn walk_all_names<V>(
        &self,
        place: &Resolved,
        options: &WalkOptions,
        visitor: impl Fn() -> V + Sync,
    ) -> Result<WalkReport, PathError>
    where
        V: FnMut(&Found<'_>) -> ControlFlow<()>,
    {
        self.go_through(place, options, Names::All, &|| false, visitor)
    }

    fn go_through<V>(
        &self,
        place: &Resolved,
        options: &WalkOptions,
        names: Names,
        is_called_off: &(dyn Fn() -> bool + Sync),
        visitor: impl Fn() -> V + Sync,
    ) -> Result<WalkReport, PathError>
    where
        V: FnMut(&Found<'_>) -> ControlFlow<()>,
    {
        let root = self.root_of(place)?;
        let metadata = place.look()?;
        let mut path = place.directory_path.clone();
        let mut walk = Walk {
            view: self,
            root_index: place.root,
            root,
            options,
            names,
            is_called_off,
            root_at: 0,
            start: Vec::new(),
            queue: Queue::default(),
            twins: Twins::default(),
            own: self.workspace().protection().own_places(),
            entries: AtomicU64::new(0),
            is_cut: AtomicBool::new(false),
            end: OnceLock::new(),
            totals: Mutex::default(),
        };
        if metadata.kind != FileKind::Directory {
            self.admit(place)?;
            walk.start = with_slash(path.as_os_str().as_bytes().to_vec());
            path.extend(place.leaf());
            let mut worker = Worker::new(&walk, visitor());
            worker.meet_alone(&place.directory, &path, metadata.kind);
            worker.leave();
            return Ok(walk.report());
        }

        path.extend(place.leaf());
        let dir = match place.leaf() {
            Some(leaf) => place.directory.child(leaf).and_then(|dir| dir.readable()),
            None => place.directory.readable(),
        };
        let dir = dir.map_err(|error| PathError::of_system(place.logical().as_str(), error))?;
        let beginning = if options.include_ignored {
            Beginning::default()
        } else {
            Rules::leading_to(root, &path)
        };
        walk.root_at = beginning.prefix.len();
        walk.start = with_slash([&beginning.prefix, path.as_os_str().as_bytes()].concat());
        walk.run(dir, beginning, metadata.id.device, &visitor);
        Ok(walk.report())
    }
}

fn with_slash(mut path: Vec<u8>) -> Vec<u8> {
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path
}

/// Which names a walk meets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Those of what it may look at.
    Seen,
    /// Also those of what ignore rules and the protection leave out.
    All,
}

/// One walk, as all its threads see it.
struct Walk<'a> {
    view: &'a View,
    root_index: usize,
    root: &'a Root,
    options: &'a WalkOptions,
    names: Names,
    is_called_off: &'a (dyn Fn() -> bool + Sync),
    /// Where the path from the root begins in a full path, which begins at the topmost ignore rules.
    root_at: usize,
    /// The full path of where the walk begins, with a slash at the end unless it is empty.
    start: Vec<u8>,
    queue: Queue,
    twins: Twins,
    own: OwnPlaces,
    entries: AtomicU64,
    is_cut: AtomicBool,
    end: OnceLock<WalkEnd>,
    totals: Mutex<Totals>,
}

/// What is counted during a walk, by each thread for itself.
#[derive(Debug, Default)]
struct Totals {
    entries: u64,
    unentered: u64,
    escaped: u64,
    skipped: Skipped,
}

impl Totals {
    fn note_unreadable(&mut self, path: &LogicalPath) {
        self.skipped.note_unreadable(path);
    }

    fn add(&mut self, other: Totals) {
        self.entries += other.entries;
        self.unentered += other.unentered;
        self.escaped += other.escaped;
        self.skipped.add(other.skipped);
    }
}

impl Walk<'_> {
    fn run<V>(&self, dir: Dir, beginning: Beginning, device: u64, visitor: &(impl Fn() -> V + Sync))
    where
        V: FnMut(&Found<'_>) -> ControlFlow<()>,
    {
        let mut first = Worker::new(self, visitor());
        let node = first.begin(dir, beginning, device);
        let threads = self.options.threads.map_or_else(
            || {
                let here = thread::available_parallelism().map_or(1, NonZeroUsize::get);
                here.min(limits::WALK_THREADS)
            },
            NonZeroUsize::get,
        );
        let further = if node.is_small() { 0 } else { threads - 1 };
        thread::scope(|scope| {
            for _ in 0..further {
                // Where the system has no thread to give, those there are do the work.
                let _ = thread::Builder::new()
                    .name("haft-walk".to_owned())
                    .spawn_scoped(scope, || Worker::new(self, visitor()).work());
            }
            first.work();
        });
    }

    /// Returns the paths that patterns name outright.
    fn named(&self) -> impl Iterator<Item = &Path> {
        let named = self.options.only.as_ref().map(Globs::literal).unwrap_or_default();
        named.iter().map(PathBuf::as_path).filter(|path| goes_down(path))
    }

    /// Tells whether a path, from where the walk begins, is to be met.
    fn asks_for(&self, relative: &Path) -> bool {
        self.options.only.as_ref().is_none_or(|only| only.matches(relative))
    }

    fn entries_max(&self) -> u64 {
        self.options.entries.map_or(limits::SEARCH_ENTRIES, NonZeroU64::get)
    }

    fn entries_left(&self) -> u64 {
        self.entries_max().saturating_sub(self.entries.load(Ordering::Relaxed))
    }

    /// Takes entries out of the number a walk may look at. What is over is cut off.
    fn claim(&self, range: Range<usize>) -> Range<usize> {
        let before = self.entries.fetch_add(range.len() as u64, Ordering::Relaxed);
        let left = self.entries_max().saturating_sub(before);
        let len = range.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if len < range.len() {
            self.is_cut.store(true, Ordering::Relaxed);
        }
        range.start..range.start + len
    }

    /// Tells whether the walk is over.
    fn is_over(&self) -> bool {
        if self.end.get().is_some() {
            return true;
        }
        let is_called_off = (self.is_called_off)();
        if is_called_off {
            self.finish(WalkEnd::Cancelled);
        }
        is_called_off
    }

    fn is_late(&self) -> bool {
        let is_late = self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late {
            self.finish(WalkEnd::Deadline);
        }
        is_late
    }

    /// Ends the walk. The first reason counts.
    fn finish(&self, end: WalkEnd) {
        let _ = self.end.set(end);
        self.queue.close();
    }

    fn report(self) -> WalkReport {
        let Totals { entries, unentered, escaped, skipped } =
            self.totals.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.view.count(skipped.hidden);
        let end = match self.end.get() {
            Some(end) => *end,
            None if self.is_cut.load(Ordering::Relaxed) => WalkEnd::Entries,
            None => WalkEnd::Complete,
        };
        WalkReport { end, entries, unentered, escaped, skipped }
    }
}
