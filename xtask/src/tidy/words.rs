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
            if let Some(tracker) = TRACKERS.iter().find(|tracker| is_numbered(&lower, tracker)) {
                let text =
                    format!("`{tracker}…`: say what is meant, not where it was talked about");
                violations.push(Violation::new(path, index + 1, "words", text));
            }
        }
    }
    violations
}

/// Tells whether a line holds a tracker's word with a number behind it.
fn is_numbered(line: &str, tracker: &str) -> bool {
    line.match_indices(tracker).any(|(start, _)| {
        let after = line.get(start + tracker.len()..).unwrap_or_default();
        !ends_in_name(line.get(..start)) && after.starts_with(|digit: char| digit.is_ascii_digit())
    })
}

/// Tells whether a line holds a word that is not the middle of a longer one.
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        // `/folder/` is looked for at the start of a path only.
        let bounded_before = word.starts_with('/') || begins_with_name(Some(word));
        let bounded_after = ends_in_name(Some(word));
        !(bounded_before && ends_in_name(line.get(..start))
            || bounded_after && begins_with_name(line.get(start + word.len()..)))
    })
}

fn begins_with_name(text: Option<&str>) -> bool {
    text.and_then(|text| text.chars().next()).is_some_and(is_part_of_name)
}

fn ends_in_name(text: Option<&str>) -> bool {
    text.and_then(|text| text.chars().next_back()).is_some_and(is_part_of_name)
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
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
    fn a_word_that_ends_like_a_tracker_is_none() {
        assert!(texts("docs/a.md", "the expr #1 of the list").is_empty());
    }

    #[test]
    fn lock_files_are_written_by_tools() {
        assert!(texts("Cargo.lock", concat!("from index.crates", ".io")).is_empty());
    }
}
