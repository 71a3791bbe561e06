//! Questions, tickets and answers.

use std::sync::Arc;

use haft_policy::{Preset, Rule};
use haft_protocol::{Control, Denial, Outcome, Status};
use haft_testkit::doors::Mood;
use haft_testkit::{Rig, RigBuilder};
use haft_tool::hooks::PreVerdict;
use haft_tool::{Answer, Dispatched, Hooks, Ticket};
use serde_json::json;

use crate::walk::writer;

fn asking() -> RigBuilder {
    Rig::builder()
        .tool(writer("local/write"))
        .rule(Rule::ask().tool("local/write".parse().unwrap()))
}

fn yes() -> Answer {
    Answer::Approve { by: "ada".to_owned() }
}

fn denial(outcome: &Outcome) -> &Denial {
    match &outcome.status {
        Status::Denied(denial) => denial,
        other => panic!("expected a denial, found {other:?}"),
    }
}

async fn ticket(rig: &Rig) -> Ticket {
    rig.oracle.say(Answer::Later);
    match rig.dispatch("write", json!({ "path": "a" })).await {
        Dispatched::Waiting(ticket) => *ticket,
        Dispatched::Done(outcome) => panic!("expected a question, found {outcome:?}"),
    }
}

#[tokio::test]
async fn the_ticket_is_on_record_before_anybody_is_asked() {
    let rig = asking().build();
    let _ = ticket(&rig).await;
    assert_eq!(rig.words(), ["intent", "ticket"]);
    let question = &rig.oracle.questions()[0];
    assert_eq!(question.arguments["path"], "a", "the question shows the arguments whole");
    assert_eq!(question.ticket.bindings[0].path.as_str(), "a");
}

#[tokio::test]
async fn a_yes_runs_the_call_and_the_record_says_who_said_it() {
    let rig = asking().build();
    rig.oracle.say(yes());
    assert!(rig.call("write", json!({ "path": "a" })).await.is_ok());
    assert_eq!(rig.words(), ["intent", "ticket", "answered", "intent", "started", "outcome"]);
    let decided = rig.journal.entries().into_iter().rev().find_map(|entry| match entry {
        haft_testkit::doors::Kept::Intent(intent) => intent.decision,
        _ => None,
    });
    assert!(decided.unwrap().because.starts_with("approved by ada"));
}

#[tokio::test]
async fn a_no_denies_with_its_reason() {
    let rig = asking().build();
    rig.oracle.say(Answer::Refuse { by: "ada".to_owned(), reason: Some("not today".to_owned()) });
    let outcome = rig.call("write", json!({ "path": "a" })).await;
    assert_eq!(denial(&outcome).control, Control::Approval);
    assert_eq!(denial(&outcome).reason, "ada said no: not today");
}

#[tokio::test]
async fn o_052_with_nobody_to_ask_the_call_is_denied_at_once_and_names_the_way_out() {
    let rig = asking().build();
    let outcome = rig.call("write", json!({ "path": "a" })).await;
    assert_eq!(denial(&outcome).control, Control::Approval);
    assert_eq!(
        denial(&outcome).hints.first().unwrap(),
        "add a rule",
        "{:?}",
        denial(&outcome).hints
    );
}

#[tokio::test]
async fn a_ticket_outlives_its_process_as_data() {
    let rig = asking().build();
    let ticket = ticket(&rig).await;
    let stored = serde_json::to_string(&ticket).unwrap();
    let restored: Ticket = serde_json::from_str(&stored).unwrap();
    let end = rig.dispatch.resume(&rig.context, restored, yes()).await;
    assert!(end.outcome().unwrap().is_ok());
}

#[tokio::test]
async fn a_ticket_counts_once() {
    let rig = asking().build();
    let ticket = ticket(&rig).await;
    assert!(
        rig.dispatch.resume(&rig.context, ticket.clone(), yes()).await.outcome().unwrap().is_ok()
    );
    let again = rig.dispatch.resume(&rig.context, ticket, yes()).await.into_outcome().unwrap();
    assert!(!again.is_ok(), "{}", again.model_text());
    let starts = rig.words().iter().filter(|word| **word == "started").count();
    assert_eq!(starts, 1);
}

#[tokio::test]
async fn an_answer_that_is_not_taken_does_not_end_the_call() {
    let rig = asking().build();
    let ticket = ticket(&rig).await;
    let call = ticket.record().call;
    rig.journal.intents.set(Mood::Fails);
    let lost = rig.dispatch.resume(&rig.context, ticket.clone(), yes()).await;
    assert!(!lost.outcome().unwrap().is_ok());
    assert_eq!(rig.journal.outcomes_of(call), []);
    rig.journal.intents.set(Mood::Works);
    assert!(
        rig.dispatch.resume(&rig.context, ticket.clone(), yes()).await.outcome().unwrap().is_ok()
    );
    let no = Answer::Refuse { by: "eve".to_owned(), reason: None };
    let again = rig.dispatch.resume(&rig.context, ticket, no).await;
    assert!(!again.outcome().unwrap().is_ok());
    let outcomes = rig.journal.outcomes_of(call);
    assert_eq!(outcomes.iter().map(|it| it.outcome.is_ok()).collect::<Vec<_>>(), [true]);
}

#[tokio::test]
async fn an_answer_after_the_expiry_is_no_answer() {
    let rig = asking().build();
    let ticket = ticket(&rig).await;
    rig.clock.forward_ms(haft_protocol::limits::APPROVAL_MS + 10);
    let late = rig.dispatch.resume(&rig.context, ticket, yes()).await.into_outcome().unwrap();
    assert!(denial(&late).reason.contains("expired"));
}

#[tokio::test]
async fn a_yes_to_one_call_is_no_yes_to_another() {
    let rig = asking().build();
    let mut stored = serde_json::to_value(ticket(&rig).await).unwrap();
    // Whoever keeps the ticket changes what it is about.
    stored["call"]["arguments"]["json"]["path"] = json!("b");
    let forged: Ticket = serde_json::from_value(stored).unwrap();
    let end = rig.dispatch.resume(&rig.context, forged, yes()).await.into_outcome().unwrap();
    assert_eq!(denial(&end).control, Control::Stale);
    assert!(!rig.words().contains(&"started"));
}

#[tokio::test]
async fn a_rule_that_came_meanwhile_denies_what_was_approved() {
    let rig = asking().build();
    let ticket = ticket(&rig).await;
    let rules = vec![Rule::deny().tool("local/write".parse().unwrap())];
    let mut context = rig.context.clone();
    context.policy = Arc::new(haft_policy::Policy::new(Preset::Full, rules, false).unwrap());
    let end = rig.dispatch.resume(&context, ticket, yes()).await.into_outcome().unwrap();
    assert_eq!(denial(&end).control, Control::Policy);
}

#[tokio::test]
async fn a_waiting_call_holds_neither_permit_nor_lock() {
    let rig = asking().limits(|limits| limits.permits = 1).build();
    let _waiting = ticket(&rig).await;
    let mut context = rig.context.clone();
    context.policy = Arc::new(haft_policy::Policy::new(Preset::Full, Vec::new(), false).unwrap());
    let call = rig.tool_call("write", json!({ "path": "a" }));
    assert!(rig.dispatch.dispatch(&context, call).await.outcome().unwrap().is_ok());
}

#[tokio::test]
async fn a_hook_can_want_a_person_to_say_yes() {
    let hooks =
        Hooks::none().pre("careful", |_| async { Ok(PreVerdict::Ask("it is Friday".to_owned())) });
    let rig = Rig::builder().tool(writer("local/write")).hooks(hooks).build();
    rig.oracle.say(yes());
    assert!(rig.call("write", json!({ "path": "a" })).await.is_ok());
    assert!(rig.oracle.questions()[0].ticket.because.contains("it is Friday"));
}

#[tokio::test(start_paused = true)]
async fn o_052_a_question_nobody_answers_in_time_is_a_no() {
    let rig = asking().build();
    rig.oracle.temper.set(Mood::Hangs);
    let outcome = rig.call("write", json!({ "path": "a" })).await;
    assert!(denial(&outcome).reason.contains("nobody answered in time"));
}

#[tokio::test]
async fn what_a_person_decides_about_can_be_read_in_one_way_only() {
    let rig = asking().build();
    let ask = |path: &'static str| {
        let rig = &rig;
        async move {
            rig.oracle.say(Answer::Later);
            match rig.dispatch("write", json!({ "path": path })).await {
                Dispatched::Waiting(ticket) => ticket.question().to_text(),
                Dispatched::Done(outcome) => panic!("expected a question, found {outcome:?}"),
            }
        }
    };
    let (typed, broken) = (ask("a\\nb").await, ask("a\nb").await);
    assert!(typed.contains(r"path: a\\nb"), "{typed}");
    assert!(broken.contains(r"path: a\nb"), "{broken}");
    let blank = ask("a\u{2800}\u{3164}\u{a0}b").await;
    assert!(blank.contains(r"path: a\u{2800}\u{3164}\u{a0}b"), "{blank}");
}
