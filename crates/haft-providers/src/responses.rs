//! OpenAI's Responses.

mod item;
mod request;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use haft_model::{BoxFuture, ChatModel, ModelError, ModelFacts, ReplyStream, Request};
use haft_net::{Dialer, Outgoing};
use haft_protocol::ModelId;

use crate::Endpoint;
use crate::exchange::Exchange;
use crate::known::Known;

/// A model that is asked in Responses. The server keeps nothing: each request holds the whole conversation.
#[derive(Debug, Clone)]
pub struct Responses {
    exchange: Exchange,
}

impl Responses {
    /// Makes a model. Nothing is dialled before it is asked.
    pub fn new(endpoint: Endpoint, id: ModelId, known: Known, dialer: Dialer) -> Self {
        Self { exchange: Exchange::new(endpoint, id, &known, dialer) }
    }

    /// Returns the bytes that a request is made of, for people to see what a model is told.
    ///
    /// # Errors
    ///
    /// Fails for a request whose calls and results do not match.
    pub fn body(&self, request: &Request) -> Result<Vec<u8>, ModelError> {
        request::body(&self.exchange, request)
    }

    fn outgoing(&self, body: Vec<u8>, within: Duration) -> Outgoing {
        let address = &self.exchange.endpoint.address;
        // An address without a path is a server's, and not that of its interface.
        let path = if address.path() == "/" { "v1/responses" } else { "responses" };
        let outgoing = Outgoing::post(address.join(path), body, within);
        match &self.exchange.endpoint.key {
            Some(key) => outgoing.secret("authorization", "Bearer ", key),
            None => outgoing,
        }
    }
}

impl ChatModel for Responses {
    fn facts(&self) -> &ModelFacts {
        &self.exchange.facts
    }

    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(async move {
            let body = self.body(&request)?;
            let outgoing = self.outgoing(body, self.exchange.endpoint.patience.first);
            let cap = request.sampling.output_tokens.map(|cap| u64::from(cap.get()));
            let reader = stream::ResponsesReader::new(self.exchange.endpoint.origin(), cap);
            self.exchange.ask(outgoing, &request.tools, reader).await
        })
    }
}
