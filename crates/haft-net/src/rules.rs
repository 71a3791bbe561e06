//! What a dialer may do.

use std::time::Duration;

use haft_protocol::limits;
use reqwest::{NoProxy, Proxy};

use crate::{Address, NetError};

/// The name that people know [`Rules::plain_http`] by.
pub const PLAIN_HTTP_SETTING: &str = "network.plain_http";

/// What a dialer may do. The default dials directly, and without encryption to this machine alone.
#[derive(Debug, Clone)]
pub struct Rules {
    /// How long a connection may take to stand.
    pub connect: Duration,
    /// Hosts that may be spoken to over plain `http`, besides this machine.
    pub plain_http: Vec<String>,
    /// Who stands between.
    pub proxies: Proxies,
    /// What the client calls itself.
    pub user_agent: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            connect: Duration::from_millis(limits::CONNECT_MS),
            plain_http: Vec::new(),
            proxies: Proxies::default(),
            user_agent: concat!("haft/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl Rules {
    pub(crate) fn check(&self, address: &Address) -> Result<(), NetError> {
        let named = |host: &String| host.eq_ignore_ascii_case(address.host());
        if address.is_encrypted() || address.is_loopback() || self.plain_http.iter().any(named) {
            return Ok(());
        }
        Err(NetError::Refused { address: address.clone() })
    }
}

/// Proxies, in the form that the usual variables of an environment have. This machine is never reached through one.
#[derive(Clone, Default)]
pub struct Proxies {
    /// For `https`, as in `HTTPS_PROXY`.
    pub https: Option<String>,
    /// For `http`, as in `HTTP_PROXY`.
    pub http: Option<String>,
    /// Hosts, domains and networks reached directly, as in `NO_PROXY`.
    pub except: String,
}

impl Proxies {
    pub(crate) fn build(&self) -> Result<Vec<Proxy>, NetError> {
        let except = format!("localhost,127.0.0.0/8,::1,{}", self.except);
        let except = NoProxy::from_string(&except);
        let read = |name: &'static str, made: reqwest::Result<Proxy>| {
            let made = made.map_err(|_| NetError::Proxy { name })?;
            Ok(made.no_proxy(except.clone()))
        };
        let https = self.https.as_ref().map(|it| read("https", Proxy::https(it)));
        let http = self.http.as_ref().map(|it| read("http", Proxy::http(it)));
        https.into_iter().chain(http).collect()
    }
}

impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The addresses of proxies may hold passwords.
        f.debug_struct("Proxies")
            .field("https", &self.https.is_some())
            .field("http", &self.http.is_some())
            .field("except", &self.except)
            .finish()
    }
}
