//! What is wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

use haft_policy::PolicyError;
use haft_protocol::SandboxLevelError;

use crate::TrustError;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file exists and cannot be read.
    #[error("cannot read {}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is larger than a configuration may be.
    #[error("{file} has {bytes} bytes, and {limit} is the most a configuration may have")]
    TooLarge {
        /// The file.
        file: String,
        /// Its size.
        bytes: usize,
        /// The most it may have.
        limit: usize,
    },
    /// Something in a file is wrong.
    #[error("{}", place.around(problem))]
    Invalid {
        /// Where.
        place: Box<Place>,
        /// What.
        problem: Problem,
    },
    /// A variable or flag is wrong.
    #[error("{name}: {problem}")]
    Setting {
        /// The variable or flag.
        name: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The rules of all layers make no policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The file of trusted projects cannot be used.
    #[error("cannot use {}", file.display())]
    Trust {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: TrustError,
    },
}

/// What is wrong with a value or key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file is not TOML.
    #[error("this is not TOML: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// The file is not UTF-8.
    #[error("this is not UTF-8 text")]
    NotText,
    /// A key that does not exist.
    #[error("unknown key `{key}`: {}", suggestion(nearest.as_deref(), expected))]
    UnknownKey {
        /// The key with those it stands in.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
        /// Every key that could stand here.
        expected: Vec<&'static str>,
    },
    /// A value of another type.
    #[error("`{key}` takes {expected}, and this is {found}")]
    Type {
        /// The key.
        key: String,
        /// What it takes.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A word that is not among those a key takes.
    #[error("`{value}` is not {what}: {}", suggestion(nearest.as_deref(), expected))]
    UnknownWord {
        /// The value.
        value: String,
        /// What it should be.
        what: &'static str,
        /// The word that was probably meant.
        nearest: Option<&'static str>,
        /// Every word that could stand here.
        expected: Vec<&'static str>,
    },
    /// A text that is no model.
    #[error("{source}")]
    Model {
        /// Why.
        source: haft_protocol::ModelIdError,
    },
    /// A text that can be no name of a tool.
    #[error("{source}")]
    Name {
        /// Why.
        source: haft_protocol::NameError,
    },
    /// A number that is too small or too large.
    #[error("`{key}` is {value}: expected {min} to {max}")]
    Range {
        /// The key.
        key: String,
        /// The value as it was written.
        value: String,
        /// The least it may be.
        min: u64,
        /// The most it may be.
        max: u64,
    },
    /// A list without items, which would say the opposite of what it seems to.
    #[error("`{key}` is empty: leave it out to mean everything")]
    Empty {
        /// The key.
        key: String,
    },
    /// A list where one value is taken.
    #[error("`{one}` takes one text: write `{many}` for a list")]
    ListOfOne {
        /// The key.
        one: &'static str,
        /// The key that takes a list.
        many: &'static str,
    },
    /// Two keys for one thing.
    #[error("`{one}` and `{other}` say the same: keep one of them")]
    Twice {
        /// The first key.
        one: &'static str,
        /// The second key.
        other: &'static str,
    },
    /// A rule without a decision.
    #[error("the rule lacks `decision`: expected `allow`, `ask` or `deny`")]
    NoDecision,
    /// A preset, pattern or rule that policy cannot follow.
    #[error(transparent)]
    Policy(PolicyError),
    /// A pattern of protected names that cannot be read.
    #[error("pattern `{pattern}` is not valid: {message}")]
    Glob {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// A root that is not given by its full path.
    #[error(
        "`{path}` in `{key}` is not a full path: expected one that begins with `/` and holds no `..`"
    )]
    Path {
        /// The key.
        key: &'static str,
        /// The path.
        path: String,
    },
    /// A text that names no level of confinement.
    #[error(transparent)]
    Sandbox(SandboxLevelError),
    /// A text that can be no name of a variable.
    #[error(
        "`{name}` is no variable: expected letters, digits and `_`, then `*` for any rest, or `=` and a value"
    )]
    Variable {
        /// The text.
        name: String,
    },
    /// A variable that does not exist.
    #[error(
        "there is no such variable: {}",
        nearest.as_ref().map_or("unset it".to_owned(), |it| format!("did you mean `{it}`?"))
    )]
    UnknownVariable {
        /// The variable that was probably meant.
        nearest: Option<String>,
    },
}

fn suggestion(nearest: Option<&str>, expected: &[&str]) -> String {
    match (nearest, expected) {
        (Some(nearest), _) => format!("did you mean `{nearest}`?"),
        (None, expected) => {
            let quoted: Vec<_> = expected.iter().map(|it| format!("`{it}`")).collect();
            match quoted.split_last() {
                Some((last, [])) => format!("expected {last}"),
                Some((last, first)) => format!("expected {} or {last}", first.join(", ")),
                None => "expected nothing here".to_owned(),
            }
        }
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as a person would name it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The line itself, or the part of it around the place, fit to be shown.
    pub excerpt: String,
    /// Characters of the excerpt before what is meant.
    pub mark: u32,
    /// Characters of the excerpt that are meant.
    pub width: u32,
}

impl Place {
    fn around(&self, problem: &Problem) -> String {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let before = " ".repeat(self.mark as usize);
        let marks = "^".repeat(self.width as usize);
        let Self { excerpt, .. } = self;
        format!("{self}: {problem}\n{margin} |\n{number} | {excerpt}\n{margin} | {before}{marks}")
    }
}

/// Writes `config.toml:4:7`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
