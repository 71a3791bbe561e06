//! What a reply in Messages looks like as it comes.

use std::collections::{HashMap, VecDeque};

use haft_model::{Dialect, Finished, Part};
use haft_protocol::{Opaque, StopReason};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::assemble::Assembly;
use crate::errors::Report;
use crate::exchange::{Fault, Reader, Step};
use crate::json::{self, RawObject};
use crate::sse::Event;
use crate::usage::Reports;

/// Reads the events of one reply.
pub(super) struct MessagesReader {
    origin: String,
    cap: u64,
    assembly: Assembly,
    blocks: HashMap<u64, Block>,
    usage: Reports,
    stop: Option<StopReason>,
    served_by: Option<String>,
}

/// A block that is not whole yet.
struct Block {
    kind: Kind,
    part: usize,
    /// The block as it began.
    own: RawObject,
    /// The signature, which comes in pieces too.
    signature: String,
    citations: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(default)]
    delta: Value,
    #[serde(default)]
    message: Value,
    usage: Option<Value>,
    // What follows is of an answer that was not streamed.
    #[serde(borrow)]
    content: Option<Vec<&'a RawValue>>,
    model: Option<Value>,
    stop_reason: Option<Value>,
}

impl MessagesReader {
    pub(super) fn new(origin: String, cap: u64) -> Self {
        Self {
            origin,
            cap,
            assembly: Assembly::default(),
            blocks: HashMap::new(),
            usage: Reports::default(),
            stop: None,
            served_by: None,
        }
    }

    fn own(&self, json: &str) -> Opaque {
        Opaque { origin: self.origin.as_str().into(), json: json::joined(json).into() }
    }

    fn begin(
        &mut self,
        index: u64,
        raw: &RawValue,
        shown: &mut VecDeque<Part>,
    ) -> Result<(), Fault> {
        let own: RawObject =
            serde_json::from_str(raw.get()).map_err(|error| Fault::no_json(&error))?;
        let (kind, part) = match own.text("type").as_deref() {
            Some("text") => {
                let part = self.assembly.open_text()?;
                let text = own.text("text").unwrap_or_default();
                self.assembly.add(part, &text, shown)?;
                (Kind::Text, part)
            }
            Some("thinking") => {
                let part = self.assembly.open_reasoning()?;
                let text = own.text("thinking").unwrap_or_default();
                self.assembly.add(part, &text, shown)?;
                (Kind::Thinking, part)
            }
            Some("tool_use") => {
                let id = own.text("id").filter(|id| !id.is_empty());
                let tool = own.text("name").unwrap_or_default();
                let part = self.assembly.open_call(id, tool, shown)?;
                // The input of a block that begins is empty, but for servers that send it whole.
                let input =
                    own.get("input").filter(|input| !matches!(*input, "{}" | "null" | "\"\""));
                self.assembly.add(part, input.unwrap_or_default(), shown)?;
                (Kind::Call, part)
            }
            _ => return Ok(self.assembly.opaque(self.own(raw.get()))?),
        };
        let signature = own.text("signature").unwrap_or_default();
        let block = Block { kind, part, own, signature, citations: Vec::new() };
        self.blocks.insert(index, block);
        Ok(())
    }

    fn delta(
        &mut self,
        index: u64,
        delta: &Value,
        shown: &mut VecDeque<Part>,
    ) -> Result<bool, Fault> {
        let Some(block) = self.blocks.get_mut(&index) else {
            return Ok(false);
        };
        let text = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        let piece = match (delta.get("type").and_then(Value::as_str), block.kind) {
            (Some("text_delta"), Kind::Text) => text("text"),
            (Some("thinking_delta"), Kind::Thinking) => text("thinking"),
            (Some("input_json_delta"), Kind::Call) => text("partial_json"),
            (Some("signature_delta"), Kind::Thinking) => {
                let piece = text("signature");
                self.assembly.count(piece.len())?;
                block.signature.push_str(piece);
                return Ok(!piece.is_empty());
            }
            (Some("citations_delta"), Kind::Text) => {
                if let Some(citation) = delta.get("citation").map(Value::to_string) {
                    self.assembly.count(citation.len())?;
                    block.citations.push(citation);
                }
                return Ok(true);
            }
            _ => "",
        };
        self.assembly.add(block.part, piece, shown)?;
        Ok(!piece.is_empty())
    }

    /// Keeps the block in the provider's own form, where that holds more than we have words for.
    fn end(&mut self, index: u64) -> Result<(), Fault> {
        let Some(Block { kind, part, mut own, signature, citations }) = self.blocks.remove(&index)
        else {
            return Ok(());
        };
        let broken = |error: serde_json::Error| Fault::no_json(&error);
        let text = json::joined(self.assembly.so_far(part));
        match kind {
            Kind::Thinking => {
                own.set("thinking", &text).map_err(broken)?;
                if !signature.is_empty() || own.get("signature").is_some() {
                    own.set("signature", &signature).map_err(broken)?;
                }
            }
            Kind::Text => {
                own.set("text", &text).map_err(broken)?;
                if !citations.is_empty() {
                    let list = json::read_raw(&format!("[{}]", citations.join(",")));
                    own.set("citations", &list).map_err(broken)?;
                }
                let plain = |name: &str| match name {
                    "type" | "text" => true,
                    "citations" => matches!(own.get(name), Some("null" | "[]")),
                    _ => false,
                };
                if own.0.iter().all(|(name, _)| plain(name)) {
                    return Ok(());
                }
            }
            Kind::Call => {
                own.0
                    .retain(|(name, _)| !matches!(name.as_str(), "type" | "id" | "name" | "input"));
                if own.0.is_empty() {
                    return Ok(());
                }
            }
        }
        let json = serde_json::to_string(&own).map_err(broken)?;
        Ok(self.assembly.keep(part, self.own(&json))?)
    }

    fn stopped(&mut self, reason: Option<&Value>) -> bool {
        let Some(reason) = reason.and_then(Value::as_str) else { return false };
        self.stop = Some(match reason {
            "end_turn" | "stop_sequence" => StopReason::End,
            "tool_use" => StopReason::Calls,
            "max_tokens" => StopReason::Length,
            "model_context_window_exceeded" => StopReason::Window,
            "refusal" => StopReason::Refused,
            other => StopReason::Other(json::joined(other)),
        });
        true
    }

    fn served_by(&mut self, model: Option<&Value>) {
        let model = model.and_then(Value::as_str).filter(|model| !model.is_empty());
        self.served_by = self.served_by.take().or(model.map(json::joined));
    }

    fn whole(&mut self, message: &Said<'_>, shown: &mut VecDeque<Part>) -> Result<Step, Fault> {
        self.served_by(message.model.as_ref());
        for (index, block) in (0..).zip(message.content.iter().flatten()) {
            self.begin(index, block, shown)?;
            self.end(index)?;
        }
        self.stopped(message.stop_reason.as_ref());
        Ok(Step::Done)
    }
}

impl Reader for MessagesReader {
    fn take(&mut self, event: &Event, shown: &mut VecDeque<Part>) -> Result<Step, Fault> {
        let data = json::mend_piece(&event.data);
        if data.trim() == "[DONE]" {
            return Ok(if self.stop.is_some() { Step::Done } else { Step::Nothing });
        }
        let message: Said<'_> =
            serde_json::from_str(&data).map_err(|error| Fault::no_json(&error))?;
        if let Some(usage) = &message.usage {
            self.usage.messages(usage);
        }
        // Some servers name an error in the event alone, and put its own kind where the event's should be.
        let by_name = message.kind.is_empty() || event.name == "error";
        let kind = if by_name { &event.name } else { &message.kind };
        match kind.as_str() {
            "message_start" => {
                self.served_by(message.message.get("model"));
                if let Some(usage) = message.message.get("usage") {
                    self.usage.messages(usage);
                }
                Ok(Step::Nothing)
            }
            "content_block_start" => {
                let Some(block) = message.content_block else { return Ok(Step::Nothing) };
                self.begin(message.index, block, shown)?;
                Ok(Step::Progress)
            }
            "content_block_delta" => {
                let says = self.delta(message.index, &message.delta, shown)?;
                Ok(if says { Step::Progress } else { Step::Nothing })
            }
            "content_block_stop" => {
                self.end(message.index)?;
                Ok(Step::Progress)
            }
            "message_delta" => {
                let stopped = self.stopped(message.delta.get("stop_reason"));
                Ok(if stopped { Step::Whole } else { Step::Nothing })
            }
            "message_stop" => Ok(Step::Done),
            "message" => self.whole(&message, shown),
            "error" => Err(Fault::Reported(Report::of_text(&data))),
            "" => Err(Fault::not_ours(&data, Dialect::Messages)),
            // Pings, and whatever comes to be said one day.
            _ => Ok(Step::Nothing),
        }
    }

    fn finish(&mut self) -> Finished {
        let open: Vec<_> = self.blocks.keys().copied().collect();
        for index in open {
            // A block whose end was left out is kept as far as it came.
            let _ = self.end(index);
        }
        let capped = self.usage.output().is_some_and(|output| output >= self.cap);
        let has_calls = !self.assembly.calls().is_empty();
        let stop = match self.stop.take() {
            Some(StopReason::End | StopReason::Calls) | None if capped => StopReason::Length,
            Some(StopReason::End | StopReason::Calls) | None if has_calls => StopReason::Calls,
            Some(StopReason::Calls) | None => StopReason::End,
            Some(other) => other,
        };
        let mut finished = self.assembly.finish(stop);
        finished.usage = self.usage.finish();
        finished.served_by = self.served_by.take();
        finished
    }
}
