//! Protected names, by whatever way they are asked for.

use std::fs;

use haft_protocol::{Control, LogicalPath};
use haft_workspace::{Hidden, ListOptions, PathError, Protection, View, WalkOptions};

use crate::hand::Hands;
use crate::rig::{Rig, contents, walk};

fn secrets() -> Rig {
    let rig = Rig::new();
    for path in [
        ".env",
        ".env.local",
        ".envrc",
        "sub/.ENV",
        "id_rsa",
        "keys/server.pem",
        ".ssh/config",
        ".docker/config.json",
    ] {
        rig.file(path, "SECRET123");
    }
    rig.file(".env.example", "fine").file("src/main.rs", "fine").file("docker/config.json", "fine");
    rig.link("notes", ".env").link("dir", ".ssh").link("chain", "notes");
    fs::hard_link(rig.ws(".env"), rig.ws("notes.txt")).unwrap();
    fs::hard_link(rig.ws(".ssh/config"), rig.ws("src/deep.txt")).unwrap();
    rig
}

#[test]
fn reading_refuses_every_way_to_a_protected_file() {
    let rig = secrets();
    for path in [
        ".env",
        "./.env",
        "src/../.env",
        ".ENV",
        ".env.local",
        ".envrc",
        "sub/.ENV",
        "sub/.env",
        "id_rsa",
        "keys/server.pem",
        "keys/SERVER.PEM",
        ".ssh",
        ".ssh/",
        ".ssh/config",
        ".ssh/gone",
        ".docker/config.json",
        "notes",
        "chain",
        "dir/config",
        "dir",
        "notes.txt",
        "src/deep.txt",
        "new/.env",
        ".ssh/../src/main.rs",
        "id_ed25519",
    ] {
        let error = rig.read(path).unwrap_err();
        let control = error.denial().map(|denial| denial.control);
        assert_eq!(control, Some(Control::Protection), "{path}: {error}");
    }
    for path in ["new/.env", "new/dir/id_rsa", ".env.production"] {
        assert!(matches!(rig.any(path), Err(PathError::Protected { .. })), "{path}");
    }
    for path in [".env.example", "src/main.rs", "docker/config.json"] {
        assert_eq!(rig.read(path).unwrap(), "fine", "{path}");
    }
    insta::assert_snapshot!(rig.verdict("notes"), @"`notes` is out of reach: `.env` is protected: environment files hold credentials");
    insta::assert_snapshot!(rig.verdict("sub/.ENV"), @"`sub/.ENV` is out of reach: `.ENV` is protected: environment files hold credentials");
    insta::assert_snapshot!(rig.verdict("notes.txt"), @"`notes.txt` is protected: it is the same file as one whose name is protected");
}

#[test]
fn searching_and_listing_show_nothing_of_it_and_count_it() {
    let rig = secrets();
    let place = rig.existing(".").unwrap();
    for options in
        [WalkOptions::default(), WalkOptions { include_ignored: true, ..WalkOptions::default() }]
    {
        let view = rig.view();
        let (texts, report) = contents(&view, &place, &options);
        assert_eq!(texts, [".env.example: fine", "docker/config.json: fine", "src/main.rs: fine"]);
        // Seven files, one directory, and two files that are one of them under another name.
        assert_eq!(report.skipped.hidden, Hidden { protected: 10, by_rule: 0 });
        assert_eq!(view.hidden(), report.skipped.hidden);
    }
    let listing = rig.list(".", &ListOptions::tree());
    let shown: Vec<String> = listing.entries.iter().map(|it| it.path.to_string()).collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    .docker
    .env.example
    chain
    dir
    docker
    docker/config.json
    keys
    notes
    src
    src/main.rs
    sub
    ");
    let notes = listing.entries.iter().find(|entry| entry.path.as_str() == "notes").unwrap();
    insta::assert_debug_snapshot!(notes.target, @r"
    Some(
        OutOfReach,
    )
    ");
}

#[test]
fn nearest_names_are_not_protected_ones() {
    let rig = Rig::new();
    rig.file(".env", "").file("id_rsa", "").file(".envoy", "");
    let PathError::NotFound { nearest, .. } = rig.existing(".envo").unwrap_err() else { panic!() };
    assert_eq!(nearest, [".envoy"]);
}

#[test]
fn the_operator_adds_and_excepts() {
    let rig =
        Rig::with(Protection::extended(&["*.secret", "vault/**"], &["certs/ca.pem"]).unwrap());
    rig.file("a.secret", "x").file("vault/x", "x").file("certs/ca.pem", "public");
    assert!(rig.read("a.secret").is_err());
    assert!(rig.read("vault/x").is_err());
    assert_eq!(rig.read("certs/ca.pem").unwrap(), "public");
}

#[test]
fn a_rule_hides_what_it_denies_and_nothing_else() {
    let rig = Rig::new();
    rig.file("src/a.rs", "a").file("private/b.rs", "b").file("private/deep/c.rs", "c");
    rig.file("src/b.private", "b").file("private.rs", "d");
    let filter = |path: &LogicalPath| {
        let path = path.as_str();
        path != "private" && !path.starts_with("private/") && !path.ends_with(".private")
    };
    let view = View::new(rig.workspace.clone(), std::sync::Arc::new(filter));
    let place = rig.existing(".").unwrap();
    let (met, report) = walk(&view, &place, &WalkOptions::default());
    assert_eq!(met, ["private.rs", "src/", "src/a.rs"]);
    assert_eq!(report.skipped.hidden, Hidden { protected: 0, by_rule: 2 });
    let error = view.open(&rig.existing("private/b.rs").unwrap()).unwrap_err();
    assert_eq!(error.denial().unwrap().control, Control::Policy);
    insta::assert_snapshot!(error, @"a rule hides `private/b.rs`");
    assert_eq!(view.hidden(), Hidden { protected: 0, by_rule: 3 });
    let hidden = rig.existing("private/b.rs").unwrap();
    assert!(
        view.walk(&hidden, &WalkOptions::default(), &|| false, || |_: &_| unreachable!()).is_err()
    );
}

#[test]
fn a_second_name_of_a_protected_file_is_refused_wherever_the_first_stands_in_protected_places() {
    let rig = Rig::new();
    let firsts = [
        ".env",
        ".ssh/deep/down/key",
        ".docker/config.json",
        ".config/gcloud/legacy/token",
        "src/.cargo/credentials.toml",
    ];
    for (number, first) in firsts.into_iter().enumerate() {
        rig.file(first, "SECRET123").dir("src/deep");
        fs::hard_link(rig.ws(first), rig.ws(&format!("src/deep/{number}.txt"))).unwrap();
    }
    rig.file("src/deep/one.txt", "fine");
    fs::hard_link(rig.ws("src/deep/one.txt"), rig.ws("src/deep/two.txt")).unwrap();
    for number in 0..firsts.len() {
        let path = format!("src/deep/{number}.txt");
        let error = rig.existing(&path).unwrap_err();
        assert_eq!(error.denial().unwrap().control, Control::Protection, "{path}");
        assert!(rig.any(&path).is_err(), "{path}");
    }
    let fine = ["src/deep/one.txt", "src/deep/two.txt"];
    for start in ["src/deep", "src", "."] {
        let (texts, report) =
            contents(&rig.view(), &rig.existing(start).unwrap(), &WalkOptions::default());
        assert_eq!(texts, fine.map(|path| format!("{path}: fine")), "{start}");
        let listing = rig.list(start, &ListOptions::tree());
        let shown = listing.entries.iter().map(|it| it.path.as_str());
        let files: Vec<_> = shown.filter(|path| path.contains(".txt")).collect();
        assert_eq!(files, fine, "{start}");
        assert_eq!(listing.report.skipped.hidden, report.skipped.hidden, "{start}");
    }
}

#[test]
fn a_walk_recognises_second_names_of_what_it_passed_over() {
    let rig = Rig::new();
    rig.file("a/.ssh/deep/key", "SECRET123").dir("b");
    fs::hard_link(rig.ws("a/.ssh/deep/key"), rig.ws("b/key.txt")).unwrap();
    let options = WalkOptions { threads: Some(std::num::NonZeroUsize::MIN), ..Default::default() };
    let (texts, _) = contents(&rig.view(), &rig.existing(".").unwrap(), &options);
    assert!(texts.is_empty(), "{texts:?}");
}

#[test]
fn looking_for_second_names_stays_bounded_however_deep_a_place_is() {
    let rig = Rig::new();
    let deep = [".config", ".ssh"].map(|name| vec![name; 200].join("/"));
    for path in &deep {
        rig.file(&format!("{path}/x"), "");
    }
    rig.file("a.txt", "fine");
    fs::hard_link(rig.ws("a.txt"), rig.ws("b.txt")).unwrap();
    assert_eq!(rig.read("b.txt").unwrap(), "fine");
}

#[test]
fn links_and_directories_on_the_way_to_a_directory_of_hafts_stay() {
    let rig = Rig::with_own_directory(".config/haft");
    rig.file("dotfiles/haft/config.toml", "rules").file(".config/other/x", "fine");
    rig.link(".config/haft", "../dotfiles/haft").link("also", "dotfiles");
    let hands = Hands::over(rig, Vec::new());
    for path in [".config/haft/config.toml", "dotfiles/haft/config.toml", "also/haft/new/x"] {
        assert!(hands.create(path, "x").contains("haft's rules are there"), "{path}");
        let read = hands.rig.existing(path).unwrap_err();
        assert!(matches!(read, PathError::Protected { .. }), "{read}");
    }
    assert!(hands.remove(".config/haft").contains("haft's rules are there"));
    assert!(hands.rename(".config/haft", "away").contains("haft's rules are there"));
    for (path, problem) in [
        ("dotfiles", "it holds a directory that haft itself lives in"),
        (".config", "it holds a link to a directory that haft itself lives in"),
    ] {
        let told = hands.rename(path, "away");
        assert!(told.contains(problem), "{told}");
    }
    assert!(hands.create(".config/other/y", "x").starts_with("created"));
    let met = hands.rig.walk(".", &WalkOptions::default()).0;
    assert!(met.contains(&".config/other/y".to_owned()), "{met:?}");
    assert!(!met.iter().any(|path| path.ends_with("config.toml")), "{met:?}");
}

#[test]
fn a_directory_of_hafts_that_is_not_there_yet_is_not_made() {
    let hands = Hands::over(Rig::with_own_directory(".config/haft"), Vec::new());
    hands.rig.file("evil/haft/config.toml", "rules");
    for told in [
        hands.create(".config/haft/config.toml", "x"),
        hands.create(".config", "x"),
        hands.rename("evil", ".config"),
        hands.rename("evil/haft", ".config/haft"),
        hands.mkdir(".config/haft"),
    ] {
        assert!(told.contains("haft's rules are there"), "{told}");
    }
    assert!(hands.create(".config/other/x", "x").ends_with("644"));
    assert!(hands.rename("evil/haft", ".config/haft").contains("haft's rules are there"));
}

/// A system follows so many links and then gives up, so nobody lives behind more.
#[test]
fn a_directory_of_hafts_is_known_behind_as_many_links_as_a_system_follows() {
    for (links, is_known) in [(1, true), (40, true), (41, false)] {
        let rig = Rig::with_own_directory(&format!("l{links}"));
        rig.file("real/rules", "rules").link("l1", "real");
        for link in 2..=links {
            rig.link(&format!("l{link}"), format!("l{}", link - 1));
        }
        assert_eq!(rig.ws(&format!("l{links}")).join("rules").exists(), is_known, "{links}");
        assert_eq!(rig.existing("real/rules").is_err(), is_known, "{links}");
    }
}

#[test]
fn links_in_a_circle_on_the_way_to_a_directory_of_hafts_hold_nobody_up() {
    let rig = Rig::with_own_directory("round/haft");
    rig.link("round", "about").link("about", "round").file("a", "fine");
    assert_eq!(rig.read("a").unwrap(), "fine");
}
