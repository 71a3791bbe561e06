//! Searching.

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::{Called, LongWork, Rig, arguments, called, lock, run};

/// The lines that a search in files shows, without their paths and numbers.
fn lines(rig: &Rig, args: &Value) -> Vec<String> {
    let called = rig.grep(args);
    let matches = called.data()["matches"].as_array().unwrap().clone();
    matches.iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect()
}

/// The files that a search in files finds something in.
fn files(rig: &Rig, args: &Value) -> Vec<String> {
    let called = rig.grep(args);
    let matches = called.data()["matches"].as_array().unwrap().clone();
    matches.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
}

/// A workspace whose notes are full of dashes, with a program that leaves a trace when somebody runs it.
fn dashes() -> Rig {
    let rig = Rig::new();
    let script = rig.ws("x.sh");
    let trace = rig.folder().join("trace");
    let notes = format!(
        "a -world b\n--ctx-size 3\n--n-predict 4\nx->y\n-- [ ] later\n--pre={}\n-f/etc/passwd\n",
        script.display()
    );
    rig.file("notes.txt", notes)
        .file("x.sh", format!("#!/bin/sh\ntouch '{}'\ncat\n", trace.display()))
        .file("-foo/bar/a.txt", "in a directory with a dash\n")
        .file("--hidden", "a file with dashes\n")
        .file("-notes", "another\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(script, mode).unwrap();
    rig
}

#[test]
fn o_033_a_pattern_with_dashes_is_a_pattern() {
    let rig = dashes();
    let pre = format!("--pre={}", rig.ws("x.sh").display());
    let patterns = [
        ("-world", vec!["a -world b".to_owned()]),
        ("--ctx-size|--n-predict", vec!["--ctx-size 3".to_owned(), "--n-predict 4".to_owned()]),
        ("->", vec!["x->y".to_owned()]),
        (&pre, vec![pre.clone()]),
        ("-f/etc/passwd", vec!["-f/etc/passwd".to_owned()]),
    ];
    for (pattern, expected) in patterns {
        assert_eq!(lines(&rig, &json!({ "pattern": pattern })), expected, "{pattern}");

        // The same from the ways that a person gives arguments.
        let pair = format!("pattern={pattern}");
        let ran = rig.haft(&["--json", "call", "search", "-a", "action=grep", "-a", &pair]);
        assert_eq!(called(&ran).data()["total"], expected.len(), "{pattern}");
        let given = arguments("grep", &json!({ "pattern": pattern }));
        let ran = rig.haft_given(given, &["--json", "call", "search", "-"]);
        assert_eq!(called(&ran).data()["total"], expected.len(), "{pattern}");
    }
    let literal = json!({ "pattern": "-- [ ]", "literal": true });
    assert_eq!(lines(&rig, &literal), ["-- [ ] later"]);
    assert!(!rig.folder().join("trace").exists(), "a search has run a program");
}

#[test]
fn o_033_a_path_or_glob_with_dashes_is_a_path_or_glob() {
    let rig = dashes();
    let inside = ["in a directory with a dash"];
    assert_eq!(lines(&rig, &json!({ "pattern": "dash", "path": "-foo/bar" })), inside);
    assert_eq!(lines(&rig, &json!({ "pattern": "dash", "include": ["-foo/**"] })), inside);
    assert_eq!(
        lines(&rig, &json!({ "pattern": "file", "include": ["--hidden"] })),
        ["a file with dashes"]
    );
    assert!(lines(&rig, &json!({ "pattern": "file", "exclude": ["--hidden"] })).is_empty());
    assert_eq!(rig.found(&json!({ "pattern": "-n*" })), ["-notes"]);
    assert_eq!(rig.found(&json!({ "path": "-foo" })), ["-foo/bar", "-foo/bar/a.txt"]);
    assert_eq!(rig.read(&json!({ "path": "--hidden" })).text, "1\ta file with dashes");
    assert_eq!(rig.list_dir(&json!({ "path": "-foo/bar" })).text, "-foo/bar/a.txt  27 B");
    assert!(!rig.folder().join("trace").exists(), "a search has run a program");
}

#[test]
fn o_034_what_cannot_be_read_is_counted_beside_what_is_found() {
    let rig = Rig::new();
    rig.file("ok.txt", "needle\n")
        .file("locked.txt", "needle\n")
        .file("locked/in.txt", "needle\n")
        .link("dangling", "missing");
    lock(&rig.ws("locked.txt"));
    lock(&rig.ws("locked"));
    let call = |args: &Value| {
        let arguments = arguments("grep", args);
        let command = rig.bound_by_permissions(&["--json", "call", "search", &arguments])?;
        Some(called(&run(command)))
    };
    let Some(partial) = call(&json!({ "pattern": "needle" })) else { return };
    insta::assert_snapshot!(partial.text, @r"
    ok.txt
    1:needle
    [notice: 2 entries skipped, not readable: `locked`, `locked.txt`]
    ");
    assert_eq!((partial.exit, &partial.data()["total"]), (0, &json!(1)));
    assert_eq!(partial.data()["skipped"]["unreadable"], 2);

    // Nothing found where something could not be read is no plain "nothing".
    let nothing = call(&json!({ "pattern": "absent" })).unwrap();
    insta::assert_snapshot!(nothing.text, @r"
    no matches in 1 file
    [notice: 2 entries skipped, not readable: `locked`, `locked.txt`]
    ");

    // What is named itself and cannot be read is a failure.
    let named = call(&json!({ "pattern": "needle", "path": "locked.txt" })).unwrap();
    insta::assert_snapshot!(named.text, @"failed (permission_denied): the system does not permit to open `locked.txt`");
    let named = call(&json!({ "pattern": "needle", "path": "dangling" })).unwrap();
    insta::assert_snapshot!(named.text, @"failed (not_found): `dangling` does not exist: the link `dangling` points to `missing`, which is not there");
}

#[test]
fn o_034_a_bad_pattern_is_an_error_with_a_way_out() {
    let rig = Rig::new();
    rig.file("code.go", "type A interface{\n");
    for pattern in ["(", "interface{", "a{2,1}", "[z-a]", "\\"] {
        let called = rig.grep(&json!({ "pattern": pattern }));
        assert_eq!((called.failure(), called.exit), ("invalid_arguments", 2), "{pattern}");
        assert!(called.text.contains("is no regular expression: "), "{}", called.text);
        assert!(called.text.contains("\"literal\": true"), "{}", called.text);
    }
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "(" })).text, @r#"
    failed (invalid_arguments): `(` is no regular expression: unclosed group
    hint: set "literal": true to search for the text as it is
    "#);
    insta::assert_snapshot!(rig.grep(&json!({ "pattern": "" })).text, @r#"failed (invalid_arguments): /pattern: found "", expected a string of 1 to 4096 characters"#);
    let literal = json!({ "pattern": "interface{", "literal": true });
    assert_eq!(lines(&rig, &literal), ["type A interface{"]);
}

/// A workspace where ignore rules leave out most of what holds the marker.
fn ignored() -> Rig {
    let rig = Rig::new();
    rig.file(".gitignore", "dist/\n.env\n*.log\n")
        .file(".env", "marker\n")
        .file("app.log", "marker\n")
        .file("dist/a.js", "marker\n")
        .file(".github/w.yml", "marker\n")
        .file("src/a.rs", "marker\n");
    rig
}

#[test]
fn o_035_hidden_files_are_found_and_ignored_ones_are_counted() {
    let rig = ignored();
    let marker = json!({ "pattern": "marker" });
    assert_eq!(files(&rig, &marker), [".github/w.yml", "src/a.rs"]);
    insta::assert_snapshot!(rig.grep(&marker).notices(), @r#"
    1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them
    1 entry hidden: protected
    "#);
    insta::assert_snapshot!(rig.find(&json!({})).notices(), @r#"
    1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them
    1 entry hidden: protected
    "#);
    insta::assert_snapshot!(rig.list_dir(&json!({})).notices(), @r#"
    1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them
    1 entry hidden: protected
    "#);
    insta::assert_snapshot!(rig.list_dir(&json!({ "recursive": true })).notices(), @r#"
    1 file and 1 directory skipped by ignore rules; "include_ignored": true includes them
    1 entry hidden: protected
    "#);

    // The switch that the notice names includes them, for every tool alike.
    let all = [".github/w.yml", "app.log", "dist/a.js", "src/a.rs"];
    assert_eq!(files(&rig, &json!({ "pattern": "marker", "include_ignored": true })), all);
    let found = rig.found(&json!({ "kinds": ["file"], "include_ignored": true }));
    assert_eq!(found, [&[".github/w.yml", ".gitignore"], &all[1..]].concat());
    let listed = rig.list_dir(&json!({ "recursive": true, "include_ignored": true }));
    assert!(all.iter().all(|path| listed.text.contains(path)), "{}", listed.text);
}

#[test]
fn o_035_a_path_that_is_spelled_out_always_matches() {
    let rig = ignored();
    for path in ["app.log", "dist/a.js", ".github/w.yml", "src/a.rs"] {
        assert_eq!(files(&rig, &json!({ "pattern": "marker", "path": path })), [path]);
        assert_eq!(rig.found(&json!({ "path": path })), [path]);
        assert_eq!(rig.found(&json!({ "pattern": path })), [path], "as a pattern");
        assert_eq!(rig.read(&json!({ "path": path })).text, "1\tmarker");
    }
    assert_eq!(rig.found(&json!({ "pattern": ".github/*.yml" })), [".github/w.yml"]);
    assert_eq!(rig.list_dir(&json!({ "path": "dist" })).text, "dist/a.js  7 B");
}

#[test]
fn o_035_a_protected_file_counts_as_protected_until_a_person_lifts_that() {
    let rig = ignored();
    assert_eq!(rig.read(&json!({ "path": ".env" })).control(), "protection");
    assert_eq!(rig.grep(&json!({ "pattern": "marker" })).data()["skipped"]["protected"], 1);
    rig.config("[protection]\nexcept = [\".env\"]\n");
    assert_eq!(rig.read(&json!({ "path": ".env" })).text, "1\tmarker");
    assert_eq!(rig.grep(&json!({ "pattern": "marker" })).data()["skipped"]["ignored_files"], 2);
    let all = files(&rig, &json!({ "pattern": "marker", "include_ignored": true }));
    assert_eq!(all, [".env", ".github/w.yml", "app.log", "dist/a.js", "src/a.rs"]);
}

#[test]
fn o_036_links_are_not_followed_round_and_round() {
    let rig = Rig::new();
    rig.dir("a").link("a/loop", "..").link("b", "a").dir("big").file("a/x.txt", "x\n");
    for number in 0..10_000 {
        File::create(rig.ws(&format!("big/f{number:05}x"))).unwrap();
    }
    for number in 0..200 {
        rig.link(&format!("link{number:03}"), "big");
    }
    let found = rig.find(&json!({ "pattern": "**/*x*", "limit": 1 }));
    assert_eq!(found.data()["total"], 10_001, "each file once");
    let grep = rig.grep(&json!({ "pattern": "x" }));
    assert_eq!(grep.data()["files_searched"], 10_001);
    assert_eq!(grep.text, "a/x.txt\n1:x");
    let listed = rig.list_dir(&json!({ "recursive": true, "depth": 64, "limit": 1000 }));
    assert!(listed.text.contains("a/loop@ -> ."), "{}", listed.text);
    assert!(!listed.text.contains("loop/"), "{}", listed.text);
}

/// The report names three hundred thousand files; making them takes longer than searching them, so here are a tenth.
#[test]
fn o_036_five_searches_of_thirty_thousand_files_end() {
    let rig = Rig::new();
    for folder in 0..30 {
        let folder = rig.ws(&format!("d{folder:02}"));
        fs::create_dir(&folder).unwrap();
        for number in 0..1000 {
            File::create(folder.join(format!("f{number:03}x"))).unwrap();
        }
    }
    let find = arguments("find", &json!({ "pattern": "**/*x*" }));
    let grep = arguments("grep", &json!({ "pattern": "needle" }));
    let searches: Vec<Called> = thread::scope(|scope| {
        let search = |arguments| called(&rig.haft(&["--json", "call", "search", arguments]));
        let searches =
            [&find, &grep, &find, &grep, &find].map(|it| scope.spawn(move || search(it)));
        searches.into_iter().map(|search| search.join().unwrap()).collect()
    });
    for found in searches.iter().step_by(2) {
        assert_eq!(found.data()["total"], 30_000);
        assert_eq!(
            found.bounds(),
            "100 results shown, 29900 left out: raise \"limit\", or narrow \"path\" or \"pattern\"\n"
        );
    }
    for searched in searches.iter().skip(1).step_by(2) {
        assert_eq!(searched.text, "no matches in 30 000 files");
    }
}

#[test]
fn o_036_a_search_that_is_called_off_ends_within_a_second() {
    let rig = Rig::new();
    let work = LongWork::begin(&rig);
    let asked = Instant::now();
    let ran = work.interrupt();
    let took = asked.elapsed();
    // A second for the search, and one for a machine that has other things to do.
    assert!(took < Duration::from_secs(2), "it took {took:?}");
    assert_eq!(ran.exit, 130, "{}", ran.all());
    let called = called(&ran);
    assert_eq!(called.outcome.status.as_str(), "cancelled");
    assert!(called.bounds().contains("it was called off"), "{}", called.text);
}

#[test]
fn o_036_a_search_that_takes_too_long_answers_with_what_it_has() {
    let rig = Rig::new();
    let begun = Instant::now();
    let called = called(&LongWork::begin(&rig).wait());
    let took = begun.elapsed();
    assert!(took < Duration::from_mins(1), "it took {took:?}");
    assert_eq!(called.data()["matches"][0]["text"], "word1");
    assert_eq!(called.data()["is_total_exact"], false);
    assert!(called.bounds().contains("the time was up"), "{}", called.text);
}

#[test]
fn o_037_a_hit_in_a_very_long_line_is_shown_with_what_stands_around_it() {
    let rig = Rig::new();
    let half = "x".repeat(1_500_000);
    rig.file("b.js", format!("{half}needle{half}\n"));
    let called = rig.grep(&json!({ "pattern": "needle" }));
    assert!(called.text.len() < 1_000, "{} bytes", called.text.len());
    let hit = &called.data()["matches"][0];
    assert!(hit["text"].as_str().unwrap().contains("needle"), "{hit}");
    assert_eq!((&hit["is_cut"], &hit["column"]), (&json!(true), &json!(1_500_001)));
    assert!(called.text.contains('…'), "the cut is marked: {}", called.text);
}

/// Ten thousand files with a hundred hits each, at their real number.
#[test]
fn o_037_of_very_many_hits_a_few_are_shown_and_the_rest_is_named() {
    let rig = Rig::new();
    let hits = "a needle in a line\n".repeat(100);
    for number in 0..10_000 {
        fs::write(rig.ws(&format!("f{number:05}.txt")), &hits).unwrap();
    }
    let called = rig.grep(&json!({ "pattern": "needle", "limit": 50 }));
    let data = called.data();
    assert_eq!(data["matches"].as_array().unwrap().len(), 50);
    assert_eq!(data["matches"][0]["path"], "f00000.txt");
    assert_eq!(data["matches"][49]["line"], 50);
    // What is said to be there is there, and not counted to the end.
    let total = data["total"].as_u64().unwrap();
    assert!((50..=1_000_000).contains(&total), "{total}");
    assert_eq!(data["is_total_exact"], false);
    assert!(data["files_searched"].as_u64().unwrap() < 5_000, "it stopped early: {data}");
    insta::assert_snapshot!(called.bounds(), @r#"50 matches shown, at least 9950 left out: raise "limit", or narrow "path", "include" or "pattern""#);
    assert!(called.text.len() < 4_000);

    // Bytes are bounded too, however many results are asked for.
    let most = rig.grep(&json!({ "pattern": "needle", "limit": 2_000, "context": 50 }));
    assert!(most.text.len() < 72 * 1024, "{} bytes", most.text.len());
    assert!(!most.bounds().is_empty());
}

/// A workspace with secrets under names of many forms.
fn secrets() -> Rig {
    let rig = Rig::new();
    rig.config(
        "[[rules]]\ndecision = \"deny\"\ntool = \"*\"\npath = \"secrets/**\"\nreason = \"keys\"\n",
    );
    for path in PROTECTED.iter().chain(["secrets/k.txt"].iter()) {
        rig.file(path, "SECRET123\n");
    }
    fs::hard_link(rig.ws(".env"), rig.ws("notes.txt")).unwrap();
    rig.link("seen.txt", ".env").link("door", "secrets");
    rig.file(".env.example", "NAME=put it here\n").file("open.txt", "SECRET12 is not it\n");
    rig
}

const PROTECTED: &[&str] = &[".env", ".ENV", ".env.local", ".envrc", "id_rsa", "sub/.env"];

#[test]
fn o_038_what_may_not_be_read_is_shown_by_no_tool() {
    let rig = secrets();
    for path in PROTECTED.iter().chain(&["seen.txt"]) {
        assert_eq!(rig.read(&json!({ "path": path })).control(), "protection", "{path}");
        let grep = rig.grep(&json!({ "pattern": "SECRET123", "path": path }));
        assert_eq!(grep.control(), "protection", "{path}");
    }
    // A second name of a protected file.
    let twin = rig.read(&json!({ "path": "notes.txt" }));
    insta::assert_snapshot!(twin.text, @r"
    denied by protection: `notes.txt` is protected: it is the same file as one whose name is protected
    hint: do without its content, or ask the user to provide what is needed
    ");
    let twin = rig.grep(&json!({ "pattern": "SECRET123", "path": "notes.txt" }));
    insta::assert_snapshot!(twin.text, @r"
    denied by protection: `notes.txt` is protected: it is the same file as one whose name is protected
    hint: do without its content, or ask the user to provide what is needed
    ");
    for path in ["secrets/k.txt", "door/k.txt", "./secrets/../secrets/k.txt"] {
        assert_eq!(rig.read(&json!({ "path": path })).control(), "policy", "{path}");
        assert_eq!(rig.grep(&json!({ "pattern": "S", "path": path })).control(), "policy");
    }

    let everywhere = [
        rig.grep(&json!({ "pattern": "SECRET123" })),
        rig.grep(&json!({ "pattern": "SECRET123", "include_ignored": true, "output": "count" })),
        rig.grep(&json!({ "pattern": "SECRET\\d+", "output": "files", "multiline": true })),
        rig.find(&json!({ "pattern": "secrets/**" })),
        rig.find(&json!({ "include_ignored": true })),
        rig.list_dir(&json!({ "recursive": true })),
    ];
    for called in &everywhere {
        let shown = format!("{}{}", called.text, called.data());
        assert!(!shown.contains("SECRET123"), "{shown}");
        for path in PROTECTED.iter().chain(&["k.txt"]) {
            assert!(!shown.contains(&format!("{path}\"")), "`{path}` is listed: {shown}");
        }
    }
    insta::assert_snapshot!(everywhere[0].text, @r"
    no matches in 2 files
    [notice: 7 entries hidden: protected]
    [notice: 1 entry hidden by a rule]
    ");
    insta::assert_snapshot!(everywhere[3].text, @r"
    nothing found
    [notice: 1 entry hidden by a rule]
    ");
    insta::assert_snapshot!(everywhere[4].text, @r"
    .env.example
    door@ -> (out of reach)
    open.txt
    seen.txt@ -> (out of reach)
    sub/
    [notice: 7 entries hidden: protected]
    [notice: 1 entry hidden by a rule]
    ");
    insta::assert_snapshot!(everywhere[5].text, @r"
    .env.example  17 B
    door@ -> (out of reach)
    open.txt  19 B
    seen.txt@ -> (out of reach)
    sub/
    [notice: 7 entries hidden: protected]
    [notice: 1 entry hidden by a rule]
    ");
}

#[test]
fn o_038_a_template_may_be_read() {
    let rig = secrets();
    let template = rig.read(&json!({ "path": ".env.example" }));
    assert_eq!(template.text, "1\tNAME=put it here");
    assert_eq!(files(&rig, &json!({ "pattern": "NAME" })), [".env.example"]);
}
