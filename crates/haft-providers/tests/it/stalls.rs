//! Streams that stop making progress, and streams that do not end.

use std::time::Duration;

use haft_model::{Dialect, ModelError, ModelErrorKind};
use haft_providers::Patience;

use crate::asked::{all, asking, chat, endpoint, gemini, messages, responses, told, user};
use crate::server::{Answer, Play, Server};

const SHORT: Patience =
    Patience { first: Duration::from_millis(250), pause: Duration::from_millis(150) };
const OFTEN: Duration = Duration::from_millis(10);

async fn asked(dialect: Dialect, answer: Answer) -> Result<String, ModelError> {
    let server = Server::start(answer).await;
    let mut endpoint = endpoint(dialect, server.port);
    endpoint.patience = SHORT;
    let request = asking(vec![user("x")]);
    let finished = match dialect {
        Dialect::ChatCompletions => all(&chat(endpoint), request).await,
        Dialect::Responses => all(&responses(endpoint), request).await,
        Dialect::Messages => all(&messages(endpoint), request).await,
        Dialect::Gemini => all(&gemini(endpoint), request).await,
    };
    finished.map(|(finished, _)| told(&finished))
}

const DELTA: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"So\"}}]}\n\n";

#[tokio::test]
async fn o_089_silence_and_signs_of_life_are_stalls() {
    let repeat = |bytes: &str| Play::Repeat(bytes.as_bytes().to_vec(), OFTEN);
    let stalls = [
        Play::Hang,
        repeat(": ping\n\n"),
        repeat("event: ping\ndata: {}\n\n"),
        repeat("data: {\"choices\":[{\"delta\":{}}]}\n\n"),
        repeat("data: {\"choices\":[{\"delta\":{\"content\":\"\",\"tool_calls\":[]}}]}\n\n"),
        repeat("data: {\"choices\":[],\"usage\":null}\n\n"),
        // One byte after the other, and never a whole event.
        repeat("x"),
    ];
    for stall in stalls {
        let error =
            asked(Dialect::ChatCompletions, Answer::stream(DELTA).then(stall.clone())).await;
        let error = error.unwrap_err();
        assert_eq!((error.kind, error.began), (ModelErrorKind::Stalled, true), "{stall:?}");
        assert!(error.text.ends_with("said nothing more for 0.15 s"), "{}", error.text);
        assert!(error.kind.may_pass());
    }
}

#[tokio::test]
async fn o_089_signs_of_life_of_other_dialects_are_stalls_too() {
    let repeat = |data: &str| Play::Repeat(format!("data: {data}\n\n").into(), OFTEN);
    let stalls = [
        (
            Dialect::Responses,
            r#"{"type":"response.in_progress","response":{"status":"in_progress"}}"#,
        ),
        (Dialect::Responses, r#"{"type":"response.output_text.delta","delta":""}"#),
        (Dialect::Responses, r#"{"type":"keepalive"}"#),
        (Dialect::Gemini, r#"{"usageMetadata":{"promptTokenCount":5}}"#),
        (Dialect::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":""}]}}]}"#),
    ];
    for (dialect, data) in stalls {
        let error = asked(dialect, Answer::stream("").then(repeat(data))).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Stalled, "{data}: {}", error.text);
    }
}

#[tokio::test]
async fn o_089_a_stream_that_never_begins_is_a_stall() {
    let nothing = Answer::stream("").then(Play::Hang);
    let mut nothing_at_all = nothing.clone();
    nothing_at_all.plays = vec![Play::Hang];
    for answer in [
        nothing,
        nothing_at_all,
        Answer::stream("").then(Play::Repeat(b": ping\n\n".to_vec(), OFTEN)),
    ] {
        let error = asked(Dialect::ChatCompletions, answer).await.unwrap_err();
        assert_eq!((error.kind, error.began), (ModelErrorKind::Stalled, false));
    }
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let pings = Answer::stream("").then(Play::Repeat(ping.into(), OFTEN));
    let error = asked(Dialect::Messages, pings).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Stalled);
}

#[tokio::test]
async fn o_089_a_reply_ends_when_its_provider_says_so() {
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let done = Answer::stream(&format!("{DELTA}{end}data: [DONE]\n\n"));
    let expected = "text \"So\"\nend {} -";
    let pings = Play::Repeat(b": ping\n\n".to_vec(), OFTEN);
    for play in [Play::Hang, pings.clone()] {
        assert_eq!(
            asked(Dialect::ChatCompletions, done.clone().then(play)).await.unwrap(),
            expected
        );
    }
    // Without its last word, it ends when nothing more comes for a while.
    let silent = Answer::stream(&format!("{DELTA}{end}"));
    for play in [Play::Hang, pings] {
        assert_eq!(
            asked(Dialect::ChatCompletions, silent.clone().then(play)).await.unwrap(),
            expected
        );
    }
    let completed =
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n";
    let stopped = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n";
    for (dialect, end) in [(Dialect::Responses, completed), (Dialect::Gemini, stopped)] {
        for play in [Play::Hang, Play::Repeat(b": ping\n\n".to_vec(), OFTEN)] {
            assert_eq!(asked(dialect, Answer::stream(end).then(play)).await.unwrap(), "end {} -");
        }
    }
    let stop = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
                event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    assert_eq!(
        asked(Dialect::Messages, Answer::stream(stop).then(Play::Hang)).await.unwrap(),
        "end {} -"
    );
}

/// What is sent of a stream whose connection then breaks, and the reply that is made of it, if one is.
async fn broken(dialect: Dialect, pieces: &[&str]) -> Option<String> {
    let pieces: Vec<String> = pieces.iter().map(|it| format!("data: {it}\n\n")).collect();
    let mut answer = Answer::stream(&pieces.concat());
    answer.plays.retain(|it| !matches!(it, Play::End));
    match asked(dialect, answer).await {
        Ok(reply) => Some(reply),
        Err(error) => {
            assert!(error.began, "{}", error.text);
            None
        }
    }
}

#[tokio::test]
async fn a_reply_is_whole_when_its_provider_says_that_it_ends_and_nothing_more_comes() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let more = r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    let dialect = Dialect::ChatCompletions;
    // The dialect's own word for the end of a reply is there; `[DONE]` is that of the stream.
    assert!(broken(dialect, &[call, end]).await.is_some());
    assert!(broken(dialect, &[call, end, usage]).await.is_some());
    assert!(broken(dialect, &[call]).await.is_none());
    // A server that says so before it ends is not believed when the stream breaks.
    assert!(broken(dialect, &[call, end, more]).await.is_none());
    let each = |it: &str| it.replace("}]}}]}", r#"}]},"finish_reason":""}]}"#);
    assert!(broken(dialect, &[&each(call), &each(more)]).await.is_none());
    let done = [&each(call), &each(more), "[DONE]"].map(|it| format!("data: {it}\n\n")).concat();
    let whole = asked(dialect, Answer::stream(&done)).await.unwrap();
    assert!(whole.contains("calls"), "{whole}");
    let said = r#"{"candidates":[{"content":{"parts":[{"text":"So"}]}}]}"#;
    let stopped = r#"{"candidates":[{"finishReason":"STOP"}]}"#;
    assert!(broken(Dialect::Gemini, &[said, stopped]).await.is_some());
    assert!(broken(Dialect::Gemini, &[said]).await.is_none());
    assert!(broken(Dialect::Gemini, &[said, stopped, said]).await.is_none());
}

/// Plays the same as fast as it is read, and faster.
fn flood(bytes: &str) -> Play {
    Play::Repeat(bytes.repeat(1_000).into(), Duration::ZERO)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o_089_a_flood_that_says_nothing_ends() {
    let nothing = [": ping\n\n", "data: {\"choices\":[]}\n\n"];
    for nothing in nothing.map(flood) {
        let asked = asked(Dialect::ChatCompletions, Answer::stream(DELTA).then(nothing));
        let error = tokio::time::timeout(Duration::from_mins(1), asked).await.unwrap();
        let kind = error.unwrap_err().kind;
        assert!(matches!(kind, ModelErrorKind::Stalled | ModelErrorKind::Malformed), "{kind:?}");
    }
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let asked = asked(Dialect::ChatCompletions, Answer::stream(DELTA).then(flood(end)));
    let whole = tokio::time::timeout(Duration::from_mins(1), asked).await.unwrap();
    assert_eq!(whole.unwrap(), "text \"So\"\nend {} -");
}

#[tokio::test]
async fn o_089_slow_progress_is_progress() {
    let mut answer = Answer::stream(DELTA).cut(&[]);
    answer.plays = vec![Play::Repeat(DELTA.into(), Duration::from_millis(90))];
    let server = Server::start(answer).await;
    let mut endpoint = endpoint(Dialect::ChatCompletions, server.port);
    // All of it takes longer than the pause that is allowed, and no pause does, on a busy machine too.
    endpoint.patience = Patience { pause: Duration::from_millis(600), ..SHORT };
    let model = chat(endpoint);
    let mut stream =
        haft_model::ChatModel::ask(&model, std::sync::Arc::new(asking(vec![user("x")])))
            .await
            .unwrap();
    for _ in 0..8 {
        assert_eq!(stream.next().await, Some(Ok(haft_model::Part::Text("So".to_owned()))));
    }
}
