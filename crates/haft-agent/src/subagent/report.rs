//! What a subagent comes back with.

use haft_protocol::{ErrorKind, Failure, StopCause, Usage, UsageTotal, limits};
use haft_tool::{IntoOutput as _, Output, Shown};
use schemars::JsonSchema;
use serde::Serialize;

use crate::agent::TurnEnd;

/// What a subagent comes back with, whether it was done or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SubagentReport {
    /// How it stopped.
    pub status: SubagentStatus,
    /// What it said last.
    pub text: String,
    /// Whether its text is longer than what is shown.
    pub is_truncated: bool,
    /// Requests that it made.
    pub steps: u64,
    /// Calls that it made.
    pub calls: u64,
    /// Tokens of its prompts and replies, as far as they were counted.
    pub tokens: u64,
    /// Millionths of a US dollar, as far as prices are known.
    pub micro_usd: u64,
}

/// How a subagent stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubagentStatus {
    /// It said what it had to say.
    Done,
    /// It said nothing.
    Silent,
    /// It reached a limit.
    Limit,
    /// It went round in circles.
    Loop,
    /// Its model could not be asked, or declined.
    ModelFailed,
    /// It was interrupted.
    Interrupted,
    /// A call of it waits for a person.
    Waits,
    /// Its record could not be kept.
    Unrecorded,
}

impl SubagentReport {
    /// Makes the report of a turn that ended.
    pub(crate) fn of(end: &TurnEnd, said: &str, took: &UsageTotal) -> Self {
        let said = said.trim();
        let status = match &end.cause {
            StopCause::Done | StopCause::Empty if said.is_empty() => SubagentStatus::Silent,
            StopCause::Done | StopCause::Empty => SubagentStatus::Done,
            StopCause::Length
            | StopCause::Limit { .. }
            | StopCause::Unpriced { .. }
            | StopCause::Window { .. } => SubagentStatus::Limit,
            StopCause::Loop { .. } => SubagentStatus::Loop,
            StopCause::Refused { .. } | StopCause::Model { .. } => SubagentStatus::ModelFailed,
            StopCause::Interrupted { .. } => SubagentStatus::Interrupted,
            StopCause::Waits { .. } => SubagentStatus::Waits,
            StopCause::Unrecorded { .. } => SubagentStatus::Unrecorded,
        };
        let text = haft_text::head(said, limits::SUBAGENT_TEXT_BYTES);
        Self {
            status,
            text: text.to_owned(),
            is_truncated: text.len() < said.len(),
            steps: end.steps,
            calls: end.calls,
            tokens: took.tokens(),
            micro_usd: took.micro_usd,
        }
    }

    /// Makes the output of a call: a success only where the subagent was done.
    pub(crate) fn into_output(
        self,
        cause: &StopCause,
        took: &UsageTotal,
    ) -> Result<Output, Failure> {
        let Self { status, steps, calls, tokens, .. } = self;
        let mut lines = Vec::new();
        if status != SubagentStatus::Done {
            lines.push("What it said last:".to_owned());
        }
        lines.push(if self.text.is_empty() { "(nothing)".to_owned() } else { self.text.clone() });
        if self.is_truncated {
            lines.push("[its text goes on; this is the start of it]".to_owned());
        }
        lines.push(format!("[{steps} requests, {calls} calls, {tokens} tokens]"));
        let mut output = Output::text(lines.join("\n"));
        output.usage = Usage {
            input_tokens: Some(
                took.input.saturating_add(took.cache_read).saturating_add(took.cache_write),
            ),
            output_tokens: Some(took.output),
            micro_usd: (took.unpriced == 0).then_some(took.micro_usd),
            ..Usage::default()
        };
        if let Some(failure) = failure(status, cause) {
            output = output.but_failed(failure);
        }
        Shown { value: self, output }.into_output()
    }
}

fn failure(status: SubagentStatus, cause: &StopCause) -> Option<Failure> {
    let (kind, why) = match (status, cause) {
        // An interrupted call is cancelled by dispatch.
        (SubagentStatus::Done, _) | (_, StopCause::Interrupted { .. }) => return None,
        (_, StopCause::Limit { limit, allowed }) => {
            let unit = match limit {
                haft_protocol::RunLimit::Steps => "requests",
                haft_protocol::RunLimit::Calls => "calls",
                haft_protocol::RunLimit::Tokens => "tokens",
                haft_protocol::RunLimit::Money => "millionths of a US dollar",
                haft_protocol::RunLimit::Time => "seconds",
            };
            (ErrorKind::LimitExceeded, format!("the limit of {allowed} {unit} was reached"))
        }
        (_, StopCause::Length) => {
            (ErrorKind::LimitExceeded, "its replies were cut off over and over".to_owned())
        }
        (_, StopCause::Unpriced { model }) => {
            (ErrorKind::Unavailable, format!("nobody knows what `{model}` costs"))
        }
        (_, StopCause::Window { text }) => (ErrorKind::LimitExceeded, text.clone()),
        (_, StopCause::Loop { text }) => {
            (ErrorKind::Upstream, format!("it went round in circles: {text}"))
        }
        (_, StopCause::Model { text, .. } | StopCause::Refused { text }) => {
            (ErrorKind::Upstream, format!("its model failed: {}", haft_text::head(text, 500)))
        }
        (_, StopCause::Waits { .. }) => (
            ErrorKind::Upstream,
            "a call of it needs a person's answer, and nobody gives one now".to_owned(),
        ),
        (_, StopCause::Unrecorded { text }) => {
            (ErrorKind::Unavailable, format!("its record could not be kept: {text}"))
        }
        (_, StopCause::Done | StopCause::Empty) => {
            (ErrorKind::Upstream, "it ended without a word".to_owned())
        }
    };
    let text = format!("the subagent did not finish: {why}");
    Some(Failure::new(kind, text).hint("what it changed so far stays; look at it before you go on"))
}
