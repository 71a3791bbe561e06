//! A tool that changes files through the writer, and a dispatch over it.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use haft_policy::Rule;
use haft_protocol::{
    CallId, Capabilities, Capability, Change, ContentPart, Digest, Failure, Outcome,
};
use haft_testkit::{MemoryEffects, Rig as Dispatching};
use haft_tool::ports::{Effects as _, Ports};
use haft_tool::{
    Call, Dispatch, DispatchLimits, Facts, Output, Slot, ToolPath, TypedTool, blocking,
};
use haft_workspace::{
    Expected, Onto, Step, TreeScan, UndoStep, Undoing, WorkspaceBinder, WorkspaceCall, undo_paths,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::rig::Rig;

/// Changes files as it is told to.
struct Hand;

#[derive(Deserialize, JsonSchema)]
struct HandArgs {
    /// Where.
    #[expect(dead_code, reason = "the body asks the call")]
    path: ToolPath,
    /// Where to.
    #[expect(dead_code, reason = "the body asks the call")]
    to: Option<ToolPath>,
    /// What to do.
    #[serde(rename = "do")]
    act: Act,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Act {
    /// Write, where nothing is.
    Create(String),
    /// Write, in place of what is read first.
    Write(String),
    /// Write, in place of this.
    Swap { old: String, new: String },
    /// Make a directory.
    Mkdir,
    /// Move.
    Move { replace: bool },
    /// Remove.
    Remove,
}

impl TypedTool for Hand {
    type Args = HandArgs;
    type Output = Output;

    fn facts(&self) -> Result<Facts, haft_tool::DescriptorError> {
        let mut facts = Facts::new("local/hand".parse()?, "Changes files.");
        facts.capabilities = Capabilities::builder().effect(Capability::WriteFiles).build()?;
        facts.slots = vec![Slot::write("path"), Slot::write("to")];
        Ok(facts)
    }

    async fn run(&self, call: Call, args: HandArgs) -> Result<Output, Failure> {
        let writer = call.writer()?;
        let place = writer.place("path")?;
        let to = writer.places("to").pop();
        blocking(move || {
            let written = match args.act {
                Act::Create(text) => writer.replace(&place, Expected::Nothing, text.as_bytes()),
                Act::Write(text) => {
                    let mut old = Vec::new();
                    let opened = writer.view().open(place.resolved());
                    opened?.read_to_end(&mut old).unwrap();
                    let expected = Expected::Content(Digest::of_bytes(old));
                    writer.replace(&place, expected, text.as_bytes())
                }
                Act::Swap { old, new } => {
                    let expected = Expected::Content(Digest::of_bytes(old));
                    writer.replace(&place, expected, new.as_bytes())
                }
                Act::Mkdir => writer.create_dir(&place),
                Act::Move { replace } => {
                    let onto = if replace { Onto::File } else { Onto::Nothing };
                    writer.rename(&place, &to.unwrap(), onto)
                }
                Act::Remove => writer.remove(&place),
            }?;
            let mut output = Output::default();
            let line = |it: &Change| serde_json::to_value(it).unwrap();
            let told: Vec<String> = written.changes.iter().map(|it| in_words(&line(it))).collect();
            output.content.push(ContentPart::text(told.join("\n")));
            output.changes = written.changes;
            output.notices = written.notices;
            Ok(output)
        })
        .await
    }
}

/// Runs a program over the whole workspace.
struct Spree(std::path::PathBuf);

#[derive(Deserialize, JsonSchema)]
struct SpreeArgs {
    /// What to run.
    script: String,
}

impl TypedTool for Spree {
    type Args = SpreeArgs;
    type Output = Output;

    fn facts(&self) -> Result<Facts, haft_tool::DescriptorError> {
        let mut facts = Facts::new("local/spree".parse()?, "Runs a program.");
        facts.capabilities = Capabilities::builder().effect(Capability::WriteFiles).build()?;
        facts.slots = vec![Slot::write_roots("roots")];
        Ok(facts)
    }

    async fn run(&self, _: Call, args: SpreeArgs) -> Result<Output, Failure> {
        let folder = self.0.clone();
        blocking(move || {
            let mut command = std::process::Command::new("sh");
            let status = command.arg("-ec").arg(args.script).current_dir(folder).status();
            assert!(status.unwrap().success());
            Ok(Output::default())
        })
        .await
    }
}

/// Takes back what a call changed.
struct Back;

#[derive(Deserialize, JsonSchema)]
struct BackArgs {
    /// The call.
    call: String,
    /// Where it changed something.
    #[expect(dead_code, reason = "the body asks the call")]
    paths: Vec<ToolPath>,
}

impl TypedTool for Back {
    type Args = BackArgs;
    type Output = Output;

    fn facts(&self) -> Result<Facts, haft_tool::DescriptorError> {
        let mut facts = Facts::new("local/back".parse()?, "Takes changes back.");
        facts.capabilities = Capabilities::builder().effect(Capability::WriteFiles).build()?;
        facts.slots = vec![Slot::write("paths").from_argument("/paths/*").keeping_links()];
        Ok(facts)
    }

    async fn run(&self, call: Call, args: BackArgs) -> Result<Output, Failure> {
        let (writer, places) = (call.writer()?, call.places("paths")?);
        blocking(move || {
            let (effects, _) = writer.changes_of(args.call.parse().unwrap())?;
            let plan = writer.plan_undo(&effects, &places);
            let (done, written) = writer.undo(&plan, "paths");
            let word = |step: &UndoStep| match &step.undoing {
                Undoing::PutBack => "put back".to_owned(),
                Undoing::Removed => "removed".to_owned(),
                Undoing::MovedBack { to } => format!("moved back to {to}"),
                Undoing::TakenOut => "taken out".to_owned(),
                Undoing::AsBefore => "as before".to_owned(),
                Undoing::Stays { why } => format!("stays: {why}"),
                _ => String::new(),
            };
            let lines: Vec<String> =
                done.steps.iter().map(|step| format!("{}: {}", step.path, word(step))).collect();
            let mut output = Output::text(lines.join("\n"));
            output.changes = written.changes;
            output.notices = written.notices;
            Ok(output)
        })
        .await
    }
}

fn in_words(change: &Value) -> String {
    let state = |state: &Value| match state["is"].as_str() {
        None => "nothing".to_owned(),
        Some("link") => format!("link to {}", state["target"].as_str().unwrap_or_default()),
        Some(kind) => {
            let mode = state["mode"].as_u64().unwrap_or_default();
            let bytes = state["content"]["bytes"].as_u64();
            let bytes = bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
            format!("{kind}{bytes} {mode:o}")
        }
    };
    let from = change["from"].as_str().map(|from| format!(" from {from}")).unwrap_or_default();
    let (kind, path) = (change["kind"].as_str().unwrap_or_default(), &change["path"]);
    let path = path.as_str().unwrap_or_default();
    let (before, after) = (state(&change["before"]), state(&change["after"]));
    format!("{kind} {path}{from}: {before} -> {after}")
}

type Watching = Box<dyn Fn(Step) + Send>;

/// A workspace, a dispatch over it and a record of changes.
pub(crate) struct Hands {
    pub(crate) rig: Rig,
    pub(crate) effects: MemoryEffects,
    dispatching: Dispatching,
    watching: Arc<Mutex<Option<Watching>>>,
    runtime: Runtime,
}

impl Hands {
    pub(crate) fn new() -> Self {
        Self::with_rules(Vec::new())
    }

    pub(crate) fn in_memory() -> Self {
        Self::over(Rig::in_memory(), Vec::new())
    }

    pub(crate) fn with_rules(rules: Vec<Rule>) -> Self {
        Self::over(Rig::new(), rules)
    }

    pub(crate) fn over(rig: Rig, rules: Vec<Rule>) -> Self {
        let mut builder = Dispatching::builder()
            .tool(Hand.erase().unwrap())
            .tool(Back.erase().unwrap())
            .tool(Spree(rig.ws("")).erase().unwrap());
        for rule in rules {
            builder = builder.rule(rule);
        }
        let mut dispatching = builder.limits(|limits| limits.attempts = 1).build();
        dispatching.context.step = haft_tool::Budget::new(u64::MAX);
        dispatching.context.run = haft_tool::Budget::new(u64::MAX);
        let effects = MemoryEffects::default();
        let watching: Arc<Mutex<Option<Watching>>> = Arc::default();
        let told = Arc::clone(&watching);
        let binder = WorkspaceBinder::new(rig.workspace.clone())
            .with_effects(Arc::new(effects.clone()))
            .watched(move |step| {
                if let Some(watch) = &*told.lock().unwrap_or_else(PoisonError::into_inner) {
                    watch(step);
                }
            });
        let ports = Ports {
            binder: Arc::new(binder),
            checkpoints: Arc::new(TreeScan),
            capture: Arc::new(TreeScan),
            ..dispatching.dispatch.ports().clone()
        };
        dispatching.dispatch = Dispatch::new(ports, DispatchLimits::default());
        let runtime = Runtime::new().unwrap();
        Self { rig, effects, dispatching, watching, runtime }
    }

    /// Does something at each step from now on.
    pub(crate) fn watch(&self, watch: impl Fn(Step) + Send + 'static) {
        *self.watching.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(watch));
    }

    pub(crate) fn watch_no_more(&self) {
        *self.watching.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn call(&self, arguments: Value) -> Outcome {
        self.runtime.block_on(self.dispatching.call("hand", arguments))
    }

    fn told(&self, arguments: Value) -> String {
        self.call(arguments).model_text()
    }

    pub(crate) fn create(&self, path: &str, text: &str) -> String {
        self.told(json!({ "path": path, "do": { "create": text } }))
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> String {
        self.told(json!({ "path": path, "do": { "write": text } }))
    }

    pub(crate) fn swap(&self, path: &str, old: &str, new: &str) -> String {
        self.told(json!({ "path": path, "do": { "swap": { "old": old, "new": new } } }))
    }

    pub(crate) fn mkdir(&self, path: &str) -> String {
        self.told(json!({ "path": path, "do": "mkdir" }))
    }

    pub(crate) fn rename(&self, path: &str, to: &str) -> String {
        self.told(json!({ "path": path, "to": to, "do": { "move": { "replace": false } } }))
    }

    pub(crate) fn rename_onto(&self, path: &str, to: &str) -> String {
        self.told(json!({ "path": path, "to": to, "do": { "move": { "replace": true } } }))
    }

    pub(crate) fn remove(&self, path: &str) -> String {
        self.told(json!({ "path": path, "do": "remove" }))
    }

    /// Runs a program, and says what was seen to change.
    pub(crate) fn run(&self, script: &str) -> String {
        let outcome =
            self.runtime.block_on(self.dispatching.call("spree", json!({ "script": script })));
        assert!(outcome.is_ok(), "{}", outcome.model_text());
        let line = |it: &Change| in_words(&serde_json::to_value(it).unwrap());
        let mut lines: Vec<String> = outcome.changes.iter().map(line).collect();
        lines.extend(outcome.notices.iter().map(|notice| format!("[{notice}]")));
        lines.join("\n")
    }

    /// Returns the latest call with changes on record.
    pub(crate) fn latest(&self) -> CallId {
        self.effects.records().pop().unwrap().call
    }

    /// Takes a call's changes back, and says what came of each.
    pub(crate) fn undo(&self, id: CallId) -> String {
        let effects = self.effects.of_call(id).unwrap();
        let paths = undo_paths(&effects, &self.rig.workspace);
        self.undo_at(id, &paths)
    }

    pub(crate) fn undo_at(&self, id: CallId, paths: &[String]) -> String {
        let arguments = json!({ "call": id.to_string(), "paths": paths });
        self.runtime.block_on(self.dispatching.call("back", arguments)).model_text()
    }

    pub(crate) fn undo_latest(&self) -> String {
        self.undo(self.latest())
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.rig.ws(path)).unwrap()
    }

    /// The names that writing left beside others.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.rig.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with(".haft-") {
                    found.push(name);
                } else if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    }
}
