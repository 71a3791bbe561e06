//! What `explain` shows.

use haft_policy::{Layer, Origin, Policy, Preset, Rule};
use haft_protocol::{Access, Capability};

use crate::call::{Call, rule};

fn at(text: &str, layer: Layer, line: u32) -> Rule {
    let file = if layer == Layer::Project { ".haft/config.toml" } else { "/u/haft/config.toml" };
    rule(text).with_origin(Origin::new(layer).at(file, line))
}

#[test]
fn explanation_shows_every_rule_and_what_came_of_it() {
    let policy = Policy::builder()
        .preset(Preset::ReadOnly, Origin::new(Layer::Flag).quoting("--preset"))
        .rules([
            at("allow edit on src/**", Layer::User, 3),
            at("allow *", Layer::Project, 2),
            at("ask edit", Layer::User, 9),
            at("deny * on secrets/** to write", Layer::User, 14),
            at("deny search", Layer::User, 20),
            at("deny * that network", Layer::User, 24),
        ])
        .build()
        .unwrap();
    let call = Call::edits("src/a.rs").by_alias("local/fix");
    insta::assert_snapshot!(call.with(|subject| policy.explain(subject)), @r#"
    deny: the preset `read-only` (--preset) denies `write_files`

    call builtin/edit by the alias local/fix
      effects: read_files, write_files
      path0 writes src/a.rs

    policy says deny
      allow tool = "edit", path = "src/**" (/u/haft/config.toml:3)
        ignored: the preset that denies was set later (--preset)
      allow tool = "*" (.haft/config.toml:2)
        ignored: its file is not trusted, so it may not allow anything
      ask tool = "edit" (/u/haft/config.toml:9)
        matches: the call
      deny tool = "*", path = "secrets/**", access = "write" (/u/haft/config.toml:14)
        differs: no bound path that the call could write lies within
      deny tool = "search" (/u/haft/config.toml:20)
        differs: names other tools
      deny tool = "*", capabilities = ["network"] (/u/haft/config.toml:24)
        differs: the call has none of its capabilities
      preset read-only (--preset)
        decides: deny write_files

    hint: a person can start with `--preset edit`
    "#);
}

#[test]
fn explanation_says_how_each_rule_differs() {
    let policy = Policy::new(
        Preset::Edit,
        [
            "allow edit on src/**",
            "allow bash on src/**",
            "allow bash that execute",
            "allow bash on src/** that execute read_files write_files",
            "allow bash to read that execute read_files write_files",
            "deny bash on b to write",
            "deny bash that network",
            "deny bash on secrets/**",
        ]
        .iter()
        .map(|text| rule(text))
        .collect(),
        false,
    )
    .unwrap();
    let effects = [Capability::ReadFiles, Capability::WriteFiles, Capability::Execute];
    let call = Call::new("builtin/bash", &effects).on("b", Access::Read);
    insta::assert_snapshot!(call.with(|subject| policy.explain(subject)), @r#"
    ask: the preset `edit` (default) asks before `execute`

    call builtin/bash
      effects: read_files, write_files, execute
      path0 reads b

    policy says ask
      allow tool = "edit", path = "src/**" (default)
        differs: names other tools
      allow tool = "bash", path = "src/**" (default)
        differs: is about files, and the call also has `execute`: a rule that lists capabilities may allow them
      allow tool = "bash", capabilities = ["execute"] (default)
        differs: the call also has `read_files`, `write_files`
      allow tool = "bash", path = "src/**", capabilities = ["read_files", "write_files", "execute"] (default)
        differs: `b` lies outside
      allow tool = "bash", capabilities = ["read_files", "write_files", "execute"], access = "read" (default)
        differs: the call does not read alone
      deny tool = "bash", path = "b", access = "write" (default)
        differs: no bound path that the call could write lies within
      deny tool = "bash", capabilities = ["network"] (default)
        differs: the call has none of its capabilities
      deny tool = "bash", path = "secrets/**" (default)
        differs: no bound path that the call could reach lies within
      preset edit (default)
        decides: ask execute

    hint: a person can answer when asked, or start with `--yes` or `--preset full`
    hint: to allow it for good, add to the user's config.toml:
    [[rules]]
    decision = "allow"
    tool = "builtin/bash"
    path = "b"
    capabilities = ["read_files", "write_files", "execute"]
    "#);
    let homeless = Call::new("builtin/bash", &effects);
    let rules = homeless.with(|subject| policy.explain(subject)).levels.remove(0).rules;
    insta::assert_snapshot!(rules.last().unwrap(), @r#"
    deny tool = "bash", path = "secrets/**" (default)
        differs: the call is bound to no path
    "#);
}

#[test]
fn explanation_of_a_narrowed_policy_shows_each_authority() {
    let parent = Policy::new(Preset::Edit, vec![at("deny bash", Layer::User, 1)], false).unwrap();
    let child = Policy::new(Preset::Full, Vec::new(), true).unwrap();
    let call = Call::new("builtin/bash", &[Capability::Execute]).always_asking();
    insta::assert_snapshot!(call.with(|subject| parent.narrow(&child).explain(subject)), @r#"
    deny: the rule `deny tool = "bash"` (/u/haft/config.toml:1) denies `builtin/bash`

    call builtin/bash
      effects: execute

    policy says deny
      deny tool = "bash" (/u/haft/config.toml:1)
        decides: the call
      preset edit (default)
        says: ask execute

    narrowed by policy 2 says ask
      preset full (default)
        decides: allow execute
      the tool always asks

    hint: a person can change that rule (/u/haft/config.toml:1)
    "#);
}

#[test]
fn explanation_of_an_unresolved_path_looks_at_no_rule() {
    let policy = Policy::new(Preset::Full, vec![rule("allow *")], false).unwrap();
    insta::assert_snapshot!(Call::reads("a/../b").with(|subject| policy.explain(subject)), @"
    deny: `a/../b` is not a resolved path

    call builtin/read
      effects: read_files
      path0 reads a/../b
    ");
}

#[test]
fn explanation_is_data_too() {
    let policy = Policy::new(Preset::Edit, vec![rule("deny read")], false).unwrap();
    insta::assert_json_snapshot!(Call::reads("a").with(|subject| policy.explain(subject)), @r#"
    {
      "decision": "deny",
      "because": {
        "sentence": "the rule `deny tool = \"read\"` (default) denies `builtin/read`",
        "hints": [
          "a person can change that rule (default)"
        ]
      },
      "tool": "builtin/read",
      "effects": [
        "read_files"
      ],
      "resources": [
        {
          "slot": "path0",
          "path": "a",
          "access": "read"
        }
      ],
      "levels": [
        {
          "decision": "deny",
          "rules": [
            {
              "rule": "deny tool = \"read\"",
              "origin": {
                "layer": "default",
                "trusted": true
              },
              "standing": "decides",
              "why": "the call"
            }
          ],
          "preset": "edit",
          "preset_origin": {
            "layer": "default",
            "trusted": true
          },
          "preset_decision": "allow",
          "preset_effects": [
            "read_files"
          ],
          "preset_decides": false,
          "yes": false,
          "insists": false
        }
      ]
    }
    "#);
}

#[test]
fn a_rule_that_hides_something_inside_a_wider_call_says_so() {
    let search = Call::reads("src");
    let standing = |text: &str, yes: bool| {
        let policy = Policy::new(Preset::Edit, vec![rule(text)], yes).unwrap();
        let explained = search.with(|subject| policy.explain(subject));
        let found = &explained.levels[0].rules[0];
        assert_eq!(explained.decision, haft_protocol::Decision::Allow);
        format!("{}: {}", found.standing.as_str(), found.why)
    };
    assert_eq!(standing("deny * on src/runtime/**", false), "hides: what it matches beneath `src`");
    assert_eq!(standing("ask * on src/runtime/**", false), "hides: what it matches beneath `src`");
    assert_eq!(standing("ask * on src/runtime/**", true), "differs: yes was said beforehand");
    let elsewhere = standing("deny * on secrets/**", false);
    assert!(elsewhere.starts_with("differs: "), "{elsewhere}");
}
