//! Just enough of HTTP to see what a server really sends.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long a server may say nothing, on a slow machine that does other things too.
const PATIENCE: Duration = Duration::from_mins(1);

/// What came back, to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The number in the first line.
    pub status: u16,
    /// The text after the headers, put together again where it came in pieces.
    pub body: String,
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What kind it is, where the server says.
    pub name: Option<String>,
    /// What it holds.
    pub data: String,
}

impl Answer {
    /// Reads the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// Reads the body as a stream of events.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for block in self.body.split("\n\n").filter(|block| !block.trim().is_empty()) {
            let mut event = Event { name: None, data: String::new() };
            for line in block.lines().filter(|line| !line.is_empty()) {
                match line.split_once(": ") {
                    Some(("event", name)) => event.name = Some(name.to_owned()),
                    Some(("data", data)) => event.data.push_str(data),
                    _ => panic!("neither the name nor the data of an event: {line:?}"),
                }
            }
            events.push(event);
        }
        events
    }
}

/// Sends one request over a connection of its own.
pub(super) fn exchange(
    server: SocketAddr,
    method: &str,
    path: &str,
    request: Option<&Value>,
) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\n");
    let body = request.map(Value::to_string).unwrap_or_default();
    if request.is_some() {
        let _ =
            write!(head, "content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    }
    let mut stream = TcpStream::connect(server).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the server answers to the end");
    read(&answer)
}

fn read(answer: &[u8]) -> Answer {
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").expect("headers have an end");
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
    let body = &answer[end + 4..];
    let body = if head.contains("transfer-encoding: chunked") { joined(body) } else { body.into() };
    Answer { status, body: String::from_utf8(body).expect("answers are text") }
}

/// Puts the pieces of a body together.
fn joined(mut pieces: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = pieces.windows(2).position(|it| it == b"\r\n").expect("a piece has a length");
        let length = String::from_utf8_lossy(&pieces[..end]);
        let length = usize::from_str_radix(&length, 16).expect("a length is hexadecimal");
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&pieces[end + 2..end + 2 + length]);
        pieces = &pieces[end + 2 + length + 2..];
    }
}
