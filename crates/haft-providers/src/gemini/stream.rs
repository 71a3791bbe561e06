//! What a reply of Gemini looks like as it comes.

use std::collections::VecDeque;

use haft_model::{Dialect, Finished, ModelError, ModelErrorKind, Part};
use haft_protocol::{Opaque, StopReason};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::assemble::Assembly;
use crate::errors::{self, Report};
use crate::exchange::{Fault, Reader, Step};
use crate::json::{self, RawObject};
use crate::sse::Event;
use crate::usage::Reports;

/// Reads the chunks of one reply.
pub(super) struct GeminiReader {
    origin: String,
    assembly: Assembly,
    usage: Reports,
    stop: Option<StopReason>,
    /// Whether more came after the reply was said to be whole.
    goes_on: bool,
    served_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    prompt_feedback: Value,
    #[serde(default)]
    usage_metadata: Value,
    #[serde(default)]
    model_version: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(default)]
    finish_reason: Value,
    #[serde(default)]
    finish_message: Value,
    #[serde(default)]
    index: Value,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

impl GeminiReader {
    pub(super) fn new(origin: String) -> Self {
        Self {
            origin,
            assembly: Assembly::default(),
            usage: Reports::default(),
            stop: None,
            goes_on: false,
            served_by: None,
        }
    }

    fn own(&self, json: &str) -> Opaque {
        Opaque { origin: self.origin.as_str().into(), json: json::joined(json).into() }
    }

    fn chunk(&mut self, text: &str, shown: &mut VecDeque<Part>) -> Result<Step, Fault> {
        let chunk: Chunk<'_> = serde_json::from_str(text).map_err(|it| Fault::no_json(&it))?;
        if !chunk.error.is_null() {
            return Err(Fault::Reported(Report::of_text(text)));
        }
        self.usage.gemini(&chunk.usage_metadata);
        let model = chunk.model_version.as_str().filter(|model| !model.is_empty());
        self.served_by = self.served_by.take().or(model.map(json::joined));
        if let Some(reason) = chunk.prompt_feedback.get("blockReason").and_then(Value::as_str) {
            let text = format!("the prompt was refused: `{}`", errors::shown(reason));
            return Err(ModelError::new(ModelErrorKind::Refused, text).into());
        }
        let Some(candidates) = chunk.candidates else {
            let is_ours = chunk.usage_metadata.is_object() || model.is_some();
            return if is_ours { Ok(Step::Nothing) } else { Err(unreadable(text)) };
        };
        let (mut says, had_stopped) = (false, self.stop.is_some());
        // One reply was asked for; what a server adds to it is not ours.
        let first = |candidate: &&Candidate<'_>| candidate.index.as_u64().unwrap_or(0) == 0;
        for candidate in candidates.iter().filter(first) {
            let parts = candidate.content.as_ref().and_then(|content| content.parts.as_ref());
            for raw in parts.into_iter().flatten() {
                says |= self.part(raw, shown)?;
            }
            self.stopped(candidate)?;
        }
        self.goes_on |= had_stopped && says;
        Ok(match (&self.stop, says) {
            (Some(_), true) if self.goes_on => Step::Doubtful,
            (Some(_), false) if self.goes_on => Step::Nothing,
            (Some(_), _) => Step::Whole,
            (None, true) => Step::Progress,
            (None, false) => Step::Nothing,
        })
    }

    /// Takes a part, and tells whether it said anything.
    fn part(&mut self, raw: &RawValue, shown: &mut VecDeque<Part>) -> Result<bool, Fault> {
        let broken = |error: serde_json::Error| Fault::no_json(&error);
        let mut own: RawObject = serde_json::from_str(raw.get()).map_err(broken)?;
        if let Some(call) = own.get("functionCall") {
            let call: RawObject = serde_json::from_str(call).map_err(broken)?;
            let id = call.text("id").filter(|id| !id.is_empty());
            let tool = call.text("name").unwrap_or_default();
            let part = self.assembly.open_call(id, tool, shown)?;
            let arguments = call.get("args").filter(|args| *args != "null").unwrap_or_default();
            self.assembly.add(part, arguments, shown)?;
            own.0.retain(|(name, _)| name != "functionCall");
            if !own.0.is_empty() {
                let json = serde_json::to_string(&own).map_err(broken)?;
                self.assembly.keep(part, self.own(&json))?;
            }
            return Ok(true);
        }
        let is_signed = own.get("thoughtSignature").is_some();
        if own.get("text").is_none() && !own.0.iter().all(|(name, _)| is_beside(name)) {
            self.assembly.opaque(self.own(raw.get()))?;
            return Ok(true);
        }
        if own.get("text").is_none() && !is_signed {
            return Ok(false);
        }
        let text = own.get("text").and_then(|text| serde_json::from_str::<String>(text).ok());
        let is_thought = own.get("thought") == Some("true");
        let is_plain = own.0.iter().all(|(name, _)| matches!(name.as_str(), "text" | "thought"));
        let piece = text.as_deref().unwrap_or_default();
        if is_plain {
            if is_thought {
                self.assembly.reasoning(piece, shown)?;
            } else {
                self.assembly.text(piece, shown)?;
            }
            return Ok(!piece.is_empty());
        }
        // What has a signature stays a part of its own: joined with others, it would be that of something else.
        let part =
            if is_thought { self.assembly.open_reasoning()? } else { self.assembly.open_text()? };
        self.assembly.add(part, piece, shown)?;
        let kept = if text.is_some() {
            self.own(raw.get())
        } else {
            // A signature may come alone, and is not taken back so.
            own.set("text", "").map_err(broken)?;
            self.own(&serde_json::to_string(&own).map_err(broken)?)
        };
        self.assembly.keep(part, kept)?;
        Ok(true)
    }

    fn stopped(&mut self, candidate: &Candidate<'_>) -> Result<(), Fault> {
        let Some(reason) = candidate.finish_reason.as_str() else { return Ok(()) };
        self.stop = Some(match reason {
            "" | "FINISH_REASON_UNSPECIFIED" => return Ok(()),
            "STOP" => StopReason::End,
            "MAX_TOKENS" => StopReason::Length,
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => StopReason::Filtered,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
                return Err(garbled(reason, candidate, ModelErrorKind::Server));
            }
            "MISSING_THOUGHT_SIGNATURE" => {
                return Err(garbled(reason, candidate, ModelErrorKind::Reasoning));
            }
            other => StopReason::Other(json::joined(other)),
        });
        Ok(())
    }
}

impl Reader for GeminiReader {
    fn take(&mut self, event: &Event, shown: &mut VecDeque<Part>) -> Result<Step, Fault> {
        let data = json::mend_piece(&event.data);
        if data.trim() == "[DONE]" {
            return Ok(if self.stop.is_some() { Step::Done } else { Step::Nothing });
        }
        // Whoever is not told to stream in events answers with a list of chunks.
        if !data.trim_start().starts_with('[') {
            return self.chunk(&data, shown);
        }
        let chunks: Vec<&RawValue> =
            serde_json::from_str(&data).map_err(|error| Fault::no_json(&error))?;
        let mut step = Step::Nothing;
        for chunk in chunks {
            step = self.chunk(chunk.get(), shown)?;
        }
        Ok(step)
    }

    fn finish(&mut self) -> Finished {
        let has_calls = !self.assembly.calls().is_empty();
        let stop = match self.stop.take() {
            Some(StopReason::End) | None if has_calls => StopReason::Calls,
            None => StopReason::End,
            Some(other) => other,
        };
        let mut finished = self.assembly.finish(stop);
        finished.usage = self.usage.finish();
        finished.served_by = self.served_by.take();
        finished
    }
}

/// Tells whether a field only stands beside what a part says.
fn is_beside(name: &str) -> bool {
    matches!(name, "thought" | "thoughtSignature" | "partMetadata")
}

/// Makes the fault of a reply that the model's own server could not read. Asked again, the model may do better.
fn garbled(reason: &str, candidate: &Candidate<'_>, kind: ModelErrorKind) -> Fault {
    let words = candidate.finish_message.as_str().map(errors::shown).unwrap_or_default();
    let colon = if words.is_empty() { "" } else { ": " };
    let text = format!("the server could not read what its model said (`{reason}`){colon}{words}");
    ModelError::new(kind, text).into()
}

fn unreadable(text: &str) -> Fault {
    Fault::not_ours(text, Dialect::Gemini)
}
