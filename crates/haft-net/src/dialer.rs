//! Who dials.

mod resolver;
mod tls;

use std::fmt;
use std::sync::Arc;

use reqwest::header::{CONNECTION, HeaderName, HeaderValue};
use reqwest::{Method, redirect, retry};

use crate::outgoing::Value;
use crate::{Incoming, NetError, Outgoing, Rules};

/// Headers of one answer.
const HEADERS: usize = 100;

/// Dials out, by its rules. Clones share their connections; to this machine there is a new one for each request.
#[derive(Clone)]
pub struct Dialer {
    client: reqwest::Client,
    rules: Arc<Rules>,
}

impl Dialer {
    /// Makes a dialer. Nothing is dialled.
    ///
    /// # Errors
    ///
    /// Fails where the address of a proxy cannot be read, or TLS cannot be set up.
    pub fn new(rules: Rules) -> Result<Self, NetError> {
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config()?)
            .dns_resolver(resolver::Resolver)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .http1_only()
            .http1_max_headers(HEADERS)
            .user_agent(&rules.user_agent)
            .connect_timeout(rules.connect);
        for proxy in rules.proxies.build()? {
            builder = builder.proxy(proxy);
        }
        let client =
            builder.build().map_err(|error| NetError::Setup { reason: error.to_string() })?;
        Ok(Self { client, rules: Arc::new(rules) })
    }

    /// Sends a request and returns the answer once its head is there, whatever its status.
    ///
    /// # Errors
    ///
    /// Fails where the rules forbid the address, nothing comes, or the answer is a redirect.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection.
    pub async fn send(&self, outgoing: Outgoing) -> Result<Incoming, NetError> {
        let Outgoing { address, body, headers, within } = outgoing;
        self.rules.check(&address)?;
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let mut request = reqwest::Request::new(method, address.url().clone());
        for (name, value) in headers {
            let value = header(name, &value)?;
            request.headers_mut().append(HeaderName::from_static(name), value);
        }
        if address.is_loopback() {
            // A new connection to this machine costs nothing, and small servers close the old one without a word.
            request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        *request.body_mut() = body.map(reqwest::Body::from);

        let late =
            || NetError::TimedOut { address: address.clone(), what: "answer", after: within };
        let answer = tokio::time::timeout(within, self.client.execute(request)).await;
        let response = answer
            .map_err(|_| late())?
            .map_err(|error| NetError::of(&error, &address, self.rules.connect))?;
        let status = response.status();
        if status.is_redirection() {
            let target = response.headers().get("location");
            let target = target.and_then(|it| it.to_str().ok()).unwrap_or("nowhere");
            let target = address.show(target);
            return Err(NetError::Redirect { address, status: status.as_u16(), target });
        }
        Ok(Incoming { response, address })
    }
}

fn header(name: &'static str, value: &Value) -> Result<HeaderValue, NetError> {
    let (text, hidden) = match value {
        Value::Plain(text) => (text.clone(), false),
        Value::Secret { before, secret } => (format!("{before}{}", secret.expose()), true),
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| NetError::Header { name })?;
    value.set_sensitive(hidden);
    Ok(value)
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("rules", &self.rules).finish_non_exhaustive()
    }
}
