//! One thread of a walk.

use std::cell::{OnceCell, RefCell};
use std::ffi::OsStr;
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use haft_protocol::limits;
use rustix::io::Errno;

use super::queue::Work;
use super::{Found, LeftOut, Names, Totals, Walk, WalkEnd};
use crate::file::FileKind;
use crate::rules::{Beginning, Present, Rules};
use crate::sys::Dir;

/// How many entries of one directory a thread takes at once.
const SHARE: usize = 64;

/// How many entries pass between two looks at the clock.
const CLOCK_ENTRIES: u32 = 32;

/// Folders of version control, which a walk does not enter: what is in them is history, not work.
const HISTORY: [&[u8]; 4] = [b".git", b".hg", b".jj", b".svn"];

/// How an entry is passed over.
#[derive(Clone, Copy)]
enum PassedOver {
    /// With all that is in it.
    Whole,
    /// But for its name, where that is asked for.
    LeftOut(LeftOut),
}

/// A directory whose names were read.
#[derive(Debug)]
pub(super) struct Node {
    /// The full path, with a slash at the end unless it is empty.
    path: Vec<u8>,
    depth: usize,
    device: u64,
    rules: Option<Arc<Rules>>,
    names: Vec<u8>,
    entries: Vec<Entry>,
}

/// A name in a directory: where it stands among the names, and its kind, if the directory told.
#[derive(Debug, Clone, Copy)]
struct Entry {
    at: usize,
    len: usize,
    kind: Option<FileKind>,
}

impl Node {
    fn entry(&self, index: usize) -> Option<(&OsStr, Option<FileKind>)> {
        let entry = self.entries.get(index)?;
        let name = self.names.get(entry.at..entry.at + entry.len)?;
        Some((OsStr::from_bytes(name), entry.kind))
    }

    /// Tells whether one thread can do with this what there is to do.
    pub(super) fn is_small(&self) -> bool {
        let may_be_entered = |entry: &Entry| matches!(entry.kind, Some(FileKind::Directory) | None);
        self.entries.len() <= SHARE && !self.entries.iter().any(may_be_entered)
    }
}

pub(super) struct Worker<'a, V> {
    walk: &'a Walk<'a>,
    visitor: V,
    totals: RefCell<Totals>,
    /// The full path of the entry at hand.
    path: Vec<u8>,
    buffer: Vec<u8>,
    until_clock: u32,
}

impl<'a, V> Worker<'a, V>
where
    V: FnMut(&Found<'_>) -> ControlFlow<()>,
{
    pub(super) fn new(walk: &'a Walk<'a>, visitor: V) -> Self {
        Self {
            walk,
            visitor,
            totals: RefCell::default(),
            path: Vec::new(),
            buffer: Vec::new(),
            until_clock: 0,
        }
    }

    /// Reads the directory where the walk begins and puts what is in it up for work.
    pub(super) fn begin(&mut self, dir: Dir, beginning: Beginning, device: u64) -> Arc<Node> {
        self.totals.get_mut().skipped.rules_unread += beginning.unread;
        for named in self.walk.named() {
            self.meet_named(&dir, named);
        }
        let path = self.walk.start.clone();
        let node = Arc::new(self.read(&dir, path, 0, beginning.rules.as_ref(), device));
        self.share(&node, &Arc::new(dir));
        node
    }

    /// Works until nothing is left to do.
    pub(super) fn work(mut self) {
        while let Some(mut taken) = self.walk.queue.take() {
            match taken.work() {
                Some(Work::Enter { parent, entry }) => self.enter(&parent, entry),
                Some(Work::Entries { node, dir, range }) => self.entries(&node, &dir, range),
                None => {}
            }
        }
        self.leave();
    }

    /// Hands in what was counted.
    pub(super) fn leave(self) {
        let mut totals = self.walk.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.add(self.totals.into_inner());
    }

    /// Meets what a walk begins with, when that is no directory.
    pub(super) fn meet_alone(&mut self, dir: &Dir, path: &Path, kind: FileKind) {
        self.path.extend_from_slice(path.as_os_str().as_bytes());
        self.meet(dir, path.file_name().unwrap_or_default(), kind, None);
    }

    /// Meets what a pattern names outright, whatever ignore rules say.
    fn meet_named(&mut self, start: &Dir, named: &Path) {
        let options = self.walk.options;
        let Some(name) = named.file_name() else { return };
        if options.without.as_ref().is_some_and(|without| without.matches(named)) {
            return;
        }
        self.path.clone_from(&self.walk.start);
        self.path.extend_from_slice(named.as_os_str().as_bytes());
        let path = part(&self.path, self.walk.root_at);
        if self.walk.view.workspace().protection().of_path(path).is_some() {
            self.totals.get_mut().skipped.hidden.protected += 1;
            return;
        }
        let mut held = None;
        for name in named.parent().into_iter().flatten() {
            match held.as_ref().unwrap_or(start).child(name) {
                Ok(child) => held = Some(child),
                Err(_) => return,
            }
            let id = held.as_ref().and_then(|it| it.metadata().ok()).map(|it| it.id);
            if id.is_none_or(|id| self.walk.own.is(id).is_some()) {
                self.totals.get_mut().skipped.hidden.protected += 1;
                return;
            }
        }
        let dir = held.as_ref().unwrap_or(start);
        if let Ok(metadata) = dir.look(name) {
            self.meet(dir, name, metadata.kind, None);
        }
    }

    fn enter(&mut self, parent: &Node, entry: usize) {
        let Some((name, _)) = parent.entry(entry) else { return };
        if self.walk.is_over() || self.walk.is_late() {
            return;
        }
        let mut path = Vec::with_capacity(parent.path.len() + name.len() + 1);
        path.extend_from_slice(&parent.path);
        path.extend_from_slice(name.as_bytes());
        let within = part(&path, self.walk.root_at);
        let root = self.walk.root;
        let opened = root
            .dir
            .readable_beneath(within, root.beneath)
            .and_then(|dir| dir.metadata().map(|metadata| (dir, metadata)));
        let (dir, metadata) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.pass_over(within, error),
        };
        let device = metadata.id.device;
        let is_of_others = device != parent.device && dir.is_of_processes();
        if is_of_others || self.walk.own.is(metadata.id).is_some() {
            self.totals.get_mut().skipped.hidden.protected += 1;
            return;
        }
        path.push(b'/');
        let node = self.read(&dir, path, parent.depth + 1, parent.rules.as_ref(), device);
        self.share(&Arc::new(node), &Arc::new(dir));
    }

    /// Counts what could not be opened, unless it only is not there any more, or has become something else.
    fn pass_over(&mut self, path: &Path, error: Errno) {
        if !matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) {
            let path = self.walk.view.logical(self.walk.root_index, path);
            self.totals.get_mut().note_unreadable(&path);
        }
    }

    fn read(
        &mut self,
        dir: &Dir,
        path: Vec<u8>,
        depth: usize,
        above: Option<&Arc<Rules>>,
        device: u64,
    ) -> Node {
        let mut names = Vec::new();
        let mut entries = Vec::new();
        let mut present = Present::default();
        // So many names cannot be worth remembering.
        let left = self.walk.entries_left();
        let mut is_cut = false;
        let read = dir.names(&mut self.buffer, |name, kind| {
            is_cut = entries.len() as u64 >= left;
            if !is_cut {
                present.note(name, kind);
                entries.push(Entry { at: names.len(), len: name.len(), kind });
                names.extend_from_slice(name.as_bytes());
            }
            !is_cut
        });
        if is_cut {
            self.walk.is_cut.store(true, Ordering::Relaxed);
        }
        if let Err(error) = read {
            self.pass_over(part(&path, self.walk.root_at), error);
        }
        let rules = if self.walk.options.include_ignored {
            None
        } else {
            let unread = &mut self.totals.get_mut().skipped.rules_unread;
            Rules::within(above, dir, present, path.len(), unread)
        };
        Node { path, depth, device, rules, names, entries }
    }

    /// Puts the entries of a directory up for work, so that a large one keeps all threads busy.
    fn share(&mut self, node: &Arc<Node>, dir: &Arc<Dir>) {
        let mut work: Vec<Work> = (0..node.entries.len())
            .step_by(SHARE)
            .map(|from| {
                let range = from..node.entries.len().min(from + SHARE);
                Work::Entries { node: Arc::clone(node), dir: Arc::clone(dir), range }
            })
            .collect();
        self.walk.queue.add(&mut work);
    }

    /// Looks at some of the entries of a directory: first at those to enter, so that others can begin there.
    fn entries(&mut self, node: &Arc<Node>, dir: &Dir, range: Range<usize>) {
        let range = self.walk.claim(range);
        self.totals.get_mut().entries += range.len() as u64;
        self.path.clone_from(&node.path);
        let mut others = Vec::with_capacity(range.len());
        let mut directories = Vec::new();
        for index in range {
            if self.is_over() {
                return;
            }
            let Some((name, kind)) = node.entry(index) else { continue };
            let kind = match kind {
                Some(kind) => kind,
                // What went away in between is not there to be met.
                None => match dir.look(name) {
                    Ok(metadata) => metadata.kind,
                    Err(_) => continue,
                },
            };
            if kind != FileKind::Directory {
                others.push((index, kind));
                continue;
            }
            self.stand_at(node, name);
            if let Some(passed) = self.passes_over(node, dir, name, kind) {
                self.meet_by_name(dir, name, kind, passed);
                continue;
            }
            if self.may_go_deeper(node.depth + 1) {
                directories.push(Work::Enter { parent: Arc::clone(node), entry: index });
            }
            if !self.is_named() {
                self.meet(dir, name, kind, None);
            }
        }
        self.walk.queue.add(&mut directories);
        for (index, kind) in others {
            if self.is_over() {
                return;
            }
            let Some((name, _)) = node.entry(index) else { continue };
            self.stand_at(node, name);
            if self.is_named() {
                continue;
            }
            match self.passes_over(node, dir, name, kind) {
                Some(passed) => self.meet_by_name(dir, name, kind, passed),
                None => self.meet(dir, name, kind, None),
            }
        }
    }

    fn is_over(&mut self) -> bool {
        if self.until_clock == 0 {
            self.until_clock = CLOCK_ENTRIES;
            if self.walk.is_late() {
                return true;
            }
        }
        self.until_clock -= 1;
        self.walk.is_over()
    }

    /// Makes the path at hand that of a name in a directory.
    fn stand_at(&mut self, node: &Node, name: &OsStr) {
        self.path.truncate(node.path.len());
        self.path.extend_from_slice(name.as_bytes());
    }

    /// Tells whether a pattern names the path at hand outright, so that it was met already.
    fn is_named(&self) -> bool {
        let mut named = self.walk.named().peekable();
        named.peek().is_some() && {
            let relative = self.path.get(self.walk.start.len()..).unwrap_or_default();
            named.any(|named| named.as_os_str().as_bytes() == relative)
        }
    }

    /// Tells whether the entry at hand is neither met nor entered, and counts it if it could have been asked for.
    fn passes_over(
        &self,
        node: &Node,
        dir: &Dir,
        name: &OsStr,
        kind: FileKind,
    ) -> Option<PassedOver> {
        let walk = self.walk;
        let is_directory = kind == FileKind::Directory;
        let is_dotted = name.as_bytes().starts_with(b".");
        if is_dotted && HISTORY.contains(&name.as_bytes()) {
            return Some(PassedOver::Whole);
        }
        let relative = part(&self.path, walk.start.len());
        let number = || u64::from(is_directory || walk.asks_for(relative));
        let mut totals = self.totals.borrow_mut();
        let skipped = &mut totals.skipped;
        let parent = node.path.strip_suffix(b"/").unwrap_or(&node.path);
        if walk.view.workspace().protection().covers(part(parent, walk.root_at), name) {
            skipped.hidden.protected += number();
            if let Ok(metadata) = dir.look(name) {
                walk.twins.meet(&metadata, part(&self.path, walk.root_at));
            }
            return Some(PassedOver::LeftOut(LeftOut::Protected));
        }
        if walk.options.skip_dotted && is_dotted {
            skipped.dotted += number();
            return Some(PassedOver::Whole);
        }
        if node.rules.as_ref().is_some_and(|rules| rules.leave_out(&self.path, is_directory)) {
            if is_directory {
                skipped.ignored_directories += 1;
            } else {
                skipped.ignored_files += number();
            }
            return Some(PassedOver::LeftOut(LeftOut::Ignored));
        }
        if walk.options.without.as_ref().is_some_and(|without| without.matches(relative)) {
            return Some(PassedOver::Whole);
        }
        let is_hidden = is_directory && !walk.view.has_no_filter() && {
            let path = part(&self.path, walk.root_at);
            !walk.view.lets_see(&walk.view.logical(walk.root_index, path))
        };
        skipped.hidden.by_rule += u64::from(is_hidden);
        is_hidden.then_some(PassedOver::Whole)
    }

    /// Hands what is left out to the visitor by its name alone, where that is asked for.
    fn meet_by_name(&mut self, dir: &Dir, name: &OsStr, kind: FileKind, passed: PassedOver) {
        if let PassedOver::LeftOut(what) = passed
            && self.walk.names == Names::All
        {
            self.meet(dir, name, kind, Some(what));
        }
    }

    fn may_go_deeper(&mut self, depth: usize) -> bool {
        if self.walk.options.depth.is_some_and(|most| depth >= most.get()) {
            self.totals.get_mut().unentered += 1;
            return false;
        }
        let is_too_deep = depth >= limits::WALK_DEPTH;
        self.totals.get_mut().skipped.too_deep += u64::from(is_too_deep);
        !is_too_deep
    }

    /// Hands the entry at hand to the visitor, if it is asked for and may be seen.
    fn meet(&mut self, dir: &Dir, name: &OsStr, kind: FileKind, left_out: Option<LeftOut>) {
        let Self { walk, visitor, totals, path, .. } = self;
        let relative = part(path, walk.start.len());
        if !walk.asks_for(relative) {
            return;
        }
        let path = part(path, walk.root_at);
        let logical = OnceCell::new();
        if !walk.view.has_no_filter() {
            let shown = walk.view.logical(walk.root_index, path);
            if !walk.view.lets_see(&shown) {
                totals.get_mut().skipped.hidden.by_rule += 1;
                return;
            }
            let _ = logical.set(shown);
        }
        totals.get_mut().escaped += u64::from(name.to_str().is_none());
        let found = Found { walk, dir, name, path, relative, kind, left_out, logical, totals };
        if visitor(&found).is_break() {
            walk.finish(WalkEnd::Satisfied);
        }
    }
}

/// Returns a path from where it matters on.
fn part(path: &[u8], at: usize) -> &Path {
    Path::new(OsStr::from_bytes(path.get(at..).unwrap_or_default()))
}

/// Tells whether a path goes down through names and nothing else.
pub(super) fn goes_down(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}
