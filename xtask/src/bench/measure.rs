//! One run of one program: how long it took, and the most memory it held.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4 as _;

/// A program with its arguments, and what shows that it did its work.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) label: &'static str,
    path: PathBuf,
    arguments: Vec<OsString>,
    working_folder: Option<PathBuf>,
    expected: Vec<String>,
    /// Bytes of source that it goes through, where that is what counts.
    pub(crate) source: Option<u64>,
}

/// What one run cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// From start to end.
    pub(crate) wall: Duration,
    /// Processor time, in the program and in the system for it.
    pub(crate) processor: Duration,
    /// The largest resident size.
    pub(crate) peak_bytes: u64,
}

impl Program {
    pub(crate) fn new(label: &'static str, path: PathBuf) -> Self {
        Self {
            label,
            path,
            arguments: Vec::new(),
            working_folder: None,
            expected: Vec::new(),
            source: None,
        }
    }

    pub(crate) fn arguments<T: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn working_folder(mut self, folder: PathBuf) -> Self {
        self.working_folder = Some(folder);
        self
    }

    /// Says how many bytes of source it goes through.
    pub(crate) fn goes_through(mut self, bytes: u64) -> Self {
        self.source = Some(bytes);
        self
    }

    /// Adds a text that the output must hold.
    pub(crate) fn expects(mut self, text: impl Into<String>) -> Self {
        self.expected.push(text.into());
        self
    }
}

/// Runs a program to its end, with its output and haft's state in the scratch folder.
///
/// # Errors
///
/// When it fails or its output lacks what was expected: a run that did not do the work has no
/// time worth printing.
pub(crate) fn measure(program: &Program, scratch: &Path) -> Result<Sample> {
    let written = scratch.join(format!("{}.out", program.label));
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).stdout(File::create(&written)?);
    command.stdin(Stdio::null());
    if let Some(folder) = &program.working_folder {
        command.current_dir(folder);
    }
    command.env("HAFT_STATE_DIR", scratch.join("state"));
    command.env("HAFT_CONFIG_DIR", scratch.join("config"));

    let start = Instant::now();
    let child =
        command.spawn().with_context(|| format!("cannot start {}", program.path.display()))?;
    let used = child.wait4().with_context(|| format!("cannot wait for {}", program.label))?;
    let wall = start.elapsed();

    if !used.status.success() {
        bail!("{} failed with {}", program.label, used.status);
    }
    let output = String::from_utf8_lossy(&fs::read(&written)?).into_owned();
    if let Some(text) = program.expected.iter().find(|text| !output.contains(text.as_str())) {
        bail!("{} did not print `{text}`", program.label);
    }
    let usage = used.rusage;
    Ok(Sample { wall, processor: usage.utime + usage.stime, peak_bytes: usage.maxrss })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_time_and_a_peak() {
        let scratch = tempfile::tempdir().unwrap();
        let echo = Program::new("echo", "echo".into()).arguments(["one"]).expects("one");
        let sample = measure(&echo, scratch.path()).unwrap();
        assert!(sample.wall > Duration::ZERO);
        assert!(sample.peak_bytes > 0);
    }

    #[test]
    fn a_run_that_did_not_do_its_work_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        let lying = Program::new("lying", "echo".into()).expects("one");
        let error = measure(&lying, scratch.path()).unwrap_err().to_string();
        assert_eq!(error, "lying did not print `one`");
        let failing = Program::new("failing", "false".into());
        assert!(measure(&failing, scratch.path()).is_err());
    }
}
