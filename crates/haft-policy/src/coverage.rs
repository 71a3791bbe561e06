//! What rules about commands have to say of a script.

use haft_protocol::Decision;

use crate::assess::{Assessment, Case, RuleStanding};
use crate::command_pattern::Fit;
use crate::rule::{Met, Mismatch};
use crate::shell::{Redirection, Script, ShellCommand, Word};
use crate::{CommandExplanation, Rule};

/// Tells why no rule about commands may allow a script, whatever its commands are.
pub(crate) fn obstacle(script: &Script) -> Option<String> {
    if let Some(unclear) = script.unclear().first() {
        return Some(format!("not clear: {unclear}"));
    }
    if script.commands().is_empty() {
        return Some("it runs no command".to_owned());
    }
    let each = script.commands().iter().find_map(|command| {
        let unknown = command.words().find_map(Word::unknown_by);
        let what = if !command.assignments().is_empty() {
            "sets variables".to_owned()
        } else if let Some(beside) = command.beside() {
            beside.to_owned()
        } else if command.redirections().iter().any(Redirection::reaches_out) {
            "redirects to more than `/dev/null`".to_owned()
        } else {
            format!("depends on {}", unknown?)
        };
        Some(format!("`{command}` {what}"))
    });
    each.or_else(|| {
        (!script.is_plain()).then(|| "it is more than plain commands in a row".to_owned())
    })
}

/// Returns the first command that a rule has to name and none of these does.
pub(crate) fn uncovered<'s>(script: &'s Script, rules: &[&Rule]) -> Option<&'s ShellCommand> {
    let covered = |command: &ShellCommand| {
        rules.iter().any(|rule| rule.commands().iter().any(|it| it.matches(command)))
    };
    script.commands().iter().find(|command| is_named(command) && !covered(command))
}

/// Tells whether a rule has to name a command: one that only runs another is allowed with it, and a statement that only
/// redirects runs nothing.
pub(crate) fn is_named(command: &ShellCommand) -> bool {
    command.program().is_some() && !command.is_frame()
}

/// Tells whether a rule that denies or asks is about a script, and by which of its commands.
pub(crate) fn restricted(script: &Script, rule: &Rule) -> Result<Met, Mismatch> {
    let fit = |command: &ShellCommand| {
        rule.commands().iter().map(|it| it.concerns(command)).max().unwrap_or(Fit::No)
    };
    let position = |wanted: Fit| script.commands().iter().position(|it| fit(it) == wanted);
    if let Some(index) = position(Fit::Yes) {
        return Ok(Met::Command(index));
    }
    if let Some(command) = position(Fit::Maybe).and_then(|it| script.commands().get(it)) {
        return Ok(Met::Doubt(format!("`{command}` could be one of its commands")));
    }
    match script.unclear().first() {
        Some(unclear) => Ok(Met::Doubt(format!("not clear: {unclear}"))),
        None => Err(Mismatch::OtherCommands),
    }
}

/// Says of each command what the rules about commands decide, and by which.
pub(crate) fn explain(case: &Case<'_>, assessment: &Assessment<'_>) -> Vec<CommandExplanation> {
    let Some(script) = case.subject.commands else { return Vec::new() };
    let rules: Vec<&Rule> = assessment
        .rules
        .iter()
        .filter(|(rule, standing)| {
            !rule.commands().is_empty() && !rule.is_ignored() && has_a_say(standing)
        })
        .map(|(rule, _)| *rule)
        .collect();
    if rules.is_empty() {
        return Vec::new();
    }
    script.commands().iter().map(|command| of_command(command, &rules)).collect()
}

/// Tells whether a rule differs, if it does, by the commands alone.
fn has_a_say(standing: &RuleStanding) -> bool {
    match standing {
        RuleStanding::Matches { .. } | RuleStanding::Shares => true,
        RuleStanding::Untrusted | RuleStanding::Overruled => false,
        RuleStanding::Differs(mismatch) => matches!(
            mismatch,
            Mismatch::OtherCommands | Mismatch::Uncovered { .. } | Mismatch::Obstacle { .. }
        ),
    }
}

fn of_command(command: &ShellCommand, rules: &[&Rule]) -> CommandExplanation {
    let met = |decision: Decision, wanted: Fit| {
        rules.iter().filter(|rule| rule.decision() == decision).find(|rule| match decision {
            Decision::Allow => rule.commands().iter().any(|it| it.matches(command)),
            _ => rule.commands().iter().any(|it| it.concerns(command) == wanted),
        })
    };
    let by = |rule: &Rule| format!("{rule} ({})", rule.origin());
    let found = [
        (Decision::Deny, Fit::Yes, Decision::Deny),
        (Decision::Deny, Fit::Maybe, Decision::Ask),
        (Decision::Ask, Fit::Yes, Decision::Ask),
        (Decision::Ask, Fit::Maybe, Decision::Ask),
        (Decision::Allow, Fit::Yes, Decision::Allow),
    ]
    .into_iter()
    .find_map(|(decision, fit, says)| met(decision, fit).map(|rule| (says, by(rule))));
    let (decision, why) = match found {
        Some((decision, why)) => (Some(decision), why),
        None if command.is_frame() => (None, "only runs another command".to_owned()),
        None if command.program().is_none() => (None, "runs nothing".to_owned()),
        None => (None, "no rule about commands names it".to_owned()),
    };
    CommandExplanation { command: command.to_string(), decision, why }
}
