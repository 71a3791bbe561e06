//! What a turn of a long conversation costs beside one of a short one, a fork of it, a call of a program on it, and what it
//! holds.
//!
//! Everything runs in one process, turn by turn, and is printed as one JSON object: medians in nanoseconds, and bytes.
//! `cargo xtask bench compile branch-clone act message` runs it and prints the ratios.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement stops where it fails, prints, needs a folder to stand in, and looks at itself from outside"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use haft::models::{
    Ask, Branch, ChatModel, Entry, Gauge, Reply, ReplyPart, RequestedCall, Sampling, StopReason,
    System, TokenUsage, ToolChoice, ToolSpec, Transcript, TurnOptions, compile, operations,
};
use haft::{
    Budget, ContentPart, Entrance, Failure, Haft, OnConflict, Outcome, State, ToolCall, tool,
};
use haft_testkit::ScriptedModel;
use serde_json::{Value, json};

/// Requests, copies or forks of one turn.
const ROUNDS: u32 = 200;
/// Turns of each side; the median counts.
const TURNS: usize = 15;
/// Calls of a program in one turn.
const CALLS: u32 = 500;
/// Messages of the conversation whose memory is looked at.
const MESSAGES: usize = 10_000;

/// Does nothing.
#[tool(name = "local/nothing")]
async fn nothing(
    /// Some text.
    text: String,
) -> Result<String, Failure> {
    black_box(text);
    Ok(String::new())
}

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

/// Questions and answers of 100 to 200 characters, and the bytes of their texts.
fn talk(haft: &Haft, messages: usize) -> (Transcript, usize) {
    let ports = haft.dispatch().ports();
    let (mut transcript, mut bytes) = (Transcript::new(), 0);
    for exchange in 0..messages / 2 {
        let question = format!("question {exchange}: {}", "lorem ipsum ".repeat(8));
        let answer = format!("answer {exchange}: {}", "dolor sit amet ".repeat(12));
        bytes += question.len() + answer.len();
        transcript.say(haft.said(vec![ContentPart::text(question)])).unwrap();
        let reply = Reply {
            id: ports.message_id(),
            at: ports.clock.now(),
            model: "scripted/model".parse().unwrap(),
            parts: vec![ReplyPart::Text { text: answer, opaque: None }],
            stop: StopReason::End,
            usage: TokenUsage::default(),
        };
        transcript.reply(reply).unwrap();
    }
    (transcript, bytes)
}

/// What a request is made of beside the conversation.
struct Rest {
    system: System,
    tools: Arc<[ToolSpec]>,
    gauge: Gauge,
}

impl Rest {
    fn of(haft: &Haft) -> Self {
        let model = ScriptedModel::new([]);
        let gauge = Gauge::new(model.facts());
        let branch = haft.branch(model).open();
        let (_, tools) = block_on(branch.turn()).tools().unwrap();
        Self { system: System::standard(&haft.place(), Vec::new()), tools, gauge }
    }

    /// Makes a request, and measures it.
    fn request(&mut self, transcript: &Transcript) {
        let ask = Ask {
            system: &self.system,
            transcript,
            tools: Arc::clone(&self.tools),
            choice: ToolChoice::Auto,
            format: None,
            sampling: Sampling::default(),
            notices: &[],
        };
        let compiled = compile(&ask).unwrap();
        black_box(self.gauge.of(&compiled.request));
    }
}

/// Makes requests at some turns of a conversation, each in turn with the others.
fn requests(haft: &Haft, steps: &[usize], turns: usize) -> Vec<Value> {
    let side = |steps: &usize| (conversation(haft, *steps), Rest::of(haft), Vec::new());
    let mut sides: Vec<_> = steps.iter().map(side).collect();
    for _ in 0..turns {
        for (transcript, rest, samples) in &mut sides {
            samples.push(timed(1, || rest.request(transcript)));
        }
    }
    let row = |(steps, (_, _, samples)): (&usize, (_, _, Vec<f64>))| json!({ "turn": steps, "request_ns": median(samples) });
    steps.iter().zip(sides).map(row).collect()
}

/// Looks at what a conversation holds of which a request was made, and at what a fork of it adds.
fn memory(haft: &Haft) -> Value {
    let shown = |messages| {
        let (mut transcript, bytes) = talk(haft, messages);
        transcript.say(haft.said(vec![ContentPart::text("And now?")])).unwrap();
        Rest::of(haft).request(&transcript);
        let model: Arc<dyn ChatModel> = ScriptedModel::new([]);
        (haft.branch(model).transcript(transcript).open(), bytes)
    };
    // What is made once, whatever is said.
    let warm = shown(2);
    let Some(before) = resident() else { return Value::Null };
    let (branch, bytes) = shown(MESSAGES);
    let after = resident().unwrap_or(before);
    let fork = block_on(branch.fork(haft.dispatch().ports().branch_id())).unwrap();
    let forked = resident().unwrap_or(after);
    black_box((warm, fork));
    let each = |bytes: u64| bytes as f64 / MESSAGES as f64;
    json!({
        "messages": MESSAGES,
        "text_bytes": each(bytes as u64),
        "message_bytes": each(after.saturating_sub(before)),
        "forked_message_bytes": each(forked.saturating_sub(after)),
    })
}

/// Returns the bytes of this process that are in memory, where the system says.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let row = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = row.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Makes calls of a program on a branch that grows, beside calls without a branch.
async fn act(turns: usize) -> Value {
    let haft = Haft::builder().root(std::env::temp_dir()).state(State::None).open().unwrap();
    haft.registry().register_tool(nothing::tool().unwrap(), OnConflict::Reject).unwrap();
    let arguments = || json!({ "text": "some text of a usual length" });
    let mut context = haft.context(haft.caller(Entrance::Library, "bench"));
    context.step = Budget::new(u64::MAX);
    context.run = Budget::new(u64::MAX);
    let branch = haft.branch(ScriptedModel::new([]));
    let branch = branch.context(|it| it.run = Budget::new(u64::MAX)).open();
    let (agent, options) = (haft.agent(), TurnOptions::default());
    let (mut bare, mut acted) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        let began = Instant::now();
        for _ in 0..CALLS {
            let call = ToolCall::new(haft.dispatch().ports().call_id(), "nothing", arguments());
            let end = haft.dispatch().dispatch(&context, call).await;
            assert!(end.outcome().is_some_and(Outcome::is_ok));
        }
        bare.push(began.elapsed().as_nanos() as f64 / f64::from(CALLS));
        let began = Instant::now();
        for _ in 0..CALLS {
            let calls = [("nothing".to_owned(), arguments().into())];
            let ends = operations::act(&agent, &branch, calls, &options).await.unwrap();
            assert!(ends.iter().all(Outcome::is_ok));
        }
        acted.push(began.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    json!({ "bare": median(bare), "act": median(acted) })
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
    // Before anything else has left free memory behind.
    let memory = memory(&haft);
    let requests = requests(&haft, &[10, 1_000], turns);
    let forks: Vec<Value> =
        [10, 10_000].into_iter().map(|messages| fork(&haft, messages, turns)).collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let act = runtime.block_on(runtime.spawn(act(turns))).unwrap();
    let measured =
        json!({ "requests": requests, "forks": forks, "call_ns": act, "memory": memory });
    println!("{measured}");
}
