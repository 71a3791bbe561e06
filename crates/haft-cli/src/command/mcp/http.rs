//! Serving over HTTP.

use haft::Cancellation;
use haft::mcp::McpServer;

use crate::assemble::UserMistake;
use crate::command::Invocation;
use crate::command::call::interrupted;
use crate::exit::Exit;
use crate::print::Tone;
use crate::roots::Root;

/// Serves clients of this machine until the process is asked to end. What lets them in is shown once and kept nowhere.
pub(super) async fn serve(
    invocation: &Invocation<'_>,
    server: &McpServer,
    address: &str,
    roots: &[Root],
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
    printer.aside(Tone::Good, "serving", &listening.url());
    printer.aside(Tone::Faint, "root", &folders.join(", "));
    if let Some(token) = listening.token() {
        printer.aside(Tone::Strong, "token", token.reveal());
        let text = "clients send the token as `Authorization: Bearer TOKEN`; it is shown this once";
        printer.aside(Tone::Faint, "note", text);
    }
    let stop = Cancellation::new();
    let mut serving = std::pin::pin!(listening.serve(&stop));
    tokio::select! {
        () = &mut serving => {}
        () = interrupted => {
            stop.cancel();
            serving.await;
        }
    }
    Ok(Exit::Cancelled)
}
