//! The door to the network: the only crate that dials out.
//!
//! ```no_run
//! use std::time::Duration;
//! use haft_net::{Address, Dialer, Outgoing, Rules, Secret};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let dialer = Dialer::new(Rules::default())?;
//! let key = Secret::new("not to be seen");
//! let models = Address::parse("https://api.openai.com/v1")?.join("models");
//! let question = Outgoing::get(models, Duration::from_secs(10)).secret("authorization", "Bearer ", &key);
//! let answer = dialer.send(question).await?;
//! assert_eq!(answer.status(), 200);
//! let body = answer.whole(1024 * 1024, Duration::from_secs(10)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! * A [`Dialer`] sends what is [`Outgoing`] and returns what is [`Incoming`]: whole and bounded, or as a [`ByteStream`].
//! * [`Rules`] say what it may do. Names of the process environment are not read here: a face reads them and passes a value.
//! * An [`Address`] is checked before anything is dialled. What is not encrypted goes to this machine alone, unless the
//!   rules name the host.
//! * Redirects are not followed, for credentials would go with them: the [`NetError`] names the target.
//! * A [`Secret`] is in no text that is made here, neither of a value nor of an error.
//!
//! TLS is rustls with ring, made for each dialer; nothing global is installed. Certificates are checked as the system does.
//! There is no HTTP/2 and no compression, from which a stream of single tokens gains nothing.
//!
//! Not here: what is said (`haft-providers`), and when it is said again (`haft-model`).

mod address;
mod dialer;
mod error;
mod incoming;
mod outgoing;
mod rules;
mod secret;

pub use address::{Address, AddressError};
pub use dialer::Dialer;
pub use error::NetError;
pub use incoming::{ByteStream, Incoming};
pub use outgoing::Outgoing;
pub use rules::{PLAIN_HTTP_SETTING, Proxies, Rules};
pub use secret::Secret;
