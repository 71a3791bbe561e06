//! Contracts with one shape for each value of a tag.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::narrow::without;
use crate::engine::Compiled;
use crate::error::SchemaError;
use crate::view::View;
use crate::words;

/// The tag of a contract: the key whose value decides which other keys there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    key: String,
    values: Vec<String>,
}

impl Tag {
    /// Returns the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the values, in the order of the type.
    pub fn values(&self) -> &[String] {
        &self.values
    }
}

/// One compiled schema for each value of a tag.
#[derive(Debug, Clone)]
pub(super) struct Tagged {
    tag: Tag,
    description: Option<String>,
    /// In the order of the tag's values.
    branches: Vec<Arc<Compiled>>,
}

impl Tagged {
    pub(super) fn new(
        key: String,
        description: Option<String>,
        branches: Vec<(String, Value)>,
    ) -> Result<Self, SchemaError> {
        let mut tagged =
            Self { tag: Tag { key, values: Vec::new() }, description, branches: Vec::new() };
        for (value, schema) in branches {
            tagged.branches.push(Arc::new(Compiled::derived(Arc::new(schema))?));
            tagged.tag.values.push(value);
        }
        Ok(tagged)
    }

    pub(super) fn tag(&self) -> &Tag {
        &self.tag
    }

    pub(super) fn branches(&self) -> impl Iterator<Item = &Arc<Compiled>> {
        self.branches.iter()
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &Arc<Compiled>)> {
        self.tag.values.iter().map(String::as_str).zip(&self.branches)
    }

    pub(super) fn branch(&self, value: &str) -> Option<&Arc<Compiled>> {
        self.pairs().find(|(it, _)| *it == value).map(|(_, branch)| branch)
    }

    /// Lists the values whose branch has a key.
    pub(super) fn users(&self, key: &str) -> Vec<&str> {
        let uses = |branch: &Compiled| {
            View::of(branch.schema()).properties().is_some_and(|it| it.contains_key(key))
        };
        self.pairs().filter(|(_, branch)| uses(branch)).map(|(value, _)| value).collect()
    }

    /// Keeps only some values.
    pub(super) fn keeping(&self, keep: impl Fn(&str, &Compiled) -> bool) -> Self {
        let kept = self.pairs().filter(|(value, branch)| keep(value, branch));
        let (values, branches) =
            kept.map(|(value, branch)| (value.to_owned(), Arc::clone(branch))).unzip();
        let tag = Tag { key: self.tag.key.clone(), values };
        Self { tag, description: self.description.clone(), branches }
    }

    pub(super) fn schemas(&self) -> Vec<&Value> {
        self.branches.iter().map(|branch| &**branch.schema()).collect()
    }

    /// Builds the one object that is advertised, without the arguments that are fixed.
    pub(super) fn flattened(&self, fixed: &Map<String, Value>) -> Result<Value, SchemaError> {
        let shown: Vec<(&str, Value)> =
            self.pairs().map(|(value, branch)| (value, without(branch.schema(), fixed))).collect();
        let mut keys: Vec<&str> = Vec::new();
        for (value, schema) in &shown {
            let view = View::of(schema);
            if view.alternatives().next().is_some() {
                return Err(SchemaError::OpaqueVariant { value: (*value).to_owned() });
            }
            for key in view.properties().into_iter().flat_map(Map::keys) {
                if !keys.contains(&key.as_str()) && *key != self.tag.key {
                    keys.push(key);
                }
            }
        }
        let mut properties = Map::new();
        properties.insert(self.tag.key.clone(), self.tag_schema(&shown));
        for key in keys {
            properties.insert(key.to_owned(), Merge::of(key, &shown).schema());
        }
        let required: Vec<&str> = properties
            .keys()
            .map(String::as_str)
            .filter(|key| shown.iter().all(|(_, it)| View::of(it).required().any(|it| it == *key)))
            .collect();
        let required = json!(required);
        let mut root = Map::new();
        root.insert("type".to_owned(), json!("object"));
        if let Some(description) = &self.description {
            root.insert("description".to_owned(), json!(description));
        }
        root.insert("properties".to_owned(), Value::Object(properties));
        root.insert("required".to_owned(), required);
        if !shown.iter().any(|(_, schema)| super::is_open(schema)) {
            root.insert("additionalProperties".to_owned(), json!(false));
        }
        Ok(Value::Object(root))
    }

    fn tag_schema(&self, shown: &[(&str, Value)]) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("string"));
        let lines: Vec<(&str, Option<&str>)> =
            shown.iter().map(|(value, schema)| (*value, description(schema))).collect();
        if let Some(list) = words::choice_list(&lines) {
            schema.insert("description".to_owned(), json!(list));
        }
        schema.insert("enum".to_owned(), json!(self.tag.values));
        Value::Object(schema)
    }
}

fn description(schema: &Value) -> Option<&str> {
    schema.get("description").and_then(Value::as_str)
}

/// What one branch has for a key.
#[derive(Clone, Copy)]
struct Use<'s> {
    /// The value of the tag.
    value: &'s str,
    schema: &'s Value,
    required: bool,
}

/// A key with its schema in every branch that has it.
struct Merge<'s> {
    uses: Vec<Use<'s>>,
    branches: usize,
}

impl<'s> Merge<'s> {
    fn of(key: &str, shown: &'s [(&'s str, Value)]) -> Self {
        let uses = shown.iter().filter_map(|(value, branch)| {
            let view = View::of(branch);
            let schema = view.properties()?.get(key)?;
            Some(Use { value, schema, required: view.required().any(|it| it == key) })
        });
        Self { uses: uses.collect(), branches: shown.len() }
    }

    /// Returns one schema that accepts what any branch accepts for the key.
    fn schema(&self) -> Value {
        let mut forms: Vec<(Value, Vec<Use<'s>>)> = Vec::new();
        for used in &self.uses {
            let bare = bare(used.schema);
            match forms.iter_mut().find(|(form, _)| *form == bare) {
                Some((_, users)) => users.push(*used),
                None => forms.push((bare, vec![*used])),
            }
        }
        let (mut merged, labelled) = match forms.as_slice() {
            [(form, users)] => annotated(form, users, false),
            forms => {
                let forms = forms.iter().map(|(form, users)| annotated(form, users, true).0);
                (json!({"anyOf": forms.collect::<Vec<_>>()}), true)
            }
        };
        if let (Some(usage), Value::Object(merged)) = (self.usage(labelled), &mut merged) {
            let text = match merged.get("description").and_then(Value::as_str) {
                // Before the text, for that may end with a list of choices, the last of which it would seem to be about.
                Some(text) => format!("{usage} {text}"),
                None => usage,
            };
            merged.insert("description".to_owned(), Value::String(text));
        }
        merged
    }

    /// Says which values use the key, unless labels do, and which demand it, where that differs between them.
    fn usage(&self, labelled: bool) -> Option<String> {
        let demand: Vec<_> = self.uses.iter().copied().filter(|it| it.required).collect();
        let common = self.uses.len() == self.branches || labelled;
        let users = names(&self.uses);
        let demanders = names(&demand);
        match (common, demand.len()) {
            (true, count) if count == 0 || count == self.branches => None,
            (true, _) => Some(format!("Required for {demanders}.")),
            (false, 0) => Some(format!("Only for {users}.")),
            (false, count) if count == self.uses.len() => {
                Some(format!("Only for {users}, required there."))
            }
            (false, _) => Some(format!("Only for {users}, required for {demanders}.")),
        }
    }
}

fn names(uses: &[Use<'_>]) -> String {
    uses.iter().map(|it| format!("`{}`", it.value)).collect::<Vec<_>>().join(", ")
}

/// Returns a schema without its annotations.
fn bare(schema: &Value) -> Value {
    let mut bare = schema.clone();
    if let Value::Object(bare) = &mut bare {
        bare.shift_remove("description");
        bare.shift_remove("default");
    }
    bare
}

/// Puts the annotations of its users back on a schema, as they are when shared, else with whom each is for; tells
/// whether everyone was named.
fn annotated(form: &Value, users: &[Use<'_>], label: bool) -> (Value, bool) {
    let Value::Object(form) = form else { return (form.clone(), false) };
    let mut form = form.clone();
    let texts = grouped(users, "description");
    let labelled = label || texts.len() > 1;
    let mut sentences: Vec<String> = texts
        .into_iter()
        .filter_map(|(text, users)| match (text.and_then(Value::as_str), labelled) {
            (Some(text), true) => Some(format!("For {}: {text}", names(&users))),
            (Some(text), false) => Some(text.to_owned()),
            (None, true) => Some(format!("For {}.", names(&users))),
            (None, false) => None,
        })
        .collect();
    match grouped(users, "default").as_slice() {
        [(Some(default), _)] => {
            form.insert("default".to_owned(), (*default).clone());
        }
        [(None, _)] | [] => {}
        different => {
            let each = different.iter().filter_map(|(default, users)| {
                default.map(|default| format!("{default} for {}", names(users)))
            });
            sentences.push(format!("Default: {}.", each.collect::<Vec<_>>().join(", ")));
        }
    }
    if !sentences.is_empty() {
        form.insert("description".to_owned(), Value::String(sentences.join(" ")));
    }
    (Value::Object(form), labelled)
}

/// Groups users by what they have for a keyword, in order of appearance.
fn grouped<'s>(users: &[Use<'s>], keyword: &str) -> Vec<(Option<&'s Value>, Vec<Use<'s>>)> {
    let mut groups: Vec<(Option<&Value>, Vec<Use<'_>>)> = Vec::new();
    for used in users {
        let value = used.schema.get(keyword);
        match groups.iter_mut().find(|(it, _)| *it == value) {
            Some((_, users)) => users.push(*used),
            None => groups.push((value, vec![*used])),
        }
    }
    groups
}
