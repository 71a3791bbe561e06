//! How single models want to be asked, as data.

use haft_model::Dialect;

/// How a model wants to be asked otherwise than others. The default is as most do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ways {
    /// The language in which it calls tools; nothing where its provider's usual one does.
    pub(crate) dialect: Option<Dialect>,
    /// Whether a call can be demanded of it.
    pub(crate) calls_on_demand: bool,
    /// Whether it is told how freely to pick its words.
    pub(crate) temperature: bool,
    /// How it is told how much to think.
    pub(crate) thinking: Thinking,
}

/// How a model is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// By a word; in Messages it is told to think at all as well.
    Word,
    /// By a word alone.
    WordAlone,
    /// By a number of tokens at most.
    Tokens,
    /// Not at all: it refuses to be told.
    Untold,
}

impl Ways {
    const USUAL: Self =
        Self { dialect: None, calls_on_demand: true, temperature: true, thinking: Thinking::Word };

    /// Returns the ways of a model of a provider: those of the first row that fits.
    pub(crate) fn of(provider: &str, model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let row = TABLE.iter().find(|row| {
            row.provider == provider && row.names.iter().any(|begin| name.starts_with(begin))
        });
        row.map_or(Self::USUAL, |row| row.ways)
    }
}

/// A row of the table: models by their provider and what their names begin with.
struct Row {
    provider: &'static str,
    names: &'static [&'static str],
    ways: Ways,
}

const fn row(provider: &'static str, names: &'static [&'static str], ways: Ways) -> Row {
    Row { provider, names, ways }
}

/// Thinks before each reply, and picks its words as it likes.
const THINKER: Ways = Ways { temperature: false, ..Ways::USUAL };

/// Calls tools in Responses alone, where it may think before it does.
const ONLY_IN_RESPONSES: Ways = Ways { dialect: Some(Dialect::Responses), ..THINKER };

/// Does not think, or not so that anybody could say how much.
const PLAIN: Ways = Ways { thinking: Thinking::Untold, ..Ways::USUAL };

/// Last compared on 2026-11-30, none of them tried: the rows of Anthropic to its pages on effort, on tool use and on each
/// model; those of OpenAI to its error for tools beside effort, as several clients report it, and to its pages on models that
/// are served in Responses alone.
const TABLE: &[Row] = &[
    row("openai", &["gpt-3", "gpt-4", "chatgpt-4", "gpt-5-chat"], PLAIN),
    row("openai", &["gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6", "gpt-7", "codex"], ONLY_IN_RESPONSES),
    row("openai", &["gpt-5-pro", "gpt-5.2-pro", "o1-pro", "o3-pro"], ONLY_IN_RESPONSES),
    row(
        "openai",
        &["gpt-5-codex", "gpt-5.1-codex", "gpt-5.2-codex", "gpt-5.3-codex"],
        ONLY_IN_RESPONSES,
    ),
    row("openai", &["gpt-5", "o1", "o3", "o4"], THINKER),
    row(
        "anthropic",
        &["claude-fable-5-1", "claude-mythos-5-1", "claude-opus-5-5", "claude-sonnet-5-5"],
        Ways { calls_on_demand: false, ..THINKER },
    ),
    row(
        "anthropic",
        &[
            "claude-fable-5",
            "claude-mythos",
            "claude-opus-5",
            "claude-opus-4-7",
            "claude-opus-4-8",
            "claude-sonnet-5",
            "claude-haiku-5",
        ],
        THINKER,
    ),
    row("anthropic", &["claude-opus-4-5"], Ways { thinking: Thinking::WordAlone, ..Ways::USUAL }),
    row("anthropic", &["claude-opus-4-6", "claude-sonnet-4-6"], Ways::USUAL),
    row(
        "anthropic",
        &["claude-3-7", "claude-haiku-4", "claude-opus-4", "claude-sonnet-4"],
        Ways { thinking: Thinking::Tokens, ..Ways::USUAL },
    ),
    row("anthropic", &["claude-3", "claude-2"], PLAIN),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_asked_as_the_first_row_that_fits_says() {
        let told = |provider, model| {
            let Ways { dialect, calls_on_demand, temperature, thinking } =
                Ways::of(provider, model);
            let dialect = dialect.map_or("usual", Dialect::as_str);
            format!("{model}: {dialect} {calls_on_demand} {temperature} {thinking:?}")
        };
        let models = [
            ("openai", "gpt-4.1-mini"),
            ("openai", "gpt-5-mini"),
            ("openai", "gpt-5.1-codex-max"),
            ("openai", "gpt-5.4-mini"),
            ("openai", "gpt-6.1-sol"),
            ("openai", "o3"),
            ("anthropic", "claude-haiku-4-5-20251001"),
            ("anthropic", "claude-opus-4-5"),
            ("anthropic", "claude-opus-4-6"),
            ("anthropic", "claude-opus-5"),
            ("anthropic", "claude-sonnet-5-5"),
            ("llamacpp", "gpt-6"),
        ];
        insta::assert_snapshot!(models.map(|(provider, model)| told(provider, model)).join("\n"), @r"
        gpt-4.1-mini: usual true true Untold
        gpt-5-mini: usual true false Word
        gpt-5.1-codex-max: responses true false Word
        gpt-5.4-mini: responses true false Word
        gpt-6.1-sol: responses true false Word
        o3: usual true false Word
        claude-haiku-4-5-20251001: usual true true Tokens
        claude-opus-4-5: usual true true WordAlone
        claude-opus-4-6: usual true true Word
        claude-opus-5: usual true false Word
        claude-sonnet-5-5: usual false false Word
        gpt-6: usual true true Word
        ");
    }
}
