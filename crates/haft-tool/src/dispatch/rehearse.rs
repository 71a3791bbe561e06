//! Walking a call up to its decision, without making it.

use std::sync::Arc;

use haft_policy::Explanation;
use haft_protocol::{BindingRecord, Decision, Notice, NoticeKind, Outcome, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value};

use super::authorise::Subjected;
use super::walk::{Ended, Walk};
use super::{CallContext, Dispatch};
use crate::ports::BindRefusal;

/// A call as it would be decided over, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Rehearsal {
    /// The final arguments: repaired, checked, defaults applied.
    pub arguments: Map<String, Value>,
    /// What the slots would be bound to.
    pub bindings: Vec<BindingRecord>,
    /// What reading the arguments has to say.
    pub notices: Vec<Notice>,
    /// Why policy decides as it does.
    pub explanation: Explanation,
}

impl Dispatch {
    /// Walks a call up to its decision and explains it. Nothing runs, nobody is asked, nothing is recorded.
    ///
    /// Hooks are left out: they may have effects of their own, so what a hook would refuse or rewrite does not show.
    ///
    /// # Errors
    ///
    /// Fails with the outcome the call would have had before anything was decided: an unknown tool, arguments outside
    /// the contract, a path out of the workspace.
    pub async fn rehearse(
        &self,
        context: &CallContext,
        call: ToolCall,
    ) -> Result<Rehearsal, Box<Outcome>> {
        let context = Arc::new(context.clone());
        let mut walk = Walk::new(self, &context, call.id);
        let rehearsed = walk.rehearse(call).await;
        rehearsed.map_err(|mut outcome| {
            outcome.notices.splice(0..0, walk.notices);
            outcome
        })
    }
}

impl Walk<'_> {
    async fn rehearse(&mut self, call: ToolCall) -> Result<Rehearsal, Ended> {
        let registered = self.resolve(&call.tool)?;
        let decoded = self.decode(registered, call.arguments)?;
        let arguments = Self::check(registered, decoded.into_arguments())?;
        let effects = self.effects(registered, &arguments)?;
        let commands = registered.descriptor.script(&arguments);
        let bound = self.bind(registered, &arguments, &effects, &mut None).await?;
        let subject = Subjected {
            registered,
            arguments: &arguments,
            effects: &effects,
            commands: commands.as_ref(),
            bound: &*bound,
        };
        let explanation = self.explain(&subject);
        let mut notices: Vec<Notice> = self.notices.drain(..).chain(bound.notices()).collect();
        if explanation.decision != Decision::Deny
            && let Err(refusal) = bound.settle(self.decide(&subject).filter()).await
        {
            let text = match refusal {
                BindRefusal::Denied(denial) => denial.to_string(),
                BindRefusal::Failed(failure) => failure.to_string(),
            };
            notices.push(Notice::new(NoticeKind::Remark, text));
        }
        let bindings = bound.records().to_vec();
        Ok(Rehearsal { arguments: arguments.values().clone(), bindings, notices, explanation })
    }
}
