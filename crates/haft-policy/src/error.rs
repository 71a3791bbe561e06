//! What cannot be a policy.

/// A policy, rule or pattern that says nothing a policy could follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A preset that does not exist.
    #[error("`{text}` is not a preset: expected `read-only`, `edit` or `full`")]
    UnknownPreset {
        /// What was given, escaped and cut to a length fit for a message.
        text: String,
    },
    /// A pattern that cannot be read.
    #[error("pattern `{pattern}` is not valid: {problem}")]
    Pattern {
        /// The pattern, escaped and cut to a length fit for a message.
        pattern: String,
        /// What is wrong with it.
        problem: PatternProblem,
    },
    /// A rule that would match every call.
    #[error(
        "rule `{rule}` names no tool, path, command, capability or access: use the tool `*` to mean every call"
    )]
    Unconditional {
        /// The rule.
        rule: String,
    },
    /// A rule that is about paths and about commands.
    #[error(
        "rule `{rule}` is about paths and about commands, and a rule about commands does not see what these do with files: write two rules"
    )]
    TwoSubjects {
        /// The rule.
        rule: String,
    },
    /// A stored policy with nothing in it.
    #[error("a policy without any level decides nothing: expected at least one")]
    NoLevel,
    /// Patterns that take up more than a policy takes.
    #[error(
        "with `{rule}`, the patterns of all rules multiply out to more than {limit} characters and wildcards: write fewer alternatives"
    )]
    RulesTooLarge {
        /// The rule or pattern that is one too many, escaped and cut to a length fit for a message.
        rule: String,
        /// The most they may have.
        limit: usize,
    },
    /// More than a policy takes.
    #[error("{what} number {count}, and {limit} is the most")]
    TooMany {
        /// What there are too many of, in the plural.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternProblem {
    /// Nothing was written.
    #[error("it is empty")]
    Empty,
    /// It is too long.
    #[error("it has {bytes} bytes, and {limit} is the most")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The most it may have.
        limit: usize,
    },
    /// It has too many parts between slashes.
    #[error("it has more than {limit} parts")]
    TooManyParts {
        /// The most it may have.
        limit: usize,
    },
    /// Its braces multiply to too many alternatives, or nest too deeply.
    #[error("its braces give more than {limit} alternatives, or nest too deeply")]
    TooManyAlternatives {
        /// The most it may have.
        limit: usize,
    },
    /// Its braces multiply to too much.
    #[error(
        "its braces multiply out to more than {limit} characters and wildcards: write fewer alternatives"
    )]
    TooManyTokens {
        /// The most it may have.
        limit: usize,
    },
    /// Something was opened and not closed.
    #[error("`{open}` is never closed")]
    Unclosed {
        /// What was opened.
        open: char,
    },
    /// Something was closed and not opened.
    #[error("`}}` closes nothing: write `\\}}` to mean the character")]
    Unopened,
    /// A backslash that escapes nothing.
    #[error("`\\` stands before nothing it could escape")]
    DanglingEscape,
    /// A class of characters that holds a slash, or a range that runs backwards.
    #[error("the class of characters `[…]` holds a slash or a range that runs backwards")]
    Class,
    /// Two stars beside something else.
    #[error("`**` stands alone between slashes")]
    DoubleStar,
    /// A part that leads upwards.
    #[error("`..` is not resolved in patterns: write the path it leads to")]
    ParentDirectory,
    /// The home folder of somebody.
    #[error("`~` is not expanded: write the full path, or the path from the first root")]
    Home,
    /// A tool pattern of another shape.
    #[error("expected `name`, `namespace/name`, `server:name` or `server:namespace/name`")]
    ToolShape,
    /// A character that no tool's name holds.
    #[error("`{character}` never occurs in a tool's name")]
    ToolCharacter {
        /// The character.
        character: char,
    },
}

impl PolicyError {
    pub(crate) fn pattern(pattern: &str, problem: PatternProblem) -> Self {
        Self::Pattern { pattern: shown(pattern), problem }
    }
}

/// Escapes what would not stay on one line or would disguise itself, and cuts to a length fit for a message.
pub(crate) fn shown(text: &str) -> String {
    const CHARS: usize = 200;
    let mut chars = text.chars();
    let mut shown = escaped(chars.by_ref().take(CHARS));
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Escapes control and invisible characters; quotes and backslashes stay as they are.
pub(crate) fn escaped(text: impl IntoIterator<Item = char>) -> String {
    let mut out = String::new();
    for character in text {
        match character {
            '"' | '\'' | '\\' => out.push(character),
            // They count as letters and signs, and are blank.
            '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{1d159}' => {
                out.extend(character.escape_unicode());
            }
            _ => out.extend(character.escape_debug()),
        }
    }
    out
}
