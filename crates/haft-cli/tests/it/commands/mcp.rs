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
    --- claude: goes into: .mcp.json in the project (Claude Code), or claude_desktop_config.json (Claude Desktop)
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
    --- cursor: goes into: .cursor/mcp.json in the project, or ~/.cursor/mcp.json
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
    --- vscode: goes into: .vscode/mcp.json in the project
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
    --- codex: goes into: ~/.codex/config.toml
    [mcp_servers.haft]
    command = "/bin/haft"
    args = ["mcp","--root","/ws"]

    [mcp_servers.haft.env]
    HAFT_CONFIG_DIR = "…/config"
    HAFT_STATE_DIR = "…/state"
    --- zed: goes into: ~/.config/zed/settings.json
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
    rig.dir("inner");
    for server in servers(&rig, &["--root", "inner", "--root", ".", "--state-dir", "records"]) {
        let (ws, state) = (ws(&rig), rig.ws("records"));
        let inner = format!("{ws}/inner");
        let wanted =
            ["mcp", "--root", &inner, "--root", &ws, "--state-dir", state.to_str().unwrap()];
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
    assert_snapshot!(ran.stderr, @"error: `--tools`: there is no tool `serach`; nearest: search, ast_search");
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
        "`--json` is for answers to a person's commands; this command speaks MCP"
    );
}
