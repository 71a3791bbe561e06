use std::sync::Arc;

use haft_model::{Estimator, RequestMessage, ToolSpec};
use haft_protocol::{
    ContentPart, ErrorKind, Failure, ImageType, Opaque, Outcome, ReplyPart, StopReason, UserMessage,
};
use haft_session::{CompileError, Kept, LeftOut, SectionKind, compile};
use serde_json::json;

use crate::talk::{self, Talk, at, notice, wish};

#[test]
fn what_was_said_in_a_row_is_one_message_with_a_note() {
    let mut talk = Talk::default();
    talk.say("Fix the test.");
    talk.say("And the other one.");
    talk.reply(vec![talk::text("Which?")]);
    talk.say("The slow one.");
    insta::assert_snapshot!(talk::told(&talk::request(&talk.transcript)), @r#"
    user: Fix the test.
        + [said later, before you replied]
        + And the other one.
    model: Which? []
    user: The slow one.
    "#);
}

#[test]
fn results_are_told_whole_each_with_its_call() {
    let mut talk = Talk::default();
    talk.say("go");
    let image = ContentPart::Image { media_type: ImageType::Png, data: Arc::from(*b"png") };
    let mut with_image = Outcome::ok("a picture");
    with_image.content.push(image);
    let mut noted = Outcome::ok("line");
    noted.notice(haft_protocol::NoticeKind::Skipped, "one file could not be read");
    let failed = Failure::new(ErrorKind::NotFound, "`a.txt` is not there").hint("try `b.txt`");
    // Equal results, empty ones and ones that look like a notice: each is told.
    talk.step(&[
        Outcome::ok("same"),
        Outcome::ok("same"),
        Outcome::ok(""),
        Outcome::from(failed),
        with_image,
        noted,
    ]);
    let request = talk::request(&talk.transcript);
    insta::assert_snapshot!(talk::told(&request), @r#"
    user: go
    model:  ["c0", "c1", "c2", "c3", "c4", "c5"]
    results: c0 = same
           + c1 = same
           + c2 = [done, nothing to show]
           + c3 ! failed (not_found): `a.txt` is not there
    hint: try `b.txt`
           + c4 = a picture
    [image, image/png, 3 bytes]
           + c5 = line
    [notice: one file could not be read]
    "#);
    let RequestMessage::Results(results) = request.messages.get(2).unwrap().message() else {
        panic!()
    };
    assert_eq!(results[4].images.len(), 1);
}

#[test]
fn replies_of_nothing_are_not_shown_and_are_named() {
    let mut talk = Talk::default();
    talk.say("go");
    let thinks = ReplyPart::Reasoning {
        text: "hm".to_owned(),
        opaque: Some(Opaque { origin: "x".into(), json: "{}".into() }),
    };
    let silent = talk.reply(vec![thinks, talk::text(" \n")]);
    talk.say("well?");
    let compiled = talk::compiled(&talk.transcript, &[]);
    talk::check(&compiled.request.messages);
    let history = compiled.sections.iter().find(|it| it.kind == SectionKind::History).unwrap();
    let left_out =
        LeftOut { first: silent.id, last: silent.id, entries: 1, why: "nothing was said in them" };
    assert_eq!(history.left_out, [left_out]);
}

#[test]
fn replies_in_a_row_are_told_apart() {
    let mut talk = Talk::default();
    talk.say("go");
    talk.reply(vec![talk::text("The first half")]);
    let go_on = [notice("your last reply was cut off; go on from there, briefly")];
    let cut = talk::compiled(&talk.transcript, &go_on).request;
    talk::check(&cut.messages);
    talk.reply(vec![talk::text("and the second.")]);
    talk.say("thanks");
    let request = talk::request(&talk.transcript);
    talk::check(&request.messages);
    insta::assert_snapshot!(talk::told(&request), @r#"
    user: go
    model: The first half []
    user: [notice: you were asked to go on]
    model: and the second. []
    user: thanks
    "#);
}

#[test]
fn notices_stand_at_the_end_of_one_request() {
    let mut talk = Talk::default();
    talk.say("go");
    let notices = [notice("five minutes are left"), notice("the file `a` changed")];
    let request = talk::compiled(&talk.transcript, &notices).request;
    insta::assert_snapshot!(talk::told(&request), @r#"
    user: go
        + [notice: five minutes are left]
        + [notice: the file `a` changed]
    "#);
    talk.step(&[Outcome::ok("read")]);
    let request = talk::compiled(&talk.transcript, &notices[..1]).request;
    talk::check(&request.messages);
    insta::assert_snapshot!(talk::told(&request), @r#"
    user: go
    model:  ["c0"]
    results: c0 = read
    user: [notice: five minutes are left]
    "#);
}

#[test]
fn blank_parts_and_notices_of_a_message_are_told_as_they_should() {
    let mut talk = Talk::default();
    let image = ContentPart::Image { media_type: ImageType::Png, data: Arc::from(*b"png") };
    let message = UserMessage {
        id: talk.message_id(),
        at: at(),
        content: vec![ContentPart::text("\n"), image],
        notices: vec![notice("the image was made smaller")],
    };
    talk.transcript.say(message).unwrap();
    insta::assert_snapshot!(talk::told(&talk::request(&talk.transcript)), @r#"
    user: [an image]
        + [notice: the image was made smaller]
    "#);
}

#[test]
fn no_request_is_made_of_what_waits_for_nobody() {
    let mut talk = Talk::default();
    let system = talk::system();
    let made = |talk: &Talk| compile(&talk::ask(&system, &talk.transcript, Arc::new([]), &[]));
    assert_eq!(made(&talk), Err(CompileError::NothingAsked));
    talk.say("go");
    talk.reply(vec![wish("a")]);
    assert_eq!(made(&talk), Err(CompileError::Open { open: 1 }));
    talk.close();
    talk.reply(vec![talk::text("done")]);
    let error = made(&talk).unwrap_err();
    assert_eq!(error, CompileError::NothingAsked);
    insta::assert_snapshot!(error, @"the transcript ends with the model's own words: say something to it first");
}

#[test]
fn sections_say_what_was_kept_and_how_much_it_takes() {
    let mut talk = Talk::default();
    let task = talk.say("Fix the test.");
    let first = talk.step(&[Outcome::ok("a")]).id;
    let last = talk.step(&[Outcome::ok("b")]).id;
    let tools: Arc<[ToolSpec]> = Arc::new([ToolSpec {
        name: haft_protocol::WireName::new("read").unwrap(),
        description: "Reads a file.".into(),
        schema: Arc::new(json!({"type": "object"})),
    }]);
    let system = haft_session::System::with_text(
        "You are tested.",
        &[],
        vec![haft_session::Instructions::new("AGENTS.md", "Be brief.")],
    );
    let notices = [notice("a thing")];
    let ask = talk::ask(&system, &talk.transcript, tools, &notices);
    let compiled = compile(&ask).unwrap();
    let kept: Vec<_> = compiled.sections.iter().map(|it| (it.kind, it.kept.clone())).collect();
    assert_eq!(
        kept,
        [
            (SectionKind::System, vec![Kept::Named("system".to_owned())]),
            (SectionKind::Instructions, vec![Kept::Named("AGENTS.md".to_owned())]),
            (SectionKind::Tools, vec![Kept::Count(1)]),
            (SectionKind::Task, vec![Kept::Entry(task)]),
            (SectionKind::Summary, vec![]),
            (SectionKind::History, vec![Kept::Entries { first, last, entries: 2 }]),
            (SectionKind::Notices, vec![Kept::Count(1)]),
        ]
    );
    let weights = ask.weigh(&Estimator::default());
    let empty: Vec<_> = weights.iter().filter(|it| it.estimated_tokens == 0).collect();
    assert_eq!(empty.iter().map(|it| it.kind).collect::<Vec<_>>(), [SectionKind::Summary]);
}

#[test]
fn a_stop_of_any_kind_changes_nothing_of_what_is_shown() {
    let mut talk = Talk::default();
    talk.say("go");
    let reply = talk.take(talk::finished(vec![talk::text("half"), wish("a")], StopReason::Length));
    talk.transcript.reply(reply).unwrap();
    talk.close();
    talk::check(&talk::request(&talk.transcript).messages);
}
