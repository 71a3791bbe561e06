//! Why a policy decides as it does, rule by rule.

use std::fmt;

use haft_protocol::{Access, Capability, Decision, LogicalPath, QualifiedName};
use serde::Serialize;

use crate::assess::{Case, Ending, Ground, RuleStanding};
use crate::coverage;
use crate::error::escaped;
use crate::policy::Level;
use crate::rule::{Met, Mismatch};
use crate::shell::Script;
use crate::subject::Effects;
use crate::{Because, Origin, Preset, Resource, Subject, Verdict};

/// Why a policy decides over a call as it does: every rule, whether it matched, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// What it rests on, and the ways out.
    pub because: Because,
    /// The tool.
    pub tool: QualifiedName,
    /// The alias it was called by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<QualifiedName>,
    /// What the call does, by its declaration and by what it is bound to.
    pub effects: Vec<Capability>,
    /// What the call is bound to.
    pub resources: Vec<Resource>,
    /// What the call runs, and what of it is not clear, each on one line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Each authority that has a say. Empty when a path was not resolved and no rule was looked at.
    pub levels: Vec<LevelExplanation>,
}

/// What one authority says about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LevelExplanation {
    /// The decision of this authority.
    pub decision: Decision,
    /// What the rules about commands say of each command, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandExplanation>,
    /// Every rule, in order.
    pub rules: Vec<RuleExplanation>,
    /// The preset.
    pub preset: Preset,
    /// Where the preset comes from.
    pub preset_origin: Origin,
    /// What the preset says of the call.
    pub preset_decision: Decision,
    /// The effects that make the preset say so.
    pub preset_effects: Vec<Capability>,
    /// Whether the preset's word is the one that counts.
    pub preset_decides: bool,
    /// The directory that calls are confined to, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<LogicalPath>,
    /// Whether yes was said beforehand.
    pub yes: bool,
    /// Whether the tool itself insists on being asked about.
    pub insists: bool,
}

/// What the rules about commands say of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandExplanation {
    /// The command on one line.
    pub command: String,
    /// The decision; `None` where no rule about commands names it.
    pub decision: Option<Decision>,
    /// By which rule, or why there is none.
    pub why: String,
}

/// What one rule has to say about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleExplanation {
    /// The rule on one line.
    pub rule: String,
    /// Where it stands.
    pub origin: Origin,
    /// How it stands to the call.
    pub standing: Standing,
    /// Why, in a few words.
    pub why: String,
}

/// How a rule stands to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It matches, and the decision rests on it.
    Decides,
    /// It matches, and another rule or the preset weighs more.
    Matches,
    /// It does not match the call, and hides what it is about from it.
    Hides,
    /// It is about other calls.
    Differs,
    /// It matches and is not followed.
    Ignored,
}

impl Standing {
    /// Returns the name used in serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decides => "decides",
            Self::Matches => "matches",
            Self::Hides => "hides",
            Self::Differs => "differs",
            Self::Ignored => "ignored",
        }
    }
}

pub(crate) fn explain(levels: &[Level], subject: &Subject<'_>, verdict: &Verdict) -> Explanation {
    let case = Case::new(subject).ok();
    let levels = case.iter().flat_map(|case| levels.iter().map(|level| level.explain(case)));
    Explanation {
        decision: verdict.decision(),
        because: verdict.because().clone(),
        tool: subject.tool.clone(),
        alias: subject.alias.cloned(),
        effects: Effects::of(subject).iter().collect(),
        resources: subject.resources.to_vec(),
        commands: subject.commands.map(Script::lines).unwrap_or_default(),
        levels: levels.collect(),
    }
}

impl Level {
    fn explain(&self, case: &Case<'_>) -> LevelExplanation {
        let assessment = self.assess(case);
        let (preset_decision, effects) = self.preset_decision(case.effects);
        let (decision, ending) = Ending::of(&assessment, self.yes, case);
        let rules = assessment.rules.iter().map(|(rule, standing)| {
            let decides = matches!(assessment.ground, Ground::Rule { rule: winner, .. }
                if std::ptr::eq(winner, *rule));
            let (standing, why) = match standing {
                // A question about what lies beneath is answered by a yes that was said beforehand.
                RuleStanding::Differs(mismatch @ Mismatch::Beneath { .. })
                    if rule.decision() == Decision::Deny || !self.yes =>
                {
                    (Standing::Hides, mismatch.to_string())
                }
                RuleStanding::Differs(Mismatch::Beneath { .. }) => {
                    (Standing::Differs, "yes was said beforehand".to_owned())
                }
                RuleStanding::Differs(mismatch) => (Standing::Differs, mismatch.to_string()),
                RuleStanding::Untrusted => (
                    Standing::Ignored,
                    "its file is not trusted, so it may not allow anything".to_owned(),
                ),
                RuleStanding::Overruled => (
                    Standing::Ignored,
                    format!("the preset that denies was set later ({})", self.preset_origin),
                ),
                RuleStanding::Shares => {
                    let standing = if decides { Standing::Decides } else { Standing::Matches };
                    (standing, "some of the commands, and other rules the rest".to_owned())
                }
                RuleStanding::Matches { met } => {
                    let subject = case.subject;
                    let on = match met {
                        Met::Call => None,
                        Met::Resource(index) => subject
                            .resources
                            .get(*index)
                            .map(|it| format!("`{}`", escaped(it.path.as_str().chars()))),
                        Met::Command(index) => subject
                            .commands
                            .and_then(|it| it.commands().get(*index))
                            .map(|it| format!("`{it}`")),
                        Met::Doubt(why) => Some(why.clone()),
                    };
                    let standing = if decides { Standing::Decides } else { Standing::Matches };
                    (standing, on.unwrap_or_else(|| "the call".to_owned()))
                }
            };
            RuleExplanation { rule: rule.to_string(), origin: rule.origin().clone(), standing, why }
        });
        LevelExplanation {
            decision,
            commands: coverage::explain(case, &assessment),
            rules: rules.collect(),
            preset: self.preset,
            preset_origin: self.preset_origin.clone(),
            preset_decision,
            preset_effects: effects.iter().collect(),
            preset_decides: matches!(assessment.ground, Ground::Preset { .. }),
            within: self.within.clone(),
            yes: self.yes,
            insists: ending == Ending::Insists,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.decision, self.because)?;
        write!(f, "\ncall {}", self.tool)?;
        if let Some(alias) = &self.alias {
            write!(f, " by the alias {alias}")?;
        }
        writeln!(f, "\n  effects: {}", words(&self.effects))?;
        for Resource { slot, path, access } in &self.resources {
            let verb = match access {
                Access::Read => "reads",
                Access::ReadTree => "reads all of",
                Access::Write => "writes",
                Access::WriteTree => "writes all of",
            };
            writeln!(f, "  {slot} {verb} {}", escaped(path.as_str().chars()))?;
        }
        for command in &self.commands {
            writeln!(f, "  runs {command}")?;
        }
        for (index, level) in self.levels.iter().enumerate() {
            let authority = match index {
                0 => "policy".to_owned(),
                _ => format!("narrowed by policy {}", index + 1),
            };
            write!(f, "\n{authority} says {}\n{level}", level.decision)?;
        }
        if !self.because.hints().is_empty() {
            writeln!(f)?;
        }
        for hint in self.because.hints() {
            writeln!(f, "hint: {}", hint.trim_end())?;
        }
        Ok(())
    }
}

impl fmt::Display for LevelExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for command in &self.commands {
            writeln!(f, "  {command}")?;
        }
        for rule in &self.rules {
            writeln!(f, "  {rule}")?;
        }
        let decides = if self.preset_decides { "decides" } else { "says" };
        writeln!(
            f,
            "  preset {} ({})\n    {decides}: {} {}",
            self.preset,
            self.preset_origin,
            self.preset_decision,
            words(&self.preset_effects),
        )?;
        if let Some(within) = &self.within {
            writeln!(f, "  calls are confined to {}", escaped(within.as_str().chars()))?;
        }
        if self.insists {
            writeln!(f, "  the tool always asks")?;
        } else if self.yes {
            writeln!(f, "  yes was said beforehand")?;
        }
        Ok(())
    }
}

impl fmt::Display for CommandExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n    ", self.command)?;
        if let Some(decision) = self.decision {
            write!(f, "{decision}: ")?;
        }
        f.write_str(&self.why)
    }
}

impl fmt::Display for RuleExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})\n    {}: {}", self.rule, self.origin, self.standing.as_str(), self.why)
    }
}

fn words(effects: &[Capability]) -> String {
    if effects.is_empty() {
        return "none".to_owned();
    }
    effects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
