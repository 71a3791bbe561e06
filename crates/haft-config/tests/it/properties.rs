//! What holds for every file.

use haft_config::Trust;
use haft_policy::{PathPattern, Rule, RuleAccess, ToolPattern};
use haft_protocol::{Capability, Decision, LogicalPath};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::files::Files;

/// Lines that make sense, and some that do not.
fn file() -> impl Strategy<Value = String> {
    let line = select(vec![
        "preset = 'full'",
        "preset = 'edit'",
        "preset = 'read-only'",
        "preset = ''",
        "[[rules]]",
        "decision = 'allow'",
        "decision = 'deny'",
        "decision = 'ask'",
        "tool = 'edit'",
        "path = 'src/**'",
        "paths = ['/data/**']",
        "[limits]",
        "permits = 1",
        "permits = 64",
        "calls_per_step = 7",
        "hook_ms = 86400000",
        "[journal]",
        "retention_days = 1",
        "record_arguments = false",
        "[protection]",
        "extra = ['a']",
        "except = ['a']",
        "[roots]",
        "extra = ['/x']",
        "[aliases.x]",
        "tool = 'reader'",
        "arguments = { a = 1 }",
        "[models.x]",
        "temperature = 0.5",
        "# words",
    ]);
    vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

fn rule() -> impl Strategy<Value = Rule> {
    (
        select(vec![Decision::Allow, Decision::Ask, Decision::Deny]),
        vec("[a-z*?]{1,6}(/[a-z]{1,3})?", 1..3),
        vec("[^~./\\\\\\[\\]{},*?][^\\\\\\[\\]{}*/]{0,8}", 0..3),
        subsequence(Capability::ALL.to_vec(), 0..3),
        option::of(select(vec![RuleAccess::Read, RuleAccess::Write])),
        option::of(".{0,20}"),
    )
        .prop_map(|(decision, tools, paths, capabilities, access, reason)| {
            let tools = tools.iter().filter_map(|it| it.parse::<ToolPattern>().ok());
            let rule = tools.fold(Rule::new(decision).tool("x".parse().unwrap()), Rule::tool);
            let paths = paths.iter().map(|it| PathPattern::exactly(&LogicalPath::new(it.as_str())));
            let rule = paths.filter_map(Result::ok).fold(rule, Rule::path);
            let rule = capabilities.into_iter().fold(rule, Rule::capability);
            let rule = access.into_iter().fold(rule, Rule::access);
            reason.into_iter().fold(rule, Rule::reason)
        })
}

proptest! {
    #[test]
    fn every_text_is_read_or_refused(text in any::<Vec<u8>>(), trust in any::<Vec<u8>>()) {
        let _ = Files::user(&text).load().map_err(|error| error.to_string());
        let _ = Trust::read(&trust);
    }

    #[test]
    fn every_file_is_read_or_refused(text in file(), noise in "[\\PC\n\t]{0,12}", at in any::<proptest::sample::Index>()) {
        let mut text: Vec<char> = text.chars().collect();
        let at = at.index(text.len() + 1);
        text.splice(at..at, noise.chars());
        let _ = Files::user(text.into_iter().collect::<String>()).load().map_err(|error| error.to_string());
    }

    #[test]
    fn written_rule_reads_back_the_same(rule in rule()) {
        let read = Files::user(rule.to_toml()).load().unwrap().rules.remove(0);
        let same = read.clone().with_origin(rule.origin().clone());
        prop_assert_eq!(same, rule);
    }

    #[test]
    fn untrusted_project_never_widens(user in file(), project in file()) {
        let alone = Files::user(&user);
        let (Ok(before), Ok(after)) = (alone.load(), alone.and_project(&project).load()) else { return Ok(()) };
        prop_assert!(after.preset <= before.preset);
        prop_assert!(after.limits.permits <= before.limits.permits);
        prop_assert!(after.limits.calls_per_step <= before.limits.calls_per_step);
        prop_assert!(after.limits.hook_ms <= before.limits.hook_ms);
        prop_assert_eq!(&after.journal, &before.journal);
        prop_assert_eq!(&after.further_roots, &before.further_roots);
        prop_assert_eq!(&after.protection.except, &before.protection.except);
        prop_assert!(after.protection.extra.starts_with(&before.protection.extra));
        prop_assert_eq!(&after.aliases, &before.aliases);
        prop_assert_eq!(&after.models, &before.models);
        let added = after.rules.iter().skip(before.rules.len());
        for rule in added {
            prop_assert!(rule.decision() != Decision::Allow || rule.is_ignored());
        }
    }
}
