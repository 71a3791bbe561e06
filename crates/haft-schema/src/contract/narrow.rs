//! Contracts with some arguments fixed.

use std::sync::Arc;

use haft_protocol::limits::ARGUMENTS_DEPTH;
use serde_json::{Map, Value};

use super::normalise::is_same;
use super::{Body, Contract};
use crate::engine::{Compiled, FaultKind, Refusal};
use crate::error::SchemaError;
use crate::explain::Explainer;
use crate::measure::Measure;
use crate::view::View;
use crate::words;

impl Contract {
    /// Fixes arguments: they are no longer advertised, always present, and not to be overridden.
    ///
    /// With the tag fixed, the schema is that of its branch. With another argument fixed, only the branches that have
    /// it stay. What is checked does not change: the contract never accepts more than before.
    ///
    /// # Errors
    ///
    /// Fails when an argument is unknown, fixed already to something else, or given a value that does not fit.
    pub fn narrow(&self, fixed: &Map<String, Value>) -> Result<Self, SchemaError> {
        let mut all = self.inner().fixed.clone();
        if Measure::of_object(fixed).depth > ARGUMENTS_DEPTH {
            let name = words::names(fixed.keys().map(String::as_str));
            let reason = format!("nested more than {ARGUMENTS_DEPTH} levels deep");
            return Err(SchemaError::UnfitArgument { name, reason });
        }
        for (name, value) in fixed {
            match all.get(name) {
                Some(before) if !is_same(before, value) => {
                    return Err(SchemaError::AlreadyFixed { name: name.clone() });
                }
                _ => all.insert(name.clone(), value.clone()),
            };
        }
        match &self.inner().body {
            Body::Plain(compiled) => {
                fits(compiled, &all)?;
                Ok(Self::around(Arc::clone(compiled), all))
            }
            Body::Tagged(tagged) => {
                let key = tagged.tag().key();
                if let Some(value) = all.get(key) {
                    let branch = value.as_str().and_then(|value| tagged.branch(value));
                    let compiled = branch.ok_or_else(|| SchemaError::UnfitArgument {
                        name: key.to_owned(),
                        reason: format!(
                            "found {}, expected one of {}",
                            words::value(value),
                            words::names(tagged.tag().values().iter().map(String::as_str)),
                        ),
                    })?;
                    fits(compiled, &all)?;
                    return Ok(Self::around(Arc::clone(compiled), all));
                }
                if let Some(name) = all.keys().find(|name| tagged.users(name).is_empty()) {
                    return Err(unknown(name, self.schema()));
                }
                let kept = tagged.keeping(|_, branch| all.keys().all(|name| knows(branch, name)));
                let mut outcomes = kept.branches().map(|branch| fits(branch, &all));
                match outcomes.next() {
                    None => {
                        Err(unknown(all.keys().next().map_or("", String::as_str), self.schema()))
                    }
                    Some(first) => {
                        first?;
                        outcomes.collect::<Result<(), _>>()?;
                        Self::tagged(kept, all)
                    }
                }
            }
        }
    }
}

fn knows(compiled: &Compiled, name: &str) -> bool {
    let schema = compiled.schema();
    super::is_open(schema) || has_property(schema, name)
}

fn has_property(schema: &Value, name: &str) -> bool {
    View::of(schema).properties().is_some_and(|properties| properties.contains_key(name))
}

fn unknown(name: &str, schema: &Value) -> SchemaError {
    let known = View::of(schema).properties().into_iter().flatten().map(|(key, _)| key.as_str());
    SchemaError::UnknownArgument { name: name.to_owned(), known: words::names(known) }
}

/// Checks each fixed argument by itself; what else is missing is the caller's to give.
fn fits(compiled: &Compiled, fixed: &Map<String, Value>) -> Result<(), SchemaError> {
    let schema = compiled.schema();
    for (name, value) in fixed {
        if !knows(compiled, name) {
            return Err(unknown(name, schema));
        }
        let unfit = |reason: String| SchemaError::UnfitArgument { name: name.clone(), reason };
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        let measure = Measure::of_object(&alone);
        let alone = Value::Object(alone);
        match compiled.check(&alone, measure) {
            Ok(()) => {}
            Err(Refusal::TooIntricate) => {
                return Err(unfit("it takes too long to check".to_owned()));
            }
            Err(Refusal::Faults(mut faults)) => {
                let place = crate::pointer::joined("", name);
                let inside = format!("{place}/");
                faults.retain(|fault| match &fault.kind {
                    FaultKind::Unknown(names) if fault.pointer.is_empty() => names.contains(name),
                    _ => fault.pointer == place || fault.pointer.starts_with(&inside),
                });
                let explainer =
                    Explainer { schema, value: &alone, fixed: &Map::new(), elsewhere: &|_| None };
                if let Some(problem) = explainer.problems(&faults).first() {
                    return Err(unfit(problem.to_string()));
                }
            }
        }
    }
    Ok(())
}

/// Returns an object schema without some of its properties.
pub(super) fn without(schema: &Value, hidden: &Map<String, Value>) -> Value {
    let mut shown = schema.clone();
    if hidden.is_empty() {
        return shown;
    }
    if let Some(Value::Object(properties)) = shown.get_mut("properties") {
        properties.retain(|name, _| !hidden.contains_key(name));
    }
    if let Some(Value::Array(required)) = shown.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(|name| hidden.contains_key(name)));
    }
    shown
}
