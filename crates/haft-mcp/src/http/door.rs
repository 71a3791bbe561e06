//! What every request passes before it is one of the protocol.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use haft_protocol::limits;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::StreamableHttpService;

use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::body::{Counted, whole};
use super::budget::{Budget, Share};
use super::guests::Guest;
use super::names::Names;
use super::sessions::Sessions;
use super::{PATH, Token};
use crate::lines::objection;

/// Bytes of requests under way. Further ones are refused, and not kept waiting: what ends the others may be among them.
const ASKED_BYTES: usize = 4 * limits::MCP_LINE_BYTES;

/// Bytes of answers that nobody has read yet, beyond which nothing more is asked.
const ANSWER_BYTES: usize = 4 * limits::MCP_LINE_BYTES;

/// Resources whose reading is under way, up to when the client has them: each may be a large one.
const READERS: usize = 4;

/// How long a read waits for others to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The answer to a request.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The door of a server.
pub(super) struct Door<S> {
    service: StreamableHttpService<S, Sessions>,
    sessions: Arc<Sessions>,
    names: Names,
    /// What a request has to carry; nothing lets everybody in.
    token: Option<Token>,
    asked: Arc<Budget>,
    answers: Arc<Budget>,
    readers: Arc<Semaphore>,
}

/// What a request takes up. It goes along with the request, and is given back when its call has ended.
#[derive(Clone)]
struct UnderWay {
    _share: Arc<Share>,
    reader: Option<Arc<OwnedSemaphorePermit>>,
}

impl<S: ServerHandler> Door<S> {
    /// Makes the door of a service.
    pub(super) fn new(
        service: StreamableHttpService<S, Sessions>,
        sessions: Arc<Sessions>,
        names: Names,
        token: Option<Token>,
    ) -> Self {
        let (asked, answers) = (Budget::new(ASKED_BYTES), Budget::new(ANSWER_BYTES));
        let readers = Arc::new(Semaphore::new(READERS));
        Self { service, sessions, names, token, asked, answers, readers }
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>, guest: &Guest) -> Answer {
        if let Some((status, words)) = self.names.refusal(&request) {
            return text(status, words);
        }
        if let Some(refusal) = self.turned_away(request.headers()) {
            return refusal;
        }
        if !guest.let_in() {
            return text(StatusCode::REQUEST_TIMEOUT, "the token came too late".to_owned());
        }
        if request.uri().path() != PATH {
            return text(StatusCode::NOT_FOUND, format!("there is nothing but `{PATH}` here"));
        }
        if opens_a_session(&request) && self.sessions.are_all_in_use() {
            let most = limits::MCP_SESSIONS;
            return busy(format!("{most} sessions are in use, and no more are opened"));
        }
        let (mut parts, body) = request.into_parts();
        // What lets a client in is nobody else's to see.
        parts.headers.remove(AUTHORIZATION);
        let mut share = self.asked.share();
        let body = match whole(body, &mut share).await {
            Ok(body) => body,
            Err((StatusCode::SERVICE_UNAVAILABLE, words)) => return busy(words),
            Err((status, words)) => return text(status, words),
        };
        if let Some(objection) = objection::to_too_many_values(&body) {
            return json(StatusCode::BAD_REQUEST, objection.to_string());
        }
        let reader = match self.room_for_the_answer(&parts.method, &body).await {
            Ok(reader) => reader,
            Err(refusal) => return refusal,
        };
        let under_way = UnderWay { _share: Arc::new(share), reader };
        parts.extensions.insert(under_way.clone());
        let is_json = parts.headers.get(CONTENT_TYPE).is_some_and(|it| {
            it.to_str().is_ok_and(|it| it.trim_start().starts_with("application/json"))
        });
        let request = Request::from_parts(parts, Full::new(body.clone()));
        let answer = self.service.handle(request).await;
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            // It is the message that is not understood, which is said in the protocol's own way.
            return match objection::to_no_message(&body) {
                Some(objection) => json(StatusCode::BAD_REQUEST, objection.to_string()),
                None => text(StatusCode::BAD_REQUEST, "there is no message in the body".to_owned()),
            };
        }
        let (answers, reader) = (Arc::clone(&self.answers), under_way.reader);
        answer.map(|body| Counted { body, answers, reader }.boxed())
    }

    /// Returns the right to a large answer, where a message asks for what may be one.
    ///
    /// Before a call begins is the time to refuse: an answer to what has happened is not to be lost.
    async fn room_for_the_answer(
        &self,
        method: &Method,
        body: &[u8],
    ) -> Result<Option<Arc<OwnedSemaphorePermit>>, Answer> {
        if method != Method::POST {
            return Ok(None);
        }
        // Of what cannot be told, the most is expected.
        let asks = serde_json::from_slice::<Asks<'_>>(body).ok().and_then(|it| it.method);
        let asks = asks.as_deref().unwrap_or("resources/read");
        if self.answers.is_spent() && !asks.starts_with("notifications/") {
            return Err(busy(
                "large answers wait to be read, and nothing more is asked".to_owned(),
            ));
        }
        if asks != "resources/read" {
            return Ok(None);
        }
        let reader = Arc::clone(&self.readers).acquire_owned();
        let Ok(reader) = tokio::time::timeout(PATIENCE, reader).await else {
            let words = "resources that were asked for wait to be read, and no more are given";
            return Err(busy(words.to_owned()));
        };
        Ok(reader.ok().map(Arc::new))
    }

    /// Returns what to answer to whoever does not have the token.
    fn turned_away(&self, headers: &HeaderMap) -> Option<Answer> {
        let token = self.token.as_ref()?;
        let mut sent = headers.get_all(AUTHORIZATION).iter();
        let (words, challenge) = match (sent.next().map(bearer), sent.next()) {
            (Some(Some(sent)), None) if token.is(sent) => return None,
            (None, _) => (
                "this server wants its token, as `Authorization: Bearer TOKEN`; it was shown when the server started",
                "Bearer realm=\"haft\"",
            ),
            (Some(_), _) => (
                "this is not the token that was shown when the server started; each start makes another",
                "Bearer realm=\"haft\", error=\"invalid_token\"",
            ),
        };
        let mut answer = text(StatusCode::UNAUTHORIZED, words.to_owned());
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        Some(answer)
    }
}

/// Tells whether a request is one of those that open a session, as far as its head says.
fn opens_a_session<B>(request: &Request<B>) -> bool {
    let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
    let stands_alone = header("mcp-protocol-version")
        .is_some_and(|it| it >= ProtocolVersion::V_2026_07_28.as_str());
    request.method() == Method::POST && !stands_alone && header("mcp-session-id").is_none()
}

/// Returns what follows the name of the scheme, which is spelled in any case.
fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, sent) = value.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| sent.trim_ascii())
}

/// As much of a message as tells what it asks for.
#[derive(Deserialize)]
struct Asks<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
}

/// Asks to come back later.
fn busy(words: String) -> Answer {
    let mut answer = text(StatusCode::SERVICE_UNAVAILABLE, words);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    answer
}

fn text(status: StatusCode, words: String) -> Answer {
    typed(status, "text/plain; charset=utf-8", words)
}

fn json(status: StatusCode, json: String) -> Answer {
    typed(status, "application/json", json)
}

fn typed(status: StatusCode, media_type: &'static str, body: String) -> Answer {
    let mut answer = Response::new(Full::from(body).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer
}
