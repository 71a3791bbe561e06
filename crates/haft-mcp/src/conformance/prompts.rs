//! Prompts, which haft does not offer.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, ListPromptsResult};
use serde_json::{Value, json};

use super::result_of;
use super::tools::PIXEL;

/// The names, with the arguments.
const PROMPTS: &[(&str, &[&str])] = &[
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    (super::rounds::PROMPT, &[]),
];

/// Lists them.
pub(super) fn list() -> Result<ListPromptsResult, ErrorData> {
    let prompts = PROMPTS.iter().map(|(name, arguments)| {
        let arguments: Value = arguments
            .iter()
            .map(|it| json!({ "name": it, "description": "An argument.", "required": true }))
            .collect();
        json!({ "name": name, "description": "A prompt of the fixture.", "arguments": arguments })
    });
    result_of(json!({ "prompts": prompts.collect::<Value>() }))
}

/// Returns one of them.
pub(super) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        arguments.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default()
    };
    let content = match request.name.as_str() {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            vec![said(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": argument("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            });
            vec![
                json!({ "type": "resource", "resource": resource }),
                said("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![
            json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" }),
            said("Please analyze the image above."),
        ],
        other => {
            let text = format!("there is no prompt `{other}`");
            return Err(ErrorData::invalid_params(text, None));
        }
    };
    of(content)
}

/// Makes a prompt that says something.
pub(super) fn saying(text: &str) -> Result<GetPromptResult, ErrorData> {
    of(vec![said(text)])
}

fn of(content: Vec<Value>) -> Result<GetPromptResult, ErrorData> {
    let messages = content.into_iter().map(|it| json!({ "role": "user", "content": it }));
    result_of(json!({ "messages": messages.collect::<Value>() }))
}

fn said(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
