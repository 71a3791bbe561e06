//! What a result left out, and how to get it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number that may be known only in part. Unknown is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Counted to the end.
    Exact(u64),
    /// Counted until something stopped the counting.
    AtLeast(u64),
    /// Not counted.
    Unknown,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(number) => write!(f, "{number}"),
            Self::AtLeast(number) => write!(f, "at least {number}"),
            Self::Unknown => f.write_str("an unknown number of"),
        }
    }
}

/// One bound that a result ran into: what was kept, what was left out, and the way to the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// What is counted, in the plural: `lines`, `matches`, `bytes`.
    pub unit: String,
    /// How many are in the result.
    pub kept: u64,
    /// How many are not.
    pub left_out: Count,
    /// How to get the rest, as an instruction to the caller.
    pub way_on: String,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kept == 1 {
            write!(f, "1 {} shown, ", singular(&self.unit))?;
        } else {
            write!(f, "{} {} shown, ", self.kept, self.unit)?;
        }
        match self.left_out {
            Count::Unknown => f.write_str("an unknown number left out")?,
            left_out => write!(f, "{left_out} left out")?,
        }
        write!(f, ": {}", self.way_on)
    }
}

/// Returns one of what is counted: `lines` are a `line`, `matches` a `match`, `entries` an `entry`.
fn singular(unit: &str) -> String {
    let (counted, rest) =
        unit.split_once(' ').map_or((unit, None), |(word, rest)| (word, Some(rest)));
    let one = match counted {
        word if word.ends_with("ies") => format!("{}y", word.trim_end_matches("ies")),
        word if word.ends_with("ches") => word.trim_end_matches("es").to_owned(),
        word => word.strip_suffix('s').unwrap_or(word).to_owned(),
    };
    rest.map_or_else(|| one.clone(), |rest| format!("{one} {rest}"))
}
