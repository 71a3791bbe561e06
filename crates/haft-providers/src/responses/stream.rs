//! What a reply in Responses looks like as it comes.

use std::collections::{HashMap, VecDeque};

use haft_model::{Dialect, Finished, Part};
use haft_protocol::{Opaque, StopReason};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::item::{self, Kind};
use crate::assemble::Assembly;
use crate::errors::Report;
use crate::exchange::{Fault, Reader, Step};
use crate::json::{self, RawObject};
use crate::sse::Event;
use crate::usage::Reports;

/// Reads the events of one reply.
pub(super) struct ResponsesReader {
    origin: String,
    cap: Option<u64>,
    assembly: Assembly,
    items: Vec<Item>,
    /// Items by their ids, and calls by those of calls too.
    by_name: HashMap<String, usize>,
    by_index: HashMap<u64, usize>,
    usage: Reports,
    stop: Option<StopReason>,
    /// Whether an item came, of whatever kind.
    began: bool,
    refused: bool,
    /// Whether reasoning came that has to go back with what follows it.
    is_sealed: bool,
    served_by: Option<String>,
}

#[derive(Clone, Copy)]
struct Item {
    kind: Kind,
    part: usize,
    is_open: bool,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(rename = "type", default)]
    kind: Value,
    #[serde(default)]
    object: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    item_id: Value,
    #[serde(default)]
    output_index: Value,
    #[serde(default)]
    delta: Value,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

/// The reply as the server sees it at the end, or all of it where it was not streamed.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(default)]
    status: Value,
    #[serde(default)]
    incomplete_details: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    usage: Value,
    #[serde(borrow)]
    output: Option<Vec<&'a RawValue>>,
}

impl ResponsesReader {
    pub(super) fn new(origin: String, cap: Option<u64>) -> Self {
        Self {
            origin,
            cap,
            assembly: Assembly::default(),
            items: Vec::new(),
            by_name: HashMap::new(),
            by_index: HashMap::new(),
            usage: Reports::default(),
            stop: None,
            began: false,
            refused: false,
            is_sealed: false,
            served_by: None,
        }
    }

    fn own(&self, json: &str) -> Opaque {
        Opaque { origin: self.origin.as_str().into(), json: json::joined(json).into() }
    }

    /// Begins an item; nothing where only the server understands it.
    fn begin(
        &mut self,
        own: &RawObject,
        index: Option<u64>,
        shown: &mut VecDeque<Part>,
    ) -> Result<Option<usize>, Fault> {
        let Some(kind) = Kind::of(own) else { return Ok(None) };
        let names: Vec<_> = item::names(own).collect();
        let part = match kind {
            Kind::Message => self.assembly.open_text()?,
            Kind::Reasoning => self.assembly.open_reasoning()?,
            Kind::Call => {
                let tool = own.text("name").unwrap_or_default();
                let part = self.assembly.open_call(names.last().cloned(), tool, shown)?;
                self.assembly.add(part, &item::arguments(own), shown)?;
                part
            }
        };
        let at = self.items.len();
        self.items.push(Item { kind, part, is_open: true });
        for name in names {
            self.assembly.count(name.len())?;
            self.by_name.insert(name, at);
        }
        if let Some(index) = index {
            self.by_index.insert(index, at);
        }
        Ok(Some(at))
    }

    fn find(&self, names: impl Iterator<Item = String>, index: Option<u64>) -> Option<usize> {
        let mut by_name = names.filter_map(|name| self.by_name.get(&name));
        by_name.next().or_else(|| self.by_index.get(&index?)).copied()
    }

    /// Returns the part that a piece belongs to. An id beats a number; without both, it is what came last.
    fn part_of(&mut self, said: &Said<'_>, kind: Kind) -> Result<Option<usize>, Fault> {
        let (id, index) = (said.item_id.as_str(), said.output_index.as_u64());
        let found = self.find(id.map(str::to_owned).into_iter(), index);
        let is_lost = found.is_none() && (kind != Kind::Call || (id.is_none() && index.is_none()));
        let found = found.or_else(|| self.items.len().checked_sub(1).filter(|_| is_lost));
        let item = found.and_then(|at| self.items.get(at));
        if let Some(item) = item.filter(|item| item.kind == kind && item.is_open) {
            return Ok(Some(item.part));
        }
        let part = match kind {
            Kind::Message if is_lost => self.assembly.open_text()?,
            Kind::Reasoning if is_lost => self.assembly.open_reasoning()?,
            // The end of a call has all of it: a piece that nobody began says nothing of its own.
            _ => return Ok(None),
        };
        self.items.push(Item { kind, part, is_open: true });
        Ok(Some(part))
    }

    fn delta(
        &mut self,
        said: &Said<'_>,
        kind: Kind,
        shown: &mut VecDeque<Part>,
    ) -> Result<Step, Fault> {
        let piece = said.delta.as_str().unwrap_or_default();
        if piece.is_empty() {
            return Ok(Step::Nothing);
        }
        let Some(part) = self.part_of(said, kind)? else { return Ok(Step::Nothing) };
        self.assembly.add(part, piece, shown)?;
        Ok(Step::Progress)
    }

    /// Takes an item as the server has it at its end, and keeps what has to go back as it is.
    fn end(
        &mut self,
        raw: &RawValue,
        index: Option<u64>,
        shown: &mut VecDeque<Part>,
    ) -> Result<(), Fault> {
        let own: RawObject =
            serde_json::from_str(raw.get()).map_err(|error| Fault::no_json(&error))?;
        self.began = true;
        let Some(kind) = Kind::of(&own) else {
            return Ok(self.assembly.opaque(self.own(raw.get()))?);
        };
        let found = self.find(item::names(&own), index);
        let found = found.filter(|at| self.items.get(*at).is_some_and(|it| it.kind == kind));
        let at = match found {
            Some(at) => Some(at),
            None => self.begin(&own, index, shown)?,
        };
        let Some(item) = at.and_then(|at| self.items.get_mut(at)).filter(|it| it.is_open) else {
            return Ok(());
        };
        item.is_open = false;
        let part = item.part;
        match kind {
            Kind::Message => {
                let said = item::said(&own);
                self.refused |= said.refused;
                self.fill(part, &said.text, shown)?;
                // What follows sealed reasoning has to be the item that it was thought for.
                if self.is_sealed || !said.is_plain {
                    self.assembly.keep(part, self.own(raw.get()))?;
                }
            }
            Kind::Reasoning => {
                self.fill(part, &item::thoughts(&own), shown)?;
                self.is_sealed |= item::is_sealed(&own);
                if item::can_be_read(&own) {
                    self.assembly.keep(part, self.own(raw.get()))?;
                }
            }
            Kind::Call => self.end_call(part, own, shown)?,
        }
        Ok(())
    }

    /// Adds a text that did not come in pieces.
    fn fill(&mut self, part: usize, text: &str, shown: &mut VecDeque<Part>) -> Result<(), Fault> {
        if self.assembly.so_far(part).is_empty() {
            self.assembly.add(part, text, shown)?;
        }
        Ok(())
    }

    fn end_call(
        &mut self,
        part: usize,
        mut own: RawObject,
        shown: &mut VecDeque<Part>,
    ) -> Result<(), Fault> {
        let arguments = item::arguments(&own);
        self.fill(part, &arguments, shown)?;
        let differ = !arguments.is_empty() && self.assembly.so_far(part) != arguments;
        if differ {
            self.assembly.count(arguments.len())?;
        }
        let tool = own.text("name").filter(|name| !name.is_empty());
        self.assembly.count(tool.as_ref().map_or(0, String::len))?;
        if let Some(call) = self.assembly.call_mut(part) {
            if differ {
                // Pieces may have gone astray; the end has what was meant.
                call.replace_arguments(&arguments);
            }
            if let Some(tool) = tool {
                call.tool = tool;
            }
            if own.text("status").as_deref() == Some("incomplete") {
                call.doubt();
            }
        }
        let known = |name: &str| matches!(name, "type" | "call_id" | "name" | "arguments");
        own.0.retain(|(name, value)| !known(name) && value.get() != "null");
        if own.0.iter().any(|(name, _)| name != "status") {
            let json = serde_json::to_string(&own).map_err(|error| Fault::no_json(&error))?;
            self.assembly.keep(part, self.own(&json))?;
        }
        Ok(())
    }

    fn answer(&mut self, raw: &str, shown: &mut VecDeque<Part>) -> Result<Step, Fault> {
        let answer: Answer<'_> =
            serde_json::from_str(raw).map_err(|error| Fault::no_json(&error))?;
        self.served_by(&answer);
        self.usage.responses(&answer.usage);
        let all = !self.began;
        if all || self.items.iter().any(|item| item.is_open) {
            for (index, raw) in (0..).zip(answer.output.iter().flatten()) {
                self.end_open(raw, index, all, shown)?;
            }
        }
        self.stop = Some(match answer.status.as_str() {
            Some("failed") => return Err(Fault::Reported(Report::of_text(raw))),
            Some("cancelled") => StopReason::CutShort,
            Some("incomplete") => match answer.incomplete_details.get("reason") {
                Some(Value::String(reason)) => match reason.as_str() {
                    "max_output_tokens" => StopReason::Length,
                    "content_filter" => StopReason::Filtered,
                    other => StopReason::Other(json::joined(other)),
                },
                _ => StopReason::Length,
            },
            _ => StopReason::End,
        });
        Ok(Step::Done)
    }

    /// Ends an item of the whole reply whose own end did not come.
    fn end_open(
        &mut self,
        raw: &RawValue,
        index: u64,
        all: bool,
        shown: &mut VecDeque<Part>,
    ) -> Result<(), Fault> {
        let own: RawObject =
            serde_json::from_str(raw.get()).map_err(|error| Fault::no_json(&error))?;
        let found = self.find(item::names(&own), Some(index));
        let is_open = found.and_then(|at| self.items.get(at)).is_some_and(|item| item.is_open);
        if all || is_open { self.end(raw, Some(index), shown) } else { Ok(()) }
    }

    fn served_by(&mut self, answer: &Answer<'_>) {
        let model = answer.model.as_str().filter(|model| !model.is_empty());
        self.served_by = self.served_by.take().or(model.map(json::joined));
    }

    fn stop(&self) -> StopReason {
        let has_calls = !self.assembly.calls().is_empty();
        // A server that says the reply was complete may have cut it all the same.
        let capped = self.cap.is_some_and(|cap| self.usage.output().is_some_and(|it| it >= cap));
        match &self.stop {
            Some(StopReason::End) | None if capped => StopReason::Length,
            Some(StopReason::End) | None if self.refused => StopReason::Refused,
            Some(StopReason::End) | None if has_calls => StopReason::Calls,
            Some(StopReason::End) | None => StopReason::End,
            Some(other) => other.clone(),
        }
    }
}

impl Reader for ResponsesReader {
    fn take(&mut self, event: &Event, shown: &mut VecDeque<Part>) -> Result<Step, Fault> {
        let data = json::mend_piece(&event.data);
        if data.trim() == "[DONE]" {
            return Ok(Step::Nothing);
        }
        let said: Said<'_> = serde_json::from_str(&data).map_err(|error| Fault::no_json(&error))?;
        let kind = match said.kind.as_str() {
            Some(kind) if !kind.is_empty() => kind,
            _ => event.name.as_str(),
        };
        let index = said.output_index.as_u64();
        match kind {
            "response.failed" => {
                let answer = said.response.map_or(data.as_ref(), RawValue::get);
                Err(Fault::Reported(Report::of_text(answer)))
            }
            "response.completed" | "response.incomplete" => {
                let Some(answer) = said.response else { return Err(unreadable(&data)) };
                self.answer(answer.get(), shown)
            }
            "response.output_item.added" => {
                let Some(raw) = said.item else { return Ok(Step::Nothing) };
                let own = serde_json::from_str(raw.get()).map_err(|it| Fault::no_json(&it))?;
                self.began = true;
                self.begin(&own, index, shown)?;
                Ok(Step::Progress)
            }
            "response.output_item.done" => {
                let Some(raw) = said.item else { return Ok(Step::Nothing) };
                self.end(raw, index, shown)?;
                Ok(Step::Progress)
            }
            "response.output_text.delta" => self.delta(&said, Kind::Message, shown),
            "response.refusal.delta" => {
                self.refused = true;
                self.delta(&said, Kind::Message, shown)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(&said, Kind::Reasoning, shown)
            }
            "response.reasoning_summary_part.added" => {
                if let Some(part) = self.part_of(&said, Kind::Reasoning)?
                    && !self.assembly.so_far(part).is_empty()
                {
                    self.assembly.add(part, item::PARAGRAPH, shown)?;
                }
                Ok(Step::Nothing)
            }
            "response.function_call_arguments.delta" => self.delta(&said, Kind::Call, shown),
            "error" => Err(Fault::Reported(Report::of_text(&data))),
            _ if !said.error.is_null() => Err(Fault::Reported(Report::of_text(&data))),
            _ if said.object.as_str() == Some("response") => self.answer(&data, shown),
            "" => Err(unreadable(&data)),
            // Signs of life, ends of pieces that came already, and whatever comes to be said one day.
            _ => Ok(Step::Nothing),
        }
    }

    fn finish(&mut self) -> Finished {
        let stop = self.stop();
        let mut finished = self.assembly.finish(stop);
        finished.usage = self.usage.finish();
        finished.served_by = self.served_by.take();
        finished
    }
}

fn unreadable(data: &str) -> Fault {
    Fault::not_ours(data, Dialect::Responses)
}
