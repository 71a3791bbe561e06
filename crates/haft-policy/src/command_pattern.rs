//! Patterns over commands.

use std::fmt;
use std::str::FromStr;

use haft_protocol::limits::{RULE_PATTERN_BYTES, RULE_PATTERN_PARTS};
use serde::{Deserialize, Serialize};

use crate::PolicyError;
use crate::error::PatternProblem;
use crate::glob::{Part, Token, alternatives, weight};
use crate::shell::{ShellCommand, Word};

/// A pattern over commands, by program and arguments.
///
/// Words are separated by spaces and stand for the words that a program gets, quotes taken away:
///
/// | written | matches |
/// |---|---|
/// | `ls` | `ls` without arguments |
/// | `git status` | `git status` and nothing behind it |
/// | `cargo test *` | `cargo test` with any further arguments, also none |
/// | `git * main` | `git` with two arguments, the second `main` |
/// | `cargo {build,check} --p*` | either subcommand with one argument that begins so |
/// | `*` | every command |
///
/// Within a word `*`, `?`, `[…]` and `{a,b}` match characters, slashes too, and `\` takes the next character literally,
/// a space as well. Case counts.
///
/// To **allow**, program and arguments have to be literal and the program is written as the pattern has it: `/tmp/ls` is not
/// `ls`. To **deny or ask**, a pattern without a slash also matches a program by the last part of its path, an argument that
/// is not literal could be any words, and a program that is not literal could be any program.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommandPattern {
    text: String,
    program: Choice,
    arguments: Vec<Choice>,
    /// Whether any further arguments match.
    is_open: bool,
    tokens: usize,
}

/// What one word may look like.
#[derive(Debug, Clone)]
struct Choice(Vec<Part>);

/// Whether a pattern is about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    No,
    /// Nobody knows which program it is.
    Maybe,
    Yes,
}

impl CommandPattern {
    /// Returns the pattern that matches this command alone; `None` where a word is not literal or cannot be written.
    pub fn exactly(command: &ShellCommand) -> Option<Self> {
        let words = command.program().into_iter().chain(command.arguments());
        let words = words.map(|word| word.literal().filter(|it| !it.is_empty()).map(literally));
        words.collect::<Option<Vec<_>>>()?.join(" ").parse().ok()
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns how many tokens the pattern holds with its braces multiplied out, which is what it takes up.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Tells whether a command is exactly what the pattern says, with nothing left to chance.
    pub fn matches(&self, command: &ShellCommand) -> bool {
        let program = command.program().and_then(Word::literal);
        program.is_some_and(|it| self.program.matches(it))
            && command.arguments().iter().all(|it| it.literal().is_some())
            && self.takes(command.arguments())
    }

    /// Tells whether a command is, or could be, what the pattern says.
    pub(crate) fn concerns(&self, command: &ShellCommand) -> Fit {
        let Some(program) = command.program() else { return Fit::No };
        let Some(path) = program.literal() else { return Fit::Maybe };
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_program = self.program.matches(path) || self.program.matches(name);
        if is_program && self.takes(command.arguments()) { Fit::Yes } else { Fit::No }
    }

    /// Tells whether the arguments match, up to the first that is not literal: that one could be anything.
    fn takes(&self, arguments: &[Word]) -> bool {
        let mut expected = self.arguments.iter();
        for argument in arguments {
            let Some(literal) = argument.literal() else { return true };
            match expected.next() {
                Some(choice) if choice.matches(literal) => {}
                Some(_) => return false,
                None => return self.is_open,
            }
        }
        expected.next().is_none()
    }
}

impl Choice {
    fn matches(&self, word: &str) -> bool {
        self.0.iter().any(|part| part.matches(word))
    }
}

/// Escapes what would mean more than itself.
fn literally(word: &str) -> String {
    let is_special = |c: char| c.is_whitespace() || "*?[]{},\\".contains(c);
    word.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Splits a pattern at spaces that are not escaped.
fn words(pattern: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => {
                word.push(character);
                word.extend(rest.next());
            }
            c if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Reads what one word may look like; slashes are characters like others, and stars in a row are one.
fn choice(word: &str) -> Result<(Choice, usize), PatternProblem> {
    let mut all = alternatives(word)?;
    let tokens = weight(&all);
    for sequence in &mut all {
        for token in sequence.iter_mut().filter(|it| **it == Token::Slash) {
            *token = Token::Char('/');
        }
        sequence.dedup_by(|one, other| (&*one, &*other) == (&Token::Star, &Token::Star));
    }
    let parts = all.iter().map(|tokens| Part::new(tokens)).collect::<Result<_, _>>()?;
    Ok((Choice(parts), tokens))
}

impl FromStr for CommandPattern {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let read = || {
            if text.len() > RULE_PATTERN_BYTES {
                return Err(PatternProblem::TooLong {
                    bytes: text.len(),
                    limit: RULE_PATTERN_BYTES,
                });
            }
            let mut words = words(text);
            if words.len() > RULE_PATTERN_PARTS {
                return Err(PatternProblem::TooManyParts { limit: RULE_PATTERN_PARTS });
            }
            let is_open = words.last().is_some_and(|it| it == "*");
            if is_open && words.len() > 1 {
                words.pop();
            }
            let mut tokens = usize::from(is_open);
            let mut choices = Vec::new();
            for word in &words {
                let (choice, weight) = choice(word)?;
                choices.push(choice);
                tokens += weight;
            }
            if choices.is_empty() {
                return Err(PatternProblem::Empty);
            }
            let program = choices.remove(0);
            Ok(Self { text: text.to_owned(), program, arguments: choices, is_open, tokens })
        };
        read().map_err(|problem| PolicyError::pattern(text, problem))
    }
}

impl TryFrom<String> for CommandPattern {
    type Error = PolicyError;

    fn try_from(text: String) -> Result<Self, PolicyError> {
        text.parse()
    }
}

impl From<CommandPattern> for String {
    fn from(pattern: CommandPattern) -> String {
        pattern.text
    }
}

/// Patterns are the same when they are written the same.
impl PartialEq for CommandPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for CommandPattern {}

impl fmt::Debug for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandPattern({})", self.text)
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
