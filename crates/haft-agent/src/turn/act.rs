//! Calls that nobody's model asked for.

use haft_model::Finished;
use haft_protocol::{
    Entrance, RawArguments, Reply, ReplyPart, RequestedCall, RunEntry, StopReason, TokenUsage,
    UserMessage,
};

use super::{Doing, Happened};

impl Doing<'_> {
    /// Puts calls on record as a reply of its own, and makes them.
    pub(crate) async fn act(
        &mut self,
        remark: UserMessage,
        calls: Vec<(String, RawArguments)>,
        entrance: Entrance,
    ) -> Happened {
        match self.say(remark).await {
            Happened::Begin => {}
            happened => return happened,
        }
        match self.tools() {
            Ok((snapshot, _)) => self.context.tools = snapshot,
            Err(error) => return Happened::NotSummarised(error.to_string()),
        }
        self.context.caller.entrance = entrance;
        let ports = self.agent.dispatch().ports();
        let parts = calls.into_iter().map(|(tool, arguments)| {
            let mut call = RequestedCall {
                id: Finished::NO_CALL,
                provider_id: None,
                tool,
                arguments,
                is_whole: true,
                opaque: None,
            };
            call.id = ports.call_id();
            ReplyPart::Call(call)
        });
        let reply = Reply {
            parts: parts.collect(),
            id: ports.message_id(),
            at: ports.clock.now(),
            model: self.state.parts.model.facts().id.clone(),
            stop: StopReason::Calls,
            usage: TokenUsage::default(),
        };
        let entry = RunEntry::Replied(reply);
        if let Err(happened) = self.keep(&entry).await {
            return happened;
        }
        let RunEntry::Replied(reply) = entry else { return Happened::Begin };
        if let Err(error) = self.state.transcript.reply(reply) {
            return Happened::NotSummarised(error.to_string());
        }
        self.call().await
    }
}
