//! The decision itself: one level of a policy, one call.

use haft_protocol::{Approval, Capability, Decision, LogicalPath};

use crate::coverage;
use crate::path_pattern::Trail;
use crate::policy::Level;
use crate::rule::{Met, Mismatch};
use crate::subject::Effects;
use crate::{Resource, Rule, Subject};

/// A subject, prepared: its effects in full, its paths taken apart and known to be resolved.
pub(crate) struct Case<'s> {
    pub(crate) subject: &'s Subject<'s>,
    pub(crate) effects: Effects,
    /// Why no rule about commands may allow the call's.
    pub(crate) obstacle: Option<String>,
    trails: Vec<Trail<'s>>,
}

impl<'s> Case<'s> {
    /// Prepares a subject.
    ///
    /// # Errors
    ///
    /// Fails with the first path that is not resolved.
    pub(crate) fn new(subject: &'s Subject<'s>) -> Result<Self, &'s LogicalPath> {
        let trails = subject
            .resources
            .iter()
            .map(|resource| Trail::of(&resource.path).ok_or(&resource.path))
            .collect::<Result<_, _>>()?;
        let obstacle = subject.commands.and_then(coverage::obstacle);
        Ok(Self { subject, effects: Effects::of(subject), obstacle, trails })
    }

    pub(crate) fn resources(&self) -> impl Iterator<Item = (&'s Resource, &Trail<'s>)> {
        self.subject.resources.iter().zip(&self.trails)
    }
}

/// What one level of a policy says about a call, and why.
pub(crate) struct Assessment<'l> {
    pub(crate) decision: Decision,
    pub(crate) ground: Ground<'l>,
    /// Each rule of the level, in order.
    pub(crate) rules: Vec<(&'l Rule, RuleStanding)>,
}

/// What a decision rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ground<'l> {
    /// A rule, and what of the call met it.
    Rule { rule: &'l Rule, met: Met },
    /// The preset, by these effects.
    Preset { decision: Decision, effects: Effects },
    /// The directory that calls are confined to.
    Confined { to: &'l LogicalPath, by: Escape },
}

/// How a call would leave the directory that it is confined to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// It runs programs.
    Programs,
    /// It reads or changes files, and is bound to none.
    Unbound,
    /// It is bound to this one of its resources.
    Resource(usize),
}

/// How a rule stands to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleStanding {
    Matches {
        met: Met,
    },
    /// It allows some of the commands, and other rules the rest.
    Shares,
    Differs(Mismatch),
    /// It would match, and allows what nobody trusts it to.
    Untrusted,
    /// It would match, and allows what a preset of a later layer denies.
    Overruled,
}

/// Returns the ground that a rule is, where it is about the call.
fn ground<'l>((rule, standing): &(&'l Rule, RuleStanding)) -> Option<Ground<'l>> {
    match standing {
        RuleStanding::Matches { met } => Some(Ground::Rule { rule, met: met.clone() }),
        RuleStanding::Shares => Some(Ground::Rule { rule, met: Met::Call }),
        RuleStanding::Differs(_) | RuleStanding::Untrusted | RuleStanding::Overruled => None,
    }
}

impl RuleStanding {
    /// Returns what a rule comes to that is about the call.
    pub(crate) fn decision(&self, rule: &Rule) -> Option<Decision> {
        match self {
            Self::Matches { met: Met::Doubt(_) } => Some(rule.decision().min(Decision::Ask)),
            Self::Matches { .. } | Self::Shares => Some(rule.decision()),
            Self::Differs(_) | Self::Untrusted | Self::Overruled => None,
        }
    }

    fn is_doubtful(&self) -> bool {
        matches!(self, Self::Matches { met: Met::Doubt(_) })
    }
}

impl Level {
    pub(crate) fn assess(&self, case: &Case<'_>) -> Assessment<'_> {
        let (preset_decision, preset_effects) = self.preset_decision(case.effects);
        let mut rules: Vec<_> = self
            .rules
            .iter()
            .map(|rule| {
                let standing = match rule.fit(case) {
                    Err(mismatch) => RuleStanding::Differs(mismatch),
                    Ok(_) if rule.is_ignored() => RuleStanding::Untrusted,
                    Ok(_)
                        if rule.decision() == Decision::Allow
                            && preset_decision == Decision::Deny
                            && !self.lifts_preset(rule) =>
                    {
                        RuleStanding::Overruled
                    }
                    Ok(met) => RuleStanding::Matches { met },
                };
                (&**rule, standing)
            })
            .collect();

        self.share(case, preset_decision, &mut rules);
        if let Some(ground) = self.escape(case) {
            return Assessment { decision: Decision::Deny, ground, rules };
        }
        let first = |decision: Decision| {
            rules
                .iter()
                .find(|(rule, standing)| standing.decision(rule) == Some(decision))
                .and_then(ground)
        };
        // A deny that is in doubt comes before the other questions: a yes said beforehand answers those alone.
        let is_doubtful = |(rule, standing): &&(&Rule, RuleStanding)| {
            rule.decision() == Decision::Deny && standing.is_doubtful()
        };
        let doubt = rules.iter().find(is_doubtful).and_then(ground);
        let preset = Ground::Preset { decision: preset_decision, effects: preset_effects };
        let (decision, ground) = if let Some(rule) = first(Decision::Deny) {
            (Decision::Deny, rule)
        } else {
            let (base, ground) = match first(Decision::Allow) {
                Some(rule) => (Decision::Allow, rule),
                None => (preset_decision, preset),
            };
            match doubt.or_else(|| first(Decision::Ask)) {
                Some(rule) if base < Decision::Deny => (Decision::Ask, rule),
                _ => (base, ground),
            }
        };
        Assessment { decision, ground, rules }
    }

    /// Tells how a call would leave the directory that it is confined to.
    fn escape(&self, case: &Case<'_>) -> Option<Ground<'_>> {
        let to = self.within.as_ref()?;
        let by = if case.effects.has(Capability::Execute) {
            Escape::Programs
        } else if let Some(index) =
            case.resources().position(|(_, trail)| !trail.is_within_directory(to))
        {
            Escape::Resource(index)
        } else if case.effects.meets(Effects::FILES) && case.subject.resources.is_empty() {
            Escape::Unbound
        } else {
            return None;
        };
        Some(Ground::Confined { to, by })
    }

    /// Lets rules that allow some of the call's commands each allow them all together.
    fn share(&self, case: &Case<'_>, preset: Decision, rules: &mut [(&Rule, RuleStanding)]) {
        let Some(script) = case.subject.commands else { return };
        let may_share = |(rule, standing): &(&Rule, RuleStanding)| {
            matches!(standing, RuleStanding::Differs(Mismatch::Uncovered { .. }))
                && !rule.is_ignored()
                && (preset < Decision::Deny || self.lifts_preset(rule))
        };
        let sharing: Vec<&Rule> =
            rules.iter().filter(|it| may_share(it)).map(|(rule, _)| *rule).collect();
        if sharing.is_empty() || coverage::uncovered(script, &sharing).is_some() {
            return;
        }
        for (rule, standing) in rules.iter_mut() {
            let has_part = script
                .commands()
                .iter()
                .any(|it| rule.commands().iter().any(|pattern| pattern.matches(it)));
            if has_part && sharing.iter().any(|it| std::ptr::eq(*it, *rule)) {
                *standing = RuleStanding::Shares;
            }
        }
    }

    /// Decides by the preset alone, and names the effects that it turned on.
    pub(crate) fn preset_decision(&self, effects: Effects) -> (Decision, Effects) {
        let decide = |effect: &Capability| self.preset.decision(*effect);
        let strictest = effects.iter().map(|it| decide(&it)).max().unwrap_or(Decision::Allow);
        (strictest, effects.iter().filter(|it| decide(it) == strictest).collect())
    }

    /// Tells whether a rule that allows may lift a deny of the preset: what was said later weighs more.
    pub(crate) fn lifts_preset(&self, rule: &Rule) -> bool {
        rule.origin().layer >= self.preset_origin.layer
    }
}

impl Assessment<'_> {
    /// Returns how many more rules of the winner's decision match.
    pub(crate) fn others(&self) -> usize {
        let matching = self
            .rules
            .iter()
            .filter(|(rule, standing)| standing.decision(rule) == Some(self.decision));
        match self.ground {
            Ground::Rule { .. } => matching.count().saturating_sub(1),
            Ground::Preset { .. } | Ground::Confined { .. } => 0,
        }
    }
}

/// How an assessment ends when yes was said beforehand, or a tool insists on being asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As assessed.
    Plain,
    /// An ask was answered beforehand.
    Answered,
    /// The tool itself always asks.
    Insists,
    /// What would be denied could not be told from what would not, and nobody has looked at it yet.
    Doubtful,
}

impl Ending {
    pub(crate) fn of(assessment: &Assessment<'_>, yes: bool, case: &Case<'_>) -> (Decision, Self) {
        let assessed = assessment.decision;
        let is_doubtful = matches!(&assessment.ground, Ground::Rule { rule, met: Met::Doubt(_) }
            if rule.decision() == Decision::Deny);
        match (assessed, case.subject.effects.approval()) {
            (Decision::Ask, _) if yes && is_doubtful => (Decision::Ask, Self::Doubtful),
            (Decision::Deny, _) => (Decision::Deny, Self::Plain),
            (Decision::Allow, Approval::Always) => (Decision::Ask, Self::Insists),
            (Decision::Ask, Approval::Always) if yes => (Decision::Ask, Self::Insists),
            (Decision::Ask, Approval::ByPolicy) if yes => (Decision::Allow, Self::Answered),
            (assessed, _) => (assessed, Self::Plain),
        }
    }
}
