//! A subagent that is cut short, as its parent is told of it.

use std::fs;
use std::sync::Arc;

use haft::models::{Fate, Subagents, System, TurnOptions, open_calls};
use haft::policy::{Policy, Preset};
use haft::store::{Redaction, Retention, RunState, StoreConfig};
use haft::{ContentPart, Haft, OnConflict, RunKeeper, State, fates};
use haft_testkit::{Line, ScriptedModel};
use serde_json::json;

#[tokio::test]
async fn what_a_subagent_had_done_is_told_where_it_was_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let (ws, dir) = (folder.path().join("ws"), folder.path().join("state"));
    fs::create_dir(&ws).unwrap();
    let (retention, redaction) = (Retention::default(), Redaction::new([]).unwrap());
    let haft = Haft::builder()
        .root(&ws)
        .policy(Policy::new(Preset::Full, Vec::new(), false).unwrap())
        .state(State::Directory(StoreConfig { dir, retention, redaction }))
        .open()
        .unwrap();
    haft.registry().register(Arc::new(Subagents), OnConflict::Reject).unwrap();
    let write = json!({ "action": "write", "path": "a.txt", "content": "a" });
    let model = ScriptedModel::new([
        Line::calls(&[("subagent", json!({ "instruction": "Write a." }))]),
        Line::calls(&[("editor", write), ("reader", json!({ "action": "read", "path": "b" }))]),
        Line::Hang("It is".to_owned()),
    ]);
    let system = System::standard(&haft.place(), Vec::new());
    let facts = haft.run_facts("a task", &*model, &system);
    let (store, run) = (haft.store().unwrap().clone(), facts.run);
    let writer = store.runs().begin(&facts).unwrap();
    let keeper = Arc::new(RunKeeper::new(writer, haft.workspace().recorded_roots()));
    let branch = haft
        .branch(Arc::clone(&model) as Arc<dyn haft::models::ChatModel>)
        .keeper(keeper)
        .context(|context| context.caller.run = run)
        .open();
    let (agent, said) = (haft.agent(), haft.said(vec![ContentPart::text("Go.")]));
    let options = TurnOptions::default();
    let stop = options.cancellation.clone();
    let turn = async { agent.turn(&branch, said, &options).await };
    let look = async {
        // The subagent's calls have ended, and its model is asked what comes next.
        while model.asked().len() < 3 {
            tokio::task::yield_now().await;
        }
        let entries = store.runs().read(run).unwrap().entries;
        let call = open_calls(&entries)[0].call;
        let fate = fates(&store, &entries).unwrap().of(call).clone();
        let [child] = store.runs().beneath(run).unwrap().try_into().unwrap();
        stop.cancel();
        (fate, child)
    };
    let (_, (fate, child)) = tokio::join!(turn, look);
    assert!(matches!(child.state, RunState::Running { .. }));
    assert_eq!((&*child.title, child.parent_run), ("Write a.", Some(run)));
    let Fate::Started { done, can_be_repeated: false, .. } = fate else { panic!("{fate:?}") };
    let expected = [
        format!("it is on record as run {}", child.id.short()),
        "`editor`: done, changed `a.txt`".to_owned(),
        "`reader`: failed".to_owned(),
    ];
    assert_eq!(done, expected);
    assert_eq!(fs::read(ws.join("a.txt")).unwrap(), b"a");
}
