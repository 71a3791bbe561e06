//! Whom a project and its files can make do something, and what a slip of the pen can.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::rig::{Rig, arguments, run};

/// Makes a program of this name the first that anybody finds, and lets it leave a trace.
fn trap(folder: &Path, name: &str, trace: &Path) {
    let script = format!("#!/bin/sh\ntouch '{}'\n", trace.display());
    fs::write(folder.join(name), script).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn o_045_opening_a_project_starts_nothing() {
    let rig = Rig::new();
    let trace = rig.folder().join("trace");
    let touch = format!("touch '{}'", trace.display());
    let server = json!({ "command": "/bin/sh", "args": ["-c", touch] });
    let servers = json!({ "mcpServers": { "lint": server } }).to_string();
    rig.file(".mcp.json", &servers)
        .file(".vscode/mcp.json", &servers)
        .file(".claude/settings.json", json!({ "hooks": { "PreToolUse": touch } }).to_string())
        .file(".git/config", format!("[core]\n\tfsmonitor = \"{touch}\"\n\tpager = \"{touch}\"\n"))
        .file("a.txt", "text\n");
    let bin = rig.folder().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["sh", "bash", "git", "rg", "grep", "find", "node", "python3", "less", "man"] {
        trap(&bin, name, &trace);
    }
    let read = arguments("read", &json!({ "path": "a.txt" }));
    let grep = arguments("grep", &json!({ "pattern": "text" }));
    let commands: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["tools"],
        &["tools", "show", "reader"],
        &["call", "reader", &read],
        &["call", "search", &grep],
        &["policy", "show"],
        &["policy", "explain", "reader", &read],
        &["trust"],
        &["--yes", "trust"],
        &["log"],
        &["show", "last"],
        &["state", "du"],
        &["state", "gc"],
        &["doctor"],
        &["completions", "bash"],
        &["man"],
    ];
    for config in [None, Some("[mcp.servers.lint]\ncommand = \"/bin/sh\"\n"), Some("[hooks]\n")] {
        config.map(|text| rig.project(text));
        for args in commands {
            let mut command = rig.command(args);
            command.env("PATH", &bin);
            run(command);
            assert!(!trace.exists(), "{args:?} started a program that the project names");
        }
    }
    // A file that names what haft does not know of is refused, not passed over.
    let ran = rig.haft(&["policy", "show"]);
    assert_eq!(ran.exit, 2);
    insta::assert_snapshot!(ran.stderr, @r"
    error: .haft/config.toml:1:2: unknown key `hooks`: expected `preset`, `rules`, `protection`, `roots`, `limits`, `journal`, `programs`, `model`, `models`, `network` or `aliases`
        |
      1 | [hooks]
        |  ^^^^^
    ");
}

#[test]
fn o_045_trust_is_for_the_exact_bytes_of_a_file() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n")
        .config("preset = \"read-only\"\n")
        .project("preset = \"full\"\n[protection]\nexcept = [\".env\"]\n")
        .file(".env", "NAME=value\n");
    let env = json!({ "path": ".env" });
    assert_eq!(rig.read(&env).control(), "protection", "nobody trusts the project yet");

    // Nobody to ask is no yes.
    let refused = rig.haft(&["trust"]);
    assert_eq!(refused.exit, 3);
    insta::assert_snapshot!(refused.stderr, @r"
    error: not trusted: nobody said yes
    hint: read `.haft/config.toml`, then pass `--yes`
    ");
    assert_eq!(rig.json(&["trust"])["error"]["kind"], "approval");
    assert_eq!(rig.read(&env).control(), "protection");

    assert_eq!(rig.haft(&["--yes", "trust"]).exit, 0);
    assert_eq!(rig.read(&env).text, "1\tNAME=value");

    // One byte more, and it has to be trusted again.
    rig.project("preset = \"full\"\n[protection]\nexcept = [\".env\"]\n\n");
    assert_eq!(rig.read(&env).control(), "protection");
    assert_eq!(rig.haft(&["trust"]).exit, 3);

    assert_eq!(rig.haft(&["--yes", "trust"]).exit, 0);
    assert_eq!(rig.haft(&["trust", "--revoke"]).exit, 0);
    assert_eq!(rig.read(&env).control(), "protection");
}

#[test]
fn o_045_a_project_that_nobody_trusts_overrides_nothing_of_the_users() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n")
        .config("[[rules]]\ndecision = \"deny\"\ntool = \"reader\"\npath = \"a.txt\"\n")
        .project("[[rules]]\ndecision = \"allow\"\ntool = \"*\"\n[roots]\nextra = [\"/\"]\n");
    assert_eq!(rig.read(&json!({ "path": "a.txt" })).control(), "policy");
    assert_eq!(rig.read(&json!({ "path": "/etc/hostname" })).control(), "workspace");
    let ran = rig.haft(&["policy", "show"]);
    insta::assert_snapshot!(ran.all().replace(&rig.folder().display().to_string(), "…"), @r#"
    preset edit  (default)
    deny tool = "reader", path = "a.txt"  (…/config/config.toml:1)
    allow tool = "*"  (.haft/config.toml:1, not followed)
    dropped: .haft/config.toml:1: not followed until you trust this file with `haft trust`: follow the rule `allow tool = "*"`
    dropped: .haft/config.toml:5: not followed until you trust this file with `haft trust`: let tools see `/`
    "#);
}

#[test]
fn o_121_a_setting_that_is_misspelled_stops_the_command() {
    let rig = Rig::new();
    let read = arguments("list_dir", &json!({}));
    let mut said = Vec::new();
    for config in [
        "denyWrit = [\"a\"]\n",
        "permission_mode = \"nonsense\"\n",
        "[mcp.servers.x]\ncomand = \"y\"\n[policy]\nallow = [\"read\"]\n",
        "[[rules]]\ndeny = \"a\"\n",
        "[[rules]]\ndecision = \"denny\"\ntool = \"*\"\n",
        "rules = \"deny\"\n",
        "[protection]\nextras = [\"*.pem\"]\n",
        "[limits]\npermits = \"many\"\n",
        "[limits]\npermits = 0\n",
    ] {
        rig.config(config);
        let ran = rig.haft(&["call", "reader", &read]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{config}: {}", ran.all());
        said.push(ran.stderr.replace(&rig.folder().display().to_string(), "…"));
    }
    rig.config("");
    let mut command = rig.command(&["call", "reader", &read]);
    command.env("HAFT_PRESETT", "read-only");
    let ran = run(command);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    said.push(ran.stderr);
    insta::assert_snapshot!(said.join("\n"), @r#"
    error: …/config/config.toml:1:1: unknown key `denyWrit`: expected `preset`, `rules`, `protection`, `roots`, `limits`, `journal`, `programs`, `model`, `models`, `network` or `aliases`
        |
      1 | denyWrit = ["a"]
        | ^^^^^^^^

    error: …/config/config.toml:1:1: unknown key `permission_mode`: expected `preset`, `rules`, `protection`, `roots`, `limits`, `journal`, `programs`, `model`, `models`, `network` or `aliases`
        |
      1 | permission_mode = "nonsense"
        | ^^^^^^^^^^^^^^^

    error: …/config/config.toml:1:2: unknown key `mcp`: expected `preset`, `rules`, `protection`, `roots`, `limits`, `journal`, `programs`, `model`, `models`, `network` or `aliases`
        |
      1 | [mcp.servers.x]
        |  ^^^

    error: …/config/config.toml:2:1: unknown key `rules.deny`: expected `decision`, `tool`, `tools`, `path`, `paths`, `command`, `commands`, `capabilities`, `access` or `reason`
        |
      2 | deny = "a"
        | ^^^^

    error: …/config/config.toml:2:12: `denny` is not a decision: did you mean `deny`?
        |
      2 | decision = "denny"
        |            ^^^^^^^

    error: …/config/config.toml:1:9: `rules` takes a list, and this is text
        |
      1 | rules = "deny"
        |         ^^^^^^

    error: …/config/config.toml:2:1: unknown key `protection.extras`: did you mean `extra`?
        |
      2 | extras = ["*.pem"]
        | ^^^^^^

    error: …/config/config.toml:2:11: `limits.permits` takes a whole number, and this is text
        |
      2 | permits = "many"
        |           ^^^^^^

    error: …/config/config.toml:2:11: `limits.permits` is 0: expected 1 to 64
        |
      2 | permits = 0
        |           ^

    error: HAFT_PRESETT: there is no such variable: did you mean `HAFT_PRESET`?
    "#);
    assert!(!rig.state().exists(), "nothing was opened, so nothing can have run");
}

#[test]
fn o_121_a_setting_that_is_read_is_followed() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n").config("[journal]\nrecord_arguments = false\n");
    assert_eq!(rig.grep(&json!({ "pattern": "for nobody else" })).exit, 0);
    let shown = rig.haft(&["show", "last"]).all();
    assert!(shown.contains("[not recorded]") && !shown.contains("for nobody else"), "{shown}");

    rig.config("[limits]\noutcome_text_bytes = 1024\n");
    rig.file("long.txt", "line\n".repeat(1_000));
    assert!(rig.read(&json!({ "path": "long.txt" })).text.len() < 2_000);

    let out = rig.out("b.txt").display().to_string();
    rig.outside("b.txt", "text\n");
    assert_eq!(rig.read(&json!({ "path": out })).control(), "workspace");
    let roots = json!([rig.out("")]);
    rig.config(&format!("[protection]\nextra = [\"a.*\"]\n[roots]\nextra = {roots}\n"));
    assert_eq!(rig.read(&json!({ "path": out })).text, "1\ttext");
    assert_eq!(rig.read(&json!({ "path": "a.txt" })).control(), "protection");
}

#[test]
fn o_121_the_policy_in_force_names_where_each_part_comes_from() {
    let rig = Rig::new();
    rig.config("preset = \"read-only\"\n\n[[rules]]\ndecision = \"deny\"\ntool = \"search\"\n")
        .project("[[rules]]\ndecision = \"ask\"\ntool = \"reader\"\n");
    let ran = rig.haft(&["policy", "show"]);
    insta::assert_snapshot!(ran.stdout.replace(&rig.folder().display().to_string(), "…"), @r#"
    preset read-only  (…/config/config.toml:1)
    deny tool = "search"  (…/config/config.toml:3)
    ask tool = "reader"  (.haft/config.toml:1)
    "#);
}
