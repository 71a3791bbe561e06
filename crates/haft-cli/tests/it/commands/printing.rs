//! How things are printed: columns, colours, logs, closed pipes.

use std::io;

use serde_json::json;

use crate::rig::{Rig, arguments, run};

fn workspace() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    rig
}

#[test]
fn lists_keep_to_their_columns() {
    let rig = workspace();
    rig.read(&json!({ "path": "a.txt" }));
    rig.grep(&json!({ "pattern": "x".repeat(300), "include": ["*.txt"] }));
    rig.find(&json!({ "pattern": "中文".repeat(60) }));
    rig.find(&json!({ "pattern": "🦀".repeat(60) }));
    rig.haft(&["call", &"very_long_name_of_a_tool".repeat(4), "{}"]);
    rig.haft(&["call", "中文中文中文中文中文中文", "{}"]);
    for (args, most) in [
        (&["tools"][..], 80),
        (&["tools", "show", "reader"], 80),
        (&["tools", "show", "search"], 80),
        // Who reads a log through a pipe has more room than a terminal.
        (&["log"], 160),
    ] {
        let ran = rig.haft(args);
        for line in ran.stdout.lines() {
            assert!(columns(line) <= most, "{} columns: {line}", columns(line));
            assert!(!line.ends_with(' '), "a space at the end: {line:?}");
        }
    }
    let log = rig.haft(&["log"]).stdout;
    assert!(log.lines().filter(|line| line.contains('…')).count() >= 4, "cuts are marked: {log}");
}

/// Columns a terminal needs for a line: two for what is wide.
fn columns(line: &str) -> usize {
    line.chars().map(|char| if char >= '\u{1100}' && char != '…' { 2 } else { 1 }).sum()
}

#[test]
fn colours_are_for_terminals_and_for_who_insists() {
    let rig = workspace();
    let coloured = |options: &[&str], variables: &[(&str, &str)]| {
        let mut command = rig.command(&[options, &["tools"]].concat());
        command.envs(variables.iter().copied());
        let ran = run(command);
        assert_eq!(ran.exit, 0);
        ran.stdout.contains('\x1b')
    };
    assert!(!coloured(&[], &[]), "this is no terminal");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]), "a flag weighs more");
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("NO_COLOR", "1"), ("TERM", "xterm")]));

    // Colour only repeats what the words say.
    let plain = rig.haft(&["tools"]).stdout;
    let mut bare = rig.haft(&["--color", "always", "tools"]).stdout;
    while let Some(start) = bare.find('\x1b') {
        let end = start + bare[start..].find('m').unwrap();
        bare.replace_range(start..=end, "");
    }
    assert_eq!(bare, plain);
}

#[test]
fn a_reader_that_went_away_ends_the_command_quietly() {
    let rig = workspace();
    rig.read(&json!({ "path": "a.txt" }));
    let read = arguments("read", &json!({ "path": "a.txt" }));
    for args in [
        &["tools"][..],
        &["tools", "show", "search"],
        &["call", "reader", &read],
        &["log"],
        &["show", "last"],
        &["policy", "show"],
        &["state", "du"],
        &["doctor"],
        &["completions", "bash"],
        &["completions", "zsh"],
        &["man"],
        &["--help"],
        &["call", "--help"],
    ] {
        for options in [&[][..], &["--json"]] {
            let (reader, writer) = io::pipe().unwrap();
            drop(reader);
            let mut command = rig.command(&[options, args].concat());
            let child =
                command.stdout(writer).stderr(std::process::Stdio::piped()).spawn().unwrap();
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
        }
    }
}

#[test]
fn logs_go_to_standard_error_for_who_asks() {
    let rig = workspace();
    let list = arguments("list_dir", &json!({}));
    let call = |options: &[&str], variables: &[(&str, &str)]| {
        let mut command = rig.command(&[options, &["call", "reader", &list]].concat());
        command.envs(variables.iter().copied());
        let ran = run(command);
        assert_eq!((ran.exit, ran.stdout.as_str()), (0, "a.txt  5 B\n"));
        ran.stderr
    };
    assert_eq!(call(&[], &[]), "");
    assert!(call(&["-v"], &[]).contains("INFO haft"));
    assert!(!call(&["-v"], &[]).contains("DEBUG"));
    let more = call(&["-vv"], &[]);
    assert!(more.contains("INFO haft") && more.contains("DEBUG haft") && more.contains("policy="));
    assert!(call(&[], &[("HAFT_LOG", "haft=info")]).contains("INFO haft"));
    assert_eq!(call(&[], &[("HAFT_LOG", "off")]), "");
    assert_eq!(call(&["-vv"], &[("HAFT_LOG", "error")]), "", "the filter is the precise one");
    insta::assert_snapshot!(call(&[], &[("HAFT_LOG", "haft=loud")]), @r#"HAFT_LOG: `haft=loud` is no filter, so it is not followed: error parsing level filter: expected one of "off", "error", "warn", "info", "debug", "trace", or a number 0-5"#);
}

#[test]
fn progress_is_not_drawn_where_there_is_no_terminal() {
    let rig = Rig::new();
    let ran = crate::rig::LongWork::begin(&rig).interrupt();
    assert!(!ran.stderr.contains('\r') && !ran.stderr.contains('\x1b'), "{:?}", ran.stderr);
}
