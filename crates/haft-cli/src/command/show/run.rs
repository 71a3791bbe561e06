//! A run, entry by entry.

use haft::models::{ReplyPart, RunEntry, RunFacts, SectionRecord};
use haft::store::{RunState, RunSummary, Store};
use haft::{ContentPart, Outcome};
use serde_json::json;

use crate::command::runs::state;
use crate::exit::Exit;
use crate::print::{Printer, Tone};
use crate::when;
use crate::work::{Left, ending, estimated, said_of_call, usage};

/// Characters of a text that are shown; `--json` shows all.
const TEXT_CHARS: usize = 2_000;

/// Shows a run.
pub(super) fn show(printer: Printer, store: &Store, run: &RunSummary) -> anyhow::Result<Exit> {
    let record = store.runs().read(run.id)?;
    if printer.is_json() {
        let data = json!({
            "run": run, "entries": record.entries, "unreadable": record.unreadable,
        });
        return printer.envelope(Exit::Ok, data);
    }
    let field = |label: &str, text: &str| {
        printer.entry(&[(Tone::Faint, &format!("{label:<12}"))], (Tone::Plain, text));
    };
    let id = run.id.to_string();
    printer.line(&[(Tone::Strong, &id), (Tone::Plain, "  "), (Tone::Plain, &run.title)]);
    let (_, stands) = state(&run.state);
    let why = match &run.state {
        RunState::Running { pid, .. } => format!("{stands}: process {pid} has it open"),
        RunState::CutShort => format!("{stands}: its process ended without a word"),
        RunState::Stopped(cause) => match ending(cause, None, Left::default()).why {
            why if why.is_empty() || why == stands => stands.to_owned(),
            why => format!("{stands}: {why}"),
        },
    };
    field("status", &why);
    field("began", &when::show(run.at));
    field("last", &when::show(run.last_at));
    field("model", &run.model.to_string());
    field("preset", &run.preset);
    if let Some(root) = run.roots.first() {
        field("in", root);
    }
    if let Some((source, entries)) = &run.forked_from {
        field("forked", &format!("from run {source}, with {entries} of its entries"));
    }
    if let Some(parent) = &run.parent {
        let of = run.parent_run.map(|it| format!(" of run {}", it.short())).unwrap_or_default();
        field("begun by", &format!("call {}{of}", parent.short()));
    }
    if let Some(toolset) = &run.toolset {
        field("toolset", toolset);
    }
    if let Some(RunEntry::Began(RunFacts { tools, branch, within, .. })) = record.entries.first() {
        if let Some(tools) = tools {
            let all = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
            field("tools", &all);
        }
        if let Some(within) = within {
            field("within", within.as_str());
        }
        if let Some(branch) = branch {
            field("branch", &branch.to_string());
        }
    }
    for child in store.runs().beneath(run.id)? {
        let (_, stands) = state(&child.state);
        field("subagent", &format!("run {}, {stands}: {}", child.id.short(), child.title));
    }
    field("used", &usage(&run.usage));
    printer.line(&[(Tone::Plain, "")]);
    for (number, entry) in record.entries.iter().enumerate() {
        self::entry(printer, number + 1, entry);
    }
    if let Some(unreadable) = &record.unreadable {
        printer.aside(Tone::Bad, "record", &unreadable.to_string());
    }
    Ok(Exit::Ok)
}

fn entry(printer: Printer, number: usize, entry: &RunEntry) {
    let head = |label: &str| format!("{number:>4}  {label:<10}");
    let line = |label: &str, (tone, text): (Tone, &str)| {
        let label = head(label);
        printer.entry(&[(Tone::Faint, &label)], (tone, text));
    };
    match entry {
        RunEntry::Began(facts) => line("began", (Tone::Faint, &when::show(facts.at))),
        RunEntry::Said(said) => {
            text(printer, &head("you"), Tone::Strong, &of_parts(&said.content));
            for notice in &said.notices {
                line("told", (Tone::Faint, &notice.text));
            }
        }
        RunEntry::Asked { request, estimated_tokens, made_of, .. } => {
            let about = match estimated_tokens {
                0 => format!("request {request}"),
                tokens => format!("request {request}, about {tokens} tokens"),
            };
            line("asked", (Tone::Faint, &about));
            let sections: Vec<String> = made_of.iter().filter_map(section).collect();
            if !sections.is_empty() {
                let label = " ".repeat(16);
                printer.entry(&[(Tone::Faint, &label)], (Tone::Faint, &sections.join("; ")));
            }
        }
        RunEntry::Unanswered { kind, text: why, said, estimated: took, .. } => {
            line("no answer", (Tone::Bad, &format!("{kind}: {why}")));
            if let Some(took) = took {
                let label = " ".repeat(16);
                printer.entry(&[(Tone::Faint, &label)], (Tone::Faint, &estimated(took)));
            }
            if !said.trim().is_empty() {
                text(printer, &" ".repeat(16), Tone::Plain, said);
            }
        }
        RunEntry::Replied(reply) => {
            if reply.text().trim().is_empty() && reply.calls().next().is_none() {
                line("model", (Tone::Faint, "(empty reply)"));
            }
            let mut label = head("model");
            for part in &reply.parts {
                match part {
                    ReplyPart::Text { text: said, .. } if !said.trim().is_empty() => {
                        text(printer, &label, Tone::Plain, said);
                    }
                    ReplyPart::Reasoning { text: thought, .. } if !thought.trim().is_empty() => {
                        text(printer, &label, Tone::Faint, thought);
                    }
                    ReplyPart::Call(call) => {
                        let said = said_of_call(&call.arguments);
                        let words = [
                            (Tone::Faint, &*label),
                            (Tone::Faint, &*call.id.short()),
                            (Tone::Plain, "  "),
                            (Tone::Strong, &call.tool),
                            (Tone::Plain, " "),
                        ];
                        printer.entry(&words, (Tone::Plain, &said));
                    }
                    ReplyPart::Text { .. } | ReplyPart::Reasoning { .. } | ReplyPart::Opaque(_) => {
                        continue;
                    }
                }
                label = " ".repeat(16);
            }
        }
        RunEntry::Waits { call, .. } => line("waits", (Tone::Warn, &call.short())),
        RunEntry::MadeAgain { call, made_as } => {
            let text = format!("{} as {}", call.short(), made_as.short());
            line("again", (Tone::Warn, &text));
        }
        RunEntry::Ended { call, outcome } => {
            let tone = if outcome.is_ok() { Tone::Faint } else { Tone::Warn };
            line("ended", (tone, &format!("{}  {}", call.short(), first_line(outcome))));
        }
        RunEntry::Summarised(summary) => {
            let label = format!("{} earlier messages became: ", summary.entries);
            text(printer, &head("summary"), Tone::Faint, &format!("{label}{}", summary.text));
        }
        RunEntry::Stopped(stopped) => {
            let why = ending(&stopped.cause, None, Left::default()).why;
            let why = if why.is_empty() { "done".to_owned() } else { why };
            line("stopped", (Tone::Faint, &why));
        }
        RunEntry::Resumed { at } => line("resumed", (Tone::Faint, &when::show(*at))),
    }
}

/// Says what a section of a request showed, and what it did not.
fn section(record: &SectionRecord) -> Option<String> {
    let SectionRecord { section, kept, names, left_out } = record;
    let many = |one: &str, several: &str| match kept {
        1 => format!("1 {one}"),
        kept => format!("{kept} {several}"),
    };
    let shown = match section.as_str() {
        // Every request has it, and there is nothing to say of it.
        "system" => return None,
        "task" | "summary" => section.clone(),
        "instructions" => names.join(", "),
        "tools" => many("tool", "tools"),
        "notices" => many("notice", "notices"),
        "history" => many("entry since", "entries since"),
        other => format!("{other}: {kept}"),
    };
    let gone = left_out.iter().map(|it| format!("{} {} left out ({})", it.count, it.unit, it.why));
    let shown = Some(shown).filter(|_| *kept > 0);
    Some(shown.into_iter().chain(gone).collect::<Vec<_>>().join(", "))
}

/// Shows a text of several lines beneath its label.
fn text(printer: Printer, label: &str, tone: Tone, text: &str) {
    let cut = match text.char_indices().nth(TEXT_CHARS).and_then(|(at, _)| text.get(..at)) {
        Some(kept) => format!("{kept}…"),
        None => text.to_owned(),
    };
    let mut label = label.to_owned();
    for line in cut.trim().lines() {
        printer.entry(&[(Tone::Faint, &label)], (tone, line));
        label = " ".repeat(16);
    }
}

fn of_parts(parts: &[ContentPart]) -> String {
    let part = |part: &ContentPart| match part {
        ContentPart::Text { text } => text.clone(),
        ContentPart::Image { media_type, data } => {
            format!("[image, {}, {} bytes]", media_type.media_type(), data.len())
        }
        ContentPart::Artifact { id, title, .. } => format!("[artifact {id}: {title}]"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn first_line(outcome: &Outcome) -> String {
    let text = outcome.model_text();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or("nothing").replace('\t', "  ");
    let first: String = first.chars().take(200).collect();
    match lines.count() {
        0 => first,
        more => format!("{first} (+{more} lines)"),
    }
}
