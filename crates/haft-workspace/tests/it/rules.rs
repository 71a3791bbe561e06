//! Ignore rules.

use std::fs;

use haft_workspace::{Globs, ListOptions, WalkOptions};

use crate::rig::{Rig, contents};

fn all() -> WalkOptions {
    WalkOptions::default()
}

fn only(pattern: &str) -> WalkOptions {
    WalkOptions { only: Some(Globs::new(&[pattern]).unwrap()), ..all() }
}

fn project() -> Rig {
    let rig = Rig::new();
    rig.file(".gitignore", "dist/\n.env\n*.log\n");
    for path in [".env", "app.log", "dist/a.js", "dist/b.log", ".github/w.yml", "src/a.rs"] {
        rig.file(path, "marker");
    }
    rig
}

#[test]
fn what_is_ignored_is_counted_and_what_is_hidden_is_found() {
    let rig = project();
    let (texts, report) = contents(&rig.view(), &rig.existing(".").unwrap(), &all());
    assert_eq!(
        texts,
        [".github/w.yml: marker", ".gitignore: dist/\n.env\n*.log\n", "src/a.rs: marker"]
    );
    assert_eq!(report.skipped.ignored_files, 1);
    assert_eq!(report.skipped.ignored_directories, 1);
    assert_eq!(report.skipped.hidden.protected, 1);

    let options = WalkOptions { include_ignored: true, ..all() };
    let (met, report) = rig.walk(".", &options);
    assert_eq!(
        met,
        [
            ".github/",
            ".github/w.yml",
            ".gitignore",
            "app.log",
            "dist/",
            "dist/a.js",
            "dist/b.log",
            "src/",
            "src/a.rs",
        ]
    );
    assert_eq!(report.skipped.ignored_files, 0);

    let options = WalkOptions { skip_dotted: true, ..all() };
    let (met, report) = rig.walk(".", &options);
    assert_eq!(met, ["src/", "src/a.rs"]);
    assert_eq!(report.skipped.dotted, 2);
}

#[test]
fn whoever_names_an_ignored_path_means_it() {
    let rig = project();
    for (pattern, met) in [
        ("dist/app.js", vec![]),
        ("dist/a.js", vec!["dist/a.js"]),
        ("app.log", vec!["app.log"]),
        ("./app.log", vec!["app.log"]),
        ("/app.log", vec!["app.log"]),
        ("dist", vec!["dist/"]),
        ("src/a.rs", vec!["src/a.rs"]),
        (".github/*.yml", vec![".github/w.yml"]),
        ("**/*.js", vec![]),
        (".env", vec![]),
        ("../out/secret.txt", vec![]),
    ] {
        assert_eq!(rig.walk(".", &only(pattern)).0, met, "{pattern}");
    }
    assert_eq!(rig.walk(".", &only(".env")).1.skipped.hidden.protected, 1);
    // A directory that is named is searched by its own rules, a file whatever they are.
    assert_eq!(rig.walk("dist", &all()).0, ["a.js", "b.log"]);
    assert_eq!(rig.walk("app.log", &all()).0, ["app.log"]);
    assert_eq!(rig.walk("src", &all()).0, ["a.rs"]);
    assert_eq!(rig.list("dist", &ListOptions::children()).entries.len(), 2);
}

#[test]
fn nearer_rules_and_stronger_kinds_decide() {
    let rig = Rig::new();
    rig.file(".gitignore", "*.tmp\nkeep/*.txt\n/top.txt\n")
        .file(".ignore", "!wanted.tmp\n")
        .file("sub/.gitignore", "!b.tmp\n")
        .file("sub/deep/.gitignore", "b.tmp\n");
    for path in [
        "a.tmp",
        "wanted.tmp",
        "top.txt",
        "sub/top.txt",
        "sub/a.tmp",
        "sub/b.tmp",
        "sub/deep/b.tmp",
        "keep/a.txt",
        "keep/a.md",
        "sub/keep/a.txt",
    ] {
        rig.file(path, "");
    }
    let met = rig.walk(".", &only("*.{tmp,txt,md}")).0;
    assert_eq!(met, ["keep/a.md", "sub/b.tmp", "sub/keep/a.txt", "sub/top.txt", "wanted.tmp"]);
    // The same rules hold where the walk begins further down.
    assert_eq!(rig.walk("sub", &only("*.{tmp,txt}")).0, ["b.tmp", "keep/a.txt", "top.txt"]);
    assert_eq!(rig.walk("keep", &only("*.*")).0, ["a.md"]);
}

#[test]
fn rules_of_git_end_at_the_top_of_a_repository() {
    let rig = Rig::new();
    rig.file(".gitignore", "*.log\n").file(".ignore", "*.bin\n");
    rig.file("nested/.git/info/exclude", "*.private\n");
    for path in ["nested/a.log", "nested/a.bin", "nested/a.private", "nested/a.rs", "a.log"] {
        rig.file(path, "");
    }
    let (met, _) = rig.walk(".", &only("a.*"));
    assert_eq!(met, ["nested/a.log", "nested/a.rs"]);
}

#[test]
fn rules_above_the_root_hold_within_a_repository_only() {
    let outer = Rig::new();
    outer.file(".gitignore", "*.log\n/app/only-here\n").file("app/a.log", "").file("app/a.rs", "");
    outer.file("app/only-here", "").file("app/sub/only-here", "");
    let inner = haft_workspace::Workspace::open(haft_workspace::WorkspaceConfig {
        roots: vec![outer.ws("app")],
        protection: haft_workspace::Protection::standard(),
    })
    .unwrap();
    let view = haft_workspace::View::unfiltered(inner.clone());
    let met = |path: &str| {
        let place = inner.resolve(path, haft_workspace::Want::Existing).unwrap();
        crate::rig::walk(&view, &place, &all()).0
    };
    assert_eq!(met("."), ["a.log", "a.rs", "only-here", "sub/", "sub/only-here"]);
    outer.dir(".git");
    assert_eq!(met("."), ["a.rs", "sub/", "sub/only-here"]);
    assert_eq!(met("sub"), ["only-here"]);
}

#[test]
fn history_is_entered_only_where_a_walk_begins_in_it() {
    let rig = Rig::new();
    rig.file(".git/config", "x").file("sub/.git", "gitdir: ../x").file("a.rs", "x");
    let everything = WalkOptions { include_ignored: true, ..all() };
    assert_eq!(rig.walk(".", &everything).0, ["a.rs", "sub/"]);
    assert_eq!(rig.walk(".git", &all()).0, ["config"]);
    assert_eq!(rig.walk(".", &only(".git/config")).0, [".git/config"]);
}

#[test]
fn hostile_files_of_rules_are_passed_over() {
    let rig = Rig::new();
    rig.file("a/.gitignore", &"x*y*z\n".repeat(100_000)).file("a/a.rs", "");
    rig.file("c/.gitignore", "[z-a]\n{a,b\n\\\n!\nb.rs\n").file("c/b.rs", "").file("c/a.rs", "");
    rig.file("d/.gitignore", &"*a*b*c*[d-f]?g*\n".repeat(16_000)).file("d/a.rs", "");
    rig.dir("b").link("b/.gitignore", "../c/.gitignore").file("b/b.rs", "");
    fs::write(rig.ws("b/.ignore"), b"\xef\xbb\xbfq.rs\r\n\xff\xfe\n").unwrap();
    rig.file("b/q.rs", "");
    let (met, report) = rig.walk(".", &only("*.rs"));
    assert_eq!(met, ["a/a.rs", "b/b.rs", "c/a.rs", "d/a.rs"]);
    assert!(report.skipped.rules_unread >= 2, "{report:?}");
}
