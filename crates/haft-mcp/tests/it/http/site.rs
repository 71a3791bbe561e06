//! A server on a port, and requests to it written by hand.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_tool::{Call, Cancellation, FunctionTool, Output, Tool};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::rig::House;

/// A server that serves until it is stopped.
pub(super) struct Site {
    pub(super) address: SocketAddr,
    pub(super) token: String,
    pub(super) stop: Cancellation,
    pub(super) serving: JoinHandle<()>,
    ids: AtomicU64,
}

/// A request in the making.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) id: u64,
    address: SocketAddr,
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// An answer, whole.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Site {
    pub(super) async fn of(house: &House) -> Self {
        let listening = house.server.bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listening.address();
        let token = listening.token().unwrap().reveal().to_owned();
        let stop = Cancellation::new();
        let until = stop.clone();
        let serving = tokio::spawn(async move { listening.serve(&until).await });
        Self { address, token, stop, serving, ids: AtomicU64::new(2) }
    }

    /// Starts a request that everything is right about.
    pub(super) fn ask(&self, body: &Value) -> Ask {
        let ask = Ask {
            id: 1,
            address: self.address,
            method: "POST",
            path: "/mcp".to_owned(),
            headers: Vec::new(),
            body: body.to_string(),
        };
        ask.with("host", &self.address.to_string())
            .with("authorization", &format!("Bearer {}", self.token))
            .with("accept", "application/json, text/event-stream")
            .with("content-type", "application/json")
    }

    /// Starts a request that stands for itself.
    pub(super) fn stateless(&self, method: &str, params: Value) -> Ask {
        let mut params = params;
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1.0" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let ask = self.ask(&body).with("mcp-protocol-version", "2026-07-28");
        ask.with("mcp-method", method).with("mcp-name", &name)
    }

    /// Opens a session and returns its id.
    pub(super) async fn session(&self) -> String {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "tester", "version": "1.0" },
        });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let answer = self.ask(&hello).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.ask(&done).with("mcp-session-id", &id).send().await.status, 202);
        id
    }

    /// Starts a request of a session.
    pub(super) fn within(&self, session: &str, method: &str, params: Value) -> Ask {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Ask { id, ..self.ask(&body).with("mcp-session-id", session) }
    }
}

impl Ask {
    /// Sets a header, in place of the one there was.
    pub(super) fn with(self, name: &str, value: &str) -> Self {
        let mut ask = self.without(name);
        ask.headers.push((name.to_owned(), value.to_owned()));
        ask
    }

    /// Adds a header beside those there are.
    pub(super) fn adding(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(it, _)| it != name);
        self
    }

    pub(super) fn method(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    pub(super) fn path(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    pub(super) fn body(self, body: &str) -> Self {
        Self { body: body.to_owned(), ..self }
    }

    /// Makes the body longer by what means nothing.
    pub(super) fn with_padding(self, bytes: usize) -> Self {
        let body = self.body.clone() + &" ".repeat(bytes);
        self.body(&body)
    }

    /// Sends the request and leaves the answer to come. The older form of the protocol ends it with the connection.
    pub(super) async fn open(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut text = format!("{} {} HTTP/1.0\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.headers.iter().any(|(name, _)| name == "content-length") {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        text.push_str(&self.body);
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    pub(super) async fn send(&self) -> Answer {
        Answer::read(self.open().await).await
    }

    pub(super) async fn status(&self) -> u16 {
        self.send().await.status
    }
}

impl Answer {
    pub(super) async fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Returns the message, the last one where it came as a stream of them.
    pub(super) fn message(&self) -> Value {
        let mut events = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let last = events.rfind(|it| it.starts_with('{'));
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap()
    }

    /// Returns the text of the one block of a result.
    pub(super) fn text(&self) -> String {
        let message = self.message();
        let text = message["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{message}")).to_owned()
    }
}

/// A tool that tells whether there is a read ledger.
pub(super) fn remembering() -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": {} });
    let name = "local/remembers".parse().unwrap();
    let tool = FunctionTool::new(name, "Tells whether it is remembered.", schema).unwrap();
    let body = |call: Call, _| async move { Ok(Output::text(call.ledger().is_some().to_string())) };
    tool.body(body).unwrap()
}
