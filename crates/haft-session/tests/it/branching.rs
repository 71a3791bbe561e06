use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_model::{ChatModel, Sampling};
use haft_protocol::{BranchId, Outcome, Status};
use haft_session::{Branch, BranchParts, NoKeeper, System};
use haft_testkit::{Rig, ScriptedModel, echo, pure_tool};
use haft_tool::hooks::PreVerdict;
use haft_tool::{
    BuildContext, FixedTools, Hooks, OnConflict, Output, Registry, RegistryError, Scope, Selection,
    SourceError, Tool, ToolSource,
};
use serde_json::json;

use crate::talk::{self, Talk};

fn id(number: u128) -> BranchId {
    BranchId::from_parts(0, number)
}

fn branch(rig: &Rig, registry: Registry, talk: &Talk) -> Branch {
    let parts = BranchParts {
        id: id(1),
        registry: Arc::new(registry),
        shown: Selection::All,
        context: rig.context.clone(),
        model: ScriptedModel::new([]) as Arc<dyn ChatModel>,
        sampling: Sampling::default(),
        system: System::with_text("You are tested.", &[], Vec::new()),
        keeper: Arc::new(NoKeeper),
    };
    Branch::new(parts, talk.transcript.clone())
}

/// A source that counts how often its tools are built.
struct Counted(Arc<AtomicUsize>);

impl ToolSource for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn scope(&self) -> Scope {
        Scope::Shared
    }

    fn build(&self, _: &BuildContext) -> Result<Vec<Arc<dyn Tool>>, SourceError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(vec![echo()])
    }
}

#[tokio::test]
async fn turns_of_one_branch_come_one_after_the_other_in_the_order_of_asking() {
    let rig = Rig::builder().build();
    let branch = branch(&rig, Registry::default(), &Talk::default());
    let held = branch.turn().await;
    let (order, mut turns) = (Arc::new(std::sync::Mutex::new(Vec::new())), Vec::new());
    for number in 0..8 {
        let (branch, order) = (branch.clone(), Arc::clone(&order));
        let mut turn = Box::pin(async move {
            let mut state = branch.turn().await;
            order.lock().unwrap().push(number);
            tokio::task::yield_now().await;
            let mut talk = Talk { transcript: state.transcript.clone(), ..Talk::default() };
            let mut message = talk.message(&format!("turn {number}"));
            message.id = haft_protocol::MessageId::from_parts(0, number);
            state.transcript.say(message).unwrap();
        });
        // Each takes its place in line before the next one does.
        assert!(futures_util::poll!(&mut turn).is_pending());
        turns.push(turn);
    }
    drop(held);
    turns.reverse();
    futures_util::future::join_all(turns).await;
    assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<_>>());
    assert_eq!(branch.turn().await.transcript.len(), 8);
}

#[tokio::test]
async fn a_fork_shares_what_was_said_and_goes_its_own_way() {
    let rig = Rig::builder().build();
    let mut talk = Talk::default();
    talk.say("go");
    talk.reply(vec![talk::text("gone")]);
    let branch = branch(&rig, Registry::default(), &talk);
    let fork = branch.fork(id(2)).await.unwrap();
    let message = talk.message("further");
    fork.turn().await.transcript.say(message).unwrap();
    let (one, other) = (branch.turn().await, fork.turn().await);
    assert_eq!((one.transcript.len(), other.transcript.len()), (2, 3));
    // What was made of the shared entries is shared as well.
    let same = one.transcript.nodes().zip(other.transcript.nodes());
    assert!(same.into_iter().all(|(one, other)| Arc::ptr_eq(one, other)));
    assert_eq!(other.parts.context.caller.branch, Some(id(2)));
}

#[tokio::test]
async fn a_hook_that_denies_denies_on_a_fork() {
    let denies = |_| async { Ok(PreVerdict::Deny("not on Fridays".to_owned())) };
    let rig = Rig::builder().tool(echo()).hooks(Hooks::none().pre("calendar", denies)).build();
    let registry = rig.registry.clone_for(BuildContext::default()).unwrap();
    let branch = branch(&rig, registry, &Talk::default());
    let fork = branch.fork(id(2)).await.unwrap();
    let state = fork.turn().await;
    let call = rig.tool_call("echo", json!({ "text": "hello" }));
    let outcome: Outcome =
        rig.dispatch.dispatch(&state.parts.context, call).await.into_outcome().unwrap();
    assert!(matches!(outcome.status, Status::Denied(_)), "{outcome:?}");
}

#[tokio::test]
async fn tools_of_a_fork_are_built_when_its_first_turn_begins_and_once() {
    let rig = Rig::builder().build();
    let built = Arc::new(AtomicUsize::new(0));
    let registry = Registry::new(BuildContext::default());
    registry.register(Arc::new(Counted(Arc::clone(&built))), OnConflict::Reject).unwrap();
    let branch = branch(&rig, registry, &Talk::default());
    let fork = branch.fork(id(2)).await.unwrap();
    let second = fork.fork(id(3)).await.unwrap();
    assert_eq!(built.load(Ordering::Relaxed), 1);
    // What the first branch gets later is not the fork's.
    let registry = Arc::clone(&branch.turn().await.parts.registry);
    let more = pure_tool("local/more", |_| Ok(Output::text("more")));
    registry.register_tool(more, OnConflict::Reject).unwrap();
    for _ in 0..2 {
        let state = fork.turn().await;
        let (snapshot, tools) = state.tools().unwrap();
        assert_eq!(tools.len(), 1);
        assert!(Arc::ptr_eq(&snapshot, &state.parts.context.tools));
    }
    assert_eq!(built.load(Ordering::Relaxed), 2);
    assert_eq!(second.turn().await.tools().unwrap().1.len(), 1);
    assert_eq!(branch.turn().await.tools().unwrap().1.len(), 2);
}

#[tokio::test]
async fn a_tool_that_belongs_to_one_branch_is_named() {
    let rig = Rig::builder().build();
    let registry = Registry::new(BuildContext::default());
    let own = Arc::new(FixedTools::single_use("own", vec![echo()]));
    registry.register(own, OnConflict::Reject).unwrap();
    let branch = branch(&rig, registry, &Talk::default());
    let error = branch.fork(id(2)).await.unwrap_err();
    assert!(matches!(&error, RegistryError::NotCloneable { .. }));
    insta::assert_snapshot!(error, @"these tools belong to one branch and cannot be cloned: local/echo");
    // In the middle of a turn it can be forked as well.
    assert!(branch.turn().await.fork(id(3)).is_err());
}
