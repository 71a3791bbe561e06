//! From what was typed, what the environment says and what the files say, to the parts of the library.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use haft::coding::{Bash, BashSettings};
use haft::config::{Config, ConfigError, Flags, Sources};
use haft::mcp::AskTheClient;
use haft::ports::Approver;
use haft::process::Allowance;
use haft::store::{Retention, Store, StoreConfig, StoreError};
use haft::workspace::Protection;
use haft::{Alias, DispatchLimits, Haft, HaftBuilder, LogicalPath, OpenError, State};

use crate::approver::TerminalApprover;
use crate::command::{Asked, Invocation, Records};
use crate::environment::Environment;
use crate::files;
use crate::print::Tone;
use crate::roots::{Root, Why};
use crate::secrets;

/// A mistake of the user's, as opposed to a fault of ours: exit code 2.
#[derive(Debug)]
pub(crate) struct UserMistake {
    text: String,
    /// Ways out.
    pub(crate) hints: Vec<String>,
}

impl UserMistake {
    /// Makes a mistake without ways out.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), hints: Vec::new() }
    }

    /// Adds a way out.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for UserMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for UserMistake {}

impl From<ConfigError> for UserMistake {
    fn from(error: ConfigError) -> Self {
        Self::new(secrets::masked(&with_causes(&error)))
    }
}

impl From<OpenError> for UserMistake {
    fn from(error: OpenError) -> Self {
        Self::new(with_causes(&error))
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// Everything a command that makes calls needs.
pub(crate) struct Assembled {
    /// The library's parts.
    pub(crate) haft: Haft,
    /// The roots, as they were chosen.
    pub(crate) roots: Vec<Root>,
    /// The configuration.
    pub(crate) config: Config,
    /// What there is to say about it.
    pub(crate) about_config: Vec<(Tone, String)>,
}

impl Invocation<'_> {
    /// Returns the name of the user, for the record.
    pub(crate) fn user(&self) -> String {
        self.environment.user.clone().unwrap_or_else(|| "somebody".to_owned())
    }

    /// Returns the state directory, unless no records are kept.
    pub(crate) fn state_dir(&self) -> anyhow::Result<Option<PathBuf>> {
        if self.global.no_state {
            return Ok(None);
        }
        let Environment { state_dir, platform_state_dir, .. } = self.environment;
        let dir =
            self.global.state_dir.as_ref().or(state_dir.as_ref()).or(platform_state_dir.as_ref());
        let Some(dir) = dir else {
            return Err(UserMistake::new("there is no place for records: HOME is not set")
                .hint("name one with `--state-dir DIR` or HAFT_STATE_DIR")
                .hint("or keep none with `--no-state`")
                .into());
        };
        Ok(Some(dir.clone()))
    }
}

impl Invocation<'_> {
    /// Names haft's own directories, which tools are kept out of.
    ///
    /// Records that others made are kept from tools as well where this call keeps none.
    fn with_own_directories(&self, mut builder: HaftBuilder) -> HaftBuilder {
        let Environment { config_dir, state_dir, platform_state_dir, .. } = self.environment;
        if let Some(dir) = config_dir {
            builder = builder.config_dir(dir);
        }
        let state =
            self.global.state_dir.as_ref().or(state_dir.as_ref()).or(platform_state_dir.as_ref());
        match state {
            Some(dir) => builder.own_directory(dir, "haft's records are there"),
            None => builder,
        }
    }

    /// Opens the records, for commands that only look at them.
    pub(crate) fn store(&self) -> anyhow::Result<Store> {
        let Some(dir) = self.state_dir()? else {
            return Err(UserMistake::new(
                "`--no-state` keeps no records, so there are none to look at",
            )
            .into());
        };
        // A project's file has no say in what is looked at here, and its mistakes lock nobody out of the records.
        let config = config(self, None)?;
        let config = StoreConfig {
            dir,
            retention: retention(&config),
            redaction: secrets::redaction(self.environment, &config)?,
        };
        match Store::open(config.clone()) {
            // Who cannot write can still look.
            Err(error @ StoreError::Unwritable { .. }) => {
                Store::open_to_look(config).map_err(|_| error.into())
            }
            opened => Ok(opened?),
        }
    }
}

/// Reads the configuration, with that of a project where one is named.
fn config(invocation: &Invocation<'_>, project: Option<&Path>) -> anyhow::Result<Config> {
    let environment = invocation.environment;
    let user = environment.config_dir.as_ref().map(|dir| dir.join("config.toml"));
    let trust = environment.config_dir.as_ref().map(|dir| dir.join(files::TRUST_FILE));
    let mut flags = Flags::default();
    if let Some(preset) = invocation.global.preset {
        flags = flags.preset(preset.into());
    }
    let sources = Sources {
        user: user.as_deref(),
        project,
        trust: trust.as_deref(),
        environment: environment.settings().map_err(UserMistake::from)?,
        flags,
    };
    let door = |path: &Path| files::read(path, project);
    Ok(Config::load(&sources, &door).map_err(UserMistake::from)?)
}

/// Returns the real path of the project: the first root.
pub(crate) fn project(roots: &[Root]) -> anyhow::Result<PathBuf> {
    let first = &roots.first().context("there is always a first root")?.path;
    let path = files::real_path(first);
    let path = path.and_then(|path| files::can_enter(&path).map(|()| path));
    path.map_err(|error| {
        UserMistake::new(format!("root `{}` cannot be used: {error}", first.display())).into()
    })
}

/// Puts the parts together for a command that makes calls.
pub(crate) fn open(invocation: &Invocation<'_>) -> anyhow::Result<Haft> {
    Ok(with_remarks(invocation, assemble(invocation)?))
}

/// Puts the parts together for a command that makes calls, and returns the configuration with them.
pub(crate) fn open_with_config(invocation: &Invocation<'_>) -> anyhow::Result<(Haft, Config)> {
    let assembled = assemble(invocation)?;
    let config = assembled.config.clone();
    Ok((with_remarks(invocation, assembled), config))
}

/// Puts the parts together for a command that makes no calls, so that a mistake in the project's file is a remark.
pub(crate) fn open_to_look(invocation: &Invocation<'_>) -> anyhow::Result<Haft> {
    let (assembled, mistakes) = assemble_in_part(invocation);
    let mut mistakes = mistakes.into_iter();
    match (assembled, mistakes.next(), mistakes.next()) {
        (Some(assembled), None, _) => Ok(with_remarks(invocation, assembled)),
        (Some(assembled), Some(mistake), None) => {
            let text = format!("the project's is not followed: {mistake:#}");
            invocation.printer.aside(Tone::Bad, "config", &text);
            Ok(with_remarks(invocation, assembled))
        }
        (_, Some(mistake), _) => Err(mistake),
        (None, None, _) => assemble(invocation).map(|it| it.haft),
    }
}

fn with_remarks(invocation: &Invocation<'_>, assembled: Assembled) -> Haft {
    invocation.remark_on_root(&assembled.roots);
    for dropped in assembled.config.dropped() {
        invocation.printer.aside(Tone::Warn, "config", &dropped.to_string());
    }
    for remark in remarks(&assembled) {
        invocation.printer.aside(Tone::Warn, "config", &remark);
    }
    for repaired in assembled.haft.repaired() {
        invocation.printer.aside(Tone::Warn, "repaired", &repaired.notice().text);
    }
    assembled.haft
}

/// Returns what may not be what was meant: rules that name no tool there is, and a project's file further up.
pub(crate) fn remarks(assembled: &Assembled) -> Vec<String> {
    let snapshot = assembled.haft.registry().snapshot();
    // A rule about the tool behind an alias is about the alias too.
    let names: Vec<_> = snapshot
        .tools()
        .flat_map(|it| it.alias_of.clone().into_iter().chain([it.descriptor.name().clone()]))
        .collect();
    let idle = assembled.haft.policy().idle_rules(&names);
    let mut remarks: Vec<String> = idle
        .iter()
        .map(|rule| format!("the rule `{rule}` ({}) names no tool there is", rule.origin()))
        .collect();
    let first = assembled.roots.first();
    if let Some((above, is_same_user)) = first.and_then(|it| files::project_above(&it.path)) {
        let above = above.display();
        let way = if is_same_user {
            format!(": call from there, or with `--root {above}`")
        } else {
            ", for they belong to somebody else".to_owned()
        };
        remarks.push(format!("`{above}` has rules of its own, which are not in force here{way}"));
    }
    remarks
}

/// Puts the parts together, with what there is to say about them.
pub(crate) fn assemble(invocation: &Invocation<'_>) -> anyhow::Result<Assembled> {
    let project = project(&invocation.roots()?)?;
    assemble_from(invocation, config(invocation, Some(&project))?)
}

/// Puts together what can be, for a command that makes no calls: without the project's configuration where it is
/// mistaken, without any where the user's is. The mistakes on the way come with it, one for each step.
pub(crate) fn assemble_in_part(
    invocation: &Invocation<'_>,
) -> (Option<Assembled>, Vec<anyhow::Error>) {
    let steps: [&dyn Fn() -> anyhow::Result<Assembled>; 3] = [
        &|| assemble(invocation),
        &|| assemble_from(invocation, config(invocation, None)?),
        &|| assemble_from(invocation, Config::default()),
    ];
    let mut mistakes = Vec::new();
    for step in steps {
        match step() {
            Ok(assembled) => return (Some(assembled), mistakes),
            Err(fault) if !fault.is::<UserMistake>() => {
                mistakes.push(fault);
                break;
            }
            Err(mistake) => mistakes.push(mistake),
        }
    }
    (None, mistakes)
}

fn assemble_from(invocation: &Invocation<'_>, config: Config) -> anyhow::Result<Assembled> {
    let mut roots = invocation.roots()?;
    let configured = config.further_roots.iter().cloned();
    roots.extend(configured.map(|path| Root { path, why: Why::Configured }));

    let Config { protection, limits, .. } = &config;
    let protection = Protection::extended(&protection.extra, &protection.except)
        .map_err(|error| UserMistake::new(with_causes(&error)))?;
    let state = match (invocation.records, invocation.state_dir()?) {
        (Records::LeftAlone, _) | (Records::Opened, None) => State::None,
        (Records::Opened, Some(dir)) => State::Directory(StoreConfig {
            dir,
            retention: retention(&config),
            redaction: secrets::redaction(invocation.environment, &config)?,
        }),
    };
    let mut builder = invocation
        .with_own_directories(Haft::builder())
        .protection(protection)
        .state(state)
        .approver(approver(invocation))
        .toolset(invocation.global.toolset.unwrap_or_default().into())
        .bash(bash(invocation.environment, &config))
        .limits(dispatch_limits(&config))
        .budgets(limits.calls_per_step, limits.calls_per_run);
    for root in &roots {
        builder = builder.root(&root.path);
    }
    for (name, entry) in &config.aliases {
        let mut alias = Alias::new(name.clone());
        alias.fixed.clone_from(&entry.arguments);
        alias.description.clone_from(&entry.description);
        builder = builder.alias(alias, &entry.tool);
    }
    // The patterns of rules name roots as the workspace opened them, so the policy comes after.
    let yes = invocation.global.yes;
    let haft = builder
        .open_with(|workspace| {
            let roots: Vec<LogicalPath> = workspace.full_names().collect();
            config.policy(&roots, yes)
        })
        .map_err(|error| match error {
            haft::OpenWithError::Open(error @ OpenError::Alias { .. }) => of_alias(&error, &config),
            haft::OpenWithError::Open(error) => UserMistake::from(error),
            haft::OpenWithError::Policy(error) => UserMistake::from(error),
        })?;
    tracing::debug!(roots = ?haft.workspace(), policy = %haft.policy().digest(), "assembled");
    let about_config = about(&config, invocation);
    Ok(Assembled { haft, roots, config, about_config })
}

/// Says where an alias that cannot be shown is written.
fn of_alias(error: &OpenError, config: &Config) -> UserMistake {
    let text = with_causes(error);
    let place = match error {
        OpenError::Alias { name, .. } => config.aliases.get(name).map(|it| it.origin.to_string()),
        _ => None,
    };
    UserMistake::new(match place {
        Some(place) => format!("{place}: {text}"),
        None => text,
    })
}

fn approver(invocation: &Invocation<'_>) -> Arc<dyn Approver> {
    match invocation.asked {
        Asked::TheClient => Arc::new(AskTheClient),
        Asked::AtTheTerminal | Asked::DuringARun => {
            let progress = Arc::clone(&invocation.progress);
            let json = invocation.global.json;
            let approver = TerminalApprover::new(invocation.user(), json, progress)
                .with_agreed(invocation.agreed.clone());
            if invocation.asked == Asked::DuringARun {
                let dir = invocation.environment.config_dir.as_ref();
                Arc::new(approver.during_a_run(dir.map(|dir| dir.join("config.toml"))))
            } else {
                Arc::new(approver)
            }
        }
    }
}

/// Makes the tool that runs commands.
pub(crate) fn bash(environment: &Environment, config: &Config) -> Bash {
    let programs = &config.programs;
    let settings = BashSettings {
        sandbox: programs.sandbox,
        sandbox_at_least: programs.sandbox_at_least,
        read: programs.read.clone(),
        allowance: Allowance {
            memory_bytes: programs.memory_bytes,
            processes: programs.processes,
            file_bytes: programs.file_bytes,
        },
        file: config.user_place().map(ToOwned::to_owned),
        ..BashSettings::default()
    };
    let also = programs.environment.iter().map(String::as_str);
    let settings = settings.with_environment(environment.variables(), also);
    Bash::new(environment.launcher(), settings)
}

fn retention(config: &Config) -> Retention {
    let standard = Retention::default();
    let journal = &config.journal;
    Retention {
        days: u32::try_from(journal.retention_days)
            .ok()
            .and_then(NonZeroU32::new)
            .unwrap_or(standard.days),
        calls: NonZeroU64::new(journal.retention_calls).unwrap_or(standard.calls),
        artifact_bytes_total: NonZeroU64::new(journal.artifacts_bytes)
            .unwrap_or(standard.artifact_bytes_total),
        runs: NonZeroU64::new(journal.retention_runs).unwrap_or(standard.runs),
        run_bytes: NonZeroU64::new(journal.runs_bytes).unwrap_or(standard.run_bytes),
        ..standard
    }
}

fn dispatch_limits(config: &Config) -> DispatchLimits {
    let limits = &config.limits;
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    DispatchLimits {
        permits: count(limits.permits),
        acquire: Duration::from_millis(limits.acquire_ms),
        hook: Duration::from_millis(limits.hook_ms),
        approval: Duration::from_millis(limits.approval_ms),
        outcome_text_bytes: count(limits.outcome_text_bytes),
        ..DispatchLimits::default()
    }
}

fn about(config: &Config, invocation: &Invocation<'_>) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    match &invocation.environment.config_dir {
        Some(dir) => {
            let text = match config.user() {
                Some(file) => format!("yours: {}", file.display()),
                None => format!("yours: none; it would be {}", dir.join("config.toml").display()),
            };
            lines.push((Tone::Good, text));
        }
        None => lines.push((Tone::Warn, "yours: none, for HOME is not set".to_owned())),
    }
    match config.project() {
        None => lines.push((Tone::Good, "the project's: none".to_owned())),
        Some(file) if file.trusted => {
            lines.push((Tone::Good, format!("the project's, trusted: {}", file.path.display())));
        }
        Some(file) => {
            let text =
                format!("the project's, not trusted, so it only narrows: {}", file.path.display());
            lines.push((Tone::Warn, text));
        }
    }
    lines.extend(config.dropped().iter().map(|dropped| (Tone::Warn, dropped.to_string())));
    lines
}

/// Reads the configuration that counts in this workspace.
pub(crate) fn config_of_workspace(invocation: &Invocation<'_>) -> anyhow::Result<Config> {
    let project = project(&invocation.roots()?)?;
    config(invocation, Some(&project))
}
