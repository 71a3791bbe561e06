//! The tools that go through haft.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_protocol::{ContentPart, ErrorKind, Failure, ImageType, Progress};
use haft_tool::{Call, FunctionTool, OnConflict, Output, Registry, Tool};
use serde_json::{Map, Value, json};

use super::Fault;

/// An image of one pixel.
pub(super) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// Tools that haft asks about before they run.
pub(super) const ASKED: [&str; 2] =
    ["test_streaming_elicitation", "test_input_required_result_tampered_state"];

/// Registers all of them.
pub(super) fn register(registry: &Arc<Registry>) -> Result<(), Fault> {
    let mut tools = vec![
        tool("test_simple_text", "Says a text.", |_, _| async {
            Ok(Output::text("This is a simple text response for testing."))
        })?,
        tool("test_image_content", "Shows an image.", |_, _| async {
            let data = STANDARD.decode(PIXEL).unwrap_or_default().into();
            let image = ContentPart::Image { media_type: ImageType::Png, data };
            Ok(Output { content: vec![image], ..Output::default() })
        })?,
        tool("test_error_handling", "Fails.", |_, _| async {
            let text = "This tool intentionally returns an error for testing";
            Err(Failure::new(ErrorKind::Unsupported, text))
        })?,
        tool("test_tool_with_progress", "Says how far it is.", |call: Call, _| async move {
            for done in [0, 50, 100] {
                let unit = "steps".to_owned();
                call.progress(Progress { done, total: Some(100), unit });
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok(Output::text("All steps are done."))
        })?,
        described_at_length()?,
        with_a_header()?,
        changing(registry)?,
    ];
    for name in ASKED {
        tools.push(tool(name, "Is asked about before it runs.", |_, _| async {
            Ok(Output::text("It was allowed."))
        })?);
    }
    for tool in tools {
        registry.register_tool(tool, OnConflict::Reject)?;
    }
    Ok(())
}

/// Makes a tool that takes nothing.
fn tool<F, R>(name: &str, description: &str, body: F) -> Result<Arc<dyn Tool>, Fault>
where
    F: Fn(Call, Map<String, Value>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output, Failure>> + Send + 'static,
{
    let schema = json!({ "type": "object", "properties": {} });
    let name = format!("local/{name}").parse()?;
    Ok(FunctionTool::new(name, description, schema)?.body(body)?)
}

/// Makes a tool whose schema has much of what the dialect offers.
fn described_at_length() -> Result<Arc<dyn Tool>, Fault> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    let name = "local/json_schema_2020_12_tool".parse()?;
    let tool = FunctionTool::new(name, "Has a schema with much in it.", schema)?;
    Ok(tool.body(|_, arguments| async move {
        Ok(Output::text(format!("Called with {}.", Value::Object(arguments))))
    })?)
}

/// Makes a tool an argument of which is sent as a header, too.
fn with_a_header() -> Result<Arc<dyn Tool>, Fault> {
    let schema = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    });
    let name = "local/test_custom_header".parse()?;
    let tool = FunctionTool::new(name, "Takes an argument that is a header, too.", schema)?;
    Ok(tool.body(|_, arguments| async move {
        Ok(Output::text(format!("Called with {}.", Value::Object(arguments))))
    })?)
}

/// Makes a tool that puts another into the registry, in place of the one before.
fn changing(registry: &Arc<Registry>) -> Result<Arc<dyn Tool>, Fault> {
    let registry = Arc::downgrade(registry);
    let another = tool("test_another_tool", "Came later.", |_, _| async {
        Ok(Output::text("It came later."))
    })?;
    tool("test_trigger_tool_change", "Changes the list of tools.", move |_, _| {
        let change = registry
            .upgrade()
            .map(|registry| registry.register_tool(Arc::clone(&another), OnConflict::Replace));
        std::future::ready(match change {
            Some(Ok(())) => Ok(Output::text("The list is another one.")),
            Some(Err(error)) => Err(Failure::new(ErrorKind::Internal, error.to_string())),
            None => Err(Failure::new(ErrorKind::Internal, "the registry is gone")),
        })
    })
}
