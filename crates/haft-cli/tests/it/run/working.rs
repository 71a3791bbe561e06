//! Giving a model a task.

use std::fs;

use serde_json::{Value, json};

use crate::rig::{Rig, Says, Scripted, at_terminal};

/// A workspace with two files, and a model that says these things.
pub(super) fn with(script: impl IntoIterator<Item = Says>) -> (Rig, Scripted) {
    let rig = Rig::new();
    rig.file("src/a.txt", "one\ntwo\nthree\n").file("README.md", "# A project\n\nTODO: more\n");
    let server = Scripted::new(script);
    rig.config(&server.config());
    (rig, server)
}

/// Reads standard output as lines of JSON: the events, and the result.
#[track_caller]
pub(super) fn events(stdout: &str) -> (Vec<Value>, Value) {
    let mut lines: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let result = lines.pop().unwrap();
    assert!(lines.iter().all(|it| it["haft"] == 1 && it["event"].is_string()), "{stdout}");
    (lines, result)
}

#[test]
fn what_the_model_says_goes_to_standard_output_and_all_else_beside_it() {
    let (rig, server) = with([
        Says::Calls(
            "Let me look.",
            vec![("search", json!({ "action": "grep", "pattern": "TODO" }))],
        ),
        Says::Text(&["One TODO, ", "in README.md."]),
    ]);
    let ran = rig.haft(&["run", "what is left to do?"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    insta::assert_snapshot!(ran.stdout, @r"
    Let me look.
    One TODO, in README.md.
    ");
    assert!(ran.stderr.contains("> search grep \"TODO\""), "{}", ran.stderr);
    assert!(ran.stderr.contains("TODO: more"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("used: 2 requests, 16020 tokens (16000 in, 20 out)"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("box/scripted at http://127.0.0.1:"), "{}", ran.stderr);
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    let last = asked[1]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("TODO: more"), "{last}");
}

#[test]
fn an_edit_is_shown_line_by_line_and_the_run_can_be_taken_back() {
    let edit = json!({ "action": "edit", "path": "src/a.txt", "old": "two", "new": "zwei" });
    let more = json!({ "action": "write", "path": "b.txt", "content": "new\n" });
    let read = json!({ "action": "read", "path": "src/a.txt" });
    let (rig, _server) = with([
        Says::Calls("", vec![("reader", read)]),
        Says::Calls("", vec![("editor", edit)]),
        Says::Calls("", vec![("editor", more)]),
        Says::Text(&["Done."]),
    ]);
    let ran = rig.haft(&["run", "translate the second line"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    for line in ["> editor edit src/a.txt", "  -two", "  +zwei", "  created b.txt", "  +new"] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(rig.ws("src/a.txt")).unwrap(), "one\nzwei\nthree\n");
    let run = rig.json(&["runs"])["data"][0]["id"].as_str().unwrap().to_owned();
    let diff = rig.haft(&["diff", &run]);
    assert!(diff.exit == 1 && diff.stderr.contains("is a run"), "{}", diff.all());
    let undone = rig.haft(&["undo", "--yes", "last-run"]);
    assert_eq!(undone.exit, 0, "{}", undone.all());
    assert_eq!(fs::read_to_string(rig.ws("src/a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(!rig.ws("b.txt").exists());
    let again = rig.haft(&["undo", "--yes", "last-run"]);
    assert_eq!(again.exit, 1, "{}", again.all());
}

#[test]
fn in_json_each_event_is_a_line_and_the_last_one_is_the_result() {
    let (rig, _server) = with([
        Says::Calls("", vec![("reader", json!({ "action": "read", "path": "src/a.txt" }))]),
        Says::Text(&["Three ", "lines."]),
    ]);
    let ran = rig.haft(&["--json", "run", "how many lines?"]);
    assert_eq!((ran.exit, &*ran.stderr), (0, ""));
    let (events, result) = events(&ran.stdout);
    let kinds: Vec<&str> = events.iter().map(|it| it["event"].as_str().unwrap()).collect();
    let expected = [
        "model",
        "run",
        "asked",
        "call_begins",
        "replied",
        "call_started",
        "call_ended",
        "asked",
        "text",
        "text",
        "replied",
        "stopped",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(result["command"], "run");
    assert_eq!((&result["ok"], &result["exit"]), (&json!(true), &json!(0)));
    assert_eq!(result["data"]["text"], "Three lines.");
    assert_eq!(result["data"]["stop"]["cause"], "done");
    assert_eq!(result["data"]["usage"]["requests"], 2);
    assert_eq!(result["data"]["run"], events[1]["run"]);
}

#[test]
fn a_task_comes_from_a_file_or_from_standard_input() {
    let (rig, server) = with([Says::Text(&["Yes."]), Says::Text(&["Yes."])]);
    rig.file("task.md", "do what is in here");
    assert_eq!(rig.haft(&["run", "@task.md"]).exit, 0);
    assert_eq!(rig.haft_given("do what was piped", &["run", "-"]).exit, 0);
    let asked: Vec<String> = server.asked().iter().map(ToString::to_string).collect();
    assert!(asked[0].contains("do what is in here") && asked[1].contains("do what was piped"));
    for (given, args) in [("", ["run", "-"]), ("x", ["run", "@nowhere.md"]), ("x", ["run", " "])] {
        let ran = rig.haft_given(given, &args);
        assert_eq!(ran.exit, 2, "{}", ran.all());
    }
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_run_is_taken_back_with_one_yes() {
    let write = |path| json!({ "action": "write", "path": path, "content": "new\n" });
    let (rig, _server) = with([
        Says::Calls("", vec![("editor", write("b.txt")), ("editor", write("c.txt"))]),
        Says::Text(&["Done."]),
    ]);
    assert_eq!(rig.haft(&["run", "make them"]).exit, 0);
    rig.config("[[rules]]\ndecision = \"ask\"\ncapabilities = [\"write_files\"]\n");
    let Some(shown) = at_terminal(&rig, &["--color", "never", "undo", "last-run"], "y\n") else {
        return;
    };
    assert!(!shown.contains("wants to run"), "{shown}");
    assert!(!rig.ws("b.txt").exists() && !rig.ws("c.txt").exists(), "{shown}");
}

#[test]
fn what_no_tool_reads_is_no_task() {
    let (rig, server) = with([Says::Text(&["Yes."])]);
    rig.file(".env", "KEY=s3cr3t").file("mine/task.md", "do it").file("task.md", "do it");
    rig.config(&format!(
        "{}\n[protection]\nextra = [\"mine/**\"]\n",
        fs::read_to_string(rig.folder().join("config/config.toml")).unwrap()
    ));
    std::os::unix::fs::symlink(".env", rig.ws("link.md")).unwrap();
    let full = format!("@{}", rig.ws(".env").display());
    for task in ["@.env", "@./.env", "@link.md", "@mine/task.md", &full] {
        let ran = rig.haft(&["run", task]);
        assert_eq!(ran.exit, 2, "{task}: {}", ran.all());
        assert!(ran.stderr.contains("is protected"), "{task}: {}", ran.stderr);
    }
    assert!(server.asked().is_empty());
    assert_eq!(rig.haft(&["run", "@task.md"]).exit, 0);
}

#[test]
fn a_task_that_is_not_there_is_told_with_the_ways_to_say_one() {
    let (rig, _server) = with([]);
    rig.file("src/main.rs", "");
    let of = |args: &[&str]| {
        let ran = rig.haft(args);
        assert_eq!(ran.exit, 2, "{}", ran.all());
        ran.stderr
    };
    insta::assert_snapshot!(of(&["run"]), @"
    error: there is no task
    hint: say it: `haft run 'TEXT'`, `haft run @FILE`, or `haft run -` for standard input
    hint: `haft run --continue` goes on with the last run of this workspace
    ");
    insta::assert_snapshot!(of(&["run", "@nosuch.md"]), @"
    error: `nosuch.md` cannot be read: No such file or directory (os error 2)
    hint: `@FILE` is a file that holds the task; a file or directory that the task is about is named in its text
    ");
    insta::assert_snapshot!(of(&["run", "@src"]), @"
    error: `src` cannot be read: Is a directory (os error 21)
    hint: `@FILE` is a file that holds the task; a file or directory that the task is about is named in its text
    ");
    insta::assert_snapshot!(of(&["run", "--tools", "", "x"]), @"
    error: --tools: expected names with commas between them
    hint: `haft tools` lists them; `none` stands for none
    ");
    insta::assert_snapshot!(of(&["run", "--max-turns", "0", "x"]), @"
    error: invalid value '0' for '--max-turns <N>': expected a whole number of turns, 1 or more

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(of(&["run", "--budget", "-1", "x"]), @"
    error: invalid value '-1' for '--budget <USD>': expected US dollars, such as 0.50, and a million at most

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(of(&["mcp", "config", "clod"]), @"
    error: invalid value 'clod' for '<CLIENT>'
      [possible values: claude, cursor, vscode, codex, zed]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(of(&["show", "zz"]), @"error: `zz` is neither a call nor a run: expected `last`, `last-run`, an id, or at least 4 characters of its begin or end");
}

#[test]
fn an_image_is_shown_to_the_model_and_what_is_none_is_refused() {
    let (rig, server) = with([Says::Text(&["A dot."])]);
    let png = b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\x54\x78\x9c\x63\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
    rig.file("dot.png", png).file("dot.txt", "no image");
    let ran = rig.haft(&["run", "--image", "dot.png", "what is this?"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert!(server.asked()[0].to_string().contains("image/png;base64"));
    let ran = rig.haft(&["run", "--image", "dot.txt", "what is this?"]);
    assert_eq!(ran.exit, 2, "{}", ran.all());
}

#[test]
fn only_the_tools_that_were_named_are_shown() {
    let (rig, server) = with([Says::Text(&["Yes."]), Says::Text(&["Yes."])]);
    assert_eq!(rig.haft(&["run", "--tools", "reader,search", "look"]).exit, 0);
    assert_eq!(rig.haft(&["run", "--tools", "none", "think"]).exit, 0);
    let asked = server.asked();
    let names: Vec<&str> = asked[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["reader", "search"]);
    assert!(asked[1].get("tools").is_none_or(|it| it.as_array().unwrap().is_empty()));
    let ran = rig.haft(&["run", "--tools", "no_such_tool", "look"]);
    assert_eq!(ran.exit, 2, "{}", ran.all());
}

#[test]
fn a_tool_that_was_not_shown_cannot_be_called() {
    let write = || ("editor", json!({ "action": "write", "path": "x", "content": "x" }));
    let task = json!({ "instruction": "Make x.", "preset": "full" });
    let (rig, server) = with([
        Says::Calls("", vec![write(), ("subagent", task)]),
        Says::Calls("", vec![write(), ("builtin/bash", json!({ "command": "touch x" }))]),
        Says::Text(&["I cannot."]),
        Says::Text(&["It cannot either."]),
    ]);
    // To name it twice is no harm.
    let args = ["--yes", "run", "--subagents", "--tools", "reader,subagent", "make x"];
    let ran = rig.haft(&args);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert!(!rig.ws("x").exists());
    let asked = server.asked();
    let told = |at: usize| asked[at]["messages"].to_string();
    assert!(told(3).contains("there is no tool `editor`"), "{}", told(3));
    assert!(told(2).contains("there is no tool `editor`"), "{}", told(2));
    assert!(told(2).contains("there is no tool `builtin/bash`"), "{}", told(2));
    assert_eq!(asked[0]["tools"].as_array().unwrap().len(), 2);
}

#[test]
fn a_call_that_needs_a_yes_is_denied_where_nobody_can_be_asked() {
    let script = [
        Says::Calls("", vec![("bash", json!({ "command": "touch x" }))]),
        Says::Text(&["I may not."]),
    ];
    let (rig, server) = with(script.clone());
    let ran = rig.haft(&["run", "make a file"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert!(ran.stderr.contains("denied by approval"), "{}", ran.stderr);
    assert!(!rig.ws("x").exists());
    server.then_all(script);
    let ran = rig.haft(&["--yes", "run", "make a file"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert!(!ran.stderr.contains("denied"), "{}", ran.stderr);
}

#[test]
fn nothing_a_model_says_acts_on_a_terminal() {
    let (rig, _server) = with([
        Says::Calls(
            "\u{1b}[2Jone\u{1b}]0;x\u{7}\r",
            vec![("bash\u{1b}[1A", json!({ "command": "\u{1b}[2J\u{202e}\n> editor" }))],
        ),
        Says::Text(&["\u{9b}2J", "\u{1b}", "[3A"]),
    ]);
    let ran = rig.haft(&["--color", "never", "run", "attack"]);
    for char in ['\u{1b}', '\u{7}', '\r', '\u{9b}', '\u{202e}'] {
        assert!(!ran.all().contains(char), "{char:?}: {}", ran.all());
    }
    assert!(!ran.stderr.lines().any(|line| line == "> editor"), "{}", ran.stderr);
}

#[test]
fn a_model_is_named_by_flag_before_variable_before_file() {
    let (rig, server) = with([Says::Text(&["1"]), Says::Text(&["2"]), Says::Text(&["3"])]);
    rig.config(&format!("{}\n[models.other]\nmodel = \"box/other\"\n", server.config()));
    assert_eq!(rig.haft(&["run", "hello"]).exit, 0);
    let mut command = rig.command(&["run", "hello"]);
    assert_eq!(
        crate::rig::run({
            command.env("HAFT_MODEL", "other");
            command
        })
        .exit,
        0
    );
    let mut command = rig.command(&["run", "--model", "box/third", "hello"]);
    assert_eq!(
        crate::rig::run({
            command.env("HAFT_MODEL", "other");
            command
        })
        .exit,
        0
    );
    let asked = server.asked();
    let models: Vec<&str> = asked.iter().map(|it| it["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["scripted", "other", "third"]);
    for name in ["box", "nobody/there", "nonsense"] {
        let ran = rig.haft(&["run", "--model", name, "hello"]);
        assert_eq!(ran.exit, 2, "{name}: {}", ran.all());
        assert!(ran.stderr.contains("hint: "), "{name}: {}", ran.all());
    }
}

#[test]
fn a_server_of_this_machine_is_asked_for_models_that_it_has() {
    let (rig, server) = with([]);
    let run = |name: &str| rig.haft(&["run", "-m", name, "hello"]);
    // What runs as llama.cpp does answers to any name, and is who it says it is all the same.
    for (owner, has) in
        [("llamacpp", "scripted"), ("vllm", "scripted"), ("library", "scripted:latest")]
    {
        server.lists(owner, &["other", has]);
        server.then(Says::Text(&["Yes."]));
        let ran = run("box/scripted");
        assert_eq!((ran.exit, &*ran.stdout), (0, "Yes.\n"), "{owner}: {}", ran.all());
        let ran = run("box/scriptd");
        assert_eq!(ran.exit, 2, "{owner}: {}", ran.all());
        assert!(ran.stderr.contains("has no model `scriptd`"), "{}", ran.stderr);
        let hint = format!("it has `{has}`, `other`, named as `box/NAME`");
        assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
    }
    // One that may load or hand on what it does not list is asked, and that is said.
    server.lists("somebody", &["other"]);
    server.then(Says::Text(&["Yes."]));
    let ran = run("box/scripted");
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert!(
        ran.stderr.contains("which the server does not list: it has `other`"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.asked().len(), 4);
    assert_eq!(rig.json(&["runs"])["data"].as_array().unwrap().len(), 4);
}

#[test]
fn a_call_runs_of_a_reply_that_was_said_to_end_though_the_stream_broke_and_of_no_other() {
    let call = |path: &str, index: u32| {
        let arguments = json!({ "action": "write", "path": path, "content": "new\n" }).to_string();
        let function = json!({ "name": "editor", "arguments": arguments });
        let call = json!({ "index": index, "id": format!("c{index}"), "function": function });
        let choice = json!({ "index": 0, "delta": { "tool_calls": [call] } });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let end =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
    let whole = format!("{}{end}", call("one.txt", 0));
    let (rig, server) = with([Says::Breaks("", whole), Says::Text(&["Done."])]);
    let ran = rig.haft(&["run", "write"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "Done.\n"), "{}", ran.all());
    assert!(rig.ws("one.txt").exists());
    // Nobody counted the first of them.
    let usage = rig.json(&["runs"])["data"][0]["usage"].clone();
    assert_eq!((&usage["requests"], &usage["uncounted"]), (&json!(2), &json!(1)), "{usage}");
    let too_early = format!("{}{end}{}", call("two.txt", 0), call("three.txt", 1));
    for cut in [call("two.txt", 0), too_early] {
        server.then(Says::Breaks("I write. ", cut));
        let ran = rig.haft(&["run", "write"]);
        assert_eq!(ran.exit, 1, "{}", ran.all());
        assert!(!rig.ws("two.txt").exists() && !rig.ws("three.txt").exists(), "{}", ran.all());
        let shown = rig.haft(&["show", "last-run"]).stdout;
        assert!(shown.contains("no answer") && shown.contains("I write."), "{shown}");
    }
}

#[test]
fn a_project_that_nobody_trusts_says_nothing_about_models() {
    let (rig, server) = with([Says::Text(&["1"])]);
    rig.project("[model]\ndefault = \"evil/x\"\n\n[models.box]\nbase_url = \"http://127.0.0.1:1/v1\"\n\n[network]\nplain_http = [\"evil.example\"]\n");
    let ran = rig.haft(&["run", "hello"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert_eq!(server.asked().len(), 1);
    assert_eq!(ran.stderr.matches("not followed until you trust").count(), 3, "{}", ran.stderr);
}

#[test]
fn a_model_that_may_lets_another_one_work_for_it() {
    let task = json!({ "instruction": "Count the lines of src/a.txt.", "preset": "read-only" });
    let read = json!({ "action": "read", "path": "src/a.txt" });
    let (rig, server) = with([
        Says::Calls("", vec![("subagent", task)]),
        Says::Calls("", vec![("reader", read)]),
        Says::Text(&["Three lines."]),
        Says::Text(&["There are three."]),
    ]);
    let ran = rig.haft(&["run", "--subagents", "--tools", "reader", "how many lines?"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    assert_eq!(ran.stdout, "There are three.\n");
    let asked = server.asked();
    assert_eq!(asked.len(), 4);
    let first = asked[1]["messages"].to_string();
    assert!(first.contains("Count the lines of src/a.txt."), "{first}");
    assert!(!first.contains("how many lines?"), "{first}");
    let last = asked[3]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("Three lines."), "{last}");
    assert!(ran.stderr.contains("used: 4 requests"), "{}", ran.stderr);

    // It is on record, beneath the run that it worked for, and nobody else's to go on with.
    let runs = rig.json(&["runs", "--subagents"])["data"].clone();
    let id = |run: &Value| {
        let id = run["id"].as_str().unwrap();
        id[id.len() - 8..].to_owned()
    };
    let (child, above): (Vec<Value>, Vec<Value>) =
        runs.as_array().unwrap().iter().cloned().partition(|it| it["parent"].is_string());
    let (child, above) = (&child[0], &above[0]);
    assert_eq!(child["parent_run"], above["id"]);
    let (child, above) = (id(child), id(above));
    let listed = rig.haft(&["runs", "--subagents"]).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with(&above), "{listed}");
    assert!(lines[1].starts_with(&format!("  {child}")), "{listed}");
    assert!(lines[1].ends_with("Count the lines of src/a.txt."), "{listed}");
    assert!(!rig.haft(&["runs"]).stdout.contains(&child));
    let shown = rig.haft(&["show", &above]).stdout;
    assert!(shown.contains(&format!("run {child}, done: Count the lines")), "{shown}");
    let shown = rig.haft(&["show", &child]).stdout;
    for text in [&format!(" of run {above}"), "branch", "reader read src/a.txt", "Three lines."] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // A call of it is of its run, beneath the run above.
    let calls = rig.json(&["log"])["data"].clone();
    let read = calls.as_array().unwrap().iter().find(|it| it["tool"] == "builtin/reader").unwrap();
    let shown = rig.haft(&["show", read["id"].as_str().unwrap()]).stdout;
    let of = format!("of run      {child}, a subagent's: Count the lines of src/a.txt.\n");
    let beneath = format!("beneath     {above}: how many lines?\n");
    assert!(shown.contains(&of) && shown.contains(&beneath), "{shown}");
    let shown = rig.json(&["show", read["id"].as_str().unwrap()]);
    assert_eq!(shown["data"]["runs"].as_array().unwrap().len(), 2, "{shown}");
    for command in ["resume", "undo"] {
        let ran = rig.haft(&["--yes", command, &child]);
        assert_ne!(ran.exit, 0, "{}", ran.all());
        assert!(ran.stderr.contains("is a subagent's"), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("haft {command} {above}")), "{}", ran.stderr);
    }
}

#[test]
fn nobody_starts_others_unless_that_is_allowed() {
    let task = json!({ "instruction": "Count." });
    let (rig, server) = with([Says::Calls("", vec![("subagent", task)]), Says::Text(&["No."])]);
    let ran = rig.haft(&["run", "how many lines?"]);
    assert_eq!(ran.exit, 0, "{}", ran.all());
    let asked = server.asked();
    let tools = asked[0]["tools"].to_string();
    assert!(!tools.contains("subagent"), "{tools}");
    let last = asked[1]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("not_found"), "{last}");
}
