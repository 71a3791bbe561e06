//! `haft call` and `haft tools`.

use serde_json::{Value, json};

use crate::rig::{Rig, called, one_object};

fn workspace() -> Rig {
    let rig = Rig::new();
    rig.file("src/a.rs", "fn a() {}\n// needle 5\n").file("b.txt", "needle [1]\n");
    rig
}

#[test]
fn what_was_asked_for_goes_to_standard_output_and_the_rest_to_standard_error() {
    let rig = workspace();
    rig.file(".env", "needle\n");
    let grep = r#"{"action":"grep","pattern":"needle","limit":1}"#;
    let ran = rig.haft(&["call", "search", grep]);
    assert_eq!(ran.exit, 0);
    insta::assert_snapshot!(ran.stdout, @r"
    b.txt
    1:needle [1]
    ");
    insta::assert_snapshot!(ran.stderr, @r#"
    bound: 1 match shown, 1 left out: raise "limit", or narrow "path", "include" or "pattern"
    notice: 1 entry hidden: protected
    "#);
}

#[test]
fn exit_codes_say_how_a_call_ended() {
    let rig = workspace();
    rig.file(".env", "x\n");
    let call = |tool: &str, arguments: &str| {
        let ran = rig.haft(&["call", tool, arguments]);
        assert_eq!(ran.exit == 0, !ran.stdout.is_empty(), "{}", ran.all());
        (ran.exit, ran.stderr.lines().next().unwrap_or_default().to_owned())
    };
    assert_eq!(call("reader", r#"{"action":"read","path":"b.txt"}"#), (0, String::new()));
    let ended = [
        ("reader", r#"{"action":"read","path":"missing.txt"}"#),
        ("reader", r#"{"action":"read","path":"src"}"#),
        ("serch", "{}"),
        ("reader", r#"{"action":"read"}"#),
        ("reader", r#"{"action":"reed","path":"b.txt"}"#),
        ("reader", r#"{"action":"read","path":"../b.txt"}"#),
        ("reader", r#"{"action":"read","path":".env"}"#),
    ]
    .map(|(tool, arguments)| {
        let (exit, said) = call(tool, arguments);
        format!("{exit} {said}")
    });
    insta::assert_snapshot!(ended.join("\n"), @r#"
    1 not_found: `missing.txt` does not exist
    1 unsupported: `src` is a directory, not a file
    1 not_found: there is no tool `serch`
    2 invalid_arguments: /path: missing, expected a string of at least 1 character
    2 invalid_arguments: /action: unknown action "reed"; did you mean "read"? one of "read", "list_dir"
    3 denied: by workspace: `../b.txt` leads outside the workspace
    3 denied: by protection: `.env` is protected: environment files hold credentials
    "#);
}

#[test]
fn the_three_ways_to_give_arguments_come_to_the_same() {
    let rig = workspace();
    let json = r#"{"action": "grep", "pattern": "needle", "include": ["*.rs"], "limit": 5}"#;
    let pairs = ["action=grep", "pattern=needle", "include=[\"*.rs\"]", "limit=5"];
    let pairs: Vec<&str> = pairs.iter().flat_map(|pair| ["--arg", pair]).collect();
    let by_text = rig.haft(&["--json", "call", "search", json]);
    let by_pairs = rig.haft(&[&["--json", "call", "search"], pairs.as_slice()].concat());
    let by_stdin = rig.haft_given(json, &["--json", "call", "search", "-"]);
    for ran in [&by_text, &by_pairs, &by_stdin] {
        assert_eq!(called(ran).text, "src/a.rs\n2:// needle 5");
    }
    let digests: Vec<Value> = [by_text, by_pairs, by_stdin]
        .iter()
        .map(|ran| {
            let id = one_object(ran)["data"]["call"].clone();
            rig.json(&["show", id.as_str().unwrap()])["data"]["intent"]["arguments_digest"].clone()
        })
        .collect();
    assert!(digests.iter().all(|digest| digest.is_string() && digest == &digests[0]));
}

#[test]
fn a_pair_is_text_where_the_tool_wants_text() {
    let rig = workspace();
    let grep = |pair: &str| {
        let args = ["--json", "call", "search", "-a", "action=grep", "-a", pair, "-a"];
        called(&rig.haft(&[&args[..], &["literal=true"]].concat()))
    };
    assert_eq!(grep("pattern=5").text, "src/a.rs\n2:// needle 5");
    assert_eq!(grep("pattern=[1]").text, "b.txt\n1:needle [1]");
    assert_eq!(grep("pattern=null").text, "no matches in 2 files");
    assert_eq!(grep("pattern==").text, "no matches in 2 files");
    assert_eq!(grep("pattern=true").notices(), "");
}

#[test]
fn pairs_that_make_no_sense_are_mistakes() {
    let rig = workspace();
    let said = [
        &["call", "reader", "-a", "action"][..],
        &["call", "reader", "-a", "path=a", "-a", "path=b"],
        &["call", "reader", "{}", "-a", "path=a"],
        &["call", "reader", "-a", "action=list_dir", "-a", "limit=many"],
    ]
    .map(|args| {
        let ran = rig.haft(args);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
        ran.stderr
    });
    insta::assert_snapshot!(said.join("\n"), @r#"
    error: `--arg action` has no `=`: expected KEY=VALUE

    error: `--arg path=…` is given twice
    hint: a list is written as JSON: `--arg 'path=[…]'`

    error: the argument '[ARGUMENTS]' cannot be used with '--arg <KEY=VALUE>'

    Usage: haft call <TOOL> <ARGUMENTS>

    For more information, try '--help'.

    invalid_arguments: /limit: found "many", expected an integer from 1 to 1000
    "#);
}

#[test]
fn arguments_that_are_no_object_are_mistakes() {
    let rig = workspace();
    let said =
        ["", "{", "{action: \"list_dir\"}", "[1]", "\"x\"", "null", "{} {}", "\u{0}"].map(|text| {
            let ran = rig.haft_given(text, &["call", "reader", "-"]);
            assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{text:?}: {}", ran.all());
            ran.stderr
        });
    insta::assert_snapshot!(said.join("\n"), @r#"
    error: standard input is empty: expected the arguments as one JSON object
    hint: write `{}` where there are none

    invalid_arguments: the arguments end in the middle; nothing was run; send the call again, in smaller parts

    invalid_arguments: the arguments are not JSON: expected a key in double quotes (line 1, column 2, near `{action: "list_dir"}`); send one JSON object; inside texts write `\"`, `\\` and `\n`

    invalid_arguments: the arguments are an array of 1 item, expected an object; send one JSON object

    invalid_arguments: the arguments are not JSON: there is no object in it (line 1, column 1, near `x`); send one JSON object; inside texts write `\"`, `\\` and `\n`

    invalid_arguments: /action: missing, expected one of "read", "list_dir"

    invalid_arguments: the arguments are not JSON: there is more after the object (line 1, column 3, near `{} {}`); send one JSON object; inside texts write `\"`, `\\` and `\n`

    invalid_arguments: the arguments are not JSON: there is no object in it (line 1, column 1, near ` `); send one JSON object; inside texts write `\"`, `\\` and `\n`
    "#);

    let deep = format!("{{\"path\": {}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(rig.haft_given(deep, &["call", "reader", "-"]).exit, 2);
    let long = format!("{{\"path\": \"{}\"}}", "é".repeat(5 * 1024 * 1024));
    let ran = rig.haft_given(long, &["call", "reader", "-"]);
    assert_eq!(ran.exit, 2);
    insta::assert_snapshot!(ran.stderr, @"invalid_arguments: the arguments take more than 8388608 bytes; send less, in several calls");
}

#[test]
fn standard_input_that_is_no_text_is_a_mistake() {
    let rig = workspace();
    let ran = rig.haft_given(*b"{\"path\": \"\xe9\"}", &["call", "reader", "-"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (2, "error: standard input is not UTF-8 text\n"));
}

#[test]
fn a_tool_answers_to_both_its_names() {
    let rig = workspace();
    for name in ["reader", "builtin/reader"] {
        let ran = rig.haft(&["call", name, r#"{"action":"read","path":"b.txt"}"#]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (0, "1\tneedle [1]\n"));
        assert_eq!(rig.json(&["tools", "show", name])["data"]["wire"], "reader");
    }
    let ran = rig.haft(&["tools", "show", "raeder"]);
    assert_eq!(ran.exit, 1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: there is no tool `raeder`
    hint: nearest: reader
    hint: `haft tools` lists them
    ");
}

#[test]
fn tools_are_listed_and_shown() {
    let rig = workspace();
    insta::assert_snapshot!(rig.haft(&["tools"]).stdout, @r"
    reader      Reads files and lists directories of the workspace.
    search      Searches the workspace.
    editor      Changes files of the workspace: `edit` text in a file, `write` a
                whole file, `insert` lines, `delete`, `move`, `mkdir`.
    code_nav    Finds its way in source code: Python, Rust, TypeScript, JavaScript,
                Go, C, C++ and Java.
    ast_search  Searches source code by its structure: Python, Rust, TypeScript,
                JavaScript, Go, C, C++ and Java.
    undo        Takes back what one call changed in files, and nothing else.
    code_check  Checks source code with a checker that is installed, and lists what
                it finds by path, line and column.
    bash        Runs a command in the workspace and shows how it ended and what it
                printed.
    `haft tools show NAME` shows what a tool takes
    ");
    insta::assert_snapshot!(rig.haft(&["tools", "show", "reader"]).stdout, @r#"
    builtin/reader  (reader on the wire)
    Reads files and lists directories of the workspace. Changes nothing.

    - `read` shows a text file as numbered lines: number, tab, text. It shows an
      image as an image. A long file comes in parts, and the answer says where the
      next one begins. Lines of every encoding and line end are shown alike; control
      characters are shown escaped, as in `\x1b`.
    - `list_dir` lists a directory, sorted by path. Directories end in `/`, links in
      `@`. Hidden files are listed.

    Paths are relative to the workspace, or absolute within it.
    may:    read_files
    source: builtin

    arguments
      action  read | list_dir, required
          - `read`: Show a text file as numbered lines, or an image.
          - `list_dir`: List what is in a directory.
      path  string
          Required for `read`. The file or directory. Default: "." for `list_dir`.
      offset  integer, default 1
          Only for `read`. Number of the first line to show.
      column  integer, default 0
          Only for `read`. Bytes of that line to pass over, to go on in a long line
          that was cut.
      limit  integer
          For `read`: Lines to show at most.
          For `list_dir`: Entries to list at most.
      recursive  boolean, default false
          Only for `list_dir`. Also list what is in the directories beneath, 3
          levels in all where `depth` is not given.
      depth  integer
          Only for `list_dir`. Levels to list; 1 is the directory itself.
      kinds  list of file | dir | link | fifo | socket | device | other, default []
          Only for `list_dir`. Kinds to list; all where none is given.
      include  list of string, default []
          Only for `list_dir`. Globs of which one must match: a name (`*.rs`), or
          with a slash a path from `path` on (`src/**`).
      include_ignored  boolean, default false
          Only for `list_dir`. Also list what ignore rules such as `.gitignore`
          leave out.
    "#);
}

#[test]
fn a_root_that_cannot_be_used_is_a_mistake() {
    let rig = workspace();
    let folder = rig.folder().display().to_string();
    let said = ["missing", "b.txt", "../missing"].map(|root| {
        let ran = rig.haft(&["-C", root, "tools"]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
        ran.stderr.replace(&folder, "…")
    });
    insta::assert_snapshot!(said.join("\n"), @r"
    error: root `…/ws/missing` cannot be used: No such file or directory (os error 2)

    error: the root `…/ws/b.txt` is not a directory: name the directory it is in

    error: root `…/ws/../missing` cannot be used: No such file or directory (os error 2)
    ");
}

#[test]
fn every_root_that_is_given_is_seen() {
    let rig = workspace();
    rig.outside("c.txt", "needle\n");
    let out = rig.out("c.txt").display().to_string();
    let roots = ["-C", "src", "-C", "../out"];
    let read = rig.call_with(&roots, "reader", "read", &json!({ "path": out }));
    assert_eq!(read.text, "1\tneedle");
    let read = rig.call_with(&roots, "reader", "read", &json!({ "path": "a.rs" }));
    assert_eq!(read.exit, 0, "relative paths begin at the first: {}", read.text);
    let read = rig.call_with(&roots, "reader", "read", &json!({ "path": rig.ws("b.txt") }));
    assert_eq!(read.control(), "workspace");
}

#[test]
fn verbs_stand_for_the_actions_of_tools_and_obey_the_same_rules() {
    let rig = Rig::new();
    rig.file("a.txt", "one\n");
    let listed = rig.json(&["--toolset", "verbs", "tools"]);
    let tools = listed["data"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|it| it["wire"].as_str().unwrap()).collect();
    let verbs = [
        "read_file",
        "write_file",
        "edit_file",
        "list_directory",
        "search_files",
        "find_files",
        "run_command",
    ];
    assert_eq!(names[..7], verbs);
    for hidden in ["reader", "search", "editor", "bash"] {
        assert!(!names.contains(&hidden), "{names:?}");
    }
    let call = |tool: &str, args: Value| {
        let args = ["--toolset", "verbs", "--json", "call", tool, &args.to_string()];
        called(&rig.haft(&args))
    };
    let edit = json!({ "path": "a.txt", "old": "one", "new": "two" });
    assert_eq!(call("edit_file", edit.clone()).exit, 0);
    assert_eq!(call("read_file", json!({ "path": "a.txt" })).text, "1\ttwo");
    assert_eq!(call("run_command", json!({ "command": "ls" })).control(), "approval");
    rig.config("[[rules]]\ndecision = \"deny\"\ntool = \"editor\"\n");
    assert_eq!(call("edit_file", edit).control(), "policy");
}
