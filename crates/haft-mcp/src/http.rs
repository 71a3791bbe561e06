//! Over HTTP, for clients on the same machine.
//!
//! One address answers both eras: 2026-07-28, where each request stands for itself and ends when its client goes, and the
//! handshake of before, which opens a session with its own read ledger.
//!
//! Whoever gets through may do what the policy lets a model do, so that four checks stand before everything: the address
//! is one of this machine, the `Host` and the `Origin` of a request are this server's, and the request carries the token.

mod body;
mod budget;
mod door;
mod guests;
mod names;
mod sessions;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use haft_protocol::limits;
use haft_tool::Cancellation;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::McpServer;
use crate::face::{Connection, Face};
use door::Door;
use guests::{Guest, Guests};
use names::Names;
use sessions::Sessions;
pub use token::Token;

/// The path of the address.
const PATH: &str = "/mcp";

/// How long the head of a request may take to come, and how long a connection may idle between two.
const HEAD: Duration = Duration::from_mins(1);

/// How long nothing more is accepted when the system is out of something.
const PAUSE: Duration = Duration::from_millis(50);

/// How long answers may take on their way once the server was asked to stop and the calls have ended, and how long streams
/// may take to end then.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How often sessions that nobody uses are looked for.
const SWEEP: Duration = Duration::from_mins(1);

/// A server that has an address and does not serve yet.
///
/// What connects already waits until it does.
#[derive(Debug)]
pub struct Listening {
    server: McpServer,
    listener: TcpListener,
    address: SocketAddr,
    token: Option<Token>,
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address can be reached from other machines.
    #[error(
        "{address} is no loopback address: what is served there is for this machine alone, as 127.0.0.1:0 is"
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The system does not give the address.
    #[error("{address} cannot be listened on")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The system gives no random numbers for a token.
    #[error("no token can be made")]
    Token {
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

impl McpServer {
    /// Listens on an address of this machine; port 0 lets the system choose one. A token is made that nobody has yet.
    ///
    /// # Errors
    ///
    /// Fails for an address that is not a loopback address, and one that the system does not give.
    #[expect(clippy::disallowed_methods, reason = "this is what listens, on loopback alone")]
    pub async fn bind(&self, address: SocketAddr) -> Result<Listening, ListenError> {
        if !address.ip().to_canonical().is_loopback() {
            return Err(ListenError::NotLoopback { address });
        }
        let token = Token::random().map_err(|source| ListenError::Token { source })?;
        let refused = |source| ListenError::Address { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Listening { server: self.clone(), listener, address, token: Some(token) })
    }
}

impl Listening {
    /// Returns the address, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address as clients take it.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Returns what a client has to send, as `Authorization: Bearer …`.
    pub fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// Lets in everybody who can reach the address: every program of every user of this machine. For tests.
    pub fn without_token(mut self) -> Self {
        self.token = None;
        self
    }

    /// Serves any number of clients until `stop` is asked for.
    ///
    /// Then their calls are asked to stop, and this returns when they have ended and were answered, or have been given time
    /// enough.
    pub async fn serve(self, stop: &Cancellation) {
        self.serve_as(stop, |face| face).await;
    }

    /// Serves with a handler around the server's own.
    pub(crate) async fn serve_as<S: ServerHandler>(
        self,
        stop: &Cancellation,
        handler: impl Fn(Face) -> S + Send + Sync + 'static,
    ) {
        let Self { server, listener, address, token } = self;
        let gone = stop.child();
        let let_in_as = match &token {
            Some(token) => format!("HTTP with the token {}", token.fingerprint()),
            None => "HTTP without a token".to_owned(),
        };
        let passing = Arc::new(Connection::passing(let_in_as.clone(), gone.clone()));
        let sessions = Arc::new(Sessions::new(let_in_as, gone.clone()));
        let streams = CancellationToken::new();
        let names = Names::of(&address.to_string(), address.port());
        let service = {
            let passing = Arc::clone(&passing);
            let face = move || Face {
                shared: Arc::clone(&server.shared),
                connection: Arc::clone(&passing),
            };
            StreamableHttpService::new(
                move || Ok(handler(face())),
                Arc::clone(&sessions),
                config(&names, &streams),
            )
        };
        let door = Arc::new(Door::new(service, Arc::clone(&sessions), names, token));

        let ending = CancellationToken::new();
        let mut connections = JoinSet::new();
        let mut guests = Guests::default();
        let mut sweep = tokio::time::interval(SWEEP);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let has_room = connections.len() < limits::MCP_CONNECTIONS || guests.are_there();
            tokio::select! {
                () = stop.cancelled() => break,
                Some(_) = connections.join_next() => {}
                _ = sweep.tick() => sessions.sweep().await,
                accepted = listener.accept(), if has_room => match accepted {
                    Ok((stream, _)) => {
                        let guest = Arc::new(Guest::default());
                        let (door, ending) = (Arc::clone(&door), ending.clone());
                        let task = connections.spawn(connection(stream, door, Arc::clone(&guest), ending));
                        guests.add(guest, task);
                        while connections.len() > limits::MCP_CONNECTIONS
                            && guests.show_out_the_first()
                        {
                            connections.join_next().await;
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
            }
        }
        drop(listener);

        ending.cancel();
        gone.cancel();
        let patience = Duration::from_millis(limits::MCP_FAREWELL_MS);
        let quiet = async {
            passing.quiet().await;
            sessions.quiet().await;
        };
        if tokio::time::timeout(patience, quiet).await.is_err() {
            tracing::warn!("calls of clients go on; they end with this process");
        }
        closed(&mut connections).await;
        // What is open still are streams that nothing but this ends.
        streams.cancel();
        closed(&mut connections).await;
        connections.shutdown().await;
    }
}

/// Waits for a moment until all connections are closed.
async fn closed(connections: &mut JoinSet<()>) {
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_WORDS, all).await;
}

/// Returns what is asked of requests beside the token.
fn config(names: &Names, streams: &CancellationToken) -> StreamableHttpServerConfig {
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.hosts())
        .with_allowed_origins(names.origins())
        .enforce_origin_validation()
        .with_json_response(true)
        .with_cancellation_token(streams.clone());
    // The door has read the body by then, and within the same bound.
    config.max_request_body_bytes = limits::MCP_LINE_BYTES;
    config
}

/// Serves one connection until it is closed, or the answers under way are sent once the server ends.
async fn connection<S: ServerHandler>(
    stream: TcpStream,
    door: Arc<Door<S>>,
    guest: Arc<Guest>,
    ending: CancellationToken,
) {
    // Answers are small and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let (door, guest) = (Arc::clone(&door), Arc::clone(&guest));
        async move { Ok::<_, std::convert::Infallible>(door.answer(request, &guest).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        // Answers are not copied: their bytes count until they are written.
        .writev(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let end = tokio::select! {
        end = connection.as_mut() => end,
        () = guest.overstays() => return,
        () = ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = end {
        tracing::debug!(%error, "a connection broke");
    }
}
