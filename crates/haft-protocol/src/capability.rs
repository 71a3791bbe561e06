//! What a tool declares that it does.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Looks at files of the workspace.
    ReadFiles,
    /// Changes files of the workspace.
    WriteFiles,
    /// Starts programs or runs code of the project.
    Execute,
    /// Reaches other machines.
    Network,
    /// Changes something outside the workspace that nobody can take back from here.
    External,
    /// Changes what the model itself sees or does next.
    Session,
}

impl Capability {
    /// Every kind of effect.
    pub const ALL: [Capability; 6] = [
        Self::ReadFiles,
        Self::WriteFiles,
        Self::Execute,
        Self::Network,
        Self::External,
        Self::Session,
    ];

    /// Returns the name used in rules and serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadFiles => "read_files",
            Self::WriteFiles => "write_files",
            Self::Execute => "execute",
            Self::Network => "network",
            Self::External => "external",
            Self::Session => "session",
        }
    }

    /// Tells whether a tool with this effect is no longer read-only.
    pub const fn is_mutating(self) -> bool {
        match self {
            Self::ReadFiles | Self::Network => false,
            Self::WriteFiles | Self::Execute | Self::External | Self::Session => true,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a checkpoint before a call would have to save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointScope {
    /// The files it is bound to.
    File,
    /// A transaction of some database.
    Transaction,
    /// A commit of a repository.
    Commit,
    /// A snapshot of a whole tree.
    Snapshot,
}

/// What a call costs beyond time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// Nothing.
    #[default]
    Free,
    /// Money or quota, reported afterwards.
    Metered,
    /// Nobody said.
    Unknown,
}

/// Whether a person has to say yes whatever the rules allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The rules decide.
    #[default]
    ByPolicy,
    /// Always ask.
    Always,
}

/// Capabilities that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapabilityError {
    /// Declared read-only and something more.
    #[error("declared read-only, yet also `{capability}`: drop one of them")]
    ReadOnlyMutates {
        /// The effect that mutates.
        capability: Capability,
    },
    /// A property of writes on a tool that writes nothing.
    #[error("`{property}` needs a capability that changes something, such as `write_files`")]
    PropertyWithoutWrites {
        /// The property.
        property: &'static str,
    },
    /// A narrower set that is not contained in the ceiling.
    #[error("`{what}` is not within the tool's declared capabilities")]
    NotWithin {
        /// What exceeds the ceiling.
        what: String,
    },
}

/// What a tool declares that it does: the ceiling that rules, presets, retries and checkpoints go by.
///
/// A set is made by [`Capabilities::builder`], [`Capabilities::read_only`] or from data, and each way refuses
/// contradictions. A clone shares the set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "CapabilitiesBuilder", into = "CapabilitiesBuilder")]
pub struct Capabilities(Arc<CapabilitiesBuilder>);

/// A set of capabilities in the making; also its serde form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CapabilitiesBuilder {
    effects: BTreeSet<Capability>,
    #[serde(skip_serializing_if = "is_false")]
    read_only: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    write_scope: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    idempotent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<CheckpointScope>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    side_effects: Vec<String>,
    cost: Cost,
    approval: Approval,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl CapabilitiesBuilder {
    /// Adds an effect.
    pub fn effect(mut self, capability: Capability) -> Self {
        self.effects.insert(capability);
        self
    }

    /// Declares that nothing is changed.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Names something that may be written, in the tool's own terms (`database:migrations`).
    pub fn write_scope(mut self, scope: impl Into<String>) -> Self {
        self.write_scope.push(scope.into());
        self
    }

    /// Declares that a repetition changes nothing further.
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Declares what a checkpoint before the call has to save.
    pub fn checkpoint(mut self, scope: CheckpointScope) -> Self {
        self.checkpoint = Some(scope);
        self
    }

    /// Names an effect that haft cannot see.
    pub fn side_effect(mut self, effect: impl Into<String>) -> Self {
        self.side_effects.push(effect.into());
        self
    }

    /// Declares what a call costs.
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self
    }

    /// Declares that a person always has to say yes.
    pub fn always_ask(mut self) -> Self {
        self.approval = Approval::Always;
        self
    }

    /// Checks the set.
    ///
    /// # Errors
    ///
    /// Fails when two declarations contradict each other.
    pub fn build(mut self) -> Result<Capabilities, CapabilityError> {
        let mutating = self.effects.iter().copied().find(|effect| effect.is_mutating());
        if let Some(capability) = mutating {
            if self.read_only {
                return Err(CapabilityError::ReadOnlyMutates { capability });
            }
        } else {
            let property = [
                ("write_scope", !self.write_scope.is_empty()),
                ("checkpoint", self.checkpoint.is_some()),
                ("side_effects", !self.side_effects.is_empty()),
            ];
            if let Some((property, _)) = property.into_iter().find(|(_, set)| *set) {
                return Err(CapabilityError::PropertyWithoutWrites { property });
            }
            self.read_only = true;
            self.idempotent = true;
        }
        Ok(Capabilities(Arc::new(self)))
    }
}

impl Capabilities {
    /// Starts a set.
    pub fn builder() -> CapabilitiesBuilder {
        CapabilitiesBuilder::default()
    }

    /// Returns the set of a tool that looks at files and changes nothing.
    pub fn read_only() -> Self {
        Self(Arc::new(CapabilitiesBuilder {
            effects: BTreeSet::from([Capability::ReadFiles]),
            read_only: true,
            idempotent: true,
            ..CapabilitiesBuilder::default()
        }))
    }

    /// Returns the set of a pure function: no effects at all.
    pub fn pure() -> Self {
        Self(Arc::new(CapabilitiesBuilder {
            read_only: true,
            idempotent: true,
            ..CapabilitiesBuilder::default()
        }))
    }

    /// Returns the effects, in the order of [`Capability::ALL`].
    pub fn effects(&self) -> impl Iterator<Item = Capability> + '_ {
        self.0.effects.iter().copied()
    }

    /// Tells whether an effect is declared.
    pub fn has(&self, capability: Capability) -> bool {
        self.0.effects.contains(&capability)
    }

    /// Tells whether nothing is changed.
    pub fn is_read_only(&self) -> bool {
        self.0.read_only
    }

    /// Tells whether a repetition changes nothing further.
    pub fn is_idempotent(&self) -> bool {
        self.0.idempotent
    }

    /// Returns what may be written, in the tool's own terms.
    pub fn write_scope(&self) -> &[String] {
        &self.0.write_scope
    }

    /// Returns what a checkpoint has to save, for a tool that can be checkpointed.
    pub fn checkpoint(&self) -> Option<CheckpointScope> {
        self.0.checkpoint
    }

    /// Returns the effects that haft cannot see.
    pub fn side_effects(&self) -> &[String] {
        &self.0.side_effects
    }

    /// Returns what a call costs.
    pub fn cost(&self) -> Cost {
        self.0.cost
    }

    /// Tells whether a person has to say yes whatever the rules allow.
    pub fn approval(&self) -> Approval {
        self.0.approval
    }

    /// Checks that this set lies within a ceiling, as the effects of one call must within its tool's.
    ///
    /// # Errors
    ///
    /// Fails naming the first thing that exceeds it.
    pub fn within(&self, ceiling: &Capabilities) -> Result<(), CapabilityError> {
        let exceeds = |what: String| Err(CapabilityError::NotWithin { what });
        if let Some(effect) = self.effects().find(|effect| !ceiling.has(*effect)) {
            return exceeds(effect.to_string());
        }
        if let Some(scope) =
            self.write_scope().iter().find(|it| !ceiling.write_scope().contains(it))
        {
            return exceeds(scope.clone());
        }
        if let Some(effect) =
            self.side_effects().iter().find(|it| !ceiling.side_effects().contains(it))
        {
            return exceeds(effect.clone());
        }
        if ceiling.approval() == Approval::Always && self.approval() != Approval::Always {
            return exceeds("approval by policy".to_owned());
        }
        Ok(())
    }
}

impl TryFrom<CapabilitiesBuilder> for Capabilities {
    type Error = CapabilityError;

    fn try_from(builder: CapabilitiesBuilder) -> Result<Self, CapabilityError> {
        builder.build()
    }
}

impl From<Capabilities> for CapabilitiesBuilder {
    fn from(capabilities: Capabilities) -> Self {
        Arc::unwrap_or_clone(capabilities.0)
    }
}
