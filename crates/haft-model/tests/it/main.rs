//! What requests and replies promise.

mod stream;
