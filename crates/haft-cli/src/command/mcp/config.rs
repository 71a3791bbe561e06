//! `haft mcp config`: what to paste into a client's configuration.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::Invocation;
use crate::assemble::UserMistake;
use crate::exit::Exit;
use crate::files;
use crate::print::Tone;

/// The clients whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ClientArg {
    /// Claude Code and Claude Desktop
    Claude,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Codex
    Codex,
    /// Zed
    Zed,
}

/// A piece of a client's configuration.
struct Piece {
    /// The file it belongs in, for a person.
    file: &'static str,
    text: String,
}

pub(super) fn run(invocation: &Invocation<'_>, client: ClientArg) -> anyhow::Result<Exit> {
    let program = invocation.environment.program.as_ref().and_then(|it| it.to_str());
    let program = program.ok_or_else(|| {
        UserMistake::new("the path of this command cannot be written down: it is no Unicode text")
    })?;
    let piece = piece(client, program, &arguments(invocation)?);
    let printer = invocation.printer;
    if printer.is_json() {
        return printer.envelope(Exit::Ok, json!({ "file": piece.file, "text": piece.text }));
    }
    printer.aside(Tone::Faint, "goes into", piece.file);
    printer.text(&piece.text);
    Ok(Exit::Ok)
}

/// Returns the arguments that a client starts the command with: the roots in full, and what was said of calls.
fn arguments(invocation: &Invocation<'_>) -> anyhow::Result<Vec<String>> {
    let global = invocation.global;
    let mut arguments = vec!["mcp".to_owned()];
    for root in invocation.roots()? {
        let real = files::real_path(&root.path).map_err(|error| {
            UserMistake::new(format!("`{}` cannot be served: {error}", root.path.display()))
        })?;
        let text = real.to_str().ok_or_else(|| {
            let shown = real.display();
            UserMistake::new(format!("`{shown}` cannot be written down: it is no Unicode text"))
        })?;
        arguments.extend(["--root".to_owned(), text.to_owned()]);
    }
    let mut add = |flag: &str, value: Option<&str>| {
        arguments.push(flag.to_owned());
        arguments.extend(value.map(ToOwned::to_owned));
    };
    if let Some(preset) = global.preset {
        let preset: haft::policy::Preset = preset.into();
        add("--preset", Some(&preset.to_string()));
    }
    if global.yes {
        add("--yes", None);
    }
    if let Some(shape) = global.toolset.to_possible_value()
        && shape.get_name() != "actions"
    {
        add("--toolset", Some(shape.get_name()));
    }
    if global.no_state {
        add("--no-state", None);
    }
    if let Some(dir) = &global.state_dir {
        add("--state-dir", dir.to_str());
    }
    Ok(arguments)
}

fn piece(client: ClientArg, program: &str, arguments: &[String]) -> Piece {
    let server = json!({ "command": program, "args": arguments });
    let json = |value: Value| format!("{value:#}");
    match client {
        ClientArg::Claude => Piece {
            file: ".mcp.json in the project (Claude Code), or claude_desktop_config.json (Claude Desktop)",
            text: json(json!({ "mcpServers": { "haft": server } })),
        },
        ClientArg::Cursor => Piece {
            file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
            text: json(json!({ "mcpServers": { "haft": server } })),
        },
        ClientArg::Vscode => Piece {
            file: ".vscode/mcp.json in the project",
            text: json(json!({
                "servers": { "haft": { "type": "stdio", "command": program, "args": arguments } }
            })),
        },
        ClientArg::Codex => Piece {
            file: "~/.codex/config.toml",
            // A string of JSON is one of TOML.
            text: format!(
                "[mcp_servers.haft]\ncommand = {}\nargs = {}",
                json!(program),
                json!(arguments)
            ),
        },
        ClientArg::Zed => Piece {
            file: "~/.config/zed/settings.json",
            text: json(json!({
                "context_servers": {
                    "haft": { "source": "custom", "command": program, "args": arguments }
                }
            })),
        },
    }
}
