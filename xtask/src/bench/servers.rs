//! Servers that speak the Model Context Protocol over pipes: how long a call takes to come back, and what a server holds
//! after many.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::measure::measure;
use super::report::{self, Row};
use super::scenarios::{self, Place};
use super::tree;
use crate::repository;

/// Calls before the first memory of a long life is read, and at its end.
const YOUNG_CALLS: u32 = 10_000;
const OLD_CALLS: u32 = 100_000;

/// What a client says first.
const OPENING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

const LIST: &str = concat!(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "\n");

/// A server to start, the call to make of it, and what shows that it was answered.
#[derive(Debug)]
pub(crate) struct Server {
    label: &'static str,
    program: PathBuf,
    arguments: Vec<OsString>,
    tool: &'static str,
    tool_arguments: Value,
    expected: &'static str,
}

/// What is measured of servers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Question {
    /// From the start to the list of tools, beside `haft --version`.
    Start,
    /// An echo beside the protocol library's own.
    Echo,
    /// Reading a small file, recorded nowhere, beside the filesystem server for Node.
    Read,
    /// The same, recorded.
    ReadRecorded,
    /// Memory after many calls beside memory after some.
    Memory,
}

/// Returns the programs that a question needs.
pub(crate) fn needs(question: Question, place: &Place) -> Vec<PathBuf> {
    match question {
        Question::Echo => Vec::new(),
        Question::Read | Question::ReadRecorded => {
            vec![place.haft.clone(), place.filesystem_server.clone()]
        }
        Question::Start | Question::Memory => vec![place.haft.clone()],
    }
}

/// Asks a question.
pub(crate) fn ask(question: Question, root: &Path, place: &Place, rounds: u16) -> Result<Row> {
    let scratch = place.folder.as_path();
    match question {
        Question::Start => {
            let [haft, _] = readers(place, &["--no-state"])?;
            first_list(&haft, place, rounds)
        }
        Question::Echo => {
            build_examples(root)?;
            round_trips("an echo over pipes", echoes(root), scratch, rounds)
        }
        Question::Read => {
            let servers = readers(place, &["--no-state"])?;
            round_trips("reading a small file, recorded nowhere", servers, scratch, rounds)
        }
        Question::ReadRecorded => {
            let servers = readers(place, &[])?;
            round_trips("reading a small file, recorded", servers, scratch, rounds)
        }
        Question::Memory => {
            let [haft, _] = readers(place, &["--no-state"])?;
            memory(&haft, scratch)
        }
    }
}

fn build_examples(root: &Path) -> Result<()> {
    let mut command = repository::cargo(root);
    command.args(["build", "--release", "--package", "haft-mcp", "--examples"]);
    let status = repository::show_and_run(&mut command)?;
    ensure!(status.success(), "the examples cannot be built");
    Ok(())
}

fn echoes(root: &Path) -> [Server; 2] {
    let echo = |label, name| Server {
        label,
        program: root.join("target/release/examples").join(name),
        arguments: Vec::new(),
        tool: "echo",
        tool_arguments: json!({ "text": "some text of a usual length" }),
        expected: "some text of a usual length",
    };
    [echo("haft", "echo"), echo("rmcp", "bare_echo")]
}

fn readers(place: &Place, further: &[&str]) -> Result<[Server; 2]> {
    let folder = tree::small_file(&place.folder)?;
    let mut arguments: Vec<OsString> = vec!["mcp".into(), "--root".into(), folder.clone().into()];
    arguments.extend(further.iter().map(Into::into));
    let haft = Server {
        label: "haft",
        program: place.haft.clone(),
        arguments,
        tool: "reader",
        tool_arguments: json!({ "action": "read", "path": tree::SMALL_FILE }),
        expected: tree::SMALL_FILE_LINE,
    };
    let node = Server {
        label: "server-filesystem (Node)",
        program: "node".into(),
        arguments: vec![place.filesystem_server.clone().into(), folder.clone().into()],
        tool: "read_text_file",
        tool_arguments: json!({ "path": folder.join(tree::SMALL_FILE) }),
        expected: tree::SMALL_FILE_LINE,
    };
    Ok([haft, node])
}

/// Lets both servers answer in turns, and compares the middle of their times.
fn round_trips(
    what: &str,
    [ours, theirs]: [Server; 2],
    scratch: &Path,
    rounds: u16,
) -> Result<Row> {
    const TRIPS: u32 = 200;
    let mut sides = [Connected::start(&ours, scratch)?, Connected::start(&theirs, scratch)?];
    let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for side in &mut sides {
        for _ in 0..TRIPS {
            side.call()?;
        }
    }
    for round in 0..rounds {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let (Some(connected), Some(times)) = (sides.get_mut(side), times.get_mut(side)) else {
                continue;
            };
            for _ in 0..TRIPS {
                times.push(connected.call()?.as_secs_f64() * 1e6);
            }
        }
    }
    for side in sides {
        side.end()?;
    }
    let [our_times, their_times] = times;
    Ok(Row {
        what: what.to_owned(),
        unit: "µs",
        ours: report::median(our_times.into_iter()),
        beside: theirs.label.to_owned(),
        theirs: report::median(their_times.into_iter()),
    })
}

/// Starts a server as a client does, as often as a program that prints its version and ends, and compares the middle of the
/// times from the start to the list of tools with those of the whole other program.
fn first_list(server: &Server, place: &Place, rounds: u16) -> Result<Row> {
    const STARTS: u16 = 20;
    let version = scenarios::version(place);
    let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for start in 0..rounds.saturating_mul(STARTS) {
        let lists = || -> Result<f64> {
            let began = Instant::now();
            let mut connected = Connected::start(server, &place.folder)?;
            connected.list()?;
            let took = began.elapsed();
            connected.end()?;
            Ok(took.as_secs_f64() * 1e3)
        };
        let says =
            || -> Result<f64> { Ok(measure(&version, &place.folder)?.wall.as_secs_f64() * 1e3) };
        let [listed, said] = if start % 2 == 0 {
            let listed = lists()?;
            [listed, says()?]
        } else {
            let said = says()?;
            [lists()?, said]
        };
        let [lists, versions] = &mut times;
        lists.push(listed);
        versions.push(said);
    }
    let [lists, versions] = times;
    Ok(Row {
        what: "from start to the list of tools".to_owned(),
        unit: "ms",
        ours: report::median(lists.into_iter()),
        beside: "haft --version".to_owned(),
        theirs: report::median(versions.into_iter()),
    })
}

fn memory(server: &Server, scratch: &Path) -> Result<Row> {
    let mut connected = Connected::start(server, scratch)?;
    let mut young = 0.0;
    for number in 1..=OLD_CALLS {
        connected.call()?;
        if number == YOUNG_CALLS {
            young = connected.resident_kib()?;
        }
    }
    let old = connected.resident_kib()?;
    connected.end()?;
    Ok(Row {
        what: format!("memory after {OLD_CALLS} calls"),
        unit: "KiB",
        ours: old,
        beside: format!("after {YOUNG_CALLS}"),
        theirs: young,
    })
}

/// A server that was spoken to.
struct Connected<'a> {
    server: &'a Server,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
    line: String,
}

impl<'a> Connected<'a> {
    fn start(server: &'a Server, scratch: &Path) -> Result<Self> {
        let mut command = Command::new(&server.program);
        command.args(&server.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        command.env("HAFT_STATE_DIR", scratch.join("state"));
        command.env("HAFT_CONFIG_DIR", scratch.join("config"));
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}", server.program.display()))?;
        let input = child.stdin.take().context("the server has no input")?;
        let output = child.stdout.take().context("the server has no output")?;
        let output = BufReader::new(output);
        let mut connected = Self { server, child, input, output, calls: 0, line: String::new() };
        connected.input.write_all(OPENING.as_bytes())?;
        connected.answer(0)?;
        Ok(connected)
    }

    /// Asks for the tools.
    fn list(&mut self) -> Result<()> {
        self.input.write_all(LIST.as_bytes())?;
        self.answer(1)?;
        ensure!(self.line.contains("\"tools\":["), "{} listed no tools", self.server.label);
        Ok(())
    }

    /// Makes the call, and returns how long it took to come back.
    fn call(&mut self) -> Result<Duration> {
        self.calls += 1;
        let request = json!({
            "jsonrpc": "2.0",
            "id": self.calls,
            "method": "tools/call",
            "params": { "name": self.server.tool, "arguments": self.server.tool_arguments },
        });
        let mut request = request.to_string();
        request.push('\n');
        let start = Instant::now();
        self.input.write_all(request.as_bytes())?;
        self.answer(self.calls)?;
        let took = start.elapsed();
        if !self.line.contains(self.server.expected) {
            bail!("{} did not answer with `{}`", self.server.label, self.server.expected);
        }
        Ok(took)
    }

    /// Waits for the answer to a request, past what else is said.
    fn answer(&mut self, id: u64) -> Result<()> {
        let (in_the_middle, at_the_end) = (format!("\"id\":{id},"), format!("\"id\":{id}}}"));
        loop {
            self.line.clear();
            let read = self.output.read_line(&mut self.line)?;
            ensure!(read > 0, "{} ended before it answered", self.server.label);
            if self.line.contains(&in_the_middle) || self.line.contains(&at_the_end) {
                return Ok(());
            }
        }
    }

    fn resident_kib(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let row = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = row.and_then(|row| row.trim().strip_suffix("kB")).context("no VmRSS")?;
        Ok(kib.trim().parse()?)
    }

    fn end(mut self) -> Result<()> {
        drop(self.input);
        let status = self.child.wait()?;
        // Servers for Node end by a signal of their own making, or not at all well; that is not measured.
        if self.server.label == "haft" && !status.success() {
            bail!("haft ended with {status}");
        }
        Ok(())
    }
}
