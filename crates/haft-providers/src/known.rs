//! What is known of models before they are asked, as data.

use haft_model::Price;
use haft_protocol::ModelId;

/// What is known of a model. What nobody knows is `None`, and unknown is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Known {
    /// Tokens that prompt and reply may have together.
    pub window_tokens: Option<u64>,
    /// Tokens that a reply may have.
    pub output_tokens: Option<u64>,
    /// Whether it sees images.
    pub sees_images: Option<bool>,
    /// What it costs.
    pub price: Option<Price>,
}

/// A row of the table: a model by its provider and the beginning of its name, up to a date.
struct Row {
    provider: &'static str,
    name: &'static str,
    window_tokens: u64,
    output_tokens: u64,
    /// What it costs; nothing where that depends on more than the number of tokens.
    price: Option<Price>,
}

impl Known {
    /// Returns what the table says of a model; nothing where it has no row.
    pub fn of(id: &ModelId) -> Self {
        let row =
            TABLE.iter().find(|row| row.provider == id.provider() && is_of(row.name, id.name()));
        row.map_or_else(Self::default, |row| Self {
            window_tokens: Some(row.window_tokens),
            output_tokens: Some(row.output_tokens),
            sees_images: Some(true),
            price: row.price,
        })
    }

    /// Returns this where something is known, else what another says.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            window_tokens: self.window_tokens.or(other.window_tokens),
            output_tokens: self.output_tokens.or(other.output_tokens),
            sees_images: self.sees_images.or(other.sees_images),
            price: self.price.or(other.price),
        }
    }
}

/// Tells whether a name is the one of a row, perhaps with a date behind it.
fn is_of(row: &str, name: &str) -> bool {
    let date = name.strip_prefix(row);
    date.is_some_and(|date| {
        date.is_empty()
            || date.strip_prefix('-').is_some_and(|date| {
                date.len() >= 8 && date.bytes().all(|it| it.is_ascii_digit() || it == b'-')
            })
    })
}

/// Last compared on 2026-11-30: the rows of Anthropic and of Google to their own pages of these models, those of OpenAI to
/// pages of others that serve them. Where a price depends on the length of the prompt, as with OpenAI's and Google's, there is
/// none.
const TABLE: &[Row] = &[
    anthropic("claude-fable-5-1", 1_000_000, 128_000, price(10, 50)),
    anthropic("claude-opus-5-5", 1_000_000, 128_000, from_cache(200_000, price(4, 20))),
    anthropic("claude-opus-5", 1_000_000, 128_000, price(5, 25)),
    anthropic("claude-sonnet-5-5", 1_000_000, 128_000, price(2, 10)),
    anthropic("claude-sonnet-5", 1_000_000, 128_000, price(2, 10)),
    anthropic("claude-sonnet-4-5", 200_000, 64_000, price(3, 15)),
    anthropic("claude-haiku-4-5", 200_000, 64_000, price(1, 5)),
    unpriced("openai", "gpt-6-astra", 1_050_000, 128_000),
    unpriced("openai", "gpt-6.1-sol", 1_050_000, 128_000),
    unpriced("openai", "gpt-5.4", 1_050_000, 128_000),
    // Of one window for prompt and reply, so much of a reply comes without asking for more.
    unpriced("gemini", "gemini-4-argon", GEMINI, 65_536),
    // The window of these is that of the prompt alone.
    unpriced("gemini", "gemini-3.8-flash", GEMINI, 65_536),
    unpriced("gemini", "gemini-3.5-flash", GEMINI, 65_536),
    unpriced("gemini", "gemini-3-flash-preview", GEMINI, 65_536),
    unpriced("gemini", "gemini-2.5-pro", GEMINI, 65_535),
    unpriced("gemini", "gemini-2.5-flash", GEMINI, 65_535),
    unpriced("gemini", "gemini-2.5-flash-lite", GEMINI, 65_536),
];

/// Tokens of the window of Google's models.
const GEMINI: u64 = 1_048_576;

const fn anthropic(
    name: &'static str,
    window_tokens: u64,
    output_tokens: u64,
    price: Price,
) -> Row {
    Row { provider: "anthropic", name, window_tokens, output_tokens, price: Some(price) }
}

const fn unpriced(
    provider: &'static str,
    name: &'static str,
    window_tokens: u64,
    output_tokens: u64,
) -> Row {
    Row { provider, name, window_tokens, output_tokens, price: None }
}

/// Makes a price of US dollars for a million tokens of the prompt and of the reply.
///
/// Anthropic takes a quarter more for what goes into its cache, for five minutes, and a tenth for what comes from it.
const fn price(input: u64, output: u64) -> Price {
    Price {
        input: input * 1_000_000,
        cache_read: input * 100_000,
        cache_write: input * 1_250_000,
        output: output * 1_000_000,
    }
}

/// Sets another price for what comes from the cache.
const fn from_cache(cache_read: u64, price: Price) -> Price {
    Price { cache_read, ..price }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(id: &str) -> Known {
        Known::of(&id.parse().unwrap())
    }

    #[test]
    fn a_model_is_known_by_its_name_with_or_without_a_date() {
        let haiku = known("anthropic/claude-haiku-4-5-20251001");
        assert_eq!(haiku, known("anthropic/claude-haiku-4-5"));
        assert_eq!((haiku.window_tokens, haiku.output_tokens), (Some(200_000), Some(64_000)));
        let price = haiku.price.unwrap();
        assert_eq!(
            (price.input, price.cache_read, price.cache_write, price.output),
            (1_000_000, 100_000, 1_250_000, 5_000_000)
        );
        assert_eq!(known("openai/gpt-5.4").price, None);
        let opus = known("anthropic/claude-opus-5-5").price.unwrap();
        assert_eq!((opus.cache_read, opus.cache_write), (200_000, 5_000_000));
        assert_eq!(known("gemini/gemini-2.5-pro").window_tokens, Some(1_048_576));
    }

    #[test]
    fn what_only_begins_alike_is_another_model() {
        for id in [
            "anthropic/claude-sonnet-5-6",
            "anthropic/claude-haiku-4-5-x",
            "openai/gpt-5.4-mini",
            "openrouter/gpt-5.4",
        ] {
            assert_eq!(known(id), Known::default(), "{id}");
        }
    }

    #[test]
    fn what_somebody_says_counts_before_the_table() {
        let said = Known { window_tokens: Some(1000), ..Known::default() };
        let both = said.or(known("openai/gpt-5.4"));
        assert_eq!((both.window_tokens, both.output_tokens), (Some(1000), Some(128_000)));
    }
}
