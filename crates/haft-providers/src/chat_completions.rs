//! OpenAI's Chat Completions, and whatever claims to be compatible with them.

mod request;
mod stream;

use haft_model::{ModelError, Request};
use haft_net::Address;

use crate::exchange::{Exchange, Reader};
use crate::remote::Wire;

/// Chat Completions.
#[derive(Debug)]
pub(crate) struct ChatCompletions;

impl Wire for ChatCompletions {
    fn address(&self, address: &Address) -> Address {
        // An address without a path is a server's, and not that of its interface.
        let path = if address.path() == "/" { "v1/chat/completions" } else { "chat/completions" };
        address.join(path)
    }

    fn body(&self, exchange: &Exchange, request: &Request) -> Result<Vec<u8>, ModelError> {
        request::body(exchange, request)
    }

    fn reader(&self, exchange: &Exchange, request: &Request) -> Box<dyn Reader> {
        let cap = request.sampling.output_tokens.map(|cap| u64::from(cap.get()));
        Box::new(stream::ChatReader::new(exchange.endpoint.origin(), cap))
    }
}
