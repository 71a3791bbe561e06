use std::sync::Arc;

use haft_protocol::{MessageId, Outcome, Summary, TokenUsage};
use haft_session::{Transcript, TranscriptError};

use crate::talk::{self, Talk, at};

fn summary(talk: &mut Talk, first: MessageId, last: MessageId) -> Summary {
    let usage = TokenUsage::default();
    let id = talk.message_id();
    Summary { id, at: at(), text: "s".to_owned(), first, last, entries: 1, model: None, usage }
}

#[test]
fn a_transcript_begins_with_what_somebody_says() {
    let mut talk = Talk::default();
    let reply =
        talk.take(talk::finished(vec![talk::text("hello")], haft_protocol::StopReason::End));
    assert_eq!(talk.transcript.reply(reply), Err(TranscriptError::NothingAsked));
    assert!(Transcript::new().is_empty());
}

#[test]
fn nothing_is_said_while_calls_are_open_and_nothing_ends_twice() {
    let mut talk = Talk::default();
    talk.say("go");
    let reply = talk.reply(vec![talk::wish("a"), talk::wish("b")]);
    let later = talk.message("later");
    assert_eq!(talk.transcript.say(later), Err(TranscriptError::Open { open: 2 }));
    let call = reply.calls().next().unwrap().id;
    talk.end(call, Outcome::ok("done"));
    let again = talk.transcript.end(call, Arc::new(Outcome::ok("done again")));
    assert_eq!(again, Err(TranscriptError::NotOpen { call }));
    assert_eq!(talk.open().len(), 1);
}

#[test]
fn nothing_is_not_said() {
    let mut talk = Talk::default();
    let message = talk.message(" \n");
    let id = message.id;
    assert_eq!(talk.transcript.say(message), Err(TranscriptError::Empty { id }));
    assert!(talk.transcript.is_empty());
}

#[test]
fn ids_are_of_one_entry_and_of_one_call() {
    let mut talk = Talk::default();
    let message = talk.message("go");
    let id = message.id;
    talk.transcript.say(message.clone()).unwrap();
    assert_eq!(talk.transcript.say(message), Err(TranscriptError::SameEntry { id }));
    let first = talk.step(&[Outcome::ok("1")]);
    let mut second =
        talk.take(talk::finished(vec![talk::wish("x")], haft_protocol::StopReason::End));
    second.parts.clone_from(&first.parts);
    let call = first.calls().next().unwrap().id;
    assert_eq!(talk.transcript.reply(second), Err(TranscriptError::SameCall { call }));
    assert_eq!(talk.transcript.len(), 2);
}

#[test]
fn a_summary_speaks_of_entries_that_are_there_and_in_their_order() {
    let mut talk = Talk::default();
    let task = talk.say("go");
    let later = talk.say("and this");
    let nowhere = talk.message_id();
    let lost = summary(&mut talk, later, nowhere);
    assert_eq!(talk.transcript.summarise(lost), Err(TranscriptError::NoSuchEntry { id: nowhere }));
    let backwards = summary(&mut talk, later, task);
    let (first, last) = (later, task);
    assert_eq!(
        talk.transcript.summarise(backwards),
        Err(TranscriptError::Backwards { first, last })
    );
    assert_eq!(talk.transcript.len(), 2);
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut talk = Talk::default();
    talk.say("go");
    talk.reply(vec![talk::text("gone")]);
    let mut other = talk.clone();
    other.say("further");
    talk.say("back");
    assert_eq!(
        talk::told(&talk::request(&talk.transcript)),
        "user: go\nmodel: gone []\nuser: back"
    );
    assert_eq!(
        talk::told(&talk::request(&other.transcript)),
        "user: go\nmodel: gone []\nuser: further"
    );
}
