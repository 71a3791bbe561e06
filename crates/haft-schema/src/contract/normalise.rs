//! Checking arguments and applying defaults.

use haft_protocol::limits::ARGUMENTS_DEPTH;
use serde_json::{Map, Value};

use super::{Body, Contract};
use crate::complete::Completion;
use crate::engine::{Compiled, Refusal};
use crate::explain::Explainer;
use crate::measure::{Measure, dismantle};
use crate::problem::{Problem, Problems, Rule};
use crate::view::View;
use crate::words;

/// Arguments that fit a contract, complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalised {
    /// The arguments, with defaults and fixed values in place.
    pub arguments: Map<String, Value>,
    /// Where defaults were put in, as JSON Pointers.
    pub defaults: Vec<String>,
}

/// Arguments that were read for a contract, not yet normalised.
#[derive(Debug)]
pub struct Unchecked<'c> {
    contract: &'c Contract,
    arguments: Map<String, Value>,
    seen: Seen,
}

/// Whether a contract saw arguments before, just as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Never,
    Accepted,
}

impl<'c> Unchecked<'c> {
    pub(super) fn new(contract: &'c Contract, arguments: Map<String, Value>, seen: Seen) -> Self {
        Self { contract, arguments, seen }
    }

    /// Returns the arguments as they were read.
    pub fn into_arguments(self) -> Map<String, Value> {
        self.arguments
    }

    /// Does what [`Contract::normalise`] does, and does not check again what was accepted when it was read. What is
    /// refused comes back as it was read.
    ///
    /// # Errors
    ///
    /// Fails as `normalise` does.
    pub fn normalise(mut self) -> Result<Map<String, Value>, (Map<String, Value>, Problems)> {
        match self.contract.normalise_in_place(&mut self.arguments, self.seen) {
            Ok(_) => Ok(self.arguments),
            Err(problems) => Err((self.arguments, problems)),
        }
    }
}

impl Contract {
    /// Puts fixed arguments and defaults in place and checks the result.
    ///
    /// Doing it again changes nothing. A default that would make valid arguments invalid is left out. Whole numbers
    /// written with a point lose it where the schema asks for an integer.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong and what would be right.
    pub fn normalise(&self, mut arguments: Map<String, Value>) -> Result<Normalised, Problems> {
        match self.normalise_in_place(&mut arguments, Seen::Never) {
            Ok(defaults) => Ok(Normalised { arguments, defaults }),
            Err(problems) => {
                dismantle(Value::Object(arguments));
                Err(problems)
            }
        }
    }

    /// Does what [`normalise`](Self::normalise) does, in place, and returns where defaults were put in. What is refused
    /// keeps the arguments it came with.
    fn normalise_in_place(
        &self,
        arguments: &mut Map<String, Value>,
        seen: Seen,
    ) -> Result<Vec<String>, Problems> {
        let measure = Measure::of_object(arguments);
        if measure.depth > ARGUMENTS_DEPTH {
            return Err(too_deep());
        }
        let fixed = self.fixed();
        for (name, value) in fixed {
            if let Some(given) = arguments.get(name).filter(|given| !is_same(given, value)) {
                return Err(overridden(name, given, value));
            }
        }
        let added: Vec<&String> =
            fixed.keys().filter(|name| !arguments.contains_key(*name)).collect();
        for (name, value) in fixed {
            arguments.insert(name.clone(), value.clone());
        }
        // What was accepted before it had the fixed arguments may not be with them.
        let completed = self.complete(arguments, if fixed.is_empty() { seen } else { Seen::Never });
        if completed.is_err() {
            for name in added {
                arguments.shift_remove(name);
            }
        }
        completed
    }

    /// Leaves out what [`normalise`](Self::normalise) would put in place again: what a caller need not have given. Whether
    /// it did is not to be known any more. Arguments that do not fit stay as they are.
    pub fn without_defaults(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        let comes_back = |key: &str| {
            let mut rest = arguments.clone();
            rest.shift_remove(key);
            self.normalise(rest).is_ok_and(|it| it.arguments == *arguments)
        };
        let given = arguments.iter().filter(|(key, _)| !comes_back(key));
        given.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Puts defaults in place and checks the result.
    fn complete(
        &self,
        arguments: &mut Map<String, Value>,
        seen: Seen,
    ) -> Result<Vec<String>, Problems> {
        let compiled = self.select(arguments)?;
        let mut value = Value::Object(std::mem::take(arguments));
        let completion = Completion::of(View::of(compiled.schema()), &mut value);
        let check = |value: &Value| compiled.check(value, Measure::of(value));
        let is_as_accepted = seen == Seen::Accepted && completion.changed_nothing();
        let checked = match if is_as_accepted { Ok(()) } else { check(&value) } {
            Ok(()) => Ok(completion.into_pointers()),
            Err(first) => {
                // A default may be at odds with what was given: then the arguments alone decide.
                completion.undo(&mut value);
                let refusal = if completion.is_empty() { Some(first) } else { check(&value).err() };
                match refusal {
                    Some(refusal) => Err(self.explain(compiled, &value, refusal)),
                    None => Ok(Vec::new()),
                }
            }
        };
        *arguments = into_object(value);
        checked
    }

    /// Checks a value as it is, of any JSON type: for the output of a tool.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong and what would be right.
    pub fn check(&self, value: &Value) -> Result<(), Problems> {
        let measure = Measure::of(value);
        if measure.depth > ARGUMENTS_DEPTH {
            return Err(too_deep());
        }
        let none = Map::new();
        let compiled = self.select(value.as_object().unwrap_or(&none))?;
        compiled.check(value, measure).map_err(|refusal| self.explain(compiled, value, refusal))
    }

    /// Returns what the arguments are checked against.
    fn select(&self, arguments: &Map<String, Value>) -> Result<&Compiled, Problems> {
        let tagged = match &self.inner().body {
            Body::Plain(compiled) => return Ok(compiled),
            Body::Tagged(tagged) => tagged,
        };
        let tag = tagged.tag();
        let given = arguments.get(tag.key());
        if let Some(branch) = given.and_then(Value::as_str).and_then(|value| tagged.branch(value)) {
            return Ok(branch);
        }
        let values = || tag.values().iter().map(String::as_str);
        let pointer = crate::pointer::joined("", tag.key());
        let one_of = format!("one of {}", words::names(values()));
        Err(Problems::one(match given {
            None => Problem {
                pointer,
                found: "nothing".to_owned(),
                expected: one_of,
                rule: Rule::Missing,
            },
            Some(given) => Problem {
                pointer,
                found: format!("unknown {} {}", tag.key(), words::value(given)),
                expected: match given.as_str().and_then(|it| words::nearest(it, values())) {
                    Some(near) => format!("did you mean {}? {one_of}", words::quoted(near)),
                    None => one_of,
                },
                rule: Rule::Tag,
            },
        }))
    }

    fn explain(&self, compiled: &Compiled, value: &Value, refusal: Refusal) -> Problems {
        let faults = match refusal {
            Refusal::Faults(faults) => faults,
            Refusal::TooIntricate => {
                return Problems::one(Problem {
                    pointer: String::new(),
                    found: "nested too deep or too often to check against this schema".to_owned(),
                    expected: "send a smaller or flatter value".to_owned(),
                    rule: Rule::Bound,
                });
            }
        };
        let explainer = Explainer {
            schema: compiled.schema(),
            value,
            fixed: self.fixed(),
            elsewhere: &|key| self.elsewhere(key, value),
        };
        Problems::new(explainer.problems(&faults))
    }

    /// Says which other values of the tag a key belongs to.
    fn elsewhere(&self, key: &str, arguments: &Value) -> Option<(String, String)> {
        let Body::Tagged(tagged) = &self.inner().body else { return None };
        let users = tagged.users(key);
        let tag = tagged.tag().key();
        let given = arguments.get(tag)?;
        (!users.is_empty()).then(|| {
            let found = format!("not used by {tag} {}", words::value(given));
            (found, format!("used by {}", words::names(users)))
        })
    }
}

pub(super) fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn too_deep() -> Problems {
    Problems::one(Problem {
        pointer: String::new(),
        found: format!("nested more than {ARGUMENTS_DEPTH} levels deep"),
        expected: "send a flatter value".to_owned(),
        rule: Rule::Bound,
    })
}

fn overridden(name: &str, given: &Value, fixed: &Value) -> Problems {
    Problems::one(Problem {
        pointer: crate::pointer::joined("", name),
        found: words::value(given),
        expected: format!("{}, which is fixed: leave it out", words::value(fixed)),
        rule: Rule::Fixed,
    })
}

/// Tells whether two values are the same to JSON Schema, which does not tell `1` from `1.0`.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || (one.is_f64() != other.is_f64()
                    && one.as_f64() == other.as_f64()
                    && one.as_f64().is_some_and(|it| it.abs() <= WHOLE))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| is_same(one, other)))
        }
        _ => one == other,
    }
}

/// The largest number up to which every whole number has a float of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;
