//! Replies in Chat Completions.

use haft_model::{Dialect, ModelErrorKind};
use proptest::prelude::*;

use crate::asked::{self, asking, played, shown, told, user};
use crate::server::Answer;

async fn reply_of(name: &str) -> String {
    asked::reply_of(Dialect::ChatCompletions, Answer::cassette(name)).await
}

async fn error_of(answer: Answer) -> haft_model::ModelError {
    asked::error_of(Dialect::ChatCompletions, answer).await
}

#[tokio::test]
async fn what_a_real_server_says_is_read() {
    insta::assert_snapshot!(reply_of("chat-plain.recorded.sse").await, @r#"
text "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
end {"input":38,"output":30} qwen25coder15b.gguf
"#);
    insta::assert_snapshot!(reply_of("chat-call.recorded.sse").await, @r#"
call DztJRYRmtjhoQNlQRA2hAzL8Dw2x9rc0 read_file {"path":"notes/todo.txt","max_lines":10}
calls {"input":333,"output":40} qwen25coder15b.gguf
"#);
}

#[tokio::test]
async fn calls_at_once_are_put_together_and_shown_as_they_come() {
    let answer = Answer::cassette("chat-parallel.authored.sse");
    let (finished, parts) =
        played(Dialect::ChatCompletions, answer, asking(vec![user("x")])).await.unwrap();
    insta::assert_snapshot!(told(&finished), @r#"
call call_a read {"path": "a"}
call call_b read {"path": "b"}
calls {"input":20,"cache_read":100,"output":30,"reasoning":0} m-1
"#);
    insta::assert_snapshot!(shown(&parts).join("\n"), @r#"
call 0 read: 
arguments 0: {"path"
call 1 read: 
arguments 1: {"path": "b"}
arguments 0: : "a"}
"#);
}

#[tokio::test]
async fn o_082_calls_of_a_reply_that_its_length_has_cut_are_not_whole() {
    insta::assert_snapshot!(reply_of("chat-length.authored.sse").await, @r#"
call call_a read {"path":"a"} (not whole)
call call_b write {"path":"b","content":"line1\nli (not whole)
length {"input":12,"output":64} m-1
"#);
    insta::assert_snapshot!(reply_of("chat-capped.authored.sse").await, @r#"
call call_a write {"path":"b","content":"line1"} (not whole)
length {"input":12,"output":64} m-1
"#);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error() {
    let error = error_of(Answer::cassette("chat-cut.authored.sse")).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::CutShort, true));
    let mut broken = Answer::cassette("chat-cut.authored.sse");
    broken.plays.pop();
    let error = error_of(broken).await;
    assert_eq!((error.kind, error.began), (ModelErrorKind::Transport, true));
}

#[tokio::test]
async fn o_088_errors_inside_a_200_are_errors() {
    let first = error_of(Answer::cassette("chat-error-first.authored.sse")).await;
    assert_eq!(
        (first.kind, first.status, first.began),
        (ModelErrorKind::RateLimited, Some(429), false)
    );
    let later = error_of(Answer::cassette("chat-error-later.authored.sse")).await;
    assert_eq!((later.kind, later.began), (ModelErrorKind::Server, true));
    assert!(later.text.ends_with("answers 502: Provider disconnected"), "{}", later.text);
}

#[tokio::test]
async fn o_088_a_refusal_says_when_to_come_back() {
    let error = error_of(Answer::cassette("chat-429.authored.json")).await;
    assert_eq!(error.kind, ModelErrorKind::RateLimited);
    assert_eq!(error.retry_after, Some(std::time::Duration::from_secs(3)));
    assert!(!error.began);
}

#[tokio::test]
async fn o_096_an_overflow_inside_a_stream_is_one() {
    let event = r#"data: {"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 33000 tokens"}}"#;
    let error = error_of(Answer::stream(&format!("{event}\n\n"))).await;
    assert_eq!((error.kind, error.window_tokens), (ModelErrorKind::Overflow, Some(32768)));
}

#[tokio::test]
async fn reasoning_is_kept_in_the_fields_it_came_in() {
    insta::assert_snapshot!(reply_of("chat-reasoning.authored.sse").await, @r#"
reasoning "First “look” at it." = {"reasoning_content":"First “look” at it."}
text "Looking."
call call_a read {"path":"a"}
calls {"input":6,"cache_read":4,"output":9,"reasoning":5} m-1
"#);
    insta::assert_snapshot!(reply_of("chat-details.authored.sse").await, @r#"
reasoning "Hm." = {"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln","index":0}]}
text "Yes."
end {} m-1
"#);
}

#[tokio::test]
async fn o_086_every_shape_of_content_and_arguments_is_read() {
    insta::assert_snapshot!(reply_of("chat-shapes.authored.sse").await, @r#"
text "One moment."
call c1 read {"path":"a"}
call c2 list {}
calls {"input":11,"output":7} m-1
"#);
    insta::assert_snapshot!(reply_of("chat-whole.authored.json").await, @r#"
text "Both."
call - read {"path":"a"}
call - read {"path":"b"}
calls {"input":12,"output":7} m-1
"#);
}

#[tokio::test]
async fn o_083_a_stream_with_halves_of_pairs_is_read() {
    insta::assert_snapshot!(reply_of("chat-halves.authored.sse").await, @r#"
text "so 😀 and � x"
call c1 find {"q":"� x"}
calls {} -
"#);
}

#[tokio::test]
async fn what_is_no_dialect_is_told() {
    let page = error_of(Answer::of("200 OK", "text/html; charset=utf-8", "<html>")).await;
    assert_eq!(page.kind, ModelErrorKind::Malformed);
    assert!(page.text.contains("is the address right?"), "{}", page.text);
    let broken = error_of(Answer::stream("data: {\"choices\":\n\ndata: [DONE]\n\n")).await;
    assert_eq!(broken.kind, ModelErrorKind::Malformed);
    let empty = error_of(Answer::stream("")).await;
    assert_eq!(empty.kind, ModelErrorKind::CutShort);
    let deep = format!("data: {}\n\n", "[".repeat(100_000));
    assert_eq!(error_of(Answer::stream(&deep)).await.kind, ModelErrorKind::Malformed);
}

#[tokio::test]
async fn errors_hold_no_credentials() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-very-secret-1234"}}"#;
    let error = error_of(Answer::of("401 Unauthorized", "application/json", body)).await;
    assert_eq!(error.kind, ModelErrorKind::Credentials);
    assert!(
        error.text.ends_with("answers 401: Incorrect API key provided: [secret]"),
        "{}",
        error.text
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut answer = Answer::of("307 Temporary Redirect", "text/plain", "");
    answer.head.push_str("location: https://elsewhere.example/v1?key=1\r\n");
    let error = error_of(answer).await;
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(error.text.contains("points to https://elsewhere.example/v1:"), "{}", error.text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn where_a_stream_is_cut_changes_nothing(
        name in prop::sample::select(vec![
            "chat-parallel.authored.sse", "chat-halves.authored.sse", "chat-call.recorded.sse",
            "chat-reasoning.authored.sse",
        ]),
        cuts in prop::collection::vec(any::<usize>(), 0..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let request = || asking(vec![user("x")]);
            let whole = played(Dialect::ChatCompletions, Answer::cassette(name), request()).await.unwrap();
            let cut = Answer::cassette(name).cut(&cuts);
            let cut = played(Dialect::ChatCompletions, cut, request()).await.unwrap();
            prop_assert_eq!(told(&cut.0), told(&whole.0));
            prop_assert_eq!(cut.1, whole.1);
            Ok(())
        })?;
    }
}
