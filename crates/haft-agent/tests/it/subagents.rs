//! Models that work for a model, with less than it may.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

use haft_agent::{RunEvent, Subagents, Watcher};
use haft_model::{ModelError, ModelErrorKind};
use haft_policy::Preset;
use haft_protocol::{
    Capabilities, Capability, Entrance, Outcome, RunEntry, RunLimit, Status, StopCause,
};
use haft_testkit::doors::Kept as Journalled;
use haft_testkit::{Line, Rig, ScriptedModel, echo};
use haft_tool::{BoxFuture, FunctionTool, OnConflict, Output, Tool};
use serde_json::{Value, json};

use crate::rig::Work;

fn writer() -> Arc<dyn Tool> {
    let writes = Capabilities::builder().effect(Capability::WriteFiles).build().unwrap();
    FunctionTool::new("local/write".parse().unwrap(), "Writes.", json!({"type": "object"}))
        .unwrap()
        .facts(|facts| facts.capabilities(writes))
        .body(|_, _| async move { Ok(Output::text("written")) })
        .unwrap()
}

fn work(preset: Preset, lines: impl IntoIterator<Item = Line>) -> Work {
    let rig = Rig::builder().tool(echo()).tool(writer()).preset(preset).build();
    rig.registry.register(Arc::new(Subagents), OnConflict::Reject).unwrap();
    Work::of(rig, ScriptedModel::new(lines))
}

fn subagent(arguments: Value) -> Line {
    Line::calls(&[("subagent", arguments)])
}

/// Returns how calls of a tool ended, by their entrance.
fn ends(work: &Work, tool: &str) -> Vec<(Entrance, Outcome)> {
    let entries = work.rig.journal.entries();
    let intents = entries.iter().filter_map(|it| match it {
        Journalled::Intent(intent) if intent.tool.as_ref().is_ok_and(|it| it.name() == tool) => {
            Some(intent)
        }
        _ => None,
    });
    let outcome = |call| work.rig.journal.outcomes_of(call).remove(0).outcome;
    intents.map(|it| (it.caller.entrance, outcome(it.call))).collect()
}

fn report(work: &Work) -> (Outcome, Value) {
    let ended = work.kept.entries().into_iter().find_map(|it| match it {
        RunEntry::Ended { outcome, .. } => Some(*outcome),
        _ => None,
    });
    let outcome = ended.unwrap();
    let structured = outcome.structured.clone().unwrap_or_default();
    (outcome, structured)
}

#[tokio::test]
async fn a_subagent_works_and_reports() {
    let work = work(
        Preset::Full,
        [
            subagent(json!({ "instruction": "Look." })),
            Line::calls(&[("echo", json!({ "a": 1 })), ("write", json!({}))]),
            Line::say("It says 1."),
            Line::say("Done."),
        ],
    );
    let end = work.say("Go.").await;
    assert_eq!(end.cause, StopCause::Done);
    assert_eq!((end.steps, end.usage.requests), (2, 4));
    let (outcome, report) = report(&work);
    insta::assert_snapshot!(outcome.model_text(), @"
    It says 1.
    [2 requests, 2 calls, 30 tokens]
    ");
    assert_eq!(
        report,
        json!({
            "status": "done", "text": "It says 1.", "is_truncated": false,
            "steps": 2, "calls": 2, "tokens": 30, "micro_usd": 0,
        })
    );
    assert_eq!(ends(&work, "write")[0].0, Entrance::Subagent);
    let asked = work.model.asked();
    assert_eq!(asked[1].messages.len(), 1, "it sees nothing of the conversation");
}

#[tokio::test]
async fn a_subagent_has_a_record_of_its_own_beneath_the_one_it_works_for() {
    let work = work(
        Preset::Full,
        [
            subagent(
                json!({ "instruction": "\nLook around.\nThen report.", "preset": "read-only" }),
            ),
            Line::calls(&[("echo", json!({ "a": 1 }))]),
            Line::say("It says 1."),
            Line::say("Done."),
        ],
    );
    work.say("Go.").await;
    let [child] = work.kept.beneath().try_into().unwrap();
    let entries = child.entries();
    let kinds: Vec<&str> = entries
        .iter()
        .map(|it| match it {
            RunEntry::Began(_) => "began",
            RunEntry::Said(_) => "said",
            RunEntry::Asked { .. } => "asked",
            RunEntry::Replied(_) => "replied",
            RunEntry::Ended { .. } => "ended",
            RunEntry::Stopped(_) => "stopped",
            _ => "something else",
        })
        .collect();
    let expected = ["began", "said", "asked", "replied", "ended", "asked", "replied", "stopped"];
    assert_eq!(kinds, expected);
    let RunEntry::Began(facts) = &entries[0] else { panic!() };
    assert_eq!((&*facts.title, &*facts.preset), ("Look around.", "full and read-only"));
    let journalled = work.rig.journal.entries();
    let intent = |name: &str| {
        journalled.iter().find_map(|it| match it {
            Journalled::Intent(it) if it.tool.as_ref().is_ok_and(|it| it.name() == name) => {
                Some(it)
            }
            _ => None,
        })
    };
    let (above, its) = (intent("subagent").unwrap(), intent("echo").unwrap());
    assert_eq!(facts.parent, Some(above.call));
    // Its calls are calls of the run above, and carry its branch.
    assert_eq!((its.caller.run, its.caller.branch), (above.caller.run, facts.branch));
    assert_ne!(facts.run, above.caller.run);
}

#[tokio::test]
async fn a_subagent_that_cannot_be_put_on_record_is_not_started() {
    #[derive(Debug)]
    struct Flat(Arc<dyn haft_session::Keeper>);
    impl haft_session::Keeper for Flat {
        fn keep<'a>(
            &'a self,
            entry: &'a RunEntry,
        ) -> BoxFuture<'a, Result<(), haft_session::KeeperError>> {
            self.0.keep(entry)
        }
        fn begin_beneath(
            &self,
            _: haft_protocol::RunFacts,
        ) -> BoxFuture<'_, Result<Arc<dyn haft_session::Keeper>, haft_session::KeeperError>>
        {
            let text = "the disk is full".to_owned();
            Box::pin(async { Err(haft_session::KeeperError { text, source: None }) })
        }
    }
    let lines = [subagent(json!({ "instruction": "Look." })), Line::say("Then not.")];
    let work = work(Preset::Full, lines);
    let kept = work.branch.turn().await.parts.keeper.clone();
    work.branch.turn().await.parts.keeper = Arc::new(Flat(kept));
    assert_eq!(work.say("Go.").await.cause, StopCause::Done);
    insta::assert_snapshot!(
        report(&work).0.model_text(),
        @"failed (unavailable): a subagent that is not on record is not started: the disk is full"
    );
}

#[tokio::test]
async fn a_subagent_in_a_narrower_root_is_told_so_and_held_to_it() {
    let work = work(
        Preset::Full,
        [
            subagent(json!({ "instruction": "Write.", "root": "./src//app/" })),
            Line::calls(&[
                ("write", json!({})),
                ("echo", json!({})),
                ("subagent", json!({ "instruction": "Write for me." })),
            ]),
            Line::say("I may not."),
            Line::say("Done."),
        ],
    );
    work.say("Go.").await;
    let RunEntry::Began(facts) = work.kept.beneath()[0].entries()[0].clone() else { panic!() };
    assert_eq!(facts.within.unwrap().as_str(), "src/app");
    // What does not say which files it changes could change any.
    let denied = |outcome: &Outcome| matches!(outcome.status, Status::Denied(_));
    assert!(denied(&ends(&work, "write")[0].1));
    assert!(denied(&ends(&work, "subagent")[1].1));
    assert!(ends(&work, "echo")[0].1.is_ok());
    assert!(work.told_in(1).contains("you are confined to `src/app`"), "{}", work.told_in(1));

    for root in ["..", "src/../..", "/etc", "~", "a\u{0}/../b"] {
        let lines = [subagent(json!({ "instruction": "Look.", "root": root })), Line::say("No.")];
        let work = self::work(Preset::Full, lines);
        work.say("Go.").await;
        assert!(report(&work).0.model_text().contains("invalid_arguments"), "{root}");
        assert!(work.kept.beneath().is_empty());
    }
}

#[tokio::test]
async fn o_107_a_subagent_may_not_do_what_its_parent_may_not() {
    // A parent that may only look, and asks for more.
    for preset in [json!("full"), json!("edit"), Value::Null] {
        let mut arguments = json!({ "instruction": "Write." });
        if !preset.is_null() {
            arguments["preset"] = preset;
        }
        let work = work(Preset::ReadOnly, [subagent(arguments), Line::say("I may not.")]);
        work.say("Go.").await;
        let (outcome, _) = report(&work);
        assert!(matches!(outcome.status, Status::Denied(_)), "{outcome:?}");
    }
    // One that only looks may be started, and may only look.
    let work = work(
        Preset::ReadOnly,
        [
            subagent(json!({ "instruction": "Write.", "preset": "read-only" })),
            Line::calls(&[("write", json!({})), ("echo", json!({}))]),
            Line::say("I may not."),
            Line::say("It may not."),
        ],
    );
    work.say("Go.").await;
    let (entrance, written) = &ends(&work, "write")[0];
    assert_eq!(*entrance, Entrance::Subagent);
    assert!(matches!(written.status, Status::Denied(_)));
    assert!(ends(&work, "echo")[0].1.is_ok());
}

#[tokio::test]
async fn o_107_what_was_narrowed_stays_narrow_two_levels_down() {
    let work = work(
        Preset::Full,
        [
            subagent(json!({ "instruction": "Look.", "preset": "read-only" })),
            subagent(json!({ "instruction": "Write.", "preset": "full" })),
            subagent(json!({ "instruction": "Look on.", "preset": "read-only" })),
            Line::calls(&[
                ("write", json!({})),
                ("subagent", json!({ "instruction": "Deeper.", "preset": "read-only" })),
            ]),
            Line::say("No."),
            Line::say("No."),
            Line::say("No."),
        ],
    );
    work.say("Go.").await;
    assert!(matches!(ends(&work, "write")[0].1.status, Status::Denied(_)));
    let subagents = ends(&work, "subagent");
    // In the order in which they were asked for: the first, what it may not, and what it may. One that would be too deep
    // is none of them: who is not shown the tool cannot call it.
    assert_eq!(subagents.len(), 3, "{subagents:#?}");
    let denied = &subagents[1].1;
    assert!(matches!(denied.status, Status::Denied(_)), "{denied:?}");
    let asked = work.model.asked();
    let told = format!("{:?}", asked[4].messages);
    assert!(told.contains("there is no tool `subagent`"), "{told}");
    let shown =
        |request: usize| asked[request].tools.iter().any(|it| it.name.as_str() == "subagent");
    assert_eq!([shown(0), shown(1), shown(3)], [true, true, false]);
}

#[tokio::test]
async fn o_107_there_is_no_way_out_of_the_roots() {
    for key in ["cwd", "root"] {
        let work = work(
            Preset::Full,
            [subagent(json!({ "instruction": "Look.", key: "/etc" })), Line::say("No.")],
        );
        work.say("Go.").await;
        let (outcome, _) = report(&work);
        assert!(outcome.model_text().contains(key), "{}", outcome.model_text());
        assert!(!outcome.is_ok());
    }
}

#[tokio::test]
async fn o_108_a_subagent_that_was_not_done_is_no_success() {
    let overloaded =
        || Line::Error(ModelError::new(ModelErrorKind::Overloaded, "overloaded (529)"));
    let found = || {
        let mut line = Line::calls(&[("echo", json!({ "a": 1 }))]);
        if let Line::Reply(finished) = &mut line {
            let text = "I found the first half.".to_owned();
            finished.parts.insert(0, haft_protocol::ReplyPart::Text { text, opaque: None });
        }
        line
    };
    let cases: [(&str, Value, Vec<Line>); 3] = [
        ("model_failed", json!({}), vec![found(), overloaded()]),
        ("limit", json!({ "steps": 1 }), vec![found()]),
        ("silent", json!({}), vec![Line::say(""), Line::say(" ")]),
    ];
    for (status, more, lines) in cases {
        let mut arguments = json!({ "instruction": "Look." });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let lines = [subagent(arguments)].into_iter().chain(lines).chain([Line::say("I see.")]);
        let work = work(Preset::Full, lines);
        assert_eq!(work.say("Go.").await.cause, StopCause::Done);
        let (outcome, report) = report(&work);
        assert!(matches!(outcome.status, Status::Failed(_)), "{status}: {outcome:?}");
        assert_eq!(report["status"], status);
        assert!(report["steps"].as_u64() >= Some(1));
        let text = outcome.model_text();
        assert!(text.contains("the subagent did not finish"), "{text}");
        assert!(status == "silent" || text.contains("I found the first half."), "{text}");
        assert!(work.results(work.model.asked().len() - 1)[0].is_error);
    }
}

#[tokio::test]
async fn o_108_a_long_report_says_that_it_goes_on() {
    let lines = [
        subagent(json!({ "instruction": "Look." })),
        Line::say(&"ü".repeat(500_000)),
        Line::say("Done."),
    ];
    let work = work(Preset::Full, lines);
    work.say("Go.").await;
    let (outcome, report) = report(&work);
    assert_eq!(report["is_truncated"], true);
    assert!(report["text"].as_str().unwrap().len() <= 16 * 1024);
    assert!(outcome.model_text().contains("its text goes on"));
}

#[tokio::test]
async fn o_108_an_interrupted_subagent_is_cancelled_and_hands_over_what_it_has() {
    let lines = [subagent(json!({ "instruction": "Look." })), Line::Hang("I begin".to_owned())];
    let work = work(Preset::Full, lines);
    let cancel = async {
        while work.model.asked().len() < 2 {
            tokio::task::yield_now().await;
        }
        work.options.cancellation.cancel();
    };
    let (end, ()) = tokio::join!(work.say("Go."), cancel);
    assert_eq!(end.cause, StopCause::Interrupted { by: None });
    let (outcome, report) = report(&work);
    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(report["status"], "interrupted");
}

#[tokio::test]
async fn what_a_subagent_takes_counts_for_all_above_it() {
    let mut lines = vec![subagent(json!({ "instruction": "Look.", "steps": 50 }))];
    lines.extend((0..200).map(|it| Line::calls(&[("echo", json!({ "a": "x".repeat(it) }))])));
    let mut work = work(Preset::Full, lines);
    work.options.limits.tokens = NonZeroU64::new(1_500);
    let end = work.say("Go.").await;
    assert_eq!(end.cause, StopCause::Limit { limit: RunLimit::Tokens, allowed: 1_500 });
    // Each request takes 15, and none is made whose prompt does not fit into what is left.
    assert!(end.usage.tokens() <= 1_500, "{end:?}");
    let (_, report) = report(&work);
    assert_eq!(report["status"], "limit");
    let steps = report["steps"].as_u64().unwrap();
    assert!(steps > 1);
    assert_eq!(end.usage.tokens(), 15 * (end.steps + steps));
}

#[tokio::test]
async fn who_watches_sees_a_subagent_at_work() {
    let mut work = work(
        Preset::Full,
        [subagent(json!({ "instruction": "Look." })), Line::say("Seen."), Line::say("Done.")],
    );
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&seen);
    work.options.watcher = Watcher::new(move |event| {
        if let RunEvent::Subagent { what, .. } = event {
            all.lock().unwrap().push(format!("{what:?}").chars().take(5).collect());
        }
    });
    work.say("Go.").await;
    assert_eq!(*seen.lock().unwrap(), ["Asked", "Text ", "Repli", "Stopp"]);
}

#[tokio::test]
async fn what_a_model_reads_of_the_tool() {
    let work = work(Preset::Full, [Line::say("Done.")]);
    work.say("Go.").await;
    let asked = work.model.asked();
    let tool = asked[0].tools.iter().find(|it| it.name.as_str() == "subagent").unwrap();
    insta::assert_snapshot!(tool.description, @"
    Lets another model work on a part of the task, on its own, and returns its report.

    It starts with nothing but your instruction: it sees none of this conversation, so write down all it has to know, name files by their paths, and say what the report should hold. It has your tools and works in the same files; it may never do more than you may. Use it where much has to be read to find out little, or where a part can be done apart from the rest. What it takes counts against your own limits.
    ");
    insta::assert_snapshot!(serde_json::to_string_pretty(&*tool.schema).unwrap(), @r#"
    {
      "type": "object",
      "description": "The arguments of `subagent`.",
      "properties": {
        "instruction": {
          "type": "string",
          "description": "What it is to do, with all it has to know: paths, names, what was found out so far, and what its report should hold."
        },
        "preset": {
          "type": "string",
          "description": "What it may do at most, where that is less than what you may. Leave it out to let it do what you may. Where you may only look, it has to be `read-only`.",
          "enum": [
            "read-only",
            "edit",
            "full"
          ]
        },
        "root": {
          "type": "string",
          "description": "A directory, relative to the first root, that it is confined to: it reads and changes nothing outside, and runs no programs. Leave it out to let it work where you do.",
          "maxLength": 1000
        },
        "steps": {
          "type": "integer",
          "description": "How often its model may be asked.",
          "minimum": 1,
          "maximum": 50
        }
      },
      "required": [
        "instruction"
      ],
      "additionalProperties": false
    }
    "#);
}
