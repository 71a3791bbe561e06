//! Who serves models, as data.

use haft_model::Dialect;
use haft_schema::dialect::Dialect as Schemas;

use crate::quirks::{Cap, Forced, Ids, NoText, Quirks, ReasoningBack};

/// Somebody who serves models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The name, as before the slash of a model's id.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// The languages it speaks, each with the address it is spoken at. The first is the usual one.
    pub dialects: Vec<(Dialect, String)>,
    /// Variables of an environment that usually hold the key, the first that is there counts; none where no key is needed.
    pub key_variables: Vec<String>,
    /// Variables of an environment that usually hold another address.
    pub address_variables: Vec<String>,
    /// What it wants otherwise than others.
    pub quirks: Quirks,
    /// When this row was last compared to its source.
    pub last_verified: String,
    /// What it was compared to.
    pub source: String,
}

/// A row of the table.
struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    dialects: &'static [(Dialect, &'static str)],
    keys: &'static [&'static str],
    addresses: &'static [&'static str],
    quirks: Quirks,
    last_verified: &'static str,
    source: &'static str,
}

/// Returns the providers that are known from the start.
pub(crate) fn providers() -> Vec<Provider> {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let made = TABLE.iter().map(|row| Provider {
        name: row.name.to_owned(),
        aliases: own(row.aliases),
        dialects: row.dialects.iter().map(|(it, address)| (*it, (*address).to_owned())).collect(),
        key_variables: own(row.keys),
        address_variables: own(row.addresses),
        quirks: row.quirks,
        last_verified: row.last_verified.to_owned(),
        source: row.source.to_owned(),
    });
    made.collect()
}

use Dialect::{
    ChatCompletions as CHAT, Gemini as GEMINI, Messages as MESSAGES, Responses as RESPONSES,
};

const DOCUMENTS: &str = "2026-11-30";

/// A server on this machine reads every template that somebody wrote for a model, and takes no names of tools to demand.
const LOCAL: Quirks = Quirks {
    schemas: Schemas::LlamaCpp,
    forced: Forced::Alone,
    no_text: NoText::Empty,
    long_items: true,
    ..Quirks::USUAL
};

const TABLE: &[Row] = &[
    Row {
        name: "openai",
        aliases: &["gpt"],
        dialects: &[(CHAT, "https://api.openai.com/v1"), (RESPONSES, "https://api.openai.com/v1")],
        keys: &["OPENAI_API_KEY"],
        addresses: &["OPENAI_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::OpenAi,
            cap: Cap::MaxCompletionTokens,
            reasoning: ReasoningBack::Never,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "the API reference, Chat Completions and Responses, and the types of its Python client; not tried",
    },
    Row {
        name: "anthropic",
        aliases: &["claude"],
        dialects: &[(MESSAGES, "https://api.anthropic.com")],
        keys: &["ANTHROPIC_API_KEY"],
        addresses: &["ANTHROPIC_BASE_URL"],
        quirks: Quirks { schemas: Schemas::Anthropic, cache_marks: true, ..Quirks::USUAL },
        last_verified: DOCUMENTS,
        source: "the API reference, Messages and streaming; not tried",
    },
    Row {
        name: "gemini",
        aliases: &["google"],
        dialects: &[
            (GEMINI, "https://generativelanguage.googleapis.com/v1beta"),
            (CHAT, "https://generativelanguage.googleapis.com/v1beta/openai"),
        ],
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        addresses: &["GEMINI_BASE_URL"],
        quirks: Quirks { reasoning: ReasoningBack::Never, ..Quirks::USUAL },
        last_verified: DOCUMENTS,
        source: "the guides to function calling, thinking and thought signatures, and the types of its Python client; not tried",
    },
    Row {
        name: "openrouter",
        aliases: &[],
        dialects: &[(CHAT, "https://openrouter.ai/api/v1")],
        keys: &["OPENROUTER_API_KEY"],
        addresses: &["OPENROUTER_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::Loose,
            reasoning: ReasoningBack::Always,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "the API reference; not tried",
    },
    Row {
        name: "deepseek",
        aliases: &[],
        dialects: &[
            (CHAT, "https://api.deepseek.com/v1"),
            (MESSAGES, "https://api.deepseek.com/anthropic"),
        ],
        keys: &["DEEPSEEK_API_KEY"],
        addresses: &["DEEPSEEK_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::Loose,
            forced: Forced::Never,
            parallel: false,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "the guide to its thinking mode; not tried",
    },
    Row {
        name: "mistral",
        aliases: &[],
        dialects: &[(CHAT, "https://api.mistral.ai/v1")],
        keys: &["MISTRAL_API_KEY"],
        addresses: &["MISTRAL_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::Loose,
            forced: Forced::Any,
            no_text: NoText::Empty,
            ids: Ids::Nine,
            reasoning: ReasoningBack::Never,
            counts: false,
            effort: false,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "the API reference; not tried",
    },
    Row {
        name: "moonshot",
        aliases: &["kimi"],
        dialects: &[(CHAT, "https://api.moonshot.ai/v1")],
        keys: &["MOONSHOT_API_KEY"],
        addresses: &["MOONSHOT_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::Loose,
            forced: Forced::Never,
            parallel: false,
            effort: false,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "the API reference; not tried",
    },
    Row {
        name: "groq",
        aliases: &[],
        dialects: &[(CHAT, "https://api.groq.com/openai/v1")],
        keys: &["GROQ_API_KEY"],
        addresses: &["GROQ_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::Loose,
            reasoning: ReasoningBack::Never,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "the API reference; not tried",
    },
    Row {
        name: "xai",
        aliases: &["grok"],
        dialects: &[(CHAT, "https://api.x.ai/v1")],
        keys: &["XAI_API_KEY"],
        addresses: &["XAI_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::Loose,
            reasoning: ReasoningBack::Never,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "the API reference; not tried",
    },
    Row {
        name: "llamacpp",
        aliases: &["llama.cpp", "llama-server"],
        dialects: &[
            (CHAT, "http://127.0.0.1:8080/v1"),
            (MESSAGES, "http://127.0.0.1:8080"),
            (RESPONSES, "http://127.0.0.1:8080/v1"),
        ],
        keys: &[],
        addresses: &["LLAMACPP_BASE_URL"],
        quirks: LOCAL,
        last_verified: DOCUMENTS,
        source: "streams recorded from llama.cpp b7551 and b7964; asked with a real model in tests",
    },
    Row {
        name: "ollama",
        aliases: &[],
        dialects: &[(CHAT, "http://127.0.0.1:11434/v1")],
        keys: &[],
        addresses: &["OLLAMA_BASE_URL"],
        quirks: Quirks {
            schemas: Schemas::Loose,
            forced: Forced::Never,
            no_text: NoText::Empty,
            ..Quirks::USUAL
        },
        last_verified: DOCUMENTS,
        source: "its page on compatibility; not tried",
    },
    Row {
        name: "vllm",
        aliases: &[],
        dialects: &[(CHAT, "http://127.0.0.1:8000/v1")],
        keys: &[],
        addresses: &["VLLM_BASE_URL"],
        quirks: Quirks { schemas: Schemas::Loose, ..Quirks::USUAL },
        last_verified: DOCUMENTS,
        source: "its page on the compatible server; not tried",
    },
    Row {
        name: "lmstudio",
        aliases: &["lm-studio"],
        dialects: &[(CHAT, "http://127.0.0.1:1234/v1")],
        keys: &[],
        addresses: &["LMSTUDIO_BASE_URL"],
        quirks: LOCAL,
        last_verified: DOCUMENTS,
        source: "its page on compatibility; not tried",
    },
];
