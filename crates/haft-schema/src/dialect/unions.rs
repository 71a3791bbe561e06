//! Alternatives.

use serde_json::{Map, Value, json};

use super::inverse::Undo;
use super::join::join;
use super::narrow::Narrowing;
use super::shape::Shape;
use super::{LossKind, wording};
use crate::pointer;

/// Alternatives of one union; more are written as a text.
const BRANCHES: usize = 64;

/// Takes the alternatives out of a schema: the rest, and each of them.
fn taken_apart(mut flat: Map<String, Value>) -> (Map<String, Value>, Vec<Value>, &'static str) {
    let any = flat.shift_remove("anyOf");
    let one = flat.shift_remove("oneOf");
    let (branches, keyword) = match (any, one) {
        (Some(Value::Array(branches)), _) => (branches, "anyOf"),
        (_, Some(Value::Array(branches))) => (branches, "oneOf"),
        _ => (Vec::new(), "anyOf"),
    };
    (flat, branches, keyword)
}

/// Lowers a schema with alternatives within another one.
pub(super) fn lower(
    narrowing: &mut Narrowing<'_>,
    flat: Map<String, Value>,
    place: &mut String,
    level: usize,
) -> (Value, Undo) {
    let (mut base, branches, keyword) = taken_apart(flat);
    if branches.is_empty() {
        return narrowing.flat(base, place, level);
    }
    if let Some(words) = only_required(&branches) {
        narrowing.lose(place, keyword, LossKind::Described);
        let description = wording::joined(wording::description(&base), &[words]);
        base.insert("description".to_owned(), Value::from(description));
        return narrowing.flat(base, place, level);
    }
    let description = wording::description(&base).to_owned();
    for keyword in ["description", "default", "title", "examples"] {
        base.shift_remove(keyword);
    }
    let branches = if base.is_empty() {
        branches
    } else {
        branches.into_iter().map(|it| json!({"allOf": [base.clone(), it]})).collect()
    };
    pointer::within(place, keyword, |place| {
        of_branches(narrowing, branches, &description, place, level)
    })
}

/// Lowers alternatives. Where a value could not be told to be of one of them, it is written as a text.
pub(super) fn of_branches(
    narrowing: &mut Narrowing<'_>,
    branches: Vec<Value>,
    description: &str,
    place: &mut String,
    level: usize,
) -> (Value, Undo) {
    if branches.len() > BRANCHES {
        return narrowing.as_text(description, "anyOf", place);
    }
    let is_null = |it: &Value| {
        it.get("type") == Some(&json!("null")) || it.get("const") == Some(&Value::Null)
    };
    let all = branches.len();
    let branches: Vec<Value> = branches.into_iter().filter(|it| !is_null(it)).collect();
    let is_nullable = branches.len() < all;
    if let Some((mut values, said)) = one_choice(&branches).filter(|it| !it.0.is_empty()) {
        if is_nullable {
            values.push(Value::Null);
        }
        let mut choice = Map::new();
        choice.insert("description".to_owned(), wording::joined(description, &said).into());
        return narrowing.choices(&choice, &values, place);
    }
    let mut lowered: Vec<(Value, Undo)> = Vec::new();
    for (index, branch) in branches.iter().enumerate() {
        if branch == &Value::Bool(false) {
            continue;
        }
        let branch = pointer::within(place, &index.to_string(), |place| {
            narrowing.schema(branch, place, level + 1)
        });
        if !lowered.contains(&branch) {
            lowered.push(branch);
        }
    }
    let (mut schema, undo) = match lowered.len() {
        0 => return narrowing.as_text(description, "anyOf", place),
        1 => match lowered.pop() {
            Some((mut schema, undo)) => {
                let own = schema.get("description").and_then(Value::as_str).unwrap_or_default();
                let text = wording::joined(description, &[own.to_owned()]);
                wording::describe(&mut schema, &text);
                (schema, undo)
            }
            None => return narrowing.anything(description, place),
        },
        _ => match told_apart(&lowered) {
            Some(undo) => {
                let schemas: Vec<Value> = lowered.into_iter().map(|(schema, _)| schema).collect();
                let mut schema = json!({"anyOf": schemas});
                wording::describe(&mut schema, description);
                (schema, undo)
            }
            None => return narrowing.as_text(description, "anyOf", place),
        },
    };
    if is_nullable {
        schema = narrowing.nullable(schema);
    }
    (schema, undo)
}

/// Returns the way back, where each value can be told to be of one alternative or it makes no difference.
fn told_apart(branches: &[(Value, Undo)]) -> Option<Undo> {
    if branches.iter().all(|(_, undo)| *undo == Undo::Same) {
        return Some(Undo::Same);
    }
    let shapes: Vec<Shape> = branches.iter().map(|(schema, _)| Shape::of(schema)).collect();
    let apart = shapes
        .iter()
        .enumerate()
        .all(|(index, shape)| shapes.iter().skip(index + 1).all(|other| shape.excludes(other)));
    apart.then(|| {
        let undos = branches.iter().map(|(_, undo)| undo.clone());
        Undo::OneOf(shapes.into_iter().zip(undos).collect())
    })
}

/// Merges alternatives at the root into one object: any property of any of them, those required that all require.
pub(super) fn merge_at_root(
    narrowing: &mut Narrowing<'_>,
    flat: Map<String, Value>,
    place: &str,
) -> Map<String, Value> {
    let (mut base, branches, keyword) = taken_apart(flat);
    if branches.is_empty() {
        return base;
    }
    if let Some(words) = only_required(&branches) {
        narrowing.lose(place, keyword, LossKind::Described);
        let description = wording::joined(wording::description(&base), &[words]);
        base.insert("description".to_owned(), Value::from(description));
        return base;
    }
    narrowing.lose(place, keyword, LossKind::Rewritten);
    let mut merged: Option<Map<String, Value>> = None;
    let mut forms = Vec::new();
    for branch in branches.iter().filter_map(Value::as_object).take(BRANCHES) {
        let Some(branch) = narrowing.joined_once(branch) else { continue };
        let branch = merge_at_root(narrowing, branch, place);
        let names = |keyword: &str| match branch.get(keyword) {
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(Value::Object(named)) => named.keys().cloned().collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let (needed, known) = (names("required"), names("properties"));
        forms.push(if needed.is_empty() { known.join(", ") } else { needed.join(", ") });
        merged = Some(match merged {
            None => branch,
            Some(merged) => either(merged, branch),
        });
    }
    let forms = forms.join(" | ");
    let rule = format!("one of these sets of properties: {}", wording::cut(&forms));
    let description = wording::joined(wording::description(&base), &[rule]);
    let mut whole = match merged {
        Some(mut merged) => {
            merged.shift_remove("description");
            join(merged, base)
        }
        None => base,
    };
    whole.insert("description".to_owned(), Value::from(description));
    whole
}

/// Makes one object of two alternatives.
fn either(one: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    let object = |map: &Map<String, Value>, keyword: &str| {
        map.get(keyword).and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let mut properties = object(&one, "properties");
    for (name, schema) in object(&other, "properties") {
        match properties.get_mut(&name) {
            Some(present) if *present == schema => {}
            Some(present) => *present = any_of(present.take(), schema),
            None => drop(properties.insert(name, schema)),
        }
    }
    let list = |map: &Map<String, Value>| {
        map.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let others = list(&other);
    let required: Vec<Value> = list(&one).into_iter().filter(|it| others.contains(it)).collect();
    let mut whole = Map::new();
    whole.insert("type".to_owned(), json!("object"));
    whole.insert("properties".to_owned(), Value::Object(properties));
    whole.insert("required".to_owned(), Value::Array(required));
    let closed = Value::Bool(false);
    let open = |map: &Map<String, Value>| map.get("additionalProperties").cloned();
    match (open(&one), open(&other)) {
        (Some(one), Some(other)) if one == closed && other == closed => {
            whole.insert("additionalProperties".to_owned(), closed);
        }
        (Some(one), Some(other)) => {
            let rest = if one == closed {
                other
            } else if other == closed {
                one
            } else {
                any_of(one, other)
            };
            whole.insert("additionalProperties".to_owned(), rest);
        }
        _ => {}
    }
    whole
}

/// Makes a union, without repeating an alternative or nesting unions in each other.
fn any_of(one: Value, other: Value) -> Value {
    let mut branches = match one {
        Value::Object(mut union) if union.len() == 1 && union.contains_key("anyOf") => {
            match union.shift_remove("anyOf") {
                Some(Value::Array(branches)) => branches,
                _ => Vec::new(),
            }
        }
        one => vec![one],
    };
    if !branches.contains(&other) {
        branches.push(other);
    }
    json!({"anyOf": branches})
}

/// Makes one choice of alternatives that are each a choice, with what is said of each.
fn one_choice(branches: &[Value]) -> Option<(Vec<Value>, Vec<String>)> {
    let (mut values, mut said) = (Vec::new(), Vec::new());
    for branch in branches {
        let branch = branch.as_object()?;
        let is_bare = branch
            .keys()
            .all(|it| matches!(it.as_str(), "const" | "enum" | "type" | "description" | "title"));
        let choices = match (branch.get("const"), branch.get("enum")) {
            (Some(value), None) => std::slice::from_ref(value),
            (None, Some(Value::Array(values))) => values,
            _ => return None,
        };
        if !is_bare {
            return None;
        }
        let description = wording::description(branch);
        if let ([value], false) = (choices, description.is_empty()) {
            said.push(format!("{}: {description}", crate::words::value(value)));
        }
        values.extend(choices.iter().cloned());
    }
    Some((values, said))
}

/// Says which properties have to be there, where alternatives say nothing else.
fn only_required(branches: &[Value]) -> Option<String> {
    let sets = branches.iter().map(|branch| {
        let branch = branch.as_object()?;
        let names = branch.get("required")?.as_array()?;
        let is_bare = branch.keys().all(|it| matches!(it.as_str(), "required" | "type" | "title"));
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        is_bare.then(|| names.join(" and "))
    });
    let sets = sets.collect::<Option<Vec<String>>>()?;
    Some(format!("needs {}", wording::cut(&sets.join(", or "))))
}
