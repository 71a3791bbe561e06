//! What has to be true of every text that is taken apart for its commands.
//!
//! The fuzz target runs this on inputs it invents, an ordinary test on those that were kept.

use std::sync::LazyLock;

use haft_policy::shell::Script;
use haft_policy::{Policy, Preset, Rule, Subject};
use haft_protocol::limits::COMMANDS;
use haft_protocol::{CallId, Capabilities, Capability, Decision, Digest, QualifiedName};

/// How long a message about an unclear place may be.
const MESSAGE_BYTES: usize = 1024;

/// Takes a text apart, and decides over it.
pub(crate) fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input).into_owned();
    let script = Script::parse(&text);
    assert_eq!(script, Script::parse(&text), "read twice, and otherwise");
    assert!(script.commands().len() <= COMMANDS);
    for line in script.lines() {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    for unclear in script.unclear() {
        assert!(unclear.to_string().len() < MESSAGE_BYTES, "{unclear}");
    }
    for (index, command) in script.commands().iter().enumerate() {
        assert!(
            command.run_by().is_none_or(|by| by < index),
            "{command} comes before what runs it"
        );
    }

    let more = |tail: &str| Script::parse(&format!("{text}\n{tail}"));
    if decide(&ALLOWING, &script) == Decision::Allow {
        assert!(script.is_plain());
        for command in script.commands().iter().filter(|it| !it.is_frame()) {
            let program = command.program().map(|it| it.literal());
            assert!(matches!(program, Some(Some("ls" | "echo")) | None), "{command} is allowed");
        }
        assert_eq!(decide(&ALLOWING, &more("echo a")), Decision::Allow, "{text:?}");
        assert_eq!(decide(&ALLOWING, &more("id")), Decision::Ask, "{text:?}");
    }
    // A text that ends in a backslash makes the next line one of its words.
    if !text.ends_with('\\') {
        assert_ne!(decide(&DENYING, &more("id")), Decision::Allow, "{text:?}");
    }
}

fn decide(policy: &Policy, script: &Script) -> Decision {
    let subject = Subject {
        call: CallId::from_parts(0, 0),
        fingerprint: Digest::of_bytes(""),
        arguments_digest: Digest::of_bytes(""),
        tool: &TOOL,
        alias: None,
        effects: &EFFECTS,
        resources: &[],
        commands: Some(script),
    };
    policy.decide(&subject).decision()
}

static TOOL: LazyLock<QualifiedName> = LazyLock::new(|| "builtin/bash".parse().unwrap());

static EFFECTS: LazyLock<Capabilities> =
    LazyLock::new(|| Capabilities::builder().effect(Capability::Execute).build().unwrap());

static ALLOWING: LazyLock<Policy> = LazyLock::new(|| {
    let rule = Rule::allow().command("ls *".parse().unwrap()).command("echo *".parse().unwrap());
    Policy::new(Preset::Edit, vec![rule], false).unwrap()
});

static DENYING: LazyLock<Policy> = LazyLock::new(|| {
    let rule = Rule::deny().command("id *".parse().unwrap());
    Policy::new(Preset::Full, vec![rule], false).unwrap()
});
