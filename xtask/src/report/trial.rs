//! One run of haft on one task.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::server::MODEL;
use super::tasks::Task;

/// How every run is begun: tools named by verbs, and nobody asked.
const OPTIONS: &[&str] = &["--json", "--yes", "--toolset", "verbs"];

/// Requests of one run, and its time.
const BOUNDS: &[&str] = &["--max-turns", "12", "--max-time", "10m"];

/// What trials have in common.
pub(super) struct Bench<'a> {
    haft: PathBuf,
    folder: PathBuf,
    /// Where the events of each run are kept.
    kept: PathBuf,
    /// Where the model is asked.
    url: String,
    options: &'a [String],
}

/// What came of a trial.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    pub(crate) is_done: bool,
    pub(crate) usage: Counts,
    pub(crate) calls: u64,
    /// How often calls ended in each way that is not well.
    pub(crate) failures: BTreeMap<String, u64>,
    pub(crate) time: Duration,
    /// Why the run stopped.
    pub(crate) stop: String,
    /// The last words.
    pub(crate) said: String,
}

/// What a model was asked and said.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        root: &Path,
        haft: PathBuf,
        url: String,
        options: &'a [String],
    ) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("haft-report-{}", std::process::id()));
        let kept = root.join("target/report");
        fs::create_dir_all(&kept).with_context(|| format!("no {}", kept.display()))?;
        Ok(Self { haft, folder, kept, url, options })
    }

    /// Makes a trial.
    pub(super) fn attempt(&self, task: &Task, number: u16) -> Result<Trial> {
        // What was here before is another trial's.
        let _ = fs::remove_dir_all(&self.folder);
        for name in ["ws", "config", "home"] {
            fs::create_dir_all(self.folder.join(name))?;
        }
        fs::write(self.folder.join("config/config.toml"), self.config())?;
        let set = (task.make)(usize::from(number));
        let workspace = self.folder.join("ws");
        set.lay_out(&workspace)?;

        let mut command = Command::new(&self.haft);
        command.args(OPTIONS).args(["run", "--model", &format!("box/{MODEL}")]).args(BOUNDS);
        command.args(["--tools", task.tools]).args(self.options).arg(&set.asked);
        command.current_dir(&workspace).env("HOME", self.folder.join("home"));
        command.env("HAFT_STATE_DIR", self.folder.join("state"));
        command.env("HAFT_CONFIG_DIR", self.folder.join("config"));
        command.env_remove("HAFT_MODEL").stdin(Stdio::null()).stderr(Stdio::inherit());
        let begun = Instant::now();
        let output = command.output().context("haft cannot be started")?;
        let time = begun.elapsed();
        fs::write(self.kept.join(format!("{}-{number}.jsonl", task.name)), &output.stdout)?;
        let mut trial = Trial::read(&String::from_utf8_lossy(&output.stdout))?;
        trial.time = time;
        trial.is_done = set.is_done(&workspace, &trial.said)?;
        Ok(trial)
    }

    fn config(&self) -> String {
        let url = &self.url;
        format!(
            "[models.box]\nprovider = \"llamacpp\"\nbase_url = \"{url}\"\ntemperature = 0\noutput_tokens = 512\n"
        )
    }
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        // What is left lies in a folder for what may be removed.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Trial {
    /// Reads what a run printed, a line of JSON for each event.
    fn read(printed: &str) -> Result<Self> {
        let (mut calls, mut failures) = (0, BTreeMap::new());
        let mut result = Value::Null;
        for line in printed.lines() {
            let event: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
            if event.get("event").is_none() {
                result = event;
            } else if event.get("event").and_then(Value::as_str) == Some("call_ended") {
                calls += 1;
                if let Some(how) = event.get("outcome").and_then(how_not_well) {
                    *failures.entry(how).or_default() += 1;
                }
            }
        }
        let text = |pointer| result.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let count = |pointer| result.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        let stop = match text("/data/stop/cause") {
            "" => text("/error/text"),
            cause => cause,
        };
        let usage = Counts {
            requests: count("/data/usage/requests"),
            input: count("/data/usage/input"),
            output: count("/data/usage/output"),
        };
        let (stop, said) = (stop.to_owned(), text("/data/text").to_owned());
        Ok(Self { usage, calls, failures, stop, said, ..Self::default() })
    }

    /// Says in a line what came of it.
    pub(super) fn line(&self) -> String {
        let how = if self.is_done { "done" } else { "not done" };
        let Counts { requests, .. } = self.usage;
        let said: String = self.said.split_whitespace().collect::<Vec<_>>().join(" ");
        let said: String = said.chars().take(100).collect();
        format!(
            "{how}, {requests} requests, {} calls, {:.0} s, {}: {said}",
            self.calls,
            self.time.as_secs_f64(),
            self.stop
        )
    }
}

/// Says in which way a call did not end well.
fn how_not_well(outcome: &Value) -> Option<String> {
    let text = |key| outcome.get(key).and_then(Value::as_str);
    match text("status")? {
        "ok" => None,
        "failed" => Some(text("kind").unwrap_or("failed").to_owned()),
        other => Some(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_read_from_the_events_of_its_run() {
        let printed = concat!(
            "{\"haft\":1,\"event\":\"call_ended\",\"outcome\":{\"status\":\"ok\"}}\n",
            "{\"haft\":1,\"event\":\"call_ended\",\"outcome\":{\"status\":\"failed\",\"kind\":\"not_found\"}}\n",
            "{\"haft\":1,\"data\":{\"text\":\"Done.\",\"stop\":{\"cause\":\"done\"},",
            "\"usage\":{\"requests\":3,\"input\":100,\"output\":9}}}\n",
        );
        let trial = Trial::read(printed).unwrap();
        assert_eq!((trial.calls, trial.usage.requests, trial.usage.input), (2, 3, 100));
        assert_eq!(trial.failures, BTreeMap::from([("not_found".to_owned(), 1)]));
        assert_eq!(trial.line(), "not done, 3 requests, 2 calls, 0 s, done: Done.");
    }
}
