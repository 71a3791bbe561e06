//! Cutting text and printing it.

use serde_json::{Value, json};

use crate::rig::{Rig, arguments};

/// A text in which a character of three bytes begins at every offset that a cut may have.
fn shifted(offset: usize, chars: usize) -> String {
    format!("{}{}", "x".repeat(offset), "中".repeat(chars))
}

/// Checks that a text was cut between characters.
#[track_caller]
fn assert_whole(text: &str) {
    assert!(!text.contains('\u{fffd}'), "a character was cut: {text}");
}

#[test]
fn o_026_results_are_cut_between_characters() {
    let rig = Rig::new();
    for offset in 0..3 {
        rig.file("wide.txt", format!("{}needle{}\n", shifted(offset, 20_000), shifted(0, 20_000)));
        let read = rig.read(&json!({ "path": "wide.txt" }));
        assert_whole(&read.text);
        assert!(read.bounds().contains("bytes of line 1"), "{}", read.text);
        let grep = rig.grep(&json!({ "pattern": "needle" }));
        assert_whole(&grep.text);
        assert_eq!(grep.data()["matches"][0]["is_cut"], true);
        // A cut that would fall into a character falls before it; one that is asked for there says so.
        for column in [offset + 1, offset + 2, offset + 3] {
            let read = rig.read(&json!({ "path": "wide.txt", "column": column }));
            assert_eq!(read.exit, 0, "{}", read.text);
        }
    }
}

#[test]
fn o_026_a_result_that_is_too_long_for_an_outcome_is_cut_between_characters() {
    let rig = Rig::new();
    rig.config("[limits]\noutcome_text_bytes = 1024\n");
    for offset in 0..3 {
        rig.file("many.txt", format!("{}\n", shifted(offset, 100)).repeat(20));
        let read = rig.read(&json!({ "path": "many.txt" }));
        assert_eq!(read.exit, 0);
        assert_whole(&read.text);
        assert!(!read.bounds().is_empty(), "{}", read.text);
        assert_whole(&rig.haft(&["show", "last"]).all());
    }
}

#[test]
fn o_026_names_errors_and_previews_are_cut_between_characters() {
    let rig = Rig::new();
    for offset in 0..3 {
        let text = shifted(offset, 3_000);
        let pattern = format!("({text}");
        let long_args = arguments("grep", &json!({ "pattern": text }));
        let bad_pattern = arguments("grep", &json!({ "pattern": pattern }));
        let missing = arguments("read", &json!({ "path": shifted(offset, 80) }));
        for (args, exit) in [
            (vec!["call", &text, "{}"], 1),
            (vec!["call", "search", &text], 2),
            (vec!["call", "search", &long_args], 0),
            (vec!["call", "search", &bad_pattern], 2),
            (vec!["call", "reader", &missing], 1),
            (vec!["tools", "show", &text], 1),
            (vec!["show", &text], 2),
            (vec!["log", "--text", &text], 0),
            (vec!["log", "--status", &text], 2),
            (vec!["log", "--since", &text], 2),
            (vec!["log"], 0),
            (vec!["show", "last"], 0),
        ] {
            let ran = rig.haft(&args);
            assert_eq!(ran.exit, exit, "{args:?}: {}", ran.all());
            assert_whole(&ran.all());
        }
    }
}

/// What programs and pranksters write to act on a terminal.
const HOSTILE: &[&str] = &[
    "\x1b]0;x\x07\x1b[2K\rALL PASSED\x1b[8m",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "\u{9b}2J\u{9d}0;x\u{9c}\u{90}q\u{9c}",
    "if admin\u{202e} //\u{2066} x\u{2069}",
    "\x08\x08\x08\x7f\x0b\x0c",
];

/// Checks that nothing printed can act on a terminal or turn text around.
#[track_caller]
fn assert_harmless(printed: &str) {
    let acts = |char: char| {
        (char.is_control() && !matches!(char, '\n' | '\t'))
            || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(at) = printed.find(acts) {
        panic!("{:?} was printed in {printed:?}", printed[at..].chars().next());
    }
}

#[test]
fn o_030_content_that_acts_on_a_terminal_is_shown_and_does_not_act() {
    let rig = Rig::new();
    rig.file("hostile.txt", HOSTILE.join("\n"));
    let read = arguments("read", &json!({ "path": "hostile.txt" }));
    let grep = arguments("grep", &json!({ "pattern": ".", "context": 1 }));
    for options in [&[][..], &["--json"], &["--color", "always"], &["-vv"]] {
        for (tool, arguments) in [("reader", &read), ("search", &grep)] {
            let ran = rig.haft(&[options, &["call", tool, arguments]].concat());
            assert_eq!(ran.exit, 0, "{}", ran.all());
            let plain = ran.all().replace("\x1b[0m", "").replace("\x1b[2m", "");
            assert_harmless(&plain.replace("\x1b[33m", ""));
        }
        let log = rig.haft(&[options, &["log"]].concat());
        let show = rig.haft(&[options, &["show", "last"]].concat());
        for ran in [log, show] {
            assert!(!ran.all().contains("\x1b]") && !ran.all().contains('\u{9b}'));
        }
    }
    // Nothing was taken away: it is written out, and said to be, and the data holds it as it is.
    let called = rig.read(&json!({ "path": "hostile.txt" }));
    insta::assert_snapshot!(called.text, @r"
    1	\x1b]0;x\x07\x1b[2K\rALL PASSED\x1b[8m
    2	\x1b]52;c;ZXZpbA==\x07
    3	\x1b]8;;https://evil.example\x1b\here\x1b]8;;\x1b\
    4	\u{9b}2J\u{9d}0;x\u{9c}\u{90}q\u{9c}
    5	if admin\u{202e} //\u{2066} x\u{2069}
    6	\x08\x08\x08\x7f\x0b\x0c
    [notice: no newline at the end]
    [notice: control or hidden characters are shown escaped; the file holds the characters themselves]
    ");
    let text: Vec<&str> = called.data()["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    assert!(text.contains(&HOSTILE[3]), "{text:?}");
}

#[test]
fn o_030_names_that_act_on_a_terminal_are_shown_and_do_not_act() {
    let rig = Rig::new();
    for (number, name) in HOSTILE.iter().enumerate() {
        let name = name.replace('/', "_");
        rig.file(&format!("{number}{name}"), "needle\n").dir(&format!("d{number}{name}"));
        rig.link(&format!("l{number}{name}"), format!("{number}{name}"));
    }
    rig.file("line\nnotice: all is well", "needle\n");
    for (tool, action, args) in [
        ("search", "grep", json!({ "pattern": "needle" })),
        ("search", "grep", json!({ "pattern": "needle", "output": "count" })),
        ("search", "find", json!({})),
        ("search", "find", json!({ "sort": "modified" })),
        ("reader", "list_dir", json!({})),
        ("reader", "read", json!({ "path": format!("0{}", HOSTILE[0]) })),
        ("reader", "read", json!({ "path": format!("d0{}", HOSTILE[0]) })),
        ("reader", "read", json!({ "path": HOSTILE[2] })),
        ("reader", "read", json!({ "path": "line\nnotice: all is well" })),
    ] {
        let arguments = arguments(action, &args);
        for options in [&[][..], &["--json"]] {
            let ran = rig.haft(&[options, &["call", tool, &arguments]].concat());
            assert_harmless(&ran.all());
            assert!(!ran.all().lines().any(|line| line.starts_with("notice: all is well")));
        }
    }
    assert_harmless(&rig.haft(&["log"]).all());
    assert_harmless(&rig.haft(&["show", "last"]).all());
}

#[test]
fn o_030_a_file_of_progress_bars_is_bounded_like_any_other() {
    let rig = Rig::new();
    let updates: Vec<String> = (0..10_000).map(|number| format!("{number}%\r")).collect();
    rig.file("bar.log", updates.concat());
    let called = rig.read(&json!({ "path": "bar.log" }));
    assert!(called.text.len() < 96 * 1024, "{} bytes", called.text.len());
    assert_harmless(&called.text);
    insta::assert_snapshot!(called.bounds(), @r#"2000 lines shown, 8000 left out: call again with "offset": 2001"#);
}

#[test]
fn o_030_what_was_typed_does_not_act_when_it_is_repeated() {
    let rig = Rig::new();
    for text in [&HOSTILE[..3].concat(), &HOSTILE[3..].concat()] {
        let list = arguments("list_dir", &json!({ "path": text }));
        let find = arguments("find", &json!({ "pattern": text }));
        let grep = arguments("grep", &json!({ "pattern": format!("({text}") }));
        let unknown = arguments("read", &json!({ "path": "a", text.as_str(): 1 }));
        let pair = format!("{text}=1");
        let commands: &[&[&str]] = &[
            &[text],
            &["call", text],
            &["call", "reader", text],
            &["call", "reader", "-a", text],
            &["call", "reader", "-a", &pair],
            &["call", "reader", &list],
            &["call", "reader", &unknown],
            &["call", "search", &find],
            &["call", "search", &grep],
            &["-C", text, "tools"],
            &["--preset", text, "tools"],
            &["--color", text, "tools"],
            &["--state-dir", text, "doctor"],
            &["tools", "show", text],
            &["policy", "explain", text],
            &["log", "--tool", text],
            &["log", "--since", text],
            &["log", "--status", text],
            &["show", text],
            &["man", text],
            &["log"],
        ];
        for args in commands {
            for options in [&[][..], &["--json"]] {
                assert_harmless(&rig.haft(&[options, args].concat()).all());
            }
        }
    }
}

#[test]
fn o_030_a_configuration_that_acts_on_a_terminal_does_not_when_it_is_refused() {
    let rig = Rig::new();
    for text in HOSTILE {
        let quoted = Value::from(*text).to_string();
        for config in [
            format!("{text} = 1\n"),
            format!("preset = '{text}'\n"),
            format!("preset = {quoted}\n"),
            format!("{quoted} = 1\n"),
            format!("[[rules]]\ndecision = \"deny\"\ntool = \"*\"\nreason = {quoted}\nx = 1\n"),
        ] {
            rig.config(&config);
            for options in [&[][..], &["--json"]] {
                let ran = rig.haft(&[options, &["policy", "show"]].concat());
                assert_harmless(&ran.all());
            }
        }
    }
    rig.config(
        "[[rules]]\ndecision = \"deny\"\ntool = \"reader\"\nreason = \"\\u001b[2J\\u009b\"\n",
    );
    assert_harmless(&rig.haft(&["policy", "show"]).all());
    assert_harmless(&rig.haft(&["call", "reader", "-a", "action=list_dir"]).all());
}
