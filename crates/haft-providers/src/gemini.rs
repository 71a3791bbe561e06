//! Google's generateContent.

mod request;
mod stream;

use haft_model::{ModelError, Request};
use haft_net::{Address, Outgoing, Secret};
use haft_protocol::ModelId;
use haft_schema::dialect::Dialect as Schemas;

use crate::exchange::{Exchange, Reader};
use crate::remote::Wire;
use crate::{Endpoint, EndpointError};

/// Google's streamGenerateContent, of one model.
#[derive(Debug)]
pub(crate) struct Gemini {
    path: String,
}

impl Gemini {
    /// Makes what asks a model of an endpoint, and puts the endpoint's schemas right.
    ///
    /// # Errors
    ///
    /// Fails for a name that cannot stand in the address that the model is asked at.
    pub(crate) fn of(endpoint: &mut Endpoint, id: &ModelId) -> Result<Self, EndpointError> {
        let Some(path) = path(id) else {
            let name = id.name().escape_debug().to_string().chars().take(60).collect();
            return Err(EndpointError::ModelName { provider: endpoint.provider.clone(), name });
        };
        // There are two fields for schemas, each with a dialect of its own; no other fits either.
        if endpoint.quirks.schemas != Schemas::Gemini {
            endpoint.quirks.schemas = Schemas::GeminiJson;
        }
        Ok(Self { path })
    }
}

impl Wire for Gemini {
    fn address(&self, address: &Address) -> Address {
        // An address without a path is a server's, and not that of its interface.
        let version = if address.path() == "/" { "v1beta/" } else { "" };
        let path = format!("{version}{}:streamGenerateContent", self.path);
        address.join(&path).with_query("alt", "sse")
    }

    fn signed(&self, outgoing: Outgoing, key: &Secret) -> Outgoing {
        outgoing.secret("x-goog-api-key", "", key)
    }

    fn body(&self, exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
        request::body(exchange, request)
    }

    fn reader(&self, exchange: &Exchange, _: &Request) -> Box<dyn Reader> {
        Box::new(stream::GeminiReader::new(exchange.endpoint.origin()))
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
