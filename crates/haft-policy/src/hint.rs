//! Ways out of a decision, as instructions to a person.

use haft_protocol::{Access, Capability, Decision};

use crate::assess::{Assessment, Case, Ending, Escape, Ground, RuleStanding};
use crate::coverage;
use crate::error::escaped;
use crate::policy::Level;
use crate::rule::{Met, Mismatch};
use crate::shell::Script;
use crate::subject::Effects;
use crate::{CommandPattern, Layer, PathPattern, Preset, Rule, ToolPattern};

/// Bound paths up to which a rule is suggested; beyond, nobody would read it before saving it.
const SUGGESTED_PATHS: usize = 8;
/// Commands up to which one is.
const SUGGESTED_COMMANDS: usize = 8;

pub(crate) fn ways_out(
    level: &Level,
    case: &Case<'_>,
    assessment: &Assessment<'_>,
    ending: Ending,
) -> Vec<String> {
    if matches!(ending, Ending::Insists | Ending::Doubtful) {
        return vec!["a person has to answer when asked: `--yes` does not".to_owned()];
    }
    if ending == Ending::Answered || assessment.decision == Decision::Allow {
        return Vec::new();
    }
    let mut hints = why_not(assessment);
    hints.extend(ways_out_of_ground(level, &assessment.ground));
    hints.extend(over_trees(case, &assessment.ground));
    if let Ground::Preset { decision, .. } = assessment.ground.clone() {
        let could_lift = |rule| decision < Decision::Deny || level.lifts_preset(rule);
        let untrusted = assessment
            .rules
            .iter()
            .find(|(rule, standing)| *standing == RuleStanding::Untrusted && could_lift(rule));
        if let Some((rule, _)) = untrusted {
            hints.push(format!(
                "a person can read the project's file and `haft trust` it: its rule `{rule}` ({}) allows the call",
                rule.origin()
            ));
        }
        let lifted = decision != Decision::Deny || level.preset_origin.layer <= Layer::User;
        if let Some(rule) = suggestion(case).filter(|_| lifted) {
            let file = match &level.user_file {
                Some(file) => format!("`{}`", escaped(file.chars())),
                None => "the user's config.toml".to_owned(),
            };
            hints.push(format!("to allow it for good, add to {file}:\n{}", rule.to_toml()));
        }
    }
    hints
}

/// Says why a rule that allows commands does not cover these.
fn why_not(assessment: &Assessment<'_>) -> Vec<String> {
    if !matches!(assessment.ground, Ground::Preset { .. }) {
        return Vec::new();
    }
    let differs = assessment.rules.iter().filter_map(|(rule, standing)| match standing {
        RuleStanding::Differs(
            mismatch @ (Mismatch::Uncovered { .. } | Mismatch::Obstacle { .. }),
        ) if rule.decision() == Decision::Allow => Some((rule, mismatch)),
        _ => None,
    });
    let said = |(rule, mismatch): (&&Rule, &Mismatch)| {
        format!("the rule `{rule}` does not cover it: {mismatch}")
    };
    differs.map(said).take(1).collect()
}

/// Says how to leave a call out of a rule that covers it only because it may touch anything.
fn over_trees(case: &Case<'_>, ground: &Ground<'_>) -> Option<String> {
    let Ground::Rule { rule, .. } = ground else { return None };
    let tree = case.subject.resources.iter().find(|it| it.access.is_of_tree())?;
    if rule.paths().is_empty() || rule.decision() == Decision::Allow {
        return None;
    }
    let (tool, path) = (case.subject.tool, &tree.path);
    let does = if tree.access.writes() { "write" } else { "read" };
    Some(format!(
        "`{tool}` may {does} anything beneath `{path}`, so the rule holds for it; a person can name other tools in the rule"
    ))
}

pub(crate) fn ways_out_of_ground(level: &Level, ground: &Ground<'_>) -> Vec<String> {
    let decision = match ground {
        Ground::Rule { rule, met: Met::Doubt(_) } if rule.decision() == Decision::Deny => {
            return vec!["a person has to answer when asked: `--yes` does not".to_owned()];
        }
        Ground::Rule { rule, .. } => rule.decision(),
        Ground::Preset { decision, .. } => *decision,
        Ground::Confined { to, by: Escape::Programs } => {
            return vec![format!("use tools that read and change files in `{to}`")];
        }
        Ground::Confined { to, by: Escape::Resource(_) | Escape::Unbound } => {
            return vec![format!("name `{to}` or a path in it")];
        }
    };
    let mut hints = Vec::new();
    if decision == Decision::Ask {
        let full = matches!(ground, Ground::Preset { .. }) && level.preset < Preset::Full;
        let full = if full { format!(" or `--preset {}`", Preset::Full) } else { String::new() };
        hints.push(format!("a person can answer when asked, or start with `--yes`{full}"));
    }
    match ground {
        Ground::Rule { rule, .. } => match rule.origin().layer {
            Layer::Flag | Layer::Environment => {
                hints.push(format!("a person can start without {}", rule.origin()));
            }
            Layer::Default | Layer::User | Layer::Project => {
                hints.push(format!("a person can change that rule ({})", rule.origin()));
            }
        },
        Ground::Preset { decision: Decision::Deny, effects } => {
            let enough = Preset::ALL.into_iter().find(|preset| {
                effects.iter().all(|effect| preset.decision(effect) < Decision::Deny)
            });
            if let Some(preset) = enough {
                hints.push(format!("a person can start with `--preset {preset}`"));
            }
        }
        Ground::Preset { .. } | Ground::Confined { .. } => {}
    }
    hints
}

/// Names each command of a script, where rules can allow it.
fn commands(mut rule: Rule, script: &Script) -> Option<Rule> {
    let named: Vec<_> = script.commands().iter().filter(|it| coverage::is_named(it)).collect();
    if named.len() > SUGGESTED_COMMANDS {
        return None;
    }
    for command in named {
        let pattern = CommandPattern::exactly(command)?;
        if !rule.commands().contains(&pattern) {
            rule = rule.command(pattern);
        }
    }
    (!rule.commands().is_empty()).then_some(rule)
}

/// Returns the narrowest rule that would allow the call.
fn suggestion(case: &Case<'_>) -> Option<Rule> {
    if case.subject.resources.len() > SUGGESTED_PATHS {
        return None;
    }
    let mut rule = Rule::allow().tool(ToolPattern::exactly(case.subject.tool));
    if let Some(script) = case.subject.commands {
        return commands(rule, script).filter(|rule| rule.fit(case) == Ok(Met::Call));
    }
    for (resource, _) in case.resources() {
        let pattern = match resource.access {
            Access::Read | Access::Write => PathPattern::exactly(&resource.path),
            Access::ReadTree | Access::WriteTree => PathPattern::tree(&resource.path),
        }
        .ok()?;
        if !rule.paths().contains(&pattern) {
            rule = rule.path(pattern);
        }
    }
    let effects: Vec<Capability> = case.effects.iter().collect();
    let beyond_files = !case.effects.without(Effects::FILES).is_empty();
    if beyond_files || rule.paths().is_empty() {
        rule = effects.into_iter().fold(rule, Rule::capability);
    }
    Some(rule)
}
