//! From names to endpoints.

use haft_model::Dialect;
use haft_providers::{Address, EndpointError, EndpointRegistry, Known, Provider, Quirks, Wanted};

use crate::asked::dialer;

fn wanted(provider: &str) -> Wanted {
    Wanted { provider: provider.to_owned(), ..Wanted::default() }
}

#[test]
fn a_name_or_alias_that_is_registered_is_never_rejected() {
    let registry = EndpointRegistry::default();
    let dialects =
        [Dialect::ChatCompletions, Dialect::Responses, Dialect::Messages, Dialect::Gemini];
    for provider in registry.providers() {
        for name in std::iter::once(&provider.name).chain(&provider.aliases) {
            for name in [name.clone(), name.to_uppercase()] {
                let usual = registry.find(wanted(&name)).unwrap();
                assert_eq!(usual.provider, provider.name);
                assert_eq!(usual.dialect, provider.dialects[0].0);
                for dialect in dialects {
                    let endpoint =
                        registry.find(Wanted { dialect: Some(dialect), ..wanted(&name) }).unwrap();
                    assert_eq!(
                        (endpoint.provider, endpoint.dialect),
                        (provider.name.clone(), dialect)
                    );
                }
            }
        }
    }
}

#[test]
fn a_name_that_nobody_registered_is_told_with_all_that_are() {
    let error = EndpointRegistry::default().find(wanted("opnai")).unwrap_err();
    insta::assert_snapshot!(error, @"no provider is called `opnai`: there are `openai`, `anthropic`, `gemini`, `openrouter`, `deepseek`, `mistral`, `moonshot`, `groq`, `xai`, `llamacpp`, `ollama`, `vllm`, `lmstudio`. If it is a server that speaks like OpenAI's, give its address");
}

#[test]
fn a_server_that_nobody_registered_is_taken_for_compatible_where_somebody_says_so() {
    let registry = EndpointRegistry::default();
    let address = Address::parse("http://127.0.0.1:9000/v1").ok();
    let endpoint = registry.find(Wanted { address: address.clone(), ..wanted("box") }).unwrap();
    assert_eq!((endpoint.dialect, endpoint.quirks), (Dialect::ChatCompletions, Quirks::default()));
    let both = Wanted { address, is_compatible: true, ..wanted("box") };
    assert!(registry.find(both).is_ok());
    let without = registry.find(Wanted { is_compatible: true, ..wanted("box") }).unwrap_err();
    assert_eq!(without, EndpointError::NoAddress { provider: "box".to_owned() });
}

#[test]
fn names_are_registered_once() {
    let mut registry = EndpointRegistry::empty();
    let provider = |name: &str, alias: &str| Provider {
        name: name.to_owned(),
        aliases: vec![alias.to_owned()],
        dialects: vec![(Dialect::ChatCompletions, "https://a.example/v1".to_owned())],
        key_variables: Vec::new(),
        address_variables: Vec::new(),
        quirks: Quirks::default(),
        last_verified: "2026-11-30".to_owned(),
        source: "a test".to_owned(),
    };
    registry.register(provider("a", "b")).unwrap();
    assert!(registry.find(wanted("B")).is_ok());
    let taken = registry.register(provider("c", "A")).unwrap_err();
    insta::assert_snapshot!(taken, @"the name `A` of the provider `c` is taken by `a`");
    let mute = Provider { dialects: Vec::new(), ..provider("d", "e") };
    assert!(registry.register(mute).is_err());
}

#[test]
fn every_row_of_the_table_can_be_used() {
    let registry = EndpointRegistry::default();
    for provider in registry.providers() {
        assert!(!provider.source.is_empty() && provider.last_verified.len() == 10);
        for (dialect, _) in &provider.dialects {
            let endpoint = registry
                .find(Wanted { dialect: Some(*dialect), ..wanted(&provider.name) })
                .unwrap();
            assert!(endpoint.address.is_encrypted() || endpoint.address.is_loopback());
            let id = haft_protocol::ModelId::new(&provider.name, "m").unwrap();
            let model = endpoint.model(id, Known::default(), dialer());
            assert!(!format!("{:?}", model.unwrap()).contains("key: Some"));
        }
    }
}
