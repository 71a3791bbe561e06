//! The pattern language that tool and path patterns share.
//!
//! | written | means |
//! |---|---|
//! | `*` | any characters within one part, also none |
//! | `?` | one character within one part |
//! | `[abc]`, `[a-z]`, `[!a]` | one character that is, or is not, of the class |
//! | `{a,b}` | either; may nest and may span parts |
//! | `\*` | the character itself |
//!
//! The usual glob crates answer "does this path match". A policy also has to know whether a pattern covers a whole tree
//! and whether it could match anything beneath a directory, so patterns are kept as parts that can be walked.

use std::iter::Peekable;
use std::str::Chars;

use haft_protocol::limits::{RULE_PATTERN_ALTERNATIVES, RULE_PATTERN_BYTES, RULE_PATTERN_TOKENS};

use crate::PatternProblem;

/// Levels of braces in braces.
const BRACE_DEPTH: usize = 8;

/// One piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// The character itself, written plainly or escaped.
    Char(char),
    /// `/`, which neither stars nor classes match.
    Slash,
    /// `?`
    Any,
    /// `*`
    Star,
    /// `[…]`
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn admits(&self, character: char) -> bool {
        match self {
            Self::Char(expected) => *expected == character,
            Self::Any => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&character)) != *negated
            }
            Self::Slash | Self::Star => false,
        }
    }

    /// Returns what the token takes up, in tokens: a class as much as its ranges.
    fn weight(&self) -> usize {
        match self {
            Self::Class { ranges, .. } => 1 + ranges.len(),
            Self::Char(_) | Self::Slash | Self::Any | Self::Star => 1,
        }
    }
}

/// Returns what sequences take up, in tokens.
pub(crate) fn weight(sequences: &[Vec<Token>]) -> usize {
    sequences.iter().flatten().map(Token::weight).sum()
}

/// Refuses what would take up too much, before it does: a short pattern with braces says long ones many times over.
fn check_weight(tokens: usize) -> Result<(), PatternProblem> {
    if tokens > RULE_PATTERN_TOKENS {
        return Err(PatternProblem::TooManyTokens { limit: RULE_PATTERN_TOKENS });
    }
    Ok(())
}

/// Reads a pattern and multiplies its braces out: what matches any of the results matches the pattern.
pub(crate) fn alternatives(pattern: &str) -> Result<Vec<Vec<Token>>, PatternProblem> {
    if pattern.is_empty() {
        return Err(PatternProblem::Empty);
    }
    if pattern.len() > RULE_PATTERN_BYTES {
        return Err(PatternProblem::TooLong { bytes: pattern.len(), limit: RULE_PATTERN_BYTES });
    }
    Reader { rest: pattern.chars().peekable() }.sequence(0)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    /// Reads up to the end of the pattern, or of the alternative when `depth` is not 0.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Vec<Token>>, PatternProblem> {
        let mut sequences = vec![Vec::new()];
        let mut tokens = 0;
        while let Some(character) = self.rest.peek().copied() {
            if depth > 0 && matches!(character, ',' | '}') {
                return Ok(sequences);
            }
            self.rest.next();
            let token = match character {
                '{' => {
                    sequences = product(&sequences, &self.braces(depth + 1)?)?;
                    tokens = weight(&sequences);
                    continue;
                }
                '}' => return Err(PatternProblem::Unopened),
                '*' => Token::Star,
                '?' => Token::Any,
                '/' => Token::Slash,
                '[' => self.class()?,
                '\\' => match self.rest.next() {
                    Some(escaped) if escaped != '/' => Token::Char(escaped),
                    _ => return Err(PatternProblem::DanglingEscape),
                },
                plain => Token::Char(plain),
            };
            tokens += token.weight() * sequences.len();
            check_weight(tokens)?;
            for sequence in &mut sequences {
                sequence.push(token.clone());
            }
        }
        Ok(sequences)
    }

    fn braces(&mut self, depth: usize) -> Result<Vec<Vec<Token>>, PatternProblem> {
        if depth > BRACE_DEPTH {
            return Err(PatternProblem::TooManyAlternatives { limit: RULE_PATTERN_ALTERNATIVES });
        }
        let mut choices = Vec::new();
        loop {
            choices.extend(self.sequence(depth)?);
            if choices.len() > RULE_PATTERN_ALTERNATIVES {
                return Err(PatternProblem::TooManyAlternatives {
                    limit: RULE_PATTERN_ALTERNATIVES,
                });
            }
            check_weight(weight(&choices))?;
            match self.rest.next() {
                Some(',') => {}
                Some(_) => return Ok(choices),
                None => return Err(PatternProblem::Unclosed { open: '{' }),
            }
        }
    }

    /// Reads what follows `[`. A `]` in first place is a member.
    fn class(&mut self) -> Result<Token, PatternProblem> {
        let negated = self.rest.next_if(|next| matches!(next, '!' | '^')).is_some();
        let mut ranges = Vec::new();
        loop {
            if !ranges.is_empty() && self.rest.next_if_eq(&']').is_some() {
                return Ok(Token::Class { negated, ranges });
            }
            let from = self.member()?;
            let to = if self.rest.next_if_eq(&'-').is_none() {
                from
            } else if self.rest.peek() == Some(&']') {
                ranges.push(('-', '-'));
                from
            } else {
                self.member()?
            };
            if from > to || from == '/' || to == '/' {
                return Err(PatternProblem::Class);
            }
            ranges.push((from, to));
        }
    }

    fn member(&mut self) -> Result<char, PatternProblem> {
        match self.rest.next() {
            Some('\\') => self.rest.next().ok_or(PatternProblem::DanglingEscape),
            Some(plain) => Ok(plain),
            None => Err(PatternProblem::Unclosed { open: '[' }),
        }
    }
}

fn product(heads: &[Vec<Token>], tails: &[Vec<Token>]) -> Result<Vec<Vec<Token>>, PatternProblem> {
    if heads.len().saturating_mul(tails.len()) > RULE_PATTERN_ALTERNATIVES {
        return Err(PatternProblem::TooManyAlternatives { limit: RULE_PATTERN_ALTERNATIVES });
    }
    check_weight(weight(heads) * tails.len() + weight(tails) * heads.len())?;
    let join = |head: &Vec<Token>, tail: &Vec<Token>| head.iter().chain(tail).cloned().collect();
    Ok(heads.iter().flat_map(|head| tails.iter().map(move |tail| join(head, tail))).collect())
}

/// What one part of a name or path has to look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Exactly this.
    Literal(String),
    /// Something of this form.
    Glob(Vec<Token>),
}

impl Part {
    pub(crate) fn new(tokens: &[Token]) -> Result<Self, PatternProblem> {
        if tokens.windows(2).any(|pair| matches!(pair, [Token::Star, Token::Star])) {
            return Err(PatternProblem::DoubleStar);
        }
        let literal = tokens
            .iter()
            .map(|token| match token {
                Token::Char(character) => Some(*character),
                Token::Slash | Token::Any | Token::Star | Token::Class { .. } => None,
            })
            .collect::<Option<String>>();
        Ok(literal.map_or_else(|| Self::Glob(tokens.to_vec()), Self::Literal))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Literal(literal) => literal == text,
            Self::Glob(tokens) => glob_matches(tokens, text),
        }
    }
}

/// Matches by going back to the last star alone, which is enough: an earlier star could only take what a later one can.
fn glob_matches(mut tokens: &[Token], text: &str) -> bool {
    let mut rest = text.chars();
    let mut retry: Option<(&[Token], Chars<'_>)> = None;
    loop {
        match tokens.split_first() {
            Some((Token::Star, after)) => {
                tokens = after;
                retry = Some((after, rest.clone()));
                continue;
            }
            Some((token, after)) => {
                let mut ahead = rest.clone();
                if ahead.next().is_some_and(|character| token.admits(character)) {
                    tokens = after;
                    rest = ahead;
                    continue;
                }
            }
            None if rest.as_str().is_empty() => return true,
            None => {}
        }
        let Some((after, from)) = &mut retry else { return false };
        if from.next().is_none() {
            return false;
        }
        tokens = after;
        rest = from.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let parts: Vec<Part> = alternatives(pattern)
            .unwrap()
            .iter()
            .map(|tokens| Part::new(tokens).unwrap())
            .collect();
        for text in yes {
            assert!(parts.iter().any(|part| part.matches(text)), "{pattern} on {text}");
        }
        for text in no {
            assert!(!parts.iter().any(|part| part.matches(text)), "{pattern} on {text}");
        }
    }

    #[test]
    fn stars_and_classes_match_whole_characters() {
        check("*", &["", "a", ".hidden", "é"], &[]);
        check("a*b*c", &["abc", "axbxc", "abbcbc"], &["ab", "abcd", "acb"]);
        check("caf?", &["café", "cafe"], &["caf", "caffe"]);
        check("[a-cx]", &["a", "b", "x"], &["d", "-", "ab"]);
        check("[!a-c]", &["d", "é"], &["a", ""]);
        check("[]a]", &["]", "a"], &["b"]);
        check("[a-]", &["a", "-"], &["b"]);
        check("[\\]]", &["]"], &["\\"]);
    }

    #[test]
    fn braces_are_alternatives_and_escapes_are_characters() {
        check("{a,b{c,d}}x", &["ax", "bcx", "bdx"], &["bx", "x"]);
        check("a{,b}", &["a", "ab"], &["b"]);
        check("\\*\\{\\}", &["*{}"], &["x{}"]);
        check("a,b", &["a,b"], &["a"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let problem = |pattern: &str| alternatives(pattern).unwrap_err().to_string();
        insta::assert_snapshot!(problem(""), @"it is empty");
        insta::assert_snapshot!(problem("{a"), @"`{` is never closed");
        insta::assert_snapshot!(problem("{a,"), @"`{` is never closed");
        insta::assert_snapshot!(problem("a}"), @"`}` closes nothing: write `\\}` to mean the character");
        insta::assert_snapshot!(problem("["), @"`[` is never closed");
        insta::assert_snapshot!(problem("[]"), @"`[` is never closed");
        insta::assert_snapshot!(problem("[a-"), @"`[` is never closed");
        insta::assert_snapshot!(problem("[z-a]"), @"the class of characters `[…]` holds a slash or a range that runs backwards");
        insta::assert_snapshot!(problem("[/]"), @"the class of characters `[…]` holds a slash or a range that runs backwards");
        insta::assert_snapshot!(problem("a\\"), @"`\\` stands before nothing it could escape");
        insta::assert_snapshot!(problem(&"{a,b}".repeat(7)), @"its braces give more than 64 alternatives, or nest too deeply");
        let wildcards = "?".repeat(900);
        insta::assert_snapshot!(problem(&format!("{}{wildcards}", "{a,b}".repeat(6))), @"its braces multiply out to more than 4096 characters and wildcards: write fewer alternatives");
        insta::assert_snapshot!(problem(&format!("{wildcards}{}", "{a,b}".repeat(6))), @"its braces multiply out to more than 4096 characters and wildcards: write fewer alternatives");
        insta::assert_snapshot!(problem(&format!("{}[{}]", "{a,b}".repeat(6), "x".repeat(900))), @"its braces multiply out to more than 4096 characters and wildcards: write fewer alternatives");
        insta::assert_snapshot!(problem(&"{".repeat(1_000)), @"its braces give more than 64 alternatives, or nest too deeply");
        insta::assert_snapshot!(problem(&"a".repeat(1_025)), @"it has 1025 bytes, and 1024 is the most");
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let pattern = "*a".repeat(500);
        check(&pattern, &[], &[&"a".repeat(400), &format!("{}b", "a".repeat(2_000))]);
    }
}
