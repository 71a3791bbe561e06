//! The table of settings with one value: names, ranges, defaults, and what an untrusted project may do to each.

use std::ops::RangeInclusive;

use haft_policy::Origin;
use haft_protocol::{SandboxLevel, limits};

use crate::document::escaped;
use crate::{Config, Problem};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const MIB: u64 = 1024 * 1024;

/// One value of a configuration and where it comes from, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key, such as `limits.permits`.
    pub key: &'static str,
    /// The value, as a file would write it.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// A setting that is a whole number.
pub(crate) struct Number {
    pub(crate) section: &'static str,
    pub(crate) name: &'static str,
    /// The section and the name.
    pub(crate) key: &'static str,
    pub(crate) range: RangeInclusive<u64>,
    pub(crate) field: fn(&mut Config) -> &mut u64,
    pub(crate) untrusted: Untrusted,
}

/// What a project that nobody trusts may do to a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untrusted {
    MayLower,
    MayNotTouch,
}

macro_rules! numbers {
    ($($section:ident.$name:ident: $range:expr, $untrusted:ident;)*) => {
        [$(Number {
            section: stringify!($section),
            name: stringify!($name),
            key: concat!(stringify!($section), ".", stringify!($name)),
            range: $range,
            field: |config| &mut config.$section.$name,
            untrusted: Untrusted::$untrusted,
        }),*]
    };
}

/// Every number. Upper ends keep a slip of the pen from meaning "no limit at all".
pub(crate) static NUMBERS: [Number; 15] = numbers! {
    limits.permits: 1..=64, MayLower;
    limits.calls_per_step: 1..=1_000, MayLower;
    limits.calls_per_run: 1..=1_000_000, MayLower;
    limits.approval_ms: 1_000..=DAY_MS, MayLower;
    limits.acquire_ms: 100..=DAY_MS, MayLower;
    limits.hook_ms: 100..=DAY_MS, MayLower;
    limits.outcome_text_bytes: 1_024..=MIB, MayLower;
    journal.retention_days: 1..=3_650, MayNotTouch;
    journal.retention_calls: 1..=100_000_000, MayNotTouch;
    journal.retention_runs: 1..=1_000_000, MayNotTouch;
    journal.runs_bytes: MIB..=MIB * MIB, MayNotTouch;
    journal.artifacts_bytes: MIB..=MIB * MIB, MayNotTouch;
    programs.memory_bytes: 16 * MIB..=64 * MIB * MIB, MayLower;
    programs.processes: 1..=1_000_000, MayLower;
    programs.file_bytes: MIB..=1_024 * MIB * MIB, MayLower;
};

/// A setting that is a level of confinement. A project that nobody trusts may raise it.
pub(crate) struct Level {
    pub(crate) name: &'static str,
    /// The section and the name.
    pub(crate) key: &'static str,
    pub(crate) field: fn(&mut Config) -> &mut SandboxLevel,
}

/// The section of how programs are run.
pub(crate) const PROGRAMS: &str = "programs";

/// Every level.
pub(crate) static LEVELS: [Level; 2] = [
    Level {
        name: "sandbox",
        key: "programs.sandbox",
        field: |config| &mut config.programs.sandbox,
    },
    Level {
        name: "sandbox_at_least",
        key: "programs.sandbox_at_least",
        field: |config| &mut config.programs.sandbox_at_least,
    },
];

/// The one setting that is true or false.
pub(crate) const RECORD_ARGUMENTS: &str = "journal.record_arguments";

impl Number {
    pub(crate) fn check(&self, value: u64) -> Result<u64, Problem> {
        if self.range.contains(&value) { Ok(value) } else { Err(self.out_of_range(value)) }
    }

    pub(crate) fn out_of_range(&self, value: impl ToString) -> Problem {
        Problem::Range {
            key: self.key.to_owned(),
            value: escaped(&value.to_string()),
            min: *self.range.start(),
            max: *self.range.end(),
        }
    }
}

impl Default for crate::Limits {
    fn default() -> Self {
        Self {
            permits: limits::PERMITS as u64,
            calls_per_step: limits::CALLS_PER_STEP as u64,
            calls_per_run: limits::CALLS_PER_RUN,
            approval_ms: limits::APPROVAL_MS,
            acquire_ms: limits::ACQUIRE_MS,
            hook_ms: limits::HOOK_MS,
            outcome_text_bytes: limits::OUTCOME_TEXT_BYTES as u64,
        }
    }
}

impl Default for crate::Programs {
    fn default() -> Self {
        Self {
            sandbox: SandboxLevel::default(),
            sandbox_at_least: SandboxLevel::None,
            environment: Vec::new(),
            read: Vec::new(),
            memory_bytes: limits::PROGRAM_MEMORY_BYTES,
            processes: limits::PROGRAM_PROCESSES,
            file_bytes: limits::PROGRAM_FILE_BYTES,
        }
    }
}

impl Default for crate::Journal {
    fn default() -> Self {
        Self {
            retention_days: u64::from(limits::RETENTION_DAYS),
            retention_calls: limits::RETENTION_CALLS,
            retention_runs: limits::RETENTION_RUNS,
            runs_bytes: limits::RUNS_BYTES,
            artifacts_bytes: limits::ARTIFACTS_BYTES,
            record_arguments: true,
        }
    }
}

/// Returns the candidate that was probably meant.
pub(crate) fn nearest<'c>(
    text: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // Longer texts are no slip of a known word, and comparing them would take long.
    let text: String = text.chars().take(64).collect();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&text, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
