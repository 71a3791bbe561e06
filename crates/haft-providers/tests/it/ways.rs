//! Models that want to be asked otherwise than others of their provider.

use haft_model::{ChatModel as _, Dialect, Effort, Request, ToolChoice};
use haft_protocol::ModelId;
use haft_providers::{Address, EndpointRegistry, Known, RemoteModel, Wanted};
use serde_json::Value;

use crate::asked::{asking, dialer, user};

fn wanted(id: &str) -> Wanted {
    let id: ModelId = id.parse().unwrap();
    Wanted { provider: id.provider().to_owned(), model: Some(id), ..Wanted::default() }
}

fn model(id: &str) -> RemoteModel {
    let endpoint = EndpointRegistry::default().find(wanted(id)).unwrap();
    endpoint.model(id.parse().unwrap(), Known::default(), dialer()).unwrap()
}

fn body(id: &str, choice: ToolChoice) -> Value {
    let mut request = Request { choice, ..asking(vec![user("x")]) };
    request.sampling.temperature = Some(0.5);
    request.sampling.effort = Some(Effort::Medium);
    request.sampling.output_tokens = std::num::NonZeroU32::new(20_000);
    serde_json::from_slice(&model(id).body(&request).unwrap()).unwrap()
}

#[test]
fn a_model_that_calls_tools_in_responses_alone_is_asked_in_them_at_its_provider() {
    let registry = EndpointRegistry::default();
    let spoken = |wanted| registry.find(wanted).unwrap().dialect;
    assert_eq!(spoken(wanted("openai/gpt-6.1-sol")), Dialect::Responses);
    assert_eq!(spoken(wanted("gpt/gpt-5.6-terra")), Dialect::Responses);
    assert_eq!(spoken(wanted("openai/gpt-5-mini")), Dialect::ChatCompletions);
    // Who says otherwise is right, and so is who serves it elsewhere.
    let said = Some(Dialect::ChatCompletions);
    assert_eq!(
        spoken(Wanted { dialect: said, ..wanted("openai/gpt-6.1-sol") }),
        Dialect::ChatCompletions
    );
    let address = Address::parse("https://proxy.example/v1").ok();
    let elsewhere = Wanted { address, ..wanted("openai/gpt-6.1-sol") };
    assert_eq!(spoken(elsewhere), Dialect::ChatCompletions);
    let address = Address::parse("https://api.openai.com/v1").ok();
    let there = Wanted { address, ..wanted("openai/gpt-6.1-sol") };
    assert_eq!(spoken(there), Dialect::Responses);
}

#[test]
fn a_call_is_demanded_of_no_model_that_refuses_to_be_told() {
    assert_eq!(
        body("anthropic/claude-sonnet-5", ToolChoice::Required)["tool_choice"]["type"],
        "any"
    );
    assert!(model("anthropic/claude-sonnet-5").facts().calls_on_demand);
    for id in ["anthropic/claude-sonnet-5-5", "deepseek/deepseek-chat"] {
        assert!(body(id, ToolChoice::Required).get("tool_choice").is_none(), "{id}");
        assert!(!model(id).facts().calls_on_demand, "{id}");
    }
}

#[test]
fn how_much_to_think_is_told_in_the_words_of_each_model() {
    let told = |id: &str| {
        let body = body(id, ToolChoice::Auto);
        let fields = ["temperature", "thinking", "output_config", "reasoning_effort", "reasoning"];
        let said = fields.iter().filter_map(|it| Some(format!("{it}={}", body.get(*it)?)));
        format!("{id}: {}", said.collect::<Vec<_>>().join(" "))
    };
    let models = [
        "anthropic/claude-sonnet-5-5",
        "anthropic/claude-opus-4-6",
        "anthropic/claude-opus-4-5",
        "anthropic/claude-haiku-4-5",
        "anthropic/claude-3-haiku",
        "openai/gpt-4.1",
        "openai/gpt-5-mini",
        "openai/gpt-6.1-sol",
    ];
    insta::assert_snapshot!(models.map(told).join("\n"), @r#"
    anthropic/claude-sonnet-5-5: thinking={"type":"adaptive"} output_config={"effort":"medium"}
    anthropic/claude-opus-4-6: thinking={"type":"adaptive"} output_config={"effort":"medium"}
    anthropic/claude-opus-4-5: temperature=0.5 output_config={"effort":"medium"}
    anthropic/claude-haiku-4-5: thinking={"type":"enabled","budget_tokens":8192}
    anthropic/claude-3-haiku: temperature=0.5
    openai/gpt-4.1: temperature=0.5
    openai/gpt-5-mini: reasoning_effort="medium"
    openai/gpt-6.1-sol: reasoning={"effort":"medium"}
    "#);
}
