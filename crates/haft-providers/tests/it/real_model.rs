//! A real model behind a real server, where the parts for one are there.

use std::num::NonZeroU32;
use std::sync::Arc;

use haft_model::{ChatModel, Dialect};
use haft_protocol::ReplyPart;
use haft_providers::{Address, EndpointRegistry, Known, Wanted, discover};
use haft_testkit::ModelServer;

use crate::asked::{all, asking, dialer, user};

const DIALECTS: [Dialect; 3] = [Dialect::ChatCompletions, Dialect::Responses, Dialect::Messages];

fn model(server: &ModelServer, dialect: Dialect) -> Arc<dyn ChatModel> {
    let path = if dialect == Dialect::Messages { "/" } else { "/v1" };
    let wanted = Wanted {
        provider: "llama.cpp".to_owned(),
        dialect: Some(dialect),
        address: Address::parse(&server.url(path)).ok(),
        ..Wanted::default()
    };
    let id = haft_protocol::ModelId::new("llamacpp", server.weights().name()).unwrap();
    let endpoint = EndpointRegistry::default().find(wanted).unwrap();
    endpoint.model(id, Known::default(), dialer()).unwrap()
}

#[tokio::test]
async fn it_says_something_and_counts_it() {
    let Some(server) = ModelServer::shared() else { return };
    for dialect in DIALECTS {
        let mut request = asking(vec![user("Name three colours.")]);
        (request.tools, request.sampling.temperature) = ([].into(), Some(0.0));
        request.sampling.output_tokens = NonZeroU32::new(24);
        let (finished, shown) = all(&*model(server, dialect), request).await.unwrap();
        assert!(matches!(&finished.parts[0], ReplyPart::Text { text, .. } if !text.is_empty()));
        assert!(shown.len() > 1, "{dialect:?} streams");
        assert!(finished.usage.total().is_some_and(|total| total > 10), "{:?}", finished.usage);
    }
}

#[tokio::test]
async fn o_096_what_is_too_long_for_it_is_told() {
    let Some(server) = ModelServer::shared() else { return };
    for dialect in DIALECTS {
        let request = asking(vec![user(&"word ".repeat(6_000))]);
        let error = all(&*model(server, dialect), request).await.unwrap_err();
        assert_eq!(error.kind, haft_model::ModelErrorKind::Overflow, "{}", error.text);
        assert_eq!(error.window_tokens, Some(4096));
    }
}

#[tokio::test]
async fn it_is_found_with_its_window() {
    let Some(server) = ModelServer::shared() else { return };
    let port = Address::parse(&server.url("/")).unwrap().port();
    let found = discover(&dialer(), &[port]).await;
    assert_eq!(found[0].models[0].name, server.weights().name());
    assert_eq!(found[0].models[0].window_tokens, Some(4096));
}
