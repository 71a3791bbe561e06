//! Points in time, as data.

use serde::{Deserialize, Serialize};

/// A point in time in milliseconds since 1970, in UTC.
///
/// Floor 0 never asks for the time: the clock port of `haft-tool` makes these.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Makes a point in time from milliseconds since 1970.
    pub const fn from_unix_ms(unix_ms: u64) -> Self {
        Self(unix_ms)
    }

    /// Returns the milliseconds since 1970.
    pub const fn unix_ms(self) -> u64 {
        self.0
    }

    /// Returns the milliseconds from `earlier` to this point, zero when the clock went back.
    pub const fn ms_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
