//! A workspace in a temporary folder, and a dispatch over it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use haft_coding::{CodingTools, Toolset};
use haft_policy::{Policy, Preset, Rule};
use haft_protocol::{Caller, Entrance, Failure, Outcome, RunId, Status, ToolCall};
use haft_testkit::MemoryEffects;
use haft_testkit::doors::{
    CountedIds, MemoryArtifacts, MemoryJournal, Oracle, SteppingClock, Steps,
};
use haft_tool::{
    Budget, BuildContext, CallContext, CallHandle, Dispatch, DispatchLimits, OnConflict, Ports,
    ReadLedger, Registry, Reporter, SharedLedger,
};
use haft_workspace::{Protection, Workspace, WorkspaceBinder, WorkspaceConfig};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// What stands in every file outside the workspace.
pub(crate) const CANARY: &str = "canary: this stands outside";

/// A temporary folder with `ws`, the workspace, and `out`, which is outside; and a dispatch with the built-in tools.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
    dispatch: Dispatch,
    context: CallContext,
    runtime: Runtime,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with_rules(Vec::new())
    }

    pub(crate) fn with_rules(rules: Vec<Rule>) -> Self {
        Self::with(Preset::ReadOnly, rules)
    }

    /// Lets calls change files.
    pub(crate) fn editing() -> Self {
        Self::with(Preset::Edit, Vec::new())
    }

    pub(crate) fn with(preset: Preset, rules: Vec<Rule>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::create_dir_all(folder.path().join("out/deep")).unwrap();
        for path in ["out/secret.txt", "out/deep/secret.txt"] {
            fs::write(folder.path().join(path), CANARY).unwrap();
        }
        let workspace = Workspace::open(WorkspaceConfig {
            roots: vec![folder.path().join("ws")],
            protection: Protection::standard(),
        })
        .unwrap();
        let steps = Arc::new(Steps::default());
        let ports = Ports {
            journal: Arc::new(MemoryJournal::default()),
            binder: Arc::new(
                WorkspaceBinder::new(workspace).with_effects(Arc::new(MemoryEffects::default())),
            ),
            checkpoints: steps.clone(),
            capture: steps.clone(),
            artifacts: Arc::new(MemoryArtifacts::default()),
            approver: Arc::new(Oracle::default()),
            exclusion: steps,
            clock: Arc::new(SteppingClock::default()),
            ids: Arc::new(CountedIds::default()),
        };
        let registry = Registry::new(BuildContext::default());
        registry.register(Arc::new(CodingTools::new()), OnConflict::Reject).unwrap();
        let caller = Caller {
            entrance: Entrance::Library,
            principal: "test".into(),
            run: RunId::from_parts(0, 1),
            branch: None,
            parent: None,
        };
        let policy = Policy::new(preset, rules, false).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .unwrap();
        let mut context = CallContext::new(caller, registry.snapshot(), Arc::new(policy));
        context.ledger = Some(SharedLedger::default());
        let dispatch = Dispatch::new(ports, DispatchLimits::default());
        Self { folder, dispatch, context, runtime }
    }

    pub(crate) fn ws(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    pub(crate) fn out(&self, path: &str) -> PathBuf {
        self.folder.path().join("out").join(path)
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.ws(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn dir(&self, path: &str) -> &Self {
        fs::create_dir_all(self.ws(path)).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        symlink(target, self.ws(path)).unwrap();
        self
    }

    pub(crate) fn fifo(&self, path: &str) -> &Self {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.ws(path), FileType::Fifo, Mode::RWXU, 0).unwrap();
        self
    }

    /// Sets when a file last changed, in seconds before now.
    pub(crate) fn age(&self, path: &str, seconds: u64) -> &Self {
        let time = SystemTime::now() - Duration::from_secs(seconds);
        let file = fs::File::options().write(true).open(self.ws(path)).unwrap();
        file.set_modified(time).unwrap();
        self
    }

    /// Lets somebody hear how far calls are.
    pub(crate) fn reporter(&mut self, reporter: Reporter) {
        self.context.reporter = reporter;
    }

    /// Says what needs no question from now on, and what rules there are.
    pub(crate) fn under(&mut self, preset: Preset, rules: Vec<Rule>) -> &Self {
        self.context.policy = Arc::new(Policy::new(preset, rules, false).unwrap());
        self
    }

    /// What the caller has seen of files so far.
    pub(crate) fn ledger(&self) -> ReadLedger {
        self.context.ledger.as_ref().unwrap().value()
    }

    /// Forgets that anybody remembers what was read.
    pub(crate) fn without_ledger(mut self) -> Self {
        self.context.ledger = None;
        self
    }

    /// Shows the built-in tools in another shape.
    pub(crate) fn arranged(mut self, toolset: Toolset) -> Self {
        let registry = Registry::new(BuildContext::default());
        registry.register(Arc::new(CodingTools::new()), OnConflict::Reject).unwrap();
        toolset.arrange(&registry).unwrap();
        self.context.tools = registry.snapshot();
        self
    }

    /// What a file holds.
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.ws(path)).unwrap()
    }

    /// Reads a file, then changes it, and returns what a model is told.
    pub(crate) fn read_and(&self, action: &str, args: &Value) -> String {
        let outcome = self.call("reader", "read", &json!({ "path": args["path"] }));
        assert!(outcome.is_ok(), "{}", outcome.model_text());
        self.text("editor", action, args)
    }

    /// Starts a call.
    pub(crate) fn start(&self, tool: &str, action: &str, args: &Value) -> CallHandle {
        let mut arguments = json!({ "action": action });
        arguments.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        self.start_call(tool, arguments)
    }

    /// Starts a call of a tool that takes no action.
    pub(crate) fn start_call(&self, tool: &str, arguments: Value) -> CallHandle {
        let call = ToolCall::new(self.dispatch.ports().call_id(), tool, arguments);
        // Each call of a test is a step of a run of its own.
        let mut context = self.context.clone();
        (context.step, context.run) = (Budget::new(1), Budget::new(1));
        let _guard = self.runtime.enter();
        self.dispatch.start(&context, call)
    }

    /// Waits for a call to end.
    pub(crate) fn outcome(&self, handle: CallHandle) -> Outcome {
        self.runtime.block_on(handle).into_outcome().unwrap()
    }

    /// Changes something, and returns the id of the call that did.
    pub(crate) fn change(&self, action: &str, args: &Value) -> String {
        let handle = self.start("editor", action, args);
        let call = handle.id().to_string();
        let outcome = self.outcome(handle);
        assert!(outcome.is_ok(), "{}", outcome.model_text());
        call
    }

    /// Calls the tool that takes back.
    pub(crate) fn undo(&self, args: Value) -> Outcome {
        self.outcome(self.start_call("undo", args))
    }

    pub(crate) fn call(&self, tool: &str, action: &str, args: &Value) -> Outcome {
        self.outcome(self.start(tool, action, args))
    }

    /// What a model reads of a call.
    pub(crate) fn text(&self, tool: &str, action: &str, args: &Value) -> String {
        self.call(tool, action, args).model_text()
    }

    /// The data of a call that succeeds.
    pub(crate) fn data(&self, tool: &str, action: &str, args: &Value) -> Value {
        let outcome = self.call(tool, action, args);
        assert!(outcome.is_ok(), "{}", outcome.model_text());
        outcome.structured.unwrap()
    }

    pub(crate) fn read(&self, args: &Value) -> String {
        self.text("reader", "read", args)
    }

    pub(crate) fn list_dir(&self, args: &Value) -> String {
        self.text("reader", "list_dir", args)
    }

    pub(crate) fn grep(&self, args: &Value) -> String {
        self.text("search", "grep", args)
    }

    pub(crate) fn find(&self, args: &Value) -> String {
        self.text("search", "find", args)
    }
}

/// The failure of a call that fails.
pub(crate) fn failure(outcome: &Outcome) -> &Failure {
    match &outcome.status {
        Status::Failed(failure) => failure,
        status => panic!("should have failed: {status:?}\n{}", outcome.model_text()),
    }
}
