//! Starting a checker, and how that went.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use haft_process::{Capture, Command, End, Finished, LaunchError, Sandbox, SandboxLevel};
use haft_protocol::{ErrorKind, Failure, limits};
use haft_text::visible;
use haft_tool::{Call, blocking};
use haft_workspace::{PathError, Resolved, View, WorkspaceCall};

use super::choice::Target;
use super::{Checker, CodeCheck, Diagnostic};
use crate::bash::BashSettings;
use crate::words::grouped;

/// What came of asking a checker.
#[derive(Debug)]
pub(super) enum Checked {
    /// It ran to its end.
    Done {
        diagnostics: Vec<Diagnostic>,
        /// The absolute path of the directory that relative paths begin in.
        base: Option<String>,
        /// Why what was found may not be all.
        problem: Option<String>,
        level: SandboxLevel,
    },
    /// It cannot be started here.
    Unavailable { why: String, hints: Vec<String> },
    /// It did not do its work.
    Broken { why: String, hints: Vec<String> },
}

/// How long a checker may take to end once it is asked to.
const GRACE: Duration = Duration::from_millis(600);

/// How long asking for the root of a package may take.
const LOCATE: Duration = Duration::from_secs(10);

/// What programs say where they, or parts of them, are not installed.
const NOT_INSTALLED: &[&str] =
    &["no such command", "is not installed", "rustup could not choose a version"];

/// Lines of a checker's complaint that are shown.
const LINES: usize = 20;

impl CodeCheck {
    /// Asks a checker.
    pub(super) async fn check(
        &self,
        call: &Call,
        view: &View,
        place: &Arc<Resolved>,
        target: &Target,
    ) -> Result<Checked, Failure> {
        let checker = target.checker;
        let mut argv: Vec<OsString> = checker.command().iter().map(Into::into).collect();
        let mut base = None;
        if checker.takes_paths() {
            argv.push(argument(place).into());
        } else {
            let ask =
                ["cargo", "locate-project", "--workspace", "--message-format=plain", "--offline"];
            let ask = ask.map(OsString::from).to_vec();
            match self.launch(call, view, target, ask, LOCATE).await? {
                Ok(finished) if finished.end.is_success() => {
                    let said = finished.stdout.kept().head;
                    base = said.trim_end().strip_suffix("/Cargo.toml").map(ToOwned::to_owned);
                }
                Ok(finished) => return Ok(complaint(checker, &finished, &self.settings)),
                Err(error) => return not_started(checker, &error, &self.settings),
            }
        }
        let most = Duration::from_millis(limits::CODE_CHECK_MS.into());
        let finished = match self.launch(call, view, target, argv, most).await? {
            Ok(finished) => finished,
            Err(error) => return not_started(checker, &error, &self.settings),
        };
        let settings = self.settings.clone();
        Ok(blocking(move || read(checker, base, &finished, &settings)).await)
    }

    async fn launch(
        &self,
        call: &Call,
        view: &View,
        target: &Target,
        argv: Vec<OsString>,
        timeout: Duration,
    ) -> Result<Result<Finished, LaunchError>, Failure> {
        let (view, directory) = (view.clone(), target.directory.clone());
        // A checker that runs nothing of the project has nothing to write.
        let writes = target.checker.runs_project_code();
        let roots = if writes { call.places("workspace")? } else { Vec::new() };
        let mut read = self.settings.read.clone();
        if !writes {
            read.extend(view.real_roots());
        }
        let opened = blocking(move || {
            let roots: Result<Vec<OwnedFd>, _> =
                roots.iter().map(|root| view.directory(root)).collect();
            Ok::<_, PathError>((view.directory(&directory)?, roots?))
        });
        let (directory, write) = opened.await?;
        let settings = &self.settings;
        let mut command = Command::of(argv, directory);
        command.env = settings.env();
        command.timeout = timeout;
        command.grace = GRACE;
        command.sandbox = Sandbox {
            level: settings.sandbox,
            at_least: settings.sandbox_at_least,
            write,
            read,
            private_home: true,
        };
        command.allowance = settings.allowance;
        command.capture = Capture { spool: limits::CODE_CHECK_BYTES, ..Capture::default() };
        let stop = call.cancellation().clone();
        Ok(self.launcher.run(command, async move { stop.cancelled().await }).await)
    }
}

/// Writes a path as a checker takes it. What begins a name, such as `@` or `-`, must mean nothing to it.
fn argument(place: &Resolved) -> String {
    match place.logical().as_str() {
        path if path == "." || path.starts_with('/') => path.to_owned(),
        path => format!("./{path}"),
    }
}

/// Reads what a checker wrote, once it ended.
fn read(
    checker: Checker,
    base: Option<String>,
    finished: &Finished,
    settings: &BashSettings,
) -> Checked {
    let program = program(checker);
    let broken = |why: String| Checked::Broken { why, hints: Vec::new() };
    match finished.end {
        End::Exited(_) => {}
        End::TimedOut => {
            let limit = grouped(limits::CODE_CHECK_MS.into());
            return broken(format!("`{program}` was stopped after {limit} ms: it ran out of time"));
        }
        End::Stopped => return broken(format!("`{program}` was stopped: the call was called off")),
        End::Signalled(signal) => {
            return broken(format!("`{program}` was ended by signal {signal}"));
        }
    }
    let bytes = match finished.stdout.bytes() {
        Ok(bytes) => bytes,
        Err(error) => return broken(format!("what `{program}` wrote was lost: {error}")),
    };
    if (bytes.len() as u64) < finished.stdout.total() {
        let (total, read) = (grouped(finished.stdout.total()), grouped(bytes.len() as u64));
        let why = format!("`{program}` wrote {total} bytes, and {read} are read at most");
        let hints = vec!["set \"path\" to a part of the project".to_owned()];
        return Checked::Broken { why, hints };
    }
    let is_done =
        matches!((checker, finished.end), (_, End::Exited(0)) | (Checker::Ruff, End::Exited(1)));
    let diagnostics = match checker.read(&bytes) {
        Ok(diagnostics) => diagnostics,
        Err(_) if !is_done => return complaint(checker, finished, settings),
        Err(error) => return broken(error.to_string()),
    };
    // Cargo ends in the same way whether the code is wrong or it could not look at the code.
    let has_errors = diagnostics.iter().any(|it| it.severity == super::Severity::Error);
    let explains = checker.runs_project_code() && has_errors;
    if is_done || explains {
        return Checked::Done { diagnostics, base, problem: None, level: finished.level };
    }
    match complaint(checker, finished, settings) {
        Checked::Broken { why, .. } if !diagnostics.is_empty() => {
            Checked::Done { diagnostics, base, problem: Some(why), level: finished.level }
        }
        complaint => complaint,
    }
}

/// Says what a checker complained of.
fn complaint(checker: Checker, finished: &Finished, settings: &BashSettings) -> Checked {
    let kept = finished.stderr.kept();
    let said = if kept.tail.is_empty() { &kept.head } else { &kept.tail };
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n");
    let last = visible(&last);
    if NOT_INSTALLED.iter().any(|words| last.contains(words)) {
        let why = format!("`{}` cannot be used here:\n{last}", program(checker));
        let hints = vec![checker.how_to_get().to_owned(), programs_hint(checker, settings)];
        return Checked::Unavailable { why, hints };
    }
    let end = match finished.end {
        End::Exited(code) => format!("ended with status {code}"),
        _ => "was stopped".to_owned(),
    };
    let rest = if last.is_empty() { String::new() } else { format!(":\n{last}") };
    let hints = if last.contains("offline") || finished.likely_confined().is_some() {
        vec![programs_hint(checker, settings)]
    } else {
        Vec::new()
    };
    Checked::Broken { why: format!("`{}` {end}{rest}", program(checker)), hints }
}

/// Tells a checker that is not there from a machine that starts nothing.
fn not_started(
    checker: Checker,
    error: &LaunchError,
    settings: &BashSettings,
) -> Result<Checked, Failure> {
    tracing::debug!(%error, ?error, "a checker was not started");
    let get = checker.how_to_get().to_owned();
    let hints = match error {
        LaunchError::ProgramMissing { .. } | LaunchError::InterpreterMissing { .. } => vec![get],
        LaunchError::ProgramRefused { program, .. } if program.contains('/') => {
            vec![settings.program_hint(program)]
        }
        LaunchError::ProgramRefused { .. } => vec![programs_hint(checker, settings)],
        LaunchError::LevelUnavailable { .. } => {
            return Err(Failure::new(ErrorKind::Unsupported, format!("nothing was run: {error}"))
                .hint(settings.level_hint()));
        }
        _ => {
            return Err(Failure::new(ErrorKind::Upstream, format!("nothing was run: {error}")));
        }
    };
    Ok(Checked::Unavailable { why: error.to_string(), hints })
}

/// Says how a person lets a checker find what it needs.
fn programs_hint(checker: Checker, settings: &BashSettings) -> String {
    if checker.runs_project_code() { settings.rust_hint() } else { settings.read_hint() }
}

fn program(checker: Checker) -> &'static str {
    match checker {
        Checker::Ruff => "ruff",
        Checker::CargoCheck => "cargo check",
        Checker::CargoClippy => "cargo clippy",
    }
}
