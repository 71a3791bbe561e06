//! What comes back.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};

use crate::{Address, NetError};

type Pieces = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// An answer whose head is there.
pub struct Incoming {
    pub(crate) response: reqwest::Response,
    pub(crate) address: Address,
}

impl Incoming {
    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns a header, where it is there and can be read.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Returns the whole body.
    ///
    /// # Errors
    ///
    /// Fails where it has more bytes than allowed, takes longer than allowed, or the connection breaks.
    pub async fn whole(self, limit: usize, within: Duration) -> Result<Vec<u8>, NetError> {
        let address = self.address.clone();
        let mut stream = self.stream();
        let read = async {
            let mut body = Vec::new();
            while let Some(piece) = stream.next().await {
                let piece = piece?;
                if body.len() + piece.len() > limit {
                    return Err(NetError::TooLarge { address: stream.address.clone(), limit });
                }
                body.extend_from_slice(&piece);
            }
            Ok(body)
        };
        let late = NetError::TimedOut { address, what: "send all", after: within };
        tokio::time::timeout(within, read).await.unwrap_or(Err(late))
    }

    /// Returns the body as it comes. How long is waited for it, and how much is read, is up to who reads.
    pub fn stream(self) -> ByteStream {
        let pieces = Box::pin(self.response.bytes_stream());
        ByteStream { pieces, address: self.address, ended: false }
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("address", &self.address)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// A body as it comes. Dropping it ends the connection.
pub struct ByteStream {
    pieces: Pieces,
    address: Address,
    ended: bool,
}

impl Stream for ByteStream {
    type Item = Result<Bytes, NetError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let item = std::task::ready!(self.pieces.poll_next_unpin(context));
        self.ended = !matches!(item, Some(Ok(_)));
        let address = &self.address;
        Poll::Ready(
            item.map(|piece| piece.map_err(|error| NetError::of(&error, address, Duration::ZERO))),
        )
    }
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteStream").field("address", &self.address).finish_non_exhaustive()
    }
}
