//! What can go wrong on the way.

use std::error::Error;
use std::time::Duration;

use crate::Address;
use crate::rules::PLAIN_HTTP_SETTING;

/// Why nothing came back, or not all of it. No text of it holds a credential.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// The host has no address.
    #[error("{host} cannot be resolved: {reason}")]
    Unresolved {
        /// The host.
        host: String,
        /// What the system says.
        reason: String,
    },
    /// Nobody answers there.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable {
        /// Where.
        address: Address,
        /// What the system says.
        reason: String,
    },
    /// The server could not show that it is who it should be, or speaks no TLS.
    #[error("{address} cannot be trusted: {reason}")]
    Tls {
        /// Where.
        address: Address,
        /// What is wrong.
        reason: String,
    },
    /// Something took too long.
    #[error("{address} took longer than {} to {what}", seconds(*.after))]
    TimedOut {
        /// Where.
        address: Address,
        /// What it should have done, such as `answer`.
        what: &'static str,
        /// How long it had.
        after: Duration,
    },
    /// The connection broke, or what came is no HTTP.
    #[error("the connection to {address} broke: {reason}")]
    Broken {
        /// Where.
        address: Address,
        /// What happened.
        reason: String,
    },
    /// The server sends its visitors elsewhere.
    #[error(
        "{address} answers {status} and points to {target}: redirects are not followed, for credentials would go along; \
         use that address if it is the right one"
    )]
    Redirect {
        /// Where.
        address: Address,
        /// The status.
        status: u16,
        /// Where it points, without query.
        target: String,
    },
    /// The answer is longer than any that makes sense.
    #[error("the answer of {address} has more than {limit} bytes")]
    TooLarge {
        /// Where.
        address: Address,
        /// Bytes that were allowed.
        limit: usize,
    },
    /// What is sent there could be read on the way.
    #[error(
        "{address} is not encrypted and not on this machine, so that anybody on the way could read what is sent: use https, or \
         add `{}` to `{PLAIN_HTTP_SETTING}`", .address.host()
    )]
    Refused {
        /// Where.
        address: Address,
    },
    /// A header cannot hold what it should.
    #[error(
        "the header `{name}` cannot be sent: its value holds a line break or another character that no header may have"
    )]
    Header {
        /// The header.
        name: &'static str,
    },
    /// The address of a proxy cannot be read.
    #[error(
        "the address of the {name} proxy cannot be read: expected one such as `http://proxy.example:3128`"
    )]
    Proxy {
        /// Which proxy: `https` or `http`.
        name: &'static str,
    },
    /// TLS cannot be set up on this machine.
    #[error("TLS cannot be set up: {reason}")]
    Setup {
        /// What is missing.
        reason: String,
    },
}

fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        return format!("{} s", time.as_secs());
    }
    format!("{} ms", time.as_millis())
}

/// A name that has no address, on its way through the library that asked for it.
#[derive(Debug, thiserror::Error)]
#[error("{host}: {reason}")]
pub(crate) struct NoSuchHost {
    pub(crate) host: String,
    pub(crate) reason: String,
}

impl NetError {
    /// Brings an error of the library into ours. `after` is how long a connection may take.
    pub(crate) fn of(error: &reqwest::Error, address: &Address, after: Duration) -> Self {
        let address = address.clone();
        if let Some(NoSuchHost { host, reason }) = find(error) {
            return Self::Unresolved { host: host.clone(), reason: reason.clone() };
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            return Self::Tls { address, reason: say_tls(tls) };
        }
        if error.is_connect() && error.is_timeout() {
            return Self::TimedOut { address, what: "be reached", after };
        }
        let reason = innermost(error);
        if error.is_connect() {
            return Self::Unreachable { address, reason };
        }
        Self::Broken { address, reason }
    }
}

/// Walks from an error to what caused it. An error of input and output that wraps another one leaves it out of its sources.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let below = |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        match wrapped {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    };
    std::iter::successors(Some(error), below).take(32)
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|error| error.downcast_ref())
}

fn say_tls(error: &rustls::Error) -> String {
    use rustls::{CertificateError as Certificate, Error as Tls};
    match error {
        Tls::InvalidCertificate(Certificate::UnknownIssuer) => {
            "nobody this system trusts has signed its certificate".to_owned()
        }
        Tls::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            "its certificate has expired".to_owned()
        }
        Tls::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => "its certificate is for another host".to_owned(),
        Tls::InvalidMessage(_) => "what came is no TLS; does it want http?".to_owned(),
        other => other.to_string(),
    }
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    let last = chain(error).last().map(ToString::to_string).unwrap_or_default();
    last.chars().take(300).collect()
}
