//! Asking the person behind a client.

use std::collections::BTreeMap;
use std::time::Duration;

use haft_protocol::{TicketRecord, Timestamp};
use haft_text::visible_line;
use haft_tool::ports::{Approver, Port, Question};
use haft_tool::{Answer, BoxFuture, Cancellation, Ticket};
use rmcp::RoleServer;
use rmcp::model::{
    BooleanSchema, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, InputResponses,
    PrimitiveSchemaDefinition, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};
use serde_json::Value;

use crate::client::Client;

/// The field of the form.
const ALLOW: &str = "allow";

/// The question, among those a result asks.
const APPROVAL: &str = "approval";

/// An approver that leaves every question to whoever serves the client that made the call.
///
/// A dispatch behind a server has this one: its calls wait as tickets, and the server asks in the way its client knows.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskTheClient;

impl Port for AskTheClient {
    fn describe(&self) -> String {
        "whoever uses the MCP client that made the call".to_owned()
    }
}

impl Approver for AskTheClient {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Later))
    }
}

/// What came of asking over a connection.
pub(crate) enum Asked {
    /// An answer, or something in place of one, which is none.
    Answered(Answer),
    /// The client took the call back before there was an answer.
    TakenBack,
    /// The client went; the question stays open.
    Gone,
}

/// What there is to say where nobody can be asked.
pub(crate) fn nobody() -> Answer {
    let text = "tell the user: this client cannot ask them (one that knows MCP elicitation can); options named here go \
                behind `haft mcp` in the client's configuration";
    Answer::Nobody { ways_out: vec![text.to_owned()] }
}

/// Asks over the connection, and waits.
pub(crate) async fn elicit(
    client: &Client,
    form: ElicitRequestParams,
    patience: Duration,
    context: &RequestContext<RoleServer>,
    gone: &Cancellation,
) -> Asked {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let sent = context.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
    let Ok(mut asked) = sent.await else { return Asked::Gone };
    let (withdrawn, asked_back) = tokio::select! {
        biased;
        () = gone.cancelled() => return Asked::Gone,
        () = context.ct.cancelled() => ("the call was taken back", Asked::TakenBack),
        response = tokio::time::timeout(patience, &mut asked.rx) => {
            let no = |reason: &str| {
                let (by, reason) = (client.name.to_string(), Some(reason.to_owned()));
                Asked::Answered(Answer::Refuse { by, reason })
            };
            match response {
                Ok(Ok(Ok(ClientResult::ElicitResult(result)))) => {
                    return Asked::Answered(answer(by(client), &result));
                }
                Ok(Ok(Ok(_))) => return no("its answer is none to the question"),
                Ok(Ok(Err(ServiceError::McpError(error)))) => {
                    tracing::warn!(%error, "a client could not ask its user");
                    return no("it could not ask its user");
                }
                Ok(Ok(Err(_)) | Err(_)) => return Asked::Gone,
                Err(_) => ("no answer came in time", no("no answer came in time")),
            }
        }
    };
    // A form that nobody needs any more should not stay before its reader; whether it does is the client's to see to.
    let _ = asked.cancel(Some(withdrawn.to_owned())).await;
    asked_back
}

/// Asks by a result: the client makes the call again, with the answer and the state.
pub(crate) fn required(form: ElicitRequestParams, state: String) -> InputRequiredResult {
    let request = ElicitRequest::new(form);
    let requests = BTreeMap::from([(APPROVAL.to_owned(), InputRequest::Elicitation(request))]);
    InputRequiredResult::new(Some(requests), Some(state))
}

/// Returns the answer that a client brought; nothing, where it brought none that can be read.
pub(crate) fn brought(client: &Client, responses: Option<&InputResponses>) -> Option<Answer> {
    let response = responses?.get(APPROVAL)?;
    let result: ElicitResult = serde_json::from_value(response.clone()).ok()?;
    Some(answer(by(client), &result))
}

/// Returns how long a question may stay open.
pub(crate) fn validity(record: &TicketRecord, now: Timestamp) -> Duration {
    Duration::from_millis(record.expires.unix_ms().saturating_sub(now.unix_ms()))
}

fn by(client: &Client) -> String {
    format!("the user of {}", client.name)
}

/// Only a form that was accepted with its box ticked is a yes.
fn answer(by: String, result: &ElicitResult) -> Answer {
    let ticked = result.content.as_ref().and_then(|it| it.get(ALLOW)).and_then(Value::as_bool);
    match (&result.action, ticked) {
        (ElicitationAction::Accept, Some(true)) => Answer::Approve { by },
        (ElicitationAction::Cancel, _) => {
            Answer::Refuse { by, reason: Some("the question was put away".to_owned()) }
        }
        (_, _) => Answer::Refuse { by, reason: None },
    }
}

/// Puts a question into words, and one box to tick. `place` is where the call would work.
pub(crate) fn form(ticket: &Ticket, place: Option<&str>) -> ElicitRequestParams {
    let allow = BooleanSchema::new()
        .title("Allow this once")
        .description("Yes lets the call run as it is shown, once.");
    let fields = BTreeMap::from([(ALLOW.to_owned(), PrimitiveSchemaDefinition::Boolean(allow))]);
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: match place {
            Some(place) => format!("In {}:\n{}", visible_line(place), ticket.question().to_text()),
            None => ticket.question().to_text(),
        },
        requested_schema: ElicitationSchema::new(fields).with_required(vec![ALLOW.to_owned()]),
    }
}
