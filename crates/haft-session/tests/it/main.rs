//! What a conversation promises.

mod transcript;
