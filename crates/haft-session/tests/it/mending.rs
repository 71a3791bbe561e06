use std::sync::Arc;

use haft_protocol::{Outcome, RunEntry, Status, StopReason, Summary, TokenUsage};
use haft_session::{Mended, mend, unknown_end};
use proptest::prelude::*;

use crate::talk::{self, Talk, at, events, wish};

/// Ends what is open, says something, and checks what a model would be sent.
fn goes_on(mended: &Mended) -> String {
    let mut talk = Talk { transcript: mended.transcript.clone(), ..Talk::default() };
    for call in talk.open() {
        talk.transcript.end(call.id, Arc::new(unknown_end())).unwrap();
    }
    let mut message = talk.message("go on");
    message.id = haft_protocol::MessageId::from_parts(9, 9);
    talk.transcript.say(message).unwrap();
    let request = talk::request(&talk.transcript);
    talk::check(&request.messages);
    talk::told(&request)
}

/// A task, a reply with three calls, and their ends.
fn three_calls() -> Talk {
    let mut talk = Talk::default();
    talk.say("go");
    let reply = talk.reply(vec![wish("a"), wish("b"), wish("c")]);
    for call in reply.calls() {
        talk.end(call.id, Outcome::ok("read"));
    }
    talk.reply(vec![talk::text("done")]);
    talk
}

#[test]
fn o_074_a_run_that_ended_anywhere_goes_on() {
    let talk = three_calls();
    for end in 0..=talk.kept.len() {
        let mended = mend(&talk.kept[..end]);
        assert!(mended.remarks.is_empty(), "{:?}", mended.remarks);
        goes_on(&mended);
    }
}

#[test]
fn o_074_calls_that_have_no_end_get_one_that_says_so() {
    let talk = three_calls();
    // The end of the second call was never kept, and the model went on.
    let kept: Vec<&RunEntry> =
        talk.kept.iter().enumerate().filter(|(place, _)| *place != 3).map(|(_, it)| it).collect();
    let mended = mend(kept);
    insta::assert_snapshot!(mended.remarks.join("\n"), @"call 00000000000000000000000004 of `read` has no end: nobody knows how it ended");
    insta::assert_snapshot!(goes_on(&mended), @r#"
    user: go
    model:  ["a", "b", "c"]
    results: a = read
           + b ! cancelled before it was done
    The run was interrupted during this call. Whether it took effect is not known: look at what is there before you make it again.
           + c = read
    model: done []
    user: go on
    "#);
    assert_eq!(unknown_end().status, Status::Cancelled);
}

#[test]
fn calls_of_the_last_reply_stay_open() {
    let talk = three_calls();
    let mended = mend(&talk.kept[..3]);
    assert_eq!(mended.transcript.open_calls().count(), 2);
}

#[test]
fn an_end_is_put_where_its_call_is() {
    let mut talk = three_calls();
    let end = talk.kept.remove(2);
    talk.kept.insert(0, end);
    let mended = mend(&talk.kept);
    assert_eq!(mended.remarks, Vec::<String>::new());
    assert_eq!(
        talk::told(&talk::request(&three_with("on"))),
        goes_on(&mended).replace("go on", "on")
    );
}

fn three_with(said: &str) -> haft_session::Transcript {
    let mut talk = three_calls();
    talk.say(said);
    talk.transcript
}

#[test]
fn what_has_no_place_is_left_out_and_named() {
    let mut talk = Talk::default();
    talk.say("go");
    let first = talk.reply(vec![wish("a")]);
    let call = first.calls().next().unwrap().id;
    talk.end(call, Outcome::ok("read"));
    let mut kept = talk.kept.clone();
    let mut lost = talk.take(talk::finished(vec![wish("z")], StopReason::End));
    let nobody = lost.calls().next().unwrap().id;
    kept.push(RunEntry::Ended { call, outcome: Box::new(Outcome::ok("read again")) });
    kept.push(RunEntry::Ended { call: nobody, outcome: Box::new(Outcome::ok("?")) });
    kept.push(talk.kept[0].clone());
    kept.push(RunEntry::Said(talk.message("  ")));
    lost.parts.clone_from(&first.parts);
    kept.push(RunEntry::Replied(lost));
    let (id, first, last) = (talk.message_id(), talk.message_id(), talk.message_id());
    let usage = TokenUsage::default();
    let text = "s".to_owned();
    kept.push(RunEntry::Summarised(Summary {
        id,
        at: at(),
        text,
        first,
        last,
        entries: 1,
        model: None,
        usage,
    }));
    let mended = mend(&kept);
    insta::assert_snapshot!(mended.remarks.join("\n"), @"
    left out a second end of call 00000000000000000000000003
    left out what was said in 00000000000000000000000001: entry 00000000000000000000000001 is in the transcript already
    left out what was said in 00000000000000000000000006: message 00000000000000000000000006 is empty: a model cannot be told nothing
    left out reply 00000000000000000000000004: call 00000000000000000000000003 is in the transcript already
    left out summary 00000000000000000000000007: there is no entry 00000000000000000000000008 to be summarised
    left out the end of call 00000000000000000000000005: nobody asked for it
    ");
    insta::assert_snapshot!(goes_on(&mended), @r#"
    user: go
    model:  ["a"]
    results: a = read
    user: go on
    "#);
}

#[test]
fn what_has_no_place_leaves_calls_open() {
    let mut talk = Talk::default();
    talk.say("go");
    talk.reply(vec![wish("a")]);
    let mut kept = talk.kept.clone();
    kept.push(talk.kept[0].clone());
    let mended = mend(&kept);
    assert_eq!(mended.transcript.open_calls().count(), 1);
    assert_eq!(mended.remarks.len(), 1);
}

proptest! {
    #[test]
    fn what_is_whole_is_mended_to_itself(events in events(40)) {
        let mut talk = Talk::default();
        talk.all_happen(&events);
        let mended = mend(&talk.kept);
        prop_assert_eq!(mended.remarks, Vec::<String>::new());
        let same = talk.transcript.entries().eq(mended.transcript.entries());
        prop_assert!(same);
    }

    #[test]
    fn o_074_whatever_is_lost_doubled_or_out_of_order_a_run_goes_on(
        events in events(40),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        in_order in any::<bool>(),
    ) {
        let mut talk = Talk::default();
        talk.all_happen(&events);
        prop_assume!(!talk.kept.is_empty());
        let mut places: Vec<usize> = picks.iter().map(|it| it.index(talk.kept.len())).collect();
        if in_order {
            places.sort_unstable();
        }
        goes_on(&mend(places.iter().map(|place| &talk.kept[*place])));
    }

    #[test]
    fn o_074_any_order_of_cancels_keeps_a_transcript_valid(
        calls in 1_usize..6,
        order in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 6),
        saying in prop::collection::vec(any::<bool>(), 6),
    ) {
        let mut talk = Talk::default();
        talk.say("go");
        talk.reply((0..calls).map(|it| wish(&format!("c{it}"))).collect());
        for ((which, is_cancelled), says) in order.iter().zip(saying) {
            let open = talk.open();
            if says {
                let message = talk.message("stop!");
                prop_assert_eq!(talk.transcript.say(message.clone()).is_ok(), open.is_empty());
                if open.is_empty() { talk.kept.push(RunEntry::Said(message)); }
            }
            if !open.is_empty() {
                let outcome = if *is_cancelled { Outcome::new(Status::Cancelled) } else { Outcome::ok("done") };
                talk.end(open[which.index(open.len())].id, outcome);
            }
        }
        prop_assert!(talk.open().is_empty());
        talk::check(&talk::request(&talk.transcript).messages);
        goes_on(&mend(&talk.kept));
    }
}
