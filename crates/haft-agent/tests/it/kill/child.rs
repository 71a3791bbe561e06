//! The test binary as another process, which freezes at a write of its journal and is killed there.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_protocol::{RunEntry, RunFacts};
use haft_session::{Keeper, KeeperError};
use haft_store::{RunWriter, Store};
use haft_tool::BoxFuture;
use haft_tool::ports::{Entry, Journal, Port, PortError};

use super::run::{Killed, begin};

const DIR: &str = "HAFT_AGENT_TEST_DIR";
const KILLED: &str = "HAFT_AGENT_TEST_KILLED";

/// A running child.
pub(super) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    pub(super) fn start(dir: &Path, killed: Option<Killed>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kill::child::works_until_it_is_killed", "--nocapture"]);
        command.env(DIR, dir).stdin(Stdio::null()).stdout(Stdio::piped());
        if let Some(Killed { number, frozen }) = killed {
            command.env(KILLED, format!("{number} {frozen:?}"));
        }
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Kills the child where it froze. Tells whether it got there.
    pub(super) fn kill(mut self) -> bool {
        let said = self.said();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        said == "frozen"
    }

    pub(super) fn finish(mut self) {
        assert_eq!(self.said(), "done");
        self.child.wait().unwrap();
    }

    fn said(&mut self) -> String {
        for line in self.lines.by_ref() {
            if let Some((_, said)) = line.unwrap().split_once("said: ") {
                return said.to_owned();
            }
        }
        panic!("the child ended without a word");
    }
}

/// On which side of a write a process freezes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frozen {
    Before,
    After,
}

/// Counts the writes of a process, and freezes it at one of them.
#[derive(Debug, Clone)]
pub(super) struct Writes {
    count: Arc<AtomicU64>,
    killed: Option<Killed>,
}

impl Writes {
    pub(super) fn new(killed: Option<Killed>) -> Self {
        Self { count: Arc::default(), killed }
    }

    pub(super) async fn around<T>(&self, write: impl Future<Output = T>) -> T {
        let number = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        self.freeze(number, Frozen::Before);
        let written = write.await;
        self.freeze(number, Frozen::After);
        written
    }

    /// Stops everything of this process but what is written already, until somebody kills it.
    fn freeze(&self, number: u64, frozen: Frozen) {
        if self.killed != Some(Killed { number, frozen }) {
            return;
        }
        println!("said: frozen");
        loop {
            std::thread::park();
        }
    }
}

/// A journal whose writes are counted.
pub(super) struct CountedJournal(pub(super) Store, pub(super) Writes);

impl Port for CountedJournal {
    fn describe(&self) -> String {
        self.0.describe()
    }
}

impl Journal for CountedJournal {
    fn append<'a>(&'a self, entry: Entry<'a>) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(self.1.around(self.0.append(entry)))
    }
}

/// The record of a run whose writes are counted.
#[derive(Debug)]
pub(super) struct CountedKeeper(pub(super) RunWriter, pub(super) Writes);

impl Keeper for CountedKeeper {
    fn keep<'a>(&'a self, entry: &'a RunEntry) -> BoxFuture<'a, Result<(), KeeperError>> {
        Box::pin(async move {
            let kept = self.1.around(self.0.append(entry)).await;
            kept.map_err(|error| KeeperError {
                text: error.to_string(),
                source: Some(Box::new(error)),
            })
        })
    }

    fn begin_beneath(&self, _: RunFacts) -> BoxFuture<'_, Result<Arc<dyn Keeper>, KeeperError>> {
        unreachable!("no call of this run starts another one")
    }
}

/// Does nothing unless a parent asks.
#[tokio::test]
async fn works_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let killed = std::env::var(KILLED).ok().map(|text| {
        let (number, frozen) = text.split_once(' ').unwrap();
        let frozen = if frozen == "Before" { Frozen::Before } else { Frozen::After };
        Killed { number: number.parse().unwrap(), frozen }
    });
    begin(Path::new(&dir), killed).await;
    println!("said: done");
}
