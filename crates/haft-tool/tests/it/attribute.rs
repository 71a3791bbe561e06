//! Tools made of functions.

use std::sync::Arc;

use haft_protocol::{
    Access, Approval, Capability, ErrorKind, Failure, LogicalPath, Outcome, Progress, Status,
};
use haft_testkit::doors::Kept;
use haft_testkit::kit::tool_conforms;
use haft_testkit::{Rig, echo};
use haft_tool::{Call, Existence, FunctionTool, Json, Slot, ToolPath, TypedTool, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Finds text in files.
///
/// Use it before reading:
///
/// - it is fast
/// - it shows lines
#[tool(name = "text/find", run_ms = 5_000)]
async fn find(
    /// What to look for.
    ///
    /// Plain text.
    text: String,
    /// Where to look.
    #[slot(read)]
    #[serde(default = "ToolPath::root")]
    within: ToolPath,
    /// Lines to show around.
    #[serde(default)]
    #[schemars(range(max = 50))]
    context: u32,
    /// The language the files are in.
    language: Option<String>,
    call: &Call,
) -> Result<String, Failure> {
    call.progress(Progress { done: 1, total: None, unit: "files".to_owned() });
    let _ = within;
    if text == "nowhere" {
        return Err(Failure::new(ErrorKind::NotFound, "there is no `nowhere`"));
    }
    Ok(format!("{text}, {context} around, {}", language.as_deref().unwrap_or("any language")))
}

/// A sum.
#[derive(Debug, Serialize, JsonSchema)]
struct Sum {
    /// What it comes to.
    sum: i64,
}

/// Adds numbers.
#[tool]
async fn add(
    /// The numbers.
    numbers: Vec<i64>,
) -> Result<Json<Sum>, Overflow> {
    let sum = numbers.iter().try_fold(0_i64, |sum, number| sum.checked_add(*number));
    Ok(Json(Sum { sum: sum.ok_or(Overflow)? }))
}

#[derive(Debug, PartialEq)]
struct Overflow;

impl From<Overflow> for Failure {
    fn from(_: Overflow) -> Self {
        Failure::new(ErrorKind::LimitExceeded, "the sum is too large")
    }
}

/// What to do with a note.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Note {
    /// Writes it down.
    Write {
        /// The file to write it to.
        path: ToolPath,
        /// The note.
        text: String,
    },
    /// Forgets it.
    Forget {
        /// The file it is in.
        path: ToolPath,
    },
}

/// Keeps notes.
#[tool(capabilities(write_files))]
async fn notes(
    #[args]
    #[slot(write, argument = "/path")]
    note: Note,
    call: Call,
) -> String {
    match note {
        Note::Write { path, text } => format!("{}: wrote {text} to {path:?}", call.id()),
        Note::Forget { path } => format!("{}: forgot {path:?}", call.id()),
    }
}

/// Moves files into a folder.
#[tool(name = "files/gather", capabilities(write_files, execute), idempotent, always_ask)]
async fn gather(
    /// The files.
    #[slot(read)]
    #[serde(rename = "from")]
    files: Vec<ToolPath>,
    /// The folder.
    #[slot(write_tree, optional_target, name = "folder")]
    to: Option<ToolPath>,
) {
    let _ = (files, to);
}

fn text(outcome: &Outcome) -> String {
    outcome.model_text()
}

#[test]
fn what_a_model_reads_comes_from_the_comments() {
    let descriptor = find::tool().unwrap().descriptor();
    assert_eq!(descriptor.name().to_string(), "text/find");
    assert_eq!(descriptor.run_ms(), 5_000);
    insta::assert_snapshot!(descriptor.description(), @"
    Finds text in files.

    Use it before reading:

    - it is fast
    - it shows lines
    ");
    let schema = serde_json::to_string_pretty(&**descriptor.input().schema()).unwrap();
    insta::assert_snapshot!(schema, @r#"
    {
      "type": "object",
      "properties": {
        "text": {
          "type": "string",
          "description": "What to look for.\n\nPlain text."
        },
        "within": {
          "type": "string",
          "description": "Where to look.",
          "default": ".",
          "minLength": 1
        },
        "context": {
          "type": "integer",
          "description": "Lines to show around.",
          "default": 0,
          "minimum": 0,
          "maximum": 50
        },
        "language": {
          "type": "string",
          "description": "The language the files are in."
        }
      },
      "required": [
        "text"
      ],
      "additionalProperties": false
    }
    "#);
}

#[test]
fn the_function_stays_a_function() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let Json(Sum { sum }) = runtime.block_on(add(vec![1, 2, 3])).unwrap();
    assert_eq!(sum, 6);
    assert_eq!(runtime.block_on(add(vec![i64::MAX, 1])).unwrap_err(), Overflow);
}

#[tokio::test]
async fn arguments_arrive_with_their_defaults_and_nothing_else_does() {
    let rig = Rig::builder().tool(find::tool().unwrap()).build();
    rig.tree.make(".");
    rig.tree.make("src");
    let outcome = rig.call("text/find", json!({ "text": "x" })).await;
    assert_eq!(text(&outcome), "x, 0 around, any language");
    let outcome = rig
        .call(
            "text/find",
            json!({ "text": "x", "within": "src", "context": 2, "language": "rust" }),
        )
        .await;
    assert_eq!(text(&outcome), "x, 2 around, rust");
    for wrong in [json!({}), json!({ "text": 1.5 }), json!({ "text": "x", "context": 51 })] {
        let outcome = rig.call("text/find", wrong).await;
        assert_eq!(kind(&outcome.status), Some(ErrorKind::InvalidArguments));
    }
}

#[tokio::test]
async fn a_failure_and_what_turns_into_one_are_failures_of_the_call() {
    let rig = Rig::builder().tool(find::tool().unwrap()).tool(add::tool().unwrap()).build();
    rig.tree.make(".");
    let outcome = rig.call("text/find", json!({ "text": "nowhere" })).await;
    assert_eq!(kind(&outcome.status), Some(ErrorKind::NotFound));
    let outcome = rig.call("add", json!({ "numbers": [i64::MAX, 1] })).await;
    assert_eq!(kind(&outcome.status), Some(ErrorKind::LimitExceeded));
}

#[tokio::test]
async fn a_typed_value_is_advertised_checked_and_shown() {
    let tool = add::tool().unwrap();
    assert!(tool.descriptor().output().is_some());
    let rig = Rig::builder().tool(tool).build();
    let outcome = rig.call("add", json!({ "numbers": [1, 2] })).await;
    assert_eq!(outcome.structured, Some(json!({ "sum": 3 })));
    assert_eq!(text(&outcome), r#"{"sum":3}"#);
}

#[tokio::test]
async fn one_parameter_may_be_all_arguments() {
    let tool = notes::tool().unwrap();
    assert_eq!(
        tool.descriptor().input().tag().map(|tag| tag.key().to_owned()),
        Some("action".to_owned())
    );
    assert_eq!(tool.descriptor().slots(), [Slot::write("path")]);
    let rig = Rig::builder().tool(tool).build();
    let outcome = rig.call("notes", json!({ "action": "forget", "path": "a.txt" })).await;
    assert!(text(&outcome).ends_with("forgot ToolPath(\"a.txt\")"), "{}", text(&outcome));
    let outcome = rig.call("notes", json!({ "action": "write", "path": "a.txt" })).await;
    assert_eq!(kind(&outcome.status), Some(ErrorKind::InvalidArguments), "a note needs a text");
}

#[tokio::test]
async fn declarations_and_slots_are_on_the_descriptor_and_slots_are_bound() {
    let descriptor = gather::tool().unwrap().descriptor();
    let effects: Vec<_> = descriptor.capabilities().effects().collect();
    assert_eq!(effects, [Capability::ReadFiles, Capability::WriteFiles, Capability::Execute]);
    assert!(descriptor.capabilities().is_idempotent());
    assert_eq!(descriptor.capabilities().approval(), Approval::Always);
    let folder = Slot::write_tree("folder").from_argument("/to");
    let folder = Slot { existence: Existence::Optional, ..folder };
    assert_eq!(descriptor.slots(), [Slot::read("from").from_argument("/from/*"), folder]);

    let rig = Rig::builder().tool(gather::tool().unwrap()).build();
    rig.oracle.say(haft_tool::Answer::Approve { by: "ada".to_owned() });
    rig.tree.make("a");
    rig.tree.make("b");
    let call = rig.tool_call("files/gather", json!({ "from": ["a", "b"], "to": "c" }));
    let id = call.id;
    let outcome = rig.dispatch.dispatch(&rig.context, call).await.into_outcome().unwrap();
    assert_eq!(text(&outcome), "done");
    let bindings = rig.journal.entries().into_iter().find_map(|entry| match entry {
        Kept::Intent(intent) if intent.call == id => Some(intent.bindings),
        _ => None,
    });
    let bound: Vec<_> =
        bindings.unwrap().into_iter().map(|it| (it.slot, it.path, it.access)).collect();
    let row = |slot: &str, path, access| (slot.to_owned(), LogicalPath::new(path), access);
    assert_eq!(
        bound,
        [
            row("from", "a", Access::Read),
            row("from", "b", Access::Read),
            row("folder", "c", Access::WriteTree)
        ]
    );
}

#[tokio::test]
async fn every_form_of_tool_conforms() {
    tool_conforms(find::tool().unwrap(), json!({ "text": "x" }), |rig| rig.tree.make(".")).await;
    tool_conforms(add::tool().unwrap(), json!({ "numbers": [1] }), |_| {}).await;
    tool_conforms(notes::tool().unwrap(), json!({ "action": "forget", "path": "a" }), |_| {}).await;
}

#[test]
fn the_type_of_the_functions_name_is_a_typed_tool() {
    fn name_of(tool: impl TypedTool) -> String {
        tool.facts().unwrap().name.to_string()
    }
    assert_eq!(name_of(add {}), "local/add");
}

#[tokio::test]
async fn a_call_passed_on_to_another_tool_opens_nothing() {
    for to in [echo(), add::tool().unwrap()] {
        let schema = json!({ "type": "object", "additionalProperties": true });
        let behind = Arc::clone(&to);
        let forwarding = FunctionTool::new("local/forward".parse().unwrap(), "Passes on.", schema)
            .unwrap()
            .body(move |call, _| Arc::clone(&behind).call(call))
            .unwrap();
        let rig = Rig::builder().tool(to).tool(forwarding).build();
        let outcome = rig.call("forward", json!({ "numbers": [1] })).await;
        assert_eq!(kind(&outcome.status), Some(ErrorKind::Internal));
        assert!(text(&outcome).contains("permitted for another tool"), "{}", text(&outcome));
    }
}

fn kind(status: &Status) -> Option<ErrorKind> {
    match status {
        Status::Failed(failure) => Some(failure.kind),
        _ => None,
    }
}
