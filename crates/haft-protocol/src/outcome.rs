//! The one result of a call.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{Bound, Change, ContentPart, Failure, Notice, NoticeKind, Usage};

/// Which control denied a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// A rule or preset.
    Policy,
    /// A person, or nobody to ask.
    Approval,
    /// A hook of this name.
    Hook(String),
    /// A budget of calls, depth or time.
    Budget,
    /// The borders of the workspace.
    Workspace,
    /// The list of protected names.
    Protection,
    /// The sandbox level that policy demands.
    Sandbox,
    /// Facts that changed between decision and effect.
    Stale,
    /// A tool that was suspended because its description changed.
    Suspended,
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy => f.write_str("policy"),
            Self::Approval => f.write_str("approval"),
            Self::Hook(name) => write!(f, "hook {name}"),
            Self::Budget => f.write_str("budget"),
            Self::Workspace => f.write_str("workspace"),
            Self::Protection => f.write_str("protection"),
            Self::Sandbox => f.write_str("sandbox"),
            Self::Stale => f.write_str("stale"),
            Self::Suspended => f.write_str("suspended"),
        }
    }
}

/// A refusal: which control said no, why, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The control.
    pub control: Control,
    /// Why, in words for whoever asked.
    pub reason: String,
    /// Ways out, each an instruction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl Denial {
    /// Makes a denial without hints.
    pub fn new(control: Control, reason: impl Into<String>) -> Self {
        Self { control, reason: reason.into(), hints: Vec::new() }
    }

    /// Adds a way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied by {}: {}", self.control, self.reason)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Status {
    /// The tool did what it was asked to.
    Ok,
    /// The tool could not do it.
    Failed(Failure),
    /// A control refused; nothing ran.
    Denied(Denial),
    /// Somebody took the call back.
    Cancelled,
    /// The body ran past its deadline.
    TimedOut {
        /// The deadline, in milliseconds.
        after_ms: u64,
    },
}

impl Status {
    /// Returns the name of the variant as the serde form writes it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed(_) => "failed",
            Self::Denied(_) => "denied",
            Self::Cancelled => "cancelled",
            Self::TimedOut { .. } => "timed_out",
        }
    }
}

/// The one result of a call.
///
/// History, events, return values and the text a model reads are projections of this value. Whatever the status, the
/// outcome may carry content (a command that timed out has partial output), changes and notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the call ended.
    #[serde(flatten)]
    pub status: Status,
    /// What a reader should see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentPart>,
    /// The same as data, conforming to the tool's output schema where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "there_if_given")]
    pub structured: Option<Value>,
    /// What the call changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What the runtime has to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bound>,
    /// What was spent.
    #[serde(default)]
    pub usage: Usage,
}

impl Outcome {
    /// Makes an outcome of a status and nothing else.
    pub fn new(status: Status) -> Self {
        Self {
            status,
            content: Vec::new(),
            structured: None,
            changes: Vec::new(),
            notices: Vec::new(),
            bounds: Vec::new(),
            usage: Usage::default(),
        }
    }

    /// Makes a successful outcome of text.
    pub fn ok(text: impl Into<String>) -> Self {
        let mut outcome = Self::new(Status::Ok);
        outcome.content.push(ContentPart::text(text));
        outcome
    }

    /// Tells whether the tool did what it was asked to.
    pub const fn is_ok(&self) -> bool {
        matches!(self.status, Status::Ok)
    }

    /// Adds a notice.
    pub fn notice(&mut self, kind: NoticeKind, text: impl Into<String>) {
        self.notices.push(Notice::new(kind, text));
    }

    /// Returns the text a model reads: the ending when it is not success, then the content, the bounds, the notices.
    ///
    /// Data, bounds and notices are kept apart by their own lines, so that a file that contains the word "notice" is
    /// not mistaken for one.
    pub fn model_text(&self) -> String {
        if let (Status::Ok, [ContentPart::Text { text }], [], []) =
            (&self.status, &*self.content, &*self.bounds, &*self.notices)
        {
            return text.clone();
        }
        let mut lines: Vec<String> = Vec::new();
        match &self.status {
            Status::Ok => {}
            Status::Failed(failure) => lines.push(format!("failed ({}): {failure}", failure.kind)),
            Status::Denied(denial) => lines.push(denial.to_string()),
            Status::Cancelled => lines.push("cancelled before it was done".to_owned()),
            Status::TimedOut { after_ms } => {
                lines.push(format!("timed out after {after_ms} ms"));
            }
        }
        for part in &self.content {
            lines.push(match part {
                ContentPart::Text { text } => text.clone(),
                ContentPart::Image { media_type, data } => {
                    format!("[image, {}, {} bytes]", media_type.media_type(), data.len())
                }
                ContentPart::Artifact { id, title, media_type, bytes } => {
                    format!("[artifact {id}: {title}, {media_type}, {bytes} bytes]")
                }
            });
        }
        lines.extend(self.bounds.iter().map(|bound| format!("[{bound}]")));
        lines.extend(self.notices.iter().map(|notice| format!("[notice: {notice}]")));
        lines.join("\n")
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::new(Status::Failed(failure))
    }
}

impl From<Denial> for Outcome {
    fn from(denial: Denial) -> Self {
        Self::new(Status::Denied(denial))
    }
}

/// Reads what is there, be it `null`, which is data as well.
fn there_if_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
