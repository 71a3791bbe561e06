//! What servers that speak one dialect want otherwise.

use haft_schema::dialect::Dialect as SchemaDialect;

/// What a server wants otherwise than others of its dialect. The default is what most understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// What it takes of the schemas of tools.
    pub schemas: SchemaDialect,
    /// The field that caps a reply.
    pub cap: Cap,
    /// How a call is demanded.
    pub forced: Forced,
    /// What stands for the text of a reply that has none beside its calls.
    pub no_text: NoText,
    /// Which ids of calls it takes.
    pub ids: Ids,
    /// Which reasoning it wants back.
    pub reasoning: ReasoningBack,
    /// Whether it is told that several calls at once are welcome.
    pub parallel: bool,
    /// Whether it is asked for token counts at the end of a stream.
    pub counts: bool,
    /// Whether it is told how much to think.
    pub effort: bool,
    /// Whether it is told what to keep in its cache.
    pub cache_marks: bool,
    /// Whether what a model said in Responses goes back as the item that it was, and not in the short form for messages.
    pub long_items: bool,
}

impl Quirks {
    /// What most understand.
    pub const USUAL: Self = Self {
        schemas: SchemaDialect::Common,
        cap: Cap::MaxTokens,
        forced: Forced::Named,
        no_text: NoText::Null,
        ids: Ids::Any,
        reasoning: ReasoningBack::WithCalls,
        parallel: true,
        counts: true,
        effort: true,
        cache_marks: false,
        long_items: false,
    };
}

impl Quirks {
    /// Returns these quirks with schemas that hold the arguments of calls to them; nothing where the server offers none.
    pub fn strict(self) -> Option<Self> {
        Some(Self { schemas: self.schemas.strict()?, ..self })
    }
}

impl Default for Quirks {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The field that caps a reply in Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap {
    /// `max_tokens`, which all compatible servers know.
    MaxTokens,
    /// `max_completion_tokens`, the only one that newer models of OpenAI take.
    MaxCompletionTokens,
}

/// How a call is demanded in Chat Completions and in Responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forced {
    /// By `required`, or by the name of the tool.
    Named,
    /// By `required` alone: where one tool is demanded, it is the only one that is shown.
    Alone,
    /// By `any` in place of `required`, or by the name of the tool.
    Any,
    /// Not at all: the model does as it likes.
    Never,
}

/// What stands for the text of a reply in Chat Completions that has none beside its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoText {
    /// `null`, as the model's own replies have it.
    Null,
    /// An empty text, for templates that cannot join `null` to a text.
    Empty,
    /// No field.
    Absent,
}

/// Which ids of calls a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// Letters, digits, `-` and `_`, 40 at most.
    Any,
    /// Nine letters and digits.
    Nine,
}

/// Which reasoning of earlier replies goes back in Chat Completions. The other dialects have all of it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningBack {
    /// None: the server refuses it, or has no field for it.
    Never,
    /// That of replies that ask for calls, which go on where the reasoning stopped.
    WithCalls,
    /// All.
    Always,
}
