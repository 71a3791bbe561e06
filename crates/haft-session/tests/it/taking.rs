use haft_protocol::{Outcome, RawArguments, ReplyPart, StopReason, limits};
use proptest::prelude::*;

use crate::talk::{self, Talk, wish};

fn provider_ids(talk: &mut Talk, ids: &[&str]) -> Vec<Option<String>> {
    let reply = talk.reply(ids.iter().map(|id| wish(id)).collect());
    talk.close();
    reply.calls().map(|call| call.provider_id.clone()).collect()
}

#[test]
fn o_080_ids_that_tell_no_call_from_others_are_replaced() {
    let mut talk = Talk::default();
    talk.say("go");
    let some = |id: &str| Some(id.to_owned());
    assert_eq!(provider_ids(&mut talk, &["a", "a"]), [some("a"), None]);
    // Used in an earlier turn, empty, of letters that some provider refuses.
    assert_eq!(
        provider_ids(&mut talk, &["a", "", "", "b c", "ü", "d"]),
        [None, None, None, None, None, some("d")]
    );
    let (longest, longer) = ("x".repeat(limits::PROVIDER_ID_BYTES), "y".repeat(200));
    assert_eq!(provider_ids(&mut talk, &[&longest, &longer]), [Some(longest.clone()), None]);
}

#[test]
fn o_080_as_many_calls_have_as_many_results_in_their_order() {
    let mut talk = Talk::default();
    talk.say("go");
    let reply = talk.reply(vec![wish("a"), wish("a"), wish("")]);
    // They end in another order than they were asked for.
    for (index, call) in reply.calls().enumerate().collect::<Vec<_>>().into_iter().rev() {
        talk.end(call.id, Outcome::ok(format!("result {index}")));
    }
    let request = talk::request(&talk.transcript);
    talk::check(&request.messages);
    insta::assert_snapshot!(talk::told(&request), @r#"
    user: go
    model:  ["a", "call_00000000000000000000000004", "call_00000000000000000000000005"]
    results: a = result 0
           + call_00000000000000000000000004 = result 1
           + call_00000000000000000000000005 = result 2
    "#);
}

#[test]
fn o_080_an_id_that_looks_like_one_of_ours_is_not_taken_twice() {
    let mut talk = Talk::default();
    talk.say("go");
    let reply = talk.reply(vec![wish("")]);
    talk.close();
    let ours = reply.calls().next().unwrap().echoed_id().into_owned();
    assert_eq!(provider_ids(&mut talk, &[&ours]), [None]);
}

#[test]
fn o_082_no_call_of_a_reply_that_was_stopped_is_whole() {
    let mut talk = Talk::default();
    talk.say("go");
    let stops = [
        (StopReason::End, true),
        (StopReason::Calls, true),
        (StopReason::Length, false),
        (StopReason::Window, false),
        (StopReason::CutShort, false),
        (StopReason::Filtered, false),
        (StopReason::Refused, false),
    ];
    for (stop, is_whole) in stops {
        let reply = talk.take(talk::finished(vec![wish("a"), wish("b")], stop.clone()));
        assert!(reply.calls().all(|call| call.is_whole == is_whole), "{stop}");
    }
    let cut = haft_testkit::wish("c", "write", r#"{"content":"half"#.into(), false);
    let reply = talk.take(talk::finished(vec![cut], StopReason::Calls));
    assert!(!reply.calls().next().unwrap().is_whole);
}

#[test]
fn o_083_half_a_pair_in_arguments_stays_as_it_came_and_what_is_kept_is_read_again() {
    let mut talk = Talk::default();
    talk.say("go");
    let arguments = r#"{"q":"\ud99c x"}"#;
    let call = haft_testkit::wish("a", "search", arguments.into(), true);
    let reply = talk.reply(vec![call]);
    talk.end(reply.calls().next().unwrap().id, Outcome::ok("half a pair: \u{fffd}"));
    let kept = serde_json::to_string(&talk.kept).unwrap();
    let again: Vec<haft_protocol::RunEntry> = serde_json::from_str(&kept).unwrap();
    let mended = haft_session::mend(&again);
    assert_eq!(mended.remarks, Vec::<String>::new());
    assert_eq!(talk::request(&mended.transcript), talk::request(&talk.transcript));
    let echoed = talk::request(&mended.transcript);
    let haft_model::RequestMessage::Reply(reply) = echoed.messages.get(1).unwrap().message() else {
        panic!()
    };
    assert_eq!(reply.calls().next().unwrap().arguments, RawArguments::from(arguments));
}

proptest! {
    #[test]
    fn o_080_whatever_ids_come_all_that_go_back_are_different(
        replies in prop::collection::vec(prop::collection::vec("(|a|b|a b|é|call_0{26}|.{0,70})", 0..6), 1..6),
    ) {
        let mut talk = Talk::default();
        talk.say("go");
        for ids in &replies {
            let mut parts: Vec<ReplyPart> = vec![talk::text("x")];
            parts.extend(ids.iter().map(|id| wish(id)));
            talk.reply(parts);
            talk.close();
        }
        talk.say("on");
        talk::check(&talk::request(&talk.transcript).messages);
    }
}
