//! From the text of one layer to its values.

use std::path::{Component, Path, PathBuf};

use globset::Glob;
use haft_policy::{Layer, Origin, PolicyError, Preset, Rule};
use haft_protocol::SandboxLevel;
use haft_protocol::limits::{
    FURTHER_ROOTS, PROGRAM_PATHS, PROGRAM_VARIABLES, PROTECTION_PATTERNS, RULE_PATTERN_BYTES, RULES,
};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::document::{Document, escaped, type_of};
use crate::rules::rule;
use crate::settings::{LEVELS, Level, NUMBERS, Number, PROGRAMS, RECORD_ARGUMENTS, nearest};
use crate::sources::{Given, PRESET, keys};
use crate::{ConfigError, Environment, Flags, Problem, aliases, models};

/// The keys of a file.
const TOP: &[&str] = &[
    PRESET,
    "rules",
    "protection",
    "roots",
    "limits",
    "journal",
    PROGRAMS,
    "model",
    "models",
    "network",
    "aliases",
];

/// What one layer says.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) preset: Option<Value<Preset>>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) extra: Vec<Value<String>>,
    pub(crate) except: Vec<Value<String>>,
    pub(crate) roots: Vec<Value<PathBuf>>,
    pub(crate) numbers: Vec<(&'static Number, Value<u64>)>,
    pub(crate) record_arguments: Option<Value<bool>>,
    pub(crate) levels: Vec<(&'static Level, Value<SandboxLevel>)>,
    pub(crate) environment: Vec<Value<String>>,
    pub(crate) read: Vec<Value<PathBuf>>,
    pub(crate) model: Option<Value<String>>,
    pub(crate) models: models::Named,
    pub(crate) plain_http: Vec<Value<String>>,
    pub(crate) aliases: aliases::Named,
    /// What the patterns of the rules so far take up.
    pub(crate) pattern_tokens: usize,
}

/// A value and where it comes from.
pub(crate) struct Value<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

pub(crate) type Node<'t> = Spanned<DeValue<'t>>;
type Key<'t> = Spanned<DeString<'t>>;

/// Reads a file.
pub(crate) fn values(document: &Document<'_>) -> Result<Values, ConfigError> {
    let mut values = Values::default();
    for (key, node) in document.parse()?.get_ref() {
        match &**key.get_ref() {
            PRESET => {
                let preset = document.text(PRESET, node)?.parse();
                let value = preset.map_err(|it| document.at(node, Problem::Policy(it)))?;
                values.preset = Some(document.value(value, node));
            }
            "rules" => {
                let rules = document.list("rules", node)?;
                if rules.len() > RULES {
                    return Err(document.too_many("rules", rules.len(), RULES, node));
                }
                for node in rules {
                    rule(document, node, &mut values)?;
                }
            }
            "protection" => {
                for (key, node) in document.table("protection", node)? {
                    match &**key.get_ref() {
                        "extra" => values.extra = globs(document, "protection.extra", node)?,
                        "except" => values.except = globs(document, "protection.except", node)?,
                        _ => {
                            return Err(document.unknown("protection.", key, &["extra", "except"]));
                        }
                    }
                }
            }
            "roots" => {
                for (key, node) in document.table("roots", node)? {
                    match &**key.get_ref() {
                        "extra" => {
                            values.roots = paths(document, "roots.extra", FURTHER_ROOTS, node)?;
                        }
                        _ => return Err(document.unknown("roots.", key, &["extra"])),
                    }
                }
            }
            "limits" => section(document, "limits", node, &mut values)?,
            "journal" => section(document, "journal", node, &mut values)?,
            PROGRAMS => programs(document, node, &mut values)?,
            "model" => models::model(document, node, &mut values)?,
            "models" => models::models(document, node, &mut values)?,
            "network" => models::network(document, node, &mut values)?,
            "aliases" => aliases::aliases(document, node, &mut values)?,
            _ => return Err(document.unknown("", key, TOP)),
        }
    }
    Ok(values)
}

/// Reads a section of settings with one value.
fn section(
    document: &Document<'_>,
    section: &'static str,
    node: &Node<'_>,
    values: &mut Values,
) -> Result<(), ConfigError> {
    let record_arguments =
        RECORD_ARGUMENTS.strip_prefix(section).and_then(|it| it.strip_prefix('.'));
    for (key, node) in document.table(section, node)? {
        let name = &**key.get_ref();
        if Some(name) == record_arguments {
            values.record_arguments =
                Some(document.value(document.boolean(RECORD_ARGUMENTS, node)?, node));
            continue;
        }
        let number = NUMBERS.iter().find(|it| it.section == section && it.name == name);
        let Some(number) = number else {
            let here = NUMBERS.iter().filter(|it| it.section == section).map(|it| it.name);
            let expected: Vec<_> = here.chain(record_arguments).collect();
            return Err(document.unknown(&format!("{section}."), key, &expected));
        };
        let value = document.number(number, node)?;
        values.numbers.push((number, document.value(value, node)));
    }
    Ok(())
}

fn globs(
    document: &Document<'_>,
    key: &str,
    node: &Node<'_>,
) -> Result<Vec<Value<String>>, ConfigError> {
    let mut globs = Vec::new();
    let list = document.list(key, node)?;
    if list.len() > PROTECTION_PATTERNS {
        return Err(document.too_many("patterns", list.len(), PROTECTION_PATTERNS, node));
    }
    for node in list {
        let text = document.text(key, node)?;
        let is_short = text.len() <= RULE_PATTERN_BYTES;
        let problem = match is_short.then(|| Glob::new(text)) {
            None => format!("it has {} bytes, and {RULE_PATTERN_BYTES} is the most", text.len()),
            Some(Ok(_)) if !text.is_empty() => {
                globs.push(document.value(text.to_owned(), node));
                continue;
            }
            Some(Ok(_)) => "it is empty".to_owned(),
            Some(Err(error)) => escaped(&error.kind().to_string()),
        };
        let problem = Problem::Glob { pattern: escaped(text), message: problem };
        return Err(document.at(node, problem));
    }
    Ok(globs)
}

/// Reads how programs are run.
fn programs(
    document: &Document<'_>,
    node: &Node<'_>,
    values: &mut Values,
) -> Result<(), ConfigError> {
    for (key, node) in document.table(PROGRAMS, node)? {
        let name = &**key.get_ref();
        if let Some(level) = LEVELS.iter().find(|it| it.name == name) {
            let value = document.text(level.key, node)?.parse();
            let value = value.map_err(|it| document.at(node, Problem::Sandbox(it)))?;
            values.levels.push((level, document.value(value, node)));
            continue;
        }
        let mut numbers = NUMBERS.iter().filter(|it| it.section == PROGRAMS);
        if let Some(number) = numbers.clone().find(|it| it.name == name) {
            let value = document.number(number, node)?;
            values.numbers.push((number, document.value(value, node)));
            continue;
        }
        match name {
            "environment" => values.environment = variables(document, node)?,
            "read" => values.read = paths(document, "programs.read", PROGRAM_PATHS, node)?,
            _ => {
                let levels = LEVELS.iter().map(|level| level.name);
                let numbers = numbers.by_ref().map(|number| number.name);
                let expected: Vec<_> =
                    levels.chain(["environment", "read"]).chain(numbers).collect();
                return Err(document.unknown("programs.", key, &expected));
            }
        }
    }
    Ok(())
}

/// Reads variables: names, at the end of which `*` may stand, or names with their values behind `=`.
fn variables(document: &Document<'_>, node: &Node<'_>) -> Result<Vec<Value<String>>, ConfigError> {
    const KEY: &str = "programs.environment";
    let list = document.list(KEY, node)?;
    if list.len() > PROGRAM_VARIABLES {
        return Err(document.too_many("variables", list.len(), PROGRAM_VARIABLES, node));
    }
    let mut names = Vec::new();
    for node in list {
        let text = document.text(KEY, node)?;
        let name = match text.split_once('=') {
            Some((name, value)) if !value.contains('\0') => name,
            Some(_) => "",
            None => text.strip_suffix('*').unwrap_or(text),
        };
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if name.is_empty() || text.len() > RULE_PATTERN_BYTES || !name.chars().all(is_name) {
            return Err(document.at(node, Problem::Variable { name: escaped(text) }));
        }
        names.push(document.value(text.to_owned(), node));
    }
    Ok(names)
}

/// Reads full paths.
fn paths(
    document: &Document<'_>,
    key: &'static str,
    limit: usize,
    node: &Node<'_>,
) -> Result<Vec<Value<PathBuf>>, ConfigError> {
    let mut paths = Vec::new();
    let list = document.list(key, node)?;
    if list.len() > limit {
        return Err(document.too_many("paths", list.len(), limit, node));
    }
    for node in list {
        let text = document.text(key, node)?;
        let path = Path::new(text);
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        if !path.is_absolute() || leads_up {
            return Err(document.at(node, Problem::Path { key, path: escaped(text) }));
        }
        paths.push(document.value(path.to_owned(), node));
    }
    Ok(paths)
}

impl Document<'_> {
    pub(crate) fn at(&self, node: &Node<'_>, problem: Problem) -> ConfigError {
        self.error(node.span(), problem)
    }

    pub(crate) fn too_many(
        &self,
        what: &'static str,
        count: usize,
        limit: usize,
        node: &Node<'_>,
    ) -> ConfigError {
        let error = PolicyError::TooMany { what, count, limit };
        self.at(node, Problem::Policy(error))
    }

    pub(crate) fn value<T>(&self, value: T, node: &Node<'_>) -> Value<T> {
        Value { value, origin: self.origin_of(node.span()) }
    }

    pub(crate) fn unknown(
        &self,
        within: &str,
        key: &Key<'_>,
        expected: &[&'static str],
    ) -> ConfigError {
        let name = key.get_ref();
        let problem = Problem::UnknownKey {
            key: format!("{within}{}", escaped(name)),
            nearest: nearest(name, expected.iter().copied()),
            expected: expected.to_vec(),
        };
        self.error(key.span(), problem)
    }

    pub(crate) fn mistyped(
        &self,
        key: &str,
        expected: &'static str,
        node: &Node<'_>,
    ) -> ConfigError {
        let found = type_of(node.get_ref());
        self.at(node, Problem::Type { key: key.to_owned(), expected, found })
    }

    pub(crate) fn text<'n>(&self, key: &str, node: &'n Node<'_>) -> Result<&'n str, ConfigError> {
        node.get_ref().as_str().ok_or_else(|| self.mistyped(key, "text", node))
    }

    pub(crate) fn list<'n, 't>(
        &self,
        key: &str,
        node: &'n Node<'t>,
    ) -> Result<&'n [Node<'t>], ConfigError> {
        match node.get_ref() {
            DeValue::Array(array) => Ok(array),
            _ => Err(self.mistyped(key, "a list", node)),
        }
    }

    pub(crate) fn table<'n, 't>(
        &self,
        key: &str,
        node: &'n Node<'t>,
    ) -> Result<&'n DeTable<'t>, ConfigError> {
        node.get_ref().as_table().ok_or_else(|| self.mistyped(key, "a table", node))
    }

    pub(crate) fn boolean(&self, key: &str, node: &Node<'_>) -> Result<bool, ConfigError> {
        node.get_ref().as_bool().ok_or_else(|| self.mistyped(key, "true or false", node))
    }

    fn number(&self, number: &Number, node: &Node<'_>) -> Result<u64, ConfigError> {
        let integer = node.get_ref().as_integer();
        let integer = integer.ok_or_else(|| self.mistyped(number.key, "a whole number", node))?;
        u64::from_str_radix(integer.as_str(), integer.radix())
            .map_err(|_| number.out_of_range(integer))
            .and_then(|value| number.check(value))
            .map_err(|problem| self.at(node, problem))
    }
}

impl Values {
    pub(crate) fn of_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let mut values = Self::default();
        for given in &environment.settings {
            values.give(given, Layer::Environment)?;
        }
        Ok(values)
    }

    pub(crate) fn of_flags(flags: &Flags) -> Result<Self, ConfigError> {
        let mut values = Self { rules: flags.rules.clone(), ..Self::default() };
        for given in &flags.settings {
            values.give(given, Layer::Flag)?;
        }
        if let Some(preset) = flags.preset {
            let origin = Origin::new(Layer::Flag).quoting("--preset");
            values.preset = Some(Value { value: preset, origin });
        }
        Ok(values)
    }

    /// Takes a setting that was given as text.
    fn give(&mut self, given: &Given, layer: Layer) -> Result<(), ConfigError> {
        let Given { name, key, value } = given;
        let error = |problem| ConfigError::Setting { name: name.clone(), problem };
        let mistyped = |expected| {
            let found = format!("`{}`", escaped(value));
            Problem::Type { key: key.clone(), expected, found }
        };
        let origin = Origin::new(layer).quoting(name.as_str());
        match key.as_str() {
            PRESET => {
                let value = value.parse().map_err(|it| error(Problem::Policy(it)))?;
                self.preset = Some(Value { value, origin });
            }
            RECORD_ARGUMENTS => {
                let value = value.parse().map_err(|_| error(mistyped("true or false")))?;
                self.record_arguments = Some(Value { value, origin });
            }
            models::DEFAULT => {
                if value.trim().is_empty() || value.chars().any(char::is_control) {
                    return Err(error(mistyped("a text that is not empty, on one line")));
                }
                self.model = Some(Value { value: value.clone(), origin });
            }
            key if LEVELS.iter().any(|it| it.key == key) => {
                for level in LEVELS.iter().filter(|it| it.key == key) {
                    let value = value.parse().map_err(|it| error(Problem::Sandbox(it)))?;
                    self.levels.push((level, Value { value, origin: origin.clone() }));
                }
            }
            _ => {
                let number = NUMBERS.iter().find(|it| it.key == key).ok_or_else(|| {
                    error(Problem::UnknownKey {
                        key: escaped(key),
                        nearest: nearest(key, keys()),
                        expected: keys().collect(),
                    })
                })?;
                let value = value.parse().map_err(|_| error(mistyped("a whole number")))?;
                let value = number.check(value).map_err(error)?;
                self.numbers.push((number, Value { value, origin }));
            }
        }
        Ok(())
    }
}
