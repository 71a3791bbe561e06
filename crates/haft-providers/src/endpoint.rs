//! Where a model is asked, and in which manner.

use haft_model::{Dialect, ModelFacts};
use haft_net::{Address, Dialer, Secret};
use haft_protocol::ModelId;

use crate::known::Known;
use crate::ways::Ways;
use crate::{EndpointError, Forced, Patience, Quirks, RemoteModel};

/// A server, the language it is spoken to in, and who asks.
///
/// ```
/// use haft_model::Dialect;
/// use haft_providers::{Address, Endpoint};
///
/// let address = Address::parse("http://127.0.0.1:8080/v1").unwrap();
/// let endpoint = Endpoint::new("llamacpp", Dialect::ChatCompletions, address);
/// assert_eq!(endpoint.origin(), "chat-completions http://127.0.0.1:8080");
/// ```
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Who serves it.
    pub provider: String,
    /// The language.
    pub dialect: Dialect,
    /// The address that the paths of the dialect are beneath.
    pub address: Address,
    /// Who asks; nothing where nobody is asked who they are.
    pub key: Option<Secret>,
    /// The variables that a key is usually in, for people who have none.
    pub key_variables: Vec<String>,
    /// What this server wants otherwise than others.
    pub quirks: Quirks,
    /// How long it may say nothing.
    pub patience: Patience,
}

impl Endpoint {
    /// Makes an endpoint that wants nothing unusual and no key.
    pub fn new(provider: impl Into<String>, dialect: Dialect, address: Address) -> Self {
        Self {
            provider: provider.into(),
            dialect,
            address,
            key: None,
            key_variables: Vec::new(),
            quirks: Quirks::default(),
            patience: Patience::default(),
        }
    }

    /// Sets who asks.
    #[must_use]
    pub fn with_key(mut self, key: Option<Secret>) -> Self {
        self.key = key.filter(|key| !key.is_empty());
        self
    }

    /// Returns who the opaque parts of its replies belong to.
    pub fn origin(&self) -> String {
        format!("{} {}", self.dialect.as_str(), self.address.origin())
    }

    /// Returns a model that is asked there. Nothing is dialled before it is asked.
    ///
    /// # Errors
    ///
    /// Fails for a name that cannot be one of a model, in a dialect that asks for models by their address.
    pub fn model(
        self,
        id: ModelId,
        known: Known,
        dialer: Dialer,
    ) -> Result<RemoteModel, EndpointError> {
        RemoteModel::new(self, id, &known, dialer)
    }

    pub(crate) fn facts(&self, id: ModelId, known: &Known, ways: Ways) -> ModelFacts {
        ModelFacts {
            id,
            dialect: self.dialect,
            origin: self.origin(),
            address: self.address.to_string(),
            window_tokens: known.window_tokens,
            output_tokens: known.output_tokens,
            sees_images: known.sees_images,
            calls_on_demand: self.quirks.forced != Forced::Never && ways.calls_on_demand,
            price: known.price,
        }
    }
}
