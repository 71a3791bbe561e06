//! What is compared.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::inside::{self, Benchmark};
use super::measure::Program;
use super::report::Row;
use super::servers::Question;
use super::{syntax, tree};

/// Folders and programs that scenarios share.
#[derive(Debug)]
pub(crate) struct Place {
    /// Scratch space, kept between runs.
    pub(crate) folder: PathBuf,
    pub(super) haft: PathBuf,
    ripgrep: PathBuf,
    fd: PathBuf,
    pub(super) ast_grep: PathBuf,
    /// A source tree in Python.
    pub(super) django: PathBuf,
    /// A server for files, to be run by Node.
    pub(super) filesystem_server: PathBuf,
}

/// One comparison.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) way: Way,
}

/// Runs of each side in one round of a scenario that takes milliseconds.
const SHORT: u16 = 12;

/// How a scenario is measured.
pub(crate) enum Way {
    /// Two programs take turns.
    Programs {
        /// Programs without which the scenario is left out.
        needs: fn(&Place) -> Vec<PathBuf>,
        /// Makes the input if it is not there, and returns haft and the program beside it.
        prepare: fn(&Place) -> Result<[Program; 2]>,
        /// How often each side runs in one round.
        runs: u16,
    },
    /// Servers are started, and asked in turns.
    Servers(Question),
    /// A benchmark measures both sides in one process.
    Inside(Benchmark, fn(&Value) -> Result<Vec<Row>>),
    /// Scripts measure another library, and a benchmark the same of haft, in turns.
    Beside,
}

/// Every scenario there is.
pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "start",
        about: "start, print the version, end",
        way: Way::Programs {
            needs: |place| vec![place.haft.clone(), place.ripgrep.clone()],
            prepare: |place| Ok(start(place)),
            runs: SHORT,
        },
    },
    Scenario {
        name: "start-call",
        about: "read a line of a small file and keep no record, beside `haft --version`",
        way: Way::Programs {
            needs: |place| vec![place.haft.clone()],
            prepare: |place| start_call(place, &["--no-state"]),
            runs: SHORT,
        },
    },
    Scenario {
        name: "start-record",
        about: "read a line of a small file and record it, beside `haft --version`",
        way: Way::Programs {
            needs: |place| vec![place.haft.clone()],
            prepare: |place| start_call(place, &[]),
            runs: SHORT,
        },
    },
    Scenario {
        name: "start-tools",
        about: "list the tools, beside `haft --version`",
        way: Way::Programs {
            needs: |place| vec![place.haft.clone()],
            prepare: |place| Ok(start_tools(place)),
            runs: SHORT,
        },
    },
    Scenario {
        name: "start-mcp",
        about: "from the start of `haft mcp` to its list of tools, beside `haft --version`",
        way: Way::Servers(Question::Start),
    },
    Scenario {
        name: "mcp-echo",
        about: "round trips of an echo tool over pipes, beside the protocol library alone",
        way: Way::Servers(Question::Echo),
    },
    Scenario {
        name: "mcp-read",
        about: "reading a small file through `haft mcp`, beside the filesystem server for Node",
        way: Way::Servers(Question::Read),
    },
    Scenario {
        name: "mcp-record",
        about: "the same, with every call recorded",
        way: Way::Servers(Question::ReadRecorded),
    },
    Scenario {
        name: "mcp-memory",
        about: "memory of `haft mcp` after 100 000 calls, beside after 10 000",
        way: Way::Servers(Question::Memory),
    },
    Scenario {
        name: "grep",
        about: "20 hits of a word in a tree of 50 000 files, beside ripgrep",
        way: Way::Programs {
            needs: |place| vec![place.haft.clone(), place.ripgrep.clone()],
            prepare: grep,
            runs: 1,
        },
    },
    Scenario {
        name: "find",
        about: "20 files by name in a tree of 50 000 files, beside fd",
        way: Way::Programs {
            needs: |place| vec![place.haft.clone(), place.fd.clone()],
            prepare: find,
            runs: 1,
        },
    },
    Scenario {
        name: "deep-read",
        about: "20 lines near the end of a file of 2 GiB, beside sed",
        way: Way::Programs { needs: |place| vec![place.haft.clone()], prepare: deep_read, runs: 1 },
    },
    Scenario {
        name: "ast-search",
        about: "calls by structure in the Python files of Django, beside ast-grep",
        way: Way::Programs { needs: syntax::needs, prepare: syntax::search, runs: 1 },
    },
    Scenario {
        name: "outline",
        about: "all definitions of the Python files of Django, beside ast-grep looking for functions",
        way: Way::Programs { needs: syntax::needs, prepare: syntax::outline, runs: 1 },
    },
    Scenario {
        name: "dispatch",
        about: "a tool that does nothing, through the whole call path, beside a boxed function",
        way: Way::Inside(Benchmark::CallPath, inside::dispatch),
    },
    Scenario {
        name: "registry",
        about: "registering and finding a tool among 500 and 5000, beside 50",
        way: Way::Inside(Benchmark::CallPath, inside::registry),
    },
    Scenario {
        name: "compile",
        about: "the request at turn 1000 of a conversation, beside the one at turn 10",
        way: Way::Inside(Benchmark::Conversations, inside::compile),
    },
    Scenario {
        name: "branch-clone",
        about: "a fork of a conversation of 10 000 messages, beside one of 10",
        way: Way::Inside(Benchmark::Conversations, inside::branch_clone),
    },
    Scenario {
        name: "act",
        about: "a call of a program on a conversation that grows, beside the call alone",
        way: Way::Inside(Benchmark::Conversations, inside::act),
    },
    Scenario {
        name: "message",
        about: "memory of a message in a conversation of 10 000, and in a fork of it, beside its text",
        way: Way::Inside(Benchmark::Conversations, inside::message),
    },
    Scenario {
        name: "lionagi",
        about: "calls, conversations, turns and tools beside lionagi, by scripts in a folder that --beside names",
        way: Way::Beside,
    },
    Scenario {
        name: "edit",
        about: "an edit in a file of 10 MiB, beside doing it by hand",
        way: Way::Inside(Benchmark::Hands, inside::edit),
    },
    Scenario {
        name: "spawn",
        about: "a program that does nothing at each level of confinement, beside starting it from here",
        way: Way::Inside(Benchmark::Hands, inside::spawn),
    },
    Scenario {
        name: "scan",
        about: "a program that does nothing in trees of 1000 to 100 000 files, beside a tree of one",
        way: Way::Inside(Benchmark::Hands, inside::scan),
    },
];

impl Place {
    pub(crate) fn new(root: &Path) -> Self {
        let testbeds = root.join(".testbeds");
        Self {
            folder: root.join("target/bench"),
            haft: root.join("target/release/haft"),
            ripgrep: testbeds.join("ripgrep/bin/rg"),
            fd: testbeds.join("fd/bin/fd"),
            ast_grep: testbeds.join("ast-grep/ast-grep"),
            django: testbeds.join("django/django"),
            filesystem_server: testbeds
                .join("mcp-filesystem/node_modules/@modelcontextprotocol/server-filesystem")
                .join("dist/index.js"),
        }
    }

    /// Returns a call of one tool through the command line, rooted at a folder.
    pub(super) fn haft_call(&self, tool: &str, arguments: &str, root: &Path) -> Program {
        Program::new("haft", self.haft.clone())
            .arguments(["call", tool, arguments, "--json", "--root"])
            .arguments([root])
    }
}

fn start(place: &Place) -> [Program; 2] {
    let haft = Program::new("haft", place.haft.clone()).arguments(["--version"]);
    let ripgrep = Program::new("rg", place.ripgrep.clone()).arguments(["--version"]);
    [haft.expects("haft "), ripgrep.expects("ripgrep ")]
}

/// What everything else at the start is measured by: haft, up to the point where it knows what it was asked for.
pub(super) fn version(place: &Place) -> Program {
    Program::new("itself", place.haft.clone()).arguments(["--version"]).expects("haft ")
}

fn start_call(place: &Place, further: &[&str]) -> Result<[Program; 2]> {
    let folder = tree::small_file(&place.folder)?;
    let arguments = format!(r#"{{"action":"read","path":"{}"}}"#, tree::SMALL_FILE);
    let haft = place.haft_call("reader", &arguments, &folder).arguments(further);
    Ok([haft.expects(tree::SMALL_FILE_LINE), version(place)])
}

fn start_tools(place: &Place) -> [Program; 2] {
    let haft = Program::new("haft", place.haft.clone()).arguments(["tools"]);
    [haft.expects("search"), version(place)]
}

fn grep(place: &Place) -> Result<[Program; 2]> {
    let tree = tree::many_files(&place.folder)?;
    let word = tree::WORD;
    let arguments = format!(r#"{{"action":"grep","pattern":"{word}"}}"#);
    let haft = place.haft_call("search", &arguments, &tree);
    let ripgrep = Program::new("rg", place.ripgrep.clone())
        .arguments(["--line-number", "--no-heading", word, "."])
        .working_folder(tree);
    Ok([expect_marked(haft), expect_marked(ripgrep)])
}

fn find(place: &Place) -> Result<[Program; 2]> {
    let tree = tree::many_files(&place.folder)?;
    let pattern = tree::MARKED_NAMES;
    let arguments = format!(r#"{{"action":"find","pattern":"**/{pattern}"}}"#);
    let haft = place.haft_call("search", &arguments, &tree);
    let fd = Program::new("fd", place.fd.clone())
        .arguments(["--glob", pattern, "."])
        .working_folder(tree);
    Ok([expect_marked(haft), expect_marked(fd)])
}

/// Both sides have to name every marked file.
fn expect_marked(program: Program) -> Program {
    tree::marked_files().fold(program, Program::expects)
}

fn deep_read(place: &Place) -> Result<[Program; 2]> {
    let file = tree::long_file(&place.folder)?;
    let first = tree::LONG_FILE_LINES - 1000;
    let last = first + 19;
    let folder = file.parent().unwrap_or(&place.folder);
    let arguments =
        format!(r#"{{"action":"read","path":"{}","offset":{first},"limit":20}}"#, tree::LONG_FILE);
    let haft = place.haft_call("reader", &arguments, folder);
    let sed = Program::new("sed", "sed".into())
        .arguments(["-n".to_owned(), format!("{first},{last}p;{last}q")])
        .arguments([&file]);
    let (first, last) = (tree::line_of_long_file(first), tree::line_of_long_file(last));
    Ok([haft, sed].map(|program| program.expects(first.trim_end()).expects(last.trim_end())))
}
