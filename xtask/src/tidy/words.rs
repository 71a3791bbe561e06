//! Words that do not belong into the repository, in any of its text files.

use super::tree::extension;
use super::{Tree, Violation};

/// Marks of unfinished work, in comments and in prose. An example may hold them as data: a
/// string in code, a fenced block in a page. They are put together from halves, like all
/// words here, so that this file does not hold them.
const MARKERS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
    concat!("to", "do!("),
    concat!("unimplemen", "ted!("),
];

/// Words that stand nowhere, and why.
const WORDS: &[(&str, &str)] = &[
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("crates", ".io"), HOST),
    (concat!("pypi", ".org"), HOST),
    (concat!("pythonhosted", ".org"), HOST),
    (concat!("npmjs", ".org"), HOST),
    (concat!("npmjs", ".com"), HOST),
    (concat!("debian", ".org"), HOST),
];

const HOST: &str = "packages are named, their hosts are not";

/// Words before a number that point into a tracker which a reader may not have.
const TRACKERS: &[&str] = &["issue #", "issues #", "ticket #", "pull request #", "pr #"];

/// Finds the words.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| extension(path) != Some("lock")) {
        let source = tree.source(path);
        let is_page = extension(path) == Some("md");
        let mut fenced = false;
        let mut start = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let mut say = |text: String| {
                violations.push(Violation::new(path, index + 1, "words", text));
            };
            fenced ^= is_page && line.trim_start().starts_with("```");
            let is_data = |offset: usize| {
                fenced || source.is_some_and(|source| source.is_literal(start + offset))
            };
            for marker in MARKERS {
                if places(line, marker).any(|offset| !is_data(offset)) {
                    say(format!("`{marker}`: do it, or leave it out"));
                }
            }
            for (word, instead) in WORDS {
                if places(line, word).next().is_some() {
                    say(format!("`{word}`: {instead}"));
                }
            }
            let lower = line.to_lowercase();
            if let Some(tracker) = TRACKERS.iter().find(|tracker| is_numbered(&lower, tracker)) {
                say(format!("`{tracker}…`: say what is meant, not where it was talked about"));
            }
            start += line.len();
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

/// Returns where a line holds a word that is not the middle of a longer one.
fn places<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    // `/folder/` is looked for at the start of a path only.
    let bounded_before = word.starts_with('/') || begins_with_name(Some(word));
    let bounded_after = ends_in_name(Some(word));
    line.match_indices(word).map(|(start, _)| start).filter(move |start| {
        let before = line.get(..*start);
        let after = line.get(start + word.len()..);
        !(bounded_before && ends_in_name(before) || bounded_after && begins_with_name(after))
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
        for word in WORDS.iter().map(|(word, _)| word).chain(MARKERS) {
            assert_eq!(texts("docs/a.md", &format!("a {word} b")).len(), 1, "{word}");
            assert_eq!(texts("crates/x/src/a.rs", &format!("// {word} b")).len(), 1, "{word}");
            assert_eq!(texts("crates/x/src/a.rs", &format!("/// {word} b\nfn a() {{}}")).len(), 1);
        }
    }

    #[test]
    fn a_marker_may_be_data() {
        let marker = concat!("TO", "DO");
        let code = format!("fn a() {{ grep(\"// {marker}: later\"); }}");
        assert!(texts("crates/x/src/a.rs", &code).is_empty());
        assert!(texts("specs/a.md", &format!("x\n```text\n{marker}\n```\n")).is_empty());
        assert_eq!(texts("specs/a.md", &format!("```text\n```\n{marker}\n")).len(), 1);
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
