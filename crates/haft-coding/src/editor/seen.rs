//! Whether the caller has seen what it changes.

use haft_protocol::{ErrorKind, Failure, LogicalPath, Notice, NoticeKind};
use haft_text::{Applied, Document, LineHash, MatchGrade, Touched};
use haft_tool::{Call, ReadLedger, Seen, SharedLedger};

use crate::speech::{self, EDITOR, HintIf};
use crate::words::grouped;

/// What the caller has seen of a file, where somebody remembers.
pub(super) struct Evidence<'c> {
    call: &'c Call,
    ledger: Option<&'c SharedLedger>,
    path: &'c LogicalPath,
}

impl<'c> Evidence<'c> {
    pub(super) fn new(call: &'c Call, path: &'c LogicalPath) -> Self {
        Self { call, ledger: call.ledger(), path }
    }

    /// The highest grade by which a place may be found: without memory, only what is certain.
    pub(super) fn highest(&self) -> MatchGrade {
        if self.ledger.is_some() { MatchGrade::LookAlike } else { MatchGrade::LineEnding }
    }

    /// What to say where nobody remembers.
    pub(super) fn notice(&self) -> Option<Notice> {
        let text = "nobody remembers what was read here, so places are found only where nothing but line ends differs";
        self.ledger.is_none().then(|| Notice::new(NoticeKind::Remark, text))
    }

    /// Checks that the caller has seen the lines that edits change.
    pub(super) fn check_edits(&self, applied: &[Applied]) -> Result<(), Failure> {
        let Some(shared) = self.ledger else { return Ok(()) };
        let touched = || applied.iter().flat_map(|done| &done.touched);
        if let [only] = applied {
            let unseen = shared.with(|ledger| {
                let is_seen = |it: &&Touched| ledger.covers(self.path, &it.old);
                only.touched.iter().find(|it| !is_seen(it)).cloned()
            });
            return unseen.map_or(Ok(()), |unseen| Err(self.unseen(&unseen)));
        }
        // What one edit wrote, the next one may change.
        let mut ledger: ReadLedger = shared.value();
        for lines in touched() {
            if !ledger.covers(self.path, &lines.old) {
                return Err(self.unseen(lines));
            }
            ledger.see(self.replaced(lines.clone()));
        }
        Ok(())
    }

    /// Checks that the caller has seen every line of the file.
    pub(super) fn check_whole(&self, lines: &[LineHash]) -> Result<(), Failure> {
        let is_seen = |shared: &SharedLedger| shared.with(|it| it.covers_all(self.path, lines));
        if self.ledger.is_none_or(is_seen) {
            return Ok(());
        }
        let text = format!(
            "`{}` exists, and you have not seen all of its {}: nothing was written",
            self.path,
            if lines.len() == 1 {
                "1 line".to_owned()
            } else {
                format!("{} lines", grouped(lines.len() as u64))
            }
        );
        Err(Failure::new(ErrorKind::Conflict, text)
            .hint("read the whole file first, then send this call again")
            .hint_if(speech::action(self.call, EDITOR, "edit"), |edit| {
                format!("to change a part of it, use {edit}")
            }))
    }

    /// Checks that the caller has seen the lines that new ones are put between, and returns those that show it.
    pub(super) fn check_gap(&self, document: &Document<'_>, after: u64) -> Result<Gap, Failure> {
        let skipped = usize::try_from(after.saturating_sub(2)).unwrap_or(usize::MAX);
        let near: Vec<LineHash> =
            document.lines().skip(skipped).take(3).map(LineHash::of).collect();
        // Of the lines near, those up to the gap.
        let before = usize::try_from(after.min(2)).unwrap_or(0).min(near.len());
        let gaps = [
            Gap { lines: near.get(..before).unwrap_or_default().to_vec(), before },
            Gap {
                lines: near.get(before.saturating_sub(1)..before + 1).unwrap_or_default().to_vec(),
                before: before.min(1),
            },
        ];
        let Some(shared) = self.ledger.filter(|_| !near.is_empty()) else {
            return Ok(Gap::default());
        };
        let seen = shared.with(|ledger| {
            gaps.iter()
                .find(|gap| !gap.lines.is_empty() && ledger.covers(self.path, &gap.lines))
                .cloned()
        });
        seen.ok_or_else(|| {
            let first = after.saturating_sub(1).max(1);
            self.unseen_lines(first, near.len().min(2) as u64)
        })
    }

    /// What the ledger has to know of lines that were changed.
    pub(super) fn replaced(&self, lines: Touched) -> Seen {
        Seen::Replaced { path: self.path.clone(), old: lines.old, new: lines.new }
    }

    fn unseen(&self, lines: &Touched) -> Failure {
        self.unseen_lines(lines.first_line, lines.old.len() as u64)
    }

    fn unseen_lines(&self, first: u64, count: u64) -> Failure {
        let path = self.path;
        let last = (first + count).saturating_sub(1).max(first);
        let (lines, them) = if first == last {
            (format!("line {first}"), "it")
        } else {
            (format!("lines {first} to {last}"), "them")
        };
        let text = format!(
            "you have not seen {lines} of `{path}` as the file is now: nothing was changed"
        );
        Failure::new(ErrorKind::Conflict, text).hint(format!(
            "read {them} first (\"offset\": {first}, \"limit\": {}), then send this call again",
            last + 1 - first
        ))
    }
}

/// Lines that stand around a gap.
#[derive(Debug, Clone, Default)]
pub(super) struct Gap {
    lines: Vec<LineHash>,
    /// How many of them stand before it.
    before: usize,
}

impl Gap {
    /// The lines around the gap, and the same with new ones in it.
    pub(super) fn filled(self, path: &LogicalPath, new: Vec<LineHash>) -> Seen {
        let mut filled = self.lines.clone();
        let at = self.before.min(filled.len());
        filled.splice(at..at, new);
        Seen::Replaced { path: path.clone(), old: self.lines, new: filled }
    }
}
