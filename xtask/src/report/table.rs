//! What all trials came to.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Arguments;
use super::server::MODEL;
use super::tasks::Task;
use super::trial::Trial;

/// Every trial of one session.
pub(super) struct Report {
    context: u32,
    threads: u16,
    /// How much ran beside it when it began.
    load: String,
    rows: Vec<(&'static str, Vec<Trial>)>,
}

/// The trials of one task, added up.
#[derive(Default)]
struct Sum {
    done: usize,
    requests: u64,
    input: u64,
    output: u64,
    calls: u64,
    failures: BTreeMap<String, u64>,
    seconds: f64,
}

impl Report {
    pub(super) fn new(arguments: &Arguments, load: String) -> Self {
        let Arguments { context, threads, .. } = *arguments;
        Self { context, threads, load, rows: Vec::new() }
    }

    pub(super) fn add(&mut self, task: &'static Task, trial: Trial) {
        match self.rows.last_mut() {
            Some((name, trials)) if *name == task.name => trials.push(trial),
            _ => self.rows.push((task.name, vec![trial])),
        }
    }

    pub(super) fn print(&self) {
        let Self { context, threads, load, .. } = self;
        println!("{MODEL}, {context} tokens, {threads} threads, load {load} before\n");
        println!(
            "{:<6} {:>6} {:>9} {:>10} {:>10} {:>6} {:>8}  failed calls",
            "task", "done", "requests", "tokens in", "tokens out", "calls", "seconds"
        );
        for (name, trials) in &self.rows {
            let sum = Sum::of(trials);
            let failures: Vec<String> =
                sum.failures.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            println!(
                "{name:<6} {:>6} {:>9} {:>10} {:>10} {:>6} {:>8.0}  {}",
                format!("{}/{}", sum.done, trials.len()),
                sum.requests,
                sum.input,
                sum.output,
                sum.calls,
                sum.seconds,
                failures.join(", ")
            );
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|(name, trials)| {
            let sum = Sum::of(trials);
            let trials: Vec<Value> = trials.iter().map(Trial::to_json).collect();
            json!({
                "task": name, "done": sum.done, "trials": trials, "requests": sum.requests,
                "input_tokens": sum.input, "output_tokens": sum.output, "calls": sum.calls,
                "failures": sum.failures, "seconds": sum.seconds,
            })
        });
        json!({
            "model": MODEL, "context_tokens": self.context, "threads": self.threads,
            "load_before": self.load, "tasks": rows.collect::<Vec<_>>(),
        })
    }
}

impl Sum {
    fn of(trials: &[Trial]) -> Self {
        let mut sum = Self::default();
        for trial in trials {
            sum.done += usize::from(trial.is_done);
            sum.requests += trial.usage.requests;
            sum.input += trial.usage.input;
            sum.output += trial.usage.output;
            sum.calls += trial.calls;
            sum.seconds += trial.time.as_secs_f64();
            for (kind, count) in &trial.failures {
                *sum.failures.entry(kind.clone()).or_default() += count;
            }
        }
        sum
    }
}

impl Trial {
    fn to_json(&self) -> Value {
        json!({
            "done": self.is_done, "requests": self.usage.requests, "input_tokens": self.usage.input,
            "output_tokens": self.usage.output, "calls": self.calls, "failures": self.failures,
            "seconds": self.time.as_secs_f64(), "stop": self.stop, "said": self.said,
        })
    }
}
