//! The official clients, as `cargo xtask testbeds` brings them. Without one its tests say so and pass.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::wire::{eventually, runs};
use crate::rig::{Rig, run};

/// What a server has to end.
const TWO_SECONDS: Duration = Duration::from_secs(2);

/// A client and the way it speaks.
#[derive(Debug, Clone, Copy)]
enum Peer {
    /// The one in Python, after a handshake.
    Python,
    /// The one in Python, which asks what the server speaks and then speaks the latest.
    PythonStateless,
    /// The one in TypeScript.
    TypeScript,
}

const ALL: [Peer; 3] = [Peer::Python, Peer::PythonStateless, Peer::TypeScript];

impl Peer {
    /// Makes the command that does one thing with a server with these global options. `None` without the client.
    fn command(self, rig: &Rig, scenario: &str, options: &[&str]) -> Option<Command> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/clients");
        let mut command = match self {
            Self::Python | Self::PythonStateless => {
                let mut python = Command::new(part("mcp-python", "bin/python")?);
                let mode = if matches!(self, Self::Python) { "legacy" } else { "auto" };
                python.arg(scripts.join("client.py")).args([mode, scenario]);
                python
            }
            Self::TypeScript => {
                let sdk = part("mcp-typescript", "node_modules/@modelcontextprotocol/sdk")?;
                let mut node = Command::new("node");
                node.arg(scripts.join("client.mjs")).arg(sdk).arg(scenario);
                node
            }
        };
        command.arg(env!("CARGO_BIN_EXE_haft")).args(options).arg("mcp");
        rig.prepare(&mut command);
        Some(command)
    }

    /// Does one thing, and returns what the client made of it.
    fn does(self, rig: &Rig, scenario: &str, options: &[&str]) -> Option<Value> {
        let ran = run(self.command(rig, scenario, options)?);
        assert_eq!(ran.exit, 0, "{self:?} {scenario}: {}", ran.all());
        let found = serde_json::from_str(&ran.stdout);
        Some(found.unwrap_or_else(|error| panic!("{self:?} {scenario}: {error}\n{}", ran.all())))
    }
}

/// Returns what is in a part; says so where there is none.
fn part(name: &str, path: &str) -> Option<PathBuf> {
    let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.testbeds").join(name).join(path);
    if !there.exists() {
        eprintln!("skipped: there is no {}; run `cargo xtask testbeds`", there.display());
        return None;
    }
    Some(there)
}

/// A workspace with a part of a real project's sources.
fn sources() -> Option<Rig> {
    let models = part("django", "django/db/models")?;
    let rig = Rig::new();
    let copied = Command::new("cp").arg("-r").arg(models).arg(rig.ws("models")).status().unwrap();
    assert!(copied.success());
    Some(rig)
}

fn text(value: &Value) -> &str {
    value["text"].as_str().unwrap_or_else(|| panic!("there is no text: {value}"))
}

#[test]
fn official_clients_list_read_search_edit_and_run() {
    for peer in ALL {
        let Some(rig) = sources() else { return };
        let Some(found) = peer.does(&rig, "work", &["--preset", "full"]) else { continue };
        let version = match peer {
            Peer::Python => json!("2025-11-25"),
            Peer::PythonStateless => json!("2026-07-28"),
            // This one does not tell.
            Peer::TypeScript => Value::Null,
        };
        assert_eq!(found["version"], version);
        let tools: Vec<_> = found["tools"].as_array().unwrap().iter().collect();
        assert!(
            ["reader", "editor", "search", "bash"].iter().all(|it| tools.contains(&&json!(it)))
        );
        assert!(text(&found["list"]).contains("models/query.py"), "{}", found["list"]);
        assert!(text(&found["grep"]).contains("class QuerySet("), "{}", found["grep"]);
        assert_eq!(found["unread"]["error"], true, "{}", found["unread"]);
        assert!(text(&found["read"]).contains("class QuerySet("), "{}", found["read"]);
        assert_eq!(found["edit"]["error"], false, "{}", found["edit"]);
        assert!(text(&found["run"]).starts_with("exit 0"), "{}", found["run"]);
        assert_eq!(found["wrong"]["error"], true);
        assert!(text(&found["wrong"]).contains("no_such.py"), "{}", found["wrong"]);
        let query = std::fs::read_to_string(rig.ws("models/query.py")).unwrap();
        assert!(query.contains("class AnswerSet(") && !query.contains("class QuerySet("));
        let log = rig.haft(&["log", "--json"]).stdout;
        let name =
            if matches!(peer, Peer::TypeScript) { "typescript-tests" } else { "python-tests" };
        assert!(log.contains(name), "{log}");
    }
}

#[test]
fn official_clients_take_calls_back() {
    for peer in ALL {
        let rig = Rig::new();
        let Some(found) = peer.does(&rig, "stop", &["--preset", "full"]) else { continue };
        assert!(found["late"].is_string(), "{peer:?}: {found}");
        assert!(text(&found["after"]).contains("still there"), "{peer:?}: {found}");
        let stopped = rig.json(&["log", "--status", "cancelled"])["data"].as_array().unwrap().len();
        assert_eq!(stopped, 2, "{peer:?}");
    }
}

#[test]
fn official_clients_hear_of_long_calls() {
    for peer in ALL {
        let rig = Rig::new();
        let Some(found) = peer.does(&rig, "progress", &["--preset", "full"]) else { continue };
        assert!(text(&found["result"]).contains("done"), "{peer:?}: {found}");
        let reports = found["reports"].as_array().unwrap();
        assert!(!reports.is_empty() && reports.len() < 60, "{peer:?}: {found}");
        let done: Vec<f64> = reports.iter().map(|it| it[0].as_f64().unwrap()).collect();
        assert!(done.is_sorted_by(|a, b| a < b), "{peer:?}: {found}");
        assert!(reports.iter().all(|it| it[1].is_string()), "{peer:?}: {found}");
    }
}

#[test]
fn official_clients_read_ten_mebibytes() {
    for peer in ALL {
        let rig = Rig::new();
        let Some(found) = peer.does(&rig, "much", &["--preset", "full"]) else { continue };
        // Eight mebibytes of output are kept, and what is no text is sent in four characters for three bytes.
        assert_eq!(found["blobs"], json!([[11_184_812, "////"]]), "{peer:?}: {}", found["links"]);
    }
}

#[test]
fn official_clients_get_each_answer_to_its_call() {
    for peer in ALL {
        let rig = Rig::new();
        let Some(found) = peer.does(&rig, "parallel", &["--preset", "full"]) else { continue };
        for (number, answer) in found["answers"].as_array().unwrap().iter().enumerate() {
            let answer = answer.as_str().unwrap();
            assert!(answer.lines().any(|it| it == format!("n{number}")), "{peer:?}: {answer}");
        }
    }
}

#[test]
fn official_clients_put_questions_to_their_users() {
    for peer in ALL {
        let rig = Rig::new();
        let Some(found) = peer.does(&rig, "ask", &[]) else { continue };
        assert_eq!(found["yes"]["error"], false, "{peer:?}: {}", found["yes"]);
        assert_eq!(std::fs::read_to_string(rig.ws("yes.txt")).unwrap(), "yes\n");
        for answer in ["unticked", "no", "cancelled", "failed", "nobody"] {
            assert_eq!(found[answer]["error"], true, "{peer:?}: {}", found[answer]);
            assert!(!rig.ws(&format!("{answer}.txt")).exists(), "{peer:?}: {answer} ran");
        }
        assert!(text(&found["nobody"]).contains("--preset"), "{peer:?}: {}", found["nobody"]);
        let questions = found["questions"].as_array().unwrap();
        assert_eq!(questions.len(), 5, "{peer:?}: {found}");
        assert!(questions[0].as_str().unwrap().contains("echo yes > yes.txt"), "{found}");
    }
}

#[test]
fn a_server_goes_with_its_official_client_and_takes_its_children_along() {
    for peer in ALL {
        let rig = Rig::new();
        let Some(mut command) = peer.command(&rig, "hang", &["--preset", "full"]) else { continue };
        let mut client = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        let servers = || children(client.id());
        let [server] = servers()[..] else { panic!("{peer:?} started not one server") };
        client.kill().unwrap();
        let begun = Instant::now();
        client.wait().unwrap();
        eventually(|| !runs_still(server));
        assert!(begun.elapsed() < TWO_SECONDS, "{peer:?}: {:?}", begun.elapsed());
        assert!(!runs("300.70713"), "{peer:?}: a child outlived its server");
    }
}

#[test]
fn an_official_client_that_loses_its_server_is_told_and_the_next_one_works() {
    for peer in ALL {
        let rig = Rig::new();
        let Some(found) = peer.does(&rig, "lose", &["--preset", "full"]) else { continue };
        assert!(found["error"].is_string(), "{peer:?}: {found}");
        assert!(text(&found["next"]).contains("again"), "{peer:?}: {found}");
        let unknown = rig.json(&["log", "--status", "unknown"])["data"].as_array().unwrap().len();
        assert_eq!(unknown, 1, "{peer:?}");
    }
}

/// The children of a process.
fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = all.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| fields(*pid).and_then(|it| it.get(1)?.parse().ok()) == Some(parent);
    pids.filter(is_child).collect()
}

/// Tells whether a process is there and no corpse.
fn runs_still(pid: u32) -> bool {
    fields(pid).is_some_and(|it| it.first().is_some_and(|state| state != "Z"))
}

/// The fields of a process's state that follow its name.
fn fields(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit(')').next()?.split_whitespace().map(ToOwned::to_owned).collect())
}
