//! Rules in files mean what policy shows.

use haft_config::Config;
use haft_policy::{Policy, Preset, Resource, Subject};
use haft_protocol::{Access, CallId, Capabilities, Capability, Decision, Digest, LogicalPath};

use crate::files::Files;

fn shown(text: &str) -> String {
    let config = Files::user(text).load().unwrap();
    config.rules.iter().map(|it| format!("{it} ({})", it.origin())).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_key_of_a_rule_is_read() {
    let text = r#"
[[rules]]
decision = "deny"
tool = "*"
path = "secrets/**"
access = "write"
capabilities = ["write_files", "execute"]
reason = "keys"

[[rules]]
decision = "ask"
tools = ["edit", "github:*"]
paths = ["a", "b"]
"#;
    insta::assert_snapshot!(shown(text), @r#"
    deny tool = "*", path = "secrets/**", capabilities = ["write_files", "execute"], access = "write" (/u/haft/config.toml:2)
    ask tools = ["edit", "github:*"], paths = ["a", "b"] (/u/haft/config.toml:10)
    "#);
    insta::assert_snapshot!(shown("rules = [{ decision = 'allow', tool = 'a' }, { decision = 'deny', tool = 'b' }]"), @r#"
    allow tool = "a" (/u/haft/config.toml:1)
    deny tool = "b" (/u/haft/config.toml:1)
    "#);
}

#[test]
fn rule_reads_back_as_it_is_written() {
    let text = "[[rules]]\ndecision = \"deny\"\ntool = \"*\"\npath = \"a \\\"b\\\" \\\\*\"\ncapabilities = [\"network\"]\naccess = \"read\"\nreason = \"two\\nlines\"\n";
    let config = Files::user(text).load().unwrap();
    let again = Files::user(config.rules[0].to_toml()).load().unwrap();
    assert_eq!(again.rules[0].to_toml(), config.rules[0].to_toml());
    assert_eq!(again.rules[0].to_string(), config.rules[0].to_string());
}

/// Takes the rule that a refusal suggests into the user's file and decides again.
#[track_caller]
fn follow_the_hint(preset: Preset, effects: &[Capability], resources: &[(&str, Access)]) {
    let effects = effects.iter().fold(Capabilities::builder(), |it, one| it.effect(*one));
    let resources: Vec<_> = resources
        .iter()
        .map(|(path, access)| Resource::new("slot", LogicalPath::new(*path), *access))
        .collect();
    let tool = "github:issues/close".parse().unwrap();
    let effects = effects.build().unwrap();
    let subject = Subject {
        call: CallId::from_parts(0, 0),
        fingerprint: Digest::of_bytes(""),
        arguments_digest: Digest::of_bytes(""),
        tool: &tool,
        alias: None,
        effects: &effects,
        resources: &resources,
        commands: None,
    };
    let refusal =
        Policy::new(preset, Vec::new(), false).unwrap().decide(&subject).refusal().unwrap();
    let rule = refusal.hints.iter().find_map(|hint| hint.split_once(":\n")).unwrap().1;
    let text = format!("preset = \"{preset}\"\n{rule}");
    let roots = ["/home", "/data"].map(LogicalPath::new);
    let policy = Files::user(text).load().unwrap().policy(&roots, false).unwrap();
    assert_eq!(policy.decide(&subject).decision(), Decision::Allow, "{rule}");
}

#[test]
fn suggested_rule_allows_the_call_it_was_suggested_for() {
    use Capability::{Execute, Network, ReadFiles, WriteFiles};
    follow_the_hint(Preset::Edit, &[Network], &[]);
    follow_the_hint(
        Preset::ReadOnly,
        &[WriteFiles],
        &[("a/[b]*{c},~\\ \"'\u{1b}\u{202e}é", Access::Write)],
    );
    follow_the_hint(
        Preset::ReadOnly,
        &[ReadFiles, WriteFiles],
        &[("src", Access::WriteTree), (".", Access::Read)],
    );
    follow_the_hint(
        Preset::ReadOnly,
        &[Execute],
        &[(".", Access::WriteTree), ("/data/x", Access::Write)],
    );
}

#[test]
fn configuration_is_kept_whole_when_it_is_cloned() {
    let config = Files::user("[[rules]]\ndecision = 'deny'\ntool = 'x'").load().unwrap();
    assert_eq!(config.clone(), config);
    assert_ne!(config, Config::default());
}
