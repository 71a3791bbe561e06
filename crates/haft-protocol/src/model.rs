//! Words about models: which one, why it stopped, what it counted.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A model as people name it: `provider/name`.
///
/// The name may hold further slashes, as in `openrouter/qwen/qwen3-coder`; the provider may not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelId {
    provider: String,
    name: String,
}

/// A model's name that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelIdError {
    /// There is no slash, or nothing on one side of it.
    #[error("`{text}` is not a model: expected `provider/name`, such as `openai/gpt-5.4`")]
    Incomplete {
        /// What was given, cut to a length fit for a message.
        text: String,
    },
    /// The provider's name holds something else than letters, digits, `-`, `_` and `.`.
    #[error("`{provider}` is not a provider: expected letters, digits, `-`, `_` or `.`")]
    Provider {
        /// The part before the first slash, cut to a length fit for a message.
        provider: String,
    },
    /// The name holds a control character or is longer than any model's.
    #[error("the model's name `{name}` holds a control character or has more than 256 characters")]
    Name {
        /// The part behind the first slash, escaped and cut to a length fit for a message.
        name: String,
    },
}

impl ModelId {
    /// Makes a model's id of its parts.
    ///
    /// # Errors
    ///
    /// Fails when a part is empty or holds what it may not.
    pub fn new(provider: &str, name: &str) -> Result<Self, ModelIdError> {
        let cut = |text: &str| text.chars().take(60).collect::<String>();
        if provider.is_empty() || name.trim().is_empty() {
            return Err(ModelIdError::Incomplete { text: cut(&format!("{provider}/{name}")) });
        }
        let fits = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        if !provider.chars().all(fits) || provider.len() > 64 {
            return Err(ModelIdError::Provider { provider: cut(provider) });
        }
        if name.chars().any(char::is_control) || name.chars().count() > 256 {
            return Err(ModelIdError::Name { name: cut(&name.escape_debug().to_string()) });
        }
        Ok(Self { provider: provider.to_owned(), name: name.to_owned() })
    }

    /// Returns who serves the model.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Returns the name that the provider knows it by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

impl FromStr for ModelId {
    type Err = ModelIdError;

    fn from_str(text: &str) -> Result<Self, ModelIdError> {
        let incomplete = || ModelIdError::Incomplete { text: text.chars().take(60).collect() };
        let (provider, name) = text.split_once('/').ok_or_else(incomplete)?;
        Self::new(provider, name)
    }
}

impl TryFrom<String> for ModelId {
    type Error = ModelIdError;

    fn try_from(text: String) -> Result<Self, ModelIdError> {
        text.parse()
    }
}

impl From<ModelId> for String {
    fn from(id: ModelId) -> String {
        id.to_string()
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It said what it had to say.
    End,
    /// It asks for calls.
    Calls,
    /// The cap on its output was reached. No call of such an answer may run.
    Length,
    /// The context window was full. No call of such an answer may run.
    Window,
    /// Its provider held the answer back.
    Filtered,
    /// It declined.
    Refused,
    /// The stream ended before the model did. No call of such an answer may run.
    CutShort,
    /// Something else, in the provider's word.
    Other(String),
}

impl StopReason {
    /// Tells whether calls of an answer that ended so may be complete.
    pub const fn lets_calls_run(&self) -> bool {
        matches!(self, Self::End | Self::Calls | Self::Other(_))
    }

    /// Returns the word that serde forms use, or the provider's own.
    pub fn as_str(&self) -> &str {
        match self {
            Self::End => "end",
            Self::Calls => "calls",
            Self::Length => "length",
            Self::Window => "window",
            Self::Filtered => "filtered",
            Self::Refused => "refused",
            Self::CutShort => "cut_short",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What one request to a model took, in the one form that all dialects are brought into.
///
/// A field that nobody reported stays `None`: unknown is not zero. The prompt is cut into three parts that do not
/// overlap, whichever way a provider counts its caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the prompt that no cache had or took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens of the prompt that went into a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Tokens of the answer, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens of the answer that were reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Millionths of a US dollar, where the provider says so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    /// Whether a report contradicted itself, such as more cached tokens than the prompt had. The numbers are then made
    /// to fit and count as unknown for money.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubtful: bool,
}

impl TokenUsage {
    /// Returns the tokens of the whole prompt, where they are known.
    pub fn prompt(&self) -> Option<u64> {
        let cached = self.cache_read.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        Some(self.input?.saturating_add(cached))
    }

    /// Returns the tokens of prompt and answer together, where both are known.
    pub fn total(&self) -> Option<u64> {
        Some(self.prompt()?.saturating_add(self.output?))
    }
}

/// What many requests took together: sums of what is known, how many requests said nothing, and what these took as it is
/// estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsageTotal {
    /// Requests.
    pub requests: u64,
    /// Requests whose prompt or answer nobody counted.
    pub uncounted: u64,
    /// Requests whose price is not known.
    pub unpriced: u64,
    /// Tokens of prompts that no cache had or took.
    pub input: u64,
    /// Tokens of prompts that came from a cache.
    pub cache_read: u64,
    /// Tokens of prompts that went into a cache.
    pub cache_write: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
    /// Tokens of requests that nobody counted, as they are estimated; in none of the sums above.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_tokens: u64,
    /// Millionths of a US dollar of requests whose price nobody told, as they are estimated; not in the sum above.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micro_usd: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl UsageTotal {
    /// Adds one request.
    pub fn add(&mut self, usage: &TokenUsage) {
        self.add_or(usage, &TokenUsage::default());
    }

    /// Adds one request, and what nobody said of it as it is estimated.
    pub fn add_or(&mut self, usage: &TokenUsage, estimated: &TokenUsage) {
        let (total, money) = (usage.total(), usage.micro_usd);
        self.add_all(&Self {
            requests: 1,
            uncounted: u64::from(total.is_none()),
            unpriced: u64::from(money.is_none()),
            input: usage.input.unwrap_or(0),
            cache_read: usage.cache_read.unwrap_or(0),
            cache_write: usage.cache_write.unwrap_or(0),
            output: usage.output.unwrap_or(0),
            micro_usd: money.unwrap_or(0),
            estimated_tokens: total.map_or(estimated.total().unwrap_or(0), |_| 0),
            estimated_micro_usd: money.map_or(estimated.micro_usd.unwrap_or(0), |_| 0),
        });
    }

    /// Adds the sums of others, such as those of a subagent.
    pub fn add_all(&mut self, other: &Self) {
        let Self {
            requests,
            uncounted,
            unpriced,
            input,
            cache_read,
            cache_write,
            output,
            micro_usd,
            estimated_tokens,
            estimated_micro_usd,
        } = other;
        let pairs = [
            (&mut self.requests, requests),
            (&mut self.uncounted, uncounted),
            (&mut self.unpriced, unpriced),
            (&mut self.input, input),
            (&mut self.cache_read, cache_read),
            (&mut self.cache_write, cache_write),
            (&mut self.output, output),
            (&mut self.micro_usd, micro_usd),
            (&mut self.estimated_tokens, estimated_tokens),
            (&mut self.estimated_micro_usd, estimated_micro_usd),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Returns the tokens of all prompts and answers that were counted.
    pub fn tokens(&self) -> u64 {
        [self.input, self.cache_read, self.cache_write, self.output]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}
