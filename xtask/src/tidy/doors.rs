//! Effects go through the doors: files, processes, sockets and the environment are named only
//! in the crates that own them.
//!
//! Clippy bans the same calls by type; this rule also sees imports, macros and libraries, and
//! keeps the list of who may lift Clippy's ban.

use super::floors;
use super::{SourceFile, Tree, Violation};

/// One kind of effect.
struct Door {
    /// What the effect touches.
    what: &'static str,
    /// Token sequences that reach for it.
    patterns: &'static [&'static str],
    /// Modules of a library, for imports by group: `std::{fs, io}`.
    modules: &'static [(&'static str, &'static str)],
    /// Crates that are the door.
    crates: &'static [&'static str],
    /// Other files that may reach for it, each with the reason.
    files: &'static [(&'static str, &'static str)],
}

const DOORS: &[Door] = &[
    Door {
        what: "files",
        patterns: &[
            "std::fs",
            "tokio::fs",
            "cap_std::",
            "cap_primitives::",
            "rustix::fs",
            "tempfile::",
            "File::open",
            "File::create",
            "OpenOptions::new",
            "WalkBuilder::new",
            ".search_path(",
        ],
        modules: &[("std", "fs"), ("tokio", "fs"), ("rustix", "fs")],
        crates: &["haft-workspace", "haft-store"],
        files: &[
            ("crates/haft-cli/src/files.rs", "a face opens its own configuration"),
            ("crates/haft-cli/src/print.rs", "the standard output it was started with, as a file"),
            ("crates/haft-process/src/allowance.rs", "how much runs already"),
            ("crates/haft-process/src/scratch.rs", "what commands write"),
            ("crates/haft-process/src/scratch/private.rs", "the private home of a command"),
            ("crates/haft-process/src/trials.rs", "the self-test's own files"),
            ("crates/haft-process/src/plain.rs", "whether a working directory is still there"),
            ("crates/haft-process/src/procfs.rs", "what the system tells about processes"),
            (
                "crates/haft-process/src/helper/linux/family.rs",
                "what the system tells about processes",
            ),
            ("crates/haft-process/src/helper/linux/confine.rs", "what rules about files speak of"),
            ("crates/haft-process/src/helper/linux/link.rs", "the empty input of a command"),
            ("crates/haft-process/src/helper/linux/probe.rs", "tries what must not work"),
            (
                "crates/haft-process/src/helper/linux/serve.rs",
                "whether a program is there to be run",
            ),
        ],
    },
    Door {
        what: "processes",
        patterns: &[
            "process::Command",
            "process::Child",
            "process::Stdio",
            "process::exit",
            "process::abort",
            "tokio::process",
            "rustix::process",
            "Command::new",
        ],
        modules: &[("std", "process"), ("tokio", "process"), ("rustix", "process")],
        crates: &["haft-process"],
        files: &[],
    },
    Door {
        what: "sockets",
        patterns: &[
            "std::net",
            "tokio::net",
            "rustix::net",
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "UnixStream",
            "UnixListener",
        ],
        modules: &[("std", "net"), ("tokio", "net"), ("rustix", "net")],
        crates: &["haft-net", "haft-server"],
        files: &[
            ("crates/haft-process/src/linux.rs", "a pair of ends between launcher and helper"),
            ("crates/haft-process/src/helper/linux/link.rs", "the helper's end of that pair"),
            ("crates/haft-process/src/helper/linux/probe.rs", "tries what must not work"),
            ("crates/haft-process/src/trials.rs", "a socket for the self-test to find closed"),
            ("crates/haft-mcp/src/http.rs", "a server listens on a loopback address"),
        ],
    },
    Door {
        what: "the environment",
        patterns: &[
            "env::var",
            "env::var_os",
            "env::vars",
            "env::vars_os",
            "env::args",
            "env::args_os",
            "env::current_dir",
            "env::current_exe",
            "env::home_dir",
            "env::temp_dir",
            "env::set_var",
            "env::remove_var",
            "env::set_current_dir",
        ],
        modules: &[("std", "env")],
        crates: &[],
        files: &[
            (
                "crates/haft-cli/src/environment.rs",
                "a face reads the environment into a value and passes it down",
            ),
            ("crates/haft-process/src/helper.rs", "the helper is asked for by an argument"),
        ],
    },
];

/// Clocks and chance, which floor 0 takes as arguments.
const IMPURE: &[&str] = &[
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "thread::spawn",
    "thread::sleep",
    "getrandom",
];

/// The lints that keep the doors shut, and the roots that may lift them outside tests.
const LINTS: &[&str] = &["disallowed_methods", "disallowed_types"];
const LIFTED: &[(&str, &str)] = &[
    ("crates/haft-cli/src/environment.rs", "a face reads the environment into a value"),
    ("crates/haft-cli/src/files.rs", "a face opens its own configuration"),
    ("crates/haft-mcp/src/http.rs", "a server listens on a loopback address"),
    ("crates/haft-process/src/lib.rs", "the door to processes"),
    ("crates/haft-workspace/src/lib.rs", "the door to user files"),
    ("crates/haft-store/src/lib.rs", "the door to recorded state"),
];

/// Finds effects outside their doors.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.sources().iter().filter(|file| is_product(file)) {
        let path = file.path.as_str();
        for door in DOORS {
            if door.crates.iter().any(|name| belongs(path, name)) || listed(door.files, path) {
                continue;
            }
            for (line, pattern) in reaches(door, file) {
                let text = format!("`{pattern}` reaches for {} past the door", door.what);
                violations.push(Violation::new(path, line, "doors", text));
            }
        }
        if floors::pure_crates().any(|name| belongs(path, name)) {
            for (pattern, line) in hits(IMPURE, file) {
                let text = format!("`{pattern}`: floor 0 is pure, this arrives as an argument");
                violations.push(Violation::new(path, line, "doors", text));
            }
        }
        if !listed(LIFTED, path) {
            for (lint, line) in hits(LINTS, file) {
                let text = format!("`{lint}` is lifted here, and the file is not on the list");
                violations.push(Violation::new(path, line, "doors", text));
            }
        }
    }
    let files = DOORS.iter().flat_map(|door| door.files.iter().map(move |file| (door, file)));
    for (door, (path, _)) in files {
        if tree.source(path).is_none_or(|file| reaches(door, file).is_empty()) {
            let text = format!("listed for {}, and does not reach for it", door.what);
            violations.push(Violation::new(path, 1, "doors", text));
        }
    }
    for (path, _) in LIFTED {
        if tree.source(path).is_none_or(|file| hits(LINTS, file).next().is_none()) {
            let text = "listed for lifting the ban on effects, and does not";
            violations.push(Violation::new(path, 1, "doors", text));
        }
    }
    violations
}

/// Returns where a file reaches for an effect outside its tests.
fn reaches(door: &Door, file: &SourceFile) -> Vec<(usize, String)> {
    let direct = hits(door.patterns, file).map(|(pattern, line)| (line, pattern.to_owned()));
    let grouped = door.modules.iter().flat_map(|(library, module)| {
        let lines = file.lines_importing(library, module).into_iter();
        lines.map(move |line| (line, format!("{library}::{module}")))
    });
    direct.chain(grouped).filter(|(line, _)| !file.is_test(*line)).collect()
}

fn hits<'a>(
    patterns: &'a [&'static str],
    file: &'a SourceFile,
) -> impl Iterator<Item = (&'static str, usize)> + 'a {
    patterns
        .iter()
        .flat_map(|pattern| file.lines_with(pattern).into_iter().map(move |line| (*pattern, line)))
        .filter(|(_, line)| !file.is_test(*line))
}

/// Tells whether a file is part of the product; test kits and chores are free.
fn is_product(file: &SourceFile) -> bool {
    file.path.starts_with("crates/") && !belongs(&file.path, "haft-testkit")
}

fn belongs(path: &str, name: &str) -> bool {
    path.strip_prefix("crates/")
        .and_then(|rest| rest.strip_prefix(name))
        .is_some_and(|rest| rest.starts_with('/'))
}

fn listed(list: &[(&str, &str)], path: &str) -> bool {
    list.iter().any(|(known, _)| *known == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        let found = check(&Tree::of(&[(path, text)]));
        let here = found.iter().filter(|violation| violation.path == path);
        here.map(ToString::to_string).collect()
    }

    const CODING: &str = "crates/haft-coding/src/read.rs";

    #[test]
    fn every_pattern_is_caught_outside_its_door() {
        for door in DOORS {
            for pattern in door.patterns {
                let closing = if pattern.ends_with('(') { "x)" } else { "" };
                let text = format!("fn f() {{ x {pattern}{closing}; }}");
                let found = texts(CODING, &text);
                assert!(!found.is_empty(), "{pattern}");
            }
        }
    }

    #[test]
    fn a_grouped_import_is_caught() {
        assert_eq!(
            texts(CODING, "use std::{fs, io};"),
            ["crates/haft-coding/src/read.rs:1: doors: `std::fs` reaches for files past the door"]
        );
    }

    #[test]
    fn the_door_itself_and_tests_are_free() {
        assert!(texts("crates/haft-workspace/src/open.rs", "use std::fs;").is_empty());
        assert!(texts("crates/haft-coding/tests/it/read.rs", "use std::fs;").is_empty());
        assert!(texts(CODING, "#[cfg(test)]\nmod tests {\n    use std::fs;\n}").is_empty());
        assert!(texts("xtask/src/tidy.rs", "use std::fs;").is_empty());
        assert!(texts("crates/haft-testkit/src/temp.rs", "use std::fs;").is_empty());
    }

    #[test]
    fn a_crate_with_a_longer_name_is_another_crate() {
        assert_eq!(texts("crates/haft-storefront/src/a.rs", "use std::fs;").len(), 1);
    }

    #[test]
    fn a_clock_on_floor_0_is_caught() {
        let text = "fn f() { let now = std::time::Instant::now(); }";
        assert_eq!(texts("crates/haft-text/src/a.rs", text).len(), 1);
        assert!(texts("crates/haft-tool/src/a.rs", text).is_empty());
    }

    #[test]
    fn lifting_the_lint_needs_a_place_on_the_list() {
        let text = "#![expect(clippy::disallowed_methods, reason = \"x\")]";
        assert_eq!(texts("crates/haft-coding/src/lib.rs", text).len(), 1);
        assert!(texts("crates/haft-workspace/src/lib.rs", text).is_empty());
    }
}
