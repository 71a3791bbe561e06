use super::row::{OpenRow, Row};
use super::{LineEnding, Stopped, WindowRequest};
use crate::breaks::{Breaks, Ending, Tally};
use crate::encoding::{Charset, Decoder};

/// The longest character in UTF-8; a smaller cap could never show anything.
const MIN_CAP: usize = 4;

/// The state between two pieces of a stream: which line it is in and what is kept of it.
pub(super) struct Scan<'a> {
    request: &'a WindowRequest,
    breaks: Breaks,
    phase: Phase,
    /// A `\r` at the end of a piece, held back until it is known whether `\n` follows.
    held_cr: bool,
    /// The number of the line that the next byte belongs to.
    line: u64,
    /// Whether that line has content already.
    begun: bool,
    tally: Tally,
    decoder: Decoder,
    invalid: u64,
    open: OpenRow,
    /// How many bytes of cut lines were read beyond their cuts.
    beyond_cuts: u64,
    rows: Vec<Row>,
    kept_bytes: usize,
}

/// What happens to the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It stands before the window.
    Skipping,
    /// It belongs to the open row.
    Keeping,
    /// The window is full; it only counts. `next` is the line that a further window starts at, and
    /// `open_ended` says that the last row stops within its line.
    Counting { next: u64, stopped: Stopped, open_ended: bool },
}

/// What a scan has found out.
pub(super) struct Scanned {
    pub(super) rows: Vec<Row>,
    pub(super) lines: u64,
    pub(super) next_offset: Option<u64>,
    pub(super) stopped: Stopped,
    pub(super) line_ending: LineEnding,
    pub(super) ends_with_newline: bool,
    pub(super) invalid: u64,
}

impl<'a> Scan<'a> {
    /// Starts before the first line of a stream of bytes in this charset.
    pub(super) fn new(request: &'a WindowRequest, breaks: Breaks, charset: Charset) -> Self {
        let mut scan = Self {
            request,
            breaks,
            phase: Phase::Skipping,
            held_cr: false,
            line: 1,
            begun: false,
            tally: Tally::default(),
            decoder: Decoder::inside(charset),
            invalid: 0,
            open: OpenRow::default(),
            beyond_cuts: 0,
            rows: Vec::new(),
            kept_bytes: 0,
        };
        if request.offset <= 1 {
            scan.open_row();
        }
        scan
    }

    /// Takes the next bytes of the stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        if self.held_cr && !bytes.is_empty() {
            self.held_cr = false;
            if let [b'\n', rest @ ..] = bytes {
                self.feed(b"\r\n");
                bytes = rest;
            } else {
                self.feed(b"\r");
            }
        }
        if let [rest @ .., b'\r'] = bytes {
            self.held_cr = true;
            bytes = rest;
        }
        self.feed(bytes);
    }

    /// Whether nothing that is still to come could matter, after `bytes_read` of the stream.
    pub(super) fn is_satisfied(&self, bytes_read: u64) -> bool {
        match self.phase {
            Phase::Skipping | Phase::Keeping => false,
            Phase::Counting { next, open_ended, .. } => {
                bytes_read > self.request.count_to && (open_ended || self.lines() >= next)
            }
        }
    }

    /// Takes the end of the stream, or the point where reading stopped.
    pub(super) fn finish(mut self, at_end: bool) -> Scanned {
        if at_end {
            if std::mem::take(&mut self.held_cr) {
                self.feed(b"\r");
            }
            if self.phase == Phase::Keeping && self.begun {
                let open = &mut self.open;
                self.decoder.finish(&mut |piece| open.take(piece));
                self.close_row();
            }
        }
        let lines = self.lines();
        let (next_offset, stopped) = match self.phase {
            Phase::Counting { next, stopped, .. } if !at_end || next <= lines => {
                (Some(next), stopped)
            }
            _ => (None, Stopped::End),
        };
        Scanned {
            rows: self.rows,
            lines,
            next_offset,
            stopped,
            line_ending: self.tally.line_ending(),
            ends_with_newline: lines > 0 && !self.begun,
            invalid: self.invalid,
        }
    }

    /// How many lines were met.
    fn lines(&self) -> u64 {
        self.line - 1 + u64::from(self.begun)
    }

    /// Takes bytes that cut no `\r\n`.
    fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.phase {
                Phase::Skipping => self.skip(rest),
                Phase::Keeping => self.keep(rest),
                Phase::Counting { .. } => {
                    self.pass(rest, self.breaks.count(rest));
                    &[]
                }
            };
        }
    }

    fn skip<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let ends = self.request.offset.saturating_sub(self.line);
        let tally = self.breaks.count(bytes);
        if tally.total() < ends {
            self.pass(bytes, tally);
            return &[];
        }
        let at = self.breaks.position_after(bytes, ends).unwrap_or(bytes.len());
        let (before, window) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
        self.pass(before, self.breaks.count(before));
        self.open_row();
        window
    }

    /// Counts lines in bytes that are not kept.
    fn pass(&mut self, bytes: &[u8], tally: Tally) {
        self.tally.add_all(tally);
        self.line += tally.total();
        self.begun = !self.breaks.ends_line(bytes);
    }

    fn keep<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let found = self.breaks.find(bytes);
        let content = found.map_or(bytes.len(), |found| found.content);
        let (content, rest) = bytes.split_at_checked(content).unwrap_or((bytes, &[]));
        self.begun |= !content.is_empty();
        if self.open.is_cut() {
            self.beyond_cuts += content.len() as u64;
        }
        let open = &mut self.open;
        self.decoder.decode(content, &mut |piece| open.take(piece));
        if self.does_not_fit() {
            self.fill(self.line, Stopped::Bytes, false);
            return rest;
        }
        let Some(found) = found else {
            if self.open.is_cut() && self.beyond_cuts > self.request.count_to {
                self.invalid = self.decoder.invalid();
                self.rows.push(std::mem::take(&mut self.open).close(self.line, false));
                self.fill(self.line + 1, Stopped::Bytes, true);
            }
            return rest;
        };
        // A broken character shows what it is only when the decoder meets the line end.
        let open = &mut self.open;
        self.decoder.decode(b"\n", &mut |piece| {
            open.take(piece.strip_suffix('\n').unwrap_or(piece));
        });
        if self.close_row() {
            self.end_line(found.ending);
            self.open_row();
            bytes.get(found.next..).unwrap_or_default()
        } else {
            rest
        }
    }

    fn end_line(&mut self, ending: Ending) {
        self.tally.add(ending);
        self.line += 1;
        self.begun = false;
    }

    /// Ends the open row with its line, unless the last decoded characters made it too long.
    fn close_row(&mut self) -> bool {
        if self.does_not_fit() {
            self.fill(self.line, Stopped::Bytes, false);
            return false;
        }
        self.invalid = self.decoder.invalid();
        let row = std::mem::take(&mut self.open).close(self.line, true);
        self.kept_bytes += row.text.len() + usize::from(!self.rows.is_empty());
        self.rows.push(row);
        true
    }

    /// Starts the row of the line that begins here, or finds that the window is full.
    fn open_row(&mut self) {
        let WindowRequest { column, limit, max_bytes, max_line_bytes, .. } = *self.request;
        let first = self.rows.is_empty();
        if self.rows.len() as u64 >= u64::from(limit.get()) {
            self.fill(self.line, Stopped::Lines, false);
        } else if first {
            self.open = OpenRow::new(column, max_line_bytes.min(max_bytes).max(MIN_CAP));
            self.phase = Phase::Keeping;
        } else if let Some(room) = max_bytes.checked_sub(self.kept_bytes + 1) {
            self.open = OpenRow::new(0, max_line_bytes.max(MIN_CAP).min(room));
            self.phase = Phase::Keeping;
        } else {
            self.fill(self.line, Stopped::Bytes, false);
        }
    }

    /// Whether the open row was cut by what is left of the window rather than by the cap on lines.
    fn does_not_fit(&self) -> bool {
        let full_line = self.request.max_line_bytes.max(MIN_CAP);
        self.open.is_cut() && !self.rows.is_empty() && self.open.cap() < full_line
    }

    fn fill(&mut self, next: u64, stopped: Stopped, open_ended: bool) {
        self.phase = Phase::Counting { next, stopped, open_ended };
    }
}
