//! What the journal keeps of a call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CallId, Caller, Capabilities, Decision, Digest, LogicalPath, Outcome, QualifiedName, TicketId,
    Timestamp,
};

/// The version that stored forms carry. Readers take this one and all before it.
pub const RECORD_VERSION: u32 = 1;

/// What a tool may do with a bound resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Look at it.
    Read,
    /// Look at it and everything beneath it, by something that no rule can hide a part from.
    ReadTree,
    /// Change it.
    Write,
    /// Change it and everything beneath it.
    WriteTree,
}

impl Access {
    /// Tells whether this is more than looking.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteTree)
    }

    /// Tells whether this is about everything beneath as well.
    pub const fn is_of_tree(self) -> bool {
        matches!(self, Self::ReadTree | Self::WriteTree)
    }

    /// Returns what is left of this where nothing is changed.
    pub const fn reading(self) -> Self {
        match self {
            Self::Read | Self::Write => Self::Read,
            Self::ReadTree | Self::WriteTree => Self::ReadTree,
        }
    }
}

/// One slot of a call and what it was bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindingRecord {
    /// The slot's name.
    pub slot: String,
    /// What the caller wrote.
    pub given: String,
    /// What it was resolved to.
    pub path: LogicalPath,
    /// What may be done with it.
    pub access: Access,
}

/// What policy decided and by which line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The decision.
    pub decision: Decision,
    /// The rule, preset or answer it rests on, with file and line where it has one. A policy says it once.
    pub because: Arc<str>,
}

/// A call as it was about to happen, or was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntentRecord {
    /// The form's version.
    pub version: u32,
    /// The call.
    pub call: CallId,
    /// The tool, or the name that was asked for when there is none of that name.
    #[serde(with = "asked_for")]
    pub tool: Result<QualifiedName, String>,
    /// Who asked.
    pub caller: Caller,
    /// When.
    pub at: Timestamp,
    /// The fingerprint of the descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Digest>,
    /// The digest of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_digest: Option<Digest>,
    /// The arguments, defaults applied, shared with the call. The store redacts secrets before it writes.
    pub arguments: Arc<Value>,
    /// What its slots were bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<BindingRecord>,
    /// What the call may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Capabilities>,
    /// What policy said, where the call got that far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionRecord>,
}

/// The serde form of what was asked for: a tool's name, or `{"unknown": …}`.
mod asked_for {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::QualifiedName;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum AskedFor {
        Tool(QualifiedName),
        Nothing { unknown: String },
    }

    pub(super) fn serialize<S: Serializer>(
        tool: &Result<QualifiedName, String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let form = match tool {
            Ok(name) => AskedFor::Tool(name.clone()),
            Err(unknown) => AskedFor::Nothing { unknown: unknown.clone() },
        };
        form.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Result<QualifiedName, String>, D::Error> {
        Ok(match AskedFor::deserialize(deserializer)? {
            AskedFor::Tool(name) => Ok(name),
            AskedFor::Nothing { unknown } => Err(unknown),
        })
    }
}

/// One start of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The call.
    pub call: CallId,
    /// Which start this is, from 1.
    pub attempt: u32,
    /// When.
    pub at: Timestamp,
    /// Whether the store must be sure of this record before the body starts: the effect cannot be repeated.
    pub must_last: bool,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The call.
    pub call: CallId,
    /// When.
    pub at: Timestamp,
    /// The outcome.
    pub outcome: Outcome,
}

/// A call that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketRecord {
    /// The form's version.
    pub version: u32,
    /// The ticket.
    pub ticket: TicketId,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: QualifiedName,
    /// The fingerprint of the descriptor that was asked about.
    pub fingerprint: Digest,
    /// The digest of the arguments that were asked about.
    pub arguments_digest: Digest,
    /// What the slots were bound to.
    pub bindings: Vec<BindingRecord>,
    /// Why a person has to say yes.
    pub because: String,
    /// When the question loses its meaning.
    pub expires: Timestamp,
}
