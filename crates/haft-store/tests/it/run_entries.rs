//! Entries of every kind, with anything in them.

use std::sync::Arc;

use haft_protocol::{
    ArtifactId, Bound, BranchId, CallId, Change, ChangeKind, ContentPart, ContentRef, Control,
    Count, Denial, Digest, ErrorKind, Evidence, Failure, FileState, ImageType, LeftOutRecord,
    LogicalPath, MessageId, ModelId, Notice, NoticeKind, Opaque, Outcome, RawArguments, Reply,
    ReplyPart, RequestedCall, RunEntry, RunFacts, RunId, RunLimit, SectionRecord, Status,
    StopCause, StopReason, StopSignal, Stopped, Summary, TicketId, Timestamp, TokenUsage, Usage,
    UsageTotal, UserMessage,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::runs::facts;
use crate::support::{in_memory, run};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_is_kept_of_a_run_comes_back_as_it_was(entries in vec(entry(), 0..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let runs = in_memory().runs();
        let writer = runs.begin(&facts(run(1))).unwrap();
        for entry in &entries {
            runtime.block_on(writer.append(entry)).unwrap();
        }
        let read = runs.read(run(1)).unwrap();
        prop_assert_eq!(read.unreadable, None);
        prop_assert_eq!(&read.entries[0], &RunEntry::Began(facts(run(1))));
        prop_assert_eq!(&read.entries[1..], &entries[..]);
        prop_assert_eq!(runs.find(&run(1).into()).unwrap().entries, entries.len() as u64 + 1);
    }

    #[test]
    fn any_begin_of_a_run_comes_back_as_it_was(facts in run_facts()) {
        let runs = in_memory().runs();
        runs.begin(&facts).unwrap();
        let read = runs.read(facts.run).unwrap();
        prop_assert_eq!(read.entries, [RunEntry::Began(facts)]);
    }
}

fn text() -> impl Strategy<Value = String> + Clone {
    vec(any::<char>(), 0..20).prop_map(|letters| letters.into_iter().collect())
}

fn at() -> impl Strategy<Value = Timestamp> + Clone {
    any::<u64>().prop_map(Timestamp::from_unix_ms)
}

fn number() -> impl Strategy<Value = Option<u64>> + Clone {
    option::of(any::<u64>())
}

/// Numbers as programs make them, all of whose digits count.
fn float() -> impl Strategy<Value = f64> + Clone {
    use proptest::num::f64;
    f64::NORMAL | f64::SUBNORMAL | f64::ZERO | f64::POSITIVE | f64::NEGATIVE
}

fn value() -> impl Strategy<Value = Value> + Clone {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        float().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn call() -> impl Strategy<Value = CallId> + Clone {
    (any::<u64>(), any::<u128>()).prop_map(|(at, bits)| CallId::from_parts(at, bits))
}

fn message() -> impl Strategy<Value = MessageId> + Clone {
    (any::<u64>(), any::<u128>()).prop_map(|(at, bits)| MessageId::from_parts(at, bits))
}

fn ticket() -> impl Strategy<Value = TicketId> + Clone {
    any::<u128>().prop_map(|bits| TicketId::from_parts(1, bits))
}

fn artifact() -> impl Strategy<Value = ArtifactId> + Clone {
    any::<u128>().prop_map(|bits| ArtifactId::from_parts(1, bits))
}

fn digest() -> impl Strategy<Value = Digest> + Clone {
    text().prop_map(Digest::of_bytes)
}

fn model() -> impl Strategy<Value = ModelId> + Clone {
    ("[a-z0-9._-]{1,8}", "[a-zA-Z0-9:/ .-]{0,12}x")
        .prop_map(|(provider, name)| ModelId::new(&provider, &name).unwrap())
}

fn content() -> impl Strategy<Value = Vec<ContentPart>> + Clone {
    let image = prop_oneof![
        Just(ImageType::Png),
        Just(ImageType::Jpeg),
        Just(ImageType::Gif),
        Just(ImageType::Webp)
    ];
    let part = prop_oneof![
        text().prop_map(ContentPart::text),
        (image, vec(any::<u8>(), 0..40))
            .prop_map(|(media_type, data)| ContentPart::Image { media_type, data: data.into() }),
        (artifact(), text(), text(), any::<u64>()).prop_map(|(id, title, media_type, bytes)| {
            ContentPart::Artifact { id, title, media_type, bytes }
        }),
    ];
    vec(part, 0..4)
}

fn notices() -> impl Strategy<Value = Vec<Notice>> + Clone {
    let kind = prop_oneof![
        Just(NoticeKind::Repaired),
        Just(NoticeKind::Unrecorded),
        Just(NoticeKind::Remark)
    ];
    vec((kind, text()).prop_map(|(kind, text)| Notice::new(kind, text)), 0..3)
}

fn status() -> impl Strategy<Value = Status> + Clone {
    let control = prop_oneof![
        Just(Control::Policy),
        text().prop_map(Control::Hook),
        Just(Control::Stale),
        Just(Control::Suspended),
    ];
    let kind = prop_oneof![Just(ErrorKind::NotFound), Just(ErrorKind::Internal)];
    prop_oneof![
        Just(Status::Ok),
        Just(Status::Cancelled),
        any::<u64>().prop_map(|after_ms| Status::TimedOut { after_ms }),
        (kind, text(), vec(text(), 0..3)).prop_map(|(kind, model_text, hints)| {
            Status::Failed(Failure { kind, model_text, hints })
        }),
        (control, text(), vec(text(), 0..3)).prop_map(|(control, reason, hints)| {
            Status::Denied(Denial { control, reason, hints })
        }),
    ]
}

fn change() -> impl Strategy<Value = Change> + Clone {
    let state = prop_oneof![
        (option::of((digest(), any::<u64>(), any::<bool>())), any::<u32>()).prop_map(
            |(content, mode)| FileState::File {
                content: content.map(|(digest, bytes, stored)| ContentRef {
                    digest,
                    bytes,
                    stored
                }),
                mode,
            }
        ),
        any::<u32>().prop_map(|mode| FileState::Directory { mode }),
        text().prop_map(|target| FileState::Link { target }),
        Just(FileState::Other),
    ];
    let kind = prop_oneof![
        Just(ChangeKind::Created),
        Just(ChangeKind::Modified),
        Just(ChangeKind::Deleted),
        text().prop_map(|from| ChangeKind::Moved { from: LogicalPath::new(from) }),
    ];
    let evidence = prop_oneof![Just(Evidence::Recorded), Just(Evidence::Observed)];
    (text(), kind, evidence, option::of(state.clone()), option::of(state), option::of(text()))
        .prop_map(|(path, kind, evidence, before, after, not_restorable)| Change {
            path: LogicalPath::new(path),
            kind,
            evidence,
            before,
            after,
            not_restorable,
        })
}

fn outcome() -> impl Strategy<Value = Outcome> + Clone {
    let count = prop_oneof![
        any::<u64>().prop_map(Count::Exact),
        any::<u64>().prop_map(Count::AtLeast),
        Just(Count::Unknown)
    ];
    let bound = (text(), any::<u64>(), count, text())
        .prop_map(|(unit, kept, left_out, way_on)| Bound { unit, kept, left_out, way_on });
    let usage = (number(), number()).prop_map(|(run_ms, micro_usd)| Usage {
        run_ms,
        micro_usd,
        ..Usage::default()
    });
    (
        status(),
        content(),
        option::of(value()),
        vec(change(), 0..3),
        notices(),
        vec(bound, 0..3),
        usage,
    )
        .prop_map(|(status, content, structured, changes, notices, bounds, usage)| Outcome {
            status,
            content,
            structured,
            changes,
            notices,
            bounds,
            usage,
        })
}

fn tokens() -> impl Strategy<Value = TokenUsage> + Clone {
    (number(), number(), number(), number(), any::<bool>()).prop_map(
        |(input, cache_read, output, micro_usd, doubtful)| TokenUsage {
            input,
            cache_read,
            output,
            micro_usd,
            doubtful,
            ..TokenUsage::default()
        },
    )
}

fn opaque() -> impl Strategy<Value = Opaque> + Clone {
    (text(), text()).prop_map(|(origin, json)| Opaque { origin: origin.into(), json: json.into() })
}

fn reply() -> impl Strategy<Value = Reply> + Clone {
    let arguments =
        prop_oneof![text().prop_map(RawArguments::Text), value().prop_map(RawArguments::Json)];
    let wish = (call(), option::of(text()), text(), arguments, any::<bool>(), option::of(opaque()))
        .prop_map(|(id, provider_id, tool, arguments, is_whole, opaque)| RequestedCall {
            id,
            provider_id,
            tool,
            arguments,
            is_whole,
            opaque,
        });
    let part = prop_oneof![
        (text(), option::of(opaque())).prop_map(|(text, opaque)| ReplyPart::Text { text, opaque }),
        (text(), option::of(opaque()))
            .prop_map(|(text, opaque)| ReplyPart::Reasoning { text, opaque }),
        wish.prop_map(ReplyPart::Call),
        opaque().prop_map(ReplyPart::Opaque),
    ];
    let stop = prop_oneof![
        Just(StopReason::End),
        Just(StopReason::Calls),
        Just(StopReason::CutShort),
        text().prop_map(StopReason::Other)
    ];
    (message(), at(), model(), vec(part, 0..5), stop, tokens())
        .prop_map(|(id, at, model, parts, stop, usage)| Reply { id, at, model, parts, stop, usage })
}

fn stopped() -> impl Strategy<Value = Stopped> + Clone {
    let limit = prop_oneof![Just(RunLimit::Steps), Just(RunLimit::Money), Just(RunLimit::Time)];
    let cause = prop_oneof![
        Just(StopCause::Done),
        Just(StopCause::Empty),
        text().prop_map(|text| StopCause::Refused { text }),
        (limit, any::<u64>()).prop_map(|(limit, allowed)| StopCause::Limit { limit, allowed }),
        (text(), text()).prop_map(|(kind, text)| StopCause::Model { kind, text }),
        ticket().prop_map(|ticket| StopCause::Waits { ticket }),
        option::of(select(vec![StopSignal::Interrupt, StopSignal::Hangup, StopSignal::Terminate]))
            .prop_map(|by| StopCause::Interrupted { by }),
    ];
    (at(), cause, any::<u64>(), any::<u64>()).prop_map(|(at, cause, requests, output)| Stopped {
        at,
        cause,
        usage: UsageTotal { requests, output, ..UsageTotal::default() },
    })
}

fn summary() -> impl Strategy<Value = Summary> + Clone {
    (message(), at(), text(), message(), message(), any::<u64>(), option::of(model()), tokens())
        .prop_map(|(id, at, text, first, last, entries, model, usage)| Summary {
            id,
            at,
            text,
            first,
            last,
            entries,
            model,
            usage,
        })
}

fn entry() -> impl Strategy<Value = RunEntry> {
    let said = (message(), at(), content(), notices())
        .prop_map(|(id, at, content, notices)| UserMessage { id, at, content, notices });
    prop_oneof![
        said.prop_map(RunEntry::Said),
        (at(), any::<u64>(), any::<u64>(), vec(section(), 0..3)).prop_map(
            |(at, request, estimated_tokens, made_of)| {
                RunEntry::Asked { at, request, estimated_tokens, made_of }
            }
        ),
        (at(), text(), text(), text(), option::of(any::<u32>())).prop_map(
            |(at, kind, text, said, tokens)| {
                let estimated =
                    tokens.map(|it| TokenUsage { input: Some(it.into()), ..TokenUsage::default() });
                RunEntry::Unanswered { at, kind, text, said, estimated }
            }
        ),
        reply().prop_map(RunEntry::Replied),
        (call(), ticket(), option::of(artifact()))
            .prop_map(|(call, ticket, kept)| RunEntry::Waits { call, ticket, kept }),
        (call(), call()).prop_map(|(call, made_as)| RunEntry::MadeAgain { call, made_as }),
        (call(), outcome())
            .prop_map(|(call, outcome)| RunEntry::Ended { call, outcome: Box::new(outcome) }),
        summary().prop_map(RunEntry::Summarised),
        stopped().prop_map(RunEntry::Stopped),
        at().prop_map(|at| RunEntry::Resumed { at }),
    ]
}

fn section() -> impl Strategy<Value = SectionRecord> {
    let left_out = (any::<u64>(), text(), text()).prop_map(|(count, unit, why)| LeftOutRecord {
        count,
        unit,
        why,
    });
    (text(), any::<u64>(), vec(text(), 0..3), vec(left_out, 0..3)).prop_map(
        |(section, kept, names, left_out)| SectionRecord { section, kept, names, left_out },
    )
}

fn run_facts() -> impl Strategy<Value = RunFacts> {
    let id = any::<u128>().prop_map(|bits| RunId::from_parts(1, bits));
    (
        (id.clone(), at(), text(), model(), vec(text(), 0..3), text()),
        (digest(), option::of((id, any::<u64>())), option::of(call())),
        (option::of(any::<u128>()), option::of(text()), option::of(vec(text(), 0..3))),
    )
        .prop_map(|(facts, (digest, forked_from, parent), (branch, within, tools))| {
            let (run, at, title, model, roots, preset) = facts;
            RunFacts {
                run,
                at,
                title,
                model,
                roots,
                preset,
                toolset: tools.as_ref().and_then(|it| it.first().cloned()),
                tools,
                policy: digest,
                system: digest,
                forked_from,
                parent,
                branch: branch.map(|bits| BranchId::from_parts(1, bits)),
                within: within.map(LogicalPath::new),
            }
        })
}

/// A reply with a call, signed reasoning and letters of several bytes.
pub(crate) fn a_reply(number: u128, id: CallId) -> RunEntry {
    let opaque = Opaque {
        origin: "anthropic-messages anthropic".into(),
        json: r#"{ "type":"thinking", "signature":"s\u00e9=="}"#.into(),
    };
    RunEntry::Replied(Reply {
        id: MessageId::from_parts(1, number),
        at: Timestamp::from_unix_ms(1),
        model: ModelId::new("local", "a/model").unwrap(),
        parts: vec![
            ReplyPart::Reasoning { text: "é€😀".to_owned(), opaque: Some(opaque) },
            ReplyPart::Call(RequestedCall {
                id,
                provider_id: Some("call_1".to_owned()),
                tool: "reader".to_owned(),
                arguments: RawArguments::Text(r#"{"path": "a"}"#.to_owned()),
                is_whole: true,
                opaque: None,
            }),
        ],
        stop: StopReason::Calls,
        usage: TokenUsage { input: Some(10), output: Some(5), ..TokenUsage::default() },
    })
}

/// An end of a call with an image of some bytes.
pub(crate) fn an_image(id: CallId, bytes: usize) -> RunEntry {
    let mut outcome = Outcome::ok("an image");
    let data: Arc<[u8]> = (0..bytes).map(|place| place as u8).collect();
    outcome.content.push(ContentPart::Image { media_type: ImageType::Png, data });
    RunEntry::Ended { call: id, outcome: Box::new(outcome) }
}
