//! A process that is killed in the middle of a change, and the next one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use haft::coding::CodingTools;
use haft::policy::{Policy, Preset};
use haft::ports::Effects as _;
use haft::ports::none::{NoApprover, NoCapture, NoCheckpoints};
use haft::store::{Redaction, Retention, Store, StoreConfig};
use haft::workspace::{Protection, Step, Workspace, WorkspaceBinder, WorkspaceConfig, undo_paths};
use haft::{
    BuildContext, CallContext, CallId, Caller, Dispatch, DispatchLimits, Entrance, Haft,
    OnConflict, Ports, Registry, RunId, State, ToolCall,
};
use serde_json::{Value, json};

const FOLDER: &str = "HAFT_TEST_KILLED_FOLDER";
const CALL: &str = "HAFT_TEST_KILLED_CALL";
const STEP: &str = "HAFT_TEST_KILLED_STEP";

/// The steps, and before the first of them.
const STEPS: [Step; 9] = [
    Step::Kept,
    Step::Announced,
    Step::DirectoryMade,
    Step::FileMade,
    Step::FileWritten,
    Step::Compared,
    Step::Done,
    Step::Synced,
    Step::Settled,
];

fn state(folder: &Path) -> StoreConfig {
    StoreConfig {
        dir: folder.join("state"),
        retention: Retention::default(),
        redaction: Redaction::new([]).unwrap(),
    }
}

fn open(folder: &Path) -> Haft {
    let builder = Haft::builder().root(folder.join("ws")).state(State::Directory(state(folder)));
    builder.policy(Policy::new(Preset::Full, Vec::new(), false).unwrap()).open().unwrap()
}

/// What the other process does: one call, which ends at a step together with it.
#[tokio::test(flavor = "multi_thread")]
async fn does_what_it_is_told() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let (tool, arguments): (String, Value) =
        serde_json::from_str(&std::env::var(CALL).unwrap()).unwrap();
    let step = std::env::var(STEP).unwrap();
    let roots = vec![folder.join("ws")];
    let protection = Protection::standard();
    let workspace = Workspace::open(WorkspaceConfig { roots, protection }).unwrap();
    let store = Store::open(state(folder)).unwrap();
    let binder = WorkspaceBinder::new(workspace)
        .with_effects(Arc::new(store.clone()))
        // No destructor runs, as when the process is killed from outside.
        .watched(move |now| {
            if format!("{now:?}") == step {
                std::process::abort()
            }
        });
    let ports = Ports {
        journal: Arc::new(store.clone()),
        binder: Arc::new(binder),
        checkpoints: Arc::new(NoCheckpoints),
        capture: Arc::new(NoCapture),
        artifacts: Arc::new(store.clone()),
        approver: Arc::new(NoApprover),
        exclusion: store.exclusion(),
        clock: Arc::new(haft::tool_api::SystemClock),
        ids: Arc::new(haft::tool_api::SystemIds),
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
    let policy = Arc::new(Policy::new(Preset::Full, Vec::new(), false).unwrap());
    let context = CallContext::new(caller, registry.snapshot(), policy);
    let call = ToolCall::new(ports.call_id(), tool, arguments);
    let dispatch = Dispatch::new(ports, DispatchLimits::default());
    // What comes back is that of a call which took no such step.
    dispatch.dispatch(&context, call).await.into_outcome().unwrap();
}

fn killed(folder: &Path, (tool, arguments): (&str, &Value), step: Step) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::does_what_it_is_told", "--nocapture"])
        .env(FOLDER, folder)
        .env(CALL, json!([tool, arguments]).to_string())
        .env(STEP, format!("{step:?}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok());
}

/// Everything in the workspace, with what files hold.
fn tree(folder: &Path) -> BTreeMap<String, Option<String>> {
    let mut tree = BTreeMap::new();
    let root = folder.join("ws");
    let mut folders = vec![root.clone()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                tree.insert(name, None);
                folders.push(path);
            } else {
                tree.insert(name, Some(fs::read_to_string(path).unwrap()));
            }
        }
    }
    tree
}

fn fresh() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    fs::create_dir_all(folder.path().join("ws/d")).unwrap();
    fs::write(folder.path().join("ws/a"), "one\n").unwrap();
    fs::write(folder.path().join("ws/d/x"), "deep\n").unwrap();
    folder
}

fn undo_arguments(haft: &Haft, call: CallId) -> Value {
    let effects = haft.store().unwrap().of_call(call).unwrap();
    json!({ "call": call, "paths": undo_paths(&effects, haft.workspace()) })
}

fn latest(haft: &Haft) -> Option<CallId> {
    let store = haft.store().unwrap();
    let changed = store.changed_calls(&haft.workspace().recorded_roots(), 1).unwrap();
    changed.calls.first().map(|it| it.call)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_killed_anywhere_is_whole_or_not_there_and_can_be_taken_back() {
    for arguments in [
        json!({ "action": "edit", "path": "a", "old": "one", "new": "two" }),
        json!({ "action": "write", "path": "n/m/f", "content": "new\n" }),
        json!({ "action": "move", "path": "d", "to": "n/d" }),
        json!({ "action": "delete", "path": "a" }),
        json!({ "action": "mkdir", "path": "n/m" }),
    ] {
        let whole = {
            let folder = fresh();
            let outcome = open(folder.path()).call("editor", arguments.clone()).await;
            assert!(outcome.is_ok(), "{}", outcome.model_text());
            tree(folder.path())
        };
        for step in STEPS {
            let folder = fresh();
            let before = tree(folder.path());
            killed(folder.path(), ("editor", &arguments), step);
            let haft = open(folder.path());
            let after = tree(folder.path());
            let names: Vec<_> = after.keys().filter(|name| name.contains(".haft-")).collect();
            assert!(names.is_empty(), "{arguments} at {step:?}: {names:?}");
            // Directories on the way may have been made before what they were made for.
            let files = |tree: &BTreeMap<String, Option<String>>| -> Vec<_> {
                let is_file = |it: &(&String, &Option<String>)| it.1.is_some();
                let owned = |it: (&String, &Option<String>)| (it.0.clone(), it.1.clone());
                tree.iter().filter(is_file).map(owned).collect()
            };
            let is_whole = files(&after) == files(&whole) || files(&after) == files(&before);
            assert!(is_whole, "{arguments} at {step:?}: {after:?}");
            assert_eq!(haft.store().unwrap().cut_short().unwrap(), []);
            if let Some(call) = latest(&haft) {
                let outcome = haft.call("undo", undo_arguments(&haft, call)).await;
                assert!(outcome.is_ok(), "{}", outcome.model_text());
            }
            assert_eq!(tree(folder.path()), before, "{arguments} at {step:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_that_is_killed_anywhere_can_be_done_again() {
    for step in STEPS {
        let folder = fresh();
        let before = tree(folder.path());
        let haft = open(folder.path());
        let edit = json!({ "action": "edit", "path": "a", "old": "one", "new": "two" });
        assert!(haft.call("editor", edit).await.is_ok());
        let call = latest(&haft).unwrap();
        let arguments = undo_arguments(&haft, call);
        drop(haft);
        killed(folder.path(), ("undo", &arguments), step);
        let haft = open(folder.path());
        assert!(haft.call("undo", arguments).await.is_ok());
        assert_eq!(tree(folder.path()), before, "{step:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_start_says_what_it_put_in_order() {
    let folder = fresh();
    let arguments = json!({ "action": "edit", "path": "a", "old": "one", "new": "two" });
    killed(folder.path(), ("editor", &arguments), Step::FileWritten);
    let haft = open(folder.path());
    let [repaired] = haft.repaired() else { unreachable!("{:?}", haft.repaired()) };
    let said = repaired.notice().text;
    assert!(said.contains("was cut short: it had not happened"), "{said}");
    assert!(said.ends_with("an unfinished file was removed"), "{said}");
    assert_eq!(open(folder.path()).repaired(), []);
}
