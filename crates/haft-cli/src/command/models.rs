//! `haft models`: which models there are.

use clap::Args;
use haft::models::providers::{EndpointRegistry, LocalServer, Provider};
use serde_json::{Value, json};

use super::Invocation;
use crate::assemble::config_of_workspace;
use crate::exit::Exit;
use crate::model::{dialer, local, shown_address};
use crate::print::{Printer, Tone};

/// List the models there are, the keys and the servers
///
/// Looks for servers on the usual ports of this machine, and sends nothing to anybody else. Keys are named, never shown.
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {}

pub(crate) async fn run(invocation: &Invocation<'_>, _: &ModelsArgs) -> anyhow::Result<Exit> {
    let config = config_of_workspace(invocation)?;
    let environment = invocation.environment;
    let dialer = dialer(environment, &config)?;
    let servers = local::servers(&dialer).await;
    let registry = EndpointRegistry::default();
    let key = |provider: &Provider| {
        let there = provider.key_variables.iter().find(|it| environment.variable(it).is_some());
        there.cloned()
    };
    let printer = invocation.printer;
    if printer.is_json() {
        let named = config.models.iter().map(|(name, entry)| {
            let has_key = entry.key_env.as_deref().map(|it| environment.variable(it).is_some());
            json!({
                "name": name, "model": entry.model, "provider": entry.provider,
                "base_url": entry.base_url.as_deref().map(shown_address), "key_env": entry.key_env, "has_key": has_key,
                "window_tokens": entry.window_tokens, "origin": entry.origin.to_string(),
            })
        });
        let providers = registry.providers().iter().map(|it| {
            let dialects = it.dialects.iter().map(
                |(dialect, address)| json!({ "dialect": dialect.as_str(), "address": address }),
            );
            json!({
                "name": it.name, "aliases": it.aliases, "dialects": dialects.collect::<Vec<_>>(),
                "key_variables": it.key_variables, "key_in": key(it),
                "last_verified": it.last_verified, "source": it.source,
            })
        });
        let data = json!({
            "default": config.model,
            "configured": named.collect::<Vec<_>>(),
            "local": servers.iter().map(server).collect::<Vec<_>>(),
            "providers": providers.collect::<Vec<_>>(),
        });
        return printer.envelope(Exit::Ok, data);
    }
    match &config.model {
        Some(model) => {
            let from = format!("  ({})", config.origin("model.default"));
            printer.line(&[
                (Tone::Faint, "asked where none is named: "),
                (Tone::Strong, model),
                (Tone::Faint, &from),
            ]);
        }
        None => printer.entry(
            &[(Tone::Faint, "asked where none is named: ")],
            (
                Tone::Plain,
                "the first below that answers on this machine (`model.default` sets another)",
            ),
        ),
    }
    heading(printer, "On this machine");
    if servers.is_empty() {
        let ports = "no server answers on ports 8080, 11434, 8000 or 1234";
        printer.entry(&[(Tone::Plain, "  ")], (Tone::Plain, ports));
    }
    for LocalServer { kind, address, models } in &servers {
        for model in models {
            let window = model.window_tokens.map_or_else(
                || "window not told".to_owned(),
                |window| format!("window of {window} tokens"),
            );
            let name = format!("  {}/{}", kind.provider(), model.name);
            printer.entry(
                &[(Tone::Strong, &name), (Tone::Plain, "  ")],
                (Tone::Faint, &format!("{address}, {window}")),
            );
        }
    }
    if !config.models.is_empty() {
        heading(printer, "Configured");
    }
    for (name, entry) in &config.models {
        let mut facts = Vec::new();
        facts.extend(entry.model.as_ref().map(ToString::to_string));
        facts.extend(entry.base_url.as_deref().map(shown_address));
        facts.extend(entry.key_env.as_ref().map(|variable| {
            let is_there = environment.variable(variable).is_some();
            format!("{variable} {}", if is_there { "is set" } else { "is not set" })
        }));
        facts.extend(entry.window_tokens.map(|window| format!("window of {window} tokens")));
        facts.push(entry.origin.to_string());
        printer.entry(
            &[(Tone::Strong, &format!("  {name}")), (Tone::Plain, "  ")],
            (Tone::Faint, &facts.join(", ")),
        );
    }
    heading(printer, "Providers");
    for provider in registry.providers() {
        let (tone, has) = match (key(provider), provider.key_variables.first()) {
            (Some(variable), _) => (Tone::Good, format!("{variable} is set")),
            (None, Some(variable)) => (Tone::Faint, format!("{variable} is not set")),
            (None, None) => (Tone::Faint, "needs no key".to_owned()),
        };
        printer.line(&[(Tone::Strong, &format!("  {:<12}", provider.name)), (tone, &has)]);
        let row = format!("row of {}: {}", provider.last_verified, provider.source);
        printer.entry(&[(Tone::Plain, &" ".repeat(14))], (Tone::Faint, &row));
    }
    Ok(Exit::Ok)
}

fn heading(printer: Printer, text: &str) {
    printer.line(&[(Tone::Plain, "")]);
    printer.line(&[(Tone::Plain, text)]);
}

fn server(LocalServer { kind, address, models }: &LocalServer) -> Value {
    let models = models.iter().map(|it| {
        let id = format!("{}/{}", kind.provider(), it.name);
        json!({ "model": id, "window_tokens": it.window_tokens })
    });
    json!({
        "provider": kind.provider(), "address": address.to_string(),
        "models": models.collect::<Vec<_>>(),
    })
}
