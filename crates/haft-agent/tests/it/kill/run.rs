//! The run that is killed: its model, its tools, and what they leave behind.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use haft_agent::{Agent, TurnOptions};
use haft_model::{
    BoxFuture, ChatModel, Dialect, ModelError, ModelFacts, Part, ReplyStream, Request,
    RequestMessage, Sampling,
};
use haft_policy::{Policy, Preset};
use haft_protocol::{
    BranchId, CallId, Caller, Capabilities, CapabilitiesBuilder, Capability, ContentPart, Digest,
    Entrance, Entry, RunFacts, RunId, StopReason, UserMessage,
};
use haft_session::{Branch, BranchParts, System, Transcript, mend};
use haft_store::{Redaction, Retention, RunWriter, Store, StoreConfig};
use haft_testkit::{finished, wish};
use haft_tool::ports::none::{NoArtifacts, NoBinder, NoCapture, NoCheckpoints, NoExclusion};
use haft_tool::ports::{Approver, Port, Ports, Question};
use haft_tool::{
    Answer, BuildContext, CallContext, Dispatch, DispatchLimits, FunctionTool, OnConflict, Output,
    Registry, Selection, SystemClock, SystemIds, Tool,
};
use serde_json::json;

use super::child::{CountedJournal, CountedKeeper, Frozen, Writes};

/// Where a process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Killed {
    /// At which write of its life, from 1.
    pub(super) number: u64,
    pub(super) frozen: Frozen,
}

pub(super) fn run_id() -> RunId {
    RunId::from_parts(1_800_000_000_000, 1)
}

pub(super) fn open(dir: &Path) -> Store {
    Store::open(StoreConfig {
        dir: dir.join("state"),
        retention: Retention::default(),
        redaction: Redaction::new([]).unwrap(),
    })
    .unwrap()
}

/// Begins the run, or goes on with it, and works until it stops.
pub(super) async fn begin(dir: &Path, killed: Option<Killed>) {
    let store = open(dir);
    let nobody = Asks::new(|_| Answer::Nobody { ways_out: Vec::new() });
    if let Ok(opened) = store.runs().open_to_go_on(run_id()) {
        let known = super::fates(&store, &opened.entries);
        let transcript = mend(&opened.entries).transcript;
        let is_new = transcript.is_empty();
        let (agent, branch, options) =
            work(&store, opened.writer, transcript, dir, killed, &nobody);
        if is_new {
            agent.turn(&branch, task(), &options).await;
        } else {
            agent.go_on(&branch, &known, &options).await;
        }
        return;
    }
    let facts = RunFacts {
        run: run_id(),
        at: task().at,
        title: "a task".to_owned(),
        model: "scripted/model".parse().unwrap(),
        roots: Vec::new(),
        preset: "full".to_owned(),
        tools: None,
        toolset: None,
        policy: Digest::of_bytes("policy"),
        system: Digest::of_bytes("system"),
        forked_from: None,
        parent: None,
        branch: None,
        within: None,
    };
    let writer = store.runs().begin(&facts).unwrap();
    let (agent, branch, options) = work(&store, writer, Transcript::new(), dir, killed, &nobody);
    agent.turn(&branch, task(), &options).await;
}

pub(super) fn task() -> UserMessage {
    UserMessage {
        id: haft_protocol::MessageId::from_parts(1, 1),
        at: haft_protocol::Timestamp::from_unix_ms(1_800_000_000_000),
        content: vec![ContentPart::text("Do it.")],
        notices: Vec::new(),
    }
}

/// Puts together what works on the run.
pub(super) fn work(
    store: &Store,
    writer: RunWriter,
    transcript: Transcript,
    dir: &Path,
    killed: Option<Killed>,
    asks: &Asks,
) -> (Agent, Branch, TurnOptions) {
    let writes = Writes::new(killed);
    let ports = Ports {
        journal: Arc::new(CountedJournal(store.clone(), writes.clone())),
        binder: Arc::new(NoBinder),
        checkpoints: Arc::new(NoCheckpoints),
        capture: Arc::new(NoCapture),
        artifacts: Arc::new(NoArtifacts),
        approver: Arc::new(asks.clone()),
        exclusion: Arc::new(NoExclusion),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
    };
    let registry = Registry::new(BuildContext::default());
    let external = Capabilities::builder().effect(Capability::External);
    for tool in [
        tool(dir, "look", Capabilities::builder()),
        tool(dir, "note", external.clone()),
        tool(dir, "put", external.idempotent()),
    ] {
        registry.register_tool(tool, OnConflict::Reject).unwrap();
    }
    let caller = Caller {
        entrance: Entrance::Model,
        principal: "scripted/model".into(),
        run: run_id(),
        branch: None,
        parent: None,
    };
    let policy = Arc::new(Policy::new(Preset::Full, Vec::new(), false).unwrap());
    let parts = BranchParts {
        id: BranchId::from_parts(0, 1),
        context: CallContext::new(caller, registry.snapshot(), policy),
        registry: Arc::new(registry),
        shown: Selection::All,
        model: Arc::new(ByPlace::default()),
        sampling: Sampling::default(),
        system: System::with_text("You are tested.", &[], Vec::new()),
        keeper: Arc::new(CountedKeeper(writer, writes)),
    };
    let agent = Agent::new(Dispatch::new(ports, DispatchLimits::default()));
    (agent, Branch::new(parts, transcript), TurnOptions::default())
}

/// A tool that writes its name and its argument into a file outside of everything.
fn tool(dir: &Path, name: &str, capabilities: CapabilitiesBuilder) -> Arc<dyn Tool> {
    let (path, name) = (dir.join("effects"), name.to_owned());
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    FunctionTool::new(format!("local/{name}").parse().unwrap(), "Does something.", schema)
        .unwrap()
        .facts(|facts| facts.capabilities(capabilities.build().unwrap()))
        .body(move |_, args| {
            let line = format!("{name} {}", args["n"]);
            append(&path, &line);
            async move { Ok(Output::text(line)) }
        })
        .unwrap()
}

fn append(path: &PathBuf, line: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Returns what tools did, one a line.
pub(super) fn effects(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("effects")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A model that says what belongs at its place in the conversation, whichever process asks it.
#[derive(Debug)]
struct ByPlace(ModelFacts);

impl Default for ByPlace {
    fn default() -> Self {
        Self(ModelFacts {
            id: "scripted/model".parse().unwrap(),
            dialect: Dialect::ChatCompletions,
            origin: "scripted".to_owned(),
            address: "nowhere".to_owned(),
            window_tokens: Some(100_000),
            output_tokens: Some(4_000),
            sees_images: None,
            calls_on_demand: true,
            price: None,
        })
    }
}

impl ChatModel for ByPlace {
    fn facts(&self) -> &ModelFacts {
        &self.0
    }

    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let is_reply =
            |it: &&Arc<haft_model::Fragment>| matches!(it.message(), RequestMessage::Reply(_));
        let place = request.messages.iter().filter(is_reply).count();
        let call = |id: &str, tool: &str, n: u32| {
            wish(id, tool, json!({ "n": n }).to_string().into(), true)
        };
        let calls = match place {
            0 => vec![call("a", "look", 1), call("a", "note", 2), call("", "put", 3)],
            1 => vec![call("a", "note", 4)],
            _ => Vec::new(),
        };
        let finished = if calls.is_empty() {
            let text = haft_protocol::ReplyPart::Text { text: "Done.".to_owned(), opaque: None };
            finished(vec![text], StopReason::End)
        } else {
            finished(calls, StopReason::Calls)
        };
        let parts = [Ok(Part::Finished(finished))];
        Box::pin(async { Ok(ReplyStream::new(futures_util::stream::iter(parts))) })
    }
}

/// A person who is asked, and how often that was.
#[derive(Clone)]
pub(super) struct Asks {
    answer: fn(&Question) -> Answer,
    asked: Arc<Mutex<usize>>,
}

impl Asks {
    pub(super) fn new(answer: fn(&Question) -> Answer) -> Self {
        Self { answer, asked: Arc::default() }
    }

    pub(super) fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}

impl Port for Asks {
    fn describe(&self) -> String {
        "a person of a test".to_owned()
    }
}

impl Approver for Asks {
    fn ask<'a>(&'a self, question: &'a Question) -> haft_tool::BoxFuture<'a, Answer> {
        *self.asked.lock().unwrap() += 1;
        Box::pin(std::future::ready((self.answer)(question)))
    }
}

/// Writes a transcript without ids and times, one part a line.
pub(super) fn masked(transcript: &Transcript) -> String {
    let mut ids: HashMap<CallId, usize> = HashMap::new();
    let mut lines = Vec::new();
    for entry in transcript.entries() {
        match entry {
            Entry::User(message) => lines.push(format!("user {:?}", message.content)),
            Entry::Summary(summary) => lines.push(format!("summary {}", summary.text)),
            Entry::Step(step) => {
                lines.push(format!("reply {:?} {:?}", step.reply.text(), step.reply.stop));
                for (call, end) in step.calls() {
                    let next = ids.len();
                    let id = *ids.entry(call.id).or_insert(next);
                    let end = end.map(|it| it.model_text().replace('\n', " / "));
                    lines.push(format!("call {id} {} {:?}: {end:?}", call.tool, call.arguments));
                }
            }
        }
    }
    lines.join("\n")
}
