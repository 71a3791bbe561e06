//! OpenAI's Responses. The server keeps nothing: each request holds the whole conversation.

mod item;
mod request;
mod stream;

use haft_model::{ModelError, Request};
use haft_net::Address;

use crate::exchange::{Exchange, Reader};
use crate::remote::Wire;

/// Responses.
#[derive(Debug)]
pub(crate) struct Responses;

impl Wire for Responses {
    fn address(&self, address: &Address) -> Address {
        // An address without a path is a server's, and not that of its interface.
        address.join(if address.path() == "/" { "v1/responses" } else { "responses" })
    }

    fn body(&self, exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
        request::body(exchange, request)
    }

    fn reader(&self, exchange: &Exchange, request: &Request) -> Box<dyn Reader> {
        let cap = request.sampling.output_tokens.map(|cap| u64::from(cap.get()));
        Box::new(stream::ResponsesReader::new(exchange.endpoint.origin(), cap))
    }
}
