//! The forms in which records are kept: redacted, bounded, and ready to be bound to a statement.

use std::fmt::Write as _;

use haft_protocol::limits::{
    RECORD_ARGUMENT_BYTES, RECORD_BYTES, RECORD_CHANGES, RECORD_NODES, RECORD_PARTS,
    RECORD_TEXT_BYTES,
};
use haft_protocol::{
    BindingRecord, Bound, ContentPart, Denial, Digest, Failure, IntentRecord, LogicalPath, Notice,
    NoticeKind, Outcome, OutcomeRecord, Status, StopCause, TicketRecord, Timestamp,
};
use serde::Serialize;
use serde_json::Value;

use crate::redaction::{KeyTrail, NOT_RECORDED};
use crate::{Redaction, StoreError};

/// Levels of nesting that are kept; less than a JSON parser reads back, for records wrap what they keep.
const DEPTH: usize = 100;

/// Characters of the line that a listing shows of an outcome.
const HEAD_CHARS: usize = 200;

/// A call as its row has it.
#[derive(Debug)]
pub(crate) struct IntentRow {
    pub(crate) id: String,
    pub(crate) version: u32,
    pub(crate) tool: String,
    pub(crate) unknown_tool: bool,
    pub(crate) entrance: &'static str,
    pub(crate) principal: String,
    pub(crate) run: String,
    pub(crate) branch: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) at: i64,
    pub(crate) fingerprint: Option<String>,
    pub(crate) arguments_digest: Option<String>,
    pub(crate) decision: Option<&'static str>,
    pub(crate) because: Option<String>,
    pub(crate) effects: Option<String>,
    pub(crate) bindings: Option<String>,
    pub(crate) arguments: String,
    pub(crate) root: Option<String>,
    pub(crate) further_roots: Option<String>,
}

/// A ticket as its row has it.
#[derive(Debug)]
pub(crate) struct TicketRow {
    pub(crate) id: String,
    pub(crate) call: String,
    pub(crate) expires: i64,
    pub(crate) record: String,
}

/// An outcome as its rows have it.
#[derive(Debug)]
pub(crate) struct OutcomeRow {
    pub(crate) call: String,
    pub(crate) at: i64,
    pub(crate) status: &'static str,
    pub(crate) kind: Option<String>,
    pub(crate) head: Option<String>,
    pub(crate) run_ms: Option<i64>,
    pub(crate) record: String,
    /// Whether the record has all of the outcome.
    pub(crate) is_whole: bool,
    /// All of it, for a run to go on with, where the record has less.
    pub(crate) whole: Option<String>,
}

/// Returns a point in time as SQLite has it.
pub(crate) fn time(at: Timestamp) -> i64 {
    i64::try_from(at.unix_ms()).unwrap_or(i64::MAX)
}

/// Redacts and bounds what goes into one record.
pub(crate) struct Recorder<'r> {
    redaction: &'r Redaction,
    bytes_left: usize,
}

impl<'r> Recorder<'r> {
    pub(crate) fn new(redaction: &'r Redaction) -> Self {
        Self { redaction, bytes_left: RECORD_BYTES }
    }

    pub(crate) fn intent(
        mut self,
        record: &IntentRecord,
        roots: &[String],
    ) -> Result<IntentRow, StoreError> {
        let (tool, unknown_tool) = match &record.tool {
            Ok(name) => (name.to_string(), false),
            Err(asked) => (self.text(asked, RECORD_TEXT_BYTES), true),
        };
        let bindings = self.bindings(&record.bindings);
        let decision = record.decision.as_ref();
        Ok(IntentRow {
            id: record.call.to_string(),
            version: record.version,
            tool,
            unknown_tool,
            entrance: record.caller.entrance.as_str(),
            principal: self.text(&record.caller.principal, RECORD_TEXT_BYTES),
            run: record.caller.run.to_string(),
            branch: record.caller.branch.map(String::from),
            parent: record.caller.parent.map(String::from),
            at: time(record.at),
            fingerprint: record.fingerprint.map(String::from),
            arguments_digest: record.arguments_digest.map(String::from),
            decision: decision.map(|decision| decision.decision.as_str()),
            because: decision.map(|decision| self.text(&decision.because, RECORD_TEXT_BYTES)),
            effects: record.effects.as_ref().map(json).transpose()?,
            bindings: if bindings.is_empty() { None } else { Some(json(&bindings)?) },
            arguments: json(&self.arguments(&record.arguments))?,
            root: roots.first().cloned(),
            further_roots: roots.get(1..).filter(|it| !it.is_empty()).map(json).transpose()?,
        })
    }

    pub(crate) fn ticket(mut self, record: &TicketRecord) -> Result<TicketRow, StoreError> {
        let kept = TicketRecord {
            bindings: self.bindings(&record.bindings),
            because: self.text(&record.because, RECORD_TEXT_BYTES),
            ..record.clone()
        };
        Ok(TicketRow {
            id: record.ticket.to_string(),
            call: record.call.to_string(),
            expires: time(record.expires),
            record: json(&kept)?,
        })
    }

    pub(crate) fn answer(mut self, answer: &str) -> String {
        self.text(answer, RECORD_TEXT_BYTES)
    }

    pub(crate) fn outcome(mut self, record: &OutcomeRecord) -> Result<OutcomeRow, StoreError> {
        let kept = self.outcome_form(&record.outcome);
        let kind = match &kept.status {
            Status::Failed(failure) => Some(failure.kind.to_string()),
            Status::Denied(denial) => Some(denial.control.to_string()),
            Status::Ok | Status::Cancelled | Status::TimedOut { .. } => None,
        };
        Ok(OutcomeRow {
            call: record.call.to_string(),
            at: time(record.at),
            status: kept.status.as_str(),
            kind,
            head: head_line(&kept),
            run_ms: kept.usage.run_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
            record: json(&kept)?,
            is_whole: kept == record.outcome,
            whole: None,
        })
    }

    /// Returns the first line of a text that has something on it.
    pub(crate) fn line(mut self, text: &str, limit: usize) -> String {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let kept = self.text(line, limit);
        // What was cut is told behind the first line.
        kept.lines().next().unwrap_or_default().to_owned()
    }

    /// Returns the JSON of why a run stopped.
    pub(crate) fn stop_cause(mut self, cause: &StopCause) -> Result<String, StoreError> {
        let form = serde_json::to_value(cause).map_err(no_form)?;
        json(&self.value(&form, RECORD_TEXT_BYTES))
    }

    fn outcome_form(&mut self, outcome: &Outcome) -> Outcome {
        let status = match &outcome.status {
            Status::Failed(failure) => Status::Failed(Failure {
                kind: failure.kind,
                model_text: self.text(&failure.model_text, RECORD_TEXT_BYTES),
                hints: self.texts(&failure.hints),
            }),
            Status::Denied(denial) => Status::Denied(Denial {
                control: denial.control.clone(),
                reason: self.text(&denial.reason, RECORD_TEXT_BYTES),
                hints: self.texts(&denial.hints),
            }),
            Status::Ok => Status::Ok,
            Status::Cancelled => Status::Cancelled,
            Status::TimedOut { after_ms } => Status::TimedOut { after_ms: *after_ms },
        };
        let mut kept = Outcome::new(status);
        // Undo goes by the paths of changes, so they stay as they are.
        kept.changes = outcome.changes.iter().take(RECORD_CHANGES).cloned().collect();
        kept.usage = outcome.usage;
        let mut trail = KeyTrail::default();
        kept.content = outcome
            .content
            .iter()
            .take(RECORD_PARTS)
            .map(|part| self.part(part, &mut trail))
            .collect();
        kept.structured =
            outcome.structured.as_ref().map(|value| self.value(value, RECORD_TEXT_BYTES));
        kept.notices = outcome
            .notices
            .iter()
            .take(RECORD_PARTS)
            .map(|notice| Notice::new(notice.kind, self.text(&notice.text, RECORD_TEXT_BYTES)))
            .collect();
        kept.bounds = outcome
            .bounds
            .iter()
            .take(RECORD_PARTS)
            .map(|bound| Bound {
                unit: self.text(&bound.unit, RECORD_TEXT_BYTES),
                way_on: self.text(&bound.way_on, RECORD_TEXT_BYTES),
                ..bound.clone()
            })
            .collect();
        for (all, most, what) in [
            (outcome.content.len(), RECORD_PARTS, "parts"),
            (outcome.changes.len(), RECORD_CHANGES, "changes"),
            (outcome.notices.len(), RECORD_PARTS, "notices"),
            (outcome.bounds.len(), RECORD_PARTS, "bounds"),
        ] {
            if all > most {
                let text = format!("{} of {all} {what} are not in the record", all - most);
                kept.notice(NoticeKind::Skipped, text);
            }
        }
        kept
    }

    fn part(&mut self, part: &ContentPart, trail: &mut KeyTrail) -> ContentPart {
        match part {
            ContentPart::Text { text } => {
                ContentPart::text(self.text(&trail.next(text), RECORD_TEXT_BYTES))
            }
            ContentPart::Image { media_type, data } => ContentPart::text(format!(
                "[{}, {} bytes, sha256 {}; not kept in the record]",
                media_type.media_type(),
                data.len(),
                Digest::of_bytes(data)
            )),
            ContentPart::Artifact { id, title, media_type, bytes } => ContentPart::Artifact {
                id: *id,
                title: self.text(title, RECORD_TEXT_BYTES),
                media_type: media_type.clone(),
                bytes: *bytes,
            },
        }
    }

    fn arguments(&mut self, arguments: &Value) -> Value {
        if self.redaction.keeps_arguments {
            self.value(arguments, RECORD_ARGUMENT_BYTES)
        } else {
            NOT_RECORDED.into()
        }
    }

    fn bindings(&mut self, bindings: &[BindingRecord]) -> Vec<BindingRecord> {
        let keeps_arguments = self.redaction.keeps_arguments;
        let mut text = |text: &str| self.text(text, RECORD_TEXT_BYTES);
        bindings
            .iter()
            .map(|binding| BindingRecord {
                slot: binding.slot.clone(),
                given: if keeps_arguments { text(&binding.given) } else { NOT_RECORDED.to_owned() },
                path: LogicalPath::new(text(binding.path.as_str())),
                access: binding.access,
            })
            .collect()
    }

    fn texts(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().take(RECORD_PARTS).map(|text| self.text(text, RECORD_TEXT_BYTES)).collect()
    }

    fn value(&mut self, value: &Value, limit: usize) -> Value {
        Redaction::json_within(value, RECORD_NODES, DEPTH, &mut |text| self.text(text, limit))
    }

    /// Redacts a text, and cuts it to a limit and to what the record has left.
    fn text(&mut self, text: &str, limit: usize) -> String {
        let limit = limit.min(self.bytes_left);
        if text.len() <= limit {
            self.bytes_left -= text.len();
            return self.redaction.text(text).into_owned();
        }
        // A secret that the end of the window cuts is not known for one. So the window is wider than what is kept, and
        // its last part is not kept even where redaction made room for it.
        let margin = self.redaction.margin();
        let window = head(text, limit + margin);
        let redacted = self.redaction.text(window);
        let sure = if window.len() < text.len() {
            redacted.len().saturating_sub(margin)
        } else {
            redacted.len()
        };
        let mut kept = head(&redacted, limit.min(sure)).to_owned();
        self.bytes_left -= kept.len();
        let _ = write!(
            kept,
            "\n[… the first part of {} bytes, sha256 {}]",
            text.len(),
            Digest::of_bytes(text)
        );
        kept
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(no_form)
}

fn no_form(error: serde_json::Error) -> StoreError {
    StoreError::Refused { text: format!("a record has no JSON form: {error}") }
}

/// Returns the first bytes of a text, cut where a character ends.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// Returns one line that says how a call ended.
fn head_line(outcome: &Outcome) -> Option<String> {
    let line = |text: &str| {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().take(HEAD_CHARS).collect())
    };
    match &outcome.status {
        Status::Failed(failure) => line(&failure.model_text),
        Status::Denied(denial) => line(&denial.reason),
        Status::TimedOut { after_ms } => Some(format!("timed out after {after_ms} ms")),
        Status::Ok | Status::Cancelled => outcome.content.iter().find_map(|part| match part {
            ContentPart::Text { text } => line(text),
            ContentPart::Image { .. } => None,
            ContentPart::Artifact { title, .. } => line(title),
        }),
    }
}
