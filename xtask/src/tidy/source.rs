//! A Rust file as a flat list of tokens, so that rules see neither comments nor strings.

use std::ops::{Range, RangeInclusive};
use std::str::FromStr as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A Rust file of the repository.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
    tokens: Vec<Token>,
    literals: Vec<Range<usize>>,
    test_items: Vec<RangeInclusive<usize>>,
    /// The line at which the file stops being Rust, if it does.
    pub(crate) broken: Option<usize>,
}

/// An identifier, a literal or one punctuation character, and the line it stands on.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl SourceFile {
    pub(crate) fn new(path: String, text: String) -> Self {
        let mut tokens = Vec::new();
        let mut literals = Vec::new();
        let broken = match TokenStream::from_str(&text) {
            Ok(stream) => {
                flatten(stream, &mut tokens, &mut literals);
                None
            }
            Err(error) => Some(error.span().start().line),
        };
        // A documentation comment is a literal too, but is not written as one.
        literals.retain(|range| text.get(range.clone()).is_some_and(|it| !it.starts_with('/')));
        let test_items = test_items(&tokens);
        Self { path, text, tokens, literals, test_items, broken }
    }

    /// Returns the lines on which a sequence of tokens begins: `std::fs`, `.dispatch(`.
    pub(crate) fn lines_with(&self, pattern: &str) -> Vec<usize> {
        let wanted = words_of(pattern);
        self.tokens
            .windows(wanted.len().max(1))
            .filter(|found| found.iter().map(|token| &token.text).eq(&wanted))
            .filter_map(|found| found.first().map(|token| token.line))
            .collect()
    }

    /// Returns the lines on which `prefix::{…}` imports `name` straight from the group.
    pub(crate) fn lines_importing(&self, prefix: &str, name: &str) -> Vec<usize> {
        let opening = words_of(&format!("{prefix}::{{"));
        let mut lines = Vec::new();
        for start in 0..self.tokens.len() {
            let rest = self.tokens.get(start..).unwrap_or_default();
            let texts = rest.iter().map(|token| &token.text);
            if !texts.take(opening.len()).eq(&opening) {
                continue;
            }
            let mut depth = 1_usize;
            let mut before = "{";
            for token in rest.iter().skip(opening.len()) {
                match token.text.as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    // Only the head of a path in the group: `fs` in `{fs, io}` and `{fs::File}`.
                    text if depth == 1 && text == name && matches!(before, "{" | ",") => {
                        lines.push(token.line);
                    }
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                before = &token.text;
            }
        }
        lines
    }

    /// Returns the names that follow a keyword, with their lines: every `fn` or `mod`.
    pub(crate) fn names_after(&self, keyword: &str) -> impl Iterator<Item = (&str, usize)> {
        self.tokens.windows(2).filter_map(move |pair| match pair {
            [first, second] if first.text == keyword => Some((second.text.as_str(), second.line)),
            _ => None,
        })
    }

    /// Tells whether a byte of the text belongs to a string or another literal.
    pub(crate) fn is_literal(&self, offset: usize) -> bool {
        self.literals.iter().any(|range| range.contains(&offset))
    }

    /// Tells whether a line belongs to tests: the file is one, or the line stands under `#[cfg(test)]`.
    pub(crate) fn is_test(&self, line: usize) -> bool {
        self.is_test_file() || self.test_items.iter().any(|lines| lines.contains(&line))
    }

    /// Tells whether the whole file belongs to tests, benchmarks or examples.
    pub(crate) fn is_test_file(&self) -> bool {
        let mut folders = self.path.split('/');
        let file = folders.next_back();
        file == Some("tests.rs")
            || folders.any(|folder| matches!(folder, "tests" | "benches" | "examples"))
    }

    /// Counts the lines outside tests.
    pub(crate) fn lines_outside_tests(&self) -> usize {
        (1..=self.text.lines().count()).filter(|line| !self.is_test(*line)).count()
    }
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>, literals: &mut Vec<Range<usize>>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                into.push(Token { text: open.to_owned(), line });
                flatten(group.stream(), into, literals);
                let line = group.span_close().start().line;
                into.push(Token { text: close.to_owned(), line });
            }
            other => {
                if let TokenTree::Literal(literal) = &other {
                    literals.push(literal.span().byte_range());
                }
                into.push(Token { text: other.to_string(), line });
            }
        }
    }
}

/// Cuts a pattern the way the lexer cuts a file: identifiers whole, punctuation by character.
fn words_of(pattern: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut joins = false;
    for character in pattern.chars().filter(|character| !character.is_whitespace()) {
        let part_of_name = character.is_alphanumeric() || character == '_';
        match words.last_mut() {
            Some(word) if joins && part_of_name => word.push(character),
            _ => words.push(character.to_string()),
        }
        joins = part_of_name;
    }
    words
}

/// Finds what stands under `#[cfg(test)]`, from the attribute to the end of its item.
fn test_items(tokens: &[Token]) -> Vec<RangeInclusive<usize>> {
    let attribute = words_of("#[cfg(test)]");
    let mut found = Vec::new();
    for (start, window) in tokens.windows(attribute.len()).enumerate() {
        if !window.iter().map(|token| &token.text).eq(&attribute) {
            continue;
        }
        let first = window.first().map_or(0, |token| token.line);
        let mut depth = 0_usize;
        for token in tokens.iter().skip(start + attribute.len()) {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => break,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            // `mod name;` ends at once, `mod name { … }` and `fn name() { … }` at the brace.
            if depth == 0 && matches!(token.text.as_str(), ";" | "}") {
                found.push(first..=token.line);
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile::new("crates/x/src/lib.rs".to_owned(), text.to_owned())
    }

    #[test]
    fn comments_and_strings_hold_no_tokens() {
        let text = "// std::fs\n/// std::fs\nconst A: &str = \"std::fs\";\nuse std::fs;\n";
        assert_eq!(file(text).lines_with("std::fs"), [4]);
    }

    #[test]
    fn literals_are_told_from_comments() {
        let text = "// é\n/// one\nconst A: &str = \"two\";\n";
        let source = file(text);
        assert!(!source.is_literal(text.find("one").unwrap()));
        assert!(source.is_literal(text.find("two").unwrap()));
    }

    #[test]
    fn calls_are_found_across_lines() {
        assert_eq!(file("fn f() {\n  x\n    .dispatch\n    (a);\n}").lines_with(".dispatch("), [3]);
    }

    #[test]
    fn grouped_imports_are_seen_at_the_head_of_a_path_only() {
        let grouped = file("use std::{\n    io,\n    fs::File,\n};");
        assert_eq!(grouped.lines_importing("std", "fs"), [3]);
        assert!(file("use std::{io::fs, path};").lines_importing("std", "fs").is_empty());
    }

    #[test]
    fn test_items_do_not_count_as_lines() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() { if true {} }\n}\n";
        assert_eq!(file(text).lines_outside_tests(), 2);
        assert!(file(text).is_test(5));
        assert!(!file(text).is_test(1));
    }

    #[test]
    fn further_attributes_and_other_items_belong_to_the_tests() {
        let module = "#[cfg(test)]\n#[expect(x, reason = \"y\")]\nmod tests {\n}\nfn a() {}\n";
        assert_eq!(file(module).lines_outside_tests(), 1);
        let method = "impl A {\n  #[cfg(test)]\n  fn of(a: [u8; 2]) {\n  }\n}\n";
        assert_eq!(file(method).lines_outside_tests(), 2);
    }

    #[test]
    fn a_test_module_in_its_own_file_ends_at_the_semicolon() {
        let text = "#[cfg(test)]\nmod tests;\nfn a() {}\n";
        assert_eq!(file(text).lines_outside_tests(), 1);
    }

    #[test]
    fn a_file_that_does_not_lex_says_where() {
        assert_eq!(file("fn a() {\n  )\n").broken, Some(2));
    }
}
