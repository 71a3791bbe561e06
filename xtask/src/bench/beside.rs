//! lionagi beside haft: scripts measure the one, benchmarks the other, in turns.
//!
//! The scripts lie in a folder of their own and print a line of JSON for each case. A round takes about a minute, and
//! machines change their speed within minutes, so the lowest medians of all rounds stand beside each other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::inside::{self, Benchmark, number};
use super::report::Row;
use super::scenarios::Place;
use crate::repository;

/// Rounds of the other scenarios for which there is one of this.
const SHORTER: u16 = 3;

/// What the scripts are installed from.
const LOCK: &str = "requirements.lock";

/// The script that looks at memory, and the messages that it is asked about. It prints resident KiB before, after, and
/// after a clone.
const MEMORY: (&str, &str) = ("b12_memory.py", "10000");

/// The other scripts.
const SCRIPTS: &[&str] = &["b02_action.py", "b03_branch.py", "b11_turn.py", "b08_tools.py"];

/// One thing that both do.
struct Case {
    what: &'static str,
    /// Where it stands in what the benchmarks printed.
    ours: &'static str,
    /// What the scripts call it.
    theirs: &'static str,
}

const fn case(what: &'static str, ours: &'static str, theirs: &'static str) -> Case {
    Case { what, ours, theirs }
}

/// What is compared. The first cases are of conversations and their calls, then of turns with a scripted model, then of
/// tools on the same tree.
const CASES: &[Case] = &[
    case(
        "a call of a tool that does nothing",
        "/call_ns/bare",
        "ActionManager.invoke no-op async (request model)",
    ),
    case(
        "the same on a conversation that grows",
        "/call_ns/act",
        "branch.act no-op async, one growing branch",
    ),
    case("a branch", "/branch_ns", "Branch(chat_model=shared, parse_model=shared)"),
    case("a fork at 10 000 messages", "/forks/1/fork_ns", "Branch.clone with 10000 messages"),
    case(
        "a reply, kept nowhere",
        "/turn_ns/chat",
        "branch.chat, scripted text reply, nothing recorded",
    ),
    case("a value, turns 1 to 20", "/turn_ns/operate_first", "branch.operate, first 20"),
    case("a value, turns 101 to 120", "/turn_ns/operate_last", "branch.operate, last 20"),
    case("reading a small file", "/tool_ns/read_small", "reader.read small file (version.py)"),
    case(
        "reading 2 000 lines",
        "/tool_ns/read_window",
        "reader.read 2000-line window of an 8,481-line file",
    ),
    case("searching 629 files for a text", "/tool_ns/grep", "search.grep literal 'class Branch'"),
    case("finding files by name", "/tool_ns/find", "search.find *.py"),
    case("the outline of 1 769 lines", "/tool_ns/outline", "nav.outline 1,769-line file"),
    case(
        "an edit in 1 769 lines",
        "/tool_ns/edit",
        "editor.edit one replacement in a 1,769-line file",
    ),
];

/// Cases of memory, whose unit is the byte.
const MEMORY_CASES: [(&str, &str); 2] = [
    ("a message of 10 000", "/memory/message_bytes"),
    ("in a fork, one of 10 000", "/memory/forked_message_bytes"),
];

/// Returns the first file that the folder lacks.
pub(super) fn missing(folder: &Path) -> Option<PathBuf> {
    let files = SCRIPTS.iter().chain([&MEMORY.0, &LOCK]);
    files.map(|name| folder.join(name)).find(|file| !file.is_file())
}

/// Measures both sides, and returns them beside each other.
pub(super) fn measure(root: &Path, folder: &Path, place: &Place, rounds: u16) -> Result<Vec<Row>> {
    let folder = fs::canonicalize(folder)?;
    let scripts = Scripts { python: installed(root, &folder)?, folder, scratch: &place.folder };
    let (mut ours, mut theirs) = (Lowest::default(), Lowest::default());
    for _ in 0..rounds.div_ceil(SHORTER) {
        for script in SCRIPTS {
            for line in scripts.run(script, &[])?.lines() {
                if let Some((case, nanoseconds)) = time_of(line) {
                    theirs.take(&case, nanoseconds);
                }
            }
        }
        let kib = scripts.run(MEMORY.0, &[MEMORY.1])?;
        for ((what, _), bytes) in MEMORY_CASES.iter().zip(bytes_of(&kib)?) {
            theirs.take(what, bytes);
        }
        let tree = scripts.tree();
        let measured = [
            inside::measure(root, Benchmark::Conversations, &[])?,
            inside::measure(root, Benchmark::Beside, &[("HAFT_BENCH_TREE", &tree)])?,
        ];
        for pointer in pointers() {
            let found = measured.iter().find_map(|it| number(it, pointer).ok());
            ours.take(pointer, found.with_context(|| format!("haft measured no {pointer}"))?);
        }
    }
    let row = |what: &str, unit, pointer: &str, name: &str, beside: &str| {
        Ok(Row {
            what: what.to_owned(),
            unit,
            ours: ours.of(pointer)?,
            beside: beside.to_owned(),
            theirs: theirs.of(name)?,
        })
    };
    let times = CASES.iter().map(|it| row(it.what, "ns", it.ours, it.theirs, "lionagi"));
    let memory = MEMORY_CASES.iter().map(|(what, ours)| row(what, "B", ours, what, "lionagi"));
    times.chain(memory).collect()
}

fn pointers() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|it| it.ours).chain(MEMORY_CASES.iter().map(|(_, ours)| *ours))
}

/// Installs what the lock file names in a folder of its own beside the testbeds, once, and returns its Python.
fn installed(root: &Path, folder: &Path) -> Result<PathBuf> {
    let lock = fs::read(folder.join(LOCK))?;
    let digest = Sha256::digest(&lock);
    let stamp = digest.iter().take(6).fold(0_u64, |stamp, byte| stamp << 8 | u64::from(*byte));
    let there = root.join(".testbeds").join(format!("beside-{stamp:012x}"));
    let python = there.join("bin/python");
    if there.join(LOCK).is_file() {
        return Ok(python);
    }
    eprintln!("installing what {} names", folder.join(LOCK).display());
    run(Command::new("python3").args(["-m", "venv"]).arg(&there))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    run(pip.arg("--only-binary=:all:").arg("--requirement").arg(folder.join(LOCK)))?;
    // What is not whole is installed again.
    fs::write(there.join(LOCK), lock)?;
    Ok(python)
}

/// The scripts, and where they run.
struct Scripts<'a> {
    python: PathBuf,
    folder: PathBuf,
    scratch: &'a Path,
}

impl Scripts<'_> {
    /// Returns the tree that the tools work on: a copy of lionagi's own source, made by the script about tools.
    fn tree(&self) -> PathBuf {
        self.scratch.join("lionagi-tree")
    }

    /// Runs a script in the scratch folder, with no home but that.
    fn run(&self, script: &str, arguments: &[&str]) -> Result<String> {
        eprintln!("+ {script} {}", arguments.join(" "));
        let mut command = Command::new(&self.python);
        command.arg(self.folder.join(script)).args(arguments).current_dir(self.scratch);
        command.env("HOME", self.scratch).env("BENCH_TREE", self.tree());
        command.env("PYTHONWARNINGS", "ignore").env("PYTHONDONTWRITEBYTECODE", "1");
        let output = command.stderr(Stdio::inherit()).output().context("cannot start Python")?;
        ensure!(output.status.success(), "{script} failed with {}", output.status);
        String::from_utf8(output.stdout).context("a script printed what is no text")
    }
}

fn run(command: &mut Command) -> Result<()> {
    let status = repository::show_and_run(command)?;
    ensure!(status.success(), "{} failed with {status}", repository::spelled(command));
    Ok(())
}

/// Reads a line of a script: the case and its median in nanoseconds.
fn time_of(line: &str) -> Option<(String, f64)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let scale = match line.get("unit")?.as_str()? {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some((line.get("case")?.as_str()?.to_owned(), line.get("median")?.as_f64()? * scale))
}

/// Reads what the script about memory printed: bytes of a message, and of one in a clone.
fn bytes_of(printed: &str) -> Result<[f64; 2]> {
    let kib: Vec<f64> = printed.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let [.., before, after, cloned] = kib.as_slice() else {
        anyhow::bail!("{} printed no three numbers: {printed}", MEMORY.0);
    };
    let messages: f64 = MEMORY.1.parse()?;
    Ok([after - before, cloned - after].map(|kib| kib * 1024.0 / messages))
}

/// The lowest value of each name.
#[derive(Debug, Default)]
struct Lowest(std::collections::BTreeMap<String, f64>);

impl Lowest {
    fn take(&mut self, name: &str, value: f64) {
        let lowest = self.0.entry(name.to_owned()).or_insert(value);
        *lowest = lowest.min(value);
    }

    fn of(&self, name: &str) -> Result<f64> {
        self.0.get(name).copied().with_context(|| format!("no script measured `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_scripts_are_read_in_nanoseconds() {
        let line = r#"{"bench": "action", "case": "a", "unit": "us", "median": 1.5, "n": 3}"#;
        assert_eq!(time_of(line), Some(("a".to_owned(), 1_500.0)));
        assert_eq!(time_of(r#"{"case": "tree files", "unit": "count", "median": 629}"#), None);
        assert_eq!(time_of("something else"), None);
    }

    #[test]
    fn memory_is_what_came_to_the_process() {
        let [message, in_a_clone] = bytes_of("noise\n1000 11000 11500\n").unwrap();
        assert_eq!((message.to_string(), in_a_clone.to_string()), ("1024".into(), "51.2".into()));
        assert!(bytes_of("1 2").is_err());
    }

    #[test]
    fn the_lowest_counts() {
        let mut lowest = Lowest::default();
        for value in [3.0, 2.0, 4.0] {
            lowest.take("a", value);
        }
        assert_eq!(lowest.of("a").unwrap().to_string(), "2");
        assert_eq!(lowest.of("b").unwrap_err().to_string(), "no script measured `b`");
    }

    #[test]
    fn a_folder_without_scripts_is_told_by_the_first_that_it_lacks() {
        let folder = tempfile::TempDir::new().unwrap();
        assert_eq!(missing(folder.path()), Some(folder.path().join("b02_action.py")));
    }
}
