//! Which model is asked, and where.

use std::sync::Arc;

use haft::models::providers::{
    Address, Dialer, EndpointRegistry, Known, LocalServer, Proxies, Rules, Secret, USUAL_PORTS,
    Wanted, discover,
};
use haft::models::{Account, AccountLimits, ChatModel, Guarded, ModelId, Waiting};

use crate::assemble::UserMistake;
use crate::environment::Environment;

/// A model that was chosen, and why it was that one.
pub(crate) struct Chosen {
    /// The model.
    pub(crate) model: Arc<dyn ChatModel>,
    /// Where it was named or found, in a few words.
    pub(crate) because: String,
}

/// Chooses the model that was asked for, else the first that a server on this machine has.
pub(crate) async fn choose(
    environment: &Environment,
    wanted: Option<&str>,
    watcher: impl Fn(&Waiting) + Send + Sync + 'static,
) -> anyhow::Result<Chosen> {
    let dialer = dialer(environment)?;
    let (id, endpoint, known, because) = match wanted {
        Some(text) => {
            let id: ModelId = text.parse().map_err(|error| {
                UserMistake::new(format!("{error}")).hint("`haft models` lists what there is")
            })?;
            let (endpoint, known) = named(environment, &dialer, &id).await?;
            (id, endpoint, known, "named by `--model`".to_owned())
        }
        None => found(environment, &dialer).await?,
    };
    if endpoint.key.is_none()
        && !endpoint.key_variables.is_empty()
        && !endpoint.address.is_loopback()
    {
        let variable = endpoint.key_variables.join(" or ");
        return Err(UserMistake::new(format!(
            "`{}` wants a key, and there is none",
            endpoint.provider
        ))
        .hint(format!("set {variable}"))
        .into());
    }
    let account = Arc::new(Account::new(&endpoint.provider, AccountLimits::default()));
    let model = endpoint.model(id, known, dialer).map_err(mistake)?;
    let model: Arc<dyn ChatModel> = Arc::new(Guarded::new(model, account).watched_by(watcher));
    Ok(Chosen { model, because })
}

type Endpoint = haft::models::providers::Endpoint;

async fn named(
    environment: &Environment,
    dialer: &Dialer,
    id: &ModelId,
) -> anyhow::Result<(Endpoint, Known)> {
    let registry = EndpointRegistry::default();
    let mut wanted = Wanted { provider: id.provider().to_owned(), ..Wanted::default() };
    if let Some(provider) = registry.get(id.provider()) {
        let first = |names: &[String]| {
            names
                .iter()
                .find_map(|name| Some((name.clone(), environment.variable(name)?.to_owned())))
        };
        wanted.key = first(&provider.key_variables).map(|(_, key)| Secret::new(&key));
        if let Some((variable, address)) = first(&provider.address_variables) {
            let address = Address::parse(&address)
                .map_err(|error| UserMistake::new(format!("{variable}: {error}")))?;
            wanted.address = Some(address);
        }
    }
    let endpoint = registry.find(wanted).map_err(mistake)?;
    let mut known = Known::default();
    if endpoint.address.is_loopback() {
        let servers = discover(dialer, &[endpoint.address.port()]).await;
        let models = servers.iter().flat_map(|server| &server.models);
        known.window_tokens =
            models.filter(|it| it.name == id.name()).find_map(|it| it.window_tokens);
    }
    Ok((endpoint, known))
}

async fn found(
    environment: &Environment,
    dialer: &Dialer,
) -> anyhow::Result<(ModelId, Endpoint, Known, String)> {
    let servers = discover(dialer, &USUAL_PORTS).await;
    let first = servers.iter().find_map(|server| Some((server, server.models.first()?)));
    let Some((LocalServer { kind, address, .. }, model)) = first else {
        return Err(nothing(environment).into());
    };
    let id = ModelId::new(kind.provider(), &model.name).map_err(mistake)?;
    let wanted = Wanted {
        provider: kind.provider().to_owned(),
        address: Some(address.clone()),
        ..Wanted::default()
    };
    let endpoint = EndpointRegistry::default().find(wanted).map_err(mistake)?;
    let known = Known { window_tokens: model.window_tokens, ..Known::default() };
    Ok((id, endpoint, known, "found on this machine".to_owned()))
}

fn nothing(environment: &Environment) -> UserMistake {
    let registry = EndpointRegistry::default();
    let has_key = registry
        .providers()
        .iter()
        .find(|it| it.key_variables.iter().any(|name| environment.variable(name).is_some()));
    let mistake = UserMistake::new(
        "there is no model to ask: none was named, and no server of models answers on this machine",
    );
    let mistake = match has_key {
        Some(provider) => mistake.hint(format!(
            "name one of `{}`, for which there is a key: `--model {}/NAME`",
            provider.name, provider.name
        )),
        None => mistake.hint(
            "set a key, such as ANTHROPIC_API_KEY, and name a model: `--model anthropic/NAME`",
        ),
    };
    mistake
        .hint("or start a server on this machine: `llama-server -m MODEL.gguf --jinja`, or `ollama serve`")
        .hint("or name a server elsewhere: OPENAI_BASE_URL=https://HOST/v1 and `--model openai/NAME`")
}

fn mistake(error: impl std::error::Error) -> UserMistake {
    let mut text = error.to_string();
    if let Some(source) = error.source() {
        text = format!("{text}: {source}");
    }
    UserMistake::new(text)
}

fn dialer(environment: &Environment) -> anyhow::Result<Dialer> {
    let variable = |name: &str| {
        let lower = name.to_ascii_lowercase();
        environment.variable(&lower).or_else(|| environment.variable(name)).map(ToOwned::to_owned)
    };
    let proxies = Proxies {
        https: variable("HTTPS_PROXY").or_else(|| variable("ALL_PROXY")),
        http: variable("HTTP_PROXY").or_else(|| variable("ALL_PROXY")),
        except: variable("NO_PROXY").unwrap_or_default(),
    };
    Ok(Dialer::new(Rules { proxies, ..Rules::default() }).map_err(mistake)?)
}
