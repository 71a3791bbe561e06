//! A real model behind a real server, where the parts for one are there.

use std::num::NonZeroU32;
use std::sync::Arc;

use haft_model::{Dialect, Fragment, Request, RequestMessage, ToolChoice};
use haft_protocol::{ContentPart, ReplyPart};
use haft_providers::{Address, Endpoint, EndpointRegistry, Known, RemoteModel, Wanted, discover};
use haft_testkit::ModelServer;
use serde_json::json;

use crate::asked::{all, asking, dialer, reply, results, tools, user};

const DIALECTS: [Dialect; 3] = [Dialect::ChatCompletions, Dialect::Responses, Dialect::Messages];

fn endpoint(server: &ModelServer, dialect: Dialect) -> Endpoint {
    let path = if dialect == Dialect::Messages { "/" } else { "/v1" };
    let wanted = Wanted {
        provider: "llama.cpp".to_owned(),
        dialect: Some(dialect),
        address: Address::parse(&server.url(path)).ok(),
        ..Wanted::default()
    };
    EndpointRegistry::default().find(wanted).unwrap()
}

fn model(server: &ModelServer, endpoint: Endpoint) -> RemoteModel {
    let id = haft_protocol::ModelId::new("llamacpp", server.weights().name()).unwrap();
    endpoint.model(id, Known::default(), dialer()).unwrap()
}

#[tokio::test]
async fn it_says_something_and_counts_it() {
    let Some(server) = ModelServer::shared() else { return };
    for dialect in DIALECTS {
        let mut request = asking(vec![user("Name three colours.")]);
        (request.tools, request.sampling.temperature) = ([].into(), Some(0.0));
        request.sampling.output_tokens = NonZeroU32::new(24);
        let (finished, shown) =
            all(&model(server, endpoint(server, dialect)), request).await.unwrap();
        assert!(matches!(&finished.parts[0], ReplyPart::Text { text, .. } if !text.is_empty()));
        assert!(shown.len() > 1, "{dialect:?} streams");
        assert!(finished.usage.total().is_some_and(|total| total > 10), "{:?}", finished.usage);
    }
}

#[tokio::test]
async fn a_call_goes_there_and_back() {
    let Some(server) = ModelServer::shared() else { return };
    for dialect in DIALECTS {
        let mut endpoint = endpoint(server, dialect);
        // Where it may ask for several calls, a model this small does not end.
        endpoint.quirks.parallel = false;
        let model = model(server, endpoint);
        // The words of a request that this model is known to answer with a call.
        let mut tool = tools()[1].clone();
        tool.name = haft_protocol::WireName::new("read_file").unwrap();
        tool.schema = Arc::new(json!({
            "type": "object",
            "properties": {"path": {"type": "string", "enum": ["notes/todo.txt"]}},
            "required": ["path"],
            "additionalProperties": false,
        }));
        let question = || user("Read notes/todo.txt");
        let mut request = Request { system: "".into(), ..asking(vec![question()]) };
        (request.tools, request.choice) = ([tool].into(), ToolChoice::Required);
        request.sampling.output_tokens = NonZeroU32::new(96);
        request.sampling.temperature = Some(0.0);
        let (finished, _) = all(&model, request.clone()).await.unwrap();
        let Some(ReplyPart::Call(call)) = finished.parts.last() else {
            panic!("{dialect:?}: {finished:?}")
        };
        assert!(call.is_whole && call.tool == "read_file", "{dialect:?}: {finished:?}");
        let id = call.provider_id.clone().unwrap();

        // The server takes its own reply back, with what came of the call.
        let said = reply(finished.parts.clone());
        request.messages = vec![question(), said, results(&[(&id, "buy milk")])].into();
        request.choice = ToolChoice::None;
        request.sampling.output_tokens = NonZeroU32::new(12);
        let (finished, _) = all(&model, request.clone()).await.unwrap();
        assert!(finished.usage.output.is_some_and(|it| it > 0), "{dialect:?}: {finished:?}");

        // And what it said itself, with a question behind it.
        let then = ["And then?", "What else?"].map(ContentPart::text);
        let then = Fragment::new(RequestMessage::User(then.into()));
        request.messages.extend([reply(finished.parts), then]);
        let (finished, _) = all(&model, request).await.unwrap();
        assert!(finished.usage.prompt().is_some_and(|it| it > 100), "{dialect:?}: {finished:?}");
    }
}

#[tokio::test]
async fn o_096_what_is_too_long_for_it_is_told() {
    let Some(server) = ModelServer::shared() else { return };
    for dialect in DIALECTS {
        let request = asking(vec![user(&"word ".repeat(6_000))]);
        let error = all(&model(server, endpoint(server, dialect)), request).await.unwrap_err();
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
