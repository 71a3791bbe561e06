//! What works here, found by trying.

use crate::SandboxLevel;

/// What works here, level by level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether there is a helper that works.
    pub helper: HelperState,
    /// The levels, from the weakest on.
    pub levels: Vec<LevelReport>,
}

/// Whether there is a helper that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelperState {
    /// It does.
    Works,
    /// There is none.
    Absent,
    /// There is one, and it does not work.
    Fails {
        /// What is wrong.
        problem: String,
    },
}

impl Report {
    /// Returns the strongest level that works.
    pub fn strongest(&self) -> SandboxLevel {
        let works = self.levels.iter().filter(|it| it.works());
        works.map(|it| it.level).max().unwrap_or(SandboxLevel::None)
    }

    /// Returns the weakest level that does not work, with what is wrong.
    pub fn first_problem(&self) -> Option<(SandboxLevel, &str)> {
        self.levels.iter().find_map(|it| Some((it.level, it.problem.as_deref()?)))
    }
}

/// What was found about one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelReport {
    /// The level.
    pub level: SandboxLevel,
    /// Why it cannot be used, if it cannot.
    pub problem: Option<String>,
    /// What was tried under it, if that came so far.
    pub trials: Vec<Trial>,
}

impl LevelReport {
    /// Tells whether the level works.
    pub fn works(&self) -> bool {
        self.problem.is_none()
    }

    pub(crate) fn without_trial(level: SandboxLevel, problem: Option<String>) -> Self {
        Self { level, problem, trials: Vec::new() }
    }
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// What it was, in a few words.
    pub what: String,
    /// Whether it was refused.
    pub is_refused: bool,
}
