//! Answers in the words of the tools that the caller was shown.

use haft_coding::Toolset;
use haft_policy::Preset;
use serde_json::{Value, json};

use crate::rig::Rig;

/// What is said to calls that another one would have been better than, by tools of one shape.
fn told(toolset: Toolset, call: impl Fn(&str, &str, &Value) -> (String, Value)) -> String {
    let rig = Rig::with(Preset::Edit, Vec::new()).arranged(toolset);
    rig.file("a.txt", "let value = 1;\nsame\nsame\n").file("big.py", "x = 1\n".repeat(200_000));
    rig.file("unseen.txt", "one\n").dir("sub");
    let mut lines = Vec::new();
    let mut say = |tool: &str, action: &str, args: Value| {
        let (tool, args) = call(tool, action, &args);
        let outcome = rig.outcome(rig.start_call(&tool, args));
        lines.push(format!("> {tool}\n{}", outcome.model_text()));
    };
    say("reader", "read", json!({ "path": "a.txt" }));
    say("reader", "read", json!({ "path": "sub" }));
    say("reader", "list_dir", json!({ "path": "a.txt" }));
    say("editor", "edit", json!({ "path": "a.txt", "old": "let valeu = 1;", "new": "x" }));
    say("editor", "edit", json!({ "path": "a.txt", "old": "", "new": "x" }));
    say("editor", "edit", json!({ "path": "a.txt", "old": "same", "new": "x" }));
    say("editor", "write", json!({ "path": "unseen.txt", "content": "x" }));
    say("code_nav", "outline", json!({ "path": "big.py" }));
    lines.join("\n\n")
}

fn with_action(action: &str, args: &Value) -> Value {
    let mut with = json!({ "action": action });
    let both = with.as_object_mut().zip(args.as_object());
    if let Some((with, args)) = both {
        with.extend(args.clone());
    }
    with
}

#[test]
fn to_callers_of_actions_answers_speak_of_actions() {
    let told =
        told(Toolset::Actions, |tool, action, args| (tool.to_owned(), with_action(action, args)));
    insta::assert_snapshot!(told, @r#"
    > reader
    1	let value = 1;
    2	same
    3	same

    > reader
    failed (unsupported): `sub` is a directory, not a file
    hint: use "action": "list_dir", or name a file in it

    > reader
    failed (unsupported): `a.txt` is a regular file, not a directory
    hint: use "action": "read", or name the directory it is in

    > editor
    failed (not_found): "old" stands nowhere in `a.txt`; nothing was changed
    The nearest place is line 1:
    1	let value = 1;
    It differs from line 1, column 8 on: "old" has `eu = 1;` (65), the file has `ue = 1;` (75)
    hint: if that is the place, send: {"action":"edit","path":"a.txt","old":"let value = 1;","new":"x"}

    > editor
    failed (invalid_arguments): "old" is empty, so it stands nowhere in particular; nothing was changed
    hint: to put lines between others, use "action": "insert"
    hint: to write a whole file, use "action": "write"

    > editor
    failed (invalid_arguments): "old" stands in 2 places of `a.txt` (lines 2, 3); nothing was changed
    hint: for the one in line 2, send: {"action":"edit","path":"a.txt","old":"let value = 1;\nsame","new":"let value = 1;\nx"}
    hint: for the one in line 3, send: {"action":"edit","path":"a.txt","old":"same\nsame","new":"same\nx"}
    hint: for all of them, send: {"action":"edit","path":"a.txt","old":"same","new":"x","replace_all":true}

    > editor
    failed (conflict): `unseen.txt` exists, and you have not seen all of its 1 line: nothing was written
    hint: read the whole file first, then send this call again
    hint: to change a part of it, use "action": "edit"

    > code_nav
    failed (limit_exceeded): `big.py` is larger than 1 MiB, the most that is parsed
    hint: search in it with `search`
    "#);
}

#[test]
fn to_callers_of_verbs_answers_speak_of_verbs() {
    let told = told(Toolset::Verbs, |tool, action, args| match (tool, action) {
        ("reader", "read") => ("read_file".to_owned(), args.clone()),
        ("reader", _) => ("list_directory".to_owned(), args.clone()),
        ("editor", "edit") => ("edit_file".to_owned(), args.clone()),
        ("editor", _) => ("write_file".to_owned(), args.clone()),
        _ => (tool.to_owned(), with_action(action, args)),
    });
    insta::assert_snapshot!(told, @r#"
    > read_file
    1	let value = 1;
    2	same
    3	same

    > read_file
    failed (unsupported): `sub` is a directory, not a file
    hint: use `list_directory`, or name a file in it

    > list_directory
    failed (unsupported): `a.txt` is a regular file, not a directory
    hint: use `read_file`, or name the directory it is in

    > edit_file
    failed (not_found): "old" stands nowhere in `a.txt`; nothing was changed
    The nearest place is line 1:
    1	let value = 1;
    It differs from line 1, column 8 on: "old" has `eu = 1;` (65), the file has `ue = 1;` (75)
    hint: if that is the place, send: {"path":"a.txt","old":"let value = 1;","new":"x"}

    > edit_file
    failed (invalid_arguments): "old" is empty, so it stands nowhere in particular; nothing was changed
    hint: to write a whole file, use `write_file`

    > edit_file
    failed (invalid_arguments): "old" stands in 2 places of `a.txt` (lines 2, 3); nothing was changed
    hint: for the one in line 2, send: {"path":"a.txt","old":"let value = 1;\nsame","new":"let value = 1;\nx"}
    hint: for the one in line 3, send: {"path":"a.txt","old":"same\nsame","new":"same\nx"}
    hint: for all of them, send: {"path":"a.txt","old":"same","new":"x","replace_all":true}

    > write_file
    failed (conflict): `unseen.txt` exists, and you have not seen all of its 1 line: nothing was written
    hint: read the whole file first, then send this call again
    hint: to change a part of it, use `edit_file`

    > code_nav
    failed (limit_exceeded): `big.py` is larger than 1 MiB, the most that is parsed
    hint: search in it with `search_files`
    "#);
    let words = ["\"action\"", "`editor`", "`reader`", "`search`", "list_dir`"];
    assert!(words.iter().all(|word| !told.contains(word)), "{told}");
}
