//! `haft mcp config`: what to paste into a client's configuration.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ContextKind;
use clap::{Arg, ValueEnum};
use haft::text::visible_line;
use serde_json::{Map, Value, json};

use super::{Invocation, Serving};
use crate::args::ToolsetArg;
use crate::assemble::{UserMistake, assemble};
use crate::command::Records;
use crate::exit::Exit;
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

/// Reads the name of a client, and suggests none: names as short as these are like many words.
#[derive(Debug, Clone)]
pub(super) struct ClientNames;

impl TypedValueParser for ClientNames {
    type Value = ClientArg;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ClientArg, clap::Error> {
        EnumValueParser::new().parse_ref(command, argument, value).map_err(|mut error| {
            error.remove(ContextKind::SuggestedValue);
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names: Vec<_> =
            ClientArg::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
        Some(Box::new(names.into_iter()))
    }
}

/// A piece of a client's configuration.
struct Piece {
    /// The files it may go into, each with what reads it.
    files: Vec<(PathBuf, &'static str)>,
    text: String,
}

/// What a client starts.
struct Start {
    program: String,
    arguments: Vec<String>,
    /// Variables that say something to haft; a client may be started without them.
    variables: Map<String, Value>,
}

pub(super) fn run(
    invocation: &Invocation<'_>,
    client: ClientArg,
    serving: &Serving,
) -> anyhow::Result<Exit> {
    would_start(invocation)?;
    let Some(program) = &invocation.environment.program else {
        return Err(UserMistake::new("the path of this command is not known").into());
    };
    let start = Start {
        program: written(program, "the path of this command")?,
        arguments: arguments(invocation, serving)?,
        variables: variables(invocation)?,
    };
    let piece = Piece { files: files(invocation, client)?, text: text(client, &start) };
    let printer = invocation.printer;
    if printer.is_json() {
        let files: Vec<_> =
            piece.files.iter().map(|(path, _)| path.display().to_string()).collect();
        return printer.envelope(Exit::Ok, json!({ "files": files, "text": piece.text }));
    }
    for (number, (path, reader)) in piece.files.iter().enumerate() {
        let label = if number == 0 { "goes into" } else { "or into" };
        printer.aside(Tone::Faint, label, &format!("{} ({reader})", path.display()));
    }
    printer.aside(
        Tone::Faint,
        "note",
        "what is in the file already stays beside it; then start the client again",
    );
    if invocation.global.yes {
        let text = "with `--yes` in it, this client's model is asked about nothing that the preset would ask about";
        printer.aside(Tone::Warn, "note", text);
    }
    printer.text(&piece.text);
    Ok(Exit::Ok)
}

/// Refuses what a client could not start: it would show as a server that failed, and no more.
fn would_start(invocation: &Invocation<'_>) -> anyhow::Result<()> {
    let trial = Invocation {
        global: invocation.global,
        environment: invocation.environment,
        printer: invocation.printer,
        records: Records::LeftAlone,
        asked: invocation.asked,
        progress: Arc::clone(&invocation.progress),
        agreed: invocation.agreed.clone(),
    };
    assemble(&trial).map(|_| ())
}

/// Returns the files that a client reads.
fn files(
    invocation: &Invocation<'_>,
    client: ClientArg,
) -> anyhow::Result<Vec<(PathBuf, &'static str)>> {
    let project = invocation.roots()?.into_iter().next().map(|it| it.path).unwrap_or_default();
    let project = crate::files::real_path(&project).unwrap_or(project);
    let home = invocation.environment.home.clone().unwrap_or_else(|| PathBuf::from("~"));
    let desktop = if cfg!(target_os = "macos") {
        "Library/Application Support/Claude/claude_desktop_config.json"
    } else {
        ".config/Claude/claude_desktop_config.json"
    };
    Ok(match client {
        ClientArg::Claude => vec![
            (project.join(".mcp.json"), "Claude Code, this project"),
            (home.join(desktop), "Claude Desktop"),
        ],
        ClientArg::Cursor => vec![
            (project.join(".cursor/mcp.json"), "Cursor, this project"),
            (home.join(".cursor/mcp.json"), "Cursor, everywhere"),
        ],
        ClientArg::Vscode => vec![(project.join(".vscode/mcp.json"), "VS Code, this project")],
        ClientArg::Codex => vec![(home.join(".codex/config.toml"), "Codex")],
        ClientArg::Zed => vec![(home.join(".config/zed/settings.json"), "Zed")],
    })
}

/// Returns the arguments that a client starts the command with: the roots in full, and what was said of calls.
fn arguments(invocation: &Invocation<'_>, serving: &Serving) -> anyhow::Result<Vec<String>> {
    let global = invocation.global;
    let mut arguments = vec!["mcp".to_owned()];
    for root in invocation.roots()? {
        let real = crate::files::real_path(&root.path).map_err(|error| {
            UserMistake::new(format!("`{}` cannot be served: {error}", root.path.display()))
        })?;
        arguments.extend(["--root".to_owned(), written(&real, "a root")?]);
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
    if let Some(shape) = global.toolset.filter(|it| *it != ToolsetArg::default()) {
        add("--toolset", Some(shape.name()));
    }
    if !serving.tools.is_empty() {
        add("--tools", Some(&serving.tools.join(",")));
    }
    if serving.wide {
        add("--wide", None);
    }
    if global.no_state {
        add("--no-state", None);
    }
    if let Some(dir) = &global.state_dir {
        add("--state-dir", Some(&full(invocation, dir)?));
    }
    Ok(arguments)
}

/// Returns the variables that say something to haft, with the paths in full.
fn variables(invocation: &Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
    let mut variables = Map::new();
    for (name, value) in invocation.environment.variables() {
        let is_said = |it: &&str| it.starts_with("HAFT_") && *it != "HAFT_LOG" && !value.is_empty();
        let Some(name) = name.to_str().filter(is_said) else { continue };
        let value = if name.ends_with("_DIR") {
            full(invocation, Path::new(&value))?
        } else {
            written(Path::new(&value), "a variable")?
        };
        variables.insert(name.to_owned(), Value::String(value));
    }
    variables.sort_keys();
    Ok(variables)
}

/// Writes a path down in full: a client starts its servers wherever it likes.
fn full(invocation: &Invocation<'_>, path: &Path) -> anyhow::Result<String> {
    let here = invocation.environment.current_dir.as_deref().unwrap_or_else(|| Path::new("/"));
    written(&here.join(path), "a path")
}

fn written(path: &Path, what: &str) -> anyhow::Result<String> {
    let text = path.to_str().ok_or_else(|| {
        let shown = path.display();
        UserMistake::new(format!(
            "{what}, `{shown}`, cannot be written down: it is no Unicode text"
        ))
    })?;
    Ok(text.to_owned())
}

fn text(client: ClientArg, start: &Start) -> String {
    let Start { program, arguments, variables } = start;
    let server = |first: Value| {
        let mut server = match first {
            Value::Object(first) => first,
            _ => Map::new(),
        };
        server.insert("command".to_owned(), json!(program));
        server.insert("args".to_owned(), json!(arguments));
        if !variables.is_empty() {
            server.insert("env".to_owned(), json!(variables));
        }
        Value::Object(server)
    };
    let json = |value: Value| {
        shown(&format!("{value:#}"), |it| {
            let mut units = [0; 2];
            let units = it.encode_utf16(&mut units).iter();
            units.fold(String::new(), |text, unit| format!("{text}\\u{unit:04x}"))
        })
    };
    match client {
        ClientArg::Claude | ClientArg::Cursor => {
            json(json!({ "mcpServers": { "haft": server(json!({})) } }))
        }
        ClientArg::Vscode => {
            json(json!({ "servers": { "haft": server(json!({ "type": "stdio" })) } }))
        }
        ClientArg::Codex => toml(start),
        ClientArg::Zed => {
            json(json!({ "context_servers": { "haft": server(json!({ "source": "custom" })) } }))
        }
    }
}

fn toml(Start { program, arguments, variables }: &Start) -> String {
    // A string of JSON is one of TOML.
    let mut lines = vec![
        "[mcp_servers.haft]".to_owned(),
        format!("command = {}", json!(program)),
        format!("args = {}", json!(arguments)),
    ];
    if !variables.is_empty() {
        lines.push(String::new());
        lines.push("[mcp_servers.haft.env]".to_owned());
        lines.extend(variables.iter().map(|(name, value)| format!("{} = {value}", json!(name))));
    }
    shown(&lines.join("\n"), |it| format!("\\U{:08x}", u32::from(it)))
}

/// Writes characters that would not show themselves in the way of the format, before a terminal is spared them in another.
fn shown(text: &str, escape: impl Fn(char) -> String) -> String {
    let mut shown = String::with_capacity(text.len());
    for it in text.chars() {
        let mut bytes = [0; 4];
        let piece: &str = it.encode_utf8(&mut bytes);
        if it == '\n' || visible_line(piece) == piece {
            shown.push(it);
        } else {
            shown.push_str(&escape(it));
        }
    }
    shown
}
