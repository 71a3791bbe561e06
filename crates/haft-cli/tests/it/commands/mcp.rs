//! `haft mcp`: what it serves, what it refuses to serve, and what it prints for clients' configurations.

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::rig::{Ran, Rig, one_object, ran, run};

const CLIENTS: [&str; 5] = ["claude", "cursor", "vscode", "codex", "zed"];

/// Returns what a client reads in a piece of its configuration: its entry for the server.
fn server(client: &str, text: &str) -> Value {
    let (whole, path): (Value, _) = match client {
        "claude" | "cursor" => (serde_json::from_str(text).unwrap(), "/mcpServers/haft"),
        "vscode" => (serde_json::from_str(text).unwrap(), "/servers/haft"),
        "zed" => (serde_json::from_str(text).unwrap(), "/context_servers/haft"),
        "codex" => (toml::from_str(text).unwrap(), "/mcp_servers/haft"),
        other => panic!("nothing is known of `{other}`"),
    };
    whole.pointer(path).unwrap_or_else(|| panic!("no server in {whole}")).clone()
}

fn arguments(server: &Value) -> Vec<String> {
    let arguments = server["args"].as_array().unwrap().iter();
    arguments.map(|it| it.as_str().unwrap().to_owned()).collect()
}

/// Runs the command for each client and returns what each of them reads.
fn servers(rig: &Rig, options: &[&str]) -> Vec<Value> {
    let each = CLIENTS.into_iter().map(|client| {
        let ran = rig.haft(&[options, &["mcp", "config", client]].concat());
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        server(client, &ran.stdout)
    });
    each.collect()
}

fn ws(rig: &Rig) -> String {
    fs::canonicalize(rig.ws("")).unwrap().to_str().unwrap().to_owned()
}

/// Serves a client that lists the tools and leaves.
fn list(rig: &Rig, args: &[&str]) -> Ran {
    rig.haft_given(listing(), args)
}

fn listing() -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
    format!("{request}\n")
}

fn names(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.exit, 0, "{}", ran.all());
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    let names = list["result"]["tools"].as_array().unwrap().iter();
    names.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_piece_of_configuration_is_what_its_client_reads() {
    let rig = Rig::new();
    let shown = CLIENTS.into_iter().map(|client| {
        let ran = rig.haft(&["mcp", "config", client]);
        format!("--- {client}: {}{}", ran.stderr, ran.stdout)
    });
    let shown = shown.collect::<String>().replace(&ws(&rig), "/ws");
    let shown = shown.replace(env!("CARGO_BIN_EXE_haft"), "/bin/haft");
    let shown = shown.replace(&fs::canonicalize(rig.folder()).unwrap().display().to_string(), "…");
    assert_snapshot!(shown, @r#"
    --- claude: goes into: /ws/.mcp.json (Claude Code, this project)
    or into: …/home/.config/Claude/claude_desktop_config.json (Claude Desktop)
    note: what is in the file already stays beside it; then start the client again
    {
      "mcpServers": {
        "haft": {
          "command": "/bin/haft",
          "args": [
            "mcp",
            "--root",
            "/ws"
          ],
          "env": {
            "HAFT_CONFIG_DIR": "…/config",
            "HAFT_STATE_DIR": "…/state"
          }
        }
      }
    }
    --- cursor: goes into: /ws/.cursor/mcp.json (Cursor, this project)
    or into: …/home/.cursor/mcp.json (Cursor, everywhere)
    note: what is in the file already stays beside it; then start the client again
    {
      "mcpServers": {
        "haft": {
          "command": "/bin/haft",
          "args": [
            "mcp",
            "--root",
            "/ws"
          ],
          "env": {
            "HAFT_CONFIG_DIR": "…/config",
            "HAFT_STATE_DIR": "…/state"
          }
        }
      }
    }
    --- vscode: goes into: /ws/.vscode/mcp.json (VS Code, this project)
    note: what is in the file already stays beside it; then start the client again
    {
      "servers": {
        "haft": {
          "type": "stdio",
          "command": "/bin/haft",
          "args": [
            "mcp",
            "--root",
            "/ws"
          ],
          "env": {
            "HAFT_CONFIG_DIR": "…/config",
            "HAFT_STATE_DIR": "…/state"
          }
        }
      }
    }
    --- codex: goes into: …/home/.codex/config.toml (Codex)
    note: what is in the file already stays beside it; then start the client again
    [mcp_servers.haft]
    command = "/bin/haft"
    args = ["mcp","--root","/ws"]

    [mcp_servers.haft.env]
    "HAFT_CONFIG_DIR" = "…/config"
    "HAFT_STATE_DIR" = "…/state"
    --- zed: goes into: …/home/.config/zed/settings.json (Zed)
    note: what is in the file already stays beside it; then start the client again
    {
      "context_servers": {
        "haft": {
          "source": "custom",
          "command": "/bin/haft",
          "args": [
            "mcp",
            "--root",
            "/ws"
          ],
          "env": {
            "HAFT_CONFIG_DIR": "…/config",
            "HAFT_STATE_DIR": "…/state"
          }
        }
      }
    }
    "#);
}

#[test]
fn it_holds_full_paths() {
    let rig = Rig::new();
    rig.dir("one").dir("other");
    let options = ["--root", "one", "--root", "./other/../other", "--state-dir", "records"];
    for server in servers(&rig, &options) {
        let (ws, state) = (ws(&rig), rig.ws("records"));
        let (one, other) = (format!("{ws}/one"), format!("{ws}/other"));
        let wanted =
            ["mcp", "--root", &one, "--root", &other, "--state-dir", state.to_str().unwrap()];
        assert_eq!(arguments(&server), wanted);
        let program = server["command"].as_str().unwrap();
        assert!(Path::new(program).is_absolute() && Path::new(program).exists(), "{program}");
    }
}

#[test]
fn it_can_name_any_folder() {
    let rig = Rig::new();
    for name in [
        "with spaces",
        "a \"quoted\" one",
        "it's",
        "Überraschung 東京 🦀",
        r"back\slash\u0041",
        "$HOME `x` #{y}",
        "tab\tnew\nline\u{7f}",
    ] {
        rig.dir(name);
        for server in servers(&rig, &["--root", name]) {
            assert_eq!(arguments(&server), ["mcp", "--root", &format!("{}/{name}", ws(&rig))]);
        }
    }
}

#[test]
fn it_carries_over_what_was_said() {
    let rig = Rig::new();
    let options = ["--preset", "full", "--yes", "--toolset", "verbs", "--no-state"];
    for server in servers(&rig, &options) {
        let ws = ws(&rig);
        let wanted =
            ["mcp", "--root", &ws, "--preset", "full", "--yes", "--toolset", "verbs", "--no-state"];
        assert_eq!(arguments(&server), wanted);
    }
    for args in [
        ["mcp", "--wide", "--tools", "reader,search", "config", "claude"],
        ["mcp", "config", "claude", "--tools", "reader,search", "--wide"],
    ] {
        let ran = rig.haft(&args);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let arguments = arguments(&server("claude", &ran.stdout));
        assert_eq!(arguments[3..], ["--tools", "reader,search", "--wide"]);
    }
}

#[test]
fn it_carries_over_what_variables_say() {
    let rig = Rig::new();
    for client in CLIENTS {
        let mut command = rig.command(&["mcp", "config", client]);
        command.env("HAFT_STATE_DIR", "records").env("HAFT_LOG", "debug").env("SECRET", "x");
        let server = server(client, &run(command).stdout);
        let config = rig.folder().join("config");
        let wanted = json!({ "HAFT_CONFIG_DIR": config, "HAFT_STATE_DIR": rig.ws("records") });
        assert_eq!(server["env"], wanted);
    }
}

#[test]
fn a_server_starts_by_it() {
    let rig = Rig::new();
    let server = &servers(&rig, &["--toolset", "verbs"])[0];
    let mut command = Command::new(server["command"].as_str().unwrap());
    command.args(arguments(server)).env_clear().current_dir("/");
    command.env("HOME", rig.folder().join("home"));
    for (name, value) in server["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    let ran = ran(assert_cmd::Command::from_std(command).write_stdin(listing()).output());
    assert!(names(&ran).contains(&"read_file".to_owned()), "{}", ran.all());
}

#[test]
fn it_comes_as_json_too() {
    let rig = Rig::new();
    let data = rig.json(&["mcp", "config", "codex"])["data"].clone();
    let file = data["files"][0].as_str().unwrap();
    assert!(file.ends_with("/.codex/config.toml"), "{file}");
    let server = server("codex", data["text"].as_str().unwrap());
    assert_eq!(arguments(&server), ["mcp", "--root", &ws(&rig)]);
}

#[test]
fn a_client_that_nobody_knows_is_named_with_those_that_are() {
    let ran = Rig::new().haft(&["mcp", "config", "cursed"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    for client in CLIENTS {
        assert!(ran.stderr.contains(client), "{}", ran.stderr);
    }
}

#[test]
fn too_much_is_not_served_unasked() {
    let rig = Rig::new();
    rig.link("way-home", rig.folder().join("home"));
    let folder = rig.folder().to_str().unwrap();
    let home = format!("{folder}/home");
    let mut said = Vec::new();
    for root in ["/", &home, "way-home", folder, "/proc/self/root"] {
        for config in [&["config", "claude"][..], &[]] {
            let ran = list(&rig, &[&["mcp", "--root", root], config].concat());
            assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{root}");
            said.push(ran.stderr.replace(folder, "…"));
        }
    }
    said.dedup();
    assert_snapshot!(said.concat(), @"
    error: `/` is the whole file system
    hint: name the folder to work in: `haft mcp --root DIR`
    hint: or say `--wide` if all of that is meant
    error: `…/home` is the home directory
    hint: name the folder to work in: `haft mcp --root DIR`
    hint: or say `--wide` if all of that is meant
    error: `…/ws/way-home` is the home directory
    hint: name the folder to work in: `haft mcp --root DIR`
    hint: or say `--wide` if all of that is meant
    error: `…` is above the home directory
    hint: name the folder to work in: `haft mcp --root DIR`
    hint: or say `--wide` if all of that is meant
    error: `/proc/self/root` is the whole file system
    hint: name the folder to work in: `haft mcp --root DIR`
    hint: or say `--wide` if all of that is meant
    ");

    let ran = list(&rig, &["mcp", "--root", &home, "--wide"]);
    assert!(names(&ran).contains(&"reader".to_owned()));
    let ran = list(&rig, &["mcp", "--root", ".", "--root", "/"]);
    assert_eq!(ran.exit, 2, "one of several roots is too wide");
}

#[test]
fn the_home_directory_is_not_served_where_it_is_merely_where_a_client_stands() {
    let rig = Rig::new();
    let mut command = rig.command(&["mcp"]);
    command.current_dir(rig.folder().join("home"));
    let ran = run(command);
    assert_eq!(ran.exit, 2);
    let folder = fs::canonicalize(rig.folder()).unwrap().display().to_string();
    assert_snapshot!(ran.stderr.replace(&folder, "…").replace(&rig.folder().display().to_string(), "…"), @"
    error: `…/home`, where the command was started, is the home directory
    hint: name the folder to work in: `haft mcp --root DIR`
    hint: or say `--wide` if all of that is meant
    ");
}

#[test]
fn where_the_home_directory_is_not_known_nothing_is_served_unasked() {
    let rig = Rig::new();
    for home in ["", "/nowhere", "."] {
        let mut command = rig.command(&["mcp", "--root", "."]);
        command.env("HOME", home);
        let ran = run(command);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{home}");
        assert!(ran.stderr.contains("HOME names no directory"), "{}", ran.stderr);
    }
}

/// What a model is told before it calls anything.
fn instructions(rig: &Rig, options: &[&str]) -> String {
    let request = listing().replace("tools/list", "server/discover");
    let ran = rig.haft_given(request, &[options, &["mcp"]].concat());
    let discovered: Value = serde_json::from_str(&ran.stdout).unwrap();
    let told = discovered["result"]["instructions"].as_str().unwrap();
    told.replace(&ws(rig), "/ws").replace(&rig.ws("").display().to_string(), "/ws")
}

#[test]
fn a_model_is_told_what_holds_here_and_nothing_else() {
    let rig = Rig::new();
    assert_snapshot!(instructions(&rig, &[]), @"These tools work in `/ws`; paths begin there. Read the lines of a file before changing them. Every call is checked and recorded. What these tools change in files can be undone. What commands change in files can be undone only in part. When a call is refused, its text says what is allowed: do not try another way around it, and tell the user where only they can change it.");
    assert_snapshot!(instructions(&rig, &["--no-state"]), @"These tools work in `/ws`; paths begin there. Read the lines of a file before changing them. Every call is checked. No records are kept, so no change can be undone. When a call is refused, its text says what is allowed: do not try another way around it, and tell the user where only they can change it.");
    assert_snapshot!(instructions(&rig, &["--preset", "read-only"]), @"These tools work in `/ws`; paths begin there. Nothing can be changed or run here. Every call is checked and recorded. When a call is refused, its text says what is allowed: do not try another way around it, and tell the user where only they can change it.");
}

#[test]
fn tools_can_be_chosen_and_ordered() {
    let rig = Rig::new();
    let all = names(&list(&rig, &["mcp"]));
    assert!(all.len() > 2, "{all:?}");
    let chosen = names(&list(&rig, &["mcp", "--tools", "search,reader"]));
    assert_eq!(chosen, ["search", "reader"]);
    let chosen = names(&list(&rig, &["mcp", "--tools", "builtin/reader", "--tools", "search"]));
    assert_eq!(chosen, ["reader", "search"]);
}

#[test]
fn a_tool_that_there_is_not_is_said_before_anything_is_served() {
    let rig = Rig::new();
    let ran = list(&rig, &["mcp", "--tools", "reader,serach"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""));
    assert_snapshot!(ran.stderr, @r"
    error: `--tools`: there is no tool `serach`; nearest: search, ast_search
    hint: the tools are reader, search, editor, code_nav, ast_search, undo, code_check, bash
    ");
}

#[test]
fn verbs_are_tools_of_their_own() {
    let rig = Rig::new();
    let verbs = names(&list(&rig, &["--toolset", "verbs", "mcp"]));
    for verb in ["read_file", "edit_file"] {
        assert!(verbs.contains(&verb.to_owned()), "{verbs:?}");
    }
    assert!(!verbs.contains(&"reader".to_owned()), "{verbs:?}");
}

#[test]
fn json_is_not_for_a_server() {
    let ran = Rig::new().haft(&["--json", "mcp"]);
    assert_eq!(ran.exit, 2);
    let said = one_object(&ran);
    assert_eq!(
        said["error"]["text"],
        "`--json` is for the answers of other commands: what `haft mcp` prints is the protocol"
    );
}
