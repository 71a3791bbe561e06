//! What a configuration is made of, handed in by a face.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use haft_policy::{Preset, Rule};

use crate::error::{ConfigError, Problem};
use crate::models;
use crate::settings::{LEVELS, NUMBERS, RECORD_ARGUMENTS, nearest};

/// What the variables of haft begin with.
const PREFIX: &str = "HAFT_";

/// The key of the preset.
pub(crate) const PRESET: &str = "preset";

/// Reads files for a configuration.
///
/// A closure of the same form is a door.
pub trait Door {
    /// Returns the bytes of a file, or `None` when there is no such file.
    ///
    /// # Errors
    ///
    /// Fails when there is such a file and it cannot be read.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
}

impl<F: Fn(&Path) -> io::Result<Option<Vec<u8>>>> Door for F {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self(path)
    }
}

/// Where the layers of a configuration come from. What is left out is empty.
#[derive(Debug, Clone, Default)]
pub struct Sources<'a> {
    /// The user's file.
    pub user: Option<&'a Path>,
    /// The canonical path of the project's folder, which may hold [`PROJECT_FILE`](crate::PROJECT_FILE).
    pub project: Option<&'a Path>,
    /// The file of trusted projects, in the form of [`Trust`](crate::Trust).
    pub trust: Option<&'a Path>,
    /// Variables.
    pub environment: Environment,
    /// Flags.
    pub flags: Flags,
}

/// Settings from variables of the environment.
///
/// Each setting with one value has a variable: `HAFT_PRESET`, `HAFT_LIMITS_PERMITS`, `HAFT_JOURNAL_RETENTION_DAYS`;
/// that of `model.default` is `HAFT_MODEL`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub(crate) settings: Vec<Given>,
}

/// A setting by its key, given as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The variable or flag.
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) value: String,
}

impl Environment {
    /// Picks the variables that are settings; what does not begin with `HAFT_` is passed over, and so is what the face
    /// reads itself, named in `others`.
    ///
    /// # Errors
    ///
    /// Fails for a variable of haft's that does not exist, and for a value that is not text.
    pub fn from_variables(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        others: &[&str],
    ) -> Result<Self, ConfigError> {
        let known: Vec<(String, &str)> = keys().map(|key| (variable(key), key)).collect();
        let mut settings = Vec::new();
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
                continue;
            };
            if others.contains(&name) {
                continue;
            }
            let error = |problem| ConfigError::Setting { name: name.to_owned(), problem };
            let Some((_, key)) = known.iter().find(|(variable, _)| variable == name) else {
                let candidates = known.iter().map(|(it, _)| it.as_str());
                let nearest = nearest(name, candidates.chain(others.iter().copied()));
                let nearest = nearest.map(ToOwned::to_owned);
                return Err(error(Problem::UnknownVariable { nearest }));
            };
            let value = value.into_string().map_err(|_| error(Problem::NotText))?;
            settings.push(Given { name: name.to_owned(), key: (*key).to_owned(), value });
        }
        Ok(Self { settings })
    }
}

fn variable(key: &str) -> String {
    if key == models::DEFAULT {
        return format!("{PREFIX}MODEL");
    }
    format!("{PREFIX}{}", key.replace('.', "_").to_ascii_uppercase())
}

/// Settings from the flags of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub(crate) preset: Option<Preset>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) settings: Vec<Given>,
}

impl Flags {
    /// Sets the preset, as `--preset` does.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = Some(preset);
        self
    }

    /// Adds a rule, which brings its origin.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets a key such as `limits.permits`, for a flag of this name. The value is checked with all others.
    pub fn set(
        mut self,
        flag: impl Into<String>,
        key: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let (name, key, value) = (flag.into(), key.into(), value.into());
        self.settings.push(Given { name, key, value });
        self
    }
}

/// Returns every key that takes one value.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    let numbers = NUMBERS.iter().map(|it| it.key);
    let levels = LEVELS.iter().map(|it| it.key);
    [PRESET]
        .into_iter()
        .chain(numbers)
        .chain([RECORD_ARGUMENTS])
        .chain(levels)
        .chain([models::DEFAULT])
}
