//! Questions before an answer, in one round or several. haft asks one question of its own, whether a call may run; what is
//! asked here is something else.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, InputRequiredResult, InputResponses,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::{made_of, prompts};
use crate::SealKey;

/// The prompt that asks something first.
pub(super) const PROMPT: &str = "test_input_required_result_prompt";

/// A tool that asks something first.
pub(super) struct Asking {
    pub(super) name: &'static str,
    /// What is asked in each round, by the keys of the questions.
    rounds: &'static [&'static [&'static str]],
    /// Whether a state goes along.
    has_state: bool,
}

const fn asking(
    name: &'static str,
    rounds: &'static [&'static [&'static str]],
    has_state: bool,
) -> Asking {
    Asking { name, rounds, has_state }
}

/// Those that ask.
#[rustfmt::skip]
pub(super) const TOOLS: &[Asking] = &[
    asking("test_input_required_result_elicitation", &[&["user_name"]], false),
    asking("test_input_required_result_sampling", &[&["capital_question"]], false),
    asking("test_input_required_result_list_roots", &[&["client_roots"]], false),
    asking("test_input_required_result_request_state", &[&["confirm"]], true),
    asking("test_input_required_result_multiple_inputs", &[&["user_name", "greeting", "client_roots"]], true),
    asking("test_input_required_result_multi_round", &[&["step1"], &["step2"]], true),
    asking("test_input_required_result_capabilities", &[&["user_name", "capital_question"]], false),
];

const ASKING_PROMPT: Asking = asking(PROMPT, &[&["user_context"]], false);

/// How long a question may stay open.
const VALID: Duration = Duration::from_mins(1);

/// What a round comes to.
enum Round {
    Asked(InputRequiredResult),
    Answered(String),
}

/// The questions, and the seal of the state between them.
pub(super) struct Rounds(RequestStateCodec);

impl Rounds {
    /// Makes a seal that dies with the process.
    pub(super) fn new() -> Self {
        // Without random numbers the seal is one that everybody could make, which does for a fixture.
        let key = SealKey::random().unwrap_or_else(|_| SealKey::new([0; 32]));
        Self(RequestStateCodec::new_unchecked(key.bytes().to_vec()))
    }

    /// Answers a call of a tool that asks first; nothing for another tool.
    pub(super) fn of_tool(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let asking = TOOLS.iter().find(|it| it.name == request.name)?;
        let (answers, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        Some(self.next(asking, answers, state, context).map(|round| match round {
            Round::Asked(result) => result.into(),
            Round::Answered(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
        }))
    }

    /// Answers a request for the prompt that asks first; nothing for another prompt.
    pub(super) fn of_prompt(
        &self,
        request: &GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<GetPromptResponse, ErrorData>> {
        if request.name != PROMPT {
            return None;
        }
        let (answers, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        Some(match self.next(&ASKING_PROMPT, answers, state, context) {
            Ok(Round::Asked(result)) => Ok(GetPromptResponse::InputRequired(result)),
            Ok(Round::Answered(text)) => prompts::saying(&text).map(Into::into),
            Err(error) => Err(error),
        })
    }

    fn next(
        &self,
        asking: &Asking,
        answers: Option<&InputResponses>,
        state: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        let able = context.client_capabilities().unwrap_or_default();
        let round = state.map_or(Ok(0), |it| self.opened(asking, it))?;
        let keys = asking.rounds.get(round).copied().unwrap_or_default();
        let said = keys.iter().filter(|it| can_answer(&able, it));
        let said: Option<Vec<String>> =
            said.map(|it| answers.and_then(|all| all.get(*it)).and_then(said_in)).collect();
        let Some(said) = said else {
            return self.asked(asking, round, &able).map(Round::Asked);
        };
        if round + 1 < asking.rounds.len() {
            return self.asked(asking, round + 1, &able).map(Round::Asked);
        }
        let checked = if state.is_some() { "state-ok: " } else { "" };
        Ok(Round::Answered(format!("{checked}Hello, {}!", said.join(", "))))
    }

    fn asked(
        &self,
        asking: &Asking,
        round: usize,
        able: &ClientCapabilities,
    ) -> Result<InputRequiredResult, ErrorData> {
        let keys = asking.rounds.get(round).copied().unwrap_or_default();
        let questions: Map<String, Value> = keys
            .iter()
            .filter(|it| can_answer(able, it))
            .map(|it| ((*it).to_owned(), question(it)))
            .collect();
        let state = asking.has_state.then(|| {
            let options = SealOptions::new().associated_data(asking.name.as_bytes()).ttl(VALID);
            self.0.seal_with(round.to_string().as_bytes(), &options)
        });
        let questions = made_of(Value::Object(questions))?;
        Ok(InputRequiredResult::new(Some(questions), state))
    }

    fn opened(&self, asking: &Asking, state: &str) -> Result<usize, ErrorData> {
        let opened = self.0.open_with(state, asking.name.as_bytes()).ok();
        let round = opened.and_then(|it| std::str::from_utf8(&it).ok()?.parse().ok());
        round.ok_or_else(|| ErrorData::invalid_params("the request state is not this one's", None))
    }
}

/// Tells whether a client said that it can answer a question.
fn can_answer(able: &ClientCapabilities, key: &str) -> bool {
    match method(key) {
        "sampling/createMessage" => able.sampling.is_some(),
        "roots/list" => able.roots.is_some(),
        _ => able.elicitation.is_some(),
    }
}

fn method(key: &str) -> &'static str {
    match key {
        "capital_question" | "greeting" => "sampling/createMessage",
        "client_roots" => "roots/list",
        _ => "elicitation/create",
    }
}

fn question(key: &str) -> Value {
    let prompted = |text: &str| {
        let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
        json!({ "messages": [message], "maxTokens": 100 })
    };
    let form = |message: &str, field: &str, kind: &str| {
        let properties = json!({ (field): { "type": kind } });
        let schema = json!({ "type": "object", "properties": properties, "required": [field] });
        json!({ "mode": "form", "message": message, "requestedSchema": schema })
    };
    let params = match key {
        "capital_question" => prompted("What is the capital of France?"),
        "greeting" => prompted("Generate a greeting"),
        "client_roots" => json!({}),
        "confirm" => form("Please confirm", "ok", "boolean"),
        "step1" => form("Step 1: What is your name?", "name", "string"),
        "step2" => form("Step 2: What is your favorite color?", "color", "string"),
        "user_context" => form("What context should the prompt use?", "context", "string"),
        _ => form("What is your name?", "name", "string"),
    };
    json!({ "method": method(key), "params": params })
}

/// Returns what an answer says; nothing where it is not one that was asked for.
fn said_in(answer: &Value) -> Option<String> {
    if let Some(roots) = answer.get("roots").and_then(Value::as_array) {
        return Some(Value::from(roots.clone()).to_string());
    }
    let content = answer.get("content")?;
    if let Some(text) = content.get("text").and_then(Value::as_str) {
        return Some(text.to_owned());
    }
    let accepted = answer.get("action").and_then(Value::as_str) == Some("accept");
    let first = content.as_object()?.values().next()?;
    accepted.then(|| first.as_str().map_or_else(|| first.to_string(), str::to_owned))
}
