//! What every request passes before it is one of the protocol.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use haft_protocol::limits;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::StreamableHttpService;

use super::sessions::Sessions;
use super::{PATH, Token};
use crate::lines::objection;

/// How long the body of a request may take to come.
const BODY: Duration = Duration::from_mins(1);

/// The answer to a request.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The door of a server.
pub(super) struct Door<S> {
    pub(super) service: StreamableHttpService<S, Sessions>,
    pub(super) sessions: Arc<Sessions>,
    /// What a request has to carry; nothing lets everybody in.
    pub(super) token: Option<Token>,
}

impl<S: ServerHandler> Door<S> {
    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Some(refusal) = self.turned_away(request.headers()) {
            return refusal;
        }
        if request.uri().path() != PATH {
            return text(StatusCode::NOT_FOUND, format!("there is nothing but `{PATH}` here"));
        }
        if opens_a_session(&request) && self.sessions.are_all_in_use() {
            let most = limits::MCP_SESSIONS;
            let words = format!("{most} sessions are in use, and no more are opened");
            let mut answer = text(StatusCode::SERVICE_UNAVAILABLE, words);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
            return answer;
        }
        let (mut parts, body) = request.into_parts();
        // What lets a client in is nobody else's to see.
        parts.headers.remove(AUTHORIZATION);
        let body = match whole(body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
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
        answer
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

/// Reads a body that is not too long and does not take too long.
async fn whole(body: Incoming) -> Result<Bytes, Answer> {
    let most = limits::MCP_LINE_BYTES;
    let too_long = || {
        let words = format!("a message may have {most} bytes, and this one has more");
        text(StatusCode::PAYLOAD_TOO_LARGE, words)
    };
    if body.size_hint().lower() > most as u64 {
        return Err(too_long());
    }
    match tokio::time::timeout(BODY, Limited::new(body, most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(error)) => {
            Err(text(StatusCode::BAD_REQUEST, format!("the body broke off: {error}")))
        }
        Err(_) => {
            let words = "the body takes too long to come".to_owned();
            Err(text(StatusCode::REQUEST_TIMEOUT, words))
        }
    }
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
