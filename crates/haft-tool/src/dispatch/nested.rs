//! Calls that a body makes.

use std::sync::Arc;

use haft_protocol::{CallId, Caller, Control, Denial, Entrance, Outcome, RawArguments, ToolCall};

use super::permit::PermitSlot;
use super::{CallContext, Dispatch, Dispatched};
use crate::Ports;

/// The way from a body back to dispatch.
#[derive(Clone)]
pub(crate) struct NestedDoor {
    pub(super) dispatch: Dispatch,
    pub(super) context: Arc<CallContext>,
    pub(super) call: CallId,
    pub(super) permit: PermitSlot,
}

/// The calls around a call, outermost first; kept in the context's extensions.
#[derive(Debug, Clone, Default)]
pub(super) struct Ancestors(pub(super) Arc<[CallId]>);

impl NestedDoor {
    /// Returns what surrounds the call that the body belongs to.
    pub(crate) fn context(&self) -> &CallContext {
        &self.context
    }

    /// Returns the doors behind the dispatch that the body was called by.
    pub(crate) fn ports(&self) -> &Ports {
        self.dispatch.ports()
    }

    /// Returns the dispatch that the body was called by.
    pub(crate) fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }

    /// Makes the context of calls inside this one.
    pub(crate) fn inside(&self, entrance: Entrance) -> Result<CallContext, Denial> {
        let around: Arc<Ancestors> = self.context.extensions.get().unwrap_or_default();
        if around.0.len() + 1 > self.dispatch.inner.limits.nesting {
            return Err(Denial::new(
                Control::Budget,
                format!("calls inside calls are nested {} deep already", around.0.len()),
            ));
        }
        let mut context = CallContext {
            caller: Caller { entrance, parent: Some(self.call), ..self.context.caller.clone() },
            ..self.context.next_step()
        };
        let ancestors = around.0.iter().copied().chain([self.call]).collect();
        context.extensions.insert(Ancestors(ancestors));
        Ok(context)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: RawArguments) -> Dispatched {
        let ports = self.dispatch.ports();
        let context = match self.inside(Entrance::Nested) {
            Ok(context) => context,
            Err(denial) => return Dispatched::from(Outcome::from(denial)),
        };
        let call = ToolCall::new(ports.call_id(), tool, arguments);
        self.permit.release();
        let end = self.dispatch.dispatch(&context, call).await;
        self.permit.acquire_again().await;
        end
    }
}
