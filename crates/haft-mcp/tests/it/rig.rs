//! A server over doors made of memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_mcp::{AskTheClient, End, McpServer, SealKey};
use haft_policy::Rule;
use haft_protocol::{Capabilities, Capability, IntentRecord, Outcome};
use haft_testkit::doors::{Kept, MemoryArtifacts, MemoryJournal, SteppingClock};
use haft_testkit::{Era, McpClient, Rig, RigBuilder};
use haft_tool::{
    BuildContext, Call, CallContext, Cancellation, Dispatch, DispatchLimits, FunctionTool, Output,
    Ports, Registry, Tool,
};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The key of the tests' seals.
pub(crate) const KEY: [u8; 32] = [7; 32];

/// A server and its doors.
pub(crate) struct House {
    pub(crate) server: McpServer,
    pub(crate) registry: Arc<Registry>,
    pub(crate) journal: Arc<MemoryJournal>,
    pub(crate) artifacts: Arc<MemoryArtifacts>,
    pub(crate) clock: Arc<SteppingClock>,
    dispatch: Dispatch,
    context: CallContext,
}

impl House {
    /// Serves these tools, under a policy that allows everything.
    pub(crate) fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self::new(tools.into_iter().fold(Rig::builder(), RigBuilder::tool))
    }

    /// Serves these tools, and asks about every call.
    pub(crate) fn asking(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let rule = Rule::ask().tool("*/*".parse().unwrap());
        Self::new(tools.into_iter().fold(Rig::builder().rule(rule), RigBuilder::tool))
    }

    pub(crate) fn new(rig: RigBuilder) -> Self {
        Self::over(rig.build(), |_, _| ())
    }

    /// Serves a rig whose ports and limits a test changes first.
    pub(crate) fn over(rig: Rig, change: impl FnOnce(&mut Ports, &mut DispatchLimits)) -> Self {
        let registry = Arc::new(rig.registry.clone_for(BuildContext::default()).unwrap());
        let mut ports = Ports { approver: Arc::new(AskTheClient), ..rig.dispatch.ports().clone() };
        let mut limits = DispatchLimits::default();
        change(&mut ports, &mut limits);
        let dispatch = Dispatch::new(ports, limits);
        let Rig { journal, artifacts, clock, context, .. } = rig;
        let server = server(&dispatch, &registry, &context, KEY);
        Self { server, registry, journal, artifacts, clock, dispatch, context }
    }

    /// Serves the same tools over the same doors, as another process with this key would.
    pub(crate) fn elsewhere(&self, key: [u8; 32]) -> Self {
        let server = server(&self.dispatch, &self.registry, &self.context, key);
        Self {
            server,
            registry: Arc::clone(&self.registry),
            journal: Arc::clone(&self.journal),
            artifacts: Arc::clone(&self.artifacts),
            clock: Arc::clone(&self.clock),
            dispatch: self.dispatch.clone(),
            context: self.context.clone(),
        }
    }

    /// Serves somebody.
    pub(crate) fn serve(&self) -> (DuplexStream, JoinHandle<std::io::Result<End>>) {
        let (client, served) = tokio::io::duplex(1024 * 1024);
        let (input, output) = tokio::io::split(served);
        let server = self.server.clone();
        let serving =
            tokio::spawn(async move { server.serve(input, output, &Cancellation::new()).await });
        (client, serving)
    }

    /// Lets a client in that cannot ask anybody.
    pub(crate) async fn client(&self, era: Era) -> McpClient {
        McpClient::open(self.serve().0, era, "tester", json!({})).await
    }

    /// Lets a client in that can ask its user.
    pub(crate) async fn with_user(&self, era: Era) -> McpClient {
        self.named(era, "tester").await
    }

    /// Lets a client of this name in, which can ask its user.
    pub(crate) async fn named(&self, era: Era, name: &str) -> McpClient {
        McpClient::open(self.serve().0, era, name, json!({ "elicitation": {} })).await
    }

    /// Returns the journal's entries, each in a word.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        self.journal.entries().iter().map(Kept::word).collect()
    }

    /// Returns what was recorded of calls before they ran, in order.
    pub(crate) fn intents(&self) -> Vec<IntentRecord> {
        let entries = self.journal.entries().into_iter();
        let intents = entries.filter_map(|entry| match entry {
            Kept::Intent(intent) => Some(*intent),
            _ => None,
        });
        intents.collect()
    }

    /// Returns how calls ended, in order.
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        let entries = self.journal.entries().into_iter();
        let outcomes = entries.filter_map(|entry| match entry {
            Kept::Outcome(record) => Some(record.outcome),
            _ => None,
        });
        outcomes.collect()
    }

    /// Returns the answers to questions, in order.
    pub(crate) fn answers(&self) -> Vec<String> {
        let entries = self.journal.entries().into_iter();
        let answers = entries.filter_map(|entry| match entry {
            Kept::Answered { answer, .. } => Some(answer),
            _ => None,
        });
        answers.collect()
    }
}

fn server(
    dispatch: &Dispatch,
    registry: &Arc<Registry>,
    context: &CallContext,
    key: [u8; 32],
) -> McpServer {
    let server = McpServer::builder(dispatch.clone(), Arc::clone(registry), context.clone());
    server.key(SealKey::new(key)).build().unwrap()
}

/// Makes a tool that writes, and counts how often it did.
pub(crate) fn counting() -> (Arc<dyn Tool>, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let tool = FunctionTool::new(
        "local/count".parse().unwrap(),
        "Counts how often it ran.",
        json!({ "type": "object", "properties": { "to": { "type": "string" } } }),
    );
    let writes = Capabilities::builder().effect(Capability::External).build().unwrap();
    let tool = tool.unwrap().facts(|facts| facts.capabilities(writes)).body(move |_, _| {
        let times = counter.fetch_add(1, Ordering::SeqCst) + 1;
        async move { Ok(Output::text(format!("ran {times}"))) }
    });
    (tool.unwrap(), ran)
}

/// A tool that runs until it is asked to stop, and tells a test when it begins and when it ends.
pub(crate) fn endless() -> (Arc<dyn Tool>, mpsc::UnboundedReceiver<&'static str>) {
    let (says, hears) = mpsc::unbounded_channel();
    let schema = json!({ "type": "object", "properties": {} });
    let tool = FunctionTool::new("local/endless".parse().unwrap(), "Never ends.", schema).unwrap();
    let tool = tool.body(move |call: Call, _| {
        let says = says.clone();
        async move {
            says.send("begun").unwrap();
            call.cancellation().cancelled().await;
            // The test may be over by then.
            let _ = says.send("stopped");
            Ok(Output::text("stopped"))
        }
    });
    (tool.unwrap(), hears)
}

/// Returns the text of a result, its only block.
pub(crate) fn text(result: &Value) -> &str {
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    content[0]["text"].as_str().unwrap()
}

/// Returns the text of a result that is an error.
pub(crate) fn error_text(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    text(result)
}
