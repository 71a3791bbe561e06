//! What a person or a program sees of a model at work.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::models::{ModelFacts, RequestedCall, RunEvent, Summary, Waiting, Watcher};
use haft::store::Store;
use haft::{CallId, NoticeKind, Outcome, RunId};
use serde_json::json;

use super::prose::Prose;
use super::stop::overran;
use super::{diffs, words};
use crate::command::Invocation;
use crate::print::{self, Printer, Tone, columns, cut, wrapped};
use crate::progress::ProgressLine;

/// What stands before what belongs to a call.
const INDENT: &str = "  ";

/// Lines that a message about what went wrong may take.
const MESSAGE_LINES: usize = 6;

/// Shows a model at work.
///
/// What the model says goes to standard output, all else to standard error. Everything is shown in the order in which it
/// happens. With `--json`, each event is one line of JSON on standard output.
#[derive(Debug)]
pub(crate) struct Show {
    printer: Printer,
    progress: Arc<ProgressLine>,
    store: Option<Store>,
    seen: Mutex<Seen>,
}

/// What was shown so far.
#[derive(Debug)]
struct Seen {
    prose: Prose,
    /// Whether the reply under way was shown as it came.
    has_heard: bool,
    /// The call whose line is the last one.
    last_call: Option<CallId>,
    /// The calls under way.
    calls: Vec<RequestedCall>,
    /// The calls of the turn that changed something.
    changed: Vec<CallId>,
    /// Whether something stands above that is not prose.
    has_shown: bool,
}

impl Seen {
    fn note(&mut self, call: CallId, outcome: &Outcome) {
        if !outcome.changes.is_empty() {
            self.changed.push(call);
        }
    }
}

impl Show {
    /// Begins to show, with the contents that changes speak of, where they are kept.
    pub(crate) fn new(invocation: &Invocation<'_>, store: Option<&Store>) -> Arc<Self> {
        let prose = Prose::new(print::width().map(|_| columns()));
        Arc::new(Self {
            printer: invocation.printer,
            progress: Arc::clone(&invocation.progress),
            store: store.cloned(),
            seen: Mutex::new(Seen {
                prose,
                has_heard: false,
                last_call: None,
                calls: Vec::new(),
                changed: Vec::new(),
                has_shown: false,
            }),
        })
    }

    /// Returns what shows events as they come.
    pub(super) fn watcher(self: &Arc<Self>) -> Watcher {
        let show = Arc::clone(self);
        Watcher::new(move |event| {
            if show.printer.is_json() {
                show.printer.event(event);
                if let RunEvent::CallEnded { call, outcome, .. } = event {
                    show.seen().note(*call, outcome);
                }
            } else {
                show.see(event);
            }
        })
    }

    /// Begins to show a turn.
    pub(super) fn begin(&self) {
        self.seen().changed.clear();
    }

    /// Returns the calls of the turn that changed something, the latest first.
    pub(super) fn changed(&self) -> Vec<CallId> {
        self.seen().changed.iter().rev().copied().collect()
    }

    /// Says who is asked, before anything is sent.
    pub(super) fn model(&self, facts: &ModelFacts, because: &str) {
        if self.printer.is_json() {
            self.printer.event(&json!({
                "event": "model", "model": facts.id, "address": facts.address, "because": because,
                "window_tokens": facts.window_tokens,
            }));
            return;
        }
        let window = facts.window_tokens.map(|it| format!(", window of {it} tokens"));
        let text =
            format!("{} at {}, {because}{}", facts.id, facts.address, window.unwrap_or_default());
        self.aside(Tone::Faint, "model", &text);
    }

    /// Says by which name the run is on record.
    pub(super) fn run(&self, run: RunId) {
        if self.printer.is_json() {
            self.printer.event(&json!({ "event": "run", "run": run }));
        } else {
            self.aside(Tone::Faint, "run", &run.to_string());
        }
    }

    /// Says that a request waits.
    pub(crate) fn wait(&self, waiting: &Waiting) {
        let text = waiting.to_string();
        if self.printer.is_json() {
            self.printer.event(&json!({ "event": "waiting", "text": text }));
        } else {
            self.aside(Tone::Warn, "waiting", text.strip_prefix("waiting ").unwrap_or(&text));
        }
    }

    /// Says something beside what is shown.
    pub(super) fn aside(&self, tone: Tone, label: &str, text: &str) {
        self.progress.stop();
        let mut seen = self.seen();
        self.end_prose(&mut seen);
        (seen.last_call, seen.has_shown) = (None, true);
        match print::width() {
            Some(_) => {
                let room = columns().saturating_sub(label.len() + 2);
                let lines: Vec<String> = text.lines().flat_map(|it| wrapped(it, room)).collect();
                self.printer.aside(tone, label, &lines.join("\n"));
            }
            None => self.printer.aside(tone, label, text),
        }
    }

    /// Shows what a model said before; programs find it in the result.
    pub(super) fn again(&self, text: &str) {
        if self.printer.is_json() {
            return;
        }
        let mut seen = self.seen();
        self.say(&mut seen, text);
        self.end_prose(&mut seen);
    }

    /// Ends what is shown of a turn.
    pub(super) fn end(&self) {
        self.progress.stop();
        let mut seen = self.seen();
        self.end_prose(&mut seen);
        seen.calls.clear();
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn see(&self, event: &RunEvent) {
        let mut seen = self.seen();
        match event {
            RunEvent::Asked { .. } => {
                self.end_prose(&mut seen);
                seen.has_heard = false;
                self.progress.start_saying("waiting for the model");
            }
            RunEvent::Text { text } => self.say(&mut seen, text),
            RunEvent::Reasoning { .. } => self.progress.say("the model thinks"),
            RunEvent::CallBegins { tool } => {
                self.end_prose(&mut seen);
                self.progress.start_saying(&format!("the model writes a call of {tool}"));
            }
            RunEvent::Replied { reply } => {
                let text = reply.text();
                if !seen.has_heard && !text.trim().is_empty() {
                    self.say(&mut seen, &text);
                }
                self.end_prose(&mut seen);
            }
            RunEvent::CallStarted { call } => {
                self.call(&mut seen, call);
                seen.calls.push(call.clone());
                self.progress.start_saying(&call.tool);
            }
            RunEvent::CallEnded { call, tool, outcome } => {
                self.ended(&mut seen, *call, tool, outcome);
            }
            RunEvent::Summarised { summary } => {
                let Summary { entries, text, .. } = summary;
                let chars = text.chars().count();
                let text =
                    format!("{entries} earlier messages became a summary of {chars} characters");
                drop(seen);
                self.aside(Tone::Faint, "summary", &text);
            }
            RunEvent::Told { notice } => {
                drop(seen);
                self.aside(Tone::Faint, "told", &notice.text);
            }
            // What they say is in the reason why the turn stopped, or in the next event.
            RunEvent::NoReply { .. } | RunEvent::Stopped(_) => {
                self.progress.stop();
                self.end_prose(&mut seen);
            }
            RunEvent::Noted { notice } => {
                drop(seen);
                self.aside(Tone::Faint, "note", &notice.text);
            }
            RunEvent::ToolsWeigh { tools, tokens, window_tokens } => {
                let text = format!(
                    "the definitions of {tools} tools take about {tokens} of the {window_tokens} tokens of the model's window: show it fewer with `--tools NAMES`"
                );
                drop(seen);
                self.aside(Tone::Faint, "note", &text);
            }
            RunEvent::Overran { limit, allowed, taken } => {
                drop(seen);
                self.aside(Tone::Warn, "over", &overran(*limit, *allowed, *taken));
            }
            // What a subagent does is in its own record; that it does something is enough here.
            RunEvent::Subagent { what, .. } => {
                if let RunEvent::CallStarted { call } = &**what {
                    let about = words::said_of_call(&call.arguments);
                    self.progress.say(&format!("subagent: {} {about}", call.tool));
                }
            }
        }
    }

    fn say(&self, seen: &mut Seen, text: &str) {
        self.progress.stop();
        let said = seen.prose.add(text);
        if !said.is_empty() {
            if !seen.has_heard && seen.has_shown && print::width().is_some() {
                self.printer.safe("\n");
            }
            (seen.has_heard, seen.last_call, seen.has_shown) = (true, None, true);
            self.printer.safe(&said);
        }
    }

    fn end_prose(&self, seen: &mut Seen) {
        let rest = seen.prose.end();
        if !rest.is_empty() {
            seen.has_heard = true;
            self.printer.safe(&rest);
        }
    }

    /// Shows what is called, in one line.
    fn call(&self, seen: &mut Seen, call: &RequestedCall) {
        self.progress.stop();
        self.end_prose(seen);
        let tool = cut(&haft::text::visible_line(&call.tool), 40);
        let room = columns().saturating_sub(tool.chars().count() + 3);
        let about = cut(&haft::text::visible_line(&words::said_of_call(&call.arguments)), room);
        self.printer.beside(&[
            (Tone::Faint, "> "),
            (Tone::Strong, &tool),
            (Tone::Plain, if about.is_empty() { "" } else { " " }),
            (Tone::Plain, &about),
        ]);
        (seen.last_call, seen.has_shown) = (Some(call.id), true);
    }

    /// Shows how a call ended: what it changed, or the begin of what it said.
    fn ended(&self, seen: &mut Seen, call: CallId, tool: &str, outcome: &Outcome) {
        self.progress.stop();
        let at = seen.calls.iter().position(|it| it.id == call);
        let made = at.map(|at| seen.calls.remove(at));
        if seen.last_call != Some(call)
            && let Some(made) = &made
        {
            self.call(seen, made);
        }
        if made.is_none() {
            // It was never made: what was asked for is known by its name alone.
            self.printer.beside(&[(Tone::Faint, "> "), (Tone::Strong, &cut(tool, 40))]);
        }
        seen.note(call, outcome);
        let mut lines = Vec::new();
        if !outcome.is_ok() || outcome.changes.is_empty() {
            lines.extend(words::result(outcome));
        }
        lines.extend(diffs::of(self.store.as_ref(), &outcome.changes));
        for notice in &outcome.notices {
            let is_grave = matches!(
                notice.kind,
                NoticeKind::Unrecorded | NoticeKind::Detached | NoticeKind::Degraded
            );
            if is_grave {
                lines.push((Tone::Bad, notice.text.clone()));
            }
        }
        let room = columns().saturating_sub(INDENT.len());
        for (tone, line) in lines {
            let line = haft::text::visible_line(&line.replace('\t', "    ")).into_owned();
            // What went wrong is shown whole, as far as that has an end.
            let shown = match tone {
                Tone::Warn | Tone::Bad if !line.starts_with('-') => wrapped(&line, room),
                _ => vec![cut(&line, room)],
            };
            for line in shown.iter().take(MESSAGE_LINES) {
                self.printer.beside(&[(Tone::Plain, INDENT), (tone, line)]);
            }
        }
        seen.last_call = None;
        if let Some(under_way) = seen.calls.last() {
            self.progress.start_saying(&under_way.tool);
        }
    }
}
