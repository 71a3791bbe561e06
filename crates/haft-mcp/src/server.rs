//! A registry as a server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_protocol::limits;
use haft_tool::{CallContext, Cancellation, Dispatch, Registry};
use rmcp::ServiceExt as _;
use rmcp::service::QuitReason;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::face::{Connection, Face, Shared};
use crate::lines::Lines;
use crate::seal::Seal;
use crate::{About, SealKey};

/// A registry as an MCP server.
///
/// A clone is the same server. One serves any number of connections side by side.
#[derive(Clone)]
pub struct McpServer {
    pub(crate) shared: Arc<Shared>,
}

/// An [`McpServer`] in the making.
#[derive(Debug)]
pub struct McpServerBuilder {
    dispatch: Dispatch,
    registry: Arc<Registry>,
    template: CallContext,
    key: Option<SealKey>,
    about: About,
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client closed it, or went away.
    ClientLeft,
    /// The server was asked to stop.
    Stopped,
}

impl McpServer {
    /// Starts with what calls are made by: the path, the tools, and what surrounds each call.
    ///
    /// Of the context, the caller's principal becomes the client's name, and the ledger is one for each connection;
    /// everything else is taken as it is.
    pub fn builder(
        dispatch: Dispatch,
        registry: Arc<Registry>,
        context: CallContext,
    ) -> McpServerBuilder {
        let about = About::new("haft", env!("CARGO_PKG_VERSION"));
        McpServerBuilder { dispatch, registry, template: context, key: None, about }
    }

    /// Serves one client over a pair of streams, a message on each line, until its input ends or `stop` is asked for.
    ///
    /// Nothing but messages is written. When the client goes, its calls are asked to stop; this returns when they have
    /// ended, or have been given time enough.
    ///
    /// # Errors
    ///
    /// Fails when the connection breaks before the client has said how it speaks in any other way than by its end.
    pub async fn serve<R, W>(
        &self,
        input: R,
        output: W,
        stop: &Cancellation,
    ) -> std::io::Result<End>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let gone = stop.child();
        let lines = Lines::new(input, output, gone.clone());
        let out = lines.out();
        let connection = Connection::lasting("standard input and output", gone.clone());
        let connection = Arc::new(connection.writing_to(Arc::clone(&out)));
        let face = Face { shared: Arc::clone(&self.shared), connection: Arc::clone(&connection) };
        let mut running = Box::pin(run(face, lines));
        let ended = tokio::select! {
            end = &mut running => Some(end),
            () = gone.cancelled() => None,
        };
        gone.cancel();
        let farewell = async {
            let end = match ended {
                Some(end) => end,
                None => running.await,
            };
            connection.quiet().await;
            out.emptied().await;
            end
        };
        let patience = Duration::from_millis(limits::MCP_FAREWELL_MS);
        let end = tokio::time::timeout(patience, farewell).await.unwrap_or_else(|_| {
            tracing::warn!(
                "what a client that is gone asked for goes on; it ends with this process"
            );
            Ok(End::ClientLeft)
        })?;
        Ok(if stop.is_cancelled() { End::Stopped } else { end })
    }
}

async fn run<R>(face: Face, lines: Lines<R>) -> std::io::Result<End>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    use rmcp::service::ServerInitializeError as Unopened;
    let service = match face.serve(lines).await {
        Ok(service) => service,
        Err(Unopened::ConnectionClosed(_) | Unopened::TransportError { .. }) => {
            return Ok(End::ClientLeft);
        }
        Err(Unopened::Cancelled) => return Ok(End::Stopped),
        Err(error) => return Err(std::io::Error::other(error)),
    };
    match service.waiting().await {
        Ok(QuitReason::Cancelled) => Ok(End::Stopped),
        Ok(_) => Ok(End::ClientLeft),
        Err(error) => Err(std::io::Error::other(error)),
    }
}

impl McpServerBuilder {
    /// Seals questions with this key, so that an answer may come to another process that has it; else with one that dies
    /// with this one.
    pub fn key(mut self, key: SealKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Says what the server is.
    pub fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }

    /// Makes the server.
    ///
    /// # Errors
    ///
    /// Fails when there is no key and the system gives no random numbers for one.
    pub fn build(self) -> std::io::Result<McpServer> {
        let Self { dispatch, registry, template, key, about } = self;
        let key = match key {
            Some(key) => key,
            None => SealKey::random()?,
        };
        let seal = Seal::new(&key);
        Ok(McpServer { shared: Arc::new(Shared { dispatch, registry, template, seal, about }) })
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("about", &self.shared.about).finish_non_exhaustive()
    }
}

/// Returns the standard input and output of this process, as streams to [serve](McpServer::serve) over.
///
/// Where both are pipes, nothing blocks a thread on them.
///
/// # Panics
///
/// Needs a runtime with input and output around it.
pub fn standard_streams() -> (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send) {
    rmcp::transport::stdio_pipes()
}
