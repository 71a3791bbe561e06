//! `haft mcp`: serve the tools to an MCP client.

mod config;
mod http;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueHint};
use haft::mcp::{About, End, McpServer};
use haft::{Cancellation, Capabilities, Capability, Haft, Registered, Selection};

use super::Invocation;
use super::call::interrupted;
use crate::assemble::{Assembled, UserMistake, assemble};
use crate::exit::Exit;
use crate::files;
use crate::print::Tone;
use crate::roots::{Root, Why};
use config::{ClientArg, ClientNames};
use http::TokenFile;

/// Serve the tools to an MCP client, or print what such a client needs to know
#[derive(Debug, Args)]
#[command(after_help = "\
Without a subcommand it speaks the Model Context Protocol over standard input
and output, until the input ends. Calls that have to be asked about are asked
of the client's user, where the client can ask.

With `--http` it speaks the same over HTTP, to any number of clients of this
machine that send the token it prints, until it is interrupted. Scripts name a
port and a `--token-file`.

`haft mcp config CLIENT` prints what to paste into the client's configuration.")]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Option<McpAction>,

    /// Serve over HTTP, on a loopback address of this machine; without one, on a port that is free
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<String>,

    /// Write the token to this file, for this user alone, and do not show it; the file goes when the server ends
    #[arg(long, value_name = "FILE", requires = "http", value_hint = ValueHint::FilePath)]
    token_file: Option<PathBuf>,

    #[command(flatten)]
    serving: Serving,
}

impl McpArgs {
    /// Tells whether clients come over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.http.is_some()
    }
}

/// How to serve, which a client's configuration says too.
#[derive(Debug, Args)]
struct Serving {
    /// Show these tools only, in this order: names with commas between them
    #[arg(long, global = true, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,

    /// Serve `/`, the home directory or a folder above it, which is refused otherwise
    #[arg(long, global = true)]
    wide: bool,
}

#[derive(Debug, Subcommand)]
enum McpAction {
    /// Print what to paste into a client's configuration
    Config {
        /// The client
        #[arg(value_parser = ClientNames)]
        client: ClientArg,
    },
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: McpArgs) -> anyhow::Result<Exit> {
    let McpArgs { action, http, token_file, serving: Serving { tools, wide } } = args;
    if !wide {
        refuse_wide_roots(invocation)?;
    }
    if let Some(McpAction::Config { client }) = action {
        if http.is_some() {
            let text = "`--http` starts a server; clients that are configured start theirs";
            return Err(UserMistake::new(text).into());
        }
        return config::run(invocation, client, &Serving { tools, wide });
    }
    if invocation.printer.is_json() {
        let text =
            "`--json` is for the answers of other commands: what `haft mcp` prints is the protocol";
        return Err(UserMistake::new(text).hint("leave it out").into());
    }
    let Assembled { haft, roots, .. } = assemble(invocation)?;
    let token_file = token_file.map(|path| TokenFile::at(path, &roots)).transpose()?;
    show(&haft, tools)?;
    let server = server(&haft, &roots)?;
    if let Some(address) = http {
        return http::serve(invocation, &server, &address, &roots, token_file).await;
    }
    if std::io::stdin().is_terminal() {
        let text = "this speaks the Model Context Protocol to a client, and waits for one; Ctrl-D ends it. \
                    `haft mcp config CLIENT` prints what a client needs to start it";
        invocation.printer.aside(Tone::Faint, "note", text);
    }
    let stop = Cancellation::new();
    let interrupted = interrupted()?;
    let (input, output) = haft::mcp::standard_streams();
    let serving = server.serve(input, output, &stop);
    let mut serving = std::pin::pin!(serving);
    let end = tokio::select! {
        end = &mut serving => end,
        () = interrupted => {
            stop.cancel();
            serving.await
        }
    };
    match end {
        Ok(End::ClientLeft) => Ok(Exit::Ok),
        Ok(_) => Ok(Exit::Cancelled),
        Err(error) => Err(anyhow::Error::new(error).context("the connection broke")),
    }
}

fn server(haft: &Haft, roots: &[Root]) -> anyhow::Result<McpServer> {
    let about = About::new("haft", env!("CARGO_PKG_VERSION"));
    let place = roots.first().map(|it| it.path.display().to_string()).unwrap_or_default();
    let about = about.instructions(instructions(haft, roots)).place(place);
    Ok(haft.mcp()?.about(about).build()?)
}

/// Takes what no call could be allowed of out of a model's sight.
fn show(haft: &Haft, named: Vec<String>) -> anyhow::Result<()> {
    let names = if named.is_empty() {
        let snapshot = haft.registry().snapshot();
        let possible = snapshot.tools().filter(|it| may(haft, it, it.descriptor.capabilities()));
        possible.map(|it| it.wire.as_str().to_owned()).collect()
    } else {
        if named.iter().any(|it| it.trim().is_empty()) {
            return Err(UserMistake::new("`--tools`: expected names with commas between them")
                .hint("`haft tools` lists them; leave `--tools` out for all")
                .into());
        }
        named.iter().map(|it| it.trim().to_owned()).collect()
    };
    let shown = haft.registry().show(Selection::Named(names));
    shown.map_err(|error| {
        let snapshot = haft.registry().snapshot();
        let there: Vec<_> = snapshot.tools().map(|it| it.wire.as_str()).collect();
        UserMistake::new(format!("`--tools`: {error}"))
            .hint(format!("the tools are {}", there.join(", ")))
            .into()
    })
}

/// Tells whether some call with these effects might be allowed.
fn may(haft: &Haft, tool: &Registered, effects: &Capabilities) -> bool {
    let name = tool.descriptor.name();
    let (tool, alias) = match &tool.alias_of {
        None => (name, None),
        Some(canonical) => (canonical, Some(name)),
    };
    haft.policy().rules_out(tool, alias, effects).is_none()
}

/// Tells whether some tool that is shown might have this effect.
fn some_may(haft: &Haft, effect: Capability) -> bool {
    let Ok(alone) = Capabilities::builder().effect(effect).build() else { return true };
    let snapshot = haft.registry().snapshot();
    snapshot.tools().any(|it| it.descriptor.capabilities().has(effect) && may(haft, it, &alone))
}

/// What a client puts before its model. It costs room in every conversation, so that it says what no tool says itself, and
/// nothing that does not hold here.
fn instructions(haft: &Haft, roots: &[Root]) -> String {
    let root = |it: &Root| format!("`{}`", it.path.display());
    let mut said = Vec::new();
    if let [first, further @ ..] = roots {
        said.push(format!("These tools work in {}; paths begin there.", root(first)));
        let further: Vec<String> = further.iter().map(root).collect();
        if !further.is_empty() {
            said.push(format!("Full paths also reach {}.", further.join(", ")));
        }
    }
    let is_recorded = haft.store().is_some();
    let writes = some_may(haft, Capability::WriteFiles);
    let runs = some_may(haft, Capability::Execute);
    let mut say = |text: &str| said.push(text.to_owned());
    if writes {
        say("Read the lines of a file before changing them.");
    }
    if !writes && !runs {
        say("Nothing can be changed or run here.");
    }
    say(if is_recorded { "Every call is checked and recorded." } else { "Every call is checked." });
    if !is_recorded && (writes || runs) {
        say("No records are kept, so no change can be undone.");
    }
    if is_recorded && writes {
        say("What these tools change in files can be undone.");
    }
    if is_recorded && runs {
        say("What commands change in files can be undone only in part.");
    }
    say(
        "When a call is refused, its text says what is allowed: do not try another way around it, and tell the user where \
         only they can change it.",
    );
    said.join(" ")
}

/// A client starts its servers wherever it likes, and what is served is given into a model's hands.
fn refuse_wide_roots(invocation: &Invocation<'_>) -> anyhow::Result<()> {
    let home = invocation.environment.home.as_deref().and_then(|it| files::real_path(it).ok());
    let Some(home) = home else {
        // What cannot be checked is not served.
        return Err(UserMistake::new(
            "HOME names no directory, so whether a root is too wide cannot be told",
        )
        .hint("set HOME")
        .hint("or say `--wide` if whatever the roots hold is meant")
        .into());
    };
    for Root { path, why } in invocation.roots()? {
        let Ok(real) = files::real_path(&path) else { continue };
        let Some(what) = wide(&real, &home) else { continue };
        let how = match why {
            Why::Given => "",
            Why::Here | Why::Project | Why::Configured => ", where the command was started,",
        };
        return Err(UserMistake::new(format!("`{}`{how} is {what}", path.display()))
            .hint("name the folder to work in: `haft mcp --root DIR`")
            .hint("or say `--wide` if all of that is meant")
            .into());
    }
    Ok(())
}

/// Says what makes a directory too much to be served unasked.
fn wide(real: &Path, home: &Path) -> Option<&'static str> {
    if real.parent().is_none() {
        Some("the whole file system")
    } else if home == real {
        Some("the home directory")
    } else if home.starts_with(real) {
        Some("above the home directory")
    } else {
        None
    }
}
