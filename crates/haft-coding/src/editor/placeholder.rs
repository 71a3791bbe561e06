//! Lines that stand for what a writer left out.

use haft_text::Document;

/// Words that, beside an ellipsis, say that something is left out.
const LEFT_OUT: [&str; 11] = [
    "existing",
    "rest of",
    "remaining",
    "remainder",
    "unchanged",
    "omitted",
    "previous",
    "as before",
    "same as",
    "keep",
    "other code",
];

/// Ends of such lines that need no further word.
const MARKS: [&str; 7] = ["//", "#", "--", ";", "%", "/*", "<!--"];

/// Finds a line that stands for code or text that is left out, in content that is much shorter than what it replaces.
///
/// A line that the file holds already stands for itself.
pub(super) fn placeholder<'t>(content: &'t str, before: &[u8]) -> Option<&'t str> {
    let before = Document::new(before);
    let lines = content.lines().count() as u64;
    if lines.saturating_mul(2) >= before.line_count() {
        return None;
    }
    let line = content.lines().map(str::trim).find(|line| stands_for_more(line))?;
    (!before.lines().any(|it| it.trim() == line)).then_some(line)
}

fn stands_for_more(line: &str) -> bool {
    if line.len() > 200 || !(line.contains("...") || line.contains('\u{2026}')) {
        return false;
    }
    let lower = line.to_lowercase();
    if LEFT_OUT.iter().any(|words| lower.contains(words)) {
        return true;
    }
    let bare = lower.trim_matches(|char: char| {
        matches!(char, '.' | '\u{2026}' | ' ' | '*' | '/' | '-' | '>' | '{' | '}')
    });
    MARKS.iter().any(|mark| line.starts_with(mark))
        && (bare.is_empty() || MARKS.contains(&bare) || bare == "<!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_for_more_are_told_from_those_that_do_not() {
        for line in [
            "// ... existing code ...",
            "# ... rest of the file unchanged ...",
            "/* … remaining methods … */",
            "<!-- ... -->",
            "// ...",
            "# …",
            "... (omitted)",
        ] {
            assert!(stands_for_more(line), "{line}");
        }
        for line in [
            "let all = [first, ...others];",
            "print('loading...')",
            "fn f(..., int) {}",
            "// see the existing code",
            "...",
            "# wait... then go",
        ] {
            assert!(!stands_for_more(line), "{line}");
        }
    }
}
