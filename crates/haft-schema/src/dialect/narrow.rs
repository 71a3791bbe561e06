//! Schemas for dialects that take only a part of the shapes.

use haft_protocol::limits::{SCHEMA_BYTES, SCHEMA_NODES};
use serde_json::{Map, Value, json};

use super::inverse::Undo;
use super::join::{join, target_of, type_names};
use super::table::{Dialect, Feature};
use super::{Loss, LossKind, unions, wording};
use crate::lookup::lookup;
use crate::pointer;

/// Losses of one schema that are named; a hostile one could have them by the thousand.
const LOSSES: usize = 1_000;

/// Lowers the root: an object, whatever the dialect.
pub(super) fn lower(root: &Value, dialect: Dialect) -> (Value, Undo, Vec<Undo>, Vec<Loss>) {
    let mut narrowing = Narrowing::of(root, dialect);
    let flat = narrowing.merged_root();
    let (mut schema, undo) = narrowing.object(&flat, &mut String::new(), 0);
    let definitions = narrowing.lower_definitions(&mut schema);
    (schema, undo, definitions, narrowing.losses)
}

/// Makes one object of a root that is made of several schemas, for dialects that are not narrow otherwise.
pub(super) fn merge_root(root: &Value, dialect: Dialect) -> (Map<String, Value>, Vec<Loss>) {
    let mut narrowing = Narrowing::of(root, dialect);
    let flat = narrowing.merged_root();
    (flat, narrowing.losses)
}

/// A schema on its way into a dialect.
pub(super) struct Narrowing<'s> {
    root: &'s Value,
    pub(super) dialect: Dialect,
    /// Targets of the references that the place being lowered stands in.
    active: Vec<String>,
    /// Targets of references that stay references, in the order of their definitions.
    definitions: Vec<String>,
    nodes: usize,
    bytes: usize,
    losses: Vec<Loss>,
}

/// Why a schema cannot stand where it should.
pub(super) enum Unfit {
    /// A reference leads back to this place.
    Recursive(String),
    /// The schema has grown too large.
    TooLarge,
}

impl<'s> Narrowing<'s> {
    fn of(root: &'s Value, dialect: Dialect) -> Self {
        Self {
            root,
            dialect,
            active: vec![String::new()],
            definitions: Vec::new(),
            nodes: 0,
            bytes: 0,
            losses: Vec::new(),
        }
    }

    pub(super) fn root(&self) -> &'s Value {
        self.root
    }

    /// Joins the root with all that holds together with it, and merges its alternatives.
    fn merged_root(&mut self) -> Map<String, Value> {
        let joined = self.root.as_object().map(|root| self.joined(root));
        if let Some(Ok((flat, _))) = joined {
            return unions::merge_at_root(self, flat, "");
        }
        self.lose("", "$ref", LossKind::Dropped);
        Map::new()
    }

    /// Lowers a schema at a place of the one it is a part of.
    pub(super) fn schema(
        &mut self,
        schema: &Value,
        place: &mut String,
        level: usize,
    ) -> (Value, Undo) {
        let Value::Object(object) = schema else { return self.anything("", place) };
        let description = lookup(object, "description").and_then(Value::as_str).unwrap_or_default();
        if level >= self.dialect.levels() {
            return self.as_text(description, "nests too deep", place);
        }
        match self.joined(object) {
            Ok((flat, entered)) => {
                let lowered = self.flat(flat, place, level);
                self.active.truncate(self.active.len().saturating_sub(entered));
                lowered
            }
            Err(Unfit::TooLarge) => self.as_text("", "grows too large", place),
            Err(Unfit::Recursive(target)) if self.dialect.keeps(Feature::Recursion) => {
                let index = self.definitions.iter().position(|it| *it == target);
                let index = index.unwrap_or_else(|| {
                    self.definitions.push(target);
                    self.definitions.len() - 1
                });
                let reference = json!({"$ref": format!("#/$defs/{}", definition(index))});
                (reference, Undo::Definition(index))
            }
            Err(Unfit::Recursive(_)) => self.as_text(description, "$ref", place),
        }
    }

    /// Joins a schema with all that holds together with it. Its references become active; their number comes back too.
    fn joined(
        &mut self,
        schema: &Map<String, Value>,
    ) -> Result<(Map<String, Value>, usize), Unfit> {
        let before = self.active.len();
        match self.joined_within(schema) {
            Ok(flat) => Ok((flat, self.active.len() - before)),
            Err(unfit) => {
                self.active.truncate(before);
                Err(unfit)
            }
        }
    }

    /// Joins a schema that is a part of what its references lead to from where it stands.
    pub(super) fn joined_once(
        &mut self,
        schema: &Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        let (flat, entered) = self.joined(schema).ok()?;
        self.active.truncate(self.active.len().saturating_sub(entered));
        Some(flat)
    }

    fn joined_within(&mut self, schema: &Map<String, Value>) -> Result<Map<String, Value>, Unfit> {
        self.nodes += 1;
        if self.nodes > SCHEMA_NODES || self.bytes > SCHEMA_BYTES {
            return Err(Unfit::TooLarge);
        }
        let own = schema.iter().filter(|(keyword, _)| {
            !matches!(keyword.as_str(), "$ref" | "$dynamicRef" | "allOf" | "$defs" | "definitions")
        });
        let mut flat: Map<String, Value> =
            own.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
        self.bytes += flat.get("description").and_then(Value::as_str).map_or(0, str::len);
        self.bytes += flat.get("enum").map_or(0, |it| it.to_string().len());
        if let Some(target) = target_of(schema) {
            if self.active.contains(&target) {
                return Err(Unfit::Recursive(target));
            }
            let found = self.root.pointer(&target).and_then(Value::as_object).cloned();
            self.active.push(target);
            if let Some(found) = found {
                flat = join(self.joined_within(&found)?, flat);
            }
        }
        for part in lookup(schema, "allOf").and_then(Value::as_array).into_iter().flatten() {
            if let Value::Object(part) = part {
                flat = join(self.joined_within(part)?, flat);
            }
        }
        Ok(flat)
    }

    /// Lowers a schema that stands for itself.
    pub(super) fn flat(
        &mut self,
        flat: Map<String, Value>,
        place: &mut String,
        level: usize,
    ) -> (Value, Undo) {
        for keyword in ["not", "if", "then", "else", "dependentSchemas", "dependentRequired"] {
            if flat.contains_key(keyword) {
                self.lose(place, keyword, LossKind::Dropped);
            }
        }
        if flat.contains_key("anyOf") || flat.contains_key("oneOf") {
            return unions::lower(self, flat, place, level);
        }
        if let Some(value) = flat.get("const") {
            return self.choices(&flat, std::slice::from_ref(value), place);
        }
        if let Some(Value::Array(values)) = flat.get("enum") {
            return self.choices(&flat, values, place);
        }
        let mut types: Vec<&str> = match flat.get("type") {
            Some(types) => type_names(types),
            None => inferred(&flat).into_iter().collect(),
        };
        if types.contains(&"number") {
            types.retain(|it| *it != "integer");
        }
        let is_nullable = types.len() > 1 && types.contains(&"null");
        if is_nullable {
            types.retain(|it| *it != "null");
        }
        let (schema, undo) = match types.as_slice() {
            [] => return self.anything(wording::description(&flat), place),
            [only] => self.of_type(&flat, only, place, level),
            several => {
                let branch = |name: &&str| {
                    let mut branch = flat.clone();
                    branch.shift_remove("description");
                    branch.insert("type".to_owned(), json!(name));
                    Value::Object(branch)
                };
                let branches = several.iter().map(branch).collect();
                let description = wording::description(&flat).to_owned();
                unions::of_branches(self, branches, &description, place, level)
            }
        };
        if is_nullable { (self.nullable(schema), undo) } else { (schema, undo) }
    }

    fn of_type(
        &mut self,
        flat: &Map<String, Value>,
        name: &str,
        place: &mut String,
        level: usize,
    ) -> (Value, Undo) {
        match name {
            "object" => self.object(flat, place, level),
            "array" => self.array(flat, place, level),
            "null" if self.dialect == Dialect::Gemini => {
                self.as_text(wording::description(flat), "null", place)
            }
            name => (self.with_rules(self.typed(name), flat, place), Undo::Same),
        }
    }

    fn array(
        &mut self,
        flat: &Map<String, Value>,
        place: &mut String,
        level: usize,
    ) -> (Value, Undo) {
        if flat.contains_key("prefixItems") {
            return self.as_text(wording::description(flat), "prefixItems", place);
        }
        let items = flat.get("items").cloned().unwrap_or(Value::Bool(true));
        let (items, undo) =
            pointer::within(place, "items", |place| self.schema(&items, place, level + 1));
        let mut schema = self.typed("array");
        set(&mut schema, "items", items);
        let undo = if undo == Undo::Same { Undo::Same } else { Undo::Items(Box::new(undo)) };
        (self.with_rules(schema, flat, place), undo)
    }

    /// Lowers a choice among values.
    pub(super) fn choices(
        &mut self,
        flat: &Map<String, Value>,
        values: &[Value],
        place: &str,
    ) -> (Value, Undo) {
        let is_nullable = values.contains(&Value::Null);
        let mut values: Vec<Value> = values.iter().filter(|it| !it.is_null()).cloned().collect();
        values.dedup();
        let description = wording::description(flat);
        if values.is_empty() || values.iter().any(|it| it.is_array() || it.is_object()) {
            let allowed = wording::cut(&Value::Array(values).to_string());
            let description = wording::joined(description, &[format!("one of {allowed}")]);
            return self.as_text(&description, "enum", place);
        }
        let mut types: Vec<&str> = values.iter().map(scalar_type).collect();
        types.sort_unstable();
        types.dedup();
        let mut undo = Undo::Same;
        if types != ["string"] && !(types.len() == 1 && self.dialect.keeps(Feature::MixedEnum)) {
            let text = |value: &Value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let named: Vec<(String, Value)> =
                values.iter().map(|value| (text(value), value.clone())).collect();
            values = named.iter().map(|(name, _)| Value::from(name.as_str())).collect();
            values.dedup();
            undo = Undo::Named(named);
            types = vec!["string"];
            self.lose(place, "enum", LossKind::Rewritten);
        }
        let mut schema = self.typed(types.first().copied().unwrap_or("string"));
        let default = self.default_in_words(flat, place).unwrap_or_default();
        wording::describe(&mut schema, &wording::joined(description, &[default]));
        if let ([only], true) = (values.as_slice(), self.dialect.keeps(Feature::Const)) {
            set(&mut schema, "const", only.clone());
        } else {
            set(&mut schema, "enum", Value::Array(values));
        }
        if is_nullable { (self.nullable(schema), undo) } else { (schema, undo) }
    }

    /// Makes the schema of anything: JSON as a text, for a schema without a type is taken by none of these dialects.
    pub(super) fn anything(&mut self, description: &str, place: &str) -> (Value, Undo) {
        self.lose(place, "no type", LossKind::Rewritten);
        let mut schema = self.typed("string");
        let rule = "any value, written as JSON".to_owned();
        wording::describe(&mut schema, &wording::joined(description, &[rule]));
        (schema, Undo::Text { is_anything: true })
    }

    /// Makes the schema of a value that is written as a text, for its shape cannot be said.
    pub(super) fn as_text(
        &mut self,
        description: &str,
        what: &'static str,
        place: &str,
    ) -> (Value, Undo) {
        self.lose(place, what, LossKind::Rewritten);
        let mut schema = self.typed("string");
        let rule = match what {
            "$ref" => "a value of the same form as what it stands in, written as JSON",
            _ => "written as JSON",
        };
        wording::describe(&mut schema, &wording::joined(description, &[rule.to_owned()]));
        (schema, Undo::Text { is_anything: false })
    }

    /// Lets null through beside what a lowered schema accepts.
    pub(super) fn nullable(&self, mut schema: Value) -> Value {
        if self.dialect == Dialect::Gemini {
            set(&mut schema, "nullable", Value::Bool(true));
            return schema;
        }
        if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
            let null = json!({"type": "null"});
            if !branches.contains(&null) {
                branches.push(null);
            }
            return schema;
        }
        let single = schema.get("type").and_then(Value::as_str).map(str::to_owned);
        match single {
            Some(name) if name == "null" => schema,
            Some(name) if self.dialect.keeps(Feature::TypeList) => {
                set(&mut schema, "type", json!([name, "null"]));
                if let Some(value) = schema.as_object_mut().and_then(|it| it.shift_remove("const"))
                {
                    set(&mut schema, "enum", json!([value]));
                }
                if let Some(Value::Array(values)) = schema.get_mut("enum") {
                    values.push(Value::Null);
                }
                schema
            }
            _ if schema.get("type").is_some_and(Value::is_array) => schema,
            _ => {
                let description =
                    schema.as_object_mut().and_then(|it| it.shift_remove("description"));
                let mut union = json!({"anyOf": [schema, {"type": "null"}]});
                if let Some(description) = description {
                    set(&mut union, "description", description);
                }
                union
            }
        }
    }

    /// Makes a schema of one type, in the letters of the dialect.
    pub(super) fn typed(&self, name: &str) -> Value {
        match self.dialect {
            Dialect::Gemini => json!({"type": name.to_ascii_uppercase()}),
            _ => json!({"type": name}),
        }
    }

    /// Adds what is said about values of the type: as keywords where the dialect has them, else in the description.
    pub(super) fn with_rules(
        &mut self,
        mut schema: Value,
        flat: &Map<String, Value>,
        place: &str,
    ) -> Value {
        let mut said = Vec::new();
        let of =
            schema.get("type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        for rule in wording::RULES.iter().filter(|rule| rule.is_about(&of)) {
            let Some(value) = flat.get(rule.keyword) else { continue };
            if self.dialect.keeps(rule.feature) && rule.is_fit(value, self.dialect) {
                set(&mut schema, rule.keyword, value.clone());
                continue;
            }
            let words = rule.say(value);
            let kind = if words.is_some() { LossKind::Described } else { LossKind::Dropped };
            said.extend(words);
            self.lose(place, rule.keyword, kind);
        }
        said.extend(self.default_in_words(flat, place));
        wording::describe(&mut schema, &wording::joined(wording::description(flat), &said));
        schema
    }

    /// Says which value it is where it is left out.
    fn default_in_words(&mut self, flat: &Map<String, Value>, place: &str) -> Option<String> {
        let default = flat.get("default").filter(|it| !it.is_null())?;
        self.lose(place, "default", LossKind::Described);
        Some(format!("default {}", wording::cut(&default.to_string())))
    }

    pub(super) fn lose(&mut self, place: &str, what: &'static str, kind: LossKind) {
        if self.losses.len() < LOSSES {
            self.losses.push(Loss::at(place, what, kind));
        }
    }

    /// Lowers what references that stayed point to, and puts it into the root.
    fn lower_definitions(&mut self, root: &mut Value) -> Vec<Undo> {
        let mut undone = Vec::new();
        let mut schemas = Map::new();
        while let Some(target) = self.definitions.get(undone.len()).cloned() {
            let schema = self.root.pointer(&target).cloned().unwrap_or(Value::Bool(true));
            // The reference itself: what leads back to it from within is the same definition.
            let name = definition(undone.len());
            self.active = vec![target.clone()];
            let mut place = target;
            let (schema, undo) = self.schema(&schema, &mut place, 1);
            schemas.insert(name, schema);
            undone.push(undo);
        }
        if !schemas.is_empty() {
            set(root, "$defs", Value::Object(schemas));
        }
        undone
    }
}

fn definition(index: usize) -> String {
    format!("d{}", index + 1)
}

/// Sets a keyword of a schema.
pub(super) fn set(schema: &mut Value, keyword: &str, value: Value) {
    if let Value::Object(object) = schema {
        object.insert(keyword.to_owned(), value);
    }
}

/// Returns the type that a schema without one is about, where its keywords show it.
fn inferred(flat: &Map<String, Value>) -> Option<&'static str> {
    let has = |keywords: &[&str]| keywords.iter().any(|it| flat.contains_key(*it));
    if has(&["properties", "required", "additionalProperties", "patternProperties"]) {
        return Some("object");
    }
    if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        return Some("array");
    }
    if has(&["pattern", "minLength", "maxLength", "format"]) {
        return Some("string");
    }
    has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
        .then_some("number")
}

fn scalar_type(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        _ => "string",
    }
}
