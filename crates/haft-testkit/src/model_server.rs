//! A real model behind a real server, as `cargo xtask testbeds` brings both.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a server is a program that is started and dialled, and a test that is skipped says so"
)]

mod http;

use std::io::{self, BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

pub use self::http::{Answer, Event};

/// How long a model may take to be loaded, on a slow machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(90);

/// The tokens of a request with its answer, at the [shared](ModelServer::shared) server.
const SHARED_CONTEXT: u32 = 4096;

/// The models there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// 135 million parameters: quick, and seldom right. A test looks at the shape of its answers.
    Small,
    /// 1.5 billion parameters, which call tools well. Only where somebody has asked for the part.
    Large,
}

impl Weights {
    /// Returns the name of the model, as answers have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "smollm2-135m-instruct",
            Self::Large => "qwen2.5-coder-1.5b-instruct",
        }
    }

    /// Returns the file, from the folder of parts.
    fn file(self) -> &'static str {
        match self {
            Self::Small => "model-small/SmolLM2-135M-Instruct.Q4_1.gguf",
            Self::Large => "model-large/Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
        }
    }

    /// Returns the template that requests are written with, where that of the weights knows no tools.
    fn template(self) -> Option<&'static str> {
        match self {
            Self::Small => Some("chatml-tools.jinja"),
            Self::Large => None,
        }
    }
}

/// A real model behind a server on a loopback address, which speaks as OpenAI's Chat Completions and Responses and as
/// Anthropic's Messages do, two requests at a time.
///
/// A test that uses one has `real_model` in its name, by which the runner lets one of them run at a time. The server ends when
/// this is dropped, and with the process that started it.
///
/// ```no_run
/// use haft_testkit::ModelServer;
/// use serde_json::json;
///
/// let Some(server) = ModelServer::shared() else { return };
/// let request = json!({ "messages": [{ "role": "user", "content": "Hello." }], "max_tokens": 8 });
/// let answer = server.post("/v1/chat/completions", &request);
/// assert_eq!(answer.status, 200);
/// ```
pub struct ModelServer {
    weights: Weights,
    address: SocketAddr,
    process: Child,
    /// The end of this is the end of the server.
    input: Option<ChildStdin>,
}

impl ModelServer {
    /// Returns the server of this process, which has the small model and 4096 tokens for a request with its answer.
    /// `None`, with a word on standard error, where a part is not there.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: LazyLock<Option<ModelServer>> =
            LazyLock::new(|| ModelServer::start(Weights::Small, SHARED_CONTEXT));
        SHARED.as_ref()
    }

    /// Starts a server and waits until it answers. `context` is how many tokens a request has, with its answer.
    /// `None`, with a word on standard error, where a part is not there.
    pub fn start(weights: Weights, context: u32) -> Option<Self> {
        let python = part("model-server/bin/python")?;
        part(weights.file())?;
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model_server");
        let mut command = Command::new(python);
        // The server tells the path of the weights, which is then the same on every machine.
        command.current_dir(parts()).arg("-I").arg(own.join("serve.py")).arg(weights.file());
        command.args(["--name", weights.name(), "--context", &context.to_string()]);
        if let Some(template) = weights.template() {
            command.arg("--template").arg(own.join(template));
        }
        // What the server says must not go to the runner's pipes: it would wait for their end.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the server starts");
        let input = process.stdin.take();
        let said = last_words(process.stderr.take().unwrap());
        let line = first_line(process.stdout.take().unwrap());
        let Some(address) = line.as_deref().and_then(address) else {
            let _ = process.kill();
            panic!("the server tells no address: {line:?}\n{}", said.join().unwrap());
        };
        let server = Self { weights, address, process, input };
        assert_eq!(server.get("/health").status, 200, "a server that tells its address is ready");
        Some(server)
    }

    /// Returns which model it has.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Returns the address that a path has here: `url("/v1")` is what a client of Chat Completions is given.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Asks for a path, and reads the answer to its end.
    pub fn get(&self, path: &str) -> Answer {
        http::exchange(self.address, "GET", path, None)
    }

    /// Sends a request, and reads the answer to its end.
    pub fn post(&self, path: &str, request: &Value) -> Answer {
        http::exchange(self.address, "POST", path, Some(request))
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the folder of parts.
fn parts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.testbeds")
}

/// Returns what is in a part; says so where there is none.
fn part(path: &str) -> Option<PathBuf> {
    let there = parts().join(path);
    if there.exists() {
        return Some(there);
    }
    let name = path.split('/').next().unwrap_or(path);
    eprintln!("skipped: there is no {}; run `cargo xtask testbeds {name}`", there.display());
    None
}

/// Waits for the first line, and reads on so that the other end never waits for a reader.
fn first_line(from: impl Read + Send + 'static) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut from, mut line) = (BufReader::new(from), String::new());
        let read = from.read_line(&mut line);
        let _ = sender.send(read.ok().map(|_| line));
        let _ = io::copy(&mut from, &mut io::sink());
    });
    receiver.recv_timeout(PATIENCE).ok().flatten()
}

/// Reads lines to the end, and keeps the last of them.
fn last_words(from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if kept.len() == 20 {
                kept.remove(0);
            }
            kept.push(line);
        }
        kept.join("\n")
    })
}

fn address(line: &str) -> Option<SocketAddr> {
    let line: Value = serde_json::from_str(line).ok()?;
    line["address"].as_str()?.strip_prefix("http://")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_model_server_ends_with_what_started_it() {
        let Some(mut server) = ModelServer::start(Weights::Small, 256) else { return };
        drop(server.input.take());
        assert!(server.process.wait().unwrap().success());
    }
}
