//! From a provider's name to an endpoint.

use haft_model::Dialect;
use haft_net::{Address, AddressError, Secret};
use haft_protocol::ModelId;

use crate::table;
use crate::ways::Ways;
use crate::{Endpoint, Provider, Quirks};

/// The providers that are known.
///
/// A name or alias that somebody registered is never rejected, whatever else is wanted of it. A name that nobody registered is
/// taken for a compatible server only where somebody says so: by [`Wanted::is_compatible`], or by an address.
#[derive(Debug, Clone)]
pub struct EndpointRegistry {
    providers: Vec<Provider>,
}

/// What is wanted of a registry.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The provider's name or alias.
    pub provider: String,
    /// The model, where it is known: its provider may speak to it in another language than to most.
    pub model: Option<ModelId>,
    /// The language, where it has to be a certain one.
    pub dialect: Option<Dialect>,
    /// The address, where it is not the provider's own.
    pub address: Option<Address>,
    /// Whether a provider that nobody registered is a server like others, spoken to in Chat Completions.
    pub is_compatible: bool,
    /// Who asks.
    pub key: Option<Secret>,
}

/// Why there is no endpoint, or no model behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Nobody registered the provider.
    #[error(
        "no provider is called `{provider}`: there are {}. If it is a server that speaks like OpenAI's, give its address",
        listed(.known)
    )]
    ProviderNotFound {
        /// The name that was asked for, cut to a length fit for a message.
        provider: String,
        /// The names of all that are registered.
        known: Vec<String>,
    },
    /// A server that nobody registered has no address of its own.
    #[error("`{provider}` has no address of its own: give one, such as `http://127.0.0.1:8080/v1`")]
    NoAddress {
        /// The provider.
        provider: String,
    },
    /// The address of a provider cannot be used.
    #[error("the address of `{provider}` cannot be used")]
    Address {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        #[source]
        source: AddressError,
    },
    /// A model's name cannot stand in the address that it is asked at.
    #[error(
        "`{name}` cannot be a model of `{provider}`: its name is part of an address, expected letters, digits, `-`, `_` and `.`"
    )]
    ModelName {
        /// The provider.
        provider: String,
        /// The name, escaped and cut to a length fit for a message.
        name: String,
    },
    /// A name is another provider's already.
    #[error("the name `{name}` of the provider `{provider}` is taken by `{owner}`")]
    Taken {
        /// The name or alias.
        name: String,
        /// Who wants it.
        provider: String,
        /// Who has it.
        owner: String,
    },
    /// A provider speaks no language.
    #[error("the provider `{provider}` has no dialect: expected one at least, with its address")]
    Mute {
        /// The provider.
        provider: String,
    },
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Default for EndpointRegistry {
    fn default() -> Self {
        Self { providers: table::providers() }
    }
}

impl EndpointRegistry {
    /// Returns a registry that knows nobody.
    pub fn empty() -> Self {
        Self { providers: Vec::new() }
    }

    /// Adds a provider.
    ///
    /// # Errors
    ///
    /// Fails where it speaks nothing, or one of its names is another's.
    pub fn register(&mut self, provider: Provider) -> Result<(), EndpointError> {
        if provider.dialects.is_empty() {
            return Err(EndpointError::Mute { provider: provider.name });
        }
        for name in std::iter::once(&provider.name).chain(&provider.aliases) {
            if let Some(owner) = self.get(name) {
                let (name, owner) = (name.clone(), owner.name.clone());
                return Err(EndpointError::Taken { name, provider: provider.name, owner });
            }
        }
        self.providers.push(provider);
        Ok(())
    }

    /// Returns all providers, in the order they were registered in.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// Returns the provider of a name or alias, in capitals or not.
    pub fn get(&self, name: &str) -> Option<&Provider> {
        let is = |known: &String| known.eq_ignore_ascii_case(name);
        self.providers.iter().find(|it| is(&it.name) || it.aliases.iter().any(is))
    }

    /// Returns the id of a model under its provider's name, where that was called by an alias.
    pub fn canonical(&self, id: &ModelId) -> ModelId {
        let provider = self.get(id.provider()).map(|it| it.name.as_str());
        let named = provider.and_then(|provider| ModelId::new(provider, id.name()).ok());
        named.unwrap_or_else(|| id.clone())
    }

    /// Returns where a provider is asked.
    ///
    /// A language that a registered provider is not known to speak is tried at its usual address: which languages it speaks
    /// may have changed, who it is has not.
    ///
    /// # Errors
    ///
    /// Fails for a name that nobody registered, unless the server is said to be compatible and has an address.
    pub fn find(&self, wanted: Wanted) -> Result<Endpoint, EndpointError> {
        let Wanted { provider: name, model, dialect, address, is_compatible, key } = wanted;
        let Some(provider) = self.get(&name) else {
            let name: String = name.chars().take(60).collect();
            let Some(address) = address else {
                return Err(if is_compatible {
                    EndpointError::NoAddress { provider: name }
                } else {
                    let known = self.providers.iter().map(|it| it.name.clone()).collect();
                    EndpointError::ProviderNotFound { provider: name, known }
                });
            };
            let dialect = dialect.unwrap_or(Dialect::ChatCompletions);
            return Ok(Endpoint::new(name, dialect, address).with_key(key));
        };
        let usual = provider.dialects.first();
        let of_model = model.and_then(|id| Ways::of(&provider.name, id.name()).dialect);
        let own = of_model.and_then(|own| provider.dialects.iter().find(|(it, _)| *it == own));
        // Who serves the provider's models elsewhere may speak its usual language alone.
        let own = own.filter(|(_, at)| {
            let there = Address::parse(at).ok();
            address.as_ref().is_none_or(|it| there.is_some_and(|at| at.origin() == it.origin()))
        });
        let dialect = dialect.or(own.map(|(dialect, _)| *dialect));
        let spoken = match dialect {
            Some(wanted) => provider.dialects.iter().find(|(dialect, _)| *dialect == wanted),
            None => usual,
        };
        let dialect = dialect.or(usual.map(|(dialect, _)| *dialect));
        let dialect = dialect.unwrap_or(Dialect::ChatCompletions);
        let address = match (address, spoken.or(usual)) {
            (Some(address), _) => address,
            (None, Some((_, address))) => Address::parse(address).map_err(|source| {
                EndpointError::Address { provider: provider.name.clone(), source }
            })?,
            (None, None) => return Err(EndpointError::Mute { provider: provider.name.clone() }),
        };
        let mut endpoint = Endpoint::new(&provider.name, dialect, address).with_key(key);
        endpoint.key_variables.clone_from(&provider.key_variables);
        endpoint.quirks = if spoken.is_some() { provider.quirks } else { Quirks::default() };
        Ok(endpoint)
    }
}
