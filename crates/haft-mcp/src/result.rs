//! From an outcome to the result that a client gets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_protocol::{ContentPart, Outcome};
use haft_tool::Descriptor;
use rmcp::model::{CallToolResult, ContentBlock};

use crate::resources;

/// Makes the result of an outcome.
///
/// Text and images come as such, artifacts as links to resources that can be read. What went well carries data that
/// conforms to the tool's output schema where it has one; whatever else a call ended in is a result that is an error, with
/// the text a model reads, so that the model can do better.
pub(crate) fn of(mut outcome: Outcome, descriptor: &Descriptor) -> CallToolResult {
    if outcome.is_ok() && descriptor.output().is_some() && outcome.structured.is_none() {
        return without_data(&outcome);
    }
    let mut result = CallToolResult::success(blocks(&outcome));
    if outcome.is_ok() {
        result.structured_content = outcome.structured.take();
    } else {
        result.is_error = Some(true);
    }
    result
}

/// What is promised as data, and is too much to be sent as data, is kept as an artifact. A client that checks results would
/// throw the whole away, so that it is said in the one form it takes.
fn without_data(outcome: &Outcome) -> CallToolResult {
    let text = "the call did what it was asked to, and its data is too much to be sent: it was kept as a resource";
    let mut content = vec![ContentBlock::text(text)];
    content.extend(blocks(outcome));
    CallToolResult::error(content)
}

/// Turns the parts into blocks: what a model reads, in one block of text, then what it looks at or can fetch.
fn blocks(outcome: &Outcome) -> Vec<ContentBlock> {
    let further = outcome.content.iter().filter_map(|part| match part {
        ContentPart::Text { .. } => None,
        ContentPart::Image { media_type, data } => {
            Some(ContentBlock::image(STANDARD.encode(data), media_type.media_type()))
        }
        ContentPart::Artifact { id, title, media_type, bytes } => {
            Some(ContentBlock::resource_link(resources::link(*id, title, media_type, *bytes)))
        }
    });
    let text = by_address(outcome.model_text(), outcome);
    let text = (!text.is_empty()).then(|| ContentBlock::text(text));
    let mut blocks: Vec<ContentBlock> = text.into_iter().chain(further).collect();
    if blocks.is_empty() {
        blocks.push(ContentBlock::text("done"));
    }
    blocks
}

/// Names what was kept by the address that a client reads it at, and not by an id that means something to haft alone.
fn by_address(text: String, outcome: &Outcome) -> String {
    outcome.content.iter().fold(text, |text, part| match part {
        ContentPart::Artifact { id, .. } => text
            .replace(&format!("artifact {id}"), &format!("artifact {}", resources::address(*id))),
        ContentPart::Text { .. } | ContentPart::Image { .. } => text,
    })
}
