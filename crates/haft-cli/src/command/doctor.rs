//! `haft doctor`: check the set-up and say what each part stands on.

use clap::Args;
use serde_json::json;

use super::Invocation;
use super::state::{damaged, size};
use crate::assemble::{Assembled, assemble_in_part, remarks};
use crate::exit::Exit;
use crate::print::Tone;

/// Check the set-up and say what each part stands on
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {}

/// One line of the report.
struct Line {
    topic: &'static str,
    tone: Tone,
    text: String,
}

pub(crate) fn run(invocation: &Invocation<'_>, _: &DoctorArgs) -> anyhow::Result<Exit> {
    let (assembled, mistakes) = assemble_in_part(invocation);
    let mut lines = lines(assembled.as_ref(), &mistakes);
    if let Some(assembled) = &assembled {
        lines.push(sandbox(&invocation.environment.launcher().self_test(), assembled));
        lines.push(allowance(assembled));
    }
    let printer = invocation.printer;
    let exit =
        if lines.iter().any(|line| line.tone == Tone::Bad) { Exit::Failed } else { Exit::Ok };
    if printer.is_json() {
        let rows: Vec<_> = lines
            .iter()
            .map(|line| {
                let level = match line.tone {
                    Tone::Bad => "bad",
                    Tone::Warn => "warn",
                    _ => "ok",
                };
                json!({ "topic": line.topic, "level": level, "text": line.text })
            })
            .collect();
        return printer.envelope(exit, json!({ "lines": rows }));
    }
    let mut topic = "";
    for line in &lines {
        let label = if topic == line.topic { "" } else { line.topic };
        topic = line.topic;
        let mark = match line.tone {
            Tone::Bad => "bad  ",
            Tone::Warn => "note ",
            _ => "ok   ",
        };
        let words = [(Tone::Strong, &*format!("{label:<10}")), (line.tone, mark)];
        printer.entry(&words, (Tone::Plain, &line.text));
    }
    Ok(exit)
}

/// Says how far programs can be confined here, and whether that is as far as is wanted.
fn sandbox(report: &haft::process::Report, assembled: &Assembled) -> Line {
    let programs = &assembled.config.programs;
    let best = report.strongest();
    let tone = match best {
        best if best < programs.sandbox_at_least => Tone::Bad,
        best if best < programs.sandbox => Tone::Warn,
        _ => Tone::Good,
    };
    let tried = report.levels.iter().filter(|it| it.level == best).flat_map(|it| &it.trials);
    let (refused, all) = tried
        .fold((0, 0), |(refused, all), trial| (refused + usize::from(trial.is_refused), all + 1));
    let mut text = format!("level {best} works");
    if refused > 0 {
        text.push_str(&format!(": {refused} of {all} ways out were tried and closed"));
    }
    if let (true, Some((level, problem))) = (best < programs.sandbox, report.first_problem()) {
        text.push_str(&format!("; level {level} does not: {problem}"));
    }
    if best < programs.sandbox_at_least {
        text.push_str(&format!(
            "; `programs.sandbox_at_least` is {}, so no program is started",
            programs.sandbox_at_least
        ));
    }
    Line { topic: "sandbox", tone, text }
}

/// Says what programs may use up.
fn allowance(assembled: &Assembled) -> Line {
    let programs = &assembled.config.programs;
    let text = format!(
        "a file may grow to {}, a process have {} of memory to itself, and a command add {} processes to those that run; root is held to no number of processes",
        size(programs.file_bytes),
        size(programs.memory_bytes),
        programs.processes
    );
    Line { topic: "programs", tone: Tone::Good, text }
}

fn lines(assembled: Option<&Assembled>, mistakes: &[anyhow::Error]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut say = |topic, tone, text: String| lines.push(Line { topic, tone, text });
    say("haft", Tone::Good, format!("version {}", env!("CARGO_PKG_VERSION")));
    for root in assembled.iter().flat_map(|it| &it.roots) {
        say("roots", Tone::Good, format!("{}: {}", root.path.display(), root.why));
    }
    let mut said = String::new();
    for mistake in mistakes {
        // What follows the first line is an excerpt, which does not stand in a list.
        let text = format!("{mistake:#}").lines().next().unwrap_or_default().to_owned();
        if said != text {
            said.clone_from(&text);
            say("config", Tone::Bad, text);
        }
    }
    let Some(assembled) = assembled else { return lines };
    match mistakes.len() {
        0 => {
            for line in &assembled.about_config {
                say("config", line.0, line.1.clone());
            }
        }
        1 => say("config", Tone::Warn, "what follows is without the project's".to_owned()),
        _ => say("config", Tone::Warn, "what follows is without any".to_owned()),
    }
    for preset in assembled.haft.policy().presets() {
        let rules = assembled.haft.policy().rules().count();
        let rules = format!("{rules} rule{}", if rules == 1 { "" } else { "s" });
        say("policy", Tone::Good, format!("preset {preset}, {rules}"));
    }
    for remark in remarks(assembled) {
        say("policy", Tone::Warn, remark);
    }
    for report in assembled.haft.dispatch().ports().report() {
        let tone = if report.is_none { Tone::Warn } else { Tone::Good };
        say("ports", tone, format!("{}: {}", report.port, report.behind));
    }
    if let Some(Ok(usage)) = assembled.haft.store().map(haft::store::Store::usage)
        && let Some(log) = &usage.damaged_log
    {
        say("records", Tone::Bad, damaged(log));
    }
    let tools = assembled.haft.registry().snapshot();
    let names: Vec<&str> = tools.tools().map(|it| it.wire.as_str()).collect();
    say("tools", Tone::Good, names.join(", "));
    lines
}
