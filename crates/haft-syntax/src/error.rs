//! Why there is no answer about a text.

use crate::Language;

/// Why there is no answer about a text or a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// The language's grammar is not compiled in.
    #[error("{} is not compiled in: build with the feature `{}` of haft-syntax", .language.title(), .language.feature())]
    LanguageOff {
        /// The language.
        language: Language,
    },
    /// The text is larger than what is parsed.
    #[error("it has {bytes} bytes, and no more than {most} are parsed")]
    TooLarge {
        /// The bytes of the text.
        bytes: usize,
        /// The most that are parsed.
        most: usize,
    },
    /// The text is nested more deeply than the pattern can follow.
    #[error("it is nested more than {most} levels deep")]
    TooDeep {
        /// The most levels.
        most: usize,
    },
    /// Whoever set the limits said stop.
    #[error("it was stopped before its end")]
    Stopped,
    /// The pattern cannot be read in its language.
    #[error("`{pattern}` is no {} pattern: at line {line}, column {column}, {problem}", .language.title())]
    BrokenPattern {
        /// The pattern, cut to what is shown of it.
        pattern: String,
        /// The language.
        language: Language,
        /// The line, from 1.
        line: usize,
        /// The character in that line, from 1.
        column: usize,
        /// What is wrong there.
        problem: String,
    },
    /// The pattern can be read and cannot be searched for.
    #[error("`{pattern}` cannot be searched for: {problem}")]
    UnusablePattern {
        /// The pattern, cut to what is shown of it.
        pattern: String,
        /// Why, and what to write instead.
        problem: String,
    },
    /// A grammar and the queries for it do not fit each other: a fault of haft.
    #[error("the grammar of {} cannot be used: {problem}", .language.title())]
    Grammar {
        /// The language.
        language: Language,
        /// What does not fit.
        problem: String,
    },
}
