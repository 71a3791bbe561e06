//! The configuration that all layers make together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_policy::{Layer, Origin, Policy, Preset, Rule};
use haft_protocol::limits::CONFIG_BYTES;
use haft_protocol::{Digest, LogicalPath, SandboxLevel};

use crate::aliases::Aliases;
use crate::document::{Document, Text};
use crate::merge::{Dropped, Merge};
use crate::models::{self, Models};
use crate::read::{self, Values};
use crate::settings::{LEVELS, NUMBERS, RECORD_ARGUMENTS, Setting};
use crate::sources::PRESET;
use crate::{ConfigError, Door, PROJECT_FILE, Sources, Trust};

/// The configuration that all layers make together. The default is what is built in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// What happens to calls that no rule decides.
    pub preset: Preset,
    /// The rules of all layers. Those an untrusted project may not make are in here too: policy does not follow them,
    /// and can say so.
    pub rules: Vec<Rule>,
    /// Changes to the list of protected names.
    pub protection: Protection,
    /// Roots beside the first one, as full paths.
    pub further_roots: Vec<PathBuf>,
    /// Limits of calls.
    pub limits: Limits,
    /// What is recorded, and for how long.
    pub journal: Journal,
    /// How programs are run.
    pub programs: Programs,
    /// The model that is asked where none is named: a name of `models`, or `provider/name`.
    pub model: Option<String>,
    /// Names of models and servers.
    pub models: Models,
    /// Hosts that may be asked without encryption.
    pub plain_http: Vec<String>,
    /// Tools with some arguments fixed, by the names that they are shown under.
    pub aliases: Aliases,
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    pub(crate) dropped: Vec<Dropped>,
    user: Option<PathBuf>,
    user_place: Option<PathBuf>,
    project: Option<ProjectFile>,
}

/// Changes to the list of protected names, as globs over names and paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Protection {
    /// Names to add.
    pub extra: Vec<String>,
    /// Names to leave out.
    pub except: Vec<String>,
}

/// Limits of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Leaf effects at one time: 1 to 64.
    pub permits: u64,
    /// Calls of one step: 1 to 1000.
    pub calls_per_step: u64,
    /// Calls of one run: 1 to a million.
    pub calls_per_run: u64,
    /// Milliseconds a person has to answer: a second to a day.
    pub approval_ms: u64,
    /// Milliseconds a call waits for a permit and its locks: 100 to a day.
    pub acquire_ms: u64,
    /// Milliseconds one hook may take: 100 to a day.
    pub hook_ms: u64,
    /// Bytes of text one outcome shows: one KiB to one MiB.
    pub outcome_text_bytes: u64,
}

/// What is recorded, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// Days a record is kept: 1 to ten years.
    pub retention_days: u64,
    /// Calls that are kept at most: 1 to a hundred million.
    pub retention_calls: u64,
    /// Runs that are kept at most: 1 to a million.
    pub retention_runs: u64,
    /// Bytes of all entries of all runs: one MiB to one TiB.
    pub runs_bytes: u64,
    /// Bytes of all artifacts: one MiB to one TiB.
    pub artifacts_bytes: u64,
    /// Whether the arguments of calls are recorded.
    pub record_arguments: bool,
}

/// How programs are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// How far they are confined where that can be had: the strongest level that works, up to this one.
    pub sandbox: SandboxLevel,
    /// The level below which nothing is started.
    pub sandbox_at_least: SandboxLevel,
    /// Variables that they get beside the usual ones: names of haft's own environment, where `*` at the end stands for any
    /// rest, or names with their values behind `=`.
    pub environment: Vec<String>,
    /// Files and directories that they may read beside those of the system, as full paths.
    pub read: Vec<PathBuf>,
    /// Bytes of memory that one process may have to itself: 16 MiB to 64 TiB.
    pub memory_bytes: u64,
    /// Processes and threads that a command may add to those that run already: 1 to a million.
    pub processes: u64,
    /// Bytes to which a file may grow: one MiB to one PiB.
    pub file_bytes: u64,
}

/// The project's file, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// The file.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Whether a person trusts these bytes.
    pub trusted: bool,
}

impl Config {
    /// Reads all layers.
    ///
    /// # Errors
    ///
    /// Fails on the first file that cannot be read and on the first value that is not right, also where the file is a
    /// project's that nobody trusts: a rule that denies must not get lost by a slip.
    pub fn load(sources: &Sources<'_>, door: &impl Door) -> Result<Self, ConfigError> {
        let mut config =
            Self { user_place: sources.user.map(ToOwned::to_owned), ..Self::default() };
        if let Some(path) = sources.user
            && let Some(bytes) = read_file(door, path)?
        {
            let values = read_values(&path.to_string_lossy(), &bytes, Origin::new(Layer::User))?;
            config.merge(values, Merge::Over);
            config.user = Some(path.to_owned());
        }
        if let Some(project) = sources.project {
            let path = project.join(PROJECT_FILE);
            if let Some(bytes) = read_file(door, &path)? {
                let digest = Digest::of_bytes(&bytes);
                let trusted =
                    read_trust(sources.trust, door)?.is_trusted(project, PROJECT_FILE, &digest);
                let origin = Origin { trusted, ..Origin::new(Layer::Project) };
                let merge = if trusted { Merge::Over } else { Merge::Narrowing };
                config.merge(read_values(PROJECT_FILE, &bytes, origin)?, merge);
                config.project = Some(ProjectFile { path, digest, trusted });
            }
        }
        config.merge(Values::of_environment(&sources.environment)?, Merge::Over);
        config.merge(Values::of_flags(&sources.flags)?, Merge::Over);
        Ok(config)
    }

    /// Makes the policy. `roots` are the full names of the roots as the workspace opened them, the first one first:
    /// patterns that are full paths match in those.
    ///
    /// # Errors
    ///
    /// Fails for more rules than a policy takes.
    pub fn policy(&self, roots: &[LogicalPath], yes: bool) -> Result<Policy, ConfigError> {
        let mut builder = Policy::builder()
            .preset(self.preset, self.origin(PRESET))
            .rules(self.rules.iter().cloned());
        let mut roots = roots.iter().cloned();
        if let Some(root) = roots.next() {
            builder = builder.first_root(root);
        }
        for root in roots {
            builder = builder.further_root(root);
        }
        if yes {
            builder = builder.yes();
        }
        if let Some(place) = &self.user_place {
            builder = builder.user_file(place.to_string_lossy());
        }
        Ok(builder.build()?)
    }

    /// Returns where the value of a key such as `limits.permits` comes from; of a list, where its last item does.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or_default()
    }

    /// Returns every setting with one value, and where each comes from.
    pub fn settings(&self) -> Vec<Setting> {
        let mut scratch = self.clone();
        let numbers =
            NUMBERS.iter().map(|number| (number.key, (number.field)(&mut scratch).to_string()));
        let preset = (PRESET, format!("\"{}\"", self.preset));
        let record = (RECORD_ARGUMENTS, self.journal.record_arguments.to_string());
        let mut other = self.clone();
        let levels =
            LEVELS.iter().map(|level| (level.key, format!("\"{}\"", (level.field)(&mut other))));
        let model = self.model.as_ref().map(|model| (models::DEFAULT, format!("\"{model}\"")));
        [preset]
            .into_iter()
            .chain(numbers)
            .chain([record])
            .chain(levels)
            .chain(model)
            .map(|(key, value)| Setting { key, value, origin: self.origin(key) })
            .collect()
    }

    /// Returns what the project's file asks for and nobody trusts it to.
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// Returns the user's file, where there is one.
    pub fn user(&self) -> Option<&Path> {
        self.user.as_deref()
    }

    /// Returns where the user's file is, or would be.
    pub fn user_place(&self) -> Option<&Path> {
        self.user_place.as_deref()
    }

    /// Returns the project's file, where there is one.
    pub fn project(&self) -> Option<&ProjectFile> {
        self.project.as_ref()
    }
}

fn read_file(door: &impl Door, path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    door.read(path).map_err(|source| ConfigError::Read { file: path.to_owned(), source })
}

fn read_values(file: &str, bytes: &[u8], origin: Origin) -> Result<Values, ConfigError> {
    if bytes.len() > CONFIG_BYTES {
        return Err(ConfigError::TooLarge {
            file: file.to_owned(),
            bytes: bytes.len(),
            limit: CONFIG_BYTES,
        });
    }
    let origin = Origin { file: Some(file.to_owned()), ..origin };
    let text = Arc::new(Text::new(file, bytes)?);
    read::values(&Document::new(&text, origin))
}

fn read_trust(path: Option<&Path>, door: &impl Door) -> Result<Trust, ConfigError> {
    let Some(path) = path else { return Ok(Trust::default()) };
    let bytes = read_file(door, path)?.unwrap_or_default();
    Trust::read(&bytes).map_err(|source| ConfigError::Trust { file: path.to_owned(), source })
}
