//! Model servers on this machine.

use std::time::Duration;

use futures_util::future::join_all;
use haft_net::{Address, Dialer, Outgoing};
use haft_protocol::limits;
use serde_json::{Value, json};

/// The ports that model servers listen on unless told otherwise: llama.cpp, Ollama, vLLM, LM Studio.
pub const USUAL_PORTS: [u16; 4] = [8080, 11434, 8000, 1234];

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What it is, as far as it shows.
    pub kind: ServerKind,
    /// The address for Chat Completions.
    pub address: Address,
    /// What it serves.
    pub models: Vec<LocalModel>,
}

/// A model that a server on this machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// The name it is asked for by.
    pub name: String,
    /// Tokens that the server really gives it, where it says so: often less than the model was made for.
    pub window_tokens: Option<u64>,
}

/// What a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// llama.cpp's own.
    LlamaCpp,
    /// Ollama.
    Ollama,
    /// vLLM.
    Vllm,
    /// LM Studio.
    LmStudio,
    /// Another that lists models.
    Other,
}

impl ServerKind {
    /// Returns the name of the provider that stands for it in a registry.
    pub const fn provider(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llamacpp",
            Self::Ollama => "ollama",
            Self::Vllm => "vllm",
            Self::LmStudio => "lmstudio",
            Self::Other => "local",
        }
    }
}

/// Looks for model servers on ports of this machine, all at once. Who does not answer soon is not there.
///
/// Nothing is sent but questions about what is served.
pub async fn discover(dialer: &Dialer, ports: &[u16]) -> Vec<LocalServer> {
    let looks = ports.iter().map(|port| look(dialer, *port));
    join_all(looks).await.into_iter().flatten().collect()
}

async fn look(dialer: &Dialer, port: u16) -> Option<LocalServer> {
    let root = Address::parse(&format!("http://127.0.0.1:{port}")).ok()?;
    let address = root.join("v1");
    let list = fetch(dialer, address.join("models")).await?;
    let entries = list.get("data")?.as_array()?;
    let named = |entry: &Value| {
        let name = entry.get("id")?.as_str()?;
        let fits = !name.is_empty() && name.len() <= 256 && !name.chars().any(char::is_control);
        fits.then(|| name.to_owned())
    };
    let kind = kind(entries, port);
    let mut models = Vec::new();
    for entry in entries.iter().take(100) {
        let Some(name) = named(entry) else { continue };
        let window_tokens = entry.get("max_model_len").and_then(Value::as_u64);
        models.push(LocalModel { name, window_tokens });
    }
    let mut server = LocalServer { kind, address, models };
    windows(dialer, &root, &mut server).await;
    Some(server)
}

/// Tells servers apart by who they say owns their models, and by their port where they do not.
fn kind(entries: &[Value], port: u16) -> ServerKind {
    let owner = entries.first().and_then(|entry| entry.get("owned_by")).and_then(Value::as_str);
    match (owner, port) {
        (Some("llamacpp"), _) => ServerKind::LlamaCpp,
        (Some("vllm"), _) => ServerKind::Vllm,
        (_, 11434) | (Some("library"), _) => ServerKind::Ollama,
        (Some("organization_owner"), _) | (_, 1234) => ServerKind::LmStudio,
        _ => ServerKind::Other,
    }
}

async fn windows(dialer: &Dialer, root: &Address, server: &mut LocalServer) {
    match server.kind {
        ServerKind::LlamaCpp => {
            let Some(props) = fetch(dialer, root.join("props")).await else { return };
            let window =
                props.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64);
            server.models.iter_mut().for_each(|model| model.window_tokens = window);
        }
        ServerKind::Ollama => {
            let running = fetch(dialer, root.join("api/ps")).await;
            for model in &mut server.models {
                model.window_tokens =
                    match running.as_ref().and_then(|it| running_window(it, &model.name)) {
                        Some(window) => Some(window),
                        None => set_window(dialer, root, &model.name).await,
                    };
            }
        }
        ServerKind::LmStudio => {
            let Some(list) = fetch(dialer, root.join("api/v0/models")).await else { return };
            let entries = list.get("data").and_then(Value::as_array);
            for model in &mut server.models {
                let is =
                    |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(&model.name);
                let entry = entries.into_iter().flatten().find(is);
                let window = entry.and_then(|entry| entry.get("loaded_context_length"));
                model.window_tokens = window.and_then(Value::as_u64);
            }
        }
        ServerKind::Vllm | ServerKind::Other => {}
    }
}

/// Returns the window that a model of Ollama's runs with.
fn running_window(running: &Value, name: &str) -> Option<u64> {
    let entries = running.get("models")?.as_array()?;
    let is = |entry: &&Value| entry.get("name").and_then(Value::as_str) == Some(name);
    entries.iter().find(is)?.get("context_length")?.as_u64()
}

/// Returns the window that somebody set for a model of Ollama's. What the model was made for is more than it is given.
async fn set_window(dialer: &Dialer, root: &Address, name: &str) -> Option<u64> {
    let question = serde_json::to_vec(&json!({"model": name})).ok()?;
    let question = Outgoing::post(root.join("api/show"), question, within());
    let shown = read(dialer, question.header("content-type", "application/json")).await?;
    let parameters = shown.get("parameters")?.as_str()?;
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
    set.trim().parse().ok()
}

fn within() -> Duration {
    Duration::from_millis(limits::DISCOVERY_MS)
}

async fn fetch(dialer: &Dialer, address: Address) -> Option<Value> {
    read(dialer, Outgoing::get(address, within())).await
}

async fn read(dialer: &Dialer, question: Outgoing) -> Option<Value> {
    let answer = dialer.send(question).await.ok()?;
    if answer.status() != 200 {
        return None;
    }
    let body = answer.whole(limits::ANSWER_BYTES, within()).await.ok()?;
    serde_json::from_slice(&body).ok()
}
