//! The decision itself: one level of a policy, one call.

use haft_protocol::{Approval, Capability, Decision, LogicalPath};

use crate::path_pattern::Trail;
use crate::policy::Level;
use crate::rule::Mismatch;
use crate::subject::Effects;
use crate::{Resource, Rule, Subject};

/// A subject, prepared: its effects in full, its paths taken apart and known to be resolved.
pub(crate) struct Case<'s> {
    pub(crate) subject: &'s Subject<'s>,
    pub(crate) effects: Effects,
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
        Ok(Self { subject, effects: Effects::of(subject), trails })
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground<'l> {
    /// A rule, met by the resource of this index.
    Rule { rule: &'l Rule, resource: Option<usize> },
    /// The preset, by these effects.
    Preset { decision: Decision, effects: Effects },
}

/// How a rule stands to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleStanding {
    Matches {
        resource: Option<usize>,
    },
    Differs(Mismatch),
    /// It would match, and allows what nobody trusts it to.
    Untrusted,
    /// It would match, and allows what a preset of a later layer denies.
    Overruled,
}

impl Level {
    pub(crate) fn assess(&self, case: &Case<'_>) -> Assessment<'_> {
        let (preset_decision, preset_effects) = self.preset_decision(case.effects);
        let rules: Vec<_> = self
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
                    Ok(resource) => RuleStanding::Matches { resource },
                };
                (&**rule, standing)
            })
            .collect();

        let first = |decision: Decision| {
            rules.iter().find_map(|(rule, standing)| match standing {
                RuleStanding::Matches { resource } if rule.decision() == decision => {
                    Some(Ground::Rule { rule, resource: *resource })
                }
                _ => None,
            })
        };
        let preset = Ground::Preset { decision: preset_decision, effects: preset_effects };
        let (decision, ground) = if let Some(rule) = first(Decision::Deny) {
            (Decision::Deny, rule)
        } else {
            let (base, ground) = match first(Decision::Allow) {
                Some(rule) => (Decision::Allow, rule),
                None => (preset_decision, preset),
            };
            match first(Decision::Ask) {
                Some(rule) if base < Decision::Deny => (Decision::Ask, rule),
                _ => (base, ground),
            }
        };
        Assessment { decision, ground, rules }
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
        let matching = self.rules.iter().filter(|(rule, standing)| {
            rule.decision() == self.decision && matches!(standing, RuleStanding::Matches { .. })
        });
        match self.ground {
            Ground::Rule { .. } => matching.count().saturating_sub(1),
            Ground::Preset { .. } => 0,
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
}

impl Ending {
    pub(crate) fn of(assessed: Decision, yes: bool, approval: Approval) -> (Decision, Self) {
        match (assessed, approval) {
            (Decision::Deny, _) => (Decision::Deny, Self::Plain),
            (Decision::Allow, Approval::Always) => (Decision::Ask, Self::Insists),
            (Decision::Ask, Approval::Always) if yes => (Decision::Ask, Self::Insists),
            (Decision::Ask, Approval::ByPolicy) if yes => (Decision::Allow, Self::Answered),
            (assessed, _) => (assessed, Self::Plain),
        }
    }
}
