//! Rules about commands that come together, and what is told of each.

use haft_policy::{CommandPattern, Layer, Origin, Policy, Preset, Rule};
use haft_protocol::Capability;
use haft_protocol::Decision::{self, Allow, Ask, Deny};

use crate::call::{Call, rule};

fn about(rule: Rule, pattern: &str) -> Rule {
    rule.command(pattern.parse().unwrap())
}

fn user(rule: Rule) -> Rule {
    rule.with_origin(Origin::new(Layer::User).at("config.toml", 1))
}

/// Rules that allow part of a text each allow all of it, where each of them could have.
#[test]
fn rules_share_a_text_within_what_the_preset_leaves_them() {
    let decide = |preset, layer| {
        let rules = ["ls *", "echo *"].map(|it| user(about(Rule::allow(), it)));
        let policy = Policy::builder().preset(preset, Origin::new(layer)).rules(rules);
        Call::runs("ls a; echo b").under(&policy.build().unwrap()).decision()
    };
    for (preset, layer, decision) in [
        (Preset::Edit, Layer::Default, Allow),
        (Preset::Edit, Layer::Flag, Allow),
        (Preset::ReadOnly, Layer::Default, Allow),
        (Preset::ReadOnly, Layer::User, Allow),
        (Preset::ReadOnly, Layer::Flag, Deny),
    ] {
        assert_eq!(decide(preset, layer), decision, "{preset} by {layer:?}");
    }
}

/// What each rule comes to, and what is said of each command.
fn explained(rules: Vec<Rule>, text: &str) -> (Vec<String>, Vec<(Option<Decision>, String)>) {
    let policy = Policy::new(Preset::Edit, rules, false).unwrap();
    let level = Call::runs(text).with(|subject| policy.explain(subject)).levels.remove(0);
    let rules = level.rules.iter().map(|it| format!("{}: {}", it.standing.as_str(), it.why));
    let commands = level.commands.iter().map(|it| (it.decision, it.why.clone()));
    (rules.collect(), commands.collect())
}

#[test]
fn a_rule_that_allows_no_part_has_no_share() {
    let rules = ["ls *", "cat *", "echo *"].map(|it| about(Rule::allow(), it)).to_vec();
    let (standing, commands) = explained(rules, "ls a; echo b");
    insta::assert_snapshot!(standing.join("\n"), @"
    decides: some of the commands, and other rules the rest
    differs: `ls a` is none of its commands
    matches: some of the commands, and other rules the rest
    ");
    assert_eq!(commands.len(), 2);
}

#[test]
fn a_command_is_told_by_rules_that_may_speak_of_it() {
    let names_nothing = || (None, "no rule about commands names it".to_owned());
    let runs_nothing = || (None, "runs nothing".to_owned());
    let ls = || about(Rule::allow(), "ls *");
    let by_ls = || (Some(Allow), "allow command = \"ls *\" (default)".to_owned());

    // A program by its path is not the one that a rule allows.
    let (_, commands) = explained(vec![ls()], "ls a; /tmp/ls a; > /dev/null");
    assert_eq!(commands, [by_ls(), names_nothing(), runs_nothing()]);
    // Nobody trusts what the project allows.
    let theirs = about(Rule::allow(), "id *").with_origin(Origin::new(Layer::Project).at("x", 1));
    let (_, commands) = explained(vec![ls(), theirs], "ls a; id");
    assert_eq!(commands, [by_ls(), names_nothing()]);
    // Rules that name no commands say nothing of them.
    let (_, commands) = explained(vec![rule("allow bash")], "ls a");
    assert_eq!(commands, []);
    // Nor does one that a preset of a later layer overrules.
    let policy = Policy::builder()
        .preset(Preset::ReadOnly, Origin::new(Layer::Flag))
        .rule(user(ls()))
        .build()
        .unwrap();
    let level = Call::runs("ls a").with(|subject| policy.explain(subject)).levels.remove(0);
    assert_eq!((level.decision, level.commands), (Deny, Vec::new()));
}

#[test]
fn a_preset_says_of_each_call_what_it_does() {
    let policy = Policy::new(Preset::Edit, Vec::new(), false).unwrap();
    let because = |effect| Call::new("x/y", &[effect]).under(&policy).because().to_string();
    for _ in 0..2 {
        insta::allow_duplicates! {
            insta::assert_snapshot!(because(Capability::Execute), @"the preset `edit` (default) asks before `execute`");
            insta::assert_snapshot!(because(Capability::Network), @"the preset `edit` (default) asks before `network`");
            insta::assert_snapshot!(because(Capability::WriteFiles), @"the preset `edit` (default) allows `write_files`");
        }
    }
}

#[test]
fn a_tool_that_always_asks_is_said_to_where_yes_was_said() {
    let call = Call::new("builtin/bash", &[Capability::Execute]).always_asking();
    let because = |preset, yes| {
        let verdict = call.under(&Policy::new(preset, Vec::new(), yes).unwrap());
        assert_eq!(verdict.decision(), Ask);
        verdict.because().to_string()
    };
    insta::assert_snapshot!(because(Preset::Edit, false), @"the preset `edit` (default) asks before `execute`");
    insta::assert_snapshot!(because(Preset::Edit, true), @"`builtin/bash` always asks, whatever the rules allow");
    insta::assert_snapshot!(because(Preset::Full, false), @"`builtin/bash` always asks, whatever the rules allow");
}

#[test]
fn a_pattern_of_commands_is_what_was_written() {
    let pattern: CommandPattern = "git {log,show} *".parse().unwrap();
    assert_eq!(pattern.as_str(), "git {log,show} *");
    assert_eq!(String::from(pattern.clone()), "git {log,show} *");
    assert_eq!(pattern, "git {log,show} *".parse().unwrap());
    assert_ne!(pattern, "git {show,log} *".parse().unwrap());
    for (text, tokens) in [("ls", 2), ("git log", 6), ("git {log,show} *", 3 + 3 + 4 + 1), ("*", 2)]
    {
        assert_eq!(text.parse::<CommandPattern>().unwrap().tokens(), tokens, "{text}");
    }
}
