//! Many calls at once, and what haft keeps for itself.

use std::fs;
use std::sync::Arc;

use haft::policy::{Policy, Preset};
use haft::store::{Redaction, Retention, StoreConfig};
use haft::{Haft, State};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_change_equal_files_at_once_all_succeed() {
    const FILES: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let (ws, dir) = (folder.path().join("ws"), folder.path().join("state"));
    fs::create_dir(&ws).unwrap();
    for number in 0..FILES {
        fs::write(ws.join(number.to_string()), "one\n").unwrap();
    }
    let (retention, redaction) = (Retention::default(), Redaction::new([]).unwrap());
    let state = State::Directory(StoreConfig { dir, retention, redaction });
    let policy = Policy::new(Preset::Edit, Vec::new(), false).unwrap();
    let haft = Haft::builder().root(&ws).policy(policy).state(state).open().unwrap();
    let haft = Arc::new(haft);
    for (old, new) in [("one", "two"), ("two", "one"), ("one", "two")] {
        let edits = (0..FILES).map(|number| {
            let haft = Arc::clone(&haft);
            tokio::spawn(async move {
                let path = number.to_string();
                let edit = json!({ "action": "edit", "path": path, "old": old, "new": new });
                haft.call("editor", edit).await
            })
        });
        for edit in edits.collect::<Vec<_>>() {
            let outcome = edit.await.unwrap();
            assert!(outcome.is_ok(), "{}", outcome.model_text());
        }
    }
    let holds_new = |number: usize| fs::read(ws.join(number.to_string())).unwrap() == b"two\n";
    assert!((0..FILES).all(holds_new));
    let left = fs::read_dir(folder.path().join("state/objects")).unwrap();
    assert!(left.flatten().all(|entry| entry.path().is_dir()), "something staged was left");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_kept_out_of_the_directories_that_haft_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, rules) = (folder.path().join("state"), folder.path().join("rules"));
    fs::create_dir(&rules).unwrap();
    fs::write(rules.join("config.toml"), "").unwrap();
    let (retention, redaction) = (Retention::default(), Redaction::new([]).unwrap());
    let state = State::Directory(StoreConfig { dir, retention, redaction });
    let builder = Haft::builder().root(folder.path()).state(state).config_dir(&rules);
    let haft = builder.open().unwrap();
    for (tool, arguments) in [
        ("reader", json!({ "action": "read", "path": "rules/config.toml" })),
        ("editor", json!({ "action": "write", "path": "rules/more.toml", "content": "" })),
        ("editor", json!({ "action": "move", "path": "state", "to": "elsewhere" })),
        ("reader", json!({ "action": "list_dir", "path": "state" })),
    ] {
        let text = haft.call(tool, arguments.clone()).await.model_text();
        assert!(text.starts_with("denied by protection"), "{arguments}: {text}");
    }
}
