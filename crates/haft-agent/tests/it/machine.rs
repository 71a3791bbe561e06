//! What the machine of a turn decides, whatever it hears.

use std::num::NonZeroU64;
use std::time::Duration;

use haft_agent::{Heard, Next, RunLimits, Spent, TurnMachine};
use haft_model::{ModelError, ModelErrorKind};
use haft_protocol::{
    CallId, ErrorKind, Failure, MessageId, Outcome, RawArguments, Reply, ReplyPart, RequestedCall,
    StopReason, Timestamp, TokenUsage,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn stop() -> impl Strategy<Value = StopReason> {
    prop_oneof![
        4 => Just(StopReason::Calls),
        2 => Just(StopReason::End),
        1 => Just(StopReason::Length),
        1 => Just(StopReason::Window),
        1 => Just(StopReason::Filtered),
        1 => Just(StopReason::Refused),
        1 => Just(StopReason::CutShort),
        1 => Just(StopReason::Other("odd".to_owned())),
    ]
}

fn error() -> impl Strategy<Value = ModelErrorKind> {
    prop_oneof![
        Just(ModelErrorKind::Overflow),
        Just(ModelErrorKind::OutputOverflow),
        Just(ModelErrorKind::Reasoning),
        Just(ModelErrorKind::Refused),
        Just(ModelErrorKind::Transport),
        Just(ModelErrorKind::BadRequest),
    ]
}

/// What the world does when the machine wants something of it.
#[derive(Debug, Clone)]
struct World {
    fails: Option<ModelErrorKind>,
    stop: StopReason,
    calls: Vec<(u8, bool)>,
    text: &'static str,
    ends_well: bool,
    summarises: bool,
}

fn world() -> impl Strategy<Value = World> {
    (
        prop::option::weighted(0.2, error()),
        stop(),
        vec((0_u8..3, any::<bool>()), 0..4),
        prop_oneof![Just(""), Just("Done.")],
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(fails, stop, calls, text, ends_well, summarises)| World {
            fails,
            stop,
            calls,
            text,
            ends_well,
            summarises,
        })
}

fn reply(world: &World) -> Reply {
    let calls = world.calls.iter().enumerate().map(|(index, (tool, is_whole))| {
        ReplyPart::Call(RequestedCall {
            id: CallId::from_parts(1, index as u128 + 1),
            provider_id: None,
            tool: format!("tool{tool}"),
            arguments: RawArguments::default(),
            is_whole: *is_whole && world.stop.lets_calls_run(),
            opaque: None,
        })
    });
    let text = ReplyPart::Text { text: world.text.to_owned(), opaque: None };
    Reply {
        id: MessageId::from_parts(1, 1),
        at: Timestamp::from_unix_ms(1),
        model: "scripted/model".parse().unwrap(),
        parts: [text].into_iter().chain(calls).collect(),
        stop: world.stop.clone(),
        usage: TokenUsage::default(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_machine_stops_keeps_its_limits_and_calls_nothing_of_a_reply_that_is_cut(
        worlds in vec(world(), 1..20),
        steps in 1_u64..12,
        tokens in prop::option::of(1_u64..500),
    ) {
        let limits = RunLimits {
            steps: NonZeroU64::new(steps).unwrap(),
            tokens: tokens.and_then(NonZeroU64::new),
            micro_usd: None,
            time: Some(Duration::from_secs(1_000)),
        };
        let mut machine = TurnMachine::new(limits);
        let mut spent = Spent::nothing();
        let mut next = machine.next(Heard::Begin, &spent);
        let mut last = reply(&worlds[0]);
        let mut decisions = 0;
        loop {
            decisions += 1;
            prop_assert!(decisions < 200, "the machine does not stop");
            let world = &worlds[decisions % worlds.len()];
            next = match next {
                Next::Stop(_) => break,
                Next::Ask { .. } | Next::AskAgain(_) => {
                    prop_assert!(limits.reached(&spent).is_none(), "asks behind a limit");
                    spent.steps += 1;
                    spent.usage.output += 40;
                    spent.time += Duration::from_secs(30);
                    if let Some(kind) = world.fails {
                        let error = ModelError::new(kind, "it failed");
                        machine.next(Heard::NoReply(&error), &spent)
                    } else {
                        last = reply(world);
                        machine.next(Heard::Reply(&last), &spent)
                    }
                }
                ref calls @ (Next::Call | Next::PassOver) => {
                    let runs = *calls == Next::Call;
                    prop_assert!(last.calls().next().is_some(), "there is nothing to call");
                    prop_assert_eq!(runs, last.stop.lets_calls_run());
                    let ends: Vec<(RequestedCall, Outcome)> = last.calls().map(|call| {
                        let failed = Failure::new(ErrorKind::Upstream, "no");
                        let outcome =
                            if world.ends_well { Outcome::ok("yes") } else { failed.into() };
                        (call.clone(), outcome)
                    }).collect();
                    machine.next(Heard::Ended(&ends), &spent)
                }
                Next::Summarise => {
                    prop_assert!(limits.reached(&spent).is_none(), "summarises behind a limit");
                    spent.usage.output += 40;
                    let heard = if world.summarises {
                        Heard::Summarised
                    } else {
                        Heard::NotSummarised("no".to_owned())
                    };
                    machine.next(heard, &spent)
                }
            };
        }
        prop_assert!(spent.steps <= steps);
    }
}
