//! Concrete chat models: who serves them, how they are asked, and how their replies are read.
//!
//! ```
//! use haft_providers::{Address, EndpointRegistry, Wanted};
//!
//! let registry = EndpointRegistry::default();
//! let wanted = Wanted { provider: "openai".to_owned(), ..Wanted::default() };
//! let endpoint = registry.find(wanted)?;
//! assert_eq!(endpoint.address.to_string(), "https://api.openai.com/v1");
//!
//! let unknown = Wanted { provider: "gpu-box".to_owned(), ..Wanted::default() };
//! assert!(registry.find(unknown.clone()).is_err());
//! let address = Address::parse("http://127.0.0.1:9000/v1").ok();
//! assert!(registry.find(Wanted { address, ..unknown }).is_ok());
//! # Ok::<(), haft_providers::EndpointError>(())
//! ```
//!
//! * An [`EndpointRegistry`] knows [`Provider`]s: names, addresses, variables that hold keys, [`Quirks`]. It is a table, and
//!   each row says what it was compared to and when.
//! * An [`Endpoint`] becomes a [`RemoteModel`] with [`Endpoint::model`], in OpenAI's Chat Completions or Responses,
//!   Anthropic's Messages, or Google's generateContent.
//! * [`discover()`] finds model servers on the usual ports of this machine.
//!
//! All of them read streams alike: progress alone counts against a stall, and the reply ends when its provider says so,
//! whether or not the connection does. Calls are put together by id before index, and what was cut never runs. What only its
//! provider understands goes back byte for byte, and to nobody else. An error is known by its words before its status.
//!
//! Requests are made of the same bytes as long as the conversation before them is the same: tools and system first, then the
//! messages, and whatever changes from one request to the next behind them.
//!
//! Not here: dialling (`haft-net`), retries and pacing (`haft-model`), what a request is made of (`haft-session`).

mod assemble;
mod chat_completions;
mod choice;
mod discover;
mod endpoint;
mod errors;
mod exchange;
mod gemini;
mod idle;
mod ids;
mod json;
mod known;
mod messages;
mod quirks;
mod rate;
mod registry;
mod remote;
mod responses;
mod schema;
mod sse;
mod table;
mod turns;
mod usage;
mod ways;

pub use discover::{LocalModel, LocalServer, ServerKind, USUAL_PORTS, discover};
pub use endpoint::Endpoint;
pub use haft_net::{Address, AddressError, Dialer, Proxies, Rules, Secret};
pub use idle::Patience;
pub use known::Known;
pub use quirks::{Cap, Forced, Ids, NoText, Quirks, ReasoningBack};
pub use registry::{EndpointError, EndpointRegistry, Wanted};
pub use remote::RemoteModel;
pub use table::Provider;
