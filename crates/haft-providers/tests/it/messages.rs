//! Replies in Messages.

use haft_model::{Dialect, ModelErrorKind};
use proptest::prelude::*;

use crate::asked::{self, asking, played, shown, told, user};
use crate::server::Answer;

async fn reply_of(name: &str) -> String {
    asked::reply_of(Dialect::Messages, Answer::cassette(name)).await
}

#[tokio::test]
async fn what_a_real_server_says_is_read() {
    insta::assert_snapshot!(reply_of("messages-call.recorded.sse").await, @r#"
call 54uorum8ZilWK8anJdf0fhfw9HJGvNbs read_file {"path":"notes/todo.txt"}
calls {"input":164,"output":31} qwen25coder15b.gguf
"#);
}

#[tokio::test]
async fn o_087_blocks_are_kept_byte_for_byte() {
    let answer = Answer::cassette("messages-thinking.authored.sse");
    let (finished, parts) =
        played(Dialect::Messages, answer, asking(vec![user("x")])).await.unwrap();
    insta::assert_snapshot!(told(&finished), @r#"
reasoning "First “look” at it." = {"type":"thinking","thinking":"First “look” at it.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h+/=="}
opaque = {"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix\/LafPsn4a"}
opaque = {"type":"server_notes", "notes": [1.50, {"b":1e2,"a":null}]}
text "Looking."
call toolu_1 read {"path": "a"}
calls {"input":25,"cache_read":100,"cache_write":10,"output":60} m-2
"#);
    insta::assert_snapshot!(shown(&parts).join("\n"), @r#"
reasoning: First “look” at it.
text: Looking.
call 0 read: 
arguments 0: {"path": "a"}
"#);
    insta::assert_snapshot!(reply_of("messages-empty-thinking.authored.sse").await, @r#"
reasoning "" = {"type":"thinking","thinking":"","signature":"c2ln"}
call toolu_1 list {}
calls {"input":5,"output":9} m-2
"#);
}

#[tokio::test]
async fn o_082_a_call_that_its_length_has_cut_is_not_whole() {
    insta::assert_snapshot!(reply_of("messages-cut.authored.sse").await, @r#"
call toolu_1 write {"path":"b","content":"li (not whole)
length {"input":5,"output":64} m-2
"#);
}

#[tokio::test]
async fn o_088_an_error_in_the_midst_of_a_reply_is_one() {
    let answer = Answer::cassette("messages-overloaded.authored.sse");
    let error = played(Dialect::Messages, answer, asking(vec![user("x")])).await.unwrap_err();
    assert_eq!((error.kind, error.began), (ModelErrorKind::Overloaded, true));
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read() {
    let body = r#"{"type":"message","model":"m-2","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},
        {"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a"}}],
        "stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":9}}"#;
    let answer = Answer::of("200 OK", "application/json", body);
    let (finished, _) = played(Dialect::Messages, answer, asking(vec![user("x")])).await.unwrap();
    insta::assert_snapshot!(told(&finished), @r#"
reasoning "Hm." = {"type":"thinking","thinking":"Hm.","signature":"c2ln"}
call toolu_1 read {"path":"a"}
calls {"input":5,"output":9} m-2
"#);
}

#[tokio::test]
async fn another_dialect_is_told_apart() {
    let answer = Answer::cassette("chat-parallel.authored.sse");
    let error = played(Dialect::Messages, answer, asking(vec![user("x")])).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Malformed, "{}", error.text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn where_a_stream_is_cut_changes_nothing(cuts in prop::collection::vec(any::<usize>(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (name, request) = ("messages-thinking.authored.sse", || asking(vec![user("x")]));
            let whole = played(Dialect::Messages, Answer::cassette(name), request()).await.unwrap();
            let cut = Answer::cassette(name).cut(&cuts);
            let cut = played(Dialect::Messages, cut, request()).await.unwrap();
            prop_assert_eq!(told(&cut.0), told(&whole.0));
            prop_assert_eq!(cut.1, whole.1);
            Ok(())
        })?;
    }
}
