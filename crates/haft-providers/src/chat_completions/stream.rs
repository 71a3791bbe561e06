//! What a reply in Chat Completions looks like as it comes.

use std::collections::VecDeque;

use haft_model::{Finished, Part};
use haft_protocol::{Opaque, StopReason};
use serde_json::Value;

use crate::assemble::{Assembly, CallPiece, Calls};
use crate::errors::Report;
use crate::exchange::{Fault, Reader, Step};
use crate::json::{self, RawObject};
use crate::sse::Event;
use crate::usage::Reports;

/// The fields that hold reasoning, in the words of several servers. The first that says something counts.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads the chunks of one reply.
pub(super) struct ChatReader {
    origin: String,
    cap: Option<u64>,
    assembly: Assembly,
    calls: Calls,
    usage: Reports,
    stop: Option<StopReason>,
    /// Whether more came after the reply was said to be whole, so that its server says so too early.
    goes_on: bool,
    refused: bool,
    served_by: Option<String>,
    reasoning_field: Option<&'static str>,
    /// The pieces of `reasoning_details`, each as it came.
    details: Vec<String>,
}

impl ChatReader {
    pub(super) fn new(origin: String, cap: Option<u64>) -> Self {
        Self {
            origin,
            cap,
            assembly: Assembly::default(),
            calls: Calls::default(),
            usage: Reports::default(),
            stop: None,
            goes_on: false,
            refused: false,
            served_by: None,
            reasoning_field: None,
            details: Vec::new(),
        }
    }

    fn choice(&mut self, choice: &Value, shown: &mut VecDeque<Part>) -> Result<bool, Fault> {
        let (mut says, had_stopped) = (false, self.stop.is_some());
        // A server that does not stream sends the whole message in place of what is new.
        for (field, is_whole) in [("delta", false), ("message", true)] {
            if let Some(said) = choice.get(field) {
                says |= self.said(said, is_whole, shown)?;
            }
        }
        self.goes_on |= had_stopped && says;
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            if reason == "error" {
                return Err(Fault::Reported(Report::of_json(choice)));
            }
            // Who has nothing to say here with each piece says it with the first one, too.
            self.goes_on |= reason.is_empty();
            self.stop = Some(stop_reason(reason));
        }
        Ok(says)
    }

    fn said(
        &mut self,
        said: &Value,
        is_whole: bool,
        shown: &mut VecDeque<Part>,
    ) -> Result<bool, Fault> {
        let mut says = false;
        for field in REASONING {
            let piece = said.get(field).and_then(Value::as_str).unwrap_or_default();
            if !piece.is_empty() && self.reasoning_field.is_none_or(|known| known == field) {
                self.reasoning_field = Some(field);
                self.assembly.reasoning(piece, shown)?;
                says = true;
            }
        }
        if let Some(Value::Array(details)) = said.get("reasoning_details") {
            for detail in details {
                let detail = detail.to_string();
                self.assembly.count(detail.len())?;
                self.details.push(detail);
            }
        }
        match said.get("content") {
            Some(Value::String(piece)) if !piece.is_empty() => {
                self.assembly.text(piece, shown)?;
                says = true;
            }
            Some(Value::Array(pieces)) => {
                for piece in pieces {
                    says |= self.content_part(piece, shown)?;
                }
            }
            _ => {}
        }
        if let Some(piece) = said.get("refusal").and_then(Value::as_str)
            && !piece.is_empty()
        {
            self.refused = true;
            self.assembly.text(piece, shown)?;
            says = true;
        }
        if let Some(Value::Array(entries)) = said.get("tool_calls") {
            for (at, entry) in entries.iter().enumerate() {
                let mut piece = CallPiece::of_json(entry);
                if is_whole {
                    // A list of whole calls needs no numbers, and has its own.
                    piece.index = u64::try_from(at).ok();
                }
                says |= self.call(piece, entry, is_whole, shown)?;
            }
        }
        if let Some(entry @ Value::Object(_)) = said.get("function_call") {
            says |= self.call(CallPiece::of_json(entry), entry, is_whole, shown)?;
        }
        Ok(says)
    }

    fn call(
        &mut self,
        piece: CallPiece,
        entry: &Value,
        is_whole: bool,
        shown: &mut VecDeque<Part>,
    ) -> Result<bool, Fault> {
        let taken = if is_whole {
            Calls::add(piece, &mut self.assembly, shown)?
        } else {
            self.calls.take(piece, &mut self.assembly, shown)?
        };
        let Some((part, says)) = taken else { return Ok(false) };
        if let Some(extra) = entry.get("extra_content").filter(|it| it.is_object()) {
            self.assembly.keep(part, self.own(&extra.to_string()))?;
        }
        Ok(says)
    }

    fn content_part(&mut self, part: &Value, shown: &mut VecDeque<Part>) -> Result<bool, Fault> {
        let text = part.get("text").and_then(Value::as_str);
        match (part.get("type").and_then(Value::as_str), text) {
            (Some("thinking"), _) => {
                let thoughts = part.get("thinking").and_then(Value::as_array);
                for thought in thoughts.into_iter().flatten() {
                    let piece = thought.get("text").and_then(Value::as_str).unwrap_or_default();
                    self.assembly.reasoning(piece, shown)?;
                }
                Ok(thoughts.is_some_and(|it| !it.is_empty()))
            }
            (_, Some(piece)) if !piece.is_empty() => {
                self.assembly.text(piece, shown)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn own(&self, json: &str) -> Opaque {
        Opaque { origin: self.origin.as_str().into(), json: json::joined(json).into() }
    }

    /// Keeps the fields that reasoning came in, to go back as they are.
    fn keep_reasoning(&mut self) -> Option<()> {
        let mut fields = RawObject::default();
        let part = self.assembly.first_reasoning();
        if let (Some(part), Some(field)) = (part, self.reasoning_field) {
            let text = json::joined(self.assembly.so_far(part));
            fields.set(field, &text).ok()?;
        }
        if !self.details.is_empty() {
            let details = json::read_raw(&format!("[{}]", self.details.join(",")))?;
            fields.set("reasoning_details", &details).ok()?;
        }
        if fields.0.is_empty() {
            return None;
        }
        let part = match part {
            Some(part) => part,
            None => self.assembly.open_reasoning().ok()?,
        };
        let own = self.own(&serde_json::to_string(&fields).ok()?);
        self.assembly.keep(part, own).ok()
    }

    fn stop(&self) -> StopReason {
        let has_calls = !self.assembly.calls().is_empty();
        let capped = self.cap.is_some_and(|cap| self.usage.output().is_some_and(|it| it >= cap));
        match &self.stop {
            Some(StopReason::End | StopReason::Calls) | None if capped => StopReason::Length,
            Some(StopReason::End) | None if self.refused => StopReason::Refused,
            Some(StopReason::End | StopReason::Calls) | None if has_calls => StopReason::Calls,
            Some(StopReason::End | StopReason::Calls) | None => StopReason::End,
            Some(other) => other.clone(),
        }
    }
}

impl Reader for ChatReader {
    fn take(&mut self, event: &Event, shown: &mut VecDeque<Part>) -> Result<Step, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(Step::Done);
        }
        let chunk: Value = serde_json::from_str(&json::mend_piece(data))
            .map_err(|error| Fault::no_json(&error))?;
        let is_error = chunk.get("error").is_some_and(|error| !error.is_null())
            || event.name == "error"
            || chunk.get("object").and_then(Value::as_str) == Some("error");
        if is_error {
            return Err(Fault::Reported(Report::of_json(&chunk)));
        }
        if self.served_by.is_none() {
            let model = chunk.get("model").and_then(Value::as_str).filter(|it| !it.is_empty());
            self.served_by = model.map(json::joined);
        }
        if let Some(usage) = chunk.get("usage") {
            self.usage.chat_completions(usage);
        }
        let mut says = false;
        let choices = chunk.get("choices").and_then(Value::as_array);
        // One reply was asked for; what a server adds to it is not ours.
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        for choice in choices.into_iter().flatten().filter(first) {
            says |= self.choice(choice, shown)?;
        }
        Ok(match (&self.stop, says) {
            (Some(_), true) if self.goes_on => Step::Doubtful,
            (Some(_), false) if self.goes_on => Step::Nothing,
            (Some(_), _) => Step::Whole,
            (None, true) => Step::Progress,
            (None, false) => Step::Nothing,
        })
    }

    fn finish(&mut self) -> Finished {
        Calls::settle(&mut self.assembly);
        self.keep_reasoning();
        let stop = self.stop();
        let mut finished = self.assembly.finish(stop);
        finished.usage = self.usage.finish();
        finished.served_by = self.served_by.take();
        finished
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "stop" | "end_turn" | "eos" | "" => StopReason::End,
        "tool_calls" | "function_call" | "tool_use" => StopReason::Calls,
        "length" | "max_tokens" => StopReason::Length,
        "content_filter" => StopReason::Filtered,
        "refusal" => StopReason::Refused,
        "model_context_window_exceeded" | "model_length" => StopReason::Window,
        other => StopReason::Other(json::joined(other)),
    }
}
