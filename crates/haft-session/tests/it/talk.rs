//! Conversations for tests: whatever is said in one gets ids that follow each other.

use std::collections::HashSet;
use std::sync::Arc;

use haft_model::{Finished, Fragments, Request, RequestMessage, Sampling, ToolChoice, ToolSpec};
use haft_protocol::{
    CallId, ContentPart, MessageId, ModelId, Notice, NoticeKind, Outcome, Reply, ReplyPart,
    RequestedCall, RunEntry, Status, StopReason, Timestamp, TokenUsage, UserMessage,
};
use haft_session::{Ask, Compiled, System, Transcript, compile, reply_of};
use proptest::prelude::*;

/// A conversation, and what was kept of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Talk {
    pub(crate) transcript: Transcript,
    pub(crate) kept: Vec<RunEntry>,
    pub(crate) ids: u128,
}

pub(crate) fn model() -> ModelId {
    "scripted/model".parse().unwrap()
}

pub(crate) fn at() -> Timestamp {
    Timestamp::from_unix_ms(1_000)
}

pub(crate) fn text(text: &str) -> ReplyPart {
    ReplyPart::Text { text: text.to_owned(), opaque: None }
}

/// The wish for a call of `read`.
pub(crate) fn wish(provider_id: &str) -> ReplyPart {
    haft_testkit::wish(provider_id, "read", r#"{"path":"a.txt"}"#.into(), true)
}

pub(crate) fn finished(parts: Vec<ReplyPart>, stop: StopReason) -> Finished {
    Finished { parts, stop, usage: TokenUsage::default(), served_by: None }
}

pub(crate) fn notice(text: &str) -> Notice {
    Notice::new(NoticeKind::Remark, text)
}

impl Talk {
    fn id(&mut self) -> u128 {
        self.ids += 1;
        self.ids
    }

    pub(crate) fn message_id(&mut self) -> MessageId {
        MessageId::from_parts(0, self.id())
    }

    pub(crate) fn message(&mut self, said: &str) -> UserMessage {
        let content = vec![ContentPart::text(said)];
        UserMessage { id: self.message_id(), at: at(), content, notices: Vec::new() }
    }

    pub(crate) fn say(&mut self, said: &str) -> MessageId {
        let message = self.message(said);
        self.transcript.say(message.clone()).unwrap();
        let id = message.id;
        self.kept.push(RunEntry::Said(message));
        id
    }

    pub(crate) fn take(&mut self, finished: Finished) -> Reply {
        let id = self.message_id();
        let calls = finished.parts.len();
        let ids: Vec<CallId> = (0..calls).map(|_| CallId::from_parts(0, self.id())).collect();
        let mut ids = ids.into_iter();
        reply_of(finished, &self.transcript, model(), id, at(), || ids.next().unwrap())
    }

    pub(crate) fn reply(&mut self, parts: Vec<ReplyPart>) -> Reply {
        let reply = self.take(finished(parts, StopReason::End));
        self.transcript.reply(reply.clone()).unwrap();
        self.kept.push(RunEntry::Replied(reply.clone()));
        reply
    }

    pub(crate) fn end(&mut self, call: CallId, outcome: Outcome) {
        self.transcript.end(call, Arc::new(outcome.clone())).unwrap();
        self.kept.push(RunEntry::Ended { call, outcome: Box::new(outcome) });
    }

    /// A reply that asks for calls, and their ends.
    pub(crate) fn step(&mut self, ends: &[Outcome]) -> Reply {
        let wishes = (0..ends.len()).map(|index| wish(&format!("c{index}"))).collect();
        let reply = self.reply(wishes);
        for (call, end) in reply.calls().zip(ends) {
            self.end(call.id, end.clone());
        }
        reply
    }

    pub(crate) fn open(&self) -> Vec<RequestedCall> {
        self.transcript.open_calls().cloned().collect()
    }

    pub(crate) fn close(&mut self) {
        for call in self.open() {
            self.end(call.id, Outcome::new(Status::Cancelled));
        }
    }
}

pub(crate) fn system() -> System {
    System::with_text("You are tested.", &[], Vec::new())
}

pub(crate) fn ask<'a>(
    system: &'a System,
    transcript: &'a Transcript,
    tools: Arc<[ToolSpec]>,
    notices: &'a [Notice],
) -> Ask<'a> {
    Ask {
        system,
        transcript,
        tools,
        choice: ToolChoice::Auto,
        format: None,
        sampling: Sampling::default(),
        notices,
    }
}

pub(crate) fn compiled(transcript: &Transcript, notices: &[Notice]) -> Compiled {
    compile(&ask(&system(), transcript, Arc::new([]), notices)).unwrap()
}

pub(crate) fn request(transcript: &Transcript) -> Arc<Request> {
    compiled(transcript, &[]).request
}

/// Writes what a model is shown, a line for each part.
pub(crate) fn told(request: &Request) -> String {
    let mut lines: Vec<String> = Vec::new();
    for fragment in request.messages.iter() {
        lines.push(match fragment.message() {
            RequestMessage::User(parts) => {
                let parts = parts.iter().map(|it| it.as_text().unwrap_or("[an image]"));
                format!("user: {}", parts.collect::<Vec<_>>().join("\n    + "))
            }
            RequestMessage::Reply(reply) => {
                let calls: Vec<_> = reply.calls().map(|it| it.echoed_id().into_owned()).collect();
                format!("model: {} {calls:?}", reply.text())
            }
            RequestMessage::Results(results) => {
                let results = results.iter().map(|it| {
                    let mark = if it.is_error { "!" } else { "=" };
                    format!("{} {mark} {}", it.provider_id, it.text)
                });
                format!("results: {}", results.collect::<Vec<_>>().join("\n       + "))
            }
        });
    }
    lines.join("\n")
}

/// Fails unless every provider would take the messages: a user's first, then in turns, each call with its one result.
pub(crate) fn check(messages: &Fragments) {
    let mut ids = HashSet::new();
    let mut before: Option<&RequestMessage> = None;
    for fragment in messages.iter() {
        let message = fragment.message();
        let calls = |reply: &Reply| -> Vec<String> {
            reply.calls().map(|call| call.echoed_id().into_owned()).collect()
        };
        match (before, message) {
            (None | Some(RequestMessage::Results(_)), RequestMessage::User(_))
            | (
                Some(RequestMessage::User(_) | RequestMessage::Results(_)),
                RequestMessage::Reply(_),
            ) => {}
            (Some(RequestMessage::Reply(reply)), RequestMessage::User(_)) => {
                assert!(calls(reply).is_empty(), "calls without results");
            }
            (Some(RequestMessage::Reply(reply)), RequestMessage::Results(results)) => {
                let results: Vec<_> = results.iter().map(|it| it.provider_id.to_string()).collect();
                assert_eq!(calls(reply), results);
                for id in results {
                    assert!(!id.is_empty() && ids.insert(id), "an id that stands twice");
                }
            }
            (before, message) => panic!("{message:?} behind {before:?}"),
        }
        if let RequestMessage::User(parts) = message {
            let is_blank = |it: &ContentPart| it.as_text().is_some_and(|it| it.trim().is_empty());
            assert!(!parts.is_empty() && !parts.iter().any(is_blank), "a user who says nothing");
        }
        before = Some(message);
    }
    assert!(matches!(before, Some(RequestMessage::User(_) | RequestMessage::Results(_))));
}

/// Something that happens in a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Say(String),
    Reply { said: String, thinks: bool, calls: Vec<u8> },
    End { which: usize, outcome: Outcome },
}

pub(crate) fn events(most: usize) -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 1..most)
}

fn event() -> impl Strategy<Value = Event> {
    let outcome = prop_oneof![
        "[a-zé🦀 \n]{0,40}".prop_map(Outcome::ok),
        Just(Outcome::new(Status::Cancelled)),
        Just(Outcome::new(Status::TimedOut { after_ms: 5 })),
    ];
    prop_oneof![
        2 => "[a-z🦀 ]{0,30}".prop_map(Event::Say),
        4 => ("[a-z]{0,20}", any::<bool>(), prop::collection::vec(0_u8..4, 0..4))
            .prop_map(|(said, thinks, calls)| Event::Reply { said, thinks, calls }),
        8 => (0_usize..4, outcome).prop_map(|(which, outcome)| Event::End { which, outcome }),
    ]
}

impl Talk {
    pub(crate) fn all_happen(&mut self, events: &[Event]) {
        for event in events {
            self.happen(event);
        }
    }

    /// Lets something happen, unless it cannot; then nothing changes.
    pub(crate) fn happen(&mut self, event: &Event) {
        let before = (self.transcript.len(), self.open().len());
        match event {
            Event::Say(said) => {
                let message = self.message(said);
                if self.transcript.say(message.clone()).is_ok() {
                    self.kept.push(RunEntry::Said(message));
                    return;
                }
            }
            Event::Reply { said, thinks, calls } => {
                let mut parts = Vec::new();
                if *thinks {
                    parts.push(ReplyPart::Reasoning { text: "hm".to_owned(), opaque: None });
                }
                parts.push(text(said));
                // Ids that are empty, double and used before.
                let ids = calls.iter().map(|it| ["", "c1", "c2", "a b"][usize::from(*it)]);
                parts.extend(ids.map(wish));
                let reply = self.take(finished(parts, StopReason::End));
                if self.transcript.reply(reply.clone()).is_ok() {
                    self.kept.push(RunEntry::Replied(reply));
                    return;
                }
            }
            Event::End { which, outcome } => {
                let open = self.open();
                if let Some(call) = open.get(*which) {
                    self.end(call.id, outcome.clone());
                    return;
                }
            }
        }
        assert_eq!(before, (self.transcript.len(), self.open().len()));
    }
}
