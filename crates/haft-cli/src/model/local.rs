//! Servers on this machine.

use haft::models::providers::{
    Address, Dialer, EndpointRegistry, Known, LocalModel, LocalServer, ServerKind, USUAL_PORTS,
    Wanted, discover,
};
use haft::models::{ModelId, Sampling};

use super::{Served, mistake};

/// Looks for servers on the usual ports.
pub(crate) async fn servers(dialer: &Dialer) -> Vec<LocalServer> {
    discover(dialer, &USUAL_PORTS).await
}

/// Returns the first model of those that answer.
pub(super) async fn first(dialer: &Dialer) -> anyhow::Result<Option<Served>> {
    for server in servers(dialer).await {
        if let Some(model) = server.models.first() {
            let name = model.name.clone();
            return served(&server, &name).map(Some);
        }
    }
    Ok(None)
}

/// Returns a model by its id, if a server that answers has it.
pub(super) async fn holding(dialer: &Dialer, id: &ModelId) -> anyhow::Result<Option<Served>> {
    for server in servers(dialer).await {
        let is_its = server.kind.provider() == id.provider();
        if is_its && server.models.iter().any(|it| it.name == id.name()) {
            return served(&server, id.name()).map(Some);
        }
    }
    Ok(None)
}

/// What a server on this machine says of a model that it is asked for.
pub(super) enum Said {
    /// Nothing: it does not answer, or lists no models.
    Nothing,
    /// That it has it, with the tokens of its window where it knows them.
    Has { window_tokens: Option<u64> },
    /// That it has others, the nearest name first.
    HasOthers {
        /// Their names.
        names: Vec<String>,
        /// Whether it could serve the model all the same: some servers load, or hand on to others, what they do not list.
        may_serve: bool,
    },
}

/// Asks the server at an address whether it has a model.
pub(super) async fn ask(dialer: &Dialer, address: &Address, name: &str) -> Said {
    let found = discover(dialer, &[address.port()]).await.into_iter().next();
    // Another path of the port may be another server's.
    let path = |it: &Address| it.path().trim_end_matches('/').to_owned();
    let is_same = |it: &LocalServer| path(&it.address) == path(address);
    let Some(server) = found.filter(is_same).filter(|it| !it.models.is_empty()) else {
        return Said::Nothing;
    };
    let is_ollama = server.kind == ServerKind::Ollama;
    let is_it = |it: &&LocalModel| {
        it.name == name || (is_ollama && it.name.strip_suffix(":latest") == Some(name))
    };
    if let Some(model) = server.models.iter().find(is_it) {
        return Said::Has { window_tokens: model.window_tokens };
    }
    let mut names: Vec<String> = server.models.into_iter().map(|it| it.name).collect();
    // Of names that are as near, the order of the server stays.
    let far = |it: &str| 1.0 - strsim::normalized_damerau_levenshtein(it, name);
    names.sort_by(|one, other| far(one).total_cmp(&far(other)));
    Said::HasOthers { names, may_serve: server.kind == ServerKind::Other }
}

fn served(server: &LocalServer, name: &str) -> anyhow::Result<Served> {
    let LocalServer { kind, address, models } = server;
    let id = ModelId::new(kind.provider(), name).map_err(mistake)?;
    let wanted = Wanted {
        provider: kind.provider().to_owned(),
        address: Some(address.clone()),
        ..Wanted::default()
    };
    let endpoint = EndpointRegistry::default().find(wanted).map_err(mistake)?;
    let window_tokens = models.iter().find(|it| it.name == name).and_then(|it| it.window_tokens);
    let known = Known { window_tokens, ..Known::default() };
    Ok(Served { id, endpoint, known, sampling: Sampling::default(), remark: None })
}
