//! `haft config`: what is set, and where.

use clap::{Args, Subcommand};
use haft::config::{Config, ModelPrice};
use serde_json::json;

use super::Invocation;
use crate::assemble::config_of_workspace;
use crate::exit::Exit;
use crate::model::shown_address;
use crate::print::Tone;

/// See what is set, and where
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List every setting with its value and where that comes from
    Explain(ExplainArgs),
}

/// List every setting with its value and where that comes from
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Only settings whose key begins so, such as `limits`
    #[arg(default_value = "")]
    key: String,
}

/// One line: a key, its value, where that comes from.
struct Row {
    key: String,
    value: String,
    origin: String,
}

pub(crate) fn run(invocation: &Invocation<'_>, command: &ConfigCommand) -> anyhow::Result<Exit> {
    let ConfigCommand::Explain(args) = command;
    let config = config_of_workspace(invocation)?;
    let mut rows = rows(&config);
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    rows.retain(|row| row.key.starts_with(&args.key));
    let printer = invocation.printer;
    if printer.is_json() {
        let settings = rows.iter().map(
            |Row { key, value, origin }| json!({ "key": key, "value": value, "origin": origin }),
        );
        let dropped = config.dropped().iter().map(ToString::to_string);
        return printer.envelope(
            Exit::Ok,
            json!({
                "settings": settings.collect::<Vec<_>>(),
                "not_followed": dropped.collect::<Vec<_>>(),
            }),
        );
    }
    if rows.is_empty() {
        printer.text("no setting begins so");
    }
    for Row { key, value, origin } in &rows {
        printer.entry(
            &[(Tone::Strong, key), (Tone::Plain, " = ")],
            (Tone::Plain, &format!("{value}  ({origin})")),
        );
    }
    for dropped in config.dropped() {
        printer.aside(Tone::Warn, "config", &dropped.to_string());
    }
    Ok(Exit::Ok)
}

fn rows(config: &Config) -> Vec<Row> {
    let mut rows: Vec<Row> = config
        .settings()
        .into_iter()
        .map(|it| Row { key: it.key.to_owned(), value: it.value, origin: it.origin.to_string() })
        .collect();
    let mut list = |key: &str, items: Vec<String>| {
        let value = if items.is_empty() {
            "none".to_owned()
        } else {
            items.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ")
        };
        rows.push(Row { key: key.to_owned(), value, origin: config.origin(key).to_string() });
    };
    let paths = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|it| it.display().to_string()).collect::<Vec<_>>()
    };
    if config.model.is_none() {
        list("model.default", Vec::new());
    }
    list("protection.extra", config.protection.extra.clone());
    list("protection.except", config.protection.except.clone());
    list("roots.extra", paths(&config.further_roots));
    list("programs.environment", config.programs.environment.iter().map(|it| named(it)).collect());
    list("programs.read", paths(&config.programs.read));
    list("network.plain_http", config.plain_http.clone());
    for (name, entry) in &config.models {
        let mut facts = Vec::new();
        facts.extend(entry.model.as_ref().map(|it| format!("model = \"{it}\"")));
        facts.extend(
            entry.base_url.as_deref().map(|it| format!("base_url = \"{}\"", shown_address(it))),
        );
        facts.extend(entry.provider.as_ref().map(|it| format!("provider = \"{it}\"")));
        facts.extend(entry.dialect.as_ref().map(|it| format!("dialect = \"{it}\"")));
        facts.extend(entry.key_env.as_ref().map(|it| format!("key_env = \"{it}\"")));
        facts.extend(entry.window_tokens.map(|it| format!("window_tokens = {it}")));
        facts.extend(entry.output_tokens.map(|it| format!("output_tokens = {it}")));
        facts.extend(entry.sees_images.map(|it| format!("sees_images = {it}")));
        facts.extend(
            entry.temperature.map(|it| format!("temperature = {}", f32::from(it) / 1_000.0)),
        );
        facts.extend(entry.strict.map(|it| format!("strict = {it}")));
        facts.extend(entry.first_word_seconds.map(|it| format!("first_word_seconds = {it}")));
        facts.extend(entry.effort.map(|it| format!("effort = \"{it}\"")));
        facts.extend(entry.price.map(price));
        rows.push(Row {
            key: format!("models.{name}"),
            value: format!("{{ {} }}", facts.join(", ")),
            origin: entry.origin.to_string(),
        });
    }
    for (name, entry) in &config.aliases {
        let mut facts = vec![format!("tool = \"{}\"", entry.tool)];
        if !entry.arguments.is_empty() {
            facts.push(format!("arguments = {}", serde_json::Value::from(entry.arguments.clone())));
        }
        rows.push(Row {
            key: format!("aliases.{}", name.as_str().trim_start_matches("local/")),
            value: format!("{{ {} }}", facts.join(", ")),
            origin: entry.origin.to_string(),
        });
    }
    for rule in &config.rules {
        rows.push(Row {
            key: "rules".to_owned(),
            value: rule.to_string(),
            origin: rule.origin().to_string(),
        });
    }
    rows
}

/// Writes a price as it stands in a file: US dollars for a million tokens.
fn price(price: ModelPrice) -> String {
    let ModelPrice { input, output, cache_read, cache_write } = price;
    let rows = [
        ("input", input),
        ("output", output),
        ("cache_read", cache_read),
        ("cache_write", cache_write),
    ];
    let rows = rows.map(|(name, millionths)| {
        let (whole, rest) = (millionths / 1_000_000, millionths % 1_000_000);
        let rest = format!("{rest:06}");
        match rest.trim_end_matches('0') {
            "" => format!("{name} = {whole}"),
            rest => format!("{name} = {whole}.{rest}"),
        }
    });
    format!("price = {{ {} }}", rows.join(", "))
}

/// Leaves out the value of a variable, which may be a secret.
fn named(variable: &str) -> String {
    variable.split_once('=').map_or_else(|| variable.to_owned(), |(name, _)| format!("{name}=…"))
}
