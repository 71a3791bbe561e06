//! Who is at the other end of a request.

use std::sync::{Arc, Mutex, PoisonError};

use haft_protocol::Digest;
use haft_text::visible_line;
use rmcp::RoleServer;
use rmcp::model::{
    ElicitationCapability, Implementation, InitializeRequestParams, ProgressToken, ProtocolVersion,
    RequestMetaObject,
};
use rmcp::service::RequestContext;
use serde_json::json;

/// Bytes of a client's name on record.
const NAME_BYTES: usize = 120;

/// The two ways of speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// A handshake opens a session: 2025-11-25 and before.
    Handshake,
    /// Each request stands for itself: 2026-07-28 and after.
    Stateless,
}

/// Who is at the other end of one request, and what they can do.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// The name and version it gives of itself, for the record; nobody checks it.
    pub(crate) name: Arc<str>,
    /// The same whole and with its parts apart.
    info: Option<Arc<Implementation>>,
    /// How it speaks.
    pub(crate) era: Era,
    /// Whether it can put a form before its user.
    pub(crate) can_ask: bool,
    /// What it wants progress reported under.
    pub(crate) progress: Option<ProgressToken>,
}

impl Client {
    /// Reads who made a request.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let version = context.protocol_version();
        let era = match version {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Era::Stateless,
            Some(_) | None => Era::Handshake,
        };
        let info = context.client_info();
        let name = info.as_ref().map_or_else(
            || "an MCP client without a name".to_owned(),
            |it| format!("{} {}", it.name, it.version),
        );
        let elicitation = context.client_capabilities().and_then(|it| it.elicitation);
        Self {
            info: info.map(Arc::new),
            name: shortened(&visible_line(name.trim())).into(),
            era,
            can_ask: elicitation.as_ref().is_some_and(has_forms),
            progress: context.meta.get_progress_token(),
        }
    }

    /// Returns what tells clients from one another.
    pub(crate) fn identity(&self) -> Digest {
        let parts = self.info.as_ref().map(|it| (&it.name, &it.version));
        Digest::of_json(&json!(parts))
    }
}

/// Who is at the other end of a connection that was opened by a handshake, read once for each.
#[derive(Debug, Default)]
pub(crate) struct Acquaintance(Mutex<Option<(Arc<InitializeRequestParams>, Client)>>);

impl Acquaintance {
    /// Reads who made a request, as [`Client::of`] does.
    pub(crate) fn client(&self, context: &RequestContext<RoleServer>) -> Client {
        let agreed = context.peer.peer_info().filter(|_| says_nothing(&context.meta));
        let Some(agreed) = agreed else { return Client::of(context) };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let client = match &*known {
            Some((of, client)) if Arc::ptr_eq(of, &agreed) => client.clone(),
            _ => {
                let client = Client { progress: None, ..Client::of(context) };
                known.insert((agreed, client)).1.clone()
            }
        };
        Client { progress: context.meta.get_progress_token(), ..client }
    }
}

/// Tells whether a request leaves open who makes it, so that the handshake says so.
fn says_nothing(meta: &RequestMetaObject) -> bool {
    meta.protocol_version().is_none()
        && meta.client_info().is_none()
        && meta.client_capabilities().is_none()
}

/// Tells whether a client shows forms. One that names no mode shows forms: there was no other before 2025-11-25.
fn has_forms(elicitation: &ElicitationCapability) -> bool {
    elicitation.form.is_some() || elicitation.url.is_none()
}

fn shortened(name: &str) -> &str {
    let end = name.floor_char_boundary(NAME_BYTES);
    name.get(..end).unwrap_or(name)
}
