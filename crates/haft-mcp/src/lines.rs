//! Messages as lines: one JSON object each, and nothing else.
//!
//! What is no message gets an answer that says so and goes by the id it came with, whatever that is; the connection stays.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use haft_protocol::limits;
use haft_text::visible_line;
use haft_tool::Cancellation;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, Notify};

/// Answers under way to a client that does not read them; then nothing more is read from it either.
const UNREAD: usize = 1_024;

/// A pair of streams with a message on each line.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// A line that is too long is passed over up to its end.
    skipping: bool,
    /// Nothing but requests means anything before a client has said how it speaks.
    opened: bool,
    out: Arc<Out>,
    /// Asks everything that runs for this client to stop, once it is gone.
    gone: Cancellation,
}

/// The way out, one message at a time.
struct Out {
    writer: Mutex<Pin<Box<dyn AsyncWrite + Send>>>,
    waiting: AtomicUsize,
    less: Notify,
    broken: AtomicBool,
}

/// What a read came to.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    /// Makes a transport of a pair of streams. Their end makes the request `gone`.
    pub(crate) fn new(
        reader: R,
        writer: impl AsyncWrite + Send + 'static,
        gone: Cancellation,
    ) -> Self {
        let out = Out {
            writer: Mutex::new(Box::pin(writer)),
            waiting: AtomicUsize::new(0),
            less: Notify::new(),
            broken: AtomicBool::new(false),
        };
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            skipping: false,
            opened: false,
            out: Arc::new(out),
            gone,
        }
    }

    /// Reads on to the end of a line. What was read of it stays when the future is dropped.
    async fn read_line(&mut self) -> io::Result<Read> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(Read::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let (piece, taken) = match end {
                Some(end) => (available.get(..end).unwrap_or_default(), end + 1),
                None => (available, available.len()),
            };
            let was_skipping = self.skipping;
            let too_long = self.line.len() + piece.len() > limits::MCP_LINE_BYTES;
            if too_long {
                self.line = Vec::new();
            } else if !was_skipping {
                self.line.extend_from_slice(piece);
            }
            self.reader.consume(taken);
            self.skipping = end.is_none() && (was_skipping || too_long);
            match end {
                Some(_) if was_skipping => {}
                Some(_) if !too_long => return Ok(Read::Line),
                _ if too_long && !was_skipping => return Ok(Read::TooLong),
                _ => {}
            }
        }
    }

    /// Reads the line as a message; what is none is answered.
    fn understood(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        let message = match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
            Ok(message) if is_itself(&message, text) => Some(message),
            Ok(_) | Err(_) => {
                if let Some(answer) = objection(text) {
                    self.answer(answer);
                }
                None
            }
        };
        // The next line is likely to be as long as this one, and a very long one is not kept.
        if line.capacity() <= 64 * 1024 {
            self.line = line;
            self.line.clear();
        }
        message.filter(|message| self.opened || opens(message))
    }

    fn answer(&self, answer: Value) {
        let out = Arc::clone(&self.out);
        out.waiting.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move { out.send(answer.to_string()).await });
    }
}

impl Out {
    async fn send(&self, mut line: String) -> io::Result<()> {
        line.push('\n');
        let sent = async {
            let mut writer = self.writer.lock().await;
            writer.write_all(line.as_bytes()).await?;
            writer.flush().await
        };
        let sent = sent.await;
        if sent.is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.less.notify_waiters();
        sent
    }

    /// Waits while a client leaves too many answers unread.
    async fn drained(&self) {
        loop {
            let less = self.less.notified();
            if self.waiting.load(Ordering::Relaxed) < UNREAD {
                return;
            }
            less.await;
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "lines".into()
    }

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = Arc::clone(&self.out);
        out.waiting.fetch_add(1, Ordering::Relaxed);
        if matches!(item, JsonRpcMessage::Response(_)) {
            self.opened = true;
        }
        async move {
            let line = serde_json::to_string(&item).map_err(io::Error::other)?;
            out.send(line).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.out.drained().await;
            let read = if self.out.broken.load(Ordering::Relaxed) {
                Ok(Read::End)
            } else {
                let out = Arc::clone(&self.out);
                tokio::select! {
                    read = self.read_line() => read,
                    () = broken(&out) => Ok(Read::End),
                }
            };
            match read {
                Ok(Read::Line) => {
                    if let Some(message) = self.understood() {
                        return Some(message);
                    }
                }
                Ok(Read::TooLong) => {
                    let most = limits::MCP_LINE_BYTES;
                    let text = format!("a message may have {most} bytes, and this one has more");
                    self.answer(error(None, ErrorCode::INVALID_REQUEST, &text));
                }
                Ok(Read::End) | Err(_) => {
                    self.gone.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.gone.cancel();
        self.out.writer.lock().await.shutdown().await
    }
}

/// Waits until nothing can be sent any more.
async fn broken(out: &Out) {
    loop {
        let less = out.less.notified();
        if out.broken.load(Ordering::Relaxed) {
            return;
        }
        less.await;
    }
}

/// Tells whether a message may be the first of a connection.
fn opens(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(_))
}

/// Tells whether a message is what it was taken for: a request whose id is none reads like a notification.
fn is_itself(message: &ClientJsonRpcMessage, text: &[u8]) -> bool {
    let JsonRpcMessage::Notification(_) = message else { return true };
    serde_json::from_slice::<Value>(text).is_ok_and(|it| it.get("id").is_none())
}

/// Returns what to answer to a line that is no message; nothing to one that expects no answer.
fn objection(line: &[u8]) -> Option<Value> {
    if line.is_empty() {
        return None;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(problem) => {
            let text = format!("this line is no JSON: {problem}");
            return Some(error(None, ErrorCode::PARSE_ERROR, &text));
        }
    };
    let invalid =
        |id: Option<&Value>, text: &str| Some(error(id.cloned(), ErrorCode::INVALID_REQUEST, text));
    let object = match &value {
        Value::Object(object) => object,
        Value::Array(_) => {
            return invalid(
                None,
                "a batch is no message of this protocol: send each on its own line",
            );
        }
        _ => return invalid(None, "a message is a JSON object"),
    };
    let id = object.get("id");
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "a message says `\"jsonrpc\": \"2.0\"`");
    }
    let Some(method) = object.get("method") else {
        // An answer to nothing that was asked needs none itself.
        let is_answer = object.contains_key("result") || object.contains_key("error");
        let text = "a message has a `method`, or answers a request of the server's";
        return if is_answer { None } else { invalid(id, text) };
    };
    let id = id?;
    if !matches!(id, Value::String(_)) && id.as_i64().is_none() {
        let text = format!("the id of a request is a string or an integer: found `{id}`");
        return invalid(Some(id), &text);
    }
    let Some(method) = method.as_str() else {
        return invalid(Some(id), "the `method` of a request is a string");
    };
    let shown: String = visible_line(method).chars().take(100).collect();
    let text = format!("the params of `{shown}` are not right");
    Some(error(Some(id.clone()), ErrorCode::INVALID_PARAMS, &text))
}

fn error(id: Option<Value>, code: ErrorCode, text: &str) -> Value {
    let error = json!({ "code": code.0, "message": text });
    match id {
        Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        None => json!({ "jsonrpc": "2.0", "error": error }),
    }
}
