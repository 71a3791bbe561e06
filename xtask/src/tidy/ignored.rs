//! A test that is left out says why.

use super::{Tree, Violation};

/// Attributes that leave a test out without a word; the second hides in a `cfg_attr`.
const SILENT: &[&str] = &["#[ignore]", ",ignore)]"];

/// Finds ignored tests without a reason.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.sources() {
        for line in SILENT.iter().flat_map(|attribute| file.lines_with(attribute)) {
            let text = "a test that is left out names the reason: `ignore = \"…\"`";
            violations.push(Violation::new(&file.path, line, "ignored", text));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Tree::of(&[("crates/x/tests/it/a.rs", text)])).len()
    }

    #[test]
    fn a_test_left_out_without_a_reason_is_caught() {
        assert_eq!(found("#[test]\n#[ignore]\nfn a() {}"), 1);
        assert_eq!(found("#[test]\n#[cfg_attr(windows, ignore)]\nfn a() {}"), 1);
    }

    #[test]
    fn a_reason_is_enough() {
        assert_eq!(found("#[test]\n#[ignore = \"needs a second disk\"]\nfn a() {}"), 0);
    }
}
