use futures_util::stream;
use haft_model::{Finished, ModelErrorKind, Part, ReplyStream};
use haft_protocol::{StopReason, TokenUsage};

fn finished() -> Part {
    Part::Finished(Finished {
        parts: Vec::new(),
        stop: StopReason::End,
        usage: TokenUsage::default(),
        served_by: None,
    })
}

#[tokio::test]
async fn a_stream_that_ends_without_a_whole_reply_ends_with_an_error() {
    let mut reply = ReplyStream::new(stream::iter([Ok(Part::Text("a".to_owned()))]));
    assert_eq!(reply.next().await, Some(Ok(Part::Text("a".to_owned()))));
    let error = reply.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::CutShort);
    assert_eq!(reply.next().await, None);
}

#[tokio::test]
async fn nothing_comes_behind_a_whole_reply() {
    let parts = [Ok(finished()), Ok(Part::Text("late".to_owned()))];
    let mut reply = ReplyStream::new(stream::iter(parts));
    assert_eq!(reply.next().await, Some(Ok(finished())));
    assert_eq!(reply.next().await, None);
}
