use std::sync::Arc;

use haft_model::{ChatModel, Dialect, ModelError, ModelErrorKind, ModelFacts, Request, ToolSpec};
use haft_protocol::{ContentPart, ImageType, Outcome, TokenUsage, UserMessage, WireName};
use haft_session::{Gauge, Level};
use haft_testkit::ScriptedModel;
use serde_json::json;

use crate::talk::{self, Talk, at};

fn facts(window: Option<u64>) -> ModelFacts {
    let facts = ScriptedModel::new([]).facts().clone();
    ModelFacts { window_tokens: window, dialect: Dialect::ChatCompletions, ..facts }
}

fn counted(prompt: u64) -> TokenUsage {
    TokenUsage { input: Some(prompt), output: Some(10), ..TokenUsage::default() }
}

fn saying(text: &str) -> Arc<Request> {
    let mut talk = Talk::default();
    talk.say(text);
    talk::request(&talk.transcript)
}

#[test]
fn o_095_reports_that_cannot_be_change_nothing() {
    let mut gauge = Gauge::new(&facts(Some(262_000)));
    let request = saying(&"some words of a prompt ".repeat(500));
    let before = gauge.of(&request);
    for absurd in [25_000_000, 0, 262_001] {
        assert_eq!(gauge.report(&counted(absurd)), None);
        assert_eq!(gauge.of(&request), before);
    }
    assert_eq!(gauge.report(&TokenUsage::default()), None);
    assert_eq!((gauge.of(&request), gauge.reported()), (before, None));
    let doubtful = TokenUsage { doubtful: true, ..counted(2_000) };
    assert_eq!(gauge.report(&doubtful), None);
    assert_eq!(gauge.of(&request), before);
}

#[test]
fn o_095_what_was_reported_counts_and_what_came_since_is_added() {
    let mut gauge = Gauge::new(&facts(Some(100_000)));
    let mut talk = Talk::default();
    talk.say(&"some words of a prompt ".repeat(1_000));
    let first = gauge.of(&talk::request(&talk.transcript));
    let real = first.estimated * 2 / 3;
    assert_eq!(gauge.report(&counted(real)), None);
    assert_eq!(gauge.of(&talk::request(&talk.transcript)).tokens, real);
    assert_eq!(gauge.reported(), Some(real + 10));
    talk.step(&[Outcome::ok("word ".repeat(1_000))]);
    let second = gauge.of(&talk::request(&talk.transcript));
    assert_eq!(second.tokens, real + (second.estimated - first.estimated));
    assert!(second.estimated - first.estimated >= 1_000);
}

#[test]
fn o_095_schemas_images_and_dense_texts_are_counted() {
    let level = |request: &Request| Gauge::new(&facts(Some(200_000))).of(request);
    let small = level(&saying("go"));
    let tools: Vec<ToolSpec> = (0..60)
        .map(|it| ToolSpec {
            name: WireName::new(&format!("tool_{it}")).unwrap(),
            description: "Does something with a file that is named.".into(),
            schema: Arc::new(json!({"type": "object", "properties": {"path": {"type": "string"}}})),
        })
        .collect();
    let with_tools = Request { tools: tools.into(), ..(*saying("go")).clone() };
    assert!(level(&with_tools).tokens > small.tokens + 60 * 30);
    let mut talk = Talk::default();
    let image = ContentPart::Image { media_type: ImageType::Png, data: Arc::from(*b"png") };
    let content = vec![image; 5];
    let id = talk.message_id();
    talk.transcript.say(UserMessage { id, at: at(), content, notices: Vec::new() }).unwrap();
    assert!(level(&talk::request(&talk.transcript)).tokens > 5 * 1_000);
    // A hundred thousand bytes are some 25 000 tokens by a rule of thumb, and more than that in truth.
    assert!(level(&saying(&"的一是不了人我在有他".repeat(3_334))).tokens > 30_000);
    assert!(level(&saying(&r#"{"a":1,"b":[2,3],"c":"d"},"#.repeat(4_000))).tokens > 40_000);
}

#[test]
fn o_091_a_server_that_leaves_out_the_beginning_is_noticed_and_the_setting_is_named() {
    let mut gauge = Gauge::new(&facts(Some(40_960)));
    let request = saying(&"some words of a prompt ".repeat(3_000));
    let level = gauge.of(&request);
    assert!(level.estimated >= 15_000);
    let notice = gauge.report(&counted(2_051)).unwrap();
    insta::assert_snapshot!(notice.text.replace(&level.estimated.to_string(), "15000"), @r#"the server counted 2051 tokens of a prompt of about 15000, so it may leave out the beginning without saying so. Give the model a larger context on the server (`OLLAMA_CONTEXT_LENGTH` for Ollama, `--ctx-size` for llama.cpp), or set `window_tokens = 2051` in `[models."scripted/model"]`, so that older messages are summarised in time"#);
    // It is said once, and what was counted is not believed.
    gauge.of(&request);
    assert_eq!(gauge.report(&counted(2_051)), None);
    assert_eq!(gauge.of(&request).tokens, level.tokens);
}

#[test]
fn o_091_a_count_that_does_not_grow_with_the_prompt_is_noticed() {
    let mut gauge = Gauge::new(&facts(Some(40_960)));
    let mut talk = Talk::default();
    talk.say(&"word ".repeat(4_000));
    let first = gauge.of(&talk::request(&talk.transcript));
    assert_eq!(gauge.report(&counted(4_090)), None);
    assert!(first.estimated < 4 * 4_096);
    talk.step(&[Outcome::ok("word ".repeat(4_000))]);
    let second = gauge.of(&talk::request(&talk.transcript));
    assert!(second.estimated < 4 * 4_096, "by the ratio alone it is not seen");
    assert!(gauge.report(&counted(4_091)).is_some());
    assert!(gauge.of(&talk::request(&talk.transcript)).tokens > 8_000);
}

#[test]
fn o_091_images_that_take_less_than_estimated_mean_nothing() {
    let mut gauge = Gauge::new(&facts(Some(100_000)));
    let mut talk = Talk::default();
    talk.say("What is in these?");
    let before = gauge.of(&talk::request(&talk.transcript));
    assert_eq!(gauge.report(&counted(before.estimated)), None);
    let image = ContentPart::Image { media_type: ImageType::Png, data: Arc::from(*b"png") };
    let mut pictures = Outcome::ok("pictures");
    pictures.content.extend(vec![image; 4]);
    talk.step(&[pictures]);
    let level = gauge.of(&talk::request(&talk.transcript));
    assert!(level.images >= 10_000 && level.estimated - level.images < 2_000);
    assert_eq!(gauge.report(&counted(before.estimated + 400)), None);
}

#[test]
fn a_level_is_over_a_threshold_only_where_the_window_is_known() {
    let level = |tokens, window| Level { tokens, estimated: tokens, images: 0, window, reply: 100 };
    assert!(!level(800, Some(1_000)).is_over(80));
    assert!(level(801, Some(1_000)).is_over(80));
    assert!(!level(u64::MAX, None).is_over(1));
    assert!(level(900, Some(1_000)).fits() && !level(901, Some(1_000)).fits());
    assert!(level(u64::MAX, None).fits());
}

#[test]
fn an_unknown_window_is_learned_from_a_refusal() {
    let mut gauge = Gauge::new(&facts(None));
    insta::assert_snapshot!(gauge.known_window().unwrap_err(), @r#"nobody says how many tokens the window of `scripted/model` has: set `window_tokens` in `[models."scripted/model"]`"#);
    let level = gauge.of(&saying(&"word ".repeat(5_000)));
    gauge.refused(&ModelError::new(ModelErrorKind::Server, "busy"));
    assert_eq!(gauge.window(), None);
    // It said nothing of its window, which is smaller than what it refused.
    gauge.refused(&ModelError::new(ModelErrorKind::Overflow, "too long"));
    assert_eq!(gauge.window(), Some(level.tokens));
    let mut told = ModelError::new(ModelErrorKind::Overflow, "too long");
    told.window_tokens = Some(4_096);
    gauge.refused(&told);
    assert_eq!(gauge.known_window(), Ok(4_096));
    told.window_tokens = Some(1_000_000);
    gauge.refused(&told);
    assert_eq!(gauge.known_window(), Ok(4_096));
}
