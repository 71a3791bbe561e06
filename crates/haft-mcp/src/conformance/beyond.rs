//! Tools that haft could not have: what they do is no part of it.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    LoggingLevel, LoggingMessageNotificationParam, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::tools::PIXEL;
use super::{made_of, result_of};
use crate::client::{Client, Era};

/// A sound of no length.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// The names, and the argument where there is one.
const TOOLS: &[(&str, Option<&str>)] = &[
    ("test_audio_content", None),
    ("test_embedded_resource", None),
    ("test_multiple_content_types", None),
    ("test_tool_with_logging", None),
    ("test_logging_tool", None),
    ("test_sampling", Some("prompt")),
    ("test_elicitation", Some("message")),
    ("test_elicitation_sep1034_defaults", None),
    ("test_elicitation_sep1330_enums", None),
    ("test_missing_capability", None),
];

/// Lists them, and those that ask before a call in their own way.
pub(super) fn list() -> Result<Vec<Tool>, ErrorData> {
    let asking = super::rounds::TOOLS.iter().map(|it| (it.name, None));
    let tools = TOOLS.iter().copied().chain(asking).map(|(name, argument)| {
        let mut schema = json!({ "type": "object", "properties": {} });
        if let Some(argument) = argument {
            let properties = json!({ (argument): { "type": "string" } });
            schema = json!({ "type": "object", "properties": properties, "required": [argument] });
        }
        json!({ "name": name, "description": "Answered by the fixture.", "inputSchema": schema })
    });
    made_of(tools.collect())
}

/// Calls one of them; nothing for a tool of another name.
pub(super) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        arguments.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default()
    };
    let result = match &*request.name {
        "test_audio_content" => content(json!([
            { "type": "audio", "data": SILENCE, "mimeType": "audio/wav" },
        ])),
        "test_embedded_resource" => content(json!([{
            "type": "resource",
            "resource": {
                "uri": "test://embedded-resource",
                "mimeType": "text/plain",
                "text": "This is an embedded resource content.",
            },
        }])),
        "test_multiple_content_types" => content(json!([
            { "type": "text", "text": "Multiple content types test:" },
            { "type": "image", "data": PIXEL, "mimeType": "image/png" },
            {
                "type": "resource",
                "resource": {
                    "uri": "test://mixed-content-resource",
                    "mimeType": "application/json",
                    "text": r#"{"test":"data","value":123}"#,
                },
            },
        ])),
        "test_tool_with_logging" | "test_logging_tool" => logging(context).await,
        "test_sampling" => sampling(argument("prompt"), context).await,
        "test_elicitation" => elicitation(argument("message"), asked_first(), context).await,
        "test_elicitation_sep1034_defaults" => elicitation("Defaults", defaults(), context).await,
        "test_elicitation_sep1330_enums" => elicitation("Choices", choices(), context).await,
        "test_missing_capability" => missing(context),
        _ => return None,
    };
    Some(result.map(Into::into))
}

fn content(content: Value) -> Result<CallToolResult, ErrorData> {
    result_of(json!({ "content": content }))
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

async fn logging(context: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let wants = Client::of(context).era == Era::Handshake || context.meta.log_level().is_some();
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if wants {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
            context.peer.notify_logging_message(message).await.map_err(broken)?;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(text("What happened was logged."))
}

async fn sampling(
    prompt: &str,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let request = made_of(json!({ "messages": [message], "maxTokens": 100 }))?;
    let answer = context.peer.create_message(request).await.map_err(broken)?;
    let answer = serde_json::to_value(answer).map_err(broken)?;
    let said = answer.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
    Ok(text(format!("LLM response: {said}")))
}

async fn elicitation(
    message: &str,
    schema: Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let request = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let answer = context.peer.create_elicitation(made_of(request)?).await.map_err(broken)?;
    let answer = serde_json::to_value(answer).map_err(broken)?;
    let (action, content) = (answer.get("action"), answer.get("content"));
    let action = action.and_then(Value::as_str).unwrap_or_default();
    let content = content.cloned().unwrap_or_default();
    Ok(text(format!("Elicitation completed: action={action}, content={content}")))
}

fn asked_first() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

fn choices() -> Value {
    let titled = |titles: [&str; 3]| -> Value {
        let values = ["value1", "value2", "value3"];
        let choices = values.iter().zip(titles);
        choices.map(|(value, title)| json!({ "const": value, "title": title })).collect()
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": {
                "type": "string",
                "oneOf": titled(["First Option", "Second Option", "Third Option"]),
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": { "type": "string", "enum": ["option1", "option2", "option3"] },
            },
            "titledMulti": {
                "type": "array",
                "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
            },
        },
    })
}

fn missing(context: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    if context.client_capabilities().is_some_and(|it| it.sampling.is_some()) {
        return Ok(text("The client declared what this needs."));
    }
    let needed = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(needed))
}

fn broken(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
