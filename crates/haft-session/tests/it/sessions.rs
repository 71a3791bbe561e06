//! What holds as a conversation grows.

use std::sync::Arc;

use haft_model::{Estimator, Request, RequestMessage};
use haft_session::Gauge;
use haft_testkit::ScriptedModel;
use proptest::prelude::*;

use crate::talk::{self, Talk, events, notice};

/// What a model reads, one thing after another, who says it with it.
fn read(request: &Request) -> Vec<String> {
    let each = request.messages.iter().flat_map(|it| match it.message() {
        RequestMessage::User(parts) => parts.iter().map(|it| format!("user {it:?}")).collect(),
        RequestMessage::Reply(reply) => vec![format!("model {reply:?}")],
        RequestMessage::Results(results) => {
            results.iter().map(|it| format!("result {it:?}")).collect::<Vec<_>>()
        }
    });
    each.collect()
}

fn gauge() -> Gauge {
    Gauge::new(haft_model::ChatModel::facts(&*ScriptedModel::new([])))
}

proptest! {
    #[test]
    fn o_092_each_request_begins_with_all_of_the_one_before(
        events in events(60),
        noted in prop::collection::vec(any::<bool>(), 60),
    ) {
        let mut talk = Talk::default();
        talk.say("go");
        let mut before: Option<Arc<Request>> = None;
        for (event, is_noted) in events.iter().zip(noted) {
            talk.happen(event);
            let notices = if is_noted { vec![notice("for now")] } else { Vec::new() };
            let system = talk::system();
            let ask = talk::ask(&system, &talk.transcript, Arc::new([]), &notices);
            let Ok(compiled) = haft_session::compile(&ask) else { continue };
            let now = compiled.request;
            talk::check(&now.messages);
            let whole = read(&now);
            let stays = whole.len() - notices.len();
            // What is kept for the next look is the request without its notices.
            let told = Arc::new(Request {
                messages: now.messages.clone(),
                ..Request::default()
            });
            if let Some(before) = before.replace(told) {
                let mut old = read(&before);
                old.retain(|it| !it.contains("for now"));
                prop_assert!(whole[..stays].starts_with(&old), "{old:#?}\n{whole:#?}");
                // Messages before the last one are the same ones, with what was made of them.
                let same = before.messages.iter().zip(now.messages.iter()).take_while(|(one, two)| Arc::ptr_eq(one, two));
                let tail = 1 + usize::from(old.len() != read(&before).len());
                prop_assert!(same.count() + tail >= before.messages.len());
            }
        }
    }

    #[test]
    fn a_gauge_that_goes_on_says_what_a_fresh_one_says(events in events(60)) {
        let mut talk = Talk::default();
        talk.say("go");
        let mut going = gauge();
        for event in &events {
            talk.happen(event);
            let system = talk::system();
            let ask = talk::ask(&system, &talk.transcript, Arc::new([]), &[]);
            let Ok(compiled) = haft_session::compile(&ask) else { continue };
            let level = going.of(&compiled.request);
            prop_assert_eq!(level, gauge().of(&compiled.request));
            let counted: u64 = ask.weigh(&Estimator::default()).iter().map(|it| it.estimated_tokens).sum();
            prop_assert!(counted <= level.estimated + 8 * compiled.request.messages.len() as u64);
        }
    }
}

/// Counts how often a message is put into a provider's form over a whole conversation.
fn renderings(turns: usize) -> usize {
    let mut talk = Talk::default();
    talk.say("go");
    let mut rendered = 0;
    for _ in 0..turns {
        talk.step(&[haft_protocol::Outcome::ok("read"), haft_protocol::Outcome::ok("read")]);
        for fragment in talk::compiled(&talk.transcript, &[]).request.messages.iter() {
            fragment.rendered("form", |_| {
                rendered += 1;
                String::new()
            });
        }
    }
    rendered
}

#[test]
fn a_turn_makes_only_what_is_new_in_it() {
    // One for the task, and two for each step: the reply and its results.
    assert_eq!(renderings(10), 21);
    assert_eq!(renderings(300), 601);
}
