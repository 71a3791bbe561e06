//! What the call path costs, beside a boxed function that parses its arguments and does nothing, and records beside a
//! bare commit of SQLite.
//!
//! Everything runs in one process, turn by turn, and is printed as one JSON object: medians in nanoseconds per call.
//! `cargo xtask bench dispatch registry` runs it and prints the ratios.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement stops where it fails, prints, and keeps its state in a folder of its own"
)]

use std::hint::black_box;
use std::num::NonZeroU64;
use std::path::Path;
use std::pin::Pin;
use std::time::Instant;

use haft::store::{Redaction, Retention, StoreConfig};
use haft::{
    Budget, CallContext, Entrance, Failure, FunctionTool, Haft, OnConflict, Output, Selection,
    State, ToolCall, tool,
};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

/// Calls of one turn.
const CALLS: u32 = 2_000;
/// Turns of each side; the median counts.
const TURNS: usize = 9;

/// Does nothing.
#[tool(name = "local/nothing")]
async fn nothing(
    /// Some text.
    text: String,
    /// Some number.
    #[serde(default)]
    number: u32,
) -> Result<String, Failure> {
    black_box((text, number));
    Ok(String::new())
}

#[derive(Deserialize)]
struct Args {
    text: String,
    #[serde(default)]
    number: u32,
}

type Boxed = Box<
    dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync,
>;

/// The floor: what calling anything by name and JSON costs at least.
fn boxed() -> Boxed {
    Box::new(|arguments| {
        Box::pin(async move {
            let args: Args =
                serde_json::from_value(arguments).map_err(|error| error.to_string())?;
            black_box((args.text, args.number));
            Ok(String::new())
        })
    })
}

fn arguments() -> Value {
    json!({ "text": "some text of a usual length", "number": 7 })
}

fn house(state: State) -> Haft {
    let haft =
        Haft::builder().root(std::env::temp_dir()).state(state).open().expect("the parts fit");
    haft.registry().register_tool(nothing::tool().unwrap(), OnConflict::Reject).unwrap();
    haft
}

fn context(haft: &Haft) -> CallContext {
    let mut context = haft.context(haft.caller(Entrance::Library, "bench"));
    context.step = Budget::new(u64::MAX);
    context.run = Budget::new(u64::MAX);
    context
}

async fn one_by_one(haft: &Haft, context: &CallContext) {
    for _ in 0..CALLS {
        let call = ToolCall::new(haft.dispatch().ports().call_id(), "nothing", arguments());
        let end = haft.dispatch().dispatch(context, call).await;
        assert!(end.outcome().is_some_and(haft::Outcome::is_ok));
    }
}

async fn in_batches(haft: &Haft, context: &CallContext) {
    for _ in 0..CALLS / 25 {
        let calls = (0..25)
            .map(|_| ToolCall::new(haft.dispatch().ports().call_id(), "nothing", arguments()))
            .collect();
        assert_eq!(haft.dispatch().batch(context, calls).await.len(), 25);
    }
}

async fn floor(boxed: &Boxed) {
    for _ in 0..CALLS {
        assert!(boxed(arguments()).await.is_ok());
    }
}

/// The floor under records: a database beside the other one, set up as that one is.
fn bare_database(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("bare.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             CREATE TABLE records (id INTEGER PRIMARY KEY, record TEXT NOT NULL);",
        )
        .unwrap();
    connection
}

/// Commits a row of a record's size for each call, on the thread that asks.
fn commits(connection: &Connection) {
    let record = arguments().to_string().repeat(12);
    for _ in 0..CALLS {
        let mut insert =
            connection.prepare_cached("INSERT INTO records (record) VALUES (?1)").unwrap();
        insert.execute([&record]).unwrap();
    }
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

fn per_call(began: Instant) -> f64 {
    began.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// Registers a number of tools, again and again, and returns nanoseconds per registration and per lookup.
fn registry(tools: usize, turns: usize) -> (f64, f64) {
    let names: Vec<String> = (0..tools).map(|number| format!("team/tool_{number}")).collect();
    let made: Vec<_> = names
        .iter()
        .map(|name| {
            let schema =
                json!({ "type": "object", "properties": { "text": { "type": "string" } } });
            FunctionTool::new(name.parse().unwrap(), "Does nothing.", schema)
                .unwrap()
                .body(|_, _| async { Ok(Output::text("")) })
                .unwrap()
        })
        .collect();
    let (mut registering, mut finding) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        let registry = haft::Registry::default();
        let source = std::sync::Arc::new(haft::FixedTools::shared("bench", made.clone()));
        let began = Instant::now();
        registry.register(source, OnConflict::Reject).unwrap();
        registering.push(began.elapsed().as_nanos() as f64 / tools as f64);
        let snapshot = registry.snapshot();
        assert_eq!(snapshot.select(&Selection::All).unwrap().len(), tools);
        let began = Instant::now();
        for round in 0..CALLS as usize {
            let name = format!("team__tool_{}", (round * 7) % tools);
            assert!(black_box(snapshot.find(&name)).is_some());
        }
        finding.push(per_call(began));
    }
    (median(registering), median(finding))
}

/// Takes every side's turns, one after the other.
async fn measure(turns: usize, folder: std::path::PathBuf) -> Value {
    let bare = bare_database(&folder);
    let folder = folder.join("state");
    let retention =
        Retention { calls: NonZeroU64::new(1_000_000).unwrap(), ..Retention::default() };
    let config = StoreConfig { dir: folder, retention, redaction: Redaction::new([]).unwrap() };
    let (plain, recorded) = (house(State::None), house(State::Directory(config)));
    let (plain_context, recorded_context) = (context(&plain), context(&recorded));
    let boxed = boxed();
    let mut samples: [Vec<f64>; 5] = Default::default();
    for _ in 0..turns {
        let [base, off, on, batches, commit] = &mut samples;
        let began = Instant::now();
        floor(&boxed).await;
        base.push(per_call(began));
        let began = Instant::now();
        one_by_one(&plain, &plain_context).await;
        off.push(per_call(began));
        let began = Instant::now();
        one_by_one(&recorded, &recorded_context).await;
        on.push(per_call(began));
        let began = Instant::now();
        in_batches(&recorded, &recorded_context).await;
        batches.push(per_call(began));
        let began = Instant::now();
        commits(&bare);
        commit.push(per_call(began));
    }
    let [base, off, on, batches, commit] = samples.map(median);
    json!({
        "boxed": base, "journal_off": off, "journal_on": on, "journal_on_batches": batches,
        "commit": commit,
    })
}

/// Makes calls without a record until they are done, for profilers: `--calls-only`, and rounds of two thousand if five are
/// too few.
async fn calls_only(rounds: usize) {
    let plain = house(State::None);
    let context = context(&plain);
    for _ in 0..rounds {
        one_by_one(&plain, &context).await;
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // Calls are made on the runtime's own threads, as a program under load makes them.
    if let Some(at) = arguments.iter().position(|it| it == "--calls-only") {
        let rounds = arguments.get(at + 1).and_then(|it| it.parse().ok()).unwrap_or(5);
        runtime.block_on(runtime.spawn(calls_only(rounds))).unwrap();
        return;
    }
    // `cargo test` builds and runs benchmarks too; there it only shows that they run.
    let turns = if arguments.iter().any(|it| it == "--bench") { TURNS } else { 1 };
    let folder = tempfile::TempDir::new().unwrap();
    let result = runtime.block_on(runtime.spawn(measure(turns, folder.path().to_owned()))).unwrap();
    let rows: Vec<Value> = [50, 500, 5_000]
        .into_iter()
        .map(|tools| {
            let (registering, finding) = registry(tools, turns);
            json!({ "tools": tools, "register_ns": registering, "find_ns": finding })
        })
        .collect();
    println!("{}", json!({ "call_ns": result, "registry": rows }));
}
