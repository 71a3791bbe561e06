//! One `tools/call`, from the request to the result.

use std::sync::Arc;

use haft_protocol::{Caller, Entrance, Outcome, RawArguments, ToolCall, limits};
use haft_tool::{Answer, BoxFuture, CallContext, Dispatched, Snapshot, Ticket};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputResponses,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::asking::Asked;
use crate::client::{Client, Era};
use crate::face::Face;
use crate::progress::Telling;
use crate::seal::Bearing;
use crate::{asking, result};

/// What a client asks for.
pub(crate) struct Requested {
    tool: String,
    arguments: RawArguments,
    answers: Option<InputResponses>,
    state: Option<String>,
}

impl From<CallToolRequestParams> for Requested {
    fn from(params: CallToolRequestParams) -> Self {
        Self {
            tool: params.name.into_owned(),
            arguments: RawArguments::Json(Value::Object(params.arguments.unwrap_or_default())),
            answers: params.input_responses,
            state: params.request_state,
        }
    }
}

impl Requested {
    /// Reads a request whose arguments are no object: they are the model's, which can do better when it is told how.
    ///
    /// Returns nothing where the request itself is not right.
    pub(crate) fn with_odd_arguments(params: Option<&Value>) -> Option<Self> {
        let params = params?.as_object()?;
        let arguments = match params.get("arguments")? {
            Value::Null => RawArguments::default(),
            Value::String(text) => RawArguments::Text(text.clone()),
            other => RawArguments::Json(other.clone()),
        };
        let tool = params.get("name")?.as_str()?.to_owned();
        let answers = params.get("inputResponses").cloned();
        let answers = answers.and_then(|it| serde_json::from_value(it).ok());
        let state = params.get("requestState").and_then(Value::as_str).map(ToOwned::to_owned);
        Some(Self { tool, arguments, answers, state })
    }

    /// Returns the arguments as a seal binds them.
    fn sealed_arguments(&self) -> Value {
        match &self.arguments {
            RawArguments::Json(value) => value.clone(),
            RawArguments::Text(text) => Value::String(text.clone()),
        }
    }
}

impl Face {
    /// Makes a call and waits for its end, or for what has to be asked.
    ///
    /// The future is boxed: the library copies the future of each request several times, of whatever kind it is, and
    /// that of a call is by far the largest.
    pub(crate) fn call(
        self,
        requested: Requested,
        context: RequestContext<RoleServer>,
    ) -> BoxFuture<'static, Result<CallToolResponse, ErrorData>> {
        Box::pin(async move { self.call_and_tell(requested, context).await })
    }

    /// Makes a call, and tells the client how far it is where it wants to know.
    async fn call_and_tell(
        &self,
        requested: Requested,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(_room) = self.connection.room.try_acquire() else { return Ok(no_room().into()) };
        let client = self.connection.client.client(&context);
        let tools = self.shared.registry.snapshot();
        let mut call_context = self.context(&client, &tools);
        let telling = client.progress.clone().map(|token| {
            let (telling, reporter) = Telling::start(context.peer.clone(), token);
            call_context.reporter = reporter;
            telling
        });
        let response = self.walked(requested, &client, call_context, &context, &tools).await;
        if let Some(telling) = telling {
            telling.end().await;
        }
        response
    }

    async fn walked(
        &self,
        requested: Requested,
        client: &Client,
        call_context: CallContext,
        context: &RequestContext<RoleServer>,
        tools: &Snapshot,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = requested.tool.clone();
        // Only a question to a client that has no session is sealed.
        let bearing = (client.era == Era::Stateless).then(|| self.bearing(&requested, client));
        let answered = match &bearing {
            Some(bearing) => self.answered(&requested, client, bearing)?,
            None => None,
        };
        let begun = if let Some((ticket, answer)) = answered {
            Begun::Again(ticket, answer)
        } else {
            let id = self.shared.dispatch.ports().call_id();
            Begun::Now(ToolCall::new(id, requested.tool, requested.arguments))
        };
        let dispatched = self.until_cancelled(&call_context, context, begun).await;
        let outcome = match dispatched {
            Dispatched::Done(outcome) => *outcome,
            Dispatched::Waiting(ticket) => {
                if let Some(bearing) = bearing.filter(|_| client.can_ask) {
                    return self.to_be_answered(&ticket, &bearing).map(Into::into);
                }
                let answer = match Box::pin(self.ask(client, &ticket, context)).await {
                    Asked::Answered(answer) => answer,
                    Asked::TakenBack => {
                        call_context.cancellation.cancel();
                        let reason = Some("the call was taken back".to_owned());
                        Answer::Refuse { by: client.name.to_string(), reason }
                    }
                    Asked::Gone => {
                        let text = "the client is gone, and the question stays open";
                        return Err(ErrorData::internal_error(text, None));
                    }
                };
                let again = Begun::Again(ticket, answer);
                match Box::pin(self.until_cancelled(&call_context, context, again)).await {
                    Dispatched::Done(outcome) => *outcome,
                    Dispatched::Waiting(_) => still_open(),
                }
            }
        };
        let Some(registered) = tools.find(&name) else {
            return Err(ErrorData::invalid_params(outcome.model_text(), None));
        };
        Ok(result::of(outcome, &registered.descriptor).into())
    }

    /// Returns the ticket and the answer that a stateless client brought. A client that brought a state and no answer is
    /// asked again.
    fn answered(
        &self,
        requested: &Requested,
        client: &Client,
        bearing: &Bearing,
    ) -> Result<Option<(Box<Ticket>, Answer)>, ErrorData> {
        let Some(state) = &requested.state else { return Ok(None) };
        let unusable = |why: &str| {
            let text = format!("the request state cannot be used: {why}; make the call without it");
            ErrorData::invalid_params(text, None)
        };
        let seal = &self.shared.seal;
        let record = seal.open(state, bearing).map_err(unusable)?;
        let Some(answer) = asking::brought(client, requested.answers.as_ref()) else {
            return Ok(None);
        };
        if !seal.takes_answer(&record, self.shared.dispatch.ports().clock.now()) {
            return Err(unusable("its question was answered before"));
        }
        let call = ToolCall::new(record.call, &*requested.tool, requested.arguments.clone());
        Ok(Some((Box::new(Ticket::of_call_made_again(record, call)), answer)))
    }

    /// Asks a stateless client by way of its own next request.
    fn to_be_answered(
        &self,
        ticket: &Ticket,
        bearing: &Bearing,
    ) -> Result<rmcp::model::InputRequiredResult, ErrorData> {
        let now = self.shared.dispatch.ports().clock.now();
        let valid = asking::validity(ticket.record(), now);
        let state = self.shared.seal.close(ticket.record(), bearing, valid).map_err(|error| {
            ErrorData::internal_error(format!("the question cannot be sealed: {error}"), None)
        })?;
        Ok(asking::required(asking::form(ticket, self.shared.about.place.as_deref()), state))
    }

    /// Asks a client with a session, if it can ask its user.
    async fn ask(
        &self,
        client: &Client,
        ticket: &Ticket,
        context: &RequestContext<RoleServer>,
    ) -> Asked {
        if !client.can_ask || client.era == Era::Stateless {
            return Asked::Answered(asking::nobody());
        }
        let now = self.shared.dispatch.ports().clock.now();
        let patience = asking::validity(ticket.record(), now);
        let form = asking::form(ticket, self.shared.about.place.as_deref());
        asking::elicit(client, form, patience, context, &self.connection.cancellation).await
    }

    /// Runs a call to its end; a client that takes its request back, or goes, asks the call to stop.
    async fn until_cancelled(
        &self,
        call_context: &CallContext,
        context: &RequestContext<RoleServer>,
        begun: Begun,
    ) -> Dispatched {
        let dispatch = &self.shared.dispatch;
        let mut running = std::pin::pin!(async {
            match begun {
                Begun::Now(call) => dispatch.dispatch(call_context, call).await,
                Begun::Again(ticket, answer) => {
                    dispatch.resume(call_context, *ticket, answer).await
                }
            }
        });
        tokio::select! {
            // Most calls end at once, and then nobody has to be told about a client that changes its mind.
            biased;
            end = &mut running => end,
            () = context.ct.cancelled() => {
                call_context.cancellation.cancel();
                running.await
            }
        }
    }

    /// Returns what surrounds a call of this client.
    fn context(&self, client: &Client, tools: &Arc<Snapshot>) -> CallContext {
        let template = &self.shared.template;
        let mut context = template.next_step();
        context.caller = Caller {
            entrance: Entrance::Mcp,
            principal: Arc::clone(&client.name),
            ..template.caller.clone()
        };
        context.tools = Arc::clone(tools);
        context.ledger.clone_from(&self.connection.ledger);
        context.cancellation = self.connection.cancellation.child();
        context
    }

    /// Returns what a state is sealed for: whoever the transport let in, by the name they give, with this call.
    fn bearing(&self, requested: &Requested, client: &Client) -> Bearing {
        Bearing {
            principal: format!("{} / {}", self.connection.let_in_as, client.identity()),
            tool: requested.tool.clone(),
            arguments: requested.sealed_arguments(),
        }
    }
}

/// A call at its beginning.
enum Begun {
    Now(ToolCall),
    Again(Box<Ticket>, Answer),
}

/// An answered call does not wait; should it, then for an answer to another question, which nobody gave.
fn still_open() -> Outcome {
    let text = "the call has to be asked about once more; make it again";
    Outcome::from(haft_protocol::Denial::new(haft_protocol::Control::Approval, text))
}

fn no_room() -> CallToolResult {
    let most = limits::MCP_CALLS_AT_ONCE;
    let text = format!(
        "{most} calls of this client are under way, and no more are taken: wait for some of them to end"
    );
    CallToolResult::error(vec![ContentBlock::text(text)])
}
