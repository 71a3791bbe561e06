//! What each dialect takes, as data.

use self::Treatment::{Drop, Keep, Rewrite};

/// A dialect of JSON Schema that some provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI with `strict`: arguments fit the schema for sure.
    OpenAiStrict,
    /// OpenAI without.
    OpenAi,
    /// Anthropic with `strict`.
    AnthropicStrict,
    /// Anthropic without.
    Anthropic,
    /// Gemini's `parameters`, an OpenAPI schema with types in capitals.
    Gemini,
    /// Gemini's `parametersJsonSchema`.
    GeminiJson,
    /// llama.cpp, which makes a grammar of it.
    LlamaCpp,
    /// vLLM, Ollama and others that show the schema to the model as it is.
    Loose,
    /// What all of them take.
    Common,
}

impl Dialect {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Self; 9] = [
        Self::OpenAiStrict,
        Self::OpenAi,
        Self::AnthropicStrict,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiJson,
        Self::LlamaCpp,
        Self::Loose,
        Self::Common,
    ];

    /// Returns the name used in configuration and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiStrict => "openai-strict",
            Self::OpenAi => "openai",
            Self::AnthropicStrict => "anthropic-strict",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::GeminiJson => "gemini-json",
            Self::LlamaCpp => "llama-cpp",
            Self::Loose => "loose",
            Self::Common => "common",
        }
    }

    /// Returns what the dialect does with a feature.
    pub fn treatment(self, feature: Feature) -> Treatment {
        let row = TABLE.iter().find(|row| row.feature == feature);
        row.and_then(|row| row.by_dialect.get(self as usize)).copied().unwrap_or(Drop)
    }

    /// Returns the dialect of the same provider in which what a model writes fits the schema for sure; nothing where its
    /// provider offers none.
    pub const fn strict(self) -> Option<Self> {
        match self {
            Self::OpenAi | Self::OpenAiStrict => Some(Self::OpenAiStrict),
            Self::Anthropic | Self::AnthropicStrict => Some(Self::AnthropicStrict),
            Self::Gemini | Self::GeminiJson | Self::LlamaCpp | Self::Loose | Self::Common => None,
        }
    }

    /// Returns the dialect of the same provider for what is not strict.
    pub const fn loose(self) -> Self {
        match self {
            Self::OpenAiStrict => Self::OpenAi,
            Self::AnthropicStrict => Self::Anthropic,
            loose => loose,
        }
    }

    pub(super) fn keeps(self, feature: Feature) -> bool {
        self.treatment(feature) == Keep
    }

    /// Tells whether shapes have to be changed for it; the others take schemas nearly as they are.
    pub(super) const fn is_narrow(self) -> bool {
        match self {
            Self::OpenAiStrict
            | Self::AnthropicStrict
            | Self::Gemini
            | Self::LlamaCpp
            | Self::Common => true,
            Self::OpenAi | Self::Anthropic | Self::GeminiJson | Self::Loose => false,
        }
    }

    /// Returns the largest number of characters or items that a schema may name.
    ///
    /// llama.cpp repeats a rule of its grammar as often, and stops at 2 000 repetitions of all that is repeated: then it
    /// serves the request without a grammar.
    pub(super) const fn repetitions(self) -> u64 {
        match self {
            Self::LlamaCpp => 500,
            _ => u64::MAX,
        }
    }

    /// Returns how deep a schema may nest.
    pub(super) const fn levels(self) -> usize {
        match self {
            Self::OpenAiStrict => 10,
            Self::Common => 8,
            _ => 16,
        }
    }
}

/// Something that a schema may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// `anyOf`, `oneOf` or `allOf` at the root.
    RootUnion,
    /// Properties that nobody names.
    Open,
    /// `additionalProperties` with a schema.
    Map,
    /// Properties that may be left out.
    Optional,
    /// Several names in `type`.
    TypeList,
    /// Neither a type nor anything that shows it.
    Untyped,
    /// Values in `enum` that are no texts.
    MixedEnum,
    /// `const`.
    Const,
    /// `anyOf` within.
    AnyOf,
    /// `oneOf` within.
    OneOf,
    /// `allOf` within.
    AllOf,
    /// `not`, `if`, `then`, `else` and what depends on other properties.
    Logic,
    /// References, those that do not lead back to themselves.
    Reference,
    /// References that do.
    Recursion,
    /// `pattern`.
    Pattern,
    /// `format`, of the kinds that are common.
    Format,
    /// `minimum` and `maximum`.
    Range,
    /// `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.
    FineRange,
    /// `minLength` and `maxLength`.
    Length,
    /// `minItems` and `maxItems`.
    ItemCount,
    /// `minProperties` and `maxProperties`.
    PropertyCount,
    /// `uniqueItems`, `contains`, `propertyNames` and the like.
    Unusual,
    /// `default`.
    Default,
    /// `title`, `examples`, `deprecated`, `readOnly` and the like.
    Annotation,
    /// Names of properties that are no plain words.
    OddName,
}

/// What a dialect does with a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It takes it.
    Keep,
    /// It is left out, and said in a description where it means something.
    Drop,
    /// It is said in another way.
    Rewrite,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The feature.
    pub feature: Feature,
    /// What each dialect does with it, in the order of [`Dialect::ALL`].
    pub by_dialect: [Treatment; 9],
    /// When this was last held against what the providers say, as a date.
    pub last_verified: &'static str,
    /// Where they say so.
    pub source: &'static str,
}

const GUIDES: &str =
    "guides to function calling and structured outputs of OpenAI, Anthropic and Google";
const GRAMMAR: &str =
    "the same guides; llama.cpp's notes on grammars from JSON Schema and its tracker";
const CLIENTS: &str = "the same guides; schema transformers of pydantic-ai and rig";

const fn row(feature: Feature, by_dialect: [Treatment; 9], source: &'static str) -> Row {
    Row { feature, by_dialect, last_verified: "2026-11-30", source }
}

/// What each dialect does with each feature.
///
/// A row that is older than a few months should be looked at again before a strict mode is trusted.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    //                        OpenAI strict, loose    Anthropic strict, loose  Gemini, JSON      llama.cpp  loose  common
    row(Feature::RootUnion,     [Rewrite, Keep,         Rewrite, Rewrite,        Rewrite, Keep,    Rewrite,   Keep,  Rewrite], GUIDES),
    row(Feature::Open,          [Rewrite, Keep,         Rewrite, Keep,           Keep,    Keep,    Rewrite,   Keep,  Rewrite], GUIDES),
    row(Feature::Map,           [Rewrite, Keep,         Rewrite, Keep,           Rewrite, Keep,    Keep,      Keep,  Rewrite], GRAMMAR),
    row(Feature::Optional,      [Rewrite, Keep,         Keep,    Keep,           Keep,    Keep,    Keep,      Keep,  Keep],    GUIDES),
    row(Feature::TypeList,      [Keep,    Keep,         Keep,    Keep,           Rewrite, Keep,    Rewrite,   Keep,  Rewrite], GRAMMAR),
    row(Feature::Untyped,       [Rewrite, Keep,         Rewrite, Keep,           Rewrite, Keep,    Rewrite,   Keep,  Rewrite], GRAMMAR),
    row(Feature::MixedEnum,     [Keep,    Keep,         Keep,    Keep,           Rewrite, Keep,    Keep,      Keep,  Rewrite], CLIENTS),
    row(Feature::Const,         [Rewrite, Keep,         Keep,    Keep,           Rewrite, Keep,    Keep,      Keep,  Rewrite], CLIENTS),
    row(Feature::AnyOf,         [Keep,    Keep,         Keep,    Keep,           Keep,    Keep,    Keep,      Keep,  Keep],    GUIDES),
    row(Feature::OneOf,         [Rewrite, Keep,         Rewrite, Keep,           Rewrite, Keep,    Rewrite,   Keep,  Rewrite], CLIENTS),
    row(Feature::AllOf,         [Rewrite, Keep,         Rewrite, Keep,           Rewrite, Keep,    Rewrite,   Keep,  Rewrite], GRAMMAR),
    row(Feature::Logic,         [Drop,    Keep,         Drop,    Keep,           Drop,    Drop,    Drop,      Keep,  Drop],    GRAMMAR),
    row(Feature::Reference,     [Rewrite, Keep,         Rewrite, Keep,           Rewrite, Keep,    Rewrite,   Keep,  Rewrite], GRAMMAR),
    row(Feature::Recursion,     [Keep,    Keep,         Rewrite, Keep,           Rewrite, Keep,    Rewrite,   Keep,  Rewrite], GUIDES),
    row(Feature::Pattern,       [Keep,    Keep,         Drop,    Keep,           Keep,    Keep,    Drop,      Keep,  Drop],    GRAMMAR),
    row(Feature::Format,        [Keep,    Keep,         Keep,    Keep,           Drop,    Keep,    Drop,      Keep,  Drop],    GRAMMAR),
    row(Feature::Range,         [Keep,    Keep,         Drop,    Keep,           Keep,    Keep,    Drop,      Keep,  Drop],    GRAMMAR),
    row(Feature::FineRange,     [Keep,    Keep,         Drop,    Keep,           Drop,    Keep,    Drop,      Keep,  Drop],    GRAMMAR),
    row(Feature::Length,        [Drop,    Keep,         Drop,    Keep,           Keep,    Keep,    Keep,      Keep,  Drop],    CLIENTS),
    row(Feature::ItemCount,     [Keep,    Keep,         Drop,    Keep,           Keep,    Keep,    Keep,      Keep,  Drop],    CLIENTS),
    row(Feature::PropertyCount, [Drop,    Keep,         Drop,    Keep,           Keep,    Keep,    Drop,      Keep,  Drop],    CLIENTS),
    row(Feature::Unusual,       [Drop,    Keep,         Drop,    Keep,           Drop,    Keep,    Drop,      Keep,  Drop],    CLIENTS),
    row(Feature::Default,       [Drop,    Keep,         Drop,    Keep,           Drop,    Keep,    Drop,      Keep,  Drop],    CLIENTS),
    row(Feature::Annotation,    [Drop,    Drop,         Drop,    Drop,           Drop,    Drop,    Drop,      Drop,  Drop],    CLIENTS),
    row(Feature::OddName,       [Keep,    Keep,         Rewrite, Rewrite,        Rewrite, Keep,    Keep,      Keep,  Rewrite], GUIDES),
];
