//! Running a page.

#![expect(
    clippy::disallowed_methods,
    reason = "pages prepare and check the files of a throw-away workspace"
)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use haft::coding::{Bash, BashSettings};
use haft::config::{Config, Sources};
use haft::policy::Policy;
use haft::ports::Effects as _;
use haft::process::{Launcher, SandboxLevel};
use haft::{Haft, Outcome, State, Status};
use tempfile::TempDir;

use super::fence::{Fence, FenceKind, PageError, fences, unescape};

/// The configuration file of a page's rules.
const RULES_FILE: &str = "rules.toml";

/// What stands for the id of the latest call that changed a file.
const LATEST: &str = "LATEST";

/// Runs a page and returns it with its outcomes as they are now. Programs run at level `group`, which every system has,
/// so that what a page shows is the same everywhere.
///
/// # Errors
///
/// Fails when the page is not in the one form or cannot be run.
pub async fn run_page(page: &str, launcher: &Launcher) -> Result<String, PageError> {
    let fences = fences(page)?;
    let mut lines: Vec<String> = page.lines().map(ToOwned::to_owned).collect();
    let mut house = House::new(launcher)?;
    let mut last: Option<(usize, Outcome)> = None;
    // What is written into the page later moves what stands below it, so the page is changed from the bottom up.
    let mut changes: Vec<(Fence, String)> = Vec::new();
    for fence in fences {
        let error = |text: String| PageError { line: fence.line, text };
        if !matches!(fence.kind, FenceKind::Outcome) {
            must_be_ok(last.take())?;
        }
        match &fence.kind {
            FenceKind::Fresh => house = House::new(launcher)?,
            FenceKind::File { path, escaped } => {
                let bytes = if *escaped {
                    unescape(&fence.text).map_err(error)?
                } else if fence.lines == 0 {
                    Vec::new()
                } else {
                    format!("{}\n", fence.text).into_bytes()
                };
                house.write(path, &bytes).map_err(error)?;
            }
            FenceKind::Rules => house.rule(&fence.text),
            FenceKind::Call { tool } => {
                let outcome = house.call(tool, &fence.text).await.map_err(error)?;
                last = Some((fence.line, outcome));
            }
            FenceKind::Outcome => {
                let Some((_, outcome)) = last.take() else {
                    return Err(error("there is no call above this outcome".to_owned()));
                };
                changes.push((fence, shown(&outcome)));
            }
            FenceKind::Bytes { path } => {
                let wanted = unescape(&fence.text).map_err(error)?;
                let found = fs::read(house.folder.path().join(path))
                    .map_err(|it| error(format!("`{path}`: {it}")))?;
                if wanted != found {
                    return Err(error(format!(
                        "`{path}` holds {:?}",
                        String::from_utf8_lossy(&found)
                    )));
                }
            }
        }
    }
    must_be_ok(last)?;
    for (fence, text) in changes.into_iter().rev() {
        let body = fence.line..fence.line + fence.lines;
        lines.splice(body, text.lines().map(ToOwned::to_owned));
    }
    let mut page = lines.join("\n");
    page.push('\n');
    Ok(page)
}

fn must_be_ok(last: Option<(usize, Outcome)>) -> Result<(), PageError> {
    match last {
        Some((line, outcome)) if !outcome.is_ok() => Err(PageError {
            line,
            text: format!("the call did not succeed: {}", outcome.model_text()),
        }),
        _ => Ok(()),
    }
}

/// Writes an outcome as a page has it: the status, then what a model reads.
fn shown(outcome: &Outcome) -> String {
    let mut text = outcome.status.as_str().to_owned();
    if let Status::Failed(failure) = &outcome.status {
        let _ = write!(text, " {}", failure.kind);
    }
    if let Status::Denied(denial) = &outcome.status {
        let _ = write!(text, " {}", denial.control);
    }
    format!("{text}\n{}", outcome.model_text())
}

/// The folder of a workspace whose files are programs, which are found before those of the machine.
const PROGRAMS: &str = "bin";

/// A throw-away workspace and the rules for it.
struct House {
    folder: TempDir,
    launcher: Launcher,
    rules: String,
    haft: Option<Haft>,
}

impl House {
    fn new(launcher: &Launcher) -> Result<Self, PageError> {
        let folder =
            TempDir::new().map_err(|error| PageError { line: 1, text: error.to_string() })?;
        let launcher = launcher.clone();
        Ok(Self { folder, launcher, rules: String::new(), haft: None })
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let is_program = Path::new(path).starts_with(PROGRAMS);
        let path = self.folder.path().join(path);
        let made = fs::create_dir_all(path.parent().unwrap_or(&path));
        let written = made.and_then(|()| fs::write(&path, bytes)).and_then(|()| {
            let mode = if is_program { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))
        });
        written.map_err(|error| error.to_string())
    }

    fn rule(&mut self, rules: &str) {
        rules.clone_into(&mut self.rules);
        self.haft = None;
    }

    fn policy(&self) -> Result<Policy, String> {
        let path = Path::new("/user").join(RULES_FILE);
        let sources = Sources { user: Some(&path), ..Sources::default() };
        let door = |_: &Path| Ok(Some(self.rules.clone().into_bytes()));
        let config = Config::load(&sources, &door).map_err(|error| error.to_string())?;
        config.policy(&[], false).map_err(|error| error.to_string())
    }

    fn bash(&self) -> Bash {
        let programs = self.folder.path().join(PROGRAMS);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
        let settings = BashSettings {
            sandbox: SandboxLevel::Group,
            environment: vec![("PATH".into(), path.into())],
            ..BashSettings::default()
        };
        Bash::new(self.launcher.clone(), settings)
    }

    async fn call(&mut self, tool: &str, arguments: &str) -> Result<Outcome, String> {
        let haft = match self.haft.take() {
            Some(haft) => haft,
            None => Haft::builder()
                .root(self.folder.path())
                .policy(self.policy()?)
                .state(State::Memory)
                .bash(self.bash())
                .open()
                .map_err(|error| error.to_string())?,
        };
        let haft = self.haft.insert(haft);
        let latest = || {
            let roots = haft.workspace().recorded_roots();
            let changed = haft.store()?.changed_calls(&roots, 1);
            Some(changed.ok()?.calls.pop()?.call.to_string())
        };
        let arguments = if arguments.contains(LATEST) {
            arguments.replace(LATEST, &latest().ok_or("no call changed anything yet")?)
        } else {
            arguments.to_owned()
        };
        Ok(haft.call(tool, arguments).await)
    }
}
