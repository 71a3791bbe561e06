//! Which model is asked, and where.

pub(crate) mod local;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use haft::config::{Config, ModelEntry, ModelPrice};
use haft::models::providers::{
    Address, Dialer, Endpoint, EndpointRegistry, Known, Proxies, Rules, Secret, Wanted,
};
use haft::models::{
    Account, AccountLimits, ChatModel, Dialect, Effort, Guarded, ModelId, Price, Sampling, Waiting,
};

use crate::assemble::UserMistake;
use crate::environment::Environment;

/// A model that was chosen, and why it was that one.
pub(crate) struct Chosen {
    /// The model.
    pub(crate) model: Arc<dyn ChatModel>,
    /// How it picks its words, where that is set.
    pub(crate) sampling: Sampling,
    /// Where it was named or found, in a few words.
    pub(crate) because: String,
}

/// A model, where it is asked, and what is known of it.
struct Served {
    id: ModelId,
    endpoint: Endpoint,
    known: Known,
    sampling: Sampling,
    /// What its user should know of it.
    remark: Option<String>,
}

/// Chooses the model: the one that was asked for, the one that a run had before, the one that is set, else the first
/// that a server on this machine has.
pub(crate) async fn choose(
    environment: &Environment,
    config: &Config,
    wanted: Option<&str>,
    before: Option<&str>,
    watcher: impl Fn(&Waiting) + Send + Sync + 'static,
) -> anyhow::Result<Chosen> {
    let dialer = dialer(environment, config)?;
    let named = match (wanted, before, config.model.as_deref()) {
        (Some(text), ..) => Some((text, "named by `--model`".to_owned())),
        (None, Some(text), _) => Some((text, "as before".to_owned())),
        (None, None, Some(text)) => {
            Some((text, format!("named by {}", config.origin("model.default"))))
        }
        (None, None, None) => None,
    };
    let names = Names { environment, config, dialer: &dialer };
    let (served, mut because) = match named {
        Some((text, because)) => (names.find(text).await?, because),
        None => match local::first(&dialer).await? {
            Some(served) => (served, "found on this machine".to_owned()),
            None => return Err(nothing(environment, config).into()),
        },
    };
    let Served { id, endpoint, known, sampling, remark } = served;
    if let Some(remark) = remark {
        because = format!("{because}, {remark}");
    }
    if endpoint.key.is_none()
        && !endpoint.key_variables.is_empty()
        && !endpoint.address.is_loopback()
    {
        let variable = endpoint.key_variables.join(" or ");
        return Err(UserMistake::new(format!(
            "`{}` wants a key, and there is none",
            endpoint.provider
        ))
        .hint(format!("set {variable}; for a server of your own, `models.NAME.key_env` names it"))
        .into());
    }
    let account = Arc::new(Account::new(&endpoint.provider, AccountLimits::default()));
    let model = endpoint.model(id, known, dialer).map_err(mistake)?;
    let model: Arc<dyn ChatModel> =
        Arc::new(Guarded::new(Arc::new(model), account).watched_by(watcher));
    Ok(Chosen { model, sampling, because })
}

/// What names stand for.
struct Names<'a> {
    environment: &'a Environment,
    config: &'a Config,
    dialer: &'a Dialer,
}

impl Names<'_> {
    /// Finds a model by a name of the configuration, or by `provider/name`.
    async fn find(&self, text: &str) -> anyhow::Result<Served> {
        let entry = self.config.models.get(text);
        let id = match entry {
            Some(ModelEntry { model: Some(id), .. }) => id.clone(),
            Some(_) if !text.contains('/') => {
                return Err(UserMistake::new(format!("`{text}` is a server, not a model"))
                    .hint(format!("name a model of it: `{text}/NAME`"))
                    .into());
            }
            _ => text.parse().map_err(|error| self.unread(text, &error))?,
        };
        let server = self.config.models.get(id.provider()).filter(|it| it.model.is_none());
        let registry = EndpointRegistry::default();
        let is_known = server.is_some() || registry.get(id.provider()).is_some();
        if !is_known
            && entry.is_none_or(|it| it.base_url.is_none())
            && let Some(served) = local::holding(self.dialer, &id).await?
        {
            return Ok(served);
        }
        let mut endpoint = registry.find(self.wanted(&id, entry, server)?).map_err(|error| {
            mistake(error)
                .hint("`haft models` lists those there are; `[models.NAME] base_url` adds one")
        })?;
        let pick = Pick(entry, server);
        if pick.of(|it| it.strict) == Some(true) {
            let strict = endpoint.quirks.strict().ok_or_else(|| {
                let text = format!("`{id}`: `{}` offers nothing strict", endpoint.provider);
                UserMistake::new(text).hint("leave `strict` out of its section in `[models]`")
            })?;
            endpoint.quirks = strict;
        }
        if let Some(seconds) = pick.of(|it| it.first_word_seconds) {
            endpoint.patience.first = Duration::from_secs(seconds);
        }
        let mut known = Known {
            window_tokens: pick.of(|it| it.window_tokens),
            output_tokens: pick.of(|it| it.output_tokens),
            sees_images: pick.of(|it| it.sees_images),
            price: pick.of(|it| it.price).map(price),
        }
        .or(Known::of(&registry.canonical(&id)));
        let mut remark = None;
        if endpoint.address.is_loopback() {
            match local::ask(self.dialer, &endpoint.address, id.name()).await {
                local::Said::Nothing => {}
                local::Said::Has { window_tokens } => {
                    known.window_tokens = known.window_tokens.or(window_tokens);
                }
                local::Said::HasOthers { names, may_serve } => {
                    let names = others(&names);
                    if !may_serve {
                        let text = format!(
                            "the server at {} has no model `{}`",
                            endpoint.address,
                            id.name()
                        );
                        return Err(UserMistake::new(text)
                            .hint(format!("it has {names}, named as `{}/NAME`", id.provider()))
                            .into());
                    }
                    remark = Some(format!("which the server does not list: it has {names}"));
                }
            }
        }
        let sampling = Sampling {
            output_tokens: pick.of(|it| it.output_tokens).and_then(reply_cap),
            temperature: pick.of(|it| it.temperature).map(|it| f32::from(it) / 1_000.0),
            effort: pick.of(|it| it.effort).and_then(effort),
            ..Sampling::default()
        };
        Ok(Served { id, endpoint, known, sampling, remark })
    }

    fn unread(&self, text: &str, error: &dyn std::error::Error) -> UserMistake {
        let mistake = UserMistake::new(error.to_string());
        let names: Vec<_> = self.config.models.keys().map(|it| format!("`{it}`")).collect();
        if names.is_empty() {
            let text: String = text.chars().take(60).collect();
            return mistake.hint(format!(
                "`haft models` lists what there is; `[models.{text}]` in your configuration gives a name a meaning"
            ));
        }
        mistake.hint(format!("your configuration has {}", names.join(", ")))
    }

    fn wanted(
        &self,
        id: &ModelId,
        entry: Option<&ModelEntry>,
        server: Option<&ModelEntry>,
    ) -> Result<Wanted, UserMistake> {
        let pick = Pick(entry, server);
        let like = pick.of(|it| it.provider.clone()).unwrap_or_else(|| id.provider().to_owned());
        let registry = EndpointRegistry::default();
        let known = registry.get(&like);
        let first = |names: &[String]| {
            let set =
                |name: &String| Some((name.clone(), self.environment.variable(name)?.to_owned()));
            names.iter().find_map(set)
        };
        let given = pick.of(|it| it.base_url.clone());
        let usual = || known.and_then(|it| first(&it.address_variables));
        let named = match &given {
            Some(address) => Some(("base_url".to_owned(), address.clone())),
            None => usual(),
        };
        let address = match named {
            Some((name, address)) => Some(
                Address::parse(&address)
                    .map_err(|error| UserMistake::new(format!("{name}: {error}")))?,
            ),
            None => None,
        };
        let key = match pick.of(|it| it.key_env.clone()) {
            Some(variable) => {
                let Some(key) = self.environment.variable(&variable) else {
                    let text = format!("`{id}` wants the key in {variable}, which is not set");
                    return Err(UserMistake::new(text));
                };
                Some(Secret::new(key))
            }
            // The usual key goes to the usual place, and not to one that the configuration put in its stead.
            None if given.is_some() => None,
            None => known.and_then(|it| first(&it.key_variables)).map(|(_, key)| Secret::new(&key)),
        };
        let dialect = pick.of(|it| it.dialect.clone()).map(|it| dialect(&it)).transpose()?;
        let is_compatible = server.is_some();
        let model = Some(id.clone());
        Ok(Wanted { provider: like, model, dialect, address, is_compatible, key })
    }
}

/// Lists the first of the names of models.
fn others(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|it| format!("`{it}`")).collect();
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// What the entry of a model says, else that of its server.
struct Pick<'a>(Option<&'a ModelEntry>, Option<&'a ModelEntry>);

impl Pick<'_> {
    fn of<T>(&self, field: impl Fn(&ModelEntry) -> Option<T>) -> Option<T> {
        self.0.and_then(&field).or_else(|| self.1.and_then(&field))
    }
}

fn dialect(name: &str) -> Result<Dialect, UserMistake> {
    let all = [Dialect::ChatCompletions, Dialect::Responses, Dialect::Messages, Dialect::Gemini];
    all.into_iter().find(|it| it.as_str() == name).ok_or_else(|| {
        let known = all.map(|it| format!("`{}`", it.as_str())).join(", ");
        UserMistake::new(format!("`{name}` is no dialect: expected one of {known}"))
    })
}

/// What somebody says a reply may have is also the most that is asked for.
fn reply_cap(tokens: u64) -> Option<NonZeroU32> {
    u32::try_from(tokens).ok().and_then(NonZeroU32::new)
}

fn effort(name: &str) -> Option<Effort> {
    [Effort::Low, Effort::Medium, Effort::High].into_iter().find(|it| it.as_str() == name)
}

fn price(price: ModelPrice) -> Price {
    let ModelPrice { input, output, cache_read, cache_write } = price;
    Price { input, cache_read, cache_write, output }
}

fn nothing(environment: &Environment, config: &Config) -> UserMistake {
    let registry = EndpointRegistry::default();
    let has_key = registry
        .providers()
        .iter()
        .find(|it| it.key_variables.iter().any(|name| environment.variable(name).is_some()));
    let mistake = UserMistake::new(
        "there is no model to ask: none was named, and no server of models answers on this machine",
    );
    let mistake = match (config.models.keys().next(), has_key) {
        (Some(name), _) => {
            mistake.hint(format!("name one of your configuration, such as `--model {name}`"))
        }
        (None, Some(provider)) => mistake.hint(format!(
            "name one of `{}`, for which there is a key: `--model {}/NAME`",
            provider.name, provider.name
        )),
        (None, None) => mistake.hint(
            "set a key, such as ANTHROPIC_API_KEY, and name a model: `--model anthropic/NAME`",
        ),
    };
    mistake
        .hint("or start a server on this machine: `llama-server -m MODEL.gguf --jinja`, or `ollama serve`")
        .hint("or name a server elsewhere: OPENAI_BASE_URL=https://HOST/v1 and `--model openai/NAME`")
}

/// Returns an address of the configuration as it may be shown: without what must not stand in it.
pub(crate) fn shown_address(text: &str) -> String {
    Address::parse(text).map_or_else(|error| error.to_string(), |address| address.to_string())
}

fn mistake(error: impl std::error::Error) -> UserMistake {
    let mut text = error.to_string();
    if let Some(source) = error.source() {
        text = format!("{text}: {source}");
    }
    UserMistake::new(text)
}

/// Makes what dials, by the settings and the usual variables of proxies.
pub(crate) fn dialer(environment: &Environment, config: &Config) -> anyhow::Result<Dialer> {
    let variable = |name: &str| {
        let lower = name.to_ascii_lowercase();
        environment.variable(&lower).or_else(|| environment.variable(name)).map(ToOwned::to_owned)
    };
    let proxies = Proxies {
        https: variable("HTTPS_PROXY").or_else(|| variable("ALL_PROXY")),
        http: variable("HTTP_PROXY").or_else(|| variable("ALL_PROXY")),
        except: variable("NO_PROXY").unwrap_or_default(),
    };
    let plain_http = config.plain_http.clone();
    Ok(Dialer::new(Rules { proxies, plain_http, ..Rules::default() }).map_err(mistake)?)
}
