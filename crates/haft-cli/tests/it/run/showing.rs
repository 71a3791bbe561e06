//! What a person sees, on a terminal and afterwards.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::working::with;
use crate::rig::{Rig, Says, at_terminal, at_terminal_typing, at_terminal_when};

#[test]
fn a_run_is_listed_and_shown_entry_by_entry() {
    let (rig, _server) = with([
        Says::Calls(
            "Let me look.",
            vec![("reader", json!({ "action": "read", "path": "nowhere" }))],
        ),
        Says::Text(&["It is not there."]),
    ]);
    assert_eq!(rig.haft(&["run", "look at nowhere"]).exit, 0);
    let listed = rig.haft(&["runs"]).stdout;
    assert!(listed.contains("done") && listed.contains("look at nowhere"), "{listed}");
    let shown = rig.haft(&["show", "last-run"]).stdout;
    for text in ["look at nowhere", "you", "Let me look.", "reader read nowhere", "not_found"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // What each request was made of.
    for text in ["request 1, about ", "request 2, about ", "tools; task", "task; 1 entry since"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let call = rig.json(&["log"])["data"][0]["id"].as_str().unwrap().to_owned();
    assert!(rig.haft(&["show", &call]).stdout.contains("reader"), "a call is still shown as one");
}

#[test]
fn at_a_terminal_text_is_wrapped_and_colours_only_repeat_what_words_say() {
    let edit = json!({ "action": "edit", "path": "src/a.txt", "old": "two", "new": "zwei" });
    let read = json!({ "action": "read", "path": "src/a.txt" });
    let script = [
        Says::Calls(
            "I will look for the line that has to be translated, and then translate it into German, as you asked me to.",
            vec![("reader", read)],
        ),
        Says::Calls("", vec![("editor", edit)]),
        Says::Text(&["All ", "done."]),
    ];
    let (rig, server) = with(script.clone());
    let Some(plain) = at_terminal(&rig, &["--color", "never", "run", "translate"], "") else {
        return;
    };
    insta::assert_snapshot!(behind_the_head(&plain), @r"
    I will look for the line that has to be translated, and then translate it into
    German, as you asked me to.
    > reader read src/a.txt
      1    one
      2    two
      3    three
    > editor edit src/a.txt
      modified src/a.txt
      @@ -1,3 +1,3 @@
       one
      -two
      +zwei
       three

    All done.
    used: 3 requests, 24030 tokens (24000 in, 30 out), $0.0242
    ");
    rig.file("src/a.txt", "one\ntwo\nthree\n");
    server.then_all(script);
    let coloured = at_terminal(&rig, &["run", "translate"], "").unwrap();
    assert!(coloured.contains("\x1b[1meditor\x1b[0m"), "{coloured:?}");
    assert!(coloured.contains("\x1b[32m+zwei\x1b[0m"), "{coloured:?}");
}

/// Leaves out who is asked and where, which is different each time.
fn behind_the_head(shown: &str) -> String {
    let behind = shown.split_once("\nrun: ").unwrap().1.split_once('\n').unwrap().1;
    behind.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_question_of_a_run_is_answered_at_the_terminal() {
    let script = [
        Says::Calls("", vec![("bash", json!({ "command": "echo made > made.txt" }))]),
        Says::Text(&["Done."]),
    ];
    let (rig, server) = with(script.clone());
    let Some(no) = at_terminal(&rig, &["--color", "never", "run", "make a file"], "n\n") else {
        return;
    };
    assert!(no.contains("bash wants to run") && no.contains("denied by approval"), "{no}");
    assert!(!rig.ws("made.txt").exists());
    server.then_all(script);
    let yes = at_terminal(&rig, &["--color", "never", "run", "make a file"], "y\n").unwrap();
    assert!(rig.ws("made.txt").exists(), "{yes}");
}

fn command(command: &str) -> Says {
    Says::Calls("", vec![("bash", json!({ "command": command }))])
}

#[test]
fn a_yes_for_the_run_is_about_exactly_the_same_call() {
    let (rig, server) = with([
        command("echo one"),
        command("echo one"),
        command("echo two"),
        Says::Text(&["Done."]),
    ]);
    let Some(shown) = at_terminal(&rig, &["--color", "never", "run", "echo"], "r\nonly one\n")
    else {
        return;
    };
    assert_eq!(shown.matches("Allow? [y/r/a/N]").count(), 2, "{shown}");
    assert!(shown.contains("denied by approval: ada said no: only one"), "{shown}");
    assert!(server.asked()[3].to_string().contains("said no: only one"));
}

#[test]
fn a_yes_for_the_run_is_about_what_paths_led_to() {
    let read = || {
        let args = json!({ "action": "read", "path": "link/a.txt" });
        Says::Calls("", vec![("reader", args)])
    };
    let (rig, _server) =
        with([read(), read(), command("ln -sfn closed link"), read(), Says::Text(&["Done."])]);
    let config = fs::read_to_string(rig.folder().join("config/config.toml")).unwrap();
    rig.config(&format!("{config}\n[[rules]]\ndecision = \"ask\"\ntool = \"reader\"\n"));
    rig.file("open/a.txt", "seen\n").file("closed/a.txt", "not seen\n");
    std::os::unix::fs::symlink("open", rig.ws("link")).unwrap();
    let args = ["--color", "never", "run", "read"];
    let Some(shown) = at_terminal(&rig, &args, "r\ny\nn\n") else { return };
    for leads in ["path is open/a.txt", "path is closed/a.txt"] {
        assert_eq!(shown.matches(leads).count(), 1, "{shown}");
    }
    assert!(shown.contains("denied by approval") && !shown.contains("not seen"), "{shown}");
}

#[test]
fn nothing_that_was_typed_before_a_question_answers_it() {
    let (rig, _server) = with([command("touch one"), command("touch two"), Says::Text(&["Done."])]);
    let args = ["--color", "never", "run", "make files"];
    // The second yes is there before the second question is.
    let typed = ["y\ny\na\n", "n\n"];
    let Some(shown) = at_terminal_typing(&rig, &args, Duration::ZERO, &typed) else { return };
    assert_eq!(shown.matches("bash wants to run").count(), 2, "{shown}");
    assert!(rig.ws("one").exists() && !rig.ws("two").exists(), "{shown}");
    assert!(shown.contains("denied by approval"), "{shown}");
}

#[test]
fn a_yes_for_good_is_the_rule_that_was_shown() {
    let (rig, server) = with([command("echo one"), Says::Text(&["Done."])]);
    let before = fs::read_to_string(rig.folder().join("config/config.toml")).unwrap();
    let args = ["--color", "never", "run", "echo"];
    let Some(shown) = at_terminal(&rig, &args, "a\n") else { return };
    assert!(shown.contains("a  yes, always: this goes into "), "{shown}");
    let rule = "[[rules]]\ndecision = \"allow\"\ntool = \"builtin/bash\"\ncommand = \"echo one\"\n";
    for line in rule.lines() {
        assert!(shown.contains(&format!("       {line}")), "{line}: {shown}");
    }
    let after = fs::read_to_string(rig.folder().join("config/config.toml")).unwrap();
    assert_eq!(after, format!("{before}\n{rule}"));
    server.then_all([command("echo one"), Says::Text(&["Done."])]);
    let again = at_terminal(&rig, &args, "").unwrap();
    assert!(!again.contains("Allow?") && !again.contains("denied"), "{again}");
}

#[test]
fn no_rule_is_offered_for_what_is_not_plain() {
    for text in ["echo one > file", "echo $HOME", "X=1 echo one", "for x in 1; do echo; done"] {
        let (rig, _server) = with([command(text), Says::Text(&["Done."])]);
        let Some(shown) = at_terminal(&rig, &["--color", "never", "run", "echo"], "a\n") else {
            return;
        };
        assert!(shown.contains("Allow? [y/r/N]"), "{text}: {shown}");
        assert!(shown.contains("denied by approval"), "{text}: {shown}");
    }
}

#[test]
fn no_rule_is_offered_for_what_a_model_can_rewrite() {
    for text in ["./run.sh", "sh run.sh", "echo one && ./run.sh"] {
        let (rig, _server) = with([command(text), Says::Text(&["Done."])]);
        rig.file("run.sh", "echo one\n");
        let Some(shown) = at_terminal(&rig, &["--color", "never", "run", "echo"], "a\n") else {
            return;
        };
        assert!(shown.contains("Allow? [y/r/N]"), "{text}: {shown}");
        assert!(shown.contains("denied by approval"), "{text}: {shown}");
    }
}

#[test]
fn a_rule_for_what_the_files_of_a_project_direct_says_so() {
    let (rig, server) = with([command("make test"), Says::Text(&["Done."])]);
    rig.file("Makefile", "test:\n\techo one\n");
    let args = ["--color", "never", "run", "test"];
    let Some(shown) = at_terminal(&rig, &args, "n\n") else { return };
    let text =
        "What `make` does is up to the files of the project: they can change, and the rule stays.";
    assert!(shown.contains("command = \"make test\"") && shown.contains(text), "{shown}");
    server.then_all([command("ls -l"), Says::Text(&["Done."])]);
    let shown = at_terminal(&rig, &args, "n\n").unwrap();
    assert!(shown.contains("command = \"ls -l\"") && !shown.contains("is up to"), "{shown}");
}

#[test]
fn an_undo_in_a_chat_asks_once() {
    let write = |path: &str| {
        let args = json!({ "action": "write", "path": path, "content": "new\n" });
        Says::Calls("", vec![("editor", args)])
    };
    let (rig, _server) = with([write("one.txt"), write("two.txt"), Says::Text(&["Done."])]);
    let config = fs::read_to_string(rig.folder().join("config/config.toml")).unwrap();
    let asks = "[[rules]]\ndecision = \"ask\"\ncapabilities = [\"write_files\"]\n";
    rig.config(&format!("{config}\n{asks}"));
    let typed = [
        ("> ", "write two files\n"),
        ("N] ", "y\n"),
        ("N] ", "y\n"),
        ("used: ", "/undo\n"),
        ("Take these changes back? [y/N] ", "n\n"),
        ("nothing was done", "/undo\n"),
        ("Take these changes back? [y/N] ", "y\n"),
        ("one.txt  removed", "/quit\n"),
    ];
    let args = ["--color", "never", "chat"];
    let Some(shown) = at_terminal_when(&rig, &args, Duration::ZERO, &typed) else { return };
    assert_eq!(shown.matches("wants to run").count(), 2, "{shown}");
    assert!(!rig.ws("one.txt").exists() && !rig.ws("two.txt").exists(), "{shown}");
}

#[test]
fn a_chat_is_a_run_of_several_messages() {
    let (rig, server) = with([Says::Text(&["Hello."]), Says::Text(&["Bye."])]);
    let ran = rig.haft_given("hi \\\nthere\n/help\n/nonsense\nbye\n/quit\nnever said\n", &["chat"]);
    assert_eq!((ran.exit, ran.stdout.matches("Hello.\n").count()), (0, 1), "{}", ran.all());
    assert!(ran.stdout.contains("/undo") && ran.stderr.contains("`/nonsense` is no command"));
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].to_string().contains(r"hi \nthere"), "{}", asked[0]);
    assert!(asked[1].to_string().contains("Hello."), "{}", asked[1]);
    assert_eq!(rig.json(&["runs"])["data"].as_array().unwrap().len(), 1);
}

#[test]
fn models_and_settings_are_listed_without_their_secrets() {
    let (rig, server) = with([]);
    let leaky = "[models.leaky]\nbase_url = \"https://me:s3cr3t@box.example/v1\"\n";
    rig.config(&format!("{}key_env = \"BOX_KEY\"\n\n{leaky}", server.config()));
    for args in [&["models"][..], &["--json", "models"]] {
        let mut command = rig.command(args);
        command.env("BOX_KEY", "s3cr3t-value").env("OPENAI_API_KEY", "s3cr3t-value");
        let ran = crate::rig::run(command);
        assert_eq!(ran.exit, 0, "{}", ran.all());
        assert!(!ran.all().contains("s3cr3t"), "{}", ran.all());
        for text in ["BOX_KEY", "OPENAI_API_KEY", "box/scripted", "2026-"] {
            assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
        }
    }
    let explained = rig.haft(&["config", "explain", "model"]).stdout;
    assert!(explained.contains("model.default = \"box/scripted\"  ("), "{explained}");
    assert!(explained.contains("config.toml:2"), "{explained}");
    assert!(!explained.contains("s3cr3t"), "{explained}");
    assert!(explained.contains("models.box = { base_url"), "{explained}");
}

#[test]
fn every_setting_is_listed_in_the_order_of_its_keys() {
    let rig = Rig::new();
    rig.config(
        "[models.box]\nbase_url = \"http://127.0.0.1:1/v1\"\nprovider = \"vllm\"\n\
         output_tokens = 1000\nsees_images = true\nprice = { input = 0.25, output = 1 }\n",
    );
    let settings = rig.json(&["config", "explain"])["data"]["settings"].clone();
    let keys: Vec<&str> =
        settings.as_array().unwrap().iter().map(|it| it["key"].as_str().unwrap()).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    let models = rig.json(&["config", "explain", "models"]);
    insta::assert_snapshot!(models["data"]["settings"][0]["value"].as_str().unwrap(), @r#"{ base_url = "http://127.0.0.1:1/v1", provider = "vllm", output_tokens = 1000, sees_images = true, price = { input = 0.25, output = 1, cache_read = 0.25, cache_write = 0.25 } }"#);
}
