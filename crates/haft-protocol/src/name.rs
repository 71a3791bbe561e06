//! The names of tools: one parser for the form people write, and the form a wire allows.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::{NAME_SEGMENT_CHARS, WIRE_NAME_CHARS};

/// The namespace of a name that was written without one.
const DEFAULT_NAMESPACE: &str = "local";

/// The namespace of the tools that haft brings along.
const BUILTIN_NAMESPACE: &str = "builtin";

/// Namespaces that no user may register under: ours, the runtime's, and those of model providers.
const RESERVED_NAMESPACES: &[&str] = &[
    BUILTIN_NAMESPACE,
    "admin",
    "haft",
    "internal",
    "root",
    "system",
    "anthropic",
    "azure",
    "bedrock",
    "cohere",
    "deepseek",
    "gemini",
    "google",
    "groq",
    "llamacpp",
    "meta",
    "mistral",
    "ollama",
    "openai",
    "openrouter",
    "vertex",
    "vllm",
    "xai",
];

/// A name that could not be read or may not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// A part of the name breaks the grammar.
    #[error(
        "{part} `{text}` is not a name: expected a letter, then letters, digits, `_` or `-`, at most {NAME_SEGMENT_CHARS} characters"
    )]
    Segment {
        /// Which part: `server`, `namespace` or `name`.
        part: &'static str,
        /// What was found there, cut to a length fit for a message.
        text: String,
    },
    /// More separators than the form has room for.
    #[error(
        "`{text}` is not a tool name: expected `name`, `namespace/name` or `server:namespace/name`"
    )]
    Shape {
        /// The whole text, cut to a length fit for a message.
        text: String,
    },
    /// A namespace that is kept for haft or for providers.
    #[error("namespace `{namespace}` is reserved: choose another, such as `{DEFAULT_NAMESPACE}`")]
    Reserved {
        /// The refused namespace.
        namespace: String,
    },
    /// A name that a model provider or protocol would not take.
    #[error(
        "`{text}` is not a wire name: expected a letter, then letters, digits or `_`, at most {WIRE_NAME_CHARS} characters"
    )]
    Wire {
        /// What was given, cut to a length fit for a message.
        text: String,
    },
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

/// Checks one part of a qualified name: a letter, then letters, digits, `_` or `-`, in ASCII.
fn check_segment(part: &'static str, text: &str) -> Result<(), NameError> {
    let mut bytes = text.bytes();
    let well_formed = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && text.len() <= NAME_SEGMENT_CHARS;
    if well_formed { Ok(()) } else { Err(NameError::Segment { part, text: excerpt(text) }) }
}

/// The name of a tool as people write it: `[[server:]namespace/]name`.
///
/// A name without a namespace lives in `local`. Names compare byte by byte; nothing is folded. The text form of a
/// parsed name always carries its namespace, so it parses back to the same name. A clone shares the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct QualifiedName(Arc<str>);

impl QualifiedName {
    /// Names a tool that haft brings along.
    ///
    /// # Errors
    ///
    /// Fails when `name` breaks the grammar.
    pub fn builtin(name: &str) -> Result<Self, NameError> {
        Self::of_parts(None, BUILTIN_NAMESPACE, name)
    }

    /// Reads a name that a user wants to register.
    ///
    /// # Errors
    ///
    /// Fails as [`str::parse`] does, and for a reserved namespace on this machine. A name on a named server keeps its
    /// server's namespaces: they cannot be confused with ours.
    pub fn for_user(text: &str) -> Result<Self, NameError> {
        let name: Self = text.parse()?;
        if name.server().is_none() && name.is_reserved() {
            return Err(NameError::Reserved { namespace: name.namespace().to_owned() });
        }
        Ok(name)
    }

    fn of_parts(server: Option<&str>, namespace: &str, name: &str) -> Result<Self, NameError> {
        check_segment("namespace", namespace)?;
        check_segment("name", name)?;
        Ok(Self(match server {
            None => format!("{namespace}/{name}").into(),
            Some(server) => {
                check_segment("server", server)?;
                format!("{server}:{namespace}/{name}").into()
            }
        }))
    }

    /// Returns the whole name, with its namespace.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the server, where the name has one.
    pub fn server(&self) -> Option<&str> {
        self.0.split_once(':').map(|(server, _)| server)
    }

    /// Returns the namespace.
    pub fn namespace(&self) -> &str {
        let local = self.0.split_once(':').map_or(&*self.0, |(_, local)| local);
        local.split_once('/').map_or(DEFAULT_NAMESPACE, |(namespace, _)| namespace)
    }

    /// Returns the last part.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(_, name)| name)
    }

    /// Tells whether this names a tool that haft brings along.
    pub fn is_builtin(&self) -> bool {
        self.server().is_none() && self.namespace() == BUILTIN_NAMESPACE
    }

    /// Tells whether the namespace is kept for haft or for providers, in any case of letters.
    pub fn is_reserved(&self) -> bool {
        RESERVED_NAMESPACES.iter().any(|reserved| self.namespace().eq_ignore_ascii_case(reserved))
    }

    /// Tells whether the namespace can be left out where space is short.
    pub(crate) fn has_plain_namespace(&self) -> bool {
        self.server().is_none() && matches!(self.namespace(), DEFAULT_NAMESPACE | BUILTIN_NAMESPACE)
    }
}

impl FromStr for QualifiedName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let shape = || NameError::Shape { text: excerpt(text) };
        let (server, rest) = match text.split_once(':') {
            Some((server, rest)) => (Some(server), rest),
            None => (None, text),
        };
        if let Some(server) = server {
            check_segment("server", server)?;
        }
        let (namespace, name) = match rest.split_once('/') {
            Some(parts) => parts,
            None if server.is_some() => return Err(shape()),
            None => (DEFAULT_NAMESPACE, rest),
        };
        if name.contains(['/', ':']) {
            return Err(shape());
        }
        Self::of_parts(server, namespace, name)
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QualifiedName({self})")
    }
}

impl TryFrom<String> for QualifiedName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<QualifiedName> for String {
    fn from(name: QualifiedName) -> String {
        name.0.as_ref().to_owned()
    }
}

/// The spelling of a tool's name that every model interface takes: `^[A-Za-z][A-Za-z0-9_]{0,63}$`.
///
/// A wire name says nothing about the tool behind it: only the table that assigned it,
/// [`WireNames`](crate::WireNames), leads back.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WireName(Arc<str>);

impl WireName {
    /// Reads a wire name.
    ///
    /// # Errors
    ///
    /// Fails when the text breaks the form.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let mut bytes = text.bytes();
        let well_formed = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && text.len() <= WIRE_NAME_CHARS;
        if well_formed {
            Ok(Self(text.into()))
        } else {
            Err(NameError::Wire { text: excerpt(text) })
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Spells a text that is known to keep the form, because it was built to.
    pub(crate) fn spelled(text: String) -> Self {
        debug_assert!(Self::new(&text).is_ok(), "{text}");
        Self(text.into())
    }
}

impl fmt::Display for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireName({})", self.0)
    }
}

impl TryFrom<String> for WireName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(&text)
    }
}

impl From<WireName> for String {
    fn from(name: WireName) -> String {
        name.0.as_ref().to_owned()
    }
}
