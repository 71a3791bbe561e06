//! Taking a turn up where it was left.

use haft_protocol::{Entry, Outcome, RequestedCall, RunEntry};

use super::{Doing, Happened};
use crate::calls::{self, Called};
use crate::resume::{Fate, Fates, Verdict, verdict};

impl Doing<'_> {
    /// Ends what is open as far as that is known, makes what may be made, and asks about the rest.
    pub(crate) async fn take_up(&mut self, fates: &Fates) -> Happened {
        let open: Vec<RequestedCall> = self.state.transcript.open_calls().cloned().collect();
        if open.is_empty() {
            return self.left_between();
        }
        let lets_calls_run = match self.state.transcript.last() {
            Some(Entry::Step(step)) => step.reply.stop.lets_calls_run(),
            Some(Entry::User(_) | Entry::Summary(_)) | None => false,
        };
        if !lets_calls_run {
            return self.pass_over().await;
        }
        match self.tools() {
            Ok((snapshot, _)) => self.context.tools = snapshot,
            Err(error) => return Happened::NotSummarised(error.to_string()),
        }
        let mut made = Vec::new();
        for call in open {
            let fate = fates.of(call.id);
            let outcome = match verdict(fate) {
                Verdict::Take(outcome) => (*outcome).clone(),
                Verdict::Make => {
                    made.push((call.id, call));
                    continue;
                }
                Verdict::MakeAgain => {
                    made.push((self.agent.dispatch().ports().call_id(), call));
                    continue;
                }
                Verdict::Ask => match self.ask_about(&call, fate).await {
                    Ok(()) => {
                        made.push((self.agent.dispatch().ports().call_id(), call));
                        continue;
                    }
                    Err(outcome) => outcome,
                },
            };
            if let Err(error) = calls::end(self.state, &call, outcome, &self.options.watcher).await
            {
                return Happened::Unrecorded(error);
            }
        }
        for (made_as, call) in made.iter().filter(|(made_as, call)| *made_as != call.id) {
            let entry = RunEntry::MadeAgain { call: call.id, made_as: *made_as };
            if let Err(happened) = self.keep(&entry).await {
                return happened;
            }
        }
        if made.is_empty() {
            return Happened::Called(Called::All(calls::ends(self.state)));
        }
        self.make(made).await
    }

    /// Says where a turn stands that was left with nothing open.
    fn left_between(&mut self) -> Happened {
        match self.state.transcript.last() {
            Some(Entry::Step(step)) if step.reply.calls().next().is_none() => {
                let reply = std::sync::Arc::clone(&step.reply);
                self.reply = Some(std::sync::Arc::clone(&reply));
                Happened::Reply(reply)
            }
            Some(Entry::Step(_) | Entry::User(_) | Entry::Summary(_)) | None => Happened::Begin,
        }
    }

    /// Asks a person whether a call may be made again whose end nobody knows.
    async fn ask_about(&self, call: &RequestedCall, fate: &Fate) -> Result<(), Outcome> {
        crate::resume::ask_about(self.agent.dispatch(), &self.context, call, fate).await
    }
}
