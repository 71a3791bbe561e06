//! Servers on this machine.

use haft::models::providers::{
    Address, Dialer, EndpointRegistry, Known, LocalServer, USUAL_PORTS, Wanted, discover,
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

/// Returns the window that the server at an address says a model has.
pub(super) async fn window(dialer: &Dialer, address: &Address, name: &str) -> Option<u64> {
    let servers = discover(dialer, &[address.port()]).await;
    let mut models = servers.iter().flat_map(|server| &server.models);
    models.find(|it| it.name == name)?.window_tokens
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
    Ok(Served { id, endpoint, known, sampling: Sampling::default() })
}
