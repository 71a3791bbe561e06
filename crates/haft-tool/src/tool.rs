//! A tool, as dispatch sees it.

use std::pin::Pin;
use std::sync::Arc;

use haft_protocol::{Capabilities, Failure};

use crate::{Arguments, Call, Descriptor, Output};

/// A future on the heap that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A named, typed operation behind its descriptor: the object-safe form.
///
/// Most tools implement [`TypedTool`](crate::TypedTool) or are functions under `#[tool]`; this is what both become.
pub trait Tool: Send + Sync + 'static {
    /// Returns the static facts.
    ///
    /// A remote tool may return other facts later; dispatch notices by the fingerprint and suspends it.
    fn descriptor(&self) -> Arc<Descriptor>;

    /// Narrows the declared capabilities to what a call with these arguments can do; `None` keeps them.
    ///
    /// Slots follow: in a call that by this writes no files, what a slot would write is bound for reading.
    ///
    /// # Errors
    ///
    /// Fails when the arguments cannot be read; the call then fails before anything was decided about it.
    fn effects(&self, arguments: &Arguments) -> Result<Option<Capabilities>, Failure> {
        let _ = arguments;
        Ok(None)
    }

    /// Runs the body. Only dispatch can make a [`Call`], so only dispatch can call this.
    fn call(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Output, Failure>>;
}
