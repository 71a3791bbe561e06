//! What runs commands.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::helper::Helper;
use crate::leash::Leash;
use crate::report::{HelperState, LevelReport};
use crate::scratch::Private;
use crate::supervise::{Limits, Running, supervise};
use crate::wire::{FRAME_BYTES, Order};
use crate::{Command, Finished, LaunchError, Report, SandboxLevel, plain, platform};

/// What runs commands. A clone shares what was found about the levels.
#[derive(Debug, Clone)]
pub struct Launcher(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    helper: Option<Helper>,
    scratch: PathBuf,
    /// What was found about the levels that take a trial.
    group: OnceLock<Result<LevelReport, String>>,
    files: OnceLock<LevelReport>,
    files_net: OnceLock<LevelReport>,
}

impl Launcher {
    /// Makes a launcher that puts temporary files and directories into `scratch`.
    ///
    /// Without a helper, level `group` is the most that can be reached.
    pub fn new(helper: Option<Helper>, scratch: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner {
            helper,
            scratch: scratch.into(),
            group: OnceLock::new(),
            files: OnceLock::new(),
            files_net: OnceLock::new(),
        }))
    }

    /// Tries every level, or says what was found before. Blocks for some tens of milliseconds.
    pub fn self_test(&self) -> Report {
        let helper = match self.0.helped_group() {
            Ok(_) => HelperState::Works,
            Err(_) if self.0.helper.is_none() => HelperState::Absent,
            Err(problem) => HelperState::Fails { problem: problem.clone() },
        };
        let levels = SandboxLevel::ALL.into_iter().map(|level| self.0.about(level)).collect();
        Report { helper, levels }
    }

    /// Runs a command to its end, until it runs out of time, or until `stop` is ready.
    ///
    /// # Errors
    ///
    /// Fails when the command was not started. A command that was started is no error, however it ended, unless the
    /// helper was lost before it could say so.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the command is stopped as by `stop`, on a thread that does not need the runtime.
    pub async fn run(
        &self,
        command: Command,
        stop: impl Future<Output = ()>,
    ) -> Result<Finished, LaunchError> {
        let (leash, held) = Leash::new().map_err(LaunchError::system("make a pipe"))?;
        let (done, ended) = tokio::sync::oneshot::channel();
        let launcher = self.clone();
        let watch = move || {
            let _ = done.send(launcher.run_here(command, &held));
        };
        thread::Builder::new()
            .name("haft-process".to_owned())
            .spawn(watch)
            .map_err(LaunchError::system("start a thread"))?;
        let stopped = async {
            stop.await;
            leash.stop();
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            ended = ended => ended.unwrap_or_else(|_| {
                let lost = io::Error::other("the thread that watched it is gone");
                Err(LaunchError::system("watch the command")(lost))
            }),
            never = stopped => match never {},
        }
    }

    fn run_here(&self, command: Command, leash: &OwnedFd) -> Result<Finished, LaunchError> {
        check(&command)?;
        let Command { argv, directory, mut env, timeout, grace, sandbox, allowance, capture } =
            command;
        let level = self.0.level(sandbox.level, sandbox.at_least)?;
        let private = if sandbox.private_home {
            let made = Private::new(&self.0.scratch);
            Some(made.map_err(|source| LaunchError::Scratch { source })?)
        } else {
            None
        };
        if let Some(private) = &private {
            env.retain(|(name, _)| name != "HOME" && name != "TMPDIR");
            let path = private.path().as_os_str();
            env.extend(["HOME", "TMPDIR"].map(|name| (name.into(), path.to_owned())));
        }
        let private = private.as_ref().map(|it| it.path().to_owned());
        let order = Order { level, argv, env, read: sandbox.read, private, grace, allowance };
        let running = self.0.launch(&order, directory, &sandbox.write)?;
        let limits = Limits { timeout, grace, capture, scratch: &self.0.scratch };
        supervise(running, &limits, leash)
    }
}

impl Inner {
    /// Returns the strongest level that works, up to one and not below another.
    fn level(&self, most: SandboxLevel, least: SandboxLevel) -> Result<SandboxLevel, LaunchError> {
        let most = most.max(least);
        let levels = SandboxLevel::ALL.into_iter().rev().filter(|level| *level <= most);
        let mut why = String::new();
        for level in levels {
            match self.about(level).problem {
                None if level >= least => return Ok(level),
                None => {
                    return Err(LaunchError::LevelUnavailable { wanted: least, best: level, why });
                }
                Some(problem) => why = problem,
            }
        }
        Err(LaunchError::LevelUnavailable { wanted: least, best: SandboxLevel::None, why })
    }

    /// Returns what was found about a level, which may take a trial.
    fn about(&self, level: SandboxLevel) -> LevelReport {
        let found = match level {
            SandboxLevel::None => return LevelReport::without_trial(level, None),
            SandboxLevel::Group => {
                // Without the helper it works too, and every result says how well.
                let helped = self.helped_group().clone();
                return helped.unwrap_or_else(|_| LevelReport::without_trial(level, None));
            }
            SandboxLevel::Files => &self.files,
            SandboxLevel::FilesNet => &self.files_net,
        };
        let try_it = || {
            let tried = self.trial(level);
            tried.unwrap_or_else(|problem| LevelReport::without_trial(level, Some(problem)))
        };
        found.get_or_init(try_it).clone()
    }

    /// Returns what came of the trial of level `group` with the helper.
    fn helped_group(&self) -> &Result<LevelReport, String> {
        self.group.get_or_init(|| self.trial(SandboxLevel::Group))
    }

    /// Starts the helper's trials under a level and reads what came of them.
    fn trial(&self, level: SandboxLevel) -> Result<LevelReport, String> {
        let Some(helper) = &self.helper else {
            return Err("there is no helper: the program did not call \
                 `haft_process::helper::run_if_requested` first"
                .to_owned());
        };
        let tried =
            platform::trial(helper, level, &self.scratch).map_err(|error| error.to_string());
        if let Ok(LevelReport { problem: Some(problem), .. }) | Err(problem) = &tried {
            tracing::warn!(%level, %problem, "a sandbox level does not work here");
        }
        tried
    }

    /// Returns the helper, if it does its work at a level.
    fn usable_helper(&self, level: SandboxLevel) -> Option<&Helper> {
        let is_usable = match level {
            SandboxLevel::None => false,
            SandboxLevel::Group => self.helped_group().is_ok(),
            // The level was tried with it.
            SandboxLevel::Files | SandboxLevel::FilesNet => true,
        };
        self.helper.as_ref().filter(|_| is_usable)
    }

    fn launch(
        &self,
        order: &Order,
        directory: OwnedFd,
        write: &[OwnedFd],
    ) -> Result<Running, LaunchError> {
        let Some(helper) = self.usable_helper(order.level) else {
            return plain::start(order, directory);
        };
        let mut handles: Vec<BorrowedFd<'_>> = vec![directory.as_fd()];
        handles.extend(write.iter().map(OwnedFd::as_fd));
        platform::start(helper, order, &handles)
    }
}

/// Refuses what no program can be given.
fn check(command: &Command) -> Result<(), LaunchError> {
    if command.argv.first().is_none_or(|program| program.is_empty()) {
        return Err(LaunchError::NoProgram);
    }
    let refuse = |what, text: &OsStr, why| {
        let text = text.to_string_lossy();
        let text = haft_text::head(&text, 100).to_owned();
        Err(LaunchError::Unsuitable { what, text, why })
    };
    let nul = "it holds a NUL byte";
    let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
    if let Some(argument) = command.argv.iter().find(|it| has_nul(it)) {
        return refuse("the argument", argument, nul);
    }
    for (name, value) in &command.env {
        if name.is_empty() || name.as_encoded_bytes().contains(&b'=') {
            return refuse("the variable", name, "a name is not empty and has no `=` in it");
        }
        if has_nul(name) || has_nul(value) {
            return refuse("the variable", name, nul);
        }
    }
    let texts =
        command.argv.iter().chain(command.env.iter().flat_map(|(name, value)| [name, value]));
    let bytes: usize = texts.map(|text| text.len() + 8).sum();
    if bytes > FRAME_BYTES / 2 { Err(LaunchError::TooLong { bytes }) } else { Ok(()) }
}
