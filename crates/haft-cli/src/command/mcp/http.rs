//! Serving over HTTP.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use haft::Cancellation;
use haft::mcp::McpServer;

use crate::assemble::UserMistake;
use crate::command::Invocation;
use crate::command::call::interrupted;
use crate::exit::Exit;
use crate::files;
use crate::print::Tone;
use crate::roots::Root;

/// A file for the token, which tools of the server do not get to see.
pub(super) struct TokenFile(PathBuf);

impl TokenFile {
    /// Takes a path that may be written to.
    pub(super) fn at(path: PathBuf, roots: &[Root]) -> anyhow::Result<Self> {
        let refused = |why: &str| {
            let text = format!("`--token-file {}`: {why}", path.display());
            UserMistake::new(text).hint("name a file in a folder of your own, outside the roots")
        };
        match files::kind(&path) {
            Ok(None | Some(files::Kind::File)) => {}
            Ok(Some(files::Kind::Link)) => return Err(refused("this is a link").into()),
            Ok(Some(files::Kind::Other)) => return Err(refused("this is no regular file").into()),
            Err(error) => return Err(refused(&error.to_string()).into()),
        }
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = files::real_path(folder.unwrap_or(Path::new(".")))
            .map_err(|error| refused(&format!("its folder cannot be used: {error}")))?;
        for root in roots {
            let root = files::real_path(&root.path).unwrap_or_else(|_| root.path.clone());
            if folder.starts_with(&root) {
                let why = format!("`{}` is a root, and what is in it can be read", root.display());
                return Err(refused(&why).into());
            }
        }
        let name = path.file_name().ok_or_else(|| refused("this names no file"))?;
        Ok(Self(folder.join(name)))
    }

    fn write(&self, token: &str) -> anyhow::Result<()> {
        let written = files::replace(&self.0, format!("{token}\n").as_bytes());
        written.with_context(|| format!("`--token-file {}`", self.0.display()))
    }

    /// Takes the file away, unless it is another server's by now.
    fn remove(&self, token: &str) {
        let held = files::read(&self.0, None).ok().flatten();
        if held.is_some_and(|held| held.trim_ascii() == token.as_bytes()) {
            files::remove(&self.0);
        }
    }
}

/// Serves clients of this machine until the process is asked to end. What lets them in is shown once, or written to a file
/// of the user's, and kept nowhere.
pub(super) async fn serve(
    invocation: &Invocation<'_>,
    server: &McpServer,
    address: &str,
    roots: &[Root],
    token_file: Option<TokenFile>,
) -> anyhow::Result<Exit> {
    let printer = invocation.printer;
    let address = address.parse().map_err(|_| {
        UserMistake::new(format!("`--http {address}`: this is no address with a port"))
            .hint("write it as `127.0.0.1:8080`; port 0 is any that is free")
    })?;
    let interrupted = interrupted()?;
    let listening = server.bind(address).await.map_err(|error| match error {
        haft::mcp::ListenError::NotLoopback { .. } => {
            anyhow::Error::new(UserMistake::new(format!("`--http`: {error}")))
        }
        error => anyhow::Error::new(error).context("`--http`"),
    })?;
    let folders: Vec<_> = roots.iter().map(|it| it.path.display().to_string()).collect();
    let token = listening.token().map(|it| it.reveal().to_owned()).unwrap_or_default();
    if let Some(file) = &token_file {
        file.write(&token)?;
    }
    printer.aside(Tone::Good, "serving", &listening.url());
    printer.aside(Tone::Faint, "root", &folders.join(", "));
    let (shown, note) = match &token_file {
        Some(TokenFile(path)) => (format!("in {}", path.display()), ""),
        None => (token.clone(), "; it is shown this once"),
    };
    printer.aside(Tone::Strong, "token", &shown);
    let text = format!("clients send the token as `Authorization: Bearer TOKEN`{note}");
    printer.aside(Tone::Faint, "note", &text);
    let stop = Cancellation::new();
    let mut serving = std::pin::pin!(listening.serve(&stop));
    tokio::select! {
        () = &mut serving => {}
        () = interrupted => {
            stop.cancel();
            serving.await;
        }
    }
    if let Some(file) = token_file {
        file.remove(&token);
    }
    Ok(Exit::Cancelled)
}
