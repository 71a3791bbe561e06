//! Anthropic's Messages.

mod request;
mod stream;

use haft_model::{ModelError, Request};
use haft_net::{Address, Outgoing, Secret};

use crate::exchange::{Exchange, Reader};
use crate::remote::Wire;

/// The version of the interface that requests are written in.
const VERSION: &str = "2023-06-01";

/// Messages.
#[derive(Debug)]
pub(crate) struct Messages;

impl Wire for Messages {
    fn address(&self, address: &Address) -> Address {
        let has_version = address.path().trim_end_matches('/').ends_with("/v1");
        address.join(if has_version { "messages" } else { "v1/messages" })
    }

    fn signed(&self, outgoing: Outgoing, key: &Secret) -> Outgoing {
        outgoing.secret("x-api-key", "", key)
    }

    fn headed(&self, outgoing: Outgoing) -> Outgoing {
        outgoing.header("anthropic-version", VERSION)
    }

    fn body(&self, exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
        request::body(exchange, request)
    }

    fn reader(&self, exchange: &Exchange, request: &Request) -> Box<dyn Reader> {
        let cap = u64::from(request::cap(exchange, request));
        Box::new(stream::MessagesReader::new(exchange.endpoint.origin(), cap))
    }
}
