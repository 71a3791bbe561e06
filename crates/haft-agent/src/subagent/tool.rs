//! The tool that starts a subagent.

use std::num::NonZeroU64;
use std::sync::Arc;

use haft_policy::Preset;
use haft_protocol::{
    Capabilities, Capability, ContentPart, Cost, Entrance, Entry, ErrorKind, Failure, LogicalPath,
    Notice, NoticeKind, RunFacts, UserMessage, limits,
};
use haft_session::{Branch, BranchParts, Transcript};
use haft_tool::{
    BuildContext, Call, DescriptorError, Facts, Output, ReadLedger, Selection, SharedLedger,
    TypedTool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Parent, SubagentReport, confine};
use crate::agent::{Agent, TurnOptions};
use crate::event::{RunEvent, Watcher};
use crate::limits::RunLimits;

/// The arguments of `subagent`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentParams {
    /// What it is to do, with all it has to know: paths, names, what was found out so far, and what its report should
    /// hold.
    pub instruction: String,
    /// What it may do at most, where that is less than what you may. Leave it out to let it do what you may. Where you may
    /// only look, it has to be `read-only`.
    #[serde(default)]
    pub preset: Option<SubagentPreset>,
    /// A directory, relative to the first root, that it is confined to: it reads and changes nothing outside, and runs no
    /// programs. Leave it out to let it work where you do.
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub root: Option<String>,
    /// How often its model may be asked.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub steps: Option<NonZeroU64>,
}

impl SubagentParams {
    /// Returns the directory that it is confined to, where it is to one.
    fn within(&self) -> Result<Option<LogicalPath>, Failure> {
        self.root.as_deref().map_or(Ok(None), confine::directory)
    }
}

/// What a subagent may do at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SubagentPreset {
    /// Look and change nothing.
    ReadOnly,
    /// Change files, and ask before anything else.
    Edit,
    /// Everything that you may.
    Full,
}

impl SubagentPreset {
    fn preset(self) -> Preset {
        match self {
            Self::ReadOnly => Preset::ReadOnly,
            Self::Edit => Preset::Edit,
            Self::Full => Preset::Full,
        }
    }
}

/// The tool.
pub(super) struct Subagent;

impl TypedTool for Subagent {
    type Args = SubagentParams;
    type Output = Output;

    const NARROWS: bool = true;

    fn facts(&self) -> Result<Facts, DescriptorError> {
        let capabilities = Capabilities::builder()
            .effect(Capability::ReadFiles)
            .effect(Capability::Session)
            .cost(Cost::Metered)
            .build()?;
        Ok(Facts {
            title: Some("Subagent".to_owned()),
            capabilities,
            run_ms: Some(limits::SUBAGENT_MS),
            composite: true,
            ..Facts::new("builtin/subagent".parse()?, include_str!("../subagent.md").trim())
        })
    }

    /// What only looks changes nothing, however often it is done.
    fn effects(&self, args: &SubagentParams) -> Result<Option<Capabilities>, Failure> {
        if args.instruction.trim().is_empty() {
            let text = "`instruction` is empty: say what the subagent is to do";
            return Err(Failure::new(ErrorKind::InvalidArguments, text));
        }
        args.within()?;
        Ok((args.preset == Some(SubagentPreset::ReadOnly)).then(Capabilities::read_only))
    }

    async fn run(&self, call: Call, args: SubagentParams) -> Result<Output, Failure> {
        let parent: Arc<Parent> = call.extension().ok_or_else(|| {
            let text = "a subagent works for a model, and no model made this call";
            Failure::new(ErrorKind::Unavailable, text)
        })?;
        if parent.depth >= limits::SUBAGENT_DEPTH {
            let text = format!("subagents are {} levels deep already", parent.depth);
            return Err(Failure::new(ErrorKind::LimitExceeded, text).hint("do it yourself"));
        }
        let within = args.within()?;
        let (agent, branch) = child(&call, &parent, &args, within.as_ref()).await?;
        let steps = args.steps.map_or(u64::from(limits::SUBAGENT_STEPS), NonZeroU64::get);
        let most = u64::from(limits::SUBAGENT_STEPS_MAX);
        let options = TurnOptions {
            limits: RunLimits {
                steps: NonZeroU64::new(steps.min(most)).unwrap_or(NonZeroU64::MIN),
                ..RunLimits::default()
            },
            cancellation: call.cancellation().clone(),
            watcher: handed_up(&call, &parent),
            ..TurnOptions::default()
        };
        let remark = "you work on your own for another model, which sees nothing but your last message: report there what you found and did, and what is left";
        let confined = within.map(|within| {
            format!(
                "you are confined to `{within}`: name it or a path in it in each call, for nothing outside can be read or changed, and no programs run"
            )
        });
        let remarks = [Some(remark.to_owned()), confined].into_iter().flatten();
        let ports = agent.dispatch().ports();
        let said = UserMessage {
            id: ports.message_id(),
            at: ports.clock.now(),
            content: vec![ContentPart::text(args.instruction)],
            notices: remarks.map(|it| Notice::new(NoticeKind::Remark, it)).collect(),
        };
        let end = Box::pin(agent.turn(&branch, said, &options)).await;
        let said = said_last(&branch.turn().await.transcript);
        SubagentReport::of(&end, &said, &end.usage).into_output(&end.cause, &end.usage)
    }
}

/// Makes the branch of a subagent, whose rights are the meet of what its parent may and what the call says, and begins its
/// record.
async fn child(
    call: &Call,
    parent: &Parent,
    args: &SubagentParams,
    within: Option<&LogicalPath>,
) -> Result<(Agent, Branch), Failure> {
    let wrong = |text: String| Failure::new(ErrorKind::Internal, text);
    let narrowed = confine::narrowed(args.preset.map(SubagentPreset::preset), within)?;
    let principal = parent.model.facts().id.to_string();
    let (dispatch, mut context) = call
        .delegated(Entrance::Subagent, principal, narrowed.as_ref())
        .map_err(|denial| Failure::new(ErrorKind::LimitExceeded, denial.reason))?;
    let id = dispatch.ports().branch_id();
    let build = BuildContext { branch: Some(id), ..BuildContext::default() };
    let registry = parent
        .registry
        .clone_for(build)
        .map_err(|error| wrong(format!("the tools cannot be made for a subagent: {error}")))?;
    let tools = registry.snapshot();
    let mut shown = parent.shown.clone();
    if parent.depth.saturating_add(1) >= limits::SUBAGENT_DEPTH {
        let all = tools.select(&shown).map_err(|error| wrong(error.to_string()))?;
        let is_own = |it: &haft_protocol::QualifiedName| it.to_string() == "builtin/subagent";
        let others = all.iter().filter(|it| {
            !is_own(it.descriptor.name()) && !it.alias_of.as_ref().is_some_and(is_own)
        });
        shown = Selection::Named(others.map(|it| it.wire.as_str().to_owned()).collect());
    }
    let presets: Vec<&str> = context.policy.presets().map(Preset::as_str).collect();
    let facts = RunFacts {
        run: dispatch.ports().run_id(),
        at: dispatch.ports().clock.now(),
        title: RunFacts::title_of(&args.instruction),
        model: parent.model.facts().id.clone(),
        roots: Vec::new(),
        preset: presets.join(" and "),
        tools: shown.names().map(<[_]>::to_vec),
        toolset: None,
        policy: context.policy.digest(),
        system: parent.system.digest(),
        forked_from: None,
        parent: Some(call.id()),
        branch: Some(id),
        within: within.cloned(),
    };
    let keeper = parent.keeper.begin_beneath(facts).await.map_err(|error| {
        let text = format!("a subagent that is not on record is not started: {error}");
        Failure::new(ErrorKind::Unavailable, text)
    })?;
    context.caller.branch = Some(id);
    context.tools = tools;
    context.ledger = Some(SharedLedger::new(ReadLedger::new()));
    let parts = BranchParts {
        id,
        registry: Arc::new(registry),
        shown,
        context,
        model: Arc::clone(&parent.model),
        sampling: parent.sampling.clone(),
        system: parent.system.clone(),
        keeper,
    };
    Ok((Agent::new(dispatch), Branch::new(parts, Transcript::new())))
}

/// Lets whoever watches the parent see the subagent at work.
fn handed_up(call: &Call, parent: &Parent) -> Watcher {
    let (call, above) = (call.id(), parent.watcher.clone());
    Watcher::new(move |event| {
        above.see(&RunEvent::Subagent { call, what: Box::new(event.clone()) });
    })
}

/// Returns the last words of a conversation, those of a reply that asked for calls as well.
fn said_last(transcript: &Transcript) -> String {
    let texts = transcript.entries().filter_map(|entry| match entry {
        Entry::Step(step) => Some(step.reply.text()).filter(|it| !it.trim().is_empty()),
        Entry::User(_) | Entry::Summary(_) => None,
    });
    texts.last().unwrap_or_default()
}
