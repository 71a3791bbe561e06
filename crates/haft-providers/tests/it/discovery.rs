//! Servers on this machine.

use haft_providers::{ServerKind, discover};

use crate::asked::dialer;
use crate::server::{Answer, Play, Server, read};

fn json(body: &str) -> Answer {
    Answer::of("200 OK", "application/json", body)
}

#[tokio::test]
async fn a_real_llama_server_is_known_with_the_window_it_really_has() {
    let server = Server::by_path(|path| match path {
        "/v1/models" => Some(json(&read("recorded-xllamacpp-0.2.11-smollm2-models.json"))),
        "/props" => Some(json(&read("recorded-xllamacpp-0.2.11-smollm2-properties.json"))),
        _ => None,
    })
    .await;
    let found = discover(&dialer(), &[server.port]).await;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].kind.provider()), (ServerKind::LlamaCpp, "llamacpp"));
    assert_eq!(found[0].address.to_string(), format!("http://127.0.0.1:{}/v1", server.port));
    assert_eq!(found[0].models[0].name, "smollm2-135m-instruct");
    assert_eq!(found[0].models[0].window_tokens, Some(4096));
}

#[tokio::test]
async fn o_091_the_window_of_ollama_is_the_one_it_runs_with() {
    let server = Server::by_path(|path| match path {
        "/v1/models" => Some(json(r#"{"data":[{"id":"qwen3:4b","owned_by":"library"},{"id":"set","owned_by":"library"},{"id":"un\nfit"}]}"#)),
        "/api/ps" => Some(json(r#"{"models":[{"name":"qwen3:4b","context_length":4096}]}"#)),
        "/api/show" => Some(json(r#"{"parameters":"num_ctx                        8192\nstop \"x\"","model_info":{"qwen3.context_length":40960}}"#)),
        _ => None,
    })
    .await;
    let found = discover(&dialer(), &[server.port]).await;
    assert_eq!(found[0].kind, ServerKind::Ollama);
    let windows: Vec<_> =
        found[0].models.iter().map(|it| (it.name.as_str(), it.window_tokens)).collect();
    assert_eq!(windows, [("qwen3:4b", Some(4096)), ("set", Some(8192))]);
}

#[tokio::test]
async fn who_answers_something_else_or_nothing_is_not_there() {
    let page = Server::start(Answer::of("200 OK", "text/html", "<html>")).await;
    let silent = Server::start(Answer::stream("").then(Play::Hang)).await;
    let refusing = Server::start(Answer::of("401 Unauthorized", "application/json", "{}")).await;
    let odd = Server::start(json(r#"{"data":7}"#)).await;
    let ports = [page.port, silent.port, refusing.port, odd.port, 1];
    assert!(discover(&dialer(), &ports).await.is_empty());
}
