//! Tools that run commands.

use std::sync::Arc;

use haft_policy::{Preset, Rule};
use haft_protocol::{Capabilities, Capability, Decision};
use haft_testkit::Rig;
use haft_tool::{Answer, CommandSlot, Descriptor, DescriptorError, FunctionTool, Output, Tool};
use serde_json::{Value, json};

/// Makes a tool that says what it would run.
fn shell(
    slots: &[CommandSlot],
    capabilities: Capabilities,
) -> Result<Arc<dyn Tool>, DescriptorError> {
    let words = json!({ "type": "array", "items": { "type": "string" } });
    let schema = json!({
        "type": "object",
        "properties": { "command": { "type": "string" }, "argv": words, "any": {} },
    });
    FunctionTool::new("local/sh".parse()?, "Runs a command.", schema)?
        .facts(|facts| {
            let facts = facts.capabilities(capabilities);
            slots.iter().fold(facts, |facts, slot| facts.command(slot.clone()))
        })
        .body(|_call, args| async move { Ok(Output::text(Value::Object(args).to_string())) })
}

fn executing() -> Capabilities {
    Capabilities::builder().effect(Capability::Execute).build().unwrap()
}

fn rig(rules: impl IntoIterator<Item = Rule>) -> Rig {
    let slots =
        [CommandSlot::shell("command"), CommandSlot::argv("argv"), CommandSlot::argv("any")];
    let builder = Rig::builder().preset(Preset::Edit).tool(shell(&slots, executing()).unwrap());
    rules.into_iter().fold(builder, haft_testkit::RigBuilder::rule).build()
}

fn allow(patterns: &[&str]) -> Rule {
    patterns.iter().fold(Rule::allow(), |rule, it| rule.command(it.parse().unwrap()))
}

async fn decision(rig: &Rig, arguments: Value) -> Decision {
    let call = rig.tool_call("sh", arguments);
    rig.dispatch.rehearse(&rig.context, call).await.unwrap().explanation.decision
}

#[tokio::test]
async fn rules_see_the_commands_of_the_final_arguments() {
    let rig = rig([allow(&["ls", "echo *"])]);
    for allowed in [json!({ "command": "ls; echo 'a'" }), json!({ "argv": ["echo", "$(id); id"] })]
    {
        assert_eq!(decision(&rig, allowed.clone()).await, Decision::Allow, "{allowed}");
        assert!(rig.call("sh", allowed).await.is_ok());
    }
    for asked in [
        json!({ "command": "ls; id" }),
        json!({ "argv": ["sh", "-c", "ls"] }),
        json!({ "argv": [] }),
        json!({}),
        json!({ "command": "ls", "argv": ["id"] }),
        json!({ "command": "ls", "any": "ls" }),
        json!({ "command": "ls", "any": ["echo", 1] }),
        json!({ "command": "ls", "any": { "echo": "a" } }),
    ] {
        assert_eq!(decision(&rig, asked.clone()).await, Decision::Ask, "{asked}");
        assert!(!rig.call("sh", asked).await.is_ok());
    }
}

#[tokio::test]
async fn o_051_who_is_asked_sees_every_command_whole() {
    let rig = rig([]);
    let text = format!("echo {}; {}timeout 5 rm -rf x; $Y", "a".repeat(5_000), "\n".repeat(200));
    rig.oracle.say(Answer::Approve { by: "ada".to_owned() });
    assert!(rig.call("sh", json!({ "command": text })).await.is_ok());
    let question = &rig.oracle.questions()[0];
    assert_eq!(question.arguments["command"], text);
    let commands: Vec<_> = question.commands.iter().map(String::as_str).collect();
    let echo = format!("echo {}", "a".repeat(5_000));
    assert_eq!(commands, [&*echo, "timeout 5 rm -rf x", "rm -rf x (run by timeout)", "$Y"]);
}

#[tokio::test]
async fn a_yes_is_to_one_text_alone() {
    let rig = rig([]);
    rig.oracle.say(Answer::Later);
    let waiting = rig.dispatch("sh", json!({ "command": "ls" })).await;
    let haft_tool::Dispatched::Waiting(ticket) = waiting else { panic!("{waiting:?}") };
    assert_eq!(ticket.commands(), ["ls"]);
    let mut form = serde_json::to_value(&ticket).unwrap();
    form["call"]["arguments"]["json"] = json!({ "command": "ls " });
    let changed = serde_json::from_value(form).unwrap();
    let yes = Answer::Approve { by: "ada".to_owned() };
    let outcome = rig.dispatch.resume(&rig.context, changed, yes).await.into_outcome().unwrap();
    insta::assert_snapshot!(outcome.model_text(), @"denied by stale: the call is no longer the one that was approved: its tool, arguments or files changed");
}

#[test]
fn commands_are_part_of_what_a_tool_is() {
    let fingerprint = |slots: &[CommandSlot]| {
        let tool = shell(slots, executing()).unwrap();
        let descriptor: Arc<Descriptor> = tool.descriptor();
        descriptor.fingerprint()
    };
    let with = fingerprint(&[CommandSlot::shell("command")]);
    assert_ne!(with, fingerprint(&[]));
    assert_ne!(with, fingerprint(&[CommandSlot::argv("command")]));
    let error = |slot, capabilities| shell(&[slot], capabilities).err().unwrap().to_string();
    insta::assert_snapshot!(error(CommandSlot::shell("text"), executing()), @"tool `local/sh` takes a command from `/text`, which its schema does not have");
    insta::assert_snapshot!(error(CommandSlot::shell("command"), Capabilities::read_only()), @"tool `local/sh` runs the command in `/command`, yet it does not declare `execute`");
}
