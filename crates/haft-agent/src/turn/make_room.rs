//! Making room in the model's window.

use haft_model::{Finished, ModelError};
use haft_protocol::{RunEntry, Summary};
use haft_session::{Level, Plan, accept};

use super::ask::Listened;
use super::{Doing, Happened};
use crate::event::{RunEvent, Watcher};
use crate::limits::Planned;

/// Why no room was made.
pub(super) enum NoRoom {
    /// The turn cannot go on.
    Happened(Happened),
    /// It would not help, or did not come about. A request that fits can be made all the same.
    Useless(String),
}

impl From<Happened> for NoRoom {
    fn from(happened: Happened) -> Self {
        Self::Happened(happened)
    }
}

impl Doing<'_> {
    /// Summarises older messages after a request that was too long.
    pub(super) async fn summarise(&mut self) -> Happened {
        let level = match self.request(&[]) {
            Ok((_, level, _)) => level,
            Err(error) => return Happened::NotSummarised(error.text),
        };
        match self.make_room(&level).await {
            Ok(()) => Happened::Summarised,
            Err(NoRoom::Happened(happened)) => happened,
            Err(NoRoom::Useless(text)) => Happened::NotSummarised(text),
        }
    }

    /// Lets a summary take the place of older messages, and keeps it.
    pub(super) async fn make_room(&mut self, before: &Level) -> Result<(), NoRoom> {
        let (_, tools) = self.tools().map_err(|error| NoRoom::Useless(error.to_string()))?;
        let state = &self.state;
        let plan = state
            .compaction
            .plan(&self.next(tools, &[]), &state.gauge, before)
            .map_err(|full| NoRoom::Useless(full.to_string()))?;
        let written = self.write_summary(&plan).await;
        let summary = match written {
            Ok(summary) => summary,
            Err(no_room) => {
                self.state.compaction.failed();
                return Err(no_room);
            }
        };
        let entry = RunEntry::Summarised(summary);
        self.keep(&entry).await?;
        let RunEntry::Summarised(summary) = entry else { return Ok(()) };
        self.options.watcher.see(&RunEvent::Summarised { summary: summary.clone() });
        self.state
            .transcript
            .summarise(summary)
            .map_err(|error| NoRoom::Useless(error.to_string()))?;
        if let Ok((_, after, _)) = self.request(&[]) {
            self.state.compaction.summarised(before, &after);
        }
        Ok(())
    }

    /// Asks the model for a summary.
    async fn write_summary(&mut self, plan: &Plan) -> Result<Summary, NoRoom> {
        let estimated = plan.estimated_tokens;
        let output = plan.request.sampling.output_tokens.map_or(0, |it| u64::from(it.get()));
        let planned = Planned {
            prompt_tokens: estimated,
            // A summary that is cut off is none.
            least_output_tokens: output,
            price: self.state.parts.model.facts().price,
        };
        let _hold = self.purse.hold(&planned).map_err(Happened::Unaffordable)?;
        self.note_asked(estimated, Vec::new()).await?;
        let request = std::sync::Arc::clone(&plan.request);
        let mut listened = Listened::default();
        // What is said meanwhile is for the model, and not for those who watch.
        let nobody = Watcher::default();
        let cancellation = self.context.cancellation.clone();
        let answer: Result<Finished, Option<ModelError>> = tokio::select! {
            biased;
            () = cancellation.cancelled() => Err(None),
            () = self.purse.time_is_up() => Err(None),
            answer = self.hear(request, &mut listened, &nobody) => answer.map_err(Some),
        };
        let mut finished = match answer {
            Ok(finished) => finished,
            Err(Some(error)) => {
                let text = format!("no summary was written: {}", error.text);
                let took = listened.has_begun.then_some(estimated);
                self.note_silence(error.kind.as_str(), &text, listened.unsaid(), took).await?;
                return Err(NoRoom::Useless(text));
            }
            Err(None) => {
                let (kind, text, happened) = if cancellation.is_cancelled() {
                    ("interrupted", "somebody interrupted", Happened::Interrupted)
                } else {
                    ("out_of_time", "the turn's time was up", Happened::OutOfTime)
                };
                self.note_silence(kind, text, listened.unsaid(), Some(estimated)).await?;
                return Err(happened.into());
            }
        };
        let facts = self.state.parts.model.facts();
        let (id, price) = (facts.id.clone(), facts.price);
        let usage = finished.usage;
        finished.usage.micro_usd = usage.micro_usd.or_else(|| price?.of(&usage));
        self.pay(&finished.usage, &self.estimated(estimated, output));
        let ports = self.agent.dispatch().ports();
        let accepted = accept(plan, &finished, id, ports.message_id(), ports.clock.now());
        match accepted {
            Ok(summary) => Ok(summary),
            Err(rejected) => {
                let text = rejected.to_string();
                self.note_silence("no_summary", &text, Listened::default(), None).await?;
                Err(NoRoom::Useless(text))
            }
        }
    }
}
