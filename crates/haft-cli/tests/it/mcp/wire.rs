//! A client that is nothing but lines.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::{Rig, arguments};

/// The longest that anything of these tests may take, on a slow machine that does other things too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// How a server ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// From the last thing its client did.
    pub(crate) after: Duration,
    /// What it wrote that nobody had read.
    pub(crate) rest: Vec<Value>,
}

/// A server, and the ends of its streams.
pub(crate) struct Wire {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    heard: Option<Receiver<String>>,
    kept: Vec<Value>,
    next: i64,
    stderr: PathBuf,
}

impl Wire {
    /// Starts a server with these global options, and reads what it says.
    pub(crate) fn start(rig: &Rig, options: &[&str]) -> Self {
        let mut wire = Self::start_unread(rig, options);
        wire.read_on();
        wire
    }

    /// Starts a server whose output nobody reads yet.
    pub(crate) fn start_unread(rig: &Rig, options: &[&str]) -> Self {
        let stderr = rig.folder().join("stderr");
        let mut command = rig.command(&[options, &["mcp"]].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(fs::File::create(&stderr).unwrap());
        if options.contains(&"-vv") {
            command.env("HAFT_LOG", "trace");
        }
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Self { child, input, output, heard: None, kept: Vec::new(), next: 0, stderr }
    }

    /// Starts a server and shakes hands.
    pub(crate) fn greeted(rig: &Rig, options: &[&str]) -> Self {
        let mut wire = Self::start(rig, options);
        wire.greet("lines");
        wire
    }

    /// Shakes hands, as a client of this name.
    pub(crate) fn greet(&mut self, name: &str) -> Value {
        let greeting = self.ask("initialize", &hello(name));
        self.notify("notifications/initialized");
        greeting["result"].clone()
    }

    /// Starts to read what was not read so far.
    pub(crate) fn read_on(&mut self) {
        let output = BufReader::new(self.output.take().unwrap());
        let (says, heard) = channel();
        self.heard = Some(heard);
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if says.send(line).is_err() {
                    return;
                }
            }
        });
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.input.as_mut().unwrap().write_all(bytes.as_ref()).unwrap();
    }

    /// Takes the input away, for a test that writes from elsewhere.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    /// Sends a line.
    pub(crate) fn line(&mut self, line: impl AsRef<[u8]>) {
        self.write([line.as_ref(), b"\n"].concat());
    }

    /// Sends a request under an id, and does not wait.
    pub(crate) fn send(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        self.line(request(id, method, params));
    }

    pub(crate) fn notify(&mut self, method: &str) {
        self.line(json!({ "jsonrpc": "2.0", "method": method }).to_string());
    }

    pub(crate) fn take_back(&mut self, id: impl Into<Value>) {
        let params = json!({ "requestId": id.into() });
        let method = "notifications/cancelled";
        self.line(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request and returns the whole answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = format!("own {}", self.next);
        self.send(&*id, method, params);
        self.answer(&id.into())
    }

    /// Calls a tool and returns the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Begins a command that takes five minutes unless it is stopped, and waits until it runs.
    pub(crate) fn begin_sleep(&mut self, id: impl Into<Value>, mark: &str) {
        let arguments = json!({ "command": format!("sleep {mark}"), "timeout_ms": 300_000 });
        self.send(id, "tools/call", &json!({ "name": "bash", "arguments": arguments }));
        eventually(|| runs(mark));
    }

    /// Returns the next message, whichever it is. Everything a server says is a message.
    pub(crate) fn hear(&mut self) -> Value {
        let line = self.heard.as_ref().unwrap().recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|_| panic!("nothing was said: {}", self.complaints()));
        message(&line)
    }

    /// Returns the next message, or one that was kept.
    pub(crate) fn hear_kept(&mut self) -> Value {
        if self.kept.is_empty() { self.hear() } else { self.kept.remove(0) }
    }

    /// Returns the answer under an id, and keeps what comes before it.
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        let is_it = |it: &Value| it["id"] == *id && it.get("method").is_none();
        if let Some(at) = self.kept.iter().position(is_it) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.hear();
            if is_it(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// Returns what was said and not asked for, once everything that was sent before is dealt with.
    pub(crate) fn unasked(&mut self) -> Vec<Value> {
        self.ask("ping", &json!({}));
        std::mem::take(&mut self.kept)
    }

    /// Closes the input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Closes the output, which must not be read by anybody yet.
    pub(crate) fn close_output(&mut self) {
        self.output.take().unwrap();
    }

    /// Waits for the end of the server.
    pub(crate) fn ended(mut self) -> Ended {
        let begun = Instant::now();
        let mut status = None;
        eventually(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let after = begun.elapsed();
        let rest = self.heard.take().map(|heard| {
            let lines: Vec<String> = heard.iter().collect();
            lines.iter().map(|line| message(line)).collect()
        });
        let code = status.and_then(|it| it.code());
        Ended { code, after, rest: rest.unwrap_or_default() }
    }

    /// Closes the input and waits for the end of the server.
    pub(crate) fn left(mut self) -> Ended {
        self.close();
        self.ended()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the server before it can say a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns the resident memory of the server, in kibibytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Returns what the server wrote for its operator.
    pub(crate) fn complaints(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The params of an `initialize` request.
pub(crate) fn hello(name: &str) -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": name, "version": "1" },
    })
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    let id = id.into();
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The params of a call that reads a file.
pub(crate) fn reading(path: &str) -> Value {
    let arguments: Value =
        serde_json::from_str(&arguments("read", &json!({ "path": path }))).unwrap();
    json!({ "name": "reader", "arguments": arguments })
}

fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line)
        .unwrap_or_else(|error| panic!("this is no message: {error}\n{line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it never came to that");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// Tells whether a process with this in its command line runs.
pub(crate) fn runs(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(mark))
}
