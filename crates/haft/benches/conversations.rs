//! What a turn of a long conversation costs beside one of a short one, and a fork of it.
//!
//! Everything runs in one process, turn by turn, and is printed as one JSON object: medians in nanoseconds.
//! `cargo xtask bench compile branch-clone` runs it and prints the ratios.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement stops where it fails, prints, and needs a folder to stand in"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use haft::models::{
    Ask, Branch, ChatModel, Entry, Gauge, Reply, ReplyPart, RequestedCall, Sampling, StopReason,
    System, TokenUsage, ToolChoice, Transcript, compile,
};
use haft::{ContentPart, Haft, Outcome};
use haft_testkit::ScriptedModel;
use serde_json::{Value, json};

/// Requests, copies or forks of one turn.
const ROUNDS: u32 = 200;
/// Turns of each side; the median counts.
const TURNS: usize = 15;

/// A task and as many steps, each with two calls and their results.
fn conversation(haft: &Haft, steps: usize) -> Transcript {
    let ports = haft.dispatch().ports();
    let mut transcript = Transcript::new();
    transcript.say(haft.said(vec![ContentPart::text("Fix the test.")])).unwrap();
    for step in 0..steps {
        let call = |_| {
            ReplyPart::Call(RequestedCall {
                id: ports.call_id(),
                provider_id: None,
                tool: "reader".to_owned(),
                arguments: json!({ "action": "read", "path": format!("src/{step}.rs") }).into(),
                is_whole: true,
                opaque: None,
            })
        };
        let reply = Reply {
            id: ports.message_id(),
            at: ports.clock.now(),
            model: "scripted/model".parse().unwrap(),
            parts: (0..2).map(call).collect(),
            stop: StopReason::Calls,
            usage: TokenUsage::default(),
        };
        let calls: Vec<_> = reply.calls().map(|call| call.id).collect();
        transcript.reply(reply).unwrap();
        for call in calls {
            let outcome = Outcome::ok("fn main() { println!(\"hello\"); }\n".repeat(40));
            transcript.end(call, Arc::new(outcome)).unwrap();
        }
    }
    transcript
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Returns nanoseconds of one time.
fn timed(turns: usize, mut once: impl FnMut()) -> f64 {
    let turn = |_| {
        let began = Instant::now();
        (0..ROUNDS).for_each(|_| once());
        began.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
    };
    median((0..turns).map(turn).collect())
}

/// Makes and measures the request at a turn, beside a copy of pointers to its messages.
fn request(haft: &Haft, steps: usize, turns: usize) -> Value {
    let transcript = conversation(haft, steps);
    let system = System::standard(&haft.place(), Vec::new());
    let model = ScriptedModel::new([]);
    let branch = haft.branch(Arc::clone(&model) as Arc<dyn ChatModel>).open();
    let (_, tools) = block_on(branch.turn()).tools().unwrap();
    let mut gauge = Gauge::new(model.facts());
    let ask = Ask {
        system: &system,
        transcript: &transcript,
        tools,
        choice: ToolChoice::Auto,
        format: None,
        sampling: Sampling::default(),
        notices: &[],
    };
    let made = compile(&ask).unwrap();
    let compiling = timed(turns, || {
        let compiled = compile(&ask).unwrap();
        black_box(gauge.of(&compiled.request));
    });
    let copying = timed(turns, || {
        black_box(made.request.messages.clone());
    });
    json!({ "turn": steps, "compile_ns": compiling, "copy_ns": copying })
}

/// Forks a branch with as many messages: replies, and results of their calls.
fn fork(haft: &Haft, messages: usize, turns: usize) -> Value {
    let transcript = conversation(haft, messages / 2);
    assert!(transcript.entries().all(|it| !matches!(it, Entry::Summary(_))));
    let model: Arc<dyn ChatModel> = ScriptedModel::new([]);
    let branch: Branch = haft.branch(model).transcript(transcript).open();
    let forking = timed(turns, || {
        let id = haft.dispatch().ports().branch_id();
        black_box(block_on(branch.fork(id)).unwrap());
    });
    json!({ "messages": messages, "fork_ns": forking })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => unreachable!("nobody else holds the branch"),
    }
}

fn main() {
    // `cargo test` builds and runs benchmarks too; there it only shows that they run.
    let turns = if std::env::args().any(|it| it == "--bench") { TURNS } else { 1 };
    let haft = Haft::builder().root(std::env::temp_dir()).open().unwrap();
    let requests: Vec<Value> =
        [10, 1_000].into_iter().map(|steps| request(&haft, steps, turns)).collect();
    let forks: Vec<Value> =
        [10, 10_000].into_iter().map(|messages| fork(&haft, messages, turns)).collect();
    println!("{}", json!({ "requests": requests, "forks": forks }));
}
