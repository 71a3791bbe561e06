//! What a policy decides over.

use std::fmt;

use haft_protocol::{Access, CallId, Capabilities, Capability, Digest, LogicalPath, QualifiedName};
use serde::{Deserialize, Serialize};

use crate::shell::Script;

/// One call, with its final arguments and what they were bound to.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The call.
    pub call: CallId,
    /// The fingerprint of the tool's descriptor.
    pub fingerprint: Digest,
    /// The digest of the final arguments.
    pub arguments_digest: Digest,
    /// The tool's canonical name.
    pub tool: &'a QualifiedName,
    /// The alias it was called by, where it was.
    pub alias: Option<&'a QualifiedName>,
    /// What this call may do: the tool's ceiling, or less where the arguments say so.
    pub effects: &'a Capabilities,
    /// What the slots were bound to.
    pub resources: &'a [Resource],
    /// The commands that the call would run, where it runs a command text or an argument vector.
    pub commands: Option<&'a Script>,
}

/// Something a call is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// The slot.
    pub slot: String,
    /// What the slot was resolved to; never what the caller wrote.
    pub path: LogicalPath,
    /// What may be done with it.
    pub access: Access,
}

impl Resource {
    /// Makes a resource.
    pub fn new(slot: impl Into<String>, path: LogicalPath, access: Access) -> Self {
        Self { slot: slot.into(), path, access }
    }
}

/// A set of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Effects(u8);

impl Effects {
    pub(crate) const FILES: Self =
        Self(Self::bit(Capability::ReadFiles) + Self::bit(Capability::WriteFiles));

    /// Returns what a call does: what it declares, and what its bindings give away.
    pub(crate) fn of(subject: &Subject<'_>) -> Self {
        let bound = subject.resources.iter().map(|resource| match resource.access {
            Access::Read | Access::ReadTree => Capability::ReadFiles,
            Access::Write | Access::WriteTree => Capability::WriteFiles,
        });
        subject.effects.effects().chain(bound).collect()
    }

    const fn bit(capability: Capability) -> u8 {
        1 << match capability {
            Capability::ReadFiles => 0,
            Capability::WriteFiles => 1,
            Capability::Execute => 2,
            Capability::Network => 3,
            Capability::External => 4,
            Capability::Session => 5,
        }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.has(*capability))
    }

    pub(crate) const fn has(self, capability: Capability) -> bool {
        self.0 & Self::bit(capability) != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<Capability> for Effects {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        Self(capabilities.into_iter().fold(0, |bits, capability| bits | Self::bit(capability)))
    }
}

/// Writes the effects for a sentence: `` `read_files`, `execute` ``.
impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, capability) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}`{capability}`")?;
        }
        Ok(())
    }
}
