//! The one trait that providers implement.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::{ModelError, ModelFacts, ReplyStream, Request};

/// A future that can be sent between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model that can be asked.
///
/// Implementations neither retry nor pace: one layer around them does, for all alike.
pub trait ChatModel: Send + Sync + fmt::Debug + 'static {
    /// Returns what is known of the model.
    fn facts(&self) -> &ModelFacts;

    /// Asks the model. The future resolves when the provider begins to answer.
    ///
    /// # Errors
    ///
    /// Fails where the provider refuses the request or cannot be reached. What goes wrong later is the last item of the
    /// stream.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future or the stream ends the connection; nothing goes on in the background.
    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>>;
}
