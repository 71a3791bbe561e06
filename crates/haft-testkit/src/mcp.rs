//! A client of the Model Context Protocol that hides nothing: what it sends and reads is lines of JSON.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// How long a message may take to come, on a slow machine that does other things too.
const PATIENCE: Duration = Duration::from_mins(1);

/// The keys of what each stateless request says of its client.
const META: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

/// The two ways of speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2025-11-25, with a handshake.
    Handshake,
    /// 2026-07-28, where each request stands for itself.
    Stateless,
}

impl Era {
    /// Both of them.
    pub const BOTH: [Self; 2] = [Self::Handshake, Self::Stateless];
}

/// A client of the Model Context Protocol.
///
/// Its methods panic where nothing comes, or something else than they wait for.
pub struct McpClient {
    era: Era,
    name: String,
    capabilities: Value,
    reader: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    id: u64,
    unread: VecDeque<Value>,
}

impl McpClient {
    /// Makes a client that has said nothing yet.
    pub fn silent(stream: DuplexStream, era: Era, name: &str, capabilities: Value) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let (name, unread) = (name.to_owned(), VecDeque::new());
        let reader = BufReader::new(reader).lines();
        Self { era, name, capabilities, reader, writer, id: 0, unread }
    }

    /// Makes a client that has opened the conversation in the way of its era.
    pub async fn open(stream: DuplexStream, era: Era, name: &str, capabilities: Value) -> Self {
        let mut client = Self::silent(stream, era, name, capabilities);
        if era == Era::Handshake {
            let hello = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": client.capabilities,
                "clientInfo": { "name": client.name, "version": "1.0" },
            });
            client.request("initialize", hello).await;
            client.notify("notifications/initialized", json!({})).await;
        }
        client
    }

    /// Sends a line as it is.
    pub async fn line(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
    }

    /// Sends a request and returns its id.
    pub async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let (id, mut params) = (self.id, params);
        if self.era == Era::Stateless {
            let who = json!({ "name": self.name, "version": "1.0" });
            for (key, value) in
                META.into_iter().zip([json!("2026-07-28"), who, self.capabilities.clone()])
            {
                params["_meta"][key] = value;
            }
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.line(&request.to_string()).await;
        id
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.line(&notification.to_string()).await;
    }

    /// Answers a request of the server's.
    pub async fn answer(&mut self, asked: &Value, result: Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
        self.line(&answer.to_string()).await;
    }

    /// Sends a request and returns its result.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.result(id).await
    }

    /// Sends a request and returns the error that it is answered with.
    pub async fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let response = self.response(id).await;
        assert!(response["error"].is_object(), "`{method}` went well: {response}");
        response["error"].clone()
    }

    /// Calls a tool and returns the result.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Waits for the result of a request.
    pub async fn result(&mut self, id: u64) -> Value {
        let response = self.response(id).await;
        assert!(response["error"].is_null(), "an error: {response}");
        response["result"].clone()
    }

    /// Waits for the response to a request. What comes before it can be read later.
    pub async fn response(&mut self, id: u64) -> Value {
        self.find(|it| it["method"].is_null() && it["id"] == id).await
    }

    /// Waits for a request or a notification of the server's.
    pub async fn told(&mut self, method: &str) -> Value {
        self.find(|it| it["method"] == method).await
    }

    /// Returns what has come and was not looked for, the oldest first.
    pub fn unread(&mut self) -> Vec<Value> {
        self.unread.drain(..).collect()
    }

    /// Waits until the server has read everything that was sent to it, and answered.
    pub async fn settle(&mut self) {
        self.request("tools/list", json!({})).await;
    }

    /// Waits for the end of the stream.
    pub async fn end(&mut self) {
        while self.next().await.is_some() {}
    }

    async fn find(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&is_it) {
            return self.unread.remove(at).unwrap();
        }
        loop {
            let message = self.next().await.expect("the server goes on speaking");
            if is_it(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.reader.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("nothing came; before: {:?}", self.unread));
        Some(serde_json::from_str(&line.ok().flatten()?).expect("each line is JSON"))
    }
}
