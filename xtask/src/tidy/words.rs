//! Words that do not belong into the repository, in any of its text files.

use super::tree::extension;
use super::{Tree, Violation};

/// A word and what to do instead. The words are put together from halves so that this file
/// does not hold them.
const WORDS: &[(&str, &str)] = &[
    (concat!("TO", "DO"), MARKER),
    (concat!("FIX", "ME"), MARKER),
    (concat!("XX", "X"), MARKER),
    (concat!("HA", "CK"), MARKER),
    (concat!("to", "do!("), MARKER),
    (concat!("unimplemen", "ted!("), MARKER),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("crates", ".io"), HOST),
    (concat!("pypi", ".org"), HOST),
    (concat!("pythonhosted", ".org"), HOST),
    (concat!("npmjs", ".org"), HOST),
    (concat!("npmjs", ".com"), HOST),
    (concat!("debian", ".org"), HOST),
];

const MARKER: &str = "do it, or leave it out";
const HOST: &str = "packages are named, their hosts are not";

/// Words before a number that point into a tracker which a reader may not have.
const TRACKERS: &[&str] = &["issue #", "issues #", "ticket #", "pull request #", "pr #"];

/// Finds the words.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| extension(path) != Some("lock")) {
        for (index, line) in text.lines().enumerate() {
            for (word, instead) in WORDS {
                if holds(line, word) {
                    let text = format!("`{word}`: {instead}");
                    violations.push(Violation::new(path, index + 1, "words", text));
                }
            }
            let lower = line.to_lowercase();
            let numbered = |tracker: &&&str| {
                let mut after = lower.split(**tracker).skip(1);
                after.any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
            };
            if let Some(tracker) = TRACKERS.iter().find(numbered) {
                let text =
                    format!("`{tracker}…`: say what is meant, not where it was talked about");
                violations.push(Violation::new(path, index + 1, "words", text));
            }
        }
    }
    violations
}

/// Tells whether a line holds a word that is not the middle of a longer one.
fn holds(line: &str, word: &str) -> bool {
    let joins = |character: Option<char>| {
        character.is_some_and(|character| character.is_alphanumeric() || character == '_')
    };
    line.match_indices(word).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        let after = line.get(start + word.len()..).and_then(|text| text.chars().next());
        // `/folder/` is looked for at the start of a path only.
        let starts_with_name = word.starts_with('/') || joins(word.chars().next());
        let ends_with_name = joins(word.chars().next_back());
        !(starts_with_name && joins(before) || ends_with_name && joins(after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_word_is_caught_in_code_and_in_prose() {
        for (word, _) in WORDS {
            assert_eq!(texts("docs/a.md", &format!("a {word} b")).len(), 1, "{word}");
            assert_eq!(texts("crates/x/src/a.rs", &format!("// {word} b")).len(), 1, "{word}");
        }
    }

    #[test]
    fn a_longer_word_is_another_word() {
        let longer = format!("{}S and _{}", concat!("TO", "DO"), concat!("FIX", "ME"));
        assert!(texts("docs/a.md", &longer).is_empty());
    }

    #[test]
    fn a_path_of_one_machine_is_absolute() {
        assert!(texts("docs/a.md", &format!("my{}x", concat!("/wo", "rk/"))).is_empty());
    }

    #[test]
    fn a_number_in_a_tracker_is_caught() {
        let text = format!("first\nsee {}12", "Issue #");
        assert_eq!(
            texts("docs/a.md", &text),
            ["docs/a.md:2: words: `issue #…`: say what is meant, not where it was talked about"]
        );
    }

    #[test]
    fn lock_files_are_written_by_tools() {
        assert!(texts("Cargo.lock", concat!("from index.crates", ".io")).is_empty());
    }
}
