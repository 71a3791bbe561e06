//! A matcher that looks at the clock.

use std::cell::Cell;
use std::fmt;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;

/// Parts of the work that is done without a look at the clock, where lines are short enough to be taken in parts.
const PARTS: usize = 16;

/// A matcher that looks at the clock between lines, and takes no more at once than its pattern may be tried on.
///
/// Nothing can stop a regular expression that is at work. So each time it is set to work on so little that even the worst
/// it can do with that is soon done.
pub(super) struct Paced<'a> {
    matcher: &'a RegexMatcher,
    longest: usize,
    is_over: &'a dyn Fn() -> bool,
    stopped: Cell<Option<Stopped>>,
}

/// Why a matcher did not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The search is over.
    Over,
    /// The line is longer than the pattern may be tried on.
    TooLong,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Over => "the search is over",
            Self::TooLong => "the line is too long for the pattern",
        })
    }
}

impl<'a> Paced<'a> {
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        longest: usize,
        is_over: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { matcher, longest, is_over, stopped: Cell::new(None) }
    }

    /// Returns why the matcher did not go on, if it did not.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.stopped.get()
    }

    /// Looks at the clock, and at how much there is to do until the next look.
    fn admit(&self, bytes: usize) -> Result<(), Stopped> {
        let stopped = if bytes > self.longest {
            Stopped::TooLong
        } else if (self.is_over)() {
            Stopped::Over
        } else {
            return Ok(());
        };
        self.stopped.set(Some(stopped));
        Err(stopped)
    }
}

impl Matcher for Paced<'_> {
    type Captures = NoCaptures;
    type Error = Stopped;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, Stopped> {
        self.admit(haystack.len().saturating_sub(at))?;
        // Here and below: the matcher within has no error to give.
        Ok(self.matcher.find_at(haystack, at).unwrap_or_default())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, Stopped> {
        self.admit(haystack.len().saturating_sub(at))?;
        Ok(self.matcher.shortest_match_at(haystack, at).unwrap_or_default())
    }

    fn new_captures(&self) -> Result<NoCaptures, Stopped> {
        Ok(NoCaptures::new())
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    /// Asked for only where no match goes over a line end, so whole lines can be taken one part after the other.
    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, Stopped> {
        let mut begin = 0;
        while let Some(rest) = haystack.get(begin..).filter(|rest| !rest.is_empty()) {
            let lines = whole_lines(rest, self.longest / PARTS);
            let is_last = lines.len() == rest.len();
            self.admit(lines.len())?;
            let found = self.matcher.find_candidate_line(lines).unwrap_or_default();
            let moved = found.map(|kind| match kind {
                LineMatchKind::Confirmed(at) => (at, LineMatchKind::Confirmed(begin + at)),
                LineMatchKind::Candidate(at) => (at, LineMatchKind::Candidate(begin + at)),
            });
            // Past the last line end of a part stands nothing but the beginning of the next.
            if let Some((_, kind)) = moved.filter(|(at, _)| is_last || *at < lines.len()) {
                return Ok(Some(kind));
            }
            begin += lines.len();
        }
        Ok(None)
    }
}

/// Returns the lines at the beginning of a text that make up so many bytes; one line at least.
fn whole_lines(text: &[u8], bytes: usize) -> &[u8] {
    let Some((head, tail)) = text.split_at_checked(bytes) else { return text };
    let end = |part: &[u8]| part.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
    let within = head.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    let len = within.or_else(|| end(tail).map(|at| head.len() + at));
    len.and_then(|len| text.get(..len)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_regex::RegexMatcherBuilder;

    fn matcher(pattern: &str) -> RegexMatcher {
        RegexMatcherBuilder::new()
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .build(pattern)
            .unwrap()
    }

    fn place(kind: Option<LineMatchKind>) -> Option<usize> {
        kind.map(|kind| match kind {
            LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => at,
        })
    }

    #[test]
    fn parts_are_whole_lines() {
        assert_eq!(whole_lines(b"a\nb\nc\n", 4), b"a\nb\n");
        assert_eq!(whole_lines(b"a\nb\nc\n", 5), b"a\nb\n");
        assert_eq!(whole_lines(b"long line\nb", 4), b"long line\n");
        assert_eq!(whole_lines(b"long line", 4), b"long line");
        assert_eq!(whole_lines(b"a\n", 0), b"a\n");
        assert_eq!(whole_lines(b"a", 9), b"a");
    }

    #[test]
    fn lines_are_found_in_parts_as_they_are_in_one() {
        for pattern in ["needle", "^$", "^b", "a$", r"\bx\b", "[^a]c", "z"] {
            let matcher = matcher(pattern);
            for text in ["\n", "a\n", "a\nb\nac\n\nx x\nneedle", "a\n\n", "aaaa\nbc\nneedle\n"] {
                let whole = matcher.find_candidate_line(text.as_bytes()).unwrap();
                let parts = Paced::new(&matcher, 16, &|| false);
                let found = parts.find_candidate_line(text.as_bytes()).unwrap();
                let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count();
                assert_eq!(place(found).map(line), place(whole).map(line), "{pattern} in {text:?}");
            }
        }
    }

    #[test]
    fn the_clock_is_looked_at_before_each_part() {
        let matcher = matcher("[xy]z");
        let looks = Cell::new(0);
        let is_over = || {
            looks.set(looks.get() + 1);
            looks.get() > 3
        };
        let paced = Paced::new(&matcher, 32, &is_over);
        assert!(paced.find_candidate_line("a\n".repeat(100).as_bytes()).is_err());
        assert_eq!((looks.get(), paced.stopped()), (4, Some(Stopped::Over)));
        let paced = Paced::new(&matcher, 32, &|| false);
        assert!(paced.find_candidate_line(&[b'a'; 33]).is_err());
        assert!(paced.find_at(&[b'a'; 33], 0).is_err());
        assert!(paced.shortest_match_at(&[b'a'; 33], 0).is_err());
        assert_eq!(paced.stopped(), Some(Stopped::TooLong));
    }
}
