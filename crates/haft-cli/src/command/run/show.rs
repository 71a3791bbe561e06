//! What a person sees of a model at work.

use haft::models::{RunEvent, StopCause, TurnEnd, Watcher};
use haft::{Outcome, RawArguments};

use crate::print::{Printer, Tone};

/// Shows a model at work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Show {
    printer: Printer,
}

impl Show {
    pub(super) fn new(printer: Printer) -> Self {
        Self { printer }
    }

    /// Returns what shows events as they come.
    pub(super) fn watcher(self) -> Watcher {
        if self.printer.is_json() {
            return Watcher::default();
        }
        Watcher::new(move |event| self.see(event))
    }

    fn see(self, event: &RunEvent) {
        let printer = self.printer;
        match event {
            RunEvent::Replied { reply } => {
                let text = reply.text();
                if !text.trim().is_empty() {
                    printer.text(&text);
                }
            }
            RunEvent::CallStarted { call } => {
                let arguments = match &call.arguments {
                    RawArguments::Text(text) => text.clone(),
                    RawArguments::Json(value) => value.to_string(),
                };
                printer.aside(Tone::Strong, &call.tool, &cut(&arguments));
            }
            RunEvent::CallEnded { outcome, .. } => {
                printer.aside(tone(outcome), "", &cut(&outcome.model_text()));
            }
            RunEvent::NoReply { text } => printer.aside(Tone::Bad, "model", text),
            RunEvent::Told { notice } => printer.aside(Tone::Warn, "told", &notice.text),
            RunEvent::Asked { .. }
            | RunEvent::Text { .. }
            | RunEvent::Reasoning { .. }
            | RunEvent::CallBegins { .. }
            | RunEvent::Summarised { .. }
            | RunEvent::Stopped(_) => {}
        }
    }

    /// Shows how the turn ended.
    pub(super) fn end(self, end: &TurnEnd) {
        let usage = &end.usage;
        let tokens = format!("{} requests, {} tokens", usage.requests, usage.tokens());
        self.printer.aside(Tone::Faint, "used", &tokens);
        if end.cause != StopCause::Done {
            let text = serde_json::to_string(&end.cause).unwrap_or_default();
            self.printer.aside(Tone::Bad, "stopped", &text);
        }
    }
}

fn tone(outcome: &Outcome) -> Tone {
    if outcome.is_ok() { Tone::Faint } else { Tone::Warn }
}

fn cut(text: &str) -> String {
    const CHARS: usize = 200;
    let line: String = text.chars().take(CHARS).collect();
    if line.len() < text.len() { format!("{line}…") } else { line }
}
