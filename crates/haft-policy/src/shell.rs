//! Every command in a command text.
//!
//! A rule about commands has to know what a text runs, all of it. [`Script::parse`] takes a text apart as bash would, with
//! tree-sitter's grammar and a closed list of its node kinds, sees through the programs that run other programs, and says
//! of everything it cannot read for certain that it is [unclear](Unclear). A second, much simpler reader goes over the
//! same text; only what both read alike is [plain](Script::is_plain), and only what is plain can be allowed by rule.
//!
//! This is a guard rail and no boundary: what a program does once it runs is not seen here.

mod evaluate;
mod plain;
mod programs;
mod reader;
mod see_through;
mod tree;

use std::fmt;

use crate::error::escaped;

/// Every command in a command text or argument vector, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    commands: Vec<ShellCommand>,
    unclear: Vec<Unclear>,
    is_plain: bool,
}

/// One command: a program with its arguments, or a statement that only redirects or assigns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    pub(crate) program: Option<Word>,
    pub(crate) arguments: Vec<Word>,
    pub(crate) assignments: Vec<String>,
    pub(crate) redirections: Vec<Redirection>,
    pub(crate) places: Vec<Place>,
    pub(crate) run_by: Option<usize>,
    /// Whether it does nothing but run another command of the script.
    pub(crate) is_frame: bool,
    /// What it does beside running a program, by its arguments: the end of a sentence.
    pub(crate) beside: Option<&'static str>,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Word {
    text: String,
    meaning: Result<String, Unknown>,
}

/// Why nobody knows from the text alone what a word will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// The value of a variable or parameter.
    Expansion,
    /// The output of a command, or a file that stands for it.
    Substitution,
    /// The result of a calculation.
    Arithmetic,
    /// Names of files that match a pattern.
    Glob,
    /// Several words made of one by braces.
    Braces,
    /// The home folder of somebody.
    Home,
    /// A text looked up in a translation.
    Translation,
    /// What the command reads or finds when it runs.
    Input,
    /// Part of a condition, which has words of its own kind.
    Condition,
    /// Quoting that cannot be followed.
    Quoting,
}

/// Where input comes from or output goes to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Redirection {
    pub(crate) operator: String,
    pub(crate) target: Option<Word>,
}

/// Something around a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// One of several with pipes between them.
    Pipeline,
    /// One of several joined by `&&` or `||`.
    List,
    /// Within parentheses.
    Subshell,
    /// Within braces.
    Group,
    /// The condition or a branch of `if` or `case`, or behind `!`.
    Conditional,
    /// A loop.
    Loop,
    /// The body of a function.
    Function,
    /// A substitution, whose output becomes part of the text.
    Substitution,
    /// A text or words that another command runs.
    Inner,
}

/// Something in a text that cannot be read for certain.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Unclear {
    /// The line of the text, from 1; lines are counted anew in a text that a command runs.
    pub line: usize,
    /// What stands there, cut to a length fit for a message.
    pub excerpt: String,
    /// Why it is not clear, as the end of a sentence.
    pub why: String,
}

impl Script {
    /// Takes a command text apart.
    ///
    /// Never fails: what cannot be read is among [`Script::unclear`].
    pub fn parse(text: &str) -> Self {
        reader::Reader::read_text(text)
    }

    /// Takes an argument vector apart, which no shell reads: every word is literal.
    pub fn of_argv<S: AsRef<str>>(words: &[S]) -> Self {
        let words = words.iter().map(|word| Word::literal_of(word.as_ref())).collect();
        reader::Reader::read_words(words)
    }

    /// Makes the script of an argument that is neither a text nor a list of words.
    pub fn unreadable(why: impl Into<String>) -> Self {
        let unclear = Unclear { line: 1, excerpt: String::new(), why: why.into() };
        Self { commands: Vec::new(), unclear: vec![unclear], is_plain: false }
    }

    /// Puts two scripts one behind the other.
    pub fn and(mut self, other: Self) -> Self {
        let offset = self.commands.len();
        self.commands.extend(other.commands.into_iter().map(|command| ShellCommand {
            run_by: command.run_by.map(|index| index + offset),
            ..command
        }));
        self.unclear.extend(other.unclear);
        self.is_plain &= other.is_plain;
        self
    }

    /// Returns the commands: in the order of the text, each followed by those it runs.
    pub fn commands(&self) -> &[ShellCommand] {
        &self.commands
    }

    /// Returns what cannot be read for certain.
    pub fn unclear(&self) -> &[Unclear] {
        &self.unclear
    }

    /// Tells whether the text is nothing but simple commands with literal words, put in a row by `;`, `&`, `|`, `&&`,
    /// `||`, line ends and parentheses, and two readers agree on what they are.
    pub fn is_plain(&self) -> bool {
        self.is_plain && self.unclear.is_empty()
    }

    /// Returns one line for each command and for each unclear place, for a person to read. Nothing is cut.
    pub fn lines(&self) -> Vec<String> {
        let command = |command: &ShellCommand| match self.runner(command) {
            Some(runner) => format!("{command} (run by {runner})"),
            None => command.to_string(),
        };
        let commands = self.commands.iter().map(command);
        commands.chain(self.unclear.iter().map(|it| format!("not clear: {it}"))).collect()
    }

    /// Returns the program that runs a command.
    pub(crate) fn runner(&self, command: &ShellCommand) -> Option<String> {
        let runner = self.commands.get(command.run_by?)?.program.as_ref()?;
        Some(escaped(runner.text.chars()))
    }
}

impl ShellCommand {
    /// Returns the program, unless the statement only redirects or assigns.
    pub fn program(&self) -> Option<&Word> {
        self.program.as_ref()
    }

    /// Returns the arguments.
    pub fn arguments(&self) -> &[Word] {
        &self.arguments
    }

    /// Returns what is assigned for the command or by it, as it was written.
    pub fn assignments(&self) -> &[String] {
        &self.assignments
    }

    /// Returns the redirections.
    pub fn redirections(&self) -> &[Redirection] {
        &self.redirections
    }

    /// Returns what is around the command, from the outside in.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Returns the index of the command that runs this one.
    pub fn run_by(&self) -> Option<usize> {
        self.run_by
    }

    /// Tells whether the command only runs another one of the script, as `timeout 5` does.
    pub fn is_frame(&self) -> bool {
        self.is_frame
    }

    /// Returns what the command does by its arguments that no rule allows, such as writing a file: the end of a sentence.
    pub fn beside(&self) -> Option<&'static str> {
        self.beside
    }

    /// Returns the program and arguments.
    pub(crate) fn words(&self) -> impl Iterator<Item = &Word> {
        self.program.iter().chain(&self.arguments)
    }
}

/// Writes the command as it stands in the text, on one line.
impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.assignments.clone();
        parts.extend(self.words().map(|word| word.text.clone()));
        parts.extend(self.redirections.iter().map(|it| match &it.target {
            Some(target) => format!("{}{}", it.operator, target.text),
            None => it.operator.clone(),
        }));
        f.write_str(&escaped(parts.join(" ").chars()))
    }
}

impl Word {
    pub(crate) fn new(text: impl Into<String>, meaning: Result<String, Unknown>) -> Self {
        Self { text: text.into(), meaning }
    }

    /// Makes the word of an argument vector; its text is quoted where a shell would need it.
    pub(crate) fn literal_of(value: &str) -> Self {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
        let text = if !value.is_empty() && value.chars().all(is_bare) {
            value.to_owned()
        } else {
            format!("'{}'", value.replace('\'', "'\\''"))
        };
        Self { text, meaning: Ok(value.to_owned()) }
    }

    /// Makes a word that only shows when the command runs.
    pub(crate) fn unknown(text: &str, unknown: Unknown) -> Self {
        Self { text: text.to_owned(), meaning: Err(unknown) }
    }

    /// Returns the word as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the program gets, where that is certain.
    pub fn literal(&self) -> Option<&str> {
        self.meaning.as_deref().ok()
    }

    /// Returns why it is not certain what the program gets.
    pub fn unknown_by(&self) -> Option<Unknown> {
        self.meaning.as_ref().err().copied()
    }
}

impl Redirection {
    /// Returns the operator with its descriptor, such as `2>&`.
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// Returns what stands behind the operator; `None` for a text that is given in the script itself.
    pub fn target(&self) -> Option<&Word> {
        self.target.as_ref()
    }

    /// Tells whether it could write to anything but `/dev/null` and descriptors that are already open, or reach a
    /// network as `/dev/tcp/…` does.
    pub fn reaches_out(&self) -> bool {
        let target = match &self.target {
            None => return false,
            Some(target) => target.literal(),
        };
        let kind = self.operator.trim_start_matches(|c: char| c.is_ascii_digit());
        match (kind, target) {
            ("<<<", _) | (_, Some("/dev/null")) => false,
            (">&" | "<&", Some(target)) if is_descriptor(target) => false,
            ("<", Some(target)) => is_network(target),
            _ => true,
        }
    }
}

fn is_descriptor(target: &str) -> bool {
    target == "-" || !target.is_empty() && target.chars().all(|c| c.is_ascii_digit())
}

/// Tells whether bash would open a connection instead of a file.
fn is_network(target: &str) -> bool {
    target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/")
}

impl Unknown {
    /// Returns what the word depends on.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expansion => "a variable",
            Self::Substitution => "the output of a command",
            Self::Arithmetic => "a calculation",
            Self::Glob => "names of files",
            Self::Braces => "braces",
            Self::Home => "the home folder",
            Self::Translation => "a translation",
            Self::Input => "what the command reads or finds",
            Self::Condition => "a condition",
            Self::Quoting => "quoting that cannot be followed",
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.excerpt.as_str() {
            "" => write!(f, "{}", self.why),
            excerpt => write!(f, "`{excerpt}` in line {}: {}", self.line, self.why),
        }
    }
}
