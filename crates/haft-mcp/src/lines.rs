//! Messages as lines: one JSON object each, and nothing else.
//!
//! What is no message gets an answer that says so and goes by the id it came with, whatever that is; the connection stays.

mod id;
pub(crate) mod objection;
mod out;
mod values;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use haft_protocol::limits;
use haft_tool::Cancellation;
use memchr::memmem;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CancelledNotification, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, EmptyResult, JsonRpcMessage, JsonRpcRequest, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader};

use id::IdScan;
use objection::Opening;
use out::UNREAD;

pub(crate) use out::Out;

/// Bytes that are read at a time, and kept of a line for the next one.
const BUFFER: usize = 64 * 1024;

/// What stands in a line that asks for a call, if it spells it as anybody would.
const CALL: &str = "\"tools/call\"";

/// Bytes of requests under way. Further ones are refused, and not kept waiting: what ends the others may be among them.
const ASKED_BYTES: usize = 4 * limits::MCP_LINE_BYTES;

/// A pair of streams with a message on each line.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// A line that is too long is passed over up to its end; all that is wanted of it is its id.
    too_long: Option<IdScan>,
    /// How the client speaks. Nothing but requests means anything before it has said so.
    opened: Option<Opening>,
    /// Requests without an answer so far, and the bytes of each.
    asked: HashMap<RequestId, usize>,
    out: Arc<Out>,
    /// Asks everything that runs for this client to stop, once it is gone.
    gone: Cancellation,
}

/// What a read came to.
enum Read {
    Line,
    TooLong(Option<Value>),
    End,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    /// Makes a transport of a pair of streams. Their end makes the request `gone`, and that ends the transport.
    pub(crate) fn new(
        reader: R,
        writer: impl AsyncWrite + Send + 'static,
        gone: Cancellation,
    ) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            line: Vec::new(),
            too_long: None,
            opened: None,
            asked: HashMap::new(),
            out: Arc::new(Out::new(writer)),
            gone,
        }
    }

    /// Returns the way out.
    pub(crate) fn out(&self) -> Arc<Out> {
        Arc::clone(&self.out)
    }

    /// Reads on to the end of a line. What was read of it stays when the future is dropped.
    ///
    /// A last line without an end is one too: if it was cut off, it is no message, and is answered as such.
    async fn read_line(&mut self) -> io::Result<Read> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(match self.too_long.take() {
                    Some(scan) => Read::TooLong(scan.found()),
                    None if self.line.is_empty() => Read::End,
                    None => Read::Line,
                });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let (piece, taken) = match end {
                Some(end) => (available.get(..end).unwrap_or_default(), end + 1),
                None => (available, available.len()),
            };
            if let Some(scan) = &mut self.too_long {
                scan.feed(piece);
            } else if self.line.len() + piece.len() > limits::MCP_LINE_BYTES {
                let mut scan = IdScan::default();
                scan.feed(&std::mem::take(&mut self.line));
                scan.feed(piece);
                self.too_long = Some(scan);
            } else {
                self.line.extend_from_slice(piece);
            }
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(match self.too_long.take() {
                    Some(scan) => Read::TooLong(scan.found()),
                    None => Read::Line,
                });
            }
        }
    }

    /// Reads the line as a message; what is none, or not one for now, is answered.
    fn understood(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if let Some(objection) = objection::to_too_many_values(text) {
            self.answer(Some(objection));
            return None;
        }
        let bytes = text.len();
        let message = match message(text) {
            Ok(message) if is_itself(&message, text) => Some(message),
            Ok(_) | Err(_) => {
                self.answer(objection::to_no_message(text));
                None
            }
        };
        // The next line is likely to be as long as this one, and a very long one is not kept.
        if line.capacity() <= BUFFER {
            self.line = line;
            self.line.clear();
        }
        message.and_then(|message| self.admitted(message, bytes))
    }

    /// Lets through what the server can make something of.
    ///
    /// Each request is answered once and under its id, and two under one id would be mistaken for one another.
    fn admitted(
        &mut self,
        message: ClientJsonRpcMessage,
        bytes: usize,
    ) -> Option<ClientJsonRpcMessage> {
        let answer = match self.opened {
            None => objection::to_unopened(&message),
            Some(Opening::EachRequest) => objection::to_late_handshake(&message),
            Some(Opening::Handshake) => None,
        };
        if answer.is_some() {
            self.answer(answer);
            return None;
        }
        self.opened = self.opened.or_else(|| objection::opening(&message));
        match &message {
            JsonRpcMessage::Request(it) => {
                if self.asked.contains_key(&it.id) {
                    self.answer(Some(objection::to_used_id(&it.id)));
                    return None;
                }
                if self.asked.values().sum::<usize>() + bytes > ASKED_BYTES {
                    self.answer(Some(objection::to_too_much(&it.id)));
                    return None;
                }
                self.asked.insert(it.id.clone(), bytes);
            }
            JsonRpcMessage::Notification(it) if self.opened.is_some() => {
                // What was taken back gets no answer.
                if let ClientNotification::CancelledNotification(it) = &it.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.asked.remove(id);
                }
            }
            _ if self.opened.is_some() => {}
            _ => return None,
        }
        Some(message)
    }

    fn answer(&self, answer: Option<Value>) {
        if let Some(answer) = answer {
            let outgoing = self.out.take(answer.to_string());
            tokio::spawn(outgoing.send());
        }
    }

    /// Reads a line once the client has caught up with its answers. Its end does not wait for that.
    async fn read_when_due(&mut self) -> io::Result<Read> {
        let is_crowded = self.asked.len() >= UNREAD;
        let out = Arc::clone(&self.out);
        let caught_up = async move {
            out.eased().await;
            if is_crowded {
                // Whoever waits for a message waits anew after each answer that is sent.
                std::future::pending::<()>().await;
            }
        };
        let mut caught_up = std::pin::pin!(caught_up);
        if self.reader.buffer().is_empty() {
            tokio::select! {
                biased;
                () = &mut caught_up => return self.read_line().await,
                more = self.reader.fill_buf() => {
                    if more?.is_empty() {
                        return Ok(Read::End);
                    }
                }
            }
        }
        caught_up.await;
        self.read_line().await
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
        let answered = match &item {
            JsonRpcMessage::Response(it) => Some(&it.id),
            JsonRpcMessage::Error(it) => it.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            self.asked.remove(id);
        }
        let line = serde_json::to_string(&item).map_err(io::Error::other);
        let outgoing = line.map(|line| self.out.take(line));
        async move { outgoing?.send().await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let (out, gone) = (Arc::clone(&self.out), self.gone.clone());
        loop {
            let read = if out.is_broken() || gone.is_cancelled() {
                Ok(Read::End)
            } else {
                // What is there already is read without a place among those that wait.
                tokio::select! {
                    biased;
                    read = self.read_when_due() => read,
                    () = out.broken() => Ok(Read::End),
                    () = gone.cancelled() => Ok(Read::End),
                }
            };
            match read {
                Ok(Read::Line) => {
                    if let Some(message) = self.understood() {
                        return Some(message);
                    }
                }
                Ok(Read::TooLong(id)) => self.answer(Some(objection::to_too_long(id))),
                Ok(Read::End) | Err(_) => {
                    self.gone.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.gone.cancel();
        self.out.close().await
    }
}

/// Reads a message.
///
/// The library tries one kind of request after the other. Most are calls, so that kind is tried first; it is told by its
/// method, and so is each other one, so that the order makes no difference.
fn message(text: &[u8]) -> serde_json::Result<ClientJsonRpcMessage> {
    type Call = JsonRpcMessage<CallToolRequest, EmptyResult, CancelledNotification>;
    if memmem::find(text, CALL.as_bytes()).is_some()
        && let Ok(JsonRpcMessage::Request(call)) = serde_json::from_slice::<Call>(text)
    {
        let request = ClientRequest::CallToolRequest(call.request);
        return Ok(JsonRpcMessage::Request(JsonRpcRequest::new(call.id, request)));
    }
    serde_json::from_slice(text)
}

/// Tells whether a message is what it was taken for: a request whose id is none reads like a notification.
fn is_itself(message: &ClientJsonRpcMessage, text: &[u8]) -> bool {
    let JsonRpcMessage::Notification(_) = message else { return true };
    serde_json::from_slice::<Value>(text).is_ok_and(|it| it.get("id").is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every line that is made of one choice for each part.
    fn lines() -> Vec<String> {
        let ids = [json!(1), json!("a"), json!(-1), json!(1.5), json!(null), json!([]), json!({})];
        let ids = ids.iter().map(|id| format!(",\"id\":{id}")).chain([String::new()]);
        let methods = ["tools/call", "tools/list", "ping", "unheard/of"];
        let methods = methods.iter().map(|it| format!(",\"method\":\"{it}\""));
        let methods: Vec<String> =
            methods.chain([",\"method\":\"tools\\/call\"".into(), String::new()]).collect();
        let params = [
            "",
            r#","params":null"#,
            r#","params":[]"#,
            r#","params":{}"#,
            r#","params":{"name":"echo"}"#,
            r#","params":{"name":7,"arguments":{}}"#,
            r#","params":{"name":"echo","arguments":null,"more":[1]}"#,
            r#","params":{"name":"echo","arguments":"text"}"#,
            r#","params":{"name":"echo","arguments":{"a":{"b":[1.0,"tools/call"]}},"_meta":{"progressToken":3,"own":1}}"#,
            r#","params":{"name":"echo","arguments":{},"_meta":7}"#,
            r#","params":{"name":"echo","arguments":{"x":1},"inputResponses":{},"requestState":"s"}"#,
            r#","params":{"name":"echo","name":"again"}"#,
            r#","result":{"note":"tools/call"}"#,
            r#","params":{"name":"echo"},"error":{"code":1,"message":"\"tools/call\""}"#,
        ];
        let mut lines = Vec::new();
        for id in ids {
            for method in &methods {
                for params in params {
                    lines.push(format!("{{\"jsonrpc\":\"2.0\"{id}{method}{params}}}"));
                    lines.push(format!(
                        "{{\"x\":\"tools/call\"{params}{method}{id},\"jsonrpc\":\"2.0\"}}"
                    ));
                }
            }
        }
        lines.extend(["", "[]", "\"tools/call\"", "{\"method\":\"tools/call\""].map(str::to_owned));
        lines
    }

    #[test]
    fn a_line_is_read_as_the_library_reads_it() {
        let lines = lines();
        let mut calls = 0;
        for line in &lines {
            let read = message(line.as_bytes()).map_err(|error| error.to_string());
            let plainly = serde_json::from_slice::<ClientJsonRpcMessage>(line.as_bytes());
            let plainly = plainly.map_err(|error| error.to_string());
            calls += u32::from(matches!(
                &read,
                Ok(JsonRpcMessage::Request(it)) if matches!(it.request, ClientRequest::CallToolRequest(_))
            ));
            assert_eq!(format!("{read:?}"), format!("{plainly:?}"), "{line}");
            // What stands beside the parameters shows only when it is written again.
            let again = |it: &Result<_, _>| it.as_ref().ok().map(|it| json!(it));
            assert_eq!(again(&read), again(&plainly), "{line}");
        }
        assert!(calls > 20, "{calls}");
    }
}
