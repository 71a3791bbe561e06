//! Bodies: those of requests, taken in whole, and those of answers, which count until they are written.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use haft_protocol::limits;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use super::budget::{Budget, Share};

/// How long the body of a request may take to come.
const BODY: Duration = Duration::from_mins(1);

/// Bytes of a body that count for nothing. What ends a call is among the small ones, and is never refused.
pub(super) const SMALL: usize = 4 * 1024;

/// Reads a body that is not too long, does not take too long, and for which there is room.
pub(super) async fn whole<B>(body: B, share: &mut Share) -> Result<Bytes, (StatusCode, String)>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let most = limits::MCP_LINE_BYTES;
    let too_long = || {
        let words = format!("a message may have {most} bytes, and this one has more");
        (StatusCode::PAYLOAD_TOO_LARGE, words)
    };
    if body.size_hint().lower() > most as u64 {
        return Err(too_long());
    }
    let mut body = std::pin::pin!(Limited::new(body, most));
    let reading = async {
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                if error.is::<LengthLimitError>() {
                    return too_long();
                }
                (StatusCode::BAD_REQUEST, format!("the body broke off: {error}"))
            })?;
            let Ok(piece) = frame.into_data() else { continue };
            let bytes = whole.len() + piece.len();
            if bytes > SMALL && !share.reach(bytes) {
                let words = "large requests are under way, and no more are taken: \
                             wait for some of them to end";
                return Err((StatusCode::SERVICE_UNAVAILABLE, words.to_owned()));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(Bytes::from(whole))
    };
    tokio::time::timeout(BODY, reading).await.unwrap_or_else(|_| {
        Err((StatusCode::REQUEST_TIMEOUT, "the body takes too long to come".to_owned()))
    })
}

/// A body whose bytes count until they are written, or whoever they are for is gone.
pub(super) struct Counted {
    pub(super) body: BoxBody<Bytes, Infallible>,
    pub(super) answers: Arc<Budget>,
    /// The right to a large answer, which nobody else gets before this one is written.
    pub(super) reader: Option<Arc<OwnedSemaphorePermit>>,
}

/// What the connection has of a body: it lets go of the body itself when the last bytes are waiting to be written.
struct Unwritten {
    bytes: Bytes,
    _share: Share,
    _reader: Option<Arc<OwnedSemaphorePermit>>,
}

impl AsRef<[u8]> for Unwritten {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Self { body, answers, reader } = self.get_mut();
        Pin::new(body).poll_frame(context).map_ok(|frame| {
            frame.map_data(|bytes| {
                let share = answers.share_of(bytes.len());
                Bytes::from_owner(Unwritten { bytes, _share: share, _reader: reader.clone() })
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    #[tokio::test]
    async fn bodies_are_taken_in_while_there_is_room_and_small_ones_always() {
        let budget = Budget::new(3 * SMALL);
        let of = |bytes: usize| Full::new(Bytes::from(vec![b' '; bytes]));
        let (mut one, mut other) = (budget.share(), budget.share());
        assert_eq!(whole(of(2 * SMALL), &mut one).await.unwrap().len(), 2 * SMALL);
        let (status, words) = whole(of(2 * SMALL), &mut other).await.unwrap_err();
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        insta::assert_snapshot!(words, @"large requests are under way, and no more are taken: wait for some of them to end");
        assert_eq!(whole(of(SMALL), &mut other).await.unwrap().len(), SMALL);
        drop(one);
        assert!(whole(of(2 * SMALL), &mut other).await.is_ok());
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_byte_is_written() {
        let answers = Budget::new(10);
        let body = Full::new(Bytes::from_static(b"0123456789")).boxed();
        let mut body = Counted { body, answers: Arc::clone(&answers), reader: None };
        let bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
        drop(body);
        let rest = bytes.slice(9..);
        drop(bytes);
        assert!(answers.is_spent());
        drop(rest);
        assert!(!answers.is_spent());
    }
}
