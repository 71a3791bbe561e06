//! How long a file may be, what it may be called, and what every manifest says.

use super::{Tree, Violation};

/// Lines outside tests past which a file fails.
const MOST_LINES: usize = 800;

/// Files that may be longer, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Beginnings and ends of file names that tell when a file was written, not what it holds.
const PHASES: &[(&str, &str)] =
    &[("new_", ""), ("old_", ""), ("", "_new"), ("", "_old"), ("", "_v2"), ("phase", "")];

/// Checks lengths, names and manifests.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.sources() {
        let path = file.path.as_str();
        if let Some(line) = file.broken {
            violations.push(Violation::new(path, line, "layout", "this is not Rust"));
        }
        let lines = file.lines_outside_tests();
        let listed = LONG_FILES.iter().any(|(known, _)| *known == path);
        if lines > MOST_LINES && !listed {
            let text = format!("{lines} lines outside tests, {MOST_LINES} are allowed");
            violations.push(Violation::new(path, MOST_LINES + 1, "layout", text));
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        if name == "mod.rs" {
            let text = "a module is named like its folder and lies beside it";
            violations.push(Violation::new(path, 1, "layout", text));
        }
        let stem = name.trim_end_matches(".rs");
        for (start, end) in PHASES {
            if stem.starts_with(start) && stem.ends_with(end) {
                let text = "a file is named for what it holds, not for when it was written";
                violations.push(Violation::new(path, 1, "layout", text));
            }
        }
    }
    for (path, _) in LONG_FILES {
        if tree.source(path).is_none_or(|file| file.lines_outside_tests() <= MOST_LINES) {
            let text = "listed as a long file, and is none";
            violations.push(Violation::new(path, 1, "layout", text));
        }
    }
    for file in tree.others() {
        let in_workspace = file.path.starts_with("crates/") || file.path.starts_with("xtask/");
        if in_workspace
            && file.path.ends_with("/Cargo.toml")
            && !file.text.contains("[lints]\nworkspace = true")
        {
            let text = "the manifest does not take the lints of the workspace";
            violations.push(Violation::new(&file.path, 1, "layout", text));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_file_is_caught_and_its_tests_are_not_counted() {
        let long = "fn a() {}\n".repeat(801);
        assert_eq!(
            texts(&[("crates/x/src/a.rs", &long)]),
            ["crates/x/src/a.rs:801: layout: 801 lines outside tests, 800 are allowed"]
        );
        let tested = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
        assert!(texts(&[("crates/x/src/a.rs", &tested)]).is_empty());
        assert!(texts(&[("crates/x/tests/it/a.rs", &long)]).is_empty());
    }

    #[test]
    fn names_that_tell_nothing_are_caught() {
        for path in ["crates/x/src/a/mod.rs", "crates/x/src/new_edit.rs", "crates/x/src/edit_v2.rs"]
        {
            assert_eq!(texts(&[(path, "")]).len(), 1, "{path}");
        }
        assert!(texts(&[("crates/x/src/newline.rs", "")]).is_empty());
    }

    #[test]
    fn a_manifest_without_the_lints_is_caught() {
        let manifest = "[package]\nname = \"x\"\n";
        assert_eq!(texts(&[("crates/x/Cargo.toml", manifest)]).len(), 1);
    }

    #[test]
    fn a_file_that_does_not_lex_is_caught() {
        assert_eq!(
            texts(&[("crates/x/src/a.rs", "fn a() {")]),
            ["crates/x/src/a.rs:1: layout: this is not Rust"]
        );
    }
}
