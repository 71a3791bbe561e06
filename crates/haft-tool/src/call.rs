//! One call on its way through a body.

use std::fmt;

use haft_policy::Policy;
use haft_protocol::{
    CallId, Caller, ContentPart, Denial, Digest, Entrance, ErrorKind, Failure, Progress,
    QualifiedName, RawArguments,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use crate::dispatch::{CallContext, Dispatch, Dispatched, NestedDoor};
use crate::ports::{NewArtifact, PortError};
use crate::{Arguments, Cancellation, Descriptor, Extensions, SharedLedger, Wording};

/// The permission to run one body once.
///
/// Dispatch makes a call when every station before the body said yes, and the body consumes it. It cannot be cloned,
/// kept for later or used for another tool: the arguments come out only for the descriptor that was decided about.
pub struct Call {
    pub(crate) id: CallId,
    pub(crate) fingerprint: Digest,
    /// The name of the tool that was asked for, an alias where it is one.
    pub(crate) name: QualifiedName,
    pub(crate) arguments: Arguments,
    pub(crate) deadline: Instant,
    pub(crate) extensions: Extensions,
    pub(crate) nested: NestedDoor,
}

impl Call {
    /// Returns the call's id.
    pub fn id(&self) -> CallId {
        self.id
    }

    /// Returns who asked.
    pub fn caller(&self) -> &Caller {
        &self.nested.context().caller
    }

    /// Returns the arguments, for the tool that was decided about.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Internal`] when `descriptor` is another tool's.
    pub fn arguments(&self, descriptor: &Descriptor) -> Result<&Arguments, Failure> {
        if descriptor.fingerprint() == self.fingerprint {
            return Ok(&self.arguments);
        }
        Err(Failure::new(
            ErrorKind::Internal,
            format!("this call was permitted for another tool than `{}`", descriptor.name()),
        ))
    }

    /// Returns how the caller asks for a tool with these arguments, by the tools it was shown; nothing, where none of
    /// them does that. `tool` is a qualified name.
    ///
    /// Whatever a body says of other calls, it says in these words: the caller may know a tool by an alias, which fixes
    /// some arguments, and not by its own name.
    pub fn wording(&self, tool: &str, arguments: Map<String, Value>) -> Option<Wording> {
        let tools = &self.nested.context().tools;
        tools.wording(&self.name, &tool.parse().ok()?, arguments)
    }

    /// Returns a value that a door put in for this call.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.extensions.get()
    }

    /// Returns what the caller has seen of files, where somebody remembers.
    pub fn ledger(&self) -> Option<&SharedLedger> {
        self.nested.context().ledger.as_ref()
    }

    /// Keeps bytes that are too many for an outcome, and returns the part of the content that stands for them.
    ///
    /// # Errors
    ///
    /// Fails when they cannot be kept, or are more than one artifact may hold.
    pub async fn keep(
        &self,
        title: impl Into<String>,
        media_type: impl Into<String>,
        bytes: Arc<[u8]>,
    ) -> Result<ContentPart, PortError> {
        let (title, media_type) = (title.into(), media_type.into());
        let length = bytes.len() as u64;
        let artifact = NewArtifact {
            call: self.id,
            title: title.clone(),
            media_type: media_type.clone(),
            bytes,
        };
        let id = self.nested.ports().artifacts.keep(artifact).await?;
        Ok(ContentPart::Artifact { id, title, media_type, bytes: length })
    }

    /// Returns the request to stop, which the deadline makes too.
    pub fn cancellation(&self) -> &Cancellation {
        &self.nested.context().cancellation
    }

    /// Returns how long the body may still run.
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Tells whoever watches how far the body is.
    pub fn progress(&self, progress: Progress) {
        self.nested.context().reporter.report(self.id, progress);
    }

    /// Calls another tool, through the same path as any call.
    ///
    /// The caller's authority, policy and hooks apply; locks of this call are inherited; the permit of this call is
    /// given back while it waits.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future requests the nested call's cancellation; it never aborts it.
    pub async fn nested(&self, tool: &str, arguments: impl Into<RawArguments>) -> Dispatched {
        self.nested.call(tool, arguments.into()).await
    }

    /// Returns what surrounds the calls of somebody who works on behalf of this one, such as a model that the body asks,
    /// and the dispatch that takes them.
    ///
    /// Authority only shrinks: the policy is this call's, narrowed by `narrowed` where that is given; hooks, budgets,
    /// locks and the request to stop are this call's. What was seen of files is not handed on.
    ///
    /// # Errors
    ///
    /// Fails where calls are nested too deep already.
    pub fn delegated(
        &self,
        entrance: Entrance,
        principal: impl Into<Arc<str>>,
        narrowed: Option<&Policy>,
    ) -> Result<(Dispatch, CallContext), Denial> {
        let mut context = self.nested.inside(entrance)?;
        context.caller.principal = principal.into();
        context.ledger = None;
        if let Some(narrowed) = narrowed {
            context.policy = Arc::new(context.policy.narrow(narrowed));
        }
        Ok((self.nested.dispatch().clone(), context))
    }

    /// Hands the call to the tool behind an alias.
    pub(crate) fn forwarded(mut self, from: &Descriptor, to: &Descriptor) -> Result<Self, Failure> {
        self.arguments(from)?;
        self.fingerprint = to.fingerprint();
        Ok(self)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({})", self.id)
    }
}

/// Runs blocking work beside the asynchronous threads and waits for it.
///
/// The work must look at the call's [cancellation](Call::cancellation) now and then: nothing can stop it otherwise, and
/// a call whose body goes on after its end is reported as detached and keeps its locks.
///
/// # Panics
///
/// Passes on a panic of the work, which dispatch turns into a failure.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that shuts down cancels blocking work, and then nobody polls this any more.
            Err(_) => std::future::pending().await,
        },
    }
}
