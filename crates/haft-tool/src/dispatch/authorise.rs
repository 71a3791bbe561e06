//! The walk of one call: station 7, and the answers to its questions.

use std::sync::Arc;

use haft_policy::shell::Script;
use haft_policy::{Explanation, Policy, Resource, Subject, Verdict};
use haft_protocol::{
    Capabilities, Control, Decision, DecisionRecord, Denial, Outcome, RECORD_VERSION, Status,
    TicketRecord, Timestamp, ToolCall,
};
use serde_json::Value;

use super::ticket::Ticket;
use super::walk::{Ended, Walk, denied, failed, millis, names};
use crate::ports::{Bound, Entry};
use crate::registry::Registered;
use crate::{Answer, Arguments};

/// What is authorised: a tool with its final arguments, what they amount to, and what they were bound to.
pub(super) struct Subjected<'a> {
    pub(super) registered: &'a Registered,
    pub(super) arguments: &'a Arguments,
    pub(super) effects: &'a Capabilities,
    pub(super) commands: Option<&'a Script>,
    pub(super) bound: &'a dyn Bound,
}

/// What a call asked for, beside its arguments.
pub(super) struct AskedFor {
    pub(super) tool: String,
    pub(super) provider_id: Option<String>,
}

/// What a question needs beyond what is authorised.
pub(super) struct Asking<'a> {
    pub(super) call: &'a AskedFor,
    /// The arguments that the call takes up its walk with, once it is answered.
    pub(super) given: &'a Arguments,
    /// Why hooks want a person to say yes.
    pub(super) asked: &'a [String],
}

/// What the authorisation came to.
pub(super) enum Authorised {
    Allowed(Verdict),
    Waiting(Box<Ticket>),
}

/// A yes to a ticket.
pub(super) struct Yes {
    record: TicketRecord,
    by: String,
}

impl Yes {
    /// Tells whether the yes was said to this very call.
    fn covers(&self, subject: &Subjected<'_>) -> bool {
        self.record.fingerprint == subject.registered.descriptor.fingerprint()
            && self.record.arguments_digest == subject.arguments.digest()
            && self.record.bindings == subject.bound.records()
    }
}

impl Walk<'_> {
    /// Station 7: asks policy, and a person where policy or a hook wants one.
    pub(super) async fn authorise(
        &mut self,
        subject: &Subjected<'_>,
        asking: &Asking<'_>,
        yes: Option<&Yes>,
    ) -> Result<Authorised, Ended> {
        let verdict = self.decide(subject);
        let mut because = verdict.because().shared();
        let decision = match verdict.decision() {
            Decision::Allow if !asking.asked.is_empty() => {
                because = asking.asked.join("; ").into();
                Decision::Ask
            }
            decision => decision,
        };
        self.intent.decision = Some(DecisionRecord { decision, because: Arc::clone(&because) });
        match (decision, yes) {
            (Decision::Allow, _) => Ok(Authorised::Allowed(verdict)),
            (Decision::Deny, _) => Err(denied(verdict.because().denial())),
            (Decision::Ask, None) => {
                let ways_out = verdict.because().hints().to_vec();
                Box::pin(self.suspend(subject, because, ways_out, asking))
                    .await
                    .map(Authorised::Waiting)
            }
            (Decision::Ask, Some(yes)) if yes.covers(subject) => {
                let because = format!("approved by {}: {because}", yes.by).into();
                self.intent.decision = Some(DecisionRecord { decision: Decision::Allow, because });
                Ok(Authorised::Allowed(verdict))
            }
            (Decision::Ask, Some(_)) => Err(denied(Denial::new(
                Control::Stale,
                "the call is no longer the one that was approved: its tool, arguments or files changed",
            ))),
        }
    }

    pub(super) fn decide(&self, subject: &Subjected<'_>) -> Verdict {
        self.with_subject(subject, Policy::decide)
    }

    pub(super) fn explain(&self, subject: &Subjected<'_>) -> Explanation {
        self.with_subject(subject, Policy::explain)
    }

    fn with_subject<T>(
        &self,
        subject: &Subjected<'_>,
        ask: impl FnOnce(&Policy, &Subject<'_>) -> T,
    ) -> T {
        let (tool, alias) = names(subject.registered);
        let commands = subject.commands;
        let resources: Vec<Resource> = subject
            .bound
            .records()
            .iter()
            .map(|it| Resource::new(it.slot.clone(), it.path.clone(), it.access))
            .collect();
        let subject = Subject {
            call: self.intent.call,
            fingerprint: subject.registered.descriptor.fingerprint(),
            arguments_digest: subject.arguments.digest(),
            tool,
            alias,
            effects: subject.effects,
            resources: &resources,
            commands,
        };
        ask(&self.context.policy, &subject)
    }

    /// Makes a ticket and journals it before anybody is asked.
    async fn suspend(
        &mut self,
        subject: &Subjected<'_>,
        because: Arc<str>,
        ways_out: Vec<String>,
        asking: &Asking<'_>,
    ) -> Result<Box<Ticket>, Ended> {
        let ports = self.dispatch.ports();
        let now = ports.clock.now().unix_ms();
        let record = TicketRecord {
            version: RECORD_VERSION,
            ticket: ports.ticket_id(),
            call: self.intent.call,
            tool: subject.registered.descriptor.name().clone(),
            fingerprint: subject.registered.descriptor.fingerprint(),
            arguments_digest: subject.arguments.digest(),
            bindings: subject.bound.records().to_vec(),
            because: because.to_string(),
            expires: Timestamp::from_unix_ms(now + millis(self.dispatch.inner.limits.approval)),
        };
        self.journal_intent().await?;
        self.journal(Entry::Ticket(&record)).await.map_err(|error| failed(error.into()))?;
        let arguments = subject.arguments.values().clone();
        let commands = subject.commands.map(Script::lines).unwrap_or_default();
        let AskedFor { tool, provider_id } = asking.call;
        let given = Value::Object(asking.given.values().clone());
        let mut call = ToolCall::new(record.call, tool, given);
        call.provider_id.clone_from(provider_id);
        Ok(Box::new(Ticket { record, ways_out, call, arguments, commands }))
    }

    /// Takes an answer: once, in time, and only a yes goes on.
    pub(super) async fn answered(&mut self, ticket: Ticket, answer: Answer) -> Result<Yes, Ended> {
        self.intent.tool = Ok(ticket.record.tool.clone());
        self.intent.arguments = Arc::new(Value::Object(ticket.arguments));
        let now = self.dispatch.ports().clock.now();
        let refused = |reason: String| Denial::new(Control::Approval, reason);
        let (by, verdict) = match answer {
            Answer::Approve { by } if now > ticket.record.expires => {
                let late = "the answer came after the question had expired; make the call again";
                (by, Err(refused(late.to_owned())))
            }
            Answer::Approve { by } => (by, Ok(())),
            Answer::Refuse { by, reason } => {
                let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                let denial = refused(format!("{by} said no{why}"));
                (by, Err(denial))
            }
            Answer::Nobody { ways_out } => {
                let because = &ticket.record.because;
                let denial = refused(format!(
                    "this call needs a yes, and there is nobody to ask ({because})"
                ));
                let hints = ways_out.into_iter().chain(ticket.ways_out);
                ("nobody".to_owned(), Err(hints.fold(denial, Denial::hint)))
            }
            Answer::Later => {
                ("nobody".to_owned(), Err(refused("the question is still open".to_owned())))
            }
        };
        let text = match &verdict {
            Ok(()) => format!("approved by {by}"),
            Err(denial) => denial.reason.clone(),
        };
        // The intent was journalled with the ticket.
        self.journalled = true;
        let entry = Entry::Answered { ticket: ticket.record.ticket, answer: &text, at: now };
        // A call whose question is answered already may run by now, or have ended, and a question that could not be
        // answered is still open: neither ends with this.
        self.ends_call = false;
        self.journal(entry).await.map_err(|error| failed(error.into()))?;
        self.ends_call = true;
        if self.context.cancellation.is_cancelled() {
            return Err(Box::new(Outcome::new(Status::Cancelled)));
        }
        verdict.map_err(denied)?;
        Ok(Yes { record: ticket.record, by })
    }
}
