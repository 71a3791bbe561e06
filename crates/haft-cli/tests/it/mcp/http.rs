//! The server over HTTP.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::wire::{eventually, reading, runs};
use crate::rig::Rig;

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server, and what it said to whoever started it.
pub(super) struct Server {
    child: Child,
    url: String,
    pub(super) token: String,
    note: String,
}

impl Server {
    pub(super) fn start(rig: &Rig, options: &[&str]) -> Self {
        Self::start_with(rig, &[options, &["mcp", "--http"]].concat())
    }

    fn start_with(rig: &Rig, arguments: &[&str]) -> Self {
        let mut command = rig.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut said = |label: &str| {
            let line = lines.next().unwrap();
            line.strip_prefix(label).unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        let url = said("serving: ");
        assert!(said("root: ").ends_with("/ws"));
        let (token, note) = (said("token: "), said("note: "));
        Self { child, url, token, note }
    }

    pub(super) fn address(&self) -> SocketAddr {
        let address = self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        address.parse().unwrap()
    }

    /// Sends a request and leaves the answer to come.
    fn open(&self, token: &str, method: &str, params: &Value) -> TcpStream {
        let address = self.address();
        let name = params["name"].as_str().unwrap_or_default();
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let length = body.len();
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.0\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nmcp-name: {name}\r\n\
             content-length: {length}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
    }

    /// Returns the status and the body of an answer.
    fn ask(&self, token: &str, method: &str, params: &Value) -> (String, String) {
        let mut text = String::new();
        self.open(token, method, params).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
    }

    /// Asks it to end, and returns what it wrote to standard output and how long it took.
    fn end(&mut self, signal: Signal) -> (Option<i32>, String, Duration) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        let begin = Instant::now();
        kill_process(pid, signal).unwrap();
        let code = self.child.wait().unwrap().code();
        let after = begin.elapsed();
        let mut written = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut written).unwrap();
        (code, written, after)
    }
}

#[test]
fn whoever_has_the_token_is_served_until_the_server_is_told_to_stop() {
    let rig = Rig::new();
    rig.file("a.txt", "a text\n");
    let mut server = Server::start(&rig, &["--preset", "full"]);
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    assert_eq!(server.token.len(), 43);
    insta::assert_snapshot!(server.note, @"clients send the token as `Authorization: Bearer TOKEN`; it is shown this once");
    assert_eq!(server.ask("other", "tools/call", &reading("a.txt")).0, "401");
    let (status, body) = server.ask(&server.token, "tools/call", &reading("a.txt"));
    assert!(status == "200" && body.contains("a text"), "{status} {body}");

    let arguments = json!({ "command": "sleep 300.70717", "timeout_ms": 300_000 });
    let sleeping = json!({ "name": "bash", "arguments": arguments });
    let _stream = server.open(&server.token, "tools/call", &sleeping);
    eventually(|| runs("300.70717"));
    let (_, written, after) = server.end(Signal::TERM);
    assert!(after < Duration::from_secs(2), "{after:?}");
    assert!(!runs("300.70717"), "a child outlived its server");
    assert_eq!(written, "");
}

#[test]
fn scripts_find_the_token_in_a_file_for_the_user_alone() {
    let rig = Rig::new();
    rig.file("a.txt", "a text\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, "what an earlier server left").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let file = path.to_str().unwrap();
    let mut server = Server::start_with(&rig, &["mcp", "--http", "--token-file", file]);
    let real = folder.path().canonicalize().unwrap().join("token");
    assert_eq!(server.token, format!("in {}", real.display()));
    assert_eq!(server.note, "clients send the token as `Authorization: Bearer TOKEN`");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let token = fs::read_to_string(&path).unwrap();
    let (status, body) = server.ask(token.trim_end(), "tools/call", &reading("a.txt"));
    assert!(status == "200" && body.contains("a text"), "{status} {body}");
    server.end(Signal::TERM);
    assert!(!path.exists(), "a token that lets nobody in any more is left");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_token_is_written_to_no_place_that_tools_see_or_a_link_names() {
    let rig = Rig::new();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    symlink(at("target"), at("link")).unwrap();
    symlink(rig.ws(""), at("to-root")).unwrap();
    let inside = rig.ws("sub");
    fs::create_dir(&inside).unwrap();
    let inside = inside.join("token").to_str().unwrap().to_owned();
    for (path, why) in [
        (at("link"), "this is a link"),
        (at("."), "this is no regular file"),
        (at("gone/token"), "its folder cannot be used"),
        (at("to-root/token"), "is a root, and what is in it can be read"),
        (inside, "is a root, and what is in it can be read"),
    ] {
        let refused = rig.haft(&["mcp", "--http", "--token-file", &path]);
        assert_eq!(refused.exit, 2, "{path}");
        assert!(refused.stderr.contains(why), "{path}: {}", refused.stderr);
    }
    assert!(!folder.path().join("target").exists() && !rig.ws("token").exists());
    assert_eq!(
        rig.haft(&["mcp", "--token-file", &at("token")]).exit,
        2,
        "there is no server for it"
    );
}

#[test]
fn a_client_that_hangs_up_stops_what_it_asked_for() {
    let rig = Rig::new();
    let mut server = Server::start(&rig, &["--preset", "full"]);
    let arguments = json!({ "command": "sleep 300.70718", "timeout_ms": 300_000 });
    let sleeping = json!({ "name": "bash", "arguments": arguments });
    let stream = server.open(&server.token, "tools/call", &sleeping);
    eventually(|| runs("300.70718"));
    drop(stream);
    eventually(|| !runs("300.70718"));
    server.end(Signal::INT);
}

#[test]
fn addresses_that_others_can_reach_are_refused() {
    let rig = Rig::new();
    let refused = rig.haft(&["mcp", "--http", "0.0.0.0:8080"]);
    assert_eq!(refused.exit, 2);
    insta::assert_snapshot!(refused.stderr, @"error: `--http`: 0.0.0.0:8080 is no loopback address: what is served there is for this machine alone, as 127.0.0.1:0 is");
    let refused = rig.haft(&["mcp", "--http", "here"]);
    assert_eq!(refused.exit, 2);
    insta::assert_snapshot!(refused.stderr, @r"
    error: `--http here`: this is no address with a port
    hint: write it as `127.0.0.1:8080`; port 0 is any that is free
    ");
    let refused = rig.haft(&["mcp", "--http=127.0.0.1:0", "config", "claude"]);
    assert_eq!(refused.exit, 2);
    insta::assert_snapshot!(refused.stderr, @"error: `--http` starts a server; clients that are configured start theirs");
}
