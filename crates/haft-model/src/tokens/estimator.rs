//! An estimate that needs no vocabulary.

use haft_protocol::ImageType;

use super::TokenCounter;
use super::characters::{self, Class, Frequent};
use crate::Dialect;

/// Counts tokens by classes of characters, without any tokenizer, and rather too many than too few.
///
/// Words of languages are cheap by how letters follow each other in them; letters that follow each other as chance has it,
/// as in keys and base64, cost as much as tokenizers make of them. Its figures were fitted so that no text of a varied set
/// is counted below any of four public tokenizers; on source text it counts some 50 % more than they do.
///
/// ```
/// use haft_model::{Estimator, TokenCounter};
///
/// let estimator = Estimator::default();
/// assert_eq!(estimator.text("Read the file."), 5);
/// assert!(estimator.text("xq7ZkPw0vR") > 6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimator {
    /// Hundredths of a token for a digit behind a digit.
    digit: u64,
    /// Percent that everything is counted at.
    percent: u64,
    /// Tokens for an image of any size.
    image: u64,
    before_tools: u64,
}

impl Estimator {
    /// Makes the estimator for what is spoken to in a dialect. Where any model may be behind it, it takes the worst.
    pub const fn of(dialect: Dialect) -> Self {
        match dialect {
            // Many open models have a token for each digit.
            Dialect::ChatCompletions => {
                Self { digit: 100, percent: 100, image: 4_000, before_tools: 250 }
            }
            Dialect::Responses => Self { digit: 55, percent: 100, image: 4_000, before_tools: 100 },
            // Newer tokenizers of Anthropic's make up to a third more of a text than the one that was published.
            Dialect::Messages => Self { digit: 55, percent: 125, image: 5_000, before_tools: 800 },
            Dialect::Gemini => Self { digit: 100, percent: 100, image: 2_600, before_tools: 100 },
        }
    }
}

impl Default for Estimator {
    /// Makes the estimator for a model that nothing is known of.
    fn default() -> Self {
        Self::of(Dialect::ChatCompletions)
    }
}

impl TokenCounter for Estimator {
    fn text(&self, text: &str) -> u64 {
        let mut tally = Tally::default();
        for character in text.chars() {
            tally.add(character, self.digit);
        }
        u64::saturating_mul(tally.total(), self.percent).div_ceil(10_000)
    }

    fn image(&self, _: ImageType, _: &[u8]) -> u64 {
        self.image
    }

    fn before_tools(&self) -> u64 {
        self.before_tools
    }
}

/// A text as far as it was read. Costs are hundredths of a token.
#[derive(Default)]
struct Tally {
    cost: u64,
    before: Option<(char, Class)>,
    /// How often the last character came in a row.
    run: u32,
    /// How many letters the word has that is being read.
    word: u32,
    han: Frequent,
    hangul: Frequent,
}

impl Tally {
    fn add(&mut self, character: char, digit: u64) {
        let class = Class::of(character);
        let before = self.before.replace((character, class));
        self.run = match before {
            Some((same, _)) if same == character => self.run.saturating_add(1),
            _ => 1,
        };
        self.cost = self.cost.saturating_add(match class {
            Class::Lower | Class::Upper => self.letter(character, class, before),
            Class::Digit => match before {
                Some((_, Class::Digit)) => digit,
                Some((' ', _)) => 160,
                _ => 100,
            },
            Class::Space => match before {
                Some((_, Class::Space)) if self.run == 1 => 100,
                _ if self.run > 1 => {
                    if character == ' ' {
                        7
                    } else {
                        13
                    }
                }
                // A blank becomes a part of the word behind it.
                _ if character == ' ' => 6,
                _ => 100,
            },
            Class::Mark => match before {
                _ if self.run > 2 => 9,
                Some((other, Class::Mark)) => characters::mark_after(other, character),
                _ => 100,
            },
            Class::Other(cost) => self.other(character, cost),
        });
    }

    fn letter(&mut self, letter: char, class: Class, before: Option<(char, Class)>) -> u64 {
        let (last, is_upper) = match (before, class) {
            (Some((last, Class::Lower)), Class::Lower) => (last, false),
            (Some((last, Class::Upper)), class) => (last, class == Class::Upper),
            // A word begins, or the next of several that are written as one.
            _ => {
                self.word = 1;
                return 100;
            }
        };
        self.word = self.word.saturating_add(1);
        match characters::follows_often(last, letter) {
            _ if self.run > 2 => 20,
            true if is_upper => 42,
            false if is_upper => 85,
            true if self.word > 11 => 45,
            true => 9,
            false => 100,
        }
    }

    fn other(&mut self, character: char, cost: u64) -> u64 {
        match character {
            '\u{3040}'..='\u{30ff}' => self.han.add_frequent(),
            '\u{4e00}'..='\u{9fff}' => self.han.add(characters::is_frequent_han(character)),
            '\u{ac00}'..='\u{d7a3}' => self.hangul.add(characters::is_frequent_hangul(character)),
            _ => {}
        }
        cost
    }

    fn total(&self) -> u64 {
        let rare = self.han.rare(12).saturating_mul(110);
        let rare = rare.saturating_add(self.hangul.rare(10).saturating_mul(120));
        self.cost.saturating_add(rare)
    }
}
