//! The test binary as another process: it starts itself again and does what it is told.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use haft_protocol::{CallId, Outcome};
use haft_tool::ports::{Entry, Held, Journal as _};
use haft_tool::{Claim, DirectoryId, LockKey};

use crate::run_faults::text;
use crate::runs::{facts, said};
use crate::support::{attempt, call, end, intent, open, run};

const ROLE: &str = "HAFT_STORE_TEST_ROLE";
const DIR: &str = "HAFT_STORE_TEST_DIR";

/// A running child. It is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    pub(crate) fn start(role: &str, dir: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::does_what_it_is_told", "--nocapture"])
            .env(ROLE, role)
            .env(DIR, dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Returns the next line that the child has said.
    pub(crate) fn line(&mut self) -> String {
        loop {
            let line = self.lines.next().unwrap().unwrap();
            // The harness writes a name before it, and not always an end of line.
            if let Some((_, said)) = line.split_once("said: ") {
                return said.to_owned();
            }
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Kills the child in the middle of whatever it does, and returns what it had said by then.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut said = Vec::new();
        while let Some(Ok(line)) = self.lines.next() {
            said.extend(line.split_once("said: ").map(|(_, said)| said.to_owned()));
        }
        said
    }

    pub(crate) fn wait(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(text: &str) {
    println!("said: {text}");
}

fn hear() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Does nothing unless a parent asks.
#[tokio::test]
async fn does_what_it_is_told() {
    let (Ok(role), Some(dir)) = (std::env::var(ROLE), std::env::var_os(DIR)) else { return };
    let store = open(Path::new(&dir));
    match role.split_once(' ').unwrap_or((&role, "")) {
        // Whole calls without end, each said when all of it is on record; every tenth is only started.
        ("write", first) => {
            let first: u128 = first.parse().unwrap();
            for number in first.. {
                let id = call(number);
                store.append(Entry::Intent(&intent(id))).await.unwrap();
                let mut record = attempt(id, 1);
                record.must_last = number % 7 == 0;
                store.append(Entry::Started(&record)).await.unwrap();
                if number % 10 == 0 {
                    say(&format!("started {number}"));
                    continue;
                }
                end(&store, id, Outcome::ok(format!("outcome {number}"))).await.unwrap();
                say(&format!("ended {number}"));
            }
        }
        // A number of whole calls beside another process that does the same.
        ("share", numbers) => {
            let (first, count) = numbers.split_once(' ').unwrap();
            let first: u128 = first.parse().unwrap();
            for number in first..first + count.parse::<u128>().unwrap() {
                crate::support::whole(&store, &intent(call(number)), Outcome::ok("x")).await;
            }
        }
        // One call, started and never ended.
        ("start", _) => {
            store.append(Entry::Intent(&intent(call(1)))).await.unwrap();
            store.append(Entry::Started(&attempt(call(1), 1))).await.unwrap();
            say("started");
            hear();
        }
        // One run, entry by entry, each said when it is on record.
        ("run", number) => {
            let run = run(number.parse().unwrap());
            let writer = store.runs().begin(&facts(run)).unwrap();
            for number in 0.. {
                writer.append(&said(number, &text(number))).await.unwrap();
                say(&number.to_string());
            }
        }
        // A run that is open and stays so.
        ("hold-run", number) => {
            let _writer = store.runs().begin(&facts(run(number.parse().unwrap()))).unwrap();
            say(&std::process::id().to_string());
            hear();
        }
        // Twenty runs at a time.
        ("many-runs", first) => {
            let first: u128 = first.parse().unwrap();
            let runs = (first..first + 20).map(|number| {
                let writer = store.runs().begin(&facts(run(number))).unwrap();
                async move {
                    for number in 0..15 {
                        writer.append(&said(number, &text(number))).await.unwrap();
                    }
                }
            });
            futures_util::future::join_all(runs).await;
        }
        // Holds what it is told to until it hears otherwise.
        ("hold", what) => {
            let exclusion = store.exclusion();
            let held: Held = exclusion.hold(&[claim(what)]).await.unwrap();
            say("holding");
            hear();
            drop(held);
            say("released");
            hear();
        }
        // Counts in a file, one at a time.
        ("count", file) => {
            let exclusion = store.exclusion();
            for _ in 0..100 {
                let _held = exclusion.hold(&[claim("write a")]).await.unwrap();
                let count: u32 = std::fs::read_to_string(file).unwrap().parse().unwrap();
                std::fs::write(file, (count + 1).to_string()).unwrap();
            }
        }
        (role, _) => panic!("unknown role {role}"),
    }
}

/// Reads a claim: `write NAME` in directory 10, which lies in 1; or `tree N`, the directory of that number.
pub(crate) fn claim(text: &str) -> Claim {
    let directory = |inode| DirectoryId { device: 1, inode };
    let key =
        |inode, leaf: &str| LockKey { directory: directory(inode), leaf: leaf.as_bytes().into() };
    match text.split_once(' ').unwrap() {
        ("write", name) => Claim {
            key: key(10, name),
            own: None,
            above: [directory(10), directory(1)].into(),
            access: haft_protocol::Access::Write,
        },
        ("read", name) => {
            Claim { access: haft_protocol::Access::Read, ..claim(&format!("write {name}")) }
        }
        ("tree", number) => Claim {
            key: key(u64::from(number == "10"), number),
            own: Some(directory(number.parse().unwrap())),
            above: if number == "10" { [directory(1)].into() } else { [].into() },
            access: haft_protocol::Access::WriteTree,
        },
        (kind, _) => panic!("unknown claim {kind}"),
    }
}

/// Returns the number in what the writing child said.
pub(crate) fn number_of(said: &str) -> CallId {
    call(said.split_once(' ').unwrap().1.parse().unwrap())
}
