//! What is sent.

use std::time::Duration;

use bytes::Bytes;

use crate::{Address, Secret};

/// A request on its way out.
#[derive(Debug, Clone)]
pub struct Outgoing {
    pub(crate) address: Address,
    pub(crate) body: Option<Bytes>,
    pub(crate) headers: Vec<(&'static str, Value)>,
    pub(crate) within: Duration,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Plain(String),
    Secret { before: &'static str, secret: Secret },
}

impl Outgoing {
    /// Makes a `GET`. The head of the answer has to come within a time.
    pub fn get(address: Address, within: Duration) -> Self {
        Self { address, body: None, headers: Vec::new(), within }
    }

    /// Makes a `POST`. The head of the answer has to come within a time.
    pub fn post(address: Address, body: impl Into<Bytes>, within: Duration) -> Self {
        Self { address, body: Some(body.into()), headers: Vec::new(), within }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, Value::Plain(value.into())));
        self
    }

    /// Adds a header that ends in a credential, behind words such as `Bearer `.
    #[must_use]
    pub fn secret(mut self, name: &'static str, before: &'static str, secret: &Secret) -> Self {
        self.headers.push((name, Value::Secret { before, secret: secret.clone() }));
        self
    }
}
