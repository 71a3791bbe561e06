//! Addresses, checked before anything is dialled.

use std::fmt;
use std::net::Ipv4Addr;

use url::{Host, Url};

/// The address of a server or of something on it: `http` or `https`, a host, no credentials.
///
/// Shown to people, it has no query, for some servers want keys there.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address(Url);

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It could not be read.
    #[error(
        "`{text}` is no address ({reason}): expected `https://host` or `http://127.0.0.1:8080`"
    )]
    Unreadable {
        /// What was given, without query and credentials, cut to a length fit for a message.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It is neither `http` nor `https`.
    #[error("`{scheme}:` is not spoken here: expected `https://` or `http://`")]
    Scheme {
        /// What stands before the colon.
        scheme: String,
    },
    /// It holds a user's name or a password.
    #[error("the address of {host} holds credentials, which end in logs: give them apart from it")]
    Credentials {
        /// The host.
        host: String,
    },
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// Fails where the text is no address, names another protocol, or holds credentials.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text.trim()).map_err(|error| AddressError::Unreadable {
            text: shown(text),
            reason: error.to_string(),
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme().chars().take(40).collect();
            return Err(AddressError::Scheme { scheme });
        }
        if !url.username().is_empty() || url.password().is_some() {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(AddressError::Credentials { host });
        }
        Ok(Self(url))
    }

    /// Returns the address of something beneath this one. A query stays behind it.
    pub fn join(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{}", path.trim_start_matches('/')));
        url.set_fragment(None);
        Self(url)
    }

    /// Returns this address with one field more in its query.
    #[must_use]
    pub fn with_query(mut self, name: &str, value: &str) -> Self {
        self.0.query_pairs_mut().append_pair(name, value);
        self
    }

    /// Returns the address of something on the same server, wherever this one leads.
    pub fn at_root(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_path(path);
        url.set_query(None);
        url.set_fragment(None);
        Self(url)
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns the port, the usual one where none is written.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Returns the path.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// Returns protocol, host and port: who is spoken to.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// Tells whether what is said there is encrypted on its way.
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Tells whether it is this machine.
    pub fn is_loopback(&self) -> bool {
        match self.0.host() {
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => {
                ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip: Ipv4Addr| ip.is_loopback())
            }
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        }
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Shows where another text leads, without what it may hold of secrets.
    pub(crate) fn show(&self, target: &str) -> String {
        match self.0.join(target) {
            Ok(url) if url.has_host() => Self(url).to_string(),
            _ => shown(target),
        }
    }
}

/// Returns a text fit for a message: no query, no credentials, not long.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let text = match (text.split_once("//"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}//{host}"),
        (None, Some((_, host))) => host.to_owned(),
        (_, None) => text.to_owned(),
    };
    text.escape_debug().to_string().chars().take(120).collect()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.path();
        write!(f, "{}{}", self.origin(), if path == "/" { "" } else { path })
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text)
    }
}
