//! Which call a piece belongs to.
//!
//! Some servers number calls, some name them, some do both wrongly. An id beats an index; an id that is new is a new call. A
//! piece with neither belongs to the call before it, unless that one is whole and the piece names a tool anew. Where this
//! leaves the arguments of several calls in one, they are shared out only if that cannot make a call nobody wished for.

use std::collections::{HashMap, VecDeque};

use haft_model::{ModelError, Part};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Assembly, BuildingCall};

/// A piece of a call, as a stream has it.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct CallPiece {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) arguments: Option<String>,
}

impl CallPiece {
    /// Reads an entry of `tool_calls`.
    pub(crate) fn of_json(entry: &Value) -> Self {
        let text = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let function = entry.get("function").unwrap_or(entry);
        let id = match entry.get("id") {
            Some(Value::Number(id)) => Some(id.to_string()),
            id => text(id),
        };
        Self {
            index: entry.get("index").and_then(Value::as_u64),
            id,
            tool: text(function.get("name")),
            arguments: match function.get("arguments") {
                Some(Value::String(text)) => Some(text.clone()),
                Some(Value::Object(object)) if object.is_empty() => None,
                Some(Value::Null) | None => None,
                Some(json) => Some(json.to_string()),
            },
        }
    }
}

/// Puts pieces of calls together.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    by_index: HashMap<u64, usize>,
    last: Option<usize>,
}

impl Calls {
    /// Takes a piece, and returns the part of its call and whether the piece said anything.
    pub(crate) fn take(
        &mut self,
        piece: CallPiece,
        assembly: &mut Assembly,
        shown: &mut VecDeque<Part>,
    ) -> Result<Option<(usize, bool)>, ModelError> {
        let CallPiece { index, id, tool, arguments } = piece;
        let known = self.find(index, id.as_deref(), tool.as_deref(), assembly);
        let (part, is_new) = match known {
            Some(part) => (part, false),
            None if id.is_none() && tool.is_none() && arguments.is_none() => return Ok(None),
            None => {
                (assembly.open_call(id.clone(), tool.clone().unwrap_or_default(), shown)?, true)
            }
        };
        if let Some(index) = index {
            self.by_index.insert(index, part);
        }
        self.last = Some(part);
        let mut says = assembly.name_call(part, id, tool)? || is_new;
        if let Some(arguments) = arguments.filter(|it| !it.is_empty()) {
            assembly.add(part, &arguments, shown)?;
            says = true;
        }
        Ok(Some((part, says)))
    }

    /// Takes a call that came whole: it is no piece of another, whatever its id and index.
    pub(crate) fn add(
        piece: CallPiece,
        assembly: &mut Assembly,
        shown: &mut VecDeque<Part>,
    ) -> Result<Option<(usize, bool)>, ModelError> {
        let part = assembly.open_call(piece.id, piece.tool.unwrap_or_default(), shown)?;
        assembly.add(part, piece.arguments.as_deref().unwrap_or_default(), shown)?;
        Ok(Some((part, true)))
    }

    fn find(
        &self,
        index: Option<u64>,
        id: Option<&str>,
        tool: Option<&str>,
        assembly: &Assembly,
    ) -> Option<usize> {
        let of = |part: usize| assembly.call(part);
        // A tool that is named where another is, or where all was said, is another call.
        let goes_on = |part: &usize| {
            of(*part).is_some_and(|call| {
                tool.is_none_or(|tool| {
                    !call.is_filled() && (call.tool.is_empty() || call.tool == tool)
                })
            })
        };
        let by_index = index.and_then(|index| self.by_index.get(&index).copied());
        if let Some(id) = id {
            let same = assembly.calls().iter().rev().copied();
            let mut same =
                same.filter(|part| of(*part).is_some_and(|it| it.id.as_deref() == Some(id)));
            if let Some(part) = same.next() {
                return Some(part).filter(goes_on);
            }
            let nameless = |part: &usize| of(*part).is_some_and(|call| call.id.is_none());
            let here = if index.is_some() { by_index } else { self.last };
            return here.filter(nameless).filter(goes_on);
        }
        if let Some(part) = by_index {
            return Some(part).filter(goes_on);
        }
        let open = |part: &usize| of(*part).is_some_and(|call| !call.is_filled());
        match (index, tool) {
            (None, _) => self.last.filter(goes_on),
            // An index that nobody opened, and no name: the tail of a call that was counted otherwise.
            (Some(_), None) => self.last.filter(open),
            (Some(_), Some(_)) => None,
        }
    }

    /// Shares out what was put into one call and belongs to several, or makes sure that none of them runs.
    pub(crate) fn settle(assembly: &mut Assembly) {
        let calls = assembly.calls().to_vec();
        let is =
            |part: &usize, what: fn(&BuildingCall) -> bool| assembly.call(*part).is_some_and(what);
        let overfilled: Vec<_> =
            calls.iter().copied().filter(|part| is(part, BuildingCall::is_overfilled)).collect();
        let [glued] = overfilled.as_slice() else {
            let blank: Vec<_> =
                calls.into_iter().filter(|part| is(part, BuildingCall::is_blank)).collect();
            if !overfilled.is_empty() {
                for part in blank {
                    doubt(assembly, part);
                }
            }
            return;
        };
        let involved: Vec<_> = calls
            .into_iter()
            .filter(|part| part == glued || is(part, BuildingCall::is_blank))
            .collect();
        let Some(call) = assembly.call(*glued).filter(|_| involved.len() > 1) else { return };
        let alike = |part: &usize| is_named(assembly, *part, &call.tool);
        let objects = objects(call.arguments()).filter(|objects| objects.len() == involved.len());
        match objects.filter(|_| involved.iter().all(alike)) {
            Some(objects) => {
                for (part, object) in involved.into_iter().zip(objects) {
                    if let Some(call) = assembly.call_mut(part) {
                        call.replace_arguments(&object);
                    }
                }
            }
            None => {
                for part in involved {
                    doubt(assembly, part);
                }
            }
        }
    }
}

fn doubt(assembly: &mut Assembly, part: usize) {
    if let Some(call) = assembly.call_mut(part) {
        call.doubt();
    }
}

fn is_named(assembly: &Assembly, part: usize, tool: &str) -> bool {
    assembly.call(part).is_some_and(|call| call.tool == tool)
}

/// Returns the objects that a text is made of, where it is made of nothing else.
fn objects(text: &str) -> Option<Vec<String>> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Box<RawValue>>();
    let text = |value: serde_json::Result<Box<RawValue>>| {
        let value = value.ok()?;
        value.get().starts_with('{').then(|| value.get().to_owned())
    };
    values.map(text).collect()
}

#[cfg(test)]
mod tests;
