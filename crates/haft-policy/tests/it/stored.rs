//! Policies as data.

use haft_policy::{Layer, Origin, Policy, Preset};
use haft_protocol::{Decision, LogicalPath};

use crate::call::{Call, rule};

fn policy() -> Policy {
    Policy::builder()
        .preset(Preset::ReadOnly, Origin::new(Layer::User).at("config.toml", 1))
        .first_root(LogicalPath::new("/home/me"))
        .further_root(LogicalPath::new("/data"))
        .rule(rule("deny search web/* on secrets/** /data/** to read that network").reason("why"))
        .rule(rule("allow edit").with_origin(Origin::new(Layer::Project).at("x", 2)))
        .yes()
        .build()
        .unwrap()
}

#[test]
fn stored_form_is_plain_and_reads_back_the_same() {
    let json = serde_json::to_value(policy()).unwrap();
    insta::assert_json_snapshot!(json, @r#"
    [
      {
        "preset": "read-only",
        "preset_origin": {
          "layer": "user",
          "trusted": true,
          "file": "config.toml",
          "line": 1
        },
        "rules": [
          {
            "decision": "deny",
            "tools": [
              "search",
              "web/*"
            ],
            "paths": [
              "secrets/**",
              "/data/**"
            ],
            "capabilities": [
              "network"
            ],
            "access": "read",
            "reason": "why",
            "origin": {
              "layer": "default",
              "trusted": true
            }
          },
          {
            "decision": "allow",
            "tools": [
              "edit"
            ],
            "origin": {
              "layer": "project",
              "trusted": false,
              "file": "x",
              "line": 2
            }
          }
        ],
        "first_root": "/home/me",
        "further_roots": [
          "/data"
        ],
        "yes": true
      }
    ]
    "#);
    let back: Policy = serde_json::from_value(json).unwrap();
    assert_eq!(back, policy());
    assert_eq!(back.digest(), policy().digest());
}

#[test]
fn what_is_read_back_decides_alike_in_the_first_root() {
    let policy = Policy::builder()
        .first_root(LogicalPath::new("/home/me"))
        .rule(rule("deny * on /home/me/secrets"))
        .build()
        .unwrap();
    let back: Policy = serde_json::from_str(&serde_json::to_string(&policy).unwrap()).unwrap();
    for policy in [policy, back] {
        assert_eq!(Call::reads("secrets/a").under(&policy).decision(), Decision::Deny);
        assert_eq!(Call::reads("a").under(&policy).decision(), Decision::Allow);
    }
}

#[test]
fn digest_changes_with_anything_that_matters() {
    let base = || Policy::builder().rule(rule("deny search"));
    let digests = [
        base(),
        base().yes(),
        base().rule(rule("allow x")),
        base().preset(Preset::Full, Origin::default()),
        base().preset(Preset::Edit, Origin::new(Layer::Flag)),
        base().further_root(LogicalPath::new("/x")),
        base().first_root(LogicalPath::new("/x")),
        Policy::builder().rule(rule("ask search")),
        Policy::builder().rule(rule("deny search").reason("x")),
        Policy::builder().rule(rule("deny search").with_origin(Origin::new(Layer::Project))),
        Policy::builder()
            .rule(rule("deny search").with_origin(Origin::new(Layer::Project).trusted())),
    ]
    .map(|builder| builder.build().unwrap().digest());
    let distinct: std::collections::BTreeSet<_> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
}

#[test]
fn stored_form_is_checked_when_it_is_read() {
    let error = |json: &str| serde_json::from_str::<Policy>(json).unwrap_err().to_string();
    insta::assert_snapshot!(error("[]"), @"a policy without any level decides nothing: expected at least one");
    insta::assert_snapshot!(error(r#"[{"preset":"edit","rules":[{"decision":"allow"}]}]"#), @"rule `allow` names no tool, path, command, capability or access: use the tool `*` to mean every call");
    insta::assert_snapshot!(error(r#"[{"preset":"edit","rules":[{"decision":"deny","paths":[]}]}]"#), @"invalid length 0, expected at least one at line 1 column 57");
    insta::assert_snapshot!(error(r#"[{"preset":"edit","rules":[{"decision":"deny","capabilities":[]}]}]"#), @"invalid length 0, expected at least one at line 1 column 64");
    insta::assert_snapshot!(error(r#"[{"preset":"edit","rules":[{"decision":"deny","path":"x"}]}]"#), @"unknown field `path`, expected one of `decision`, `tools`, `paths`, `commands`, `capabilities`, `access`, `reason`, `origin` at line 1 column 52");
    insta::assert_snapshot!(error(r#"[{"preset":"edit","rules":[{"decision":"deny","paths":["../x"]}]}]"#), @"pattern `../x` is not valid: `..` is not resolved in patterns: write the path it leads to at line 1 column 62");
}
