//! What is known of a model before it is asked.

use haft_protocol::ModelId;

/// The language that a model is spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI's Chat Completions, and whatever claims to be compatible with them.
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Google's generateContent.
    Gemini,
}

impl Dialect {
    /// Returns the name used in configuration and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat-completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }
}

/// What is known of a model before it is asked. What nobody knows is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFacts {
    /// The model.
    pub id: ModelId,
    /// The language it is spoken to in.
    pub dialect: Dialect,
    /// Who its opaque parts belong to: the dialect and the server, the same for all models that may read them.
    pub origin: String,
    /// Where requests go, for people to see, without credentials.
    pub address: String,
    /// Tokens that prompt and reply may have together.
    pub window_tokens: Option<u64>,
    /// Tokens that a reply may have.
    pub output_tokens: Option<u64>,
    /// Whether it sees images.
    pub sees_images: Option<bool>,
    /// Whether a call can be demanded of it. Where not, a [`ToolChoice`](crate::ToolChoice) that demands one is not sent, and
    /// the model does as it likes.
    pub calls_on_demand: bool,
    /// What it costs.
    pub price: Option<Price>,
}

/// What a model costs, in millionths of a US dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Tokens of the prompt that no cache had or took.
    pub input: u64,
    /// Tokens of the prompt that came from a cache.
    pub cache_read: u64,
    /// Tokens of the prompt that went into a cache.
    pub cache_write: u64,
    /// Tokens of the reply.
    pub output: u64,
}

impl Price {
    /// Returns the most that a prompt and a reply can cost, in millionths of a US dollar, rounded up.
    pub fn at_most(&self, prompt: u64, output: u64) -> u64 {
        let prompt = u128::from(prompt) * u128::from(self.input.max(self.cache_write));
        let sum = prompt.saturating_add(u128::from(output) * u128::from(self.output));
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// Returns how many tokens of a reply so many millionths of a US dollar pay for; nothing where they cost nothing.
    pub fn output_for(&self, micro_usd: u64) -> Option<u64> {
        let tokens = (u128::from(micro_usd) * 1_000_000).checked_div(u128::from(self.output))?;
        Some(u64::try_from(tokens).unwrap_or(u64::MAX))
    }

    /// Returns the price of a request in millionths of a US dollar, rounded up, where its tokens are known and not
    /// doubtful.
    pub fn of(&self, usage: &haft_protocol::TokenUsage) -> Option<u64> {
        if usage.doubtful {
            return None;
        }
        let parts = [
            (usage.input?, self.input),
            (usage.cache_read.unwrap_or(0), self.cache_read),
            (usage.cache_write.unwrap_or(0), self.cache_write),
            (usage.output?, self.output),
        ];
        let sum: u128 =
            parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(1_000_000)).ok()
    }
}
