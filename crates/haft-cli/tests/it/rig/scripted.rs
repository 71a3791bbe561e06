//! A server of models that says what it was given to say.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::PATIENCE;

/// What the model does when it is asked.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    /// Text, in these pieces.
    Text(&'static [&'static str]),
    /// Text, then calls: each a tool with its arguments.
    Calls(&'static str, Vec<(&'static str, Value)>),
    /// The begin of a text, and then nothing until the test is over.
    Begins(&'static str),
    /// The begin of a text, the rest of a stream as it is, and then the connection breaks.
    Breaks(&'static str, String),
    /// An error of HTTP.
    Refuses(u16, &'static str),
}

/// What decides what it says.
enum Script {
    /// One thing for each time it is asked.
    InTurn(VecDeque<Says>),
    /// What was said so far, whoever asks.
    BySaid(fn(&Value) -> Says),
}

/// A server on a loopback port that speaks Chat Completions, and keeps what it was asked.
pub(crate) struct Scripted {
    address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    script: Mutex<Script>,
    asked: Mutex<Vec<Value>>,
    models: Mutex<Option<Value>>,
    is_asked: Condvar,
}

impl Scripted {
    /// Makes one that says one thing for each time it is asked.
    pub(crate) fn new(script: impl IntoIterator<Item = Says>) -> Self {
        Self::with(Script::InTurn(script.into_iter().collect()))
    }

    /// Makes one whose words follow from the request.
    pub(crate) fn answering(answer: fn(&Value) -> Says) -> Self {
        Self::with(Script::BySaid(answer))
    }

    fn with(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            script: Mutex::new(script),
            asked: Mutex::default(),
            models: Mutex::default(),
            is_asked: Condvar::new(),
        });
        let served = Arc::clone(&inner);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let inner = Arc::clone(&served);
                thread::spawn(move || serve(&inner, connection));
            }
        });
        Self { address, inner }
    }

    /// Returns the lines of a configuration by which it is `box/scripted`, and asked where nobody is named.
    pub(crate) fn config(&self) -> String {
        format!(
            "[model]\ndefault = \"box/scripted\"\n\n[models.box]\nbase_url = \"http://{}/v1\"\n\
             window_tokens = 32000\nprice = {{ input = 1.0, output = 5.0 }}\n",
            self.address
        )
    }

    /// Lets it list models, as a server of that kind.
    pub(crate) fn lists(&self, owned_by: &str, names: &[&str]) {
        let list: Vec<Value> =
            names.iter().map(|it| json!({ "id": it, "owned_by": owned_by })).collect();
        *self.inner.models.lock().unwrap() = Some(json!({ "object": "list", "data": list }));
    }

    /// Adds to what it says.
    pub(crate) fn then(&self, says: Says) {
        self.then_all([says]);
    }

    /// Adds several things.
    pub(crate) fn then_all(&self, script: impl IntoIterator<Item = Says>) {
        match &mut *self.inner.script.lock().unwrap() {
            Script::InTurn(says) => says.extend(script),
            Script::BySaid(_) => panic!("what it says follows from the request"),
        }
    }

    /// Returns what it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.inner.asked.lock().unwrap().clone()
    }

    /// Waits until it was asked so many times.
    pub(crate) fn wait_until_asked(&self, times: usize) {
        let asked = self.inner.asked.lock().unwrap();
        let is_less = |asked: &mut Vec<Value>| asked.len() < times;
        let waited = self.inner.is_asked.wait_timeout_while(asked, PATIENCE, is_less).unwrap();
        assert!(!waited.1.timed_out(), "it was never asked {times} times");
    }
}

/// A request as it came.
pub(super) struct Asked {
    /// The first line and the headers, with the empty line behind them.
    pub(super) head: String,
    /// The path that is asked for.
    pub(super) target: String,
    pub(super) body: Vec<u8>,
}

impl Asked {
    /// Reads one request of a connection.
    pub(super) fn read(reader: &mut impl BufRead) -> Option<Self> {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let before = head.len();
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
            let line = head[before..].trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let target = head.split(' ').nth(1)?.to_owned();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        Some(Self { head, target, body })
    }
}

fn serve(inner: &Inner, mut connection: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let Asked { target, mut body, .. } = Asked::read(&mut reader)?;
    if target == "/v1/models"
        && let Some(list) = inner.models.lock().unwrap().as_ref()
    {
        return answer(&mut connection, 200, "application/json", &list.to_string());
    }
    if !target.ends_with("/chat/completions") {
        return answer(&mut connection, 404, "application/json", "{}");
    }
    let says = {
        let mut asked = inner.asked.lock().unwrap();
        let request = serde_json::from_slice(&body).ok()?;
        let says = match &mut *inner.script.lock().unwrap() {
            Script::InTurn(says) => says.pop_front(),
            Script::BySaid(answer) => Some(answer(&request)),
        };
        asked.push(request);
        inner.is_asked.notify_all();
        says
    };
    match says {
        None => answer(&mut connection, 500, "text/plain", "nothing is left to say"),
        Some(Says::Refuses(status, text)) => {
            let error = json!({ "error": { "message": text } }).to_string();
            answer(&mut connection, status, "application/json", &error)
        }
        Some(Says::Begins(text)) => {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            connection.write_all(head.as_bytes()).ok()?;
            connection.write_all(event(&json!({ "content": text }), None).as_bytes()).ok()?;
            connection.flush().ok()?;
            // The other end hangs up.
            reader.read_to_end(&mut body).ok()?;
            Some(())
        }
        Some(Says::Breaks(text, rest)) => {
            let text = event(&json!({ "content": text }), None);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
            let body = format!("{text}{rest}");
            let chunk = format!("{head}{:x}\r\n{body}\r\n", body.len());
            connection.write_all(chunk.as_bytes()).ok()?;
            connection.flush().ok()
        }
        Some(Says::Text(pieces)) => {
            let pieces = pieces.iter().map(|piece| event(&json!({ "content": piece }), None));
            let events = pieces.collect::<String>() + &event(&json!({}), Some("stop"));
            stream(&mut connection, &events)
        }
        Some(Says::Calls(text, calls)) => {
            let mut events = event(&json!({ "content": text }), None);
            for (index, (tool, arguments)) in calls.iter().enumerate() {
                let id = format!("call{index}{}", inner.asked.lock().unwrap().len());
                let function = json!({ "name": tool, "arguments": arguments.to_string() });
                let call =
                    json!({ "index": index, "id": id, "type": "function", "function": function });
                events.push_str(&event(&json!({ "tool_calls": [call] }), None));
            }
            stream(&mut connection, &(events + &event(&json!({}), Some("tool_calls"))))
        }
    }
}

fn event(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk = json!({
        "id": "c", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice],
    });
    format!("data: {chunk}\n\n")
}

fn stream(connection: &mut TcpStream, events: &str) -> Option<()> {
    let usage = json!({ "prompt_tokens": 8000, "completion_tokens": 10, "total_tokens": 8010 });
    let last = json!({ "id": "c", "model": "scripted", "choices": [], "usage": usage });
    let body = format!("{events}data: {last}\n\ndata: [DONE]\n\n");
    answer(connection, 200, "text/event-stream", &body)
}

fn answer(connection: &mut TcpStream, status: u16, kind: &str, body: &str) -> Option<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).ok()?;
    connection.write_all(body.as_bytes()).ok()?;
    connection.flush().ok()
}
