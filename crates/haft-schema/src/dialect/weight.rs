//! What the schemas of one request may take together.

use serde_json::Value;

use super::Dialect;

/// What a lowered schema takes of what a provider allows for all strict tools of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Weight {
    /// Properties.
    pub properties: u64,
    /// Properties that may be left out.
    pub optional: u64,
    /// Properties and items that may be of several types.
    pub unions: u64,
    /// Characters of names and of values to choose from.
    pub characters: u64,
    /// Values to choose from.
    pub choices: u64,
    /// Levels of objects and arrays.
    pub levels: u64,
}

/// Strict tools of one request to Anthropic.
const ANTHROPIC_TOOLS: u64 = 20;
/// Properties of them that may be left out.
const ANTHROPIC_OPTIONAL: u64 = 24;
/// Unions in them.
const ANTHROPIC_UNIONS: u64 = 16;
/// Properties of all strict tools of one request to OpenAI.
const OPENAI_PROPERTIES: u64 = 5_000;
/// Characters of their names and choices.
const OPENAI_CHARACTERS: u64 = 120_000;
/// Choices in them.
const OPENAI_CHOICES: u64 = 1_000;
/// Levels of one of them.
const OPENAI_LEVELS: u64 = 10;

/// Says which tools may be strict, given each one's weight: as many as the provider allows together, the first ones first,
/// so that a tool more at the end changes nothing for those before it.
pub fn choose_strict(dialect: Dialect, weights: &[Weight]) -> Vec<bool> {
    let mut tools = 0_u64;
    let mut sum = Weight::default();
    let mut choose = |weight: &Weight| {
        let (more, with) = (tools.saturating_add(1), sum.and(weight));
        let fits = match dialect {
            Dialect::AnthropicStrict => {
                more <= ANTHROPIC_TOOLS
                    && with.optional <= ANTHROPIC_OPTIONAL
                    && with.unions <= ANTHROPIC_UNIONS
            }
            Dialect::OpenAiStrict => {
                with.properties <= OPENAI_PROPERTIES
                    && with.characters <= OPENAI_CHARACTERS
                    && with.choices <= OPENAI_CHOICES
                    && weight.levels <= OPENAI_LEVELS
            }
            _ => false,
        };
        if fits {
            (tools, sum) = (more, with);
        }
        fits
    };
    weights.iter().map(&mut choose).collect()
}

impl Weight {
    /// Weighs a lowered schema.
    pub(super) fn of(schema: &Value) -> Self {
        let mut weight = Self::default();
        weight.add(schema, 0);
        weight
    }

    fn and(self, other: &Self) -> Self {
        Self {
            properties: self.properties.saturating_add(other.properties),
            optional: self.optional.saturating_add(other.optional),
            unions: self.unions.saturating_add(other.unions),
            characters: self.characters.saturating_add(other.characters),
            choices: self.choices.saturating_add(other.choices),
            levels: self.levels.max(other.levels),
        }
    }

    fn add(&mut self, schema: &Value, level: u64) {
        let Some(object) = schema.as_object() else { return };
        let list = |keyword: &str| object.get(keyword).and_then(Value::as_array);
        if list("type").is_some() || list("anyOf").is_some() {
            self.unions = self.unions.saturating_add(1);
        }
        if let Some(values) = list("enum") {
            let texts = values.iter().filter_map(Value::as_str).map(|it| it.chars().count() as u64);
            self.characters = texts.fold(self.characters, u64::saturating_add);
            self.choices = self.choices.saturating_add(values.len() as u64);
        }
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            self.levels = self.levels.max(level.saturating_add(1));
            let required = list("required").map_or(0, Vec::len);
            let optional = properties.len().saturating_sub(required) as u64;
            self.optional = self.optional.saturating_add(optional);
            for (name, property) in properties {
                self.properties = self.properties.saturating_add(1);
                self.characters = self.characters.saturating_add(name.chars().count() as u64);
                self.add(property, level.saturating_add(1));
            }
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner) = object.get(keyword).filter(|it| it.is_object()) {
                self.levels = self.levels.max(level.saturating_add(1));
                self.add(inner, level.saturating_add(1));
            }
        }
        for branch in list("anyOf").into_iter().flatten() {
            self.add(branch, level);
        }
        for definition in object.get("$defs").and_then(Value::as_object).into_iter().flatten() {
            self.add(definition.1, level);
        }
    }
}
