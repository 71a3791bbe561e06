//! `haft mcp`: serve the tools to an MCP client.

mod config;
mod http;

use std::path::Path;

use clap::{Args, Subcommand};
use haft::mcp::{About, End, McpServer};
use haft::{Cancellation, Haft, Selection};

use super::Invocation;
use super::call::interrupted;
use crate::assemble::{Assembled, UserMistake, assemble};
use crate::exit::Exit;
use crate::files;
use crate::roots::{Root, Why};
use config::ClientArg;

/// Serve the tools to an MCP client, or print what such a client needs to know
#[derive(Debug, Args)]
#[command(after_help = "\
Without a subcommand it speaks the Model Context Protocol over standard input
and output, until the input ends. Calls that have to be asked about are asked
of the client's user, where the client can ask.

With `--http` it speaks the same over HTTP, to any number of clients of this
machine that send the token it prints, until it is interrupted.

`haft mcp config CLIENT` prints what to paste into the client's configuration.")]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Option<McpAction>,

    /// Serve over HTTP, on a loopback address of this machine; without one, on a port that is free
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<String>,

    #[command(flatten)]
    serving: Serving,
}

/// How to serve, which a client's configuration says too.
#[derive(Debug, Args)]
struct Serving {
    /// Show these tools only, in this order
    #[arg(long, global = true, value_name = "NAME", value_delimiter = ',')]
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
        client: ClientArg,
    },
}

pub(crate) async fn run(invocation: &Invocation<'_>, args: McpArgs) -> anyhow::Result<Exit> {
    let McpArgs { action, http, serving: Serving { tools, wide } } = args;
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
        let text = "`--json` is for answers to a person's commands; this command speaks MCP";
        return Err(UserMistake::new(text).into());
    }
    let Assembled { haft, roots, .. } = assemble(invocation)?;
    if !tools.is_empty() {
        let shown = haft.registry().show(Selection::Named(tools));
        shown.map_err(|error| UserMistake::new(format!("`--tools`: {error}")))?;
    }
    let server = server(&haft, &roots)?;
    if let Some(address) = http {
        return http::serve(invocation, &server, &address).await;
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
    let about = About::new("haft", env!("CARGO_PKG_VERSION")).instructions(instructions(roots));
    Ok(haft.mcp()?.about(about).build()?)
}

/// What a client puts before its model. It costs room in every conversation, so that it says what no tool says itself.
fn instructions(roots: &[Root]) -> String {
    let root = |it: &Root| format!("`{}`", it.path.display());
    let (first, further) = match roots {
        [] => (String::new(), Vec::new()),
        [first, further @ ..] => (root(first), further.iter().map(root).collect::<Vec<_>>()),
    };
    let also = match further.as_slice() {
        [] => String::new(),
        further => format!(" Full paths also reach {}.", further.join(", ")),
    };
    format!(
        "These tools work in {first}; paths begin there.{also} Read the lines of a file before changing them. \
         Every call is checked and recorded, and changes to files can be undone. When a call is refused, its text says \
         what is allowed; do not try another way around it."
    )
}

/// A client starts its servers wherever it likes, and what is served is given into a model's hands.
fn refuse_wide_roots(invocation: &Invocation<'_>) -> anyhow::Result<()> {
    let home = invocation.environment.home.as_deref().and_then(|it| files::real_path(it).ok());
    for Root { path, why } in invocation.roots()? {
        let Ok(real) = files::real_path(&path) else { continue };
        let Some(what) = wide(&real, home.as_deref()) else { continue };
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
fn wide(real: &Path, home: Option<&Path>) -> Option<&'static str> {
    match home {
        _ if real.parent().is_none() => Some("the whole file system"),
        Some(home) if home == real => Some("the home directory"),
        Some(home) if home.starts_with(real) => Some("above the home directory"),
        _ => None,
    }
}
