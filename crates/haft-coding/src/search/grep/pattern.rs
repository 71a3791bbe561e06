//! From a pattern to a matcher.

use std::borrow::Cow;

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{Error, ErrorKind as RegexErrorKind, RegexMatcher, RegexMatcherBuilder};
use haft_protocol::{ErrorKind, Failure, limits};

use super::cost;
use crate::words::{grouped, size};
use crate::{Case, GrepArgs};

/// A compiled pattern, and where lines end for it.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) matcher: RegexMatcher,
    pub(super) line_end: LineTerminator,
    /// The most bytes it is tried on at once.
    pub(super) longest: usize,
}

/// A character of no alphabet, which only a pattern that matches anything matches.
const NOBODYS: &[u8] = "\u{10fffd}".as_bytes();

impl Pattern {
    /// Compiles the pattern of a search. `$` matches before `\r\n` as it does before `\n`.
    pub(super) fn of(args: &GrepArgs) -> Result<Self, Failure> {
        let positions = if args.literal { cost::PLAIN } else { cost::positions(&args.pattern) };
        if positions > limits::PATTERN_POSITIONS {
            let text = format!(
                "`{}` is too large: with what it repeats it has {} characters and classes, and {} at most are searched for",
                shown(&args.pattern),
                grouped(positions),
                grouped(limits::PATTERN_POSITIONS)
            );
            return Err(Failure::new(ErrorKind::InvalidArguments, text)
                .hint("repeat less: `+` in place of a large `{n,m}`, or search for a part of it"));
        }
        let crlf = compile(args, true);
        let compiled = match crlf {
            // A pattern that speaks of carriage returns means them.
            Err(error) if forbids(&error, '\r') => {
                compile(args, false).map(|matcher| (matcher, LineTerminator::byte(b'\n')))
            }
            crlf => crlf.map(|matcher| (matcher, LineTerminator::crlf())),
        };
        let (matcher, line_end) = compiled.map_err(|error| refused(args, &error))?;
        let is_idle =
            matcher.find(NOBODYS).is_ok_and(|found| found.is_some_and(|it| it.is_empty()));
        if is_idle {
            let text =
                format!("`{}` matches where nothing is, so in every line", shown(&args.pattern));
            return Err(Failure::new(ErrorKind::InvalidArguments, text).hint(
                "write what must be there: `x+` in place of `x*`, `.` for any line with text",
            ));
        }
        Ok(Self { matcher, line_end, longest: cost::longest(positions) })
    }
}

fn compile(args: &GrepArgs, crlf: bool) -> Result<RegexMatcher, Error> {
    let (pattern, is_literal) = if args.literal && args.multiline {
        (Cow::Owned(over_lines(&args.pattern)), false)
    } else {
        (Cow::Borrowed(args.pattern.as_str()), args.literal)
    };
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .crlf(crlf)
        .fixed_strings(is_literal)
        .word(args.word)
        .case_insensitive(args.case == Case::Insensitive)
        .case_smart(args.case == Case::Smart)
        .size_limit(limits::PATTERN_BYTES)
        .dfa_size_limit(limits::PATTERN_CACHE_BYTES);
    if args.multiline {
        builder.line_terminator(None);
    } else if !crlf {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&pattern)
}

/// Makes a pattern of plain text that matches whatever the line ends are: a reader sees them all alike.
fn over_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    lines.map(regex::escape).collect::<Vec<_>>().join(r"\r?\n")
}

fn forbids(error: &Error, byte: char) -> bool {
    matches!(error.kind(), RegexErrorKind::NotAllowed(literal) if literal.contains(byte))
}

fn refused(args: &GrepArgs, error: &Error) -> Failure {
    let failure = |text| Failure::new(ErrorKind::InvalidArguments, text);
    let pattern = shown(&args.pattern);
    if forbids(error, '\n') {
        return failure(format!("`{pattern}` holds a line end, and a match stays within one line"))
            .hint("set \"multiline\": true to match over several lines");
    }
    let text = error.to_string();
    if text.contains("exceeds size limit") {
        let most = size(limits::PATTERN_BYTES as u64);
        return failure(format!("`{pattern}` is too large: it compiles to more than {most}"))
            .hint("repeat less, or search for a part of it");
    }
    // What comes before shows the pattern once more, with marks beneath it.
    let problem = text.rsplit("error: ").next().unwrap_or(&text).trim();
    failure(format!("`{pattern}` is no regular expression: {problem}"))
        .hint("set \"literal\": true to search for the text as it is")
}

/// Shows a pattern within a sentence.
fn shown(pattern: &str) -> String {
    const MOST: usize = 120;
    let head = haft_text::head(pattern, MOST);
    let end = if head.len() < pattern.len() { "…" } else { "" };
    format!("{}{end}", haft_text::visible_line(head))
}
