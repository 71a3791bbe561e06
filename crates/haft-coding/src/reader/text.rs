//! Showing lines of a text file.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use haft_protocol::{Bound, Count, ErrorKind, Failure, LogicalPath, NoticeKind, limits};
use haft_text::{
    Charset, FinalNewline, Row, Stopped, Total, Window, WindowError, WindowRequest, visible,
};
use haft_tool::{Call, Output, Seen, Shown};
use haft_workspace::{OpenFile, Resolved};
use schemars::JsonSchema;
use serde::Serialize;

use super::{ReadArgs, ReaderOutput, unreadable};
use crate::pulse::Pulse;
use crate::words::{counted, grouped};

/// Lines of a text file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TextOutput {
    /// The path.
    pub path: String,
    /// The lines that are shown.
    pub lines: Vec<Line>,
    /// How many lines the file has.
    pub total_lines: u64,
    /// Whether there are no more lines than that.
    pub is_total_exact: bool,
    /// Number of the line that comes next, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// The charset, by its WHATWG name in lower case.
    pub encoding: String,
    /// Whether a byte order mark stands in front of the text.
    pub has_bom: bool,
    /// How lines end.
    pub line_ending: LineEnding,
    /// Whether the last line has a line end; left out where the end of the file was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_with_newline: Option<bool>,
    /// Malformed byte sequences among the lines, each shown as U+FFFD.
    pub malformed: u64,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// The number, from 1.
    pub number: u64,
    /// The text as decoded, without its line end.
    pub text: String,
    /// Bytes of the line before the text, where reading began inside the line.
    #[serde(skip_serializing_if = "is_zero")]
    pub column: u64,
    /// Where the rest of the line begins, where it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_column: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineEnding {
    /// Line feed.
    Lf,
    /// Carriage return and line feed.
    Crlf,
    /// Carriage return.
    Cr,
    /// More than one of them.
    Mixed,
    /// There is no line end.
    None,
}

/// Shows lines of a file of which the first bytes are read.
pub(super) fn show(
    call: &Call,
    place: &Resolved,
    args: &ReadArgs,
    head: Vec<u8>,
    file: OpenFile,
) -> Result<Shown<ReaderOutput>, Failure> {
    let path = place.logical().as_str();
    let request = WindowRequest {
        offset: args.offset.get(),
        column: args.column,
        limit: args.limit,
        max_bytes: limits::READ_BYTES,
        max_line_bytes: limits::READ_LINE_BYTES,
        count_to: limits::READ_COUNT_BYTES,
    };
    let pulse = Pulse::new(call, "bytes read");
    let watched = Watched { reader: Cursor::new(head).chain(file), pulse: &pulse };
    let window = Window::read(watched, &request, &|| pulse.is_called_off());
    let mut window = window.map_err(|error| match error {
        WindowError::Read { source, .. } => unreadable(path, &source),
        error => Failure::new(ErrorKind::Unavailable, format!("`{path}`: {error}")),
    })?;
    check_position(path, args, &window)?;
    fit(&mut window);

    let mut output = Output::text(if window.rows.is_empty() {
        "(empty file)".to_owned()
    } else {
        window.render()
    });
    output.bounds.extend(lines_left_out(&window));
    output.bounds.extend(bytes_left_out(&window));
    if let Some(facts) = unusual(&window) {
        output = output.with_notice(NoticeKind::Remark, facts);
    }
    if window.invalid > 0 {
        let sequences =
            counted(window.invalid, "malformed byte sequence", "malformed byte sequences");
        output =
            output.with_notice(NoticeKind::Substituted, format!("{sequences} shown as U+FFFD"));
    }
    if window.rows.iter().any(|row| matches!(visible(&row.text), Cow::Owned(_))) {
        let text = "control or hidden characters are shown escaped; the file holds the characters themselves";
        output = output.with_notice(NoticeKind::Substituted, text);
    }
    output.seen = seen(place.logical(), &window);
    Ok(Shown { value: ReaderOutput::Text(structured(path, window)), output })
}

/// Names the lines that are shown whole; what was cut has not been seen.
fn seen(path: &LogicalPath, window: &Window) -> Vec<Seen> {
    let is_whole = |row: &Row| row.cut.is_none() && row.column == 0;
    let mut from_row = 0;
    let mut pieces = Vec::new();
    for piece in window.rows.chunk_by(|one, two| is_whole(one) == is_whole(two)) {
        if piece.first().is_some_and(is_whole) {
            let lines = piece.iter().map(|row| row.hash).collect();
            pieces.push(Seen::Lines { path: path.clone(), from_row, lines });
        }
        from_row += piece.len();
    }
    pieces
}

/// A reader that gives signs of life.
struct Watched<'a, R> {
    reader: R,
    pulse: &'a Pulse<'a>,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.pulse.add(count as u64);
        Ok(count)
    }
}

/// Refuses a position behind the end, with the positions that there are.
fn check_position(path: &str, args: &ReadArgs, window: &Window) -> Result<(), Failure> {
    let lines = window.total.known();
    let refused = |text, hint| Err(Failure::new(ErrorKind::InvalidArguments, text).hint(hint));
    let Some(first) = window.rows.first() else {
        if lines == 0 {
            return Ok(());
        }
        let text = format!(
            "\"offset\": {} is past the end: `{path}` has {}",
            args.offset,
            counted(lines, "line", "lines")
        );
        return refused(text, format!("use an \"offset\" from 1 to {lines}"));
    };
    if args.column > 0 && first.text.is_empty() && first.cut.is_none() {
        let text = format!(
            "\"column\": {} is past the end: line {} of `{path}` has {}",
            args.column,
            first.number,
            counted(first.column, "byte", "bytes")
        );
        return refused(text, "leave \"column\" out to read the line from its start".to_owned());
    }
    Ok(())
}

/// Drops rows that would not fit once numbers and escapes are written.
fn fit(window: &mut Window) {
    /// Room for the number, the tab, the line end and what is said of a cut.
    const BESIDE: usize = 24;
    let mut shown = 0;
    let fits = |row: &&Row| {
        let said = if row.cut.is_some() { 4 * BESIDE } else { BESIDE };
        shown += visible(&row.text).len() + said;
        shown <= limits::READ_SHOWN_BYTES
    };
    // The first row always fits: one line is cut long before.
    let kept = window.rows.iter().take_while(fits).count().max(1);
    if let Some(next) = window.rows.get(kept) {
        window.next_offset = Some(next.number);
        window.stopped = Stopped::Bytes;
        window.rows.truncate(kept);
    }
}

fn lines_left_out(window: &Window) -> Option<Bound> {
    let next = window.next_offset?;
    let left_out = match window.total {
        Total::Exact(total) => Count::Exact((total + 1).saturating_sub(next)),
        Total::AtLeast(seen) if seen >= next => Count::AtLeast((seen + 1).saturating_sub(next)),
        // The line that was cut is too long for its end to be looked for.
        Total::AtLeast(_) => Count::Unknown,
    };
    Some(Bound {
        unit: "lines".to_owned(),
        kept: window.rows.len() as u64,
        left_out,
        way_on: format!("call again with \"offset\": {next}"),
    })
}

fn bytes_left_out(window: &Window) -> Option<Bound> {
    let mut cut = window.rows.iter().filter_map(|row| Some((row, row.cut?)));
    let (first, first_cut) = cut.next()?;
    let mut kept = first.text.len() as u64;
    let mut left_out = first.left_out();
    let mut others = 0_u64;
    for (row, _) in cut {
        others += 1;
        kept += row.text.len() as u64;
        left_out = match (left_out, row.left_out()) {
            (Total::Exact(a), Total::Exact(b)) => Total::Exact(a + b),
            (a, b) => Total::AtLeast(a.known() + b.known()),
        };
    }
    let number = first.number;
    let mut way_on = format!(
        "call again with \"offset\": {number}, \"column\": {} to go on in line {number}",
        first_cut.next_column
    );
    if others > 0 {
        way_on.push_str(", and likewise in the others");
    }
    Some(Bound {
        unit: match others {
            0 => format!("bytes of line {number}"),
            others => format!("bytes of {} long lines", grouped(others + 1)),
        },
        kept,
        left_out: match left_out {
            Total::Exact(number) => Count::Exact(number),
            Total::AtLeast(number) => Count::AtLeast(number),
        },
        way_on,
    })
}

/// Names what sets the file apart from UTF-8 text with line feeds.
fn unusual(window: &Window) -> Option<String> {
    let mut facts = Vec::new();
    if window.encoding.bom || window.encoding.charset != Charset::Utf8 {
        facts.push(window.encoding.to_string());
    }
    facts.extend(
        match window.line_ending {
            haft_text::LineEnding::Lf | haft_text::LineEnding::None => None,
            haft_text::LineEnding::Crlf => Some("lines end in CRLF"),
            haft_text::LineEnding::Cr => Some("lines end in CR"),
            haft_text::LineEnding::Mixed => Some("lines end in different ways"),
        }
        .map(str::to_owned),
    );
    let has_end = window.next_offset.is_none() && !window.rows.is_empty();
    if has_end && window.final_newline == FinalNewline::Missing {
        facts.push("no newline at the end".to_owned());
    }
    (!facts.is_empty()).then(|| facts.join(", "))
}

fn structured(path: &str, window: Window) -> TextOutput {
    let lines = window.rows.into_iter().map(|row| Line {
        number: row.number,
        column: row.column,
        next_column: row.cut.map(|cut| cut.next_column),
        text: row.text,
    });
    TextOutput {
        path: path.to_owned(),
        lines: lines.collect(),
        total_lines: window.total.known(),
        is_total_exact: matches!(window.total, Total::Exact(_)),
        next_offset: window.next_offset,
        encoding: window.encoding.name().to_owned(),
        has_bom: window.encoding.bom,
        line_ending: match window.line_ending {
            haft_text::LineEnding::Lf => LineEnding::Lf,
            haft_text::LineEnding::Crlf => LineEnding::Crlf,
            haft_text::LineEnding::Cr => LineEnding::Cr,
            haft_text::LineEnding::Mixed => LineEnding::Mixed,
            haft_text::LineEnding::None => LineEnding::None,
        },
        ends_with_newline: match window.final_newline {
            FinalNewline::Present => Some(true),
            FinalNewline::Missing => Some(false),
            FinalNewline::Unseen => None,
        },
        malformed: window.invalid,
    }
}
