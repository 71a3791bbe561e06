//! A reply that comes in pieces, put together.

mod balance;
mod calls;

use std::collections::VecDeque;

use haft_model::{Finished, ModelError, ModelErrorKind, Part};
use haft_protocol::{Opaque, RawArguments, ReplyPart, RequestedCall, StopReason, limits};
use serde::de::IgnoredAny;

use crate::json::{self, Joining};
use balance::Balance;

pub(crate) use calls::{CallPiece, Calls};

/// A reply as far as it came.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    parts: Vec<Building>,
    calls: Vec<usize>,
    bytes: usize,
    /// Bytes of the arguments of all calls.
    argument_bytes: usize,
}

#[derive(Debug)]
enum Building {
    Text { text: Joining, opaque: Option<Opaque> },
    Reasoning { text: Joining, opaque: Option<Opaque> },
    Call(BuildingCall),
    Opaque(Opaque),
}

/// A call as far as it came.
#[derive(Debug, Default)]
pub(crate) struct BuildingCall {
    pub(crate) id: Option<String>,
    pub(crate) tool: String,
    arguments: Joining,
    balance: Balance,
    opaque: Option<Opaque>,
    /// Whether it is known not to be what the model meant.
    is_doubtful: bool,
}

impl BuildingCall {
    /// Returns the arguments that came so far.
    pub(crate) fn arguments(&self) -> &str {
        self.arguments.so_far()
    }

    /// Tells whether the arguments are one object from its first brace to its last.
    pub(crate) fn is_filled(&self) -> bool {
        self.balance.is_closed()
    }

    /// Tells whether something came behind that object.
    pub(crate) fn is_overfilled(&self) -> bool {
        self.balance.is_spilled()
    }

    /// Tells whether no arguments came yet.
    pub(crate) fn is_blank(&self) -> bool {
        is_blank(self.arguments())
    }

    fn push(&mut self, piece: &str) -> String {
        self.balance.feed(piece);
        self.arguments.push(piece)
    }

    pub(crate) fn doubt(&mut self) {
        self.is_doubtful = true;
    }

    pub(crate) fn replace_arguments(&mut self, text: &str) {
        self.arguments = Joining::default();
        self.arguments.push(text);
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

impl Assembly {
    /// Adds to the text that comes now. After something else, a new part begins.
    pub(crate) fn text(
        &mut self,
        piece: &str,
        shown: &mut VecDeque<Part>,
    ) -> Result<(), ModelError> {
        if piece.is_empty() {
            return Ok(());
        }
        if !matches!(self.parts.last(), Some(Building::Text { opaque: None, .. })) {
            self.open_text()?;
        }
        self.add(self.parts.len() - 1, piece, shown)
    }

    /// Adds to the reasoning that comes now. After something else, a new part begins.
    pub(crate) fn reasoning(
        &mut self,
        piece: &str,
        shown: &mut VecDeque<Part>,
    ) -> Result<(), ModelError> {
        if piece.is_empty() {
            return Ok(());
        }
        if !matches!(self.parts.last(), Some(Building::Reasoning { opaque: None, .. })) {
            self.open_reasoning()?;
        }
        self.add(self.parts.len() - 1, piece, shown)
    }

    /// Begins a text and returns which part it is.
    pub(crate) fn open_text(&mut self) -> Result<usize, ModelError> {
        self.open(Building::Text { text: Joining::default(), opaque: None })
    }

    /// Begins reasoning and returns which part it is.
    pub(crate) fn open_reasoning(&mut self) -> Result<usize, ModelError> {
        self.open(Building::Reasoning { text: Joining::default(), opaque: None })
    }

    /// Adds what only the provider understands.
    pub(crate) fn opaque(&mut self, opaque: Opaque) -> Result<(), ModelError> {
        self.count(opaque.json.len())?;
        self.open(Building::Opaque(opaque))?;
        Ok(())
    }

    /// Begins a call and returns which part it is.
    pub(crate) fn open_call(
        &mut self,
        id: Option<String>,
        tool: String,
        shown: &mut VecDeque<Part>,
    ) -> Result<usize, ModelError> {
        if self.calls.len() >= limits::REPLY_CALLS {
            let text = format!("the reply asks for more than {} calls", limits::REPLY_CALLS);
            return Err(ModelError::new(ModelErrorKind::Malformed, text));
        }
        self.count(id.as_ref().map_or(0, String::len).saturating_add(tool.len()))?;
        shown.push_back(Part::CallBegins { index: self.calls.len(), tool: tool.clone() });
        let call = BuildingCall { id, tool, ..BuildingCall::default() };
        let part = self.open(Building::Call(call))?;
        self.calls.push(part);
        Ok(part)
    }

    /// Names a call whose id or tool comes later than its begin; what it has already stays. Returns whether that told its tool.
    pub(crate) fn name_call(
        &mut self,
        part: usize,
        id: Option<String>,
        tool: Option<String>,
    ) -> Result<bool, ModelError> {
        let Some(call) = self.call(part) else { return Ok(false) };
        let id = id.filter(|_| call.id.is_none());
        let tool = tool.filter(|tool| call.tool.is_empty() && !tool.is_empty());
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.count(length(&id).saturating_add(length(&tool)))?;
        let Some(call) = self.call_mut(part) else { return Ok(false) };
        let is_told = tool.is_some();
        if let Some(tool) = tool {
            call.tool = tool;
        }
        call.id = call.id.take().or(id);
        Ok(is_told)
    }

    fn open(&mut self, part: Building) -> Result<usize, ModelError> {
        // A part with nothing in it takes room all the same.
        self.count(size_of::<Building>())?;
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    /// Adds a piece of text to a part: text, reasoning or arguments.
    pub(crate) fn add(
        &mut self,
        part: usize,
        piece: &str,
        shown: &mut VecDeque<Part>,
    ) -> Result<(), ModelError> {
        self.count(piece.len())?;
        if matches!(self.parts.get(part), Some(Building::Call(_))) {
            self.count_arguments(piece.len())?;
        }
        let index = self.calls.iter().position(|call| *call == part).unwrap_or_default();
        let new = match self.parts.get_mut(part) {
            Some(Building::Text { text, .. }) => Part::Text(text.push(piece)),
            Some(Building::Reasoning { text, .. }) => Part::Reasoning(text.push(piece)),
            Some(Building::Call(call)) => Part::CallArguments { index, json: call.push(piece) },
            Some(Building::Opaque(_)) | None => return Ok(()),
        };
        let (Part::Text(text) | Part::Reasoning(text) | Part::CallArguments { json: text, .. }) =
            &new
        else {
            return Ok(());
        };
        if !text.is_empty() {
            shown.push_back(new);
        }
        Ok(())
    }

    /// Keeps the provider's own form of a part.
    pub(crate) fn keep(&mut self, part: usize, own: Opaque) -> Result<(), ModelError> {
        self.count(own.json.len())?;
        match self.parts.get_mut(part) {
            Some(Building::Text { opaque, .. } | Building::Reasoning { opaque, .. }) => {
                *opaque = Some(own);
            }
            Some(Building::Call(call)) => call.opaque = Some(own),
            Some(Building::Opaque(_)) | None => {}
        }
        Ok(())
    }

    /// Returns the part of the first reasoning, where there is some.
    pub(crate) fn first_reasoning(&self) -> Option<usize> {
        self.parts.iter().position(|part| matches!(part, Building::Reasoning { .. }))
    }

    /// Returns the text of a part as far as it came.
    pub(crate) fn so_far(&self, part: usize) -> &str {
        match self.parts.get(part) {
            Some(Building::Text { text, .. } | Building::Reasoning { text, .. }) => text.so_far(),
            Some(Building::Call(call)) => call.arguments(),
            Some(Building::Opaque(_)) | None => "",
        }
    }

    pub(crate) fn call(&self, part: usize) -> Option<&BuildingCall> {
        match self.parts.get(part) {
            Some(Building::Call(call)) => Some(call),
            _ => None,
        }
    }

    pub(crate) fn call_mut(&mut self, part: usize) -> Option<&mut BuildingCall> {
        match self.parts.get_mut(part) {
            Some(Building::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// Returns the parts of all calls, in order.
    pub(crate) fn calls(&self) -> &[usize] {
        &self.calls
    }

    /// Counts bytes that are kept of the reply.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > limits::REPLY_BYTES {
            let text = format!("the reply has more than {} bytes", limits::REPLY_BYTES);
            return Err(ModelError::new(ModelErrorKind::Malformed, text));
        }
        Ok(())
    }

    /// Counts bytes of arguments: they are read more than once, and no call may have more of them than this.
    fn count_arguments(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.argument_bytes = self.argument_bytes.saturating_add(bytes);
        if self.argument_bytes > limits::ARGUMENTS_BYTES {
            let text = format!(
                "the arguments of the calls have more than {} bytes",
                limits::ARGUMENTS_BYTES
            );
            return Err(ModelError::new(ModelErrorKind::Malformed, text));
        }
        Ok(())
    }

    /// Returns the whole reply.
    pub(crate) fn finish(&mut self, stop: StopReason) -> Finished {
        let may_run = stop.lets_calls_run();
        let parts = std::mem::take(&mut self.parts).into_iter();
        let parts = parts.filter_map(|part| match part {
            Building::Text { text, opaque } => {
                let text = text.finish();
                (!text.is_empty() || opaque.is_some()).then_some(ReplyPart::Text { text, opaque })
            }
            Building::Reasoning { text, opaque } => {
                let text = text.finish();
                let kept = !text.is_empty() || opaque.is_some();
                kept.then_some(ReplyPart::Reasoning { text, opaque })
            }
            Building::Call(call) => Some(ReplyPart::Call(finished_call(call, may_run))),
            Building::Opaque(opaque) => Some(ReplyPart::Opaque(opaque)),
        });
        Finished {
            parts: parts.collect(),
            stop,
            usage: haft_protocol::TokenUsage::default(),
            served_by: None,
        }
    }
}

fn finished_call(call: BuildingCall, may_run: bool) -> RequestedCall {
    let BuildingCall { id, tool, arguments, balance: _, opaque, is_doubtful } = call;
    let text = arguments.finish();
    let text = json::mend(&text).into_owned();
    // What only wants more was cut; what is wrong otherwise is for the model to hear.
    let is_cut = !is_blank(&text)
        && serde_json::from_str::<IgnoredAny>(&text).is_err_and(|error| error.is_eof());
    RequestedCall {
        id: Finished::NO_CALL,
        provider_id: id,
        tool: json::joined(&tool),
        arguments: if is_blank(&text) { RawArguments::default() } else { RawArguments::Text(text) },
        is_whole: may_run && !is_cut && !is_doubtful,
        opaque,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_without_end_is_refused_whatever_it_is_made_of() {
        let mut blocks = Assembly::default();
        assert!((0..1_000_000).any(|_| blocks.open_text().is_err()));
        let (mut shown, piece) = (VecDeque::new(), "x".repeat(1024 * 1024));
        let mut text = Assembly::default();
        assert!((0..33).any(|_| text.text(&piece, &mut shown).is_err()));
        let mut calls = Assembly::default();
        assert!((0..1_001).any(|_| calls.open_call(None, String::new(), &mut shown).is_err()));
        let mut call = Assembly::default();
        let part = call.open_call(None, "reader".to_owned(), &mut shown).unwrap();
        assert!((0..9).any(|_| call.add(part, &piece, &mut shown).is_err()));
        let mut names = Assembly::default();
        assert!((0..33).any(|_| {
            let opened = names.open_call(None, String::new(), &mut shown).unwrap();
            names.name_call(opened, Some(piece.clone()), Some(piece.clone())).is_err()
        }));
        let mut ids = Assembly::default();
        let id = || Some(piece.clone());
        assert!((0..33).any(|_| ids.open_call(id(), String::new(), &mut shown).is_err()));
    }
}
