//! The sessions of clients that open one: 2025-11-25 and before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use haft_protocol::limits;
use haft_tool::Cancellation;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio::time::Instant;

use crate::face::Connection;

/// How long answers are kept that a client may have missed: each may be a large one.
const KEPT: Duration = Duration::from_secs(5);

/// The sessions that are open, each with its own connection, bounded in number and in how long nobody uses them.
pub(super) struct Sessions {
    local: LocalSessionManager,
    open: Mutex<Open>,
    /// One session is opened at a time, so that the bound holds.
    opening: tokio::sync::Mutex<()>,
    let_in_as: String,
    gone: Cancellation,
}

#[derive(Default)]
struct Open {
    sessions: HashMap<SessionId, Arc<Session>>,
    /// Connections of sessions that are closed, as long as calls of theirs are about to end.
    leaving: Vec<Arc<Connection>>,
}

struct Session {
    connection: Arc<Connection>,
    used: Mutex<Instant>,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("{most} sessions are in use, and no more are opened", most = limits::MCP_SESSIONS)]
    Full,
    #[error(transparent)]
    Broken(#[from] LocalSessionManagerError),
}

impl Sessions {
    /// Starts without a session. What closes the server closes all of them.
    pub(super) fn new(let_in_as: String, gone: Cancellation) -> Self {
        let mut local = LocalSessionManager::default();
        // A session whose calls take long is in use, which only this side knows.
        local.session_config.keep_alive = None;
        local.session_config.completed_cache_ttl = KEPT;
        let (open, opening) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { local, open, opening, let_in_as, gone }
    }

    /// Tells whether there is no room for another session, nor one that could be closed to make room.
    pub(super) fn are_all_in_use(&self) -> bool {
        let open = self.open();
        open.sessions.len() >= limits::MCP_SESSIONS
            && open.sessions.values().all(Session::is_in_use)
    }

    /// Closes the sessions that nobody has used for long.
    pub(super) async fn sweep(&self) {
        let idle = Duration::from_millis(limits::MCP_SESSION_IDLE_MS);
        let unused: Vec<SessionId> = {
            let open = self.open();
            let unused = open.sessions.iter().filter(|(_, it)| it.unused_for() >= Some(idle));
            unused.map(|(id, _)| Arc::clone(id)).collect()
        };
        for id in unused {
            self.closed(&id).await;
        }
    }

    /// Waits until no call of any session runs.
    pub(super) async fn quiet(&self) {
        let connections: Vec<Arc<Connection>> = {
            let open = self.open();
            let of_open = open.sessions.values().map(|it| &it.connection);
            of_open.chain(&open.leaving).map(Arc::clone).collect()
        };
        for connection in connections {
            connection.quiet().await;
        }
    }

    /// Makes room for another session by closing the one that was unused for longest.
    async fn make_room(&self) -> Result<(), SessionError> {
        let unused = {
            let open = self.open();
            if open.sessions.len() < limits::MCP_SESSIONS {
                return Ok(());
            }
            let unused = open.sessions.iter().filter_map(|(id, it)| Some((it.unused_for()?, id)));
            unused.max_by_key(|(time, _)| *time).map(|(_, id)| Arc::clone(id))
        };
        let id = unused.ok_or(SessionError::Full)?;
        tracing::info!(session = %id, "closed to make room for another");
        self.closed(&id).await;
        Ok(())
    }

    async fn closed(&self, id: &SessionId) {
        if let Err(error) = self.close_session(id).await {
            tracing::warn!(session = %id, %error, "does not close");
        }
    }

    /// Returns a session as used just now.
    fn used(&self, id: &SessionId) -> Option<Arc<Session>> {
        let session = Arc::clone(self.open().sessions.get(id)?);
        session.touch();
        Some(session)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a session's connection along with a message, and keeps the session in use as long as the stream is read.
    fn marked(&self, id: &SessionId, message: &mut ClientJsonRpcMessage) -> Option<Arc<Session>> {
        let session = self.used(id)?;
        message.insert_extension(Arc::clone(&session.connection));
        Some(session)
    }
}

impl Session {
    fn new(connection: Connection) -> Self {
        Self { connection: Arc::new(connection), used: Mutex::new(Instant::now()) }
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Tells whether calls of the session run, or its client reads a stream; the streams hold the session.
    fn is_in_use(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1 || !self.connection.is_quiet()
    }

    fn unused_for(self: &Arc<Self>) -> Option<Duration> {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        (!self.is_in_use()).then(|| used.elapsed())
    }
}

/// Keeps a session in use as long as somebody reads a stream of it.
fn held<S: Stream>(
    session: Option<Arc<Session>>,
    stream: S,
) -> impl Stream<Item = S::Item> + use<S> {
    stream.map(move |message| {
        if let Some(session) = &session {
            session.touch();
        }
        message
    })
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let _one = self.opening.lock().await;
        self.make_room().await?;
        let (id, transport) = self.local.create_session().await?;
        let connection = Connection::lasting(self.let_in_as.clone(), self.gone.child());
        self.open().sessions.insert(Arc::clone(&id), Arc::new(Session::new(connection)));
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let _session = self.marked(id, &mut message);
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let session = {
            let mut open = self.open();
            let session = open.sessions.remove(id);
            open.leaving.retain(|it| !it.is_quiet());
            if let Some(session) = &session {
                open.leaving.push(Arc::clone(&session.connection));
            }
            session
        };
        if let Some(session) = session {
            session.connection.cancellation.cancel();
        }
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.marked(id, &mut message);
        Ok(held(session, self.local.create_stream(id, message).await?))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let _session = self.marked(id, &mut message);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.used(id);
        Ok(held(session, self.local.create_standalone_stream(id).await?))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.used(id);
        let stream = SessionManager::resume(&self.local, id, last_event_id).await?;
        Ok(held(session, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sessions_that_nobody_uses_are_closed_and_their_calls_with_them() {
        let idle = Duration::from_millis(limits::MCP_SESSION_IDLE_MS);
        let sessions = Sessions::new("test".to_owned(), Cancellation::new());
        let (unused, _unused) = sessions.create_session().await.unwrap();
        let (streaming, _streaming) = sessions.create_session().await.unwrap();
        let (calling, _calling) = sessions.create_session().await.unwrap();
        let stream = sessions.used(&streaming).unwrap();
        let of_calling = Arc::clone(&sessions.used(&calling).unwrap().connection);
        let call = of_calling.room.acquire().await.unwrap();
        let cancellation = sessions.used(&unused).unwrap().connection.cancellation.clone();

        tokio::time::advance(idle).await;
        sessions.sweep().await;
        assert!(!sessions.has_session(&unused).await.unwrap());
        assert!(cancellation.is_cancelled());
        assert!(sessions.has_session(&streaming).await.unwrap());
        assert!(sessions.has_session(&calling).await.unwrap());

        drop((stream, call));
        sessions.sweep().await;
        assert!(!sessions.has_session(&streaming).await.unwrap());
        assert!(!sessions.has_session(&calling).await.unwrap());
    }
}
