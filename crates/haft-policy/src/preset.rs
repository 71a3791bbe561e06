//! The three presets.

use std::fmt;
use std::str::FromStr;

use haft_protocol::{Capability, Decision};
use serde::{Deserialize, Serialize};

use crate::PolicyError;
use crate::error::shown;

/// What happens to a call that no rule decides, by what the call does and never by the tool's name.
///
/// | effect | `read-only` | `edit` | `full` |
/// |---|---|---|---|
/// | none at all | allow | allow | allow |
/// | `read_files` | allow | allow | allow |
/// | `write_files` | deny | allow | allow |
/// | `execute` | deny | ask | allow |
/// | `network` | deny | ask | allow |
/// | `external` | deny | ask | allow |
/// | `session` | deny | allow | allow |
///
/// A call with several effects gets the strictest answer among them. `read-only` denies `network`, although a request
/// changes no file: what was read could leave the machine with it.
///
/// Presets are ordered by what they let happen: `read-only < edit < full`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Looks and changes nothing.
    ReadOnly,
    /// Changes files; asks before it runs programs or reaches out.
    #[default]
    Edit,
    /// Asks nothing that a tool does not insist on.
    Full,
}

impl Preset {
    /// Every preset, from the strictest.
    pub const ALL: [Preset; 3] = [Self::ReadOnly, Self::Edit, Self::Full];

    /// Returns the name used in flags, files and serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Edit => "edit",
            Self::Full => "full",
        }
    }

    /// Decides over one effect.
    pub const fn decision(self, effect: Capability) -> Decision {
        match (self, effect) {
            (Self::Full, _)
            | (_, Capability::ReadFiles)
            | (Self::Edit, Capability::WriteFiles | Capability::Session) => Decision::Allow,
            (Self::Edit, Capability::Execute | Capability::Network | Capability::External) => {
                Decision::Ask
            }
            (Self::ReadOnly, _) => Decision::Deny,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.as_str() == text)
            .ok_or_else(|| PolicyError::UnknownPreset { text: shown(text) })
    }
}
