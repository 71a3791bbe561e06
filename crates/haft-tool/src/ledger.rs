//! What a model has seen of the files it may want to change.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_protocol::{LogicalPath, limits};
use haft_text::LineHash;

/// What a body showed of a file, or did to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// It showed lines that stand one after another, one to each line of its text.
    Lines {
        /// The file.
        path: LogicalPath,
        /// The line of the output's text that shows the first of them, from 0.
        from_row: usize,
        /// The lines, by hash.
        lines: Vec<LineHash>,
    },
    /// It replaced lines of the file by lines that the caller wrote.
    Replaced {
        /// The file.
        path: LogicalPath,
        /// The lines before.
        old: Vec<LineHash>,
        /// The lines after.
        new: Vec<LineHash>,
    },
    /// It moved the file.
    Moved {
        /// From where.
        from: LogicalPath,
        /// To where.
        to: LogicalPath,
    },
    /// It removed the file.
    Removed {
        /// The file.
        path: LogicalPath,
    },
}

/// Which lines of a text were kept when it was cut: so many at its start, so many at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeptRows {
    pub(crate) head: usize,
    pub(crate) tail_from: usize,
}

impl KeptRows {
    pub(crate) const ALL: Self = Self { head: usize::MAX, tail_from: usize::MAX };
}

/// Which lines of which files a model has seen: evidence for edits.
///
/// A plain value that belongs to one branch or one connection. It holds hashes of lines, not positions or times, so that
/// touching a file, or changing it elsewhere, takes nothing away; and lines that changed are not the lines that were
/// seen.
///
/// ```
/// use haft_protocol::LogicalPath;
/// use haft_text::LineHash;
/// use haft_tool::{ReadLedger, Seen};
///
/// let path = LogicalPath::new("notes.txt");
/// let lines: Vec<LineHash> = ["one", "two", "three"].map(LineHash::of).into();
/// let mut ledger = ReadLedger::new();
/// ledger.see(Seen::Lines { path: path.clone(), from_row: 0, lines: lines[..2].to_vec() });
///
/// assert!(ledger.covers(&path, &lines[1..2]));
/// assert!(!ledger.covers(&path, &lines[1..]));
/// assert!(!ledger.covers_all(&path, &lines));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadLedger {
    /// Shared with clones until one of them changes.
    files: Arc<BTreeMap<LogicalPath, Arc<Segments>>>,
}

/// What was seen of one file, each in one piece.
type Segments = Vec<Vec<LineHash>>;

impl ReadLedger {
    /// Makes a ledger of nothing seen.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells whether these lines, one after another, are part of something seen in one piece.
    pub fn covers(&self, path: &LogicalPath, span: &[LineHash]) -> bool {
        span.is_empty() || self.segments(path).any(|segment| position(segment, span).is_some())
    }

    /// Tells whether each of these lines has been seen.
    pub fn covers_all(&self, path: &LogicalPath, lines: &[LineHash]) -> bool {
        let seen: HashSet<&LineHash> = self.segments(path).flatten().collect();
        lines.iter().all(|line| seen.contains(line))
    }

    /// Tells whether anything of a file has been seen.
    pub fn knows(&self, path: &LogicalPath) -> bool {
        self.files.contains_key(path)
    }

    /// Takes in what was seen or done.
    pub fn see(&mut self, seen: Seen) {
        match seen {
            Seen::Lines { path, lines, .. } => self.add(path, lines),
            Seen::Replaced { path, old, new } => self.replace(path, &old, new),
            Seen::Moved { from, to } => {
                let files = Arc::make_mut(&mut self.files);
                files.remove(&to);
                if let Some(segments) = files.remove(&from) {
                    files.insert(to, segments);
                }
            }
            Seen::Removed { path } => self.forget(&path),
        }
    }

    /// Takes out everything of a file, as when what showed it leaves the model's view.
    pub fn forget(&mut self, path: &LogicalPath) {
        if self.knows(path) {
            Arc::make_mut(&mut self.files).remove(path);
        }
    }

    fn segments(&self, path: &LogicalPath) -> impl Iterator<Item = &[LineHash]> {
        self.files.get(path).into_iter().flat_map(|it| it.iter()).map(Vec::as_slice)
    }

    fn segments_mut(&mut self, path: LogicalPath) -> &mut Segments {
        Arc::make_mut(Arc::make_mut(&mut self.files).entry(path).or_default())
    }

    fn add(&mut self, path: LogicalPath, lines: Vec<LineHash>) {
        let segments = self.segments_mut(path);
        if segments.iter().any(|segment| position(segment, &lines).is_some()) {
            return;
        }
        segments.retain(|segment| position(&lines, segment).is_none());
        segments.push(lines);
        // What was seen longest ago goes first; that only means to look again.
        while segments.len() > 1
            && (segments.len() > limits::LEDGER_SEGMENTS
                || segments.iter().map(Vec::len).sum::<usize>() > limits::LEDGER_LINES)
        {
            segments.remove(0);
        }
    }

    fn replace(&mut self, path: LogicalPath, old: &[LineHash], new: Vec<LineHash>) {
        let segments = self.segments_mut(path.clone());
        let mut is_placed = false;
        if !old.is_empty() {
            for segment in segments {
                if let Some(at) = position(segment, old) {
                    segment.splice(at..at + old.len(), new.iter().copied());
                    is_placed = true;
                }
            }
        }
        if !is_placed {
            self.add(path, new);
        }
    }
}

/// Finds lines, one after another, among others, in time that grows with their number (Knuth, Morris, Pratt).
fn position(lines: &[LineHash], wanted: &[LineHash]) -> Option<usize> {
    // How long a start of `wanted` ends at each of its lines.
    let mut borders = vec![0; wanted.len()];
    let longer = |mut length: usize, line: &LineHash, borders: &[usize]| loop {
        match (wanted.get(length) == Some(line), length) {
            (true, _) => return length + 1,
            (false, 0) => return 0,
            (false, _) => length = borders.get(length - 1).copied().unwrap_or(0),
        }
    };
    let mut length = 0;
    for (at, line) in wanted.iter().enumerate().skip(1) {
        length = longer(length, line, &borders);
        if let Some(border) = borders.get_mut(at) {
            *border = length;
        }
    }
    let mut length = 0;
    for (at, line) in lines.iter().enumerate() {
        if length == wanted.len() {
            break;
        }
        length = longer(length, line, &borders);
        if length == wanted.len() {
            return Some(at + 1 - length);
        }
    }
    wanted.is_empty().then_some(0)
}

/// A ledger that the calls of one branch or connection share.
///
/// A clone is the same ledger; [`value`](Self::value) copies what is in it.
#[derive(Clone, Default)]
pub struct SharedLedger(Arc<Mutex<ReadLedger>>);

impl SharedLedger {
    /// Shares a ledger.
    pub fn new(ledger: ReadLedger) -> Self {
        Self(Arc::new(Mutex::new(ledger)))
    }

    /// Returns a copy of what the ledger holds now.
    pub fn value(&self) -> ReadLedger {
        self.lock().clone()
    }

    /// Looks at the ledger; `look` must not block.
    pub fn with<T>(&self, look: impl FnOnce(&ReadLedger) -> T) -> T {
        look(&self.lock())
    }

    /// Takes out everything of a file.
    pub fn forget(&self, path: &LogicalPath) {
        self.lock().forget(path);
    }

    /// Takes in what an outcome showed, as far as its text kept it.
    pub(crate) fn commit(&self, seen: Vec<Seen>, kept: KeptRows) {
        let mut ledger = self.lock();
        for seen in seen {
            let Seen::Lines { path, from_row, lines } = seen else {
                ledger.see(seen);
                continue;
            };
            let head = kept.head.saturating_sub(from_row).min(lines.len());
            let tail = kept.tail_from.saturating_sub(from_row).clamp(head, lines.len());
            let parts = [lines.get(..head), lines.get(tail..)];
            for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) {
                ledger.see(Seen::Lines { path: path.clone(), from_row, lines: part.to_vec() });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ReadLedger> {
        // Nothing leaves the ledger half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedLedger({} files)", self.lock().files.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(text: &str) -> Vec<LineHash> {
        text.chars().map(|line| LineHash::of(&line.to_string())).collect()
    }

    fn path() -> LogicalPath {
        LogicalPath::new("f")
    }

    fn ledger_of(segments: &[&str]) -> ReadLedger {
        let mut ledger = ReadLedger::new();
        for lines in segments {
            ledger.see(Seen::Lines { path: path(), from_row: 0, lines: hashes(lines) });
        }
        ledger
    }

    #[test]
    fn lines_are_covered_only_within_one_piece() {
        let ledger = ledger_of(&["abc", "def"]);
        assert!(ledger.covers(&path(), &hashes("bc")));
        assert!(!ledger.covers(&path(), &hashes("cd")));
        assert!(ledger.covers_all(&path(), &hashes("abcdef")));
        assert!(!ledger.covers_all(&path(), &hashes("abcdefg")));
        assert!(!ledger.covers(&LogicalPath::new("g"), &hashes("a")));
    }

    #[test]
    fn a_piece_within_another_is_kept_once() {
        assert_eq!(ledger_of(&["bc", "abcd", "cd"]), ledger_of(&["abcd"]));
    }

    #[test]
    fn an_own_edit_takes_the_place_of_what_it_replaced() {
        let mut ledger = ledger_of(&["abcd"]);
        ledger.see(Seen::Replaced { path: path(), old: hashes("bc"), new: hashes("xyz") });
        assert!(ledger.covers(&path(), &hashes("axyzd")));
        assert!(!ledger.covers(&path(), &hashes("b")));
    }

    #[test]
    fn an_own_edit_of_unseen_lines_adds_the_new_ones() {
        let mut ledger = ledger_of(&["ab"]);
        ledger.see(Seen::Replaced { path: path(), old: hashes("q"), new: hashes("xy") });
        assert!(ledger.covers(&path(), &hashes("xy")));
        assert!(ledger.covers(&path(), &hashes("ab")));
    }

    #[test]
    fn what_moves_stays_seen_and_what_goes_does_not() {
        let to = LogicalPath::new("t");
        let mut ledger = ledger_of(&["ab"]);
        ledger.see(Seen::Moved { from: path(), to: to.clone() });
        assert!(ledger.covers(&to, &hashes("ab")) && !ledger.knows(&path()));
        ledger.see(Seen::Removed { path: to.clone() });
        assert!(!ledger.knows(&to));
    }

    #[test]
    fn rows_that_were_cut_out_of_a_text_were_not_seen() {
        let shared = SharedLedger::default();
        let seen = Seen::Lines { path: path(), from_row: 1, lines: hashes("abcdef") };
        shared.commit(vec![seen], KeptRows { head: 3, tail_from: 6 });
        let ledger = shared.value();
        assert!(ledger.covers(&path(), &hashes("ab")) && ledger.covers(&path(), &hashes("f")));
        assert!(!ledger.covers(&path(), &hashes("abc")) && !ledger.covers(&path(), &hashes("e")));
    }

    #[test]
    fn repeated_lines_are_found_where_they_are() {
        for (lines, wanted, at) in [
            ("aaab", "aab", Some(1)),
            ("abababc", "ababc", Some(2)),
            ("abc", "", Some(0)),
            ("abc", "abcd", None),
            ("", "a", None),
            ("aabaaabaaac", "aabaaac", Some(4)),
        ] {
            assert_eq!(position(&hashes(lines), &hashes(wanted)), at, "{wanted} in {lines}");
        }
    }

    #[test]
    fn a_ledger_is_bounded() {
        let mut ledger = ReadLedger::new();
        for number in 0..limits::LEDGER_SEGMENTS + 10 {
            let lines = vec![LineHash::of(&number.to_string())];
            ledger.see(Seen::Lines { path: path(), from_row: 0, lines });
        }
        assert!(!ledger.covers(&path(), &[LineHash::of("0")]));
        assert_eq!(ledger.segments(&path()).count(), limits::LEDGER_SEGMENTS);
    }
}
