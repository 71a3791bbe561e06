//! Which paths a call may meet on its way through a tree.

use std::fmt;
use std::sync::Arc;

use haft_protocol::{Access, Decision, LogicalPath};

use crate::Rule;
use crate::assess::Case;
use crate::path_pattern::Trail;
use crate::policy::Level;
use crate::rule::Met;
use crate::subject::Effects;

/// Says of any path that a call meets beneath what it is bound to whether the call may touch it.
///
/// A path is hidden when a rule that denies covers it, and when a rule that asks does: in the midst of a walk there is
/// nobody to ask. A question that was asked about the call itself counts as answered for everything beneath the path it
/// was asked about, for the filter is used only by a call that may run; `yes` answers all of them. A path that is not
/// resolved is hidden.
///
/// A call that is confined to a directory sees nothing outside of it.
///
/// Beneath a bound path, what lies in a hidden directory is hidden too, so a walk need not enter it. Cloning is cheap.
#[derive(Clone)]
pub struct PathFilter(Option<Arc<Hiding>>);

struct Hiding {
    effects: Effects,
    /// Directories that the call is confined to.
    within: Vec<LogicalPath>,
    rules: Vec<HidingRule>,
}

struct HidingRule {
    rule: Arc<Rule>,
    /// Paths the rule was asked about.
    answered: Vec<LogicalPath>,
}

impl PathFilter {
    /// Returns the filter that hides nothing.
    pub fn open() -> Self {
        Self(None)
    }

    /// Tells whether the call may look at a path.
    pub fn sees(&self, path: &LogicalPath) -> bool {
        self.admits(path, Access::Read)
    }

    /// Tells whether the call may access a path in this way.
    pub fn admits(&self, path: &LogicalPath, access: Access) -> bool {
        let Some(trail) = Trail::of(path) else { return false };
        let Some(Hiding { effects, within, rules }) = self.0.as_deref() else { return true };
        let is_inside = within.iter().all(|directory| trail.is_within_directory(directory));
        is_inside
            && rules.iter().all(|hiding| {
                !hiding.rule.restricts(&trail, access, *effects)
                    || hiding
                        .answered
                        .iter()
                        .any(|asked| Trail::of(asked).is_some_and(|asked| trail.is_within(&asked)))
            })
    }

    /// Tells whether no resolved path is hidden.
    pub fn is_open(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn new(levels: &[Level], case: &Case<'_>) -> Self {
        let rules = levels.iter().flat_map(|level| {
            level
                .rules
                .iter()
                .filter(|rule| match rule.decision() {
                    Decision::Deny => true,
                    Decision::Ask => !level.yes,
                    Decision::Allow => false,
                })
                .filter(|rule| rule.is_about_files() && rule.concerns(case.effects))
                .filter(|rule| rule.names(case.subject.tool, case.subject.alias))
                // Asked about the call as a whole: a call that runs has its answer.
                .filter(|rule| rule.decision() == Decision::Deny || rule.fit(case) != Ok(Met::Call))
        });
        let rules = rules.map(|rule| HidingRule {
            rule: Arc::clone(rule),
            answered: match rule.decision() {
                Decision::Ask => case
                    .resources()
                    .filter(|(it, trail)| rule.restricts(trail, it.access, case.effects))
                    .map(|(it, _)| it.path.clone())
                    .collect(),
                Decision::Allow | Decision::Deny => Vec::new(),
            },
        });
        let within = levels.iter().filter_map(|level| level.within.clone());
        Self::hiding(case.effects, within.collect(), rules.collect())
    }

    /// Returns the filter of a call that will not run: its paths are not resolved.
    pub(crate) fn shut() -> Self {
        let rule = HidingRule { rule: Arc::new(Rule::deny()), answered: Vec::new() };
        Self::hiding(Effects::default(), Vec::new(), vec![rule])
    }

    fn hiding(effects: Effects, within: Vec<LogicalPath>, rules: Vec<HidingRule>) -> Self {
        let is_open = within.is_empty() && rules.is_empty();
        Self((!is_open).then(|| Arc::new(Hiding { effects, within, rules })))
    }
}

impl fmt::Debug for PathFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = self.0.iter().flat_map(|hiding| &hiding.within);
        let rules = self.0.iter().flat_map(|hiding| &hiding.rules);
        f.debug_list()
            .entries(within.map(|it| format!("within {it}")))
            .entries(rules.map(|it| it.rule.to_string()))
            .finish()
    }
}
