//! From broken rules to problems a model can act on.

use haft_protocol::limits::PROBLEMS_SHOWN;
use serde_json::{Map, Value};

use crate::describe::expected;
use crate::engine::{Fault, FaultKind};
use crate::pointer;
use crate::problem::{Problem, Rule};
use crate::view::View;
use crate::words;

/// The problems behind broken rules, for one value and one schema.
pub(crate) struct Explainer<'e> {
    pub(crate) schema: &'e Value,
    pub(crate) value: &'e Value,
    /// Arguments that the caller cannot give, so they are not listed.
    pub(crate) fixed: &'e Map<String, Value>,
    /// Says for a key of the root which other actions use it.
    pub(crate) elsewhere: &'e dyn Fn(&str) -> Option<(String, String)>,
}

impl Explainer<'_> {
    pub(crate) fn problems(&self, faults: &[Fault]) -> Vec<Problem> {
        faults.iter().flat_map(|fault| self.explain(fault)).collect()
    }

    fn explain(&self, fault: &Fault) -> Vec<Problem> {
        let view = View::of(self.schema).moved(&fault.schema).unwrap_or(View::of(self.schema));
        let found = self.found(&fault.pointer);
        let problem = |expected: String, rule| {
            vec![Problem { pointer: pointer::shown(&fault.pointer), found, expected, rule }]
        };
        match &fault.kind {
            FaultKind::Missing(name) => vec![missing(&fault.pointer, name, [view])],
            FaultKind::Unknown(names) => {
                let unknown = |(index, name)| self.unknown(&fault.pointer, name, view, index);
                names.iter().map(String::as_str).enumerate().map(unknown).collect()
            }
            FaultKind::NoAlternative(alternatives) => self.alternatives(fault, alternatives, view),
            FaultKind::ManyAlternatives => problem(
                format!("a value that fits only one of {}", expected(view)),
                Rule::Alternative,
            ),
            FaultKind::Type => problem(expected(view), Rule::Type),
            FaultKind::Constant | FaultKind::Choice => problem(choices(view), Rule::Choice),
            FaultKind::Range => problem(expected(view), Rule::Range),
            FaultKind::Unique => problem("no two equal items".to_owned(), Rule::Range),
            FaultKind::Pattern => problem(expected(view), Rule::Pattern),
            FaultKind::Never => problem("nothing here".to_owned(), Rule::Other),
            FaultKind::Other(keyword) => problem(other(view, keyword), Rule::Other),
        }
    }

    fn found(&self, pointer: &str) -> String {
        self.value.pointer(pointer).map_or_else(|| "nothing".to_owned(), words::value)
    }

    /// Explains an unknown key; only those that will be shown are compared with the known ones.
    fn unknown(&self, object: &str, name: &str, view: View<'_>, index: usize) -> Problem {
        let pointer = pointer::shown(&pointer::joined(object, name));
        if object.is_empty()
            && let Some((found, expected)) = (self.elsewhere)(name)
        {
            return Problem { pointer, found, expected, rule: Rule::OtherAction };
        }
        let properties = view.properties().filter(|_| index < PROBLEMS_SHOWN);
        let known = properties.into_iter().flatten().map(|(key, _)| key.as_str());
        let known: Vec<&str> =
            known.filter(|key| !object.is_empty() || !self.fixed.contains_key(*key)).collect();
        let given = self.value.pointer(object);
        let missing =
            known.iter().copied().filter(|key| given.is_none_or(|it| it.get(key).is_none()));
        let expected = match words::meant(name, missing) {
            _ if known.is_empty() => "no keys are allowed here".to_owned(),
            Some(near) => {
                format!("did you mean {}? known keys: {}", words::quoted(near), words::names(known))
            }
            None => format!("known keys: {}", words::names(known)),
        };
        Problem { pointer, found: "unknown key".to_owned(), expected, rule: Rule::UnknownKey }
    }

    /// Looks for the alternative that was meant, by type and by tag, and reports its faults alone.
    fn alternatives(
        &self,
        fault: &Fault,
        alternatives: &[Vec<Fault>],
        view: View<'_>,
    ) -> Vec<Problem> {
        let here = fault.pointer.as_str();
        let right_type: Vec<&Vec<Fault>> = alternatives
            .iter()
            .filter(|faults| !faults.iter().any(|it| it.pointer == here && is_plain(&it.kind)))
            .collect();
        let right_tag: Vec<&Vec<Fault>> = right_type
            .iter()
            .copied()
            .filter(|faults| !faults.iter().any(|it| is_tag_fault(it, here)))
            .collect();
        if let ([meant], _) | (_, [meant]) = (right_tag.as_slice(), right_type.as_slice()) {
            return self.problems(meant);
        }
        self.shared_tag(&right_type, here).unwrap_or_else(|| {
            vec![Problem {
                pointer: pointer::shown(here),
                found: self.found(here),
                expected: expected(view),
                rule: Rule::Alternative,
            }]
        })
    }

    /// Reports a tag that is wrong or missing in every alternative, with all that it could be.
    fn shared_tag(&self, alternatives: &[&Vec<Fault>], here: &str) -> Option<Vec<Problem>> {
        let root = View::of(self.schema);
        let first = alternatives.first()?;
        if let Some(wrong) = first.iter().find(|fault| is_tag_fault(fault, here)) {
            let tags = alternatives.iter().map(|faults| {
                let tag =
                    faults.iter().find(|it| it.pointer == wrong.pointer && is_tag_fault(it, here));
                tag.and_then(|it| root.moved(&it.schema)).map(choices)
            });
            let tags: Option<Vec<String>> = tags.collect();
            return Some(vec![Problem {
                pointer: pointer::shown(&wrong.pointer),
                found: self.found(&wrong.pointer),
                expected: words::alternatives(tags?),
                rule: Rule::Choice,
            }]);
        }
        let absent = first.iter().find_map(|fault| match &fault.kind {
            FaultKind::Missing(name) if fault.pointer == here => Some(name),
            _ => None,
        })?;
        let views = alternatives.iter().map(|faults| {
            let lacks = |it: &&Fault| {
                it.pointer == here && matches!(&it.kind, FaultKind::Missing(name) if name == absent)
            };
            faults.iter().find(lacks).and_then(|it| root.moved(&it.schema))
        });
        let views: Option<Vec<View<'_>>> = views.collect();
        Some(vec![missing(here, absent, views?)])
    }
}

/// Tells whether a fault at the place of the alternatives means that another one was meant.
fn is_plain(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::Type | FaultKind::Constant | FaultKind::Choice | FaultKind::Never)
}

/// Tells whether a fault is about a constant directly beneath the place of the alternatives.
fn is_tag_fault(fault: &Fault, here: &str) -> bool {
    matches!(fault.kind, FaultKind::Constant)
        && pointer::parent(&fault.pointer) == here
        && fault.pointer != here
}

fn missing<'v>(object: &str, name: &str, views: impl IntoIterator<Item = View<'v>>) -> Problem {
    let wanted = views.into_iter().map(|view| match view.property(name) {
        Some(property) => expected(property),
        None => "a value".to_owned(),
    });
    Problem {
        pointer: pointer::shown(&pointer::joined(object, name)),
        found: "nothing".to_owned(),
        expected: words::alternatives(wanted.collect()),
        rule: Rule::Missing,
    }
}

/// Says what a keyword asks for that is not about the value itself.
fn other(view: View<'_>, keyword: &str) -> String {
    let inner = view.child(keyword).map(expected);
    match (keyword, inner) {
        ("not", Some(inner)) => format!("anything but {inner}"),
        ("contains", Some(inner)) => format!("an array that has {inner} in it"),
        ("propertyNames", Some(inner)) => format!("an object with each key {inner}"),
        _ => format!("a value that satisfies `{}`", words::cut(keyword)),
    }
}

fn choices(view: View<'_>) -> String {
    match (view.keyword("const"), view.keyword("enum")) {
        (Some(constant), _) => words::value(constant),
        (None, Some(Value::Array(values))) => {
            words::alternatives(values.iter().map(words::value).collect())
        }
        _ => expected(view),
    }
}
