//! Anthropic's Messages.

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

/// The version of the interface that requests are written in.
const VERSION: &str = "2023-06-01";

/// A model that is asked in Messages.
#[derive(Debug, Clone)]
pub struct Messages {
    exchange: Exchange,
}

impl Messages {
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
        let has_version = address.path().trim_end_matches('/').ends_with("/v1");
        let path = if has_version { "messages" } else { "v1/messages" };
        let outgoing = Outgoing::post(address.join(path), body, within);
        let outgoing = outgoing.header("anthropic-version", VERSION);
        match &self.exchange.endpoint.key {
            Some(key) => outgoing.secret("x-api-key", "", key),
            None => outgoing,
        }
    }
}

impl ChatModel for Messages {
    fn facts(&self) -> &ModelFacts {
        &self.exchange.facts
    }

    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(async move {
            let body = self.body(&request)?;
            let outgoing = self.outgoing(body, self.exchange.endpoint.patience.first);
            let cap = u64::from(request::cap(&self.exchange, &request));
            let reader = stream::MessagesReader::new(self.exchange.endpoint.origin(), cap);
            self.exchange.ask(outgoing, &request.tools, reader).await
        })
    }
}
