//! The server of the larger model, for as long as trials are made.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

/// The weights, from the folder of parts.
const WEIGHTS: &str = "model-large/Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf";

/// What answers call the model.
pub(super) const MODEL: &str = "qwen2.5-coder-1.5b-instruct";

/// A server on a loopback address, which ends with this.
pub(super) struct Server {
    process: Child,
    /// The end of this is the end of the server.
    input: Option<ChildStdin>,
    address: String,
}

impl Server {
    /// Starts it, and waits until the model is loaded.
    pub(super) fn start(root: &Path, context: u32, threads: u16) -> Result<Self> {
        let parts = root.join(".testbeds");
        let script = root.join("crates/haft-testkit/src/model_server/serve.py");
        let mut command = Command::new(parts.join("model-server/bin/python"));
        command.current_dir(&parts).arg("-I").arg(script).args([WEIGHTS, "--name", MODEL]);
        // One conversation at a time: what the server has read of its prompt stays read.
        command.args(["--requests", "1", "--context", &context.to_string()]);
        command.args(["--threads", &threads.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().context("the model server cannot be started")?;
        let input = process.stdin.take();
        let said = process.stdout.take().context("the model server has no output")?;
        // From here on it is ended in whatever way this ends.
        let mut server = Self { process, input, address: String::new() };
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line)
            .with_context(|| format!("the model server tells no address: {line:?}"))?;
        let address = said.get("address").and_then(Value::as_str);
        address.context("the model server tells no address")?.clone_into(&mut server.address);
        Ok(server)
    }

    /// Returns its address, as clients of Chat Completions are given it.
    pub(super) fn url(&self) -> String {
        format!("{}/v1", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
