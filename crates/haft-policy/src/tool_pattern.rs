//! Patterns over the names of tools.

use std::fmt;
use std::str::FromStr;

use haft_protocol::QualifiedName;
use serde::{Deserialize, Serialize};

use crate::PolicyError;
use crate::error::PatternProblem;
use crate::glob::{Part, Token, alternatives, weight};

/// The namespace of a name that was written without one.
const DEFAULT_NAMESPACE: &str = "local";

/// A pattern over the qualified names of tools.
///
/// | written | matches |
/// |---|---|
/// | `search` | `builtin/search` and `local/search`, on no server |
/// | `web/search` | that tool, on no server |
/// | `github:issues/list` | that tool of the server `github` |
/// | `github:list` | `list` of the server `github`, in any namespace |
/// | `*` | every tool, on every server |
///
/// Each part may hold `*`, `?`, `[…]` and `{a,b}`, which do not cross `/` or `:`. Only `*` alone reaches across: `*/*`
/// are the tools on no server, `*:*` those on any. Case counts.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolPattern {
    text: String,
    choices: Vec<Choice>,
    tokens: usize,
}

/// One alternative of a pattern.
#[derive(Debug, Clone)]
enum Choice {
    Every,
    Plain { name: Part },
    Here { namespace: Part, name: Part },
    Remote { server: Part, namespace: Option<Part>, name: Part },
}

impl ToolPattern {
    /// Returns the pattern that matches this tool alone.
    pub fn exactly(tool: &QualifiedName) -> Self {
        let literal = |text: &str| Part::Literal(text.to_owned());
        let (namespace, name) = (literal(tool.namespace()), literal(tool.name()));
        let choice = match tool.server() {
            Some(server) => {
                Choice::Remote { server: literal(server), namespace: Some(namespace), name }
            }
            None => Choice::Here { namespace, name },
        };
        let text = tool.to_string();
        Self { tokens: text.chars().count(), text, choices: vec![choice] }
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns how many tokens the pattern holds with its braces multiplied out, which is what it takes up.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Tells whether a tool matches.
    pub fn matches(&self, tool: &QualifiedName) -> bool {
        self.choices.iter().any(|choice| choice.matches(tool))
    }
}

impl Choice {
    fn new(tokens: &[Token]) -> Result<Self, PatternProblem> {
        if let [Token::Star] = tokens {
            return Ok(Self::Every);
        }
        let (server, rest) = match split(tokens, &Token::Char(':')) {
            (rest, None) => (None, rest),
            (server, Some(rest)) => (Some(part(server)?), rest),
        };
        let (namespace, name) = match split(rest, &Token::Slash) {
            (name, None) => (None, part(name)?),
            (namespace, Some(name)) => (Some(part(namespace)?), part(name)?),
        };
        Ok(match (server, namespace) {
            (Some(server), namespace) => Self::Remote { server, namespace, name },
            (None, Some(namespace)) => Self::Here { namespace, name },
            (None, None) => Self::Plain { name },
        })
    }

    fn matches(&self, tool: &QualifiedName) -> bool {
        match self {
            Self::Every => true,
            Self::Plain { name } => {
                let plain = tool.is_builtin()
                    || tool.server().is_none() && tool.namespace() == DEFAULT_NAMESPACE;
                plain && name.matches(tool.name())
            }
            Self::Here { namespace, name } => {
                tool.server().is_none()
                    && namespace.matches(tool.namespace())
                    && name.matches(tool.name())
            }
            Self::Remote { server, namespace, name } => {
                tool.server().is_some_and(|text| server.matches(text))
                    && namespace.as_ref().is_none_or(|part| part.matches(tool.namespace()))
                    && name.matches(tool.name())
            }
        }
    }
}

fn split<'t>(tokens: &'t [Token], at: &Token) -> (&'t [Token], Option<&'t [Token]>) {
    let mut pieces = tokens.splitn(2, |token| token == at);
    (pieces.next().unwrap_or_default(), pieces.next())
}

/// Reads one part, which has to be there and to hold only what names are made of.
fn part(tokens: &[Token]) -> Result<Part, PatternProblem> {
    if tokens.is_empty() {
        return Err(PatternProblem::ToolShape);
    }
    for token in tokens {
        match token {
            Token::Slash | Token::Char(':') => return Err(PatternProblem::ToolShape),
            Token::Char(character)
                if !character.is_ascii_alphanumeric() && !matches!(character, '_' | '-') =>
            {
                return Err(PatternProblem::ToolCharacter { character: *character });
            }
            Token::Char(_) | Token::Any | Token::Star | Token::Class { .. } => {}
        }
    }
    Part::new(tokens)
}

impl FromStr for ToolPattern {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let read = || {
            let all = alternatives(text)?;
            let choices = all.iter().map(|tokens| Choice::new(tokens)).collect::<Result<_, _>>()?;
            Ok(Self { text: text.to_owned(), choices, tokens: weight(&all) })
        };
        read().map_err(|problem| PolicyError::pattern(text, problem))
    }
}

impl TryFrom<String> for ToolPattern {
    type Error = PolicyError;

    fn try_from(text: String) -> Result<Self, PolicyError> {
        text.parse()
    }
}

impl From<ToolPattern> for String {
    fn from(pattern: ToolPattern) -> String {
        pattern.text
    }
}

/// Patterns are the same when they are written the same.
impl PartialEq for ToolPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ToolPattern {}

impl fmt::Debug for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolPattern({})", self.text)
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
