//! A model that is asked over a connection.

use std::fmt;
use std::sync::Arc;

use haft_model::{BoxFuture, ChatModel, Dialect, ModelError, ModelFacts, ReplyStream, Request};
use haft_net::{Address, Dialer, Outgoing, Secret};
use haft_protocol::ModelId;
use haft_schema::dialect::Loss;

use crate::chat_completions::ChatCompletions;
use crate::exchange::{Exchange, Reader};
use crate::gemini::Gemini;
use crate::known::Known;
use crate::messages::Messages;
use crate::responses::Responses;
use crate::{Endpoint, EndpointError};

/// What one dialect has of its own.
pub(crate) trait Wire: fmt::Debug + Send + Sync + 'static {
    /// Returns where a model is asked, beneath the address of its endpoint.
    fn address(&self, address: &Address) -> Address;

    /// Says who asks, as most dialects do.
    fn signed(&self, outgoing: Outgoing, key: &Secret) -> Outgoing {
        outgoing.secret("authorization", "Bearer ", key)
    }

    /// Adds what every request says in its head.
    fn headed(&self, outgoing: Outgoing) -> Outgoing {
        outgoing
    }

    /// Returns the bytes of a request.
    fn body(&self, exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError>;

    /// Returns who reads the reply to a request.
    fn reader(&self, exchange: &Exchange, request: &Request) -> Box<dyn Reader>;
}

/// A model that is asked over a connection, in the dialect of its endpoint. Nothing is dialled before it is asked.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    exchange: Exchange,
    wire: Arc<dyn Wire>,
}

impl RemoteModel {
    pub(crate) fn new(
        mut endpoint: Endpoint,
        id: ModelId,
        known: &Known,
        dialer: Dialer,
    ) -> Result<Self, EndpointError> {
        let wire: Arc<dyn Wire> = match endpoint.dialect {
            Dialect::ChatCompletions => Arc::new(ChatCompletions),
            Dialect::Responses => Arc::new(Responses),
            Dialect::Messages => Arc::new(Messages),
            Dialect::Gemini => Arc::new(Gemini::of(&mut endpoint, &id)?),
        };
        Ok(Self { exchange: Exchange::new(endpoint, id, known, dialer), wire })
    }

    /// Returns the bytes that a request is made of, for people to see what a model is told.
    ///
    /// # Errors
    ///
    /// Fails for a request whose calls and results do not match.
    pub fn body(&self, request: &Request) -> Result<Vec<u8>, ModelError> {
        self.wire.body(&self.exchange, request)
    }

    /// Returns what the server cannot be told of the schemas of a request, or only in other words, each with the name of
    /// the tool or of the form of the reply.
    pub fn losses(&self, request: &Request) -> Vec<(String, Loss)> {
        let lowering = self.exchange.lowered(request);
        lowering.losses().map(|(name, loss)| (name.to_owned(), loss.clone())).collect()
    }
}

impl ChatModel for RemoteModel {
    fn facts(&self) -> &ModelFacts {
        &self.exchange.facts
    }

    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(async move {
            let Self { exchange, wire } = self;
            let body = wire.body(exchange, &request)?;
            let Endpoint { address, key, patience, .. } = &exchange.endpoint;
            let outgoing = Outgoing::post(wire.address(address), body, patience.first);
            let outgoing = match key {
                Some(key) => wire.signed(wire.headed(outgoing), key),
                None => wire.headed(outgoing),
            };
            let reader = wire.reader(exchange, &request);
            exchange.ask(&request, outgoing, reader).await
        })
    }
}
