//! Making room in the model's window.

use haft_model::{Finished, ModelError};
use haft_protocol::{RunEntry, Summary};
use haft_session::{Level, Plan, accept};

use super::{Doing, Happened};
use crate::event::RunEvent;

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
        self.note_asked(estimated, Vec::new()).await?;
        let model = std::sync::Arc::clone(&self.state.parts.model);
        let request = std::sync::Arc::clone(&plan.request);
        let asking = async { model.ask(request).await?.finish().await };
        let cancellation = self.context.cancellation.clone();
        let answer: Result<Finished, ModelError> = tokio::select! {
            biased;
            () = cancellation.cancelled() => return Err(Happened::Interrupted.into()),
            () = self.purse.time_is_up() => return Err(Happened::OutOfTime.into()),
            answer = asking => answer,
        };
        let mut finished = match answer {
            Ok(finished) => finished,
            Err(error) => {
                let text = format!("no summary was written: {}", error.text);
                self.note_silence(error.kind.as_str(), &text, String::new()).await?;
                return Err(NoRoom::Useless(text));
            }
        };
        let facts = self.state.parts.model.facts();
        let (id, price) = (facts.id.clone(), facts.price);
        let usage = finished.usage;
        finished.usage.micro_usd = usage.micro_usd.or_else(|| price?.of(&usage));
        let output = plan.request.sampling.output_tokens.map_or(0, |it| u64::from(it.get()));
        self.pay(&finished.usage, estimated, output);
        let ports = self.agent.dispatch().ports();
        let accepted = accept(plan, &finished, id, ports.message_id(), ports.clock.now());
        match accepted {
            Ok(summary) => Ok(summary),
            Err(rejected) => {
                let text = rejected.to_string();
                self.note_silence("no_summary", &text, String::new()).await?;
                Err(NoRoom::Useless(text))
            }
        }
    }
}
