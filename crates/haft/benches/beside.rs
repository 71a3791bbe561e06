//! What another library is asked for, too: branches, turns with a scripted model, and tools on a source tree.
//!
//! Everything runs in one process and is printed as one JSON object: medians in nanoseconds. The tree is the one that
//! `HAFT_BENCH_TREE` names; without it the tools are left out. `cargo xtask bench lionagi --beside DIR` runs it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement stops where it fails, prints, and is told its tree by the environment"
)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use haft::models::{ChatModel, TurnOptions, operations};
use haft::policy::{Policy, Preset};
use haft::schema::Contract;
use haft::{ContentPart, Haft, State};
use haft_testkit::{Line, ScriptedModel};
use serde_json::{Value, json};

/// Samples of what takes microseconds, of turns, and of what takes milliseconds.
const SAMPLES: [usize; 3] = [200, 120, 30];

/// Turns at either end of a conversation that are looked at.
const ENDS: usize = 20;

/// Files of the tree: short, long, and in between; and one that is made to be edited.
const SMALL: &str = "version.py";
const LONG: &str = "state/db.py";
const MIDDLE: &str = "operations/flow.py";
const EDITED: &str = "_bench_edit.py";

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

fn since(began: Instant) -> f64 {
    began.elapsed().as_nanos() as f64
}

fn house(root: &Path) -> Haft {
    Haft::builder()
        .root(root)
        .state(State::Memory)
        .policy(Policy::new(Preset::Full, Vec::new(), false).unwrap())
        .open()
        .expect("the parts fit")
}

fn branches(haft: &Haft, samples: usize) -> f64 {
    let model: Arc<dyn ChatModel> = ScriptedModel::new([]);
    let one = |_| {
        let began = Instant::now();
        black_box(haft.branch(Arc::clone(&model)).open());
        since(began)
    };
    median((0..samples).map(one).collect())
}

async fn turns(haft: &Haft, samples: usize) -> Value {
    let (agent, options) = (haft.agent(), TurnOptions::default());
    let said = || haft.said(vec![ContentPart::text("hello")]);
    let model = ScriptedModel::new((0..samples).map(|_| Line::say("hi")));
    let branch = haft.branch(model).open();
    let mut chat = Vec::new();
    for _ in 0..samples {
        let began = Instant::now();
        operations::chat(&agent, &branch, said(), &options).await.unwrap();
        chat.push(since(began));
    }
    let reply = "Here it is.\n```json\n{\"answer\": \"a\", \"score\": 0.5}\n```";
    let contract = Contract::foreign(json!({
        "type": "object",
        "properties": { "answer": { "type": "string" }, "score": { "type": "number" } },
        "required": ["answer", "score"],
    }))
    .unwrap();
    let model = ScriptedModel::new((0..samples).map(|_| Line::say(reply)));
    let branch = haft.branch(model).open();
    let mut operated = Vec::new();
    for _ in 0..samples {
        let began = Instant::now();
        let value = operations::operate(&agent, &branch, said(), &contract, &options).await;
        operated.push(since(began));
        assert_eq!(value.unwrap().value.get("score"), Some(&json!(0.5)));
    }
    let last = operated.split_off(operated.len().saturating_sub(ENDS));
    operated.truncate(ENDS);
    json!({
        "chat": median(chat), "operate_first": median(operated), "operate_last": median(last),
    })
}

async fn tools(tree: &Path, samples: usize) -> Value {
    let haft = house(tree);
    let mut measured = serde_json::Map::new();
    let calls = [
        ("read_small", "reader", json!({ "action": "read", "path": SMALL })),
        ("read_window", "reader", json!({ "action": "read", "path": LONG, "limit": 2_000 })),
        ("grep", "search", json!({ "action": "grep", "pattern": "class Branch" })),
        ("find", "search", json!({ "action": "find", "pattern": "**/*.py" })),
        ("outline", "code_nav", json!({ "action": "outline", "path": MIDDLE })),
    ];
    for (name, tool, arguments) in calls {
        let mut times = Vec::new();
        for _ in 0..samples {
            let began = Instant::now();
            let outcome = haft.call(tool, arguments.clone()).await;
            times.push(since(began));
            assert!(outcome.is_ok(), "{name}: {}", outcome.model_text());
        }
        measured.insert(name.to_owned(), median(times).into());
    }
    let (body, edited) = (std::fs::read_to_string(tree.join(MIDDLE)).unwrap(), tree.join(EDITED));
    let mut times = Vec::new();
    for _ in 0..samples {
        std::fs::write(&edited, &body).unwrap();
        let (old, new) = ("class FlowEvent:", "class FlowEvent2:");
        let arguments = json!({ "action": "edit", "path": EDITED, "old": old, "new": new });
        let began = Instant::now();
        let outcome = haft.call("editor", arguments).await;
        times.push(since(began));
        assert!(outcome.is_ok(), "{}", outcome.model_text());
    }
    std::fs::remove_file(&edited).unwrap();
    measured.insert("edit".to_owned(), median(times).into());
    measured.into()
}

fn main() {
    // `cargo test` builds and runs benchmarks too; there it only shows that they run.
    let is_bench = std::env::args().any(|it| it == "--bench");
    let [many, some, few] = SAMPLES.map(|it| if is_bench { it } else { 2 });
    let tree = std::env::var_os("HAFT_BENCH_TREE").map(PathBuf::from);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let haft = house(&std::env::temp_dir());
    let branch = branches(&haft, many);
    let turns = runtime.block_on(turns(&haft, some));
    let tools = tree.map(|tree| runtime.block_on(tools(&tree, few)));
    println!("{}", json!({ "branch_ns": branch, "turn_ns": turns, "tool_ns": tools }));
}
