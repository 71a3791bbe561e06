use haft_model::RequestMessage;
use haft_protocol::StopCause;
use haft_testkit::{Line, echo};
use serde_json::json;

use crate::rig::Work;

#[tokio::test]
async fn a_model_calls_a_tool_and_says_what_came_of_it() {
    let lines = [Line::calls(&[("echo", json!({ "text": "hello" }))]), Line::say("It said hello.")];
    let work = Work::new(lines, vec![echo()]);
    let end = work.say("What does it say?").await;
    assert_eq!(end.cause, StopCause::Done);
    assert_eq!(end.reply.unwrap().text(), "It said hello.");
    assert_eq!(end.usage.requests, 2);

    let asked = work.model.asked();
    let [_, second] = asked.as_slice() else { panic!("asked {} times", asked.len()) };
    let RequestMessage::Results(results) = second.messages.get(2).unwrap().message() else {
        panic!("the third message is not the results")
    };
    assert_eq!(results.len(), 1);
    assert_eq!(&*results[0].text, r#"{"text":"hello"}"#);
    assert!(!results[0].is_error);
}
