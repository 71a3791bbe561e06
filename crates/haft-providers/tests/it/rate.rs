//! What providers say in their headers about how much more they take.

use std::sync::Arc;
use std::time::Duration;

use haft_model::{Allowance, ChatModel as _, Dialect, RateFacts};

use crate::asked::{asking, error_of, model, user};
use crate::server::{Answer, Server};

async fn rate(dialect: Dialect, cassette: &str) -> RateFacts {
    let server = Server::start(Answer::cassette(cassette)).await;
    let request = Arc::new(asking(vec![user("x")]));
    let stream = model(dialect, server.port).ask(request).await.unwrap();
    let rate = stream.rate();
    stream.finish().await.unwrap();
    rate
}

fn left(left: u64, limit: u64, seconds: u64) -> Allowance {
    Allowance { left, limit: Some(limit), renewed_in: Duration::from_secs(seconds) }
}

#[tokio::test]
async fn what_is_left_is_told_with_the_reply() {
    let told = rate(Dialect::ChatCompletions, "chat-rate.authored.sse").await;
    let openai =
        RateFacts { requests: Some(left(59, 60, 1)), tokens: Some(left(149_984, 150_000, 360)) };
    assert_eq!(told, openai);
    // Whatever is the scarcest counts.
    let told = rate(Dialect::Messages, "messages-rate.authored.sse").await;
    let anthropic =
        RateFacts { requests: Some(left(49, 50, 2)), tokens: Some(left(29_000, 30_000, 4)) };
    assert_eq!(told, anthropic);
}

#[tokio::test]
async fn o_088_a_refusal_that_does_not_say_how_long_says_when_there_is_something_left() {
    let error =
        error_of(Dialect::ChatCompletions, Answer::cassette("chat-429-reset.authored.json")).await;
    assert_eq!(error.retry_after, Some(Duration::from_secs(20)));
}
