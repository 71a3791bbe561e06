//! Google's generateContent.

mod request;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use haft_model::{BoxFuture, ChatModel, ModelError, ModelFacts, ReplyStream, Request};
use haft_net::{Dialer, Outgoing};
use haft_protocol::ModelId;
use haft_schema::dialect::Dialect as Schemas;

use crate::exchange::Exchange;
use crate::known::Known;
use crate::{Endpoint, EndpointError};

/// A model that is asked in Google's streamGenerateContent.
#[derive(Debug, Clone)]
pub struct Gemini {
    exchange: Exchange,
    path: String,
}

impl Gemini {
    /// Makes a model. Nothing is dialled before it is asked.
    ///
    /// # Errors
    ///
    /// Fails for a name that cannot stand in the address that the model is asked at.
    pub fn new(
        mut endpoint: Endpoint,
        id: ModelId,
        known: Known,
        dialer: Dialer,
    ) -> Result<Self, EndpointError> {
        let Some(path) = path(&id) else {
            let name = id.name().escape_debug().to_string().chars().take(60).collect();
            return Err(EndpointError::ModelName { provider: endpoint.provider, name });
        };
        // There are two fields for schemas, each with a dialect of its own; no other fits either.
        if endpoint.quirks.schemas != Schemas::Gemini {
            endpoint.quirks.schemas = Schemas::GeminiJson;
        }
        Ok(Self { exchange: Exchange::new(endpoint, id, &known, dialer), path })
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
        let version = if address.path() == "/" { "v1beta/" } else { "" };
        let address = address.join(&format!("{version}{}:streamGenerateContent", self.path));
        let outgoing = Outgoing::post(address.with_query("alt", "sse"), body, within);
        match &self.exchange.endpoint.key {
            Some(key) => outgoing.secret("x-goog-api-key", "", key),
            None => outgoing,
        }
    }
}

/// Returns where a model is beneath an address: among the models unless its name says otherwise.
fn path(id: &ModelId) -> Option<String> {
    let name = id.name();
    let fits = |segment: &str| {
        let taken = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.' | b'@');
        !segment.bytes().all(|it| it == b'.') && segment.bytes().all(taken)
    };
    let is_path = name.starts_with("models/") || name.starts_with("tunedModels/");
    let path = if is_path { name.to_owned() } else { format!("models/{name}") };
    path.split('/').all(fits).then_some(path)
}

impl ChatModel for Gemini {
    fn facts(&self) -> &ModelFacts {
        &self.exchange.facts
    }

    fn ask(&self, request: Arc<Request>) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(async move {
            let body = self.body(&request)?;
            let outgoing = self.outgoing(body, self.exchange.endpoint.patience.first);
            let reader = stream::GeminiReader::new(self.exchange.endpoint.origin());
            self.exchange.ask(outgoing, &request.tools, reader).await
        })
    }
}
