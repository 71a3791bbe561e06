//! What is kept, and in which order: nothing follows from what is not kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_agent::{Fate, Fates, open_calls};
use haft_model::RequestMessage;
use haft_policy::Preset;
use haft_protocol::{Capabilities, Capability, RunEntry, RunFacts, StopCause};
use haft_session::{Keeper, KeeperError, mend};
use haft_testkit::{Line, Rig, ScriptedModel, echo, pure_tool};
use haft_tool::{Answer, BoxFuture, FunctionTool, Output};
use serde_json::json;

use crate::rig::Work;

/// Keeps so many entries, and then no more.
#[derive(Debug)]
struct FullAfter(usize, AtomicUsize);

impl Keeper for FullAfter {
    fn keep<'a>(&'a self, _: &'a RunEntry) -> BoxFuture<'a, Result<(), KeeperError>> {
        let kept = self.1.fetch_add(1, Ordering::SeqCst) < self.0;
        let full = || KeeperError { text: "the disk is full".to_owned(), source: None };
        Box::pin(std::future::ready(if kept { Ok(()) } else { Err(full()) }))
    }

    fn begin_beneath(&self, _: RunFacts) -> BoxFuture<'_, Result<Arc<dyn Keeper>, KeeperError>> {
        let full = KeeperError { text: "the disk is full".to_owned(), source: None };
        Box::pin(std::future::ready(Err(full)))
    }
}

#[tokio::test]
async fn what_cannot_be_kept_stops_the_turn_before_anything_follows_from_it() {
    // Said, Asked, Replied, Ended, Asked, Replied: then it stops, and that may be lost.
    for kept in 0..6 {
        let ran = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&ran);
        let tool = pure_tool("local/count", move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(Output::text("counted"))
        });
        let lines = [Line::calls(&[("count", json!({}))]), Line::say("Done.")];
        let work = Work::new(lines, vec![tool]);
        let keeper = FullAfter(kept, AtomicUsize::new(0));
        work.branch.turn().await.parts.keeper = Arc::new(keeper);
        let end = work.say("Go.").await;
        assert_eq!(
            end.cause,
            StopCause::Unrecorded { text: "the disk is full".to_owned() },
            "{kept} entries"
        );
        assert_eq!(ran.load(Ordering::SeqCst), usize::from(kept >= 3), "{kept} entries");
        let asked = [0, 0, 1, 1, 1, 2][kept];
        assert_eq!(work.model.asked().len(), asked, "{kept} entries");
    }
}

#[tokio::test]
async fn o_092_each_request_goes_on_from_the_one_before() {
    let lines = (0..5).map(|_| Line::calls(&[("echo", json!({ "same": 1 }))]));
    let work = Work::new(lines.chain([Line::say("Done.")]).collect::<Vec<_>>(), vec![echo()]);
    assert_eq!(work.say("Go.").await.cause, StopCause::Done);
    let asked = work.model.asked();
    let mut told = 0;
    for pair in asked.windows(2) {
        let [before, after] = pair else { panic!() };
        assert_eq!((&before.system, &before.tools), (&after.system, &after.tools));
        let messages: Vec<_> = before.messages.iter().map(|it| it.message()).collect();
        // What the runtime says stands at the end of one request, and is gone in the next.
        let lasting = match messages.split_last() {
            Some((RequestMessage::User(_), rest)) if !rest.is_empty() => {
                told += 1;
                rest
            }
            _ => &messages[..],
        };
        let same = lasting.iter().zip(after.messages.iter()).all(|(a, b)| *a == b.message());
        assert!(same && after.messages.len() > lasting.len());
    }
    assert_eq!(told, 2, "from the third time on");
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_is_asked_about_again_and_made_once() {
    let external = Capabilities::builder().effect(Capability::External).build().unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let send =
        FunctionTool::new("local/send".parse().unwrap(), "Sends.", json!({"type": "object"}))
            .unwrap()
            .facts(|facts| facts.capabilities(external))
            .body(move |_, _| {
                counter.fetch_add(1, Ordering::SeqCst);
                async move { Ok(Output::text("sent")) }
            })
            .unwrap();
    let rig = Rig::builder().tool(send).tool(echo()).preset(Preset::Edit).build();
    let lines = [Line::calls(&[("send", json!({})), ("echo", json!({}))]), Line::say("Sent.")];
    let work = Work::of(rig, ScriptedModel::new(lines));
    work.rig.oracle.say(Answer::Later);
    let end = work.say("Send it.").await;
    assert!(matches!(end.cause, StopCause::Waits { .. }), "{end:?}");
    assert_eq!(ran.load(Ordering::SeqCst), 0);

    let entries = work.kept.entries();
    let open = open_calls(&entries);
    assert_eq!(open.len(), 1, "the other one ended");
    assert_eq!(mend(&entries).transcript.open_calls().count(), 1);
    work.rig.oracle.say(Answer::Approve { by: "a person".to_owned() });
    let fates = Fates::new([(open[0].call, Fate::Waiting)]);
    let end = work.agent.go_on(&work.branch, &fates, &work.options).await;
    assert_eq!(end.cause, StopCause::Done);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_eq!(work.rig.oracle.questions().len(), 2);
}

#[tokio::test]
async fn of_a_call_that_nobody_knows_of_the_worst_is_taken() {
    let work = Work::new([Line::calls(&[("echo", json!({}))]), Line::say("I see.")], vec![echo()]);
    let keeper = FullAfter(3, AtomicUsize::new(0));
    let kept = work.branch.turn().await.parts.keeper.clone();
    work.branch.turn().await.parts.keeper = Arc::new(keeper);
    // The end of the call is not kept, and is in this process's conversation all the same.
    work.say("Go.").await;
    work.branch.turn().await.parts.keeper = kept;
    assert!(work.branch.turn().await.transcript.open_calls().next().is_none());

    assert_eq!(
        *Fates::default().of(haft_protocol::CallId::from_parts(1, 1)),
        Fate::Started { can_be_repeated: false, is_running: false, done: Vec::new() }
    );
}

#[test]
fn a_question_about_an_unknown_end_says_what_was_started() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let begun = Arc::new(tokio::sync::Notify::new());
        let told = Arc::clone(&begun);
        let external = Capabilities::builder().effect(Capability::External).build().unwrap();
        let send =
            FunctionTool::new("local/send".parse().unwrap(), "Sends.", json!({"type": "object"}))
                .unwrap()
                .facts(|facts| facts.capabilities(external))
                .body(move |_, _| {
                    told.notify_one();
                    std::future::pending()
                })
                .unwrap();
        let work = Work::new(
            [Line::calls(&[("send", json!({ "to": "a@b.c", "n": 3 }))]), Line::say("I see.")],
            vec![send],
        );
        tokio::select! {
            _ = work.say("Send it.") => panic!("the turn ended"),
            () = begun.notified() => {}
        }
        let end = work.agent.go_on(&work.branch, &Fates::default(), &work.options).await;
        assert_eq!(end.cause, StopCause::Done);
        let questions = work.rig.oracle.questions();
        insta::assert_snapshot!(questions[0].to_text(), @"
        local/send wants to run (it was started before the run was stopped, and nobody knows how it ended: running it again may do it twice)
          to: a@b.c
          n: 3
        ");
        insta::assert_snapshot!(work.results(1)[0].text, @"
        cancelled before it was done
        The run was interrupted during this call. Whether it took effect is not known: look at what is there before you make it again.
        Nobody was there to say whether it may be made again.
        ");
    });
}
