//! How rules, presets and yes come together.

use haft_policy::{Layer, Origin, Policy, Preset, Rule};
use haft_protocol::Decision::{self, Allow, Ask, Deny};
use haft_protocol::{Access, CallId, Capability, Digest, LogicalPath};

use crate::call::{Call, rule};

fn policy(preset: Preset, rules: &[&str]) -> Policy {
    Policy::new(preset, rules.iter().map(|text| rule(text)).collect(), false).unwrap()
}

#[track_caller]
fn check(rules: &[&str], call: &Call, expected: Decision) {
    let verdict = call.under(&policy(Preset::Edit, rules));
    assert_eq!(verdict.decision(), expected, "{}", verdict.because());
}

fn bash() -> Call {
    Call::new("builtin/bash", &[Capability::ReadFiles, Capability::Execute])
}

#[test]
fn deny_wins_wherever_it_stands() {
    check(&["deny read on secrets/**", "allow read"], &Call::reads("secrets/key"), Deny);
    check(
        &["allow read", "ask read", "deny read on secrets/**"],
        &Call::reads("secrets/key"),
        Deny,
    );
}

#[test]
fn ask_comes_before_allow() {
    check(&["allow bash", "ask bash"], &bash(), Ask);
}

#[test]
fn allow_lifts_what_the_preset_asks_or_denies() {
    check(&["allow bash"], &bash(), Allow);
    let policy = policy(Preset::ReadOnly, &["allow edit on notes/**"]);
    assert_eq!(Call::edits("notes/a.md").under(&policy).decision(), Allow);
    assert_eq!(Call::edits("src/a.rs").under(&policy).decision(), Deny);
}

#[test]
fn ask_never_softens_a_deny_of_the_preset() {
    let policy = policy(Preset::ReadOnly, &["ask edit"]);
    assert_eq!(Call::edits("a").under(&policy).decision(), Deny);
}

#[test]
fn rule_on_canonical_name_or_alias_matches() {
    let call = Call::edits("a").by_alias("local/fix");
    check(&["deny edit"], &call, Deny);
    check(&["deny fix"], &call, Deny);
    check(&["deny other"], &call, Allow);
}

#[test]
fn one_bound_path_is_enough_to_deny() {
    let copy = Call::edits("a").on("secrets/key", Access::Read);
    check(&["deny * on secrets/**"], &copy, Deny);
}

#[test]
fn every_bound_path_is_needed_to_allow() {
    let rules = ["allow * on src/**", "ask * on **"];
    let lift = policy(Preset::ReadOnly, &rules[..1]);
    assert_eq!(Call::edits("src/a").under(&lift).decision(), Allow);
    assert_eq!(Call::edits("src/a").on("b", Access::Read).under(&lift).decision(), Deny);
    check(&rules, &Call::edits("src/a"), Ask);
}

#[test]
fn call_without_paths_is_never_allowed_by_a_path_rule() {
    let lift = policy(Preset::ReadOnly, &["allow * on **"]);
    let call = Call::new("x/touch", &[Capability::WriteFiles]);
    assert_eq!(call.under(&lift).decision(), Deny);
}

#[test]
fn restriction_covers_what_lies_beneath_and_permission_does_not() {
    check(&["deny * on secrets"], &Call::reads("secrets/deep/key"), Deny);
    check(&["deny * on **/.git"], &Call::reads("vendor/x/.git/config"), Deny);
    check(&["deny * on ."], &Call::reads("anything"), Deny);
    let lift = policy(Preset::ReadOnly, &["allow * on notes"]);
    assert_eq!(Call::edits("notes/a").under(&lift).decision(), Deny);
}

#[test]
fn tree_write_is_denied_when_a_denied_path_could_lie_inside() {
    let remove = |path: &str| {
        Call::new("builtin/remove", &[Capability::WriteFiles]).on(path, Access::WriteTree)
    };
    check(&["deny * on src/secrets/**"], &remove("src"), Deny);
    check(&["deny * on src/*/key"], &remove("src"), Deny);
    check(&["deny * on **/.env"], &remove("docs"), Deny);
    check(&["deny * on src/secrets/**"], &remove("docs"), Allow);
    let lift = policy(Preset::ReadOnly, &["allow * on src/*", "allow * on docs/**"]);
    assert_eq!(remove("src/a").under(&lift).decision(), Deny);
    assert_eq!(remove("docs/a").under(&lift).decision(), Allow);
}

#[test]
fn access_tells_reading_from_writing() {
    check(&["deny * on gen/** to write"], &Call::reads("gen/a"), Allow);
    check(&["deny * on gen/** to write"], &Call::edits("gen/a"), Deny);
    // An edit reads what it writes.
    check(&["deny * on gen/** to read"], &Call::edits("gen/a"), Deny);
    let append = Call::new("x/append", &[Capability::WriteFiles]).on("gen/a", Access::Write);
    check(&["deny * on gen/** to read"], &append, Allow);
    check(&["deny * to write"], &Call::edits("a"), Deny);
    check(&["deny * to write"], &Call::new("x/y", &[Capability::WriteFiles]), Deny);
}

#[test]
fn rule_that_allows_reading_allows_nothing_else() {
    let lift = policy(Preset::ReadOnly, &["allow * to read"]);
    assert_eq!(Call::reads("a").under(&lift).decision(), Allow);
    assert_eq!(Call::edits("a").under(&lift).decision(), Deny);
    assert_eq!(bash().under(&lift).decision(), Deny);
}

#[test]
fn capabilities_restrict_by_any_and_allow_by_all() {
    check(&["deny * that network"], &Call::new("x/y", &[Capability::Network]), Deny);
    check(&["deny * that network execute"], &bash(), Deny);
    check(&["allow * that execute"], &bash(), Ask);
    check(&["allow * that execute read_files"], &bash(), Allow);
}

#[test]
fn path_rule_does_not_let_programs_run() {
    let call = bash().on("src/a", Access::Read);
    check(&["allow * on src/**"], &call, Ask);
    check(&["allow bash on src/**"], &call, Ask);
    check(&["allow bash on src/** that read_files execute"], &call, Allow);
}

#[test]
fn unresolved_path_is_denied_whatever_the_rules_say() {
    let full = policy(Preset::Full, &["allow *"]);
    for path in ["src/../../etc/passwd", "..", "/a/..", ""] {
        let verdict = Call::reads(path).under(&full);
        assert_eq!(verdict.decision(), Deny);
        assert!(!verdict.filter().sees(&LogicalPath::new("a")));
    }
    insta::assert_snapshot!(Call::reads("a/../b\n").under(&full).because(), @r"`a/../b\n` is not a resolved path");
}

#[test]
fn yes_answers_asks_and_nothing_else() {
    let decide = |preset, rules: &[&str], call: &Call| {
        let rules = rules.iter().map(|text| rule(text)).collect();
        call.under(&Policy::new(preset, rules, true).unwrap()).decision()
    };
    assert_eq!(decide(Preset::Edit, &[], &bash()), Allow);
    assert_eq!(decide(Preset::Full, &["ask bash"], &bash()), Allow);
    assert_eq!(decide(Preset::ReadOnly, &[], &bash()), Deny);
    assert_eq!(decide(Preset::ReadOnly, &["ask bash"], &bash()), Deny);
    assert_eq!(decide(Preset::Full, &["deny bash"], &bash()), Deny);
}

#[test]
fn untrusted_project_may_only_narrow() {
    let project = || Origin::new(Layer::Project).at(".haft/config.toml", 3);
    let allowing = rule("allow bash").with_origin(project());
    let denying = rule("deny read").with_origin(project());
    let policy = Policy::new(Preset::Edit, vec![allowing.clone(), denying], false).unwrap();
    assert_eq!(bash().under(&policy).decision(), Ask);
    assert_eq!(Call::reads("a").under(&policy).decision(), Deny);

    let trusted = allowing.with_origin(project().trusted());
    let policy = Policy::new(Preset::Edit, vec![trusted], false).unwrap();
    assert_eq!(bash().under(&policy).decision(), Allow);
}

#[test]
fn preset_of_a_later_layer_holds_against_earlier_rules() {
    let allowing = || rule("allow edit").with_origin(Origin::new(Layer::User).at("config.toml", 1));
    let decide = |preset, layer| {
        let policy = Policy::builder().preset(preset, Origin::new(layer)).rule(allowing());
        Call::edits("a").under(&policy.build().unwrap()).decision()
    };
    assert_eq!(decide(Preset::ReadOnly, Layer::User), Allow);
    assert_eq!(decide(Preset::ReadOnly, Layer::Project), Deny);
    assert_eq!(decide(Preset::ReadOnly, Layer::Flag), Deny);
    // An ask is lifted all the same: the rule is more exact than the preset.
    let policy = Policy::builder()
        .preset(Preset::Edit, Origin::new(Layer::Flag))
        .rule(rule("allow bash").with_origin(Origin::new(Layer::User)));
    assert_eq!(bash().under(&policy.build().unwrap()).decision(), Allow);
}

#[test]
fn rule_without_conditions_is_refused() {
    let error = Policy::new(Preset::Edit, vec![Rule::allow()], false).unwrap_err();
    insta::assert_snapshot!(error, @"rule `allow` names no tool, path, command, capability or access: use the tool `*` to mean every call");
}

/// Makes a policy whose first root has this full name, with `/data` beside it.
fn in_root(root: &str, rules: &[&str]) -> Policy {
    let builder = Policy::builder()
        .first_root(LogicalPath::new(root))
        .further_root(LogicalPath::new("/data"))
        .rules(rules.iter().map(|it| rule(it)));
    builder.build().unwrap()
}

#[test]
fn a_full_path_matches_in_the_first_root_too() {
    let read = |policy: &Policy, path: &str| Call::reads(path).under(policy).decision();
    for pattern in ["/home/me/project/secrets", "/home/me/*/secrets/**", "/home/**/secrets"] {
        let policy = in_root("/home/me/project", &[&format!("deny * on {pattern}")]);
        for path in ["secrets", "secrets/a"] {
            assert_eq!(read(&policy, path), Deny, "{pattern} {path}");
            assert!(!Call::reads(".").under(&policy).filter().sees(&LogicalPath::new(path)));
        }
        for path in [".", "a", "a/secret", "/data/secrets-of-data"] {
            assert_eq!(read(&policy, path), Allow, "{pattern} {path}");
        }
    }
    // What is around the root is around everything in it, and what lies beneath another root is not in it.
    for pattern in ["/", "/home/me", "/home/me/project"] {
        let policy = in_root("/home/me/project", &[&format!("deny * on {pattern}")]);
        assert_eq!((read(&policy, "."), read(&policy, "a/b")), (Deny, Deny), "{pattern}");
    }
    let elsewhere =
        in_root("/home/me/project", &["deny * on /data/**", "deny * on /home/me/project2"]);
    assert_eq!((read(&elsewhere, "a"), read(&elsewhere, "/data/a")), (Allow, Deny));
}

#[test]
fn a_full_path_allows_in_the_first_root_what_it_matches_and_no_more() {
    let under = |pattern: &str, call: Call| {
        let mut policy = in_root("/p/root", &[&format!("allow * on {pattern}")]);
        policy = policy.narrow(&in_root("/p/root", &[&format!("allow * on {pattern}")]));
        let read_only = Policy::builder()
            .preset(Preset::ReadOnly, Origin::default())
            .first_root(LogicalPath::new("/p/root"))
            .rule(rule(&format!("allow * on {pattern}")))
            .build()
            .unwrap();
        call.under(&policy.narrow(&read_only)).decision()
    };
    assert_eq!(under("/p/root/src/**", Call::edits("src/a")), Allow);
    assert_eq!(under("/p/**", Call::edits("src/a")), Allow);
    assert_eq!(under("/p/root", Call::edits("src/a")), Deny);
    assert_eq!(under("/p", Call::edits("src/a")), Deny);
    assert_eq!(under("/p/root2/**", Call::edits("src/a")), Deny);
}

#[test]
fn a_full_path_outside_all_roots_is_idle_and_found() {
    let policy = in_root(
        "/home/me/project",
        &[
            "deny * on a /srv/secrets/** /data/**",
            "deny * on {/opt,/data}/x",
            "deny * on /home/me/project/a",
            "deny * on **/b",
        ],
    );
    let astray: Vec<_> = policy.astray().map(|(rule, path)| format!("{path} in {rule}")).collect();
    insta::assert_snapshot!(astray.join("\n"), @r#"
    /srv/secrets/** in deny tool = "*", paths = ["a", "/srv/secrets/**", "/data/**"]
    {/opt,/data}/x in deny tool = "*", path = "{/opt,/data}/x"
    "#);
    let nowhere = Policy::new(Preset::Edit, vec![rule("deny * on /x")], false).unwrap();
    assert_eq!(nowhere.astray().count(), 1);
    assert_eq!(Call::reads("x").under(&nowhere).decision(), Allow);
}

#[test]
fn policy_takes_a_bounded_number_of_rules_and_patterns() {
    let many = vec![rule("deny x"); 1_001];
    insta::assert_snapshot!(Policy::new(Preset::Edit, many, false).unwrap_err(), @"rules number 1001, and 1000 is the most");
    let long = (0..101).fold(Rule::deny(), |rule, _| rule.tool("x".parse().unwrap()));
    insta::assert_snapshot!(Policy::new(Preset::Edit, vec![long], false).unwrap_err(), @"tools of one rule number 101, and 100 is the most");
    let wordy = rule("deny x").reason("x".repeat(501));
    insta::assert_snapshot!(Policy::new(Preset::Edit, vec![wordy], false).unwrap_err(), @"bytes of a rule's reason number 501, and 500 is the most");
}

#[test]
fn verdict_covers_its_own_call_alone() {
    let verdict = Call::reads("a").under(&policy(Preset::Edit, &[]));
    let call = CallId::from_parts(0, 1);
    let digest = |text: &str| Digest::of_bytes(text);
    assert!(verdict.covers(call, digest("fingerprint"), digest("arguments")));
    assert!(!verdict.covers(CallId::from_parts(0, 2), digest("fingerprint"), digest("arguments")));
    assert!(!verdict.covers(call, digest("other"), digest("arguments")));
    assert!(!verdict.covers(call, digest("fingerprint"), digest("other")));
}

#[test]
fn what_is_confined_is_told_where_it_may_be() {
    let policy = Policy::builder()
        .preset(Preset::Full, Origin::default())
        .within(LogicalPath::new("src/app"))
        .build()
        .unwrap();
    let said = |call: Call| {
        let verdict = call.under(&policy);
        let hints = verdict.because().hints().join("; ");
        format!("{}: {} [{hints}]", verdict.decision(), verdict.because())
    };
    let read = || Call::new("builtin/read", &[Capability::ReadFiles]);
    let shown = [
        said(read().on("src/app/a.rs", Access::Read)),
        said(read().on("src/app2", Access::Read)),
        said(read()),
        said(Call::new("builtin/bash", &[Capability::Execute]).on("src/app", Access::Read)),
        said(Call::new("web/fetch", &[Capability::Network])),
    ];
    insta::assert_snapshot!(shown.join("\n"), @"
    allow: the preset `full` (default) allows `read_files` []
    deny: calls are confined to `src/app`, and `src/app2` lies outside [name `src/app` or a path in it]
    deny: calls are confined to `src/app`, and `builtin/read` does not say which files it reads or changes [name `src/app` or a path in it]
    deny: calls are confined to `src/app`, and nothing holds a program to it [use tools that read and change files in `src/app`]
    allow: the preset `full` (default) allows `network` []
    ");
}

#[test]
fn narrowing_keeps_the_stricter_answer() {
    let parent = policy(Preset::Edit, &["deny * on secrets/**"]);
    let child = Policy::new(Preset::Full, vec![rule("allow *")], true).unwrap();
    let both = parent.narrow(&child);
    assert_eq!(bash().under(&both).decision(), Ask);
    assert_eq!(Call::reads("secrets/a").under(&both).decision(), Deny);
    assert!(!Call::reads(".").under(&both).filter().sees(&LogicalPath::new("secrets/a")));
    assert_eq!(both.narrow(&child), both);
    assert_eq!(both.presets().collect::<Vec<_>>(), [Preset::Edit, Preset::Full]);
}

#[test]
fn hopeless_calls_are_ruled_out_early() {
    let rules_out = |policy: &Policy, call: &Call| {
        policy
            .rules_out(call.tool(), call.alias(), &call.capabilities())
            .map(|because| because.to_string())
            .unwrap_or_default()
    };
    let read_only = policy(Preset::ReadOnly, &[]);
    let run = Call::new("x/run", &[Capability::Execute]);
    insta::assert_snapshot!(rules_out(&read_only, &run), @"the preset `read-only` (default) denies `execute`");
    // It might be called to read alone.
    insta::assert_snapshot!(rules_out(&read_only, &Call::edits("a")), @"");
    insta::assert_snapshot!(rules_out(&policy(Preset::ReadOnly, &["allow run on src/** to write", "allow x/run"]), &run), @"");
    insta::assert_snapshot!(rules_out(&policy(Preset::Full, &["deny x/*"]), &run), @r#"the rule `deny tool = "x/*"` (default) denies `x/run`"#);
    insta::assert_snapshot!(rules_out(&policy(Preset::Full, &["deny quick"]), &run.clone().by_alias("quick")), @r#"the rule `deny tool = "quick"` (default) denies `x/run`"#);
    insta::assert_snapshot!(rules_out(&policy(Preset::Full, &["deny x/* on secrets/**"]), &run), @"");
    insta::assert_snapshot!(rules_out(&policy(Preset::Full, &["deny * that execute"]), &run), @r#"the rule `deny tool = "*", capabilities = ["execute"]` (default) denies `x/run`"#);
    insta::assert_snapshot!(rules_out(&policy(Preset::Full, &["deny * that execute"]), &bash()), @"");
}

#[test]
fn rules_that_name_no_tool_are_found() {
    let policy = policy(Preset::Edit, &["deny serach", "deny search", "ask * on secrets/**"]);
    let tools = ["builtin/search", "builtin/read"].map(|name| name.parse().unwrap());
    let idle: Vec<_> = policy.idle_rules(&tools).iter().map(ToString::to_string).collect();
    assert_eq!(idle, [r#"deny tool = "serach""#]);
}
