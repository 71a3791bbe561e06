//! What is measured inside one process, by the benchmarks that belong to the `haft` crate.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::report::Row;
use crate::repository;

/// A benchmark of the `haft` crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Benchmark {
    CallPath,
    Conversations,
    Hands,
    Beside,
}

/// Builds and runs a benchmark with some variables in its environment, and returns what it printed.
pub(crate) fn measure(
    root: &Path,
    benchmark: Benchmark,
    environment: &[(&str, &Path)],
) -> Result<Value> {
    let name = match benchmark {
        Benchmark::CallPath => "call_path",
        Benchmark::Conversations => "conversations",
        Benchmark::Hands => "hands",
        Benchmark::Beside => "beside",
    };
    let mut command = repository::cargo(root);
    command.envs(environment.iter().copied());
    command.args(["bench", "--package", "haft", "--features", "models", "--bench", name]);
    eprintln!("+ {}", repository::spelled(&command));
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo bench")?;
    ensure!(output.status.success(), "the benchmark failed with {}", output.status);
    serde_json::from_slice(&output.stdout).context("the benchmark printed no JSON")
}

/// Returns what a call costs beside a boxed function that parses its arguments, and its record beside a bare commit.
pub(crate) fn dispatch(measured: &Value) -> Result<Vec<Row>> {
    let (boxed, commit) = ("a boxed function", "a bare commit");
    [
        ("a call, recorded nowhere", "/call_ns/journal_off", boxed, "/call_ns/boxed"),
        ("a call, recorded", "/call_ns/journal_on", boxed, "/call_ns/boxed"),
        (
            "a call in a batch of 25, recorded",
            "/call_ns/journal_on_batches",
            boxed,
            "/call_ns/boxed",
        ),
        ("a call, recorded", "/call_ns/journal_on", commit, "/call_ns/commit"),
        (
            "a call in a batch of 25, recorded",
            "/call_ns/journal_on_batches",
            commit,
            "/call_ns/commit",
        ),
    ]
    .into_iter()
    .map(|(what, pointer, beside, beside_pointer)| {
        Ok(Row {
            what: what.to_owned(),
            unit: "ns",
            ours: number(measured, pointer)?,
            beside: beside.to_owned(),
            theirs: number(measured, beside_pointer)?,
        })
    })
    .collect()
}

/// Returns what a tool costs in registries of growing size, beside the smallest.
pub(crate) fn registry(measured: &Value) -> Result<Vec<Row>> {
    let sizes = measured["registry"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (smallest, larger) = sizes.split_first().context("the benchmark measured no registry")?;
    let mut rows = Vec::new();
    for (what, pointer) in [("registering", "/register_ns"), ("finding", "/find_ns")] {
        for size in larger {
            rows.push(Row {
                what: format!("{what} one of {} tools", size["tools"]),
                unit: "ns",
                ours: number(size, pointer)?,
                beside: format!("one of {}", smallest["tools"]),
                theirs: number(smallest, pointer)?,
            });
        }
    }
    Ok(rows)
}

/// Returns what an edit of a long file costs beside reading, replacing and writing it by hand.
pub(crate) fn edit(measured: &Value) -> Result<Vec<Row>> {
    Ok(vec![Row {
        what: "an edit in 10 MiB".to_owned(),
        unit: "ns",
        ours: number(measured, "/edit_ns/ours")?,
        beside: "read, replace, write, sync, rename".to_owned(),
        theirs: number(measured, "/edit_ns/by_hand")?,
    }])
}

/// Returns what starting a program costs at each level, beside starting it from here.
pub(crate) fn spawn(measured: &Value) -> Result<Vec<Row>> {
    let bare = number(measured, "/spawn_ns/bare")?;
    let levels = measured.pointer("/spawn_ns/levels").and_then(Value::as_object);
    let levels = levels.context("the benchmark measured no level")?;
    let row = |(level, nanoseconds): (&String, &Value)| {
        Ok(Row {
            what: format!("a program at level {level}"),
            unit: "ns",
            ours: nanoseconds.as_f64().context("a time is a number")?,
            beside: "a program".to_owned(),
            theirs: bare,
        })
    };
    levels.iter().map(row).collect()
}

/// Returns what running a program costs in trees of growing size, beside the smallest.
pub(crate) fn scan(measured: &Value) -> Result<Vec<Row>> {
    let trees = measured["scan_ns"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (smallest, larger) = trees.split_first().context("the benchmark measured no tree")?;
    let row = |tree: &Value| {
        Ok(Row {
            what: format!("running a program in a tree of {} files", tree["files"]),
            unit: "ns",
            ours: number(tree, "/call")?,
            beside: format!("of {}", smallest["files"]),
            theirs: number(smallest, "/call")?,
        })
    };
    larger.iter().map(row).collect()
}

/// Returns what a request late in a conversation costs beside one at its start.
pub(crate) fn compile(measured: &Value) -> Result<Vec<Row>> {
    let row = |smallest: &Value, larger: &Value| {
        Ok(Row {
            what: format!("a request at turn {}", larger["turn"]),
            unit: "ns",
            ours: number(larger, "/request_ns")?,
            beside: format!("at turn {}", smallest["turn"]),
            theirs: number(smallest, "/request_ns")?,
        })
    };
    beside_the_smallest(measured, "requests", row)
}

/// Returns what a call of a program costs on a conversation, which takes it up, beside the call alone.
pub(crate) fn act(measured: &Value) -> Result<Vec<Row>> {
    Ok(vec![Row {
        what: "act of a tool that does nothing".to_owned(),
        unit: "ns",
        ours: number(measured, "/call_ns/act")?,
        beside: "the call alone".to_owned(),
        theirs: number(measured, "/call_ns/bare")?,
    }])
}

/// Returns what a message holds in memory beside its text, in a conversation and in a fork of it.
pub(crate) fn message(measured: &Value) -> Result<Vec<Row>> {
    let rows = [
        ("a message of", "/memory/message_bytes"),
        ("in a fork, one of", "/memory/forked_message_bytes"),
    ];
    let messages = number(measured, "/memory/messages")?;
    let row = |(what, pointer): (&str, &str)| {
        Ok(Row {
            what: format!("{what} {messages}"),
            unit: "B",
            ours: number(measured, pointer)?,
            beside: "its text".to_owned(),
            theirs: number(measured, "/memory/text_bytes")?,
        })
    };
    rows.into_iter().map(row).collect()
}

/// Returns what a fork of a long conversation costs beside one of a short one.
pub(crate) fn branch_clone(measured: &Value) -> Result<Vec<Row>> {
    let row = |smallest: &Value, larger: &Value| {
        Ok(Row {
            what: format!("a fork at {} messages", larger["messages"]),
            unit: "ns",
            ours: number(larger, "/fork_ns")?,
            beside: format!("at {}", smallest["messages"]),
            theirs: number(smallest, "/fork_ns")?,
        })
    };
    beside_the_smallest(measured, "forks", row)
}

fn beside_the_smallest(
    measured: &Value,
    what: &str,
    row: impl Fn(&Value, &Value) -> Result<Row>,
) -> Result<Vec<Row>> {
    let sizes = measured[what].as_array().map(Vec::as_slice).unwrap_or_default();
    let (smallest, larger) =
        sizes.split_first().with_context(|| format!("the benchmark measured no {what}"))?;
    larger.iter().map(|larger| row(smallest, larger)).collect()
}

pub(super) fn number(measured: &Value, pointer: &str) -> Result<f64> {
    let value = measured.pointer(pointer).and_then(Value::as_f64);
    value.with_context(|| format!("the benchmark measured no {pointer}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_stand_beside_the_boxed_function_and_the_bare_commit() {
        let measured = json!({"call_ns": {
            "boxed": 100.0, "journal_off": 200.0, "journal_on": 300.0, "journal_on_batches": 250.0,
            "commit": 50.0,
        }});
        let rows = dispatch(&measured).unwrap();
        let ratios: Vec<_> = rows.iter().map(|it| it.ours / it.theirs).collect();
        assert_eq!(ratios, [2.0, 3.0, 2.5, 6.0, 5.0]);
    }

    #[test]
    fn registries_stand_beside_the_smallest() {
        let measured = json!({"registry": [
            {"tools": 50, "register_ns": 10.0, "find_ns": 1.0},
            {"tools": 500, "register_ns": 20.0, "find_ns": 2.0},
        ]});
        let rows = registry(&measured).unwrap();
        let named: Vec<_> =
            rows.iter().map(|row| (row.what.as_str(), row.beside.as_str())).collect();
        assert_eq!(
            named,
            [
                ("registering one of 500 tools", "one of 50"),
                ("finding one of 500 tools", "one of 50")
            ]
        );
    }

    #[test]
    fn levels_stand_beside_a_bare_program_and_trees_beside_the_smallest() {
        let measured = json!({
            "spawn_ns": { "bare": 1.0, "levels": { "none": 2.0, "files": 4.0 } },
            "scan_ns": [{ "files": 1, "call": 5.0 }, { "files": 1000, "call": 10.0 }],
        });
        let ratios =
            |rows: Vec<Row>| -> Vec<f64> { rows.iter().map(|it| it.ours / it.theirs).collect() };
        let mut spawned = ratios(spawn(&measured).unwrap());
        spawned.sort_by(f64::total_cmp);
        assert_eq!(spawned, [2.0, 4.0]);
        assert_eq!(ratios(scan(&measured).unwrap()), [2.0]);
    }

    #[test]
    fn long_conversations_stand_beside_short_ones() {
        let measured = json!({
            "requests": [
                { "turn": 10, "request_ns": 100.0 },
                { "turn": 1000, "request_ns": 110.0 },
            ],
            "forks": [{ "messages": 10, "fork_ns": 5.0 }, { "messages": 10000, "fork_ns": 6.0 }],
        });
        let rows = [compile(&measured).unwrap(), branch_clone(&measured).unwrap()].concat();
        let ratios: Vec<_> = rows.iter().map(|it| it.ours / it.theirs).collect();
        assert_eq!(ratios, [1.1, 1.2]);
    }

    #[test]
    fn a_message_stands_beside_its_text_and_a_call_of_a_program_beside_a_bare_one() {
        let measured = json!({
            "call_ns": { "bare": 2.0, "act": 8.0 },
            "memory": {
                "messages": 10, "text_bytes": 100.0, "message_bytes": 300.0, "forked_message_bytes": 1.0,
            },
        });
        let rows = [act(&measured).unwrap(), message(&measured).unwrap()].concat();
        let shown: Vec<_> = rows.iter().map(|it| (it.what.as_str(), it.ours / it.theirs)).collect();
        assert_eq!(
            shown,
            [
                ("act of a tool that does nothing", 4.0),
                ("a message of 10", 3.0),
                ("in a fork, one of 10", 0.01)
            ]
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = dispatch(&json!({"call_ns": {"boxed": 1.0}})).unwrap_err().to_string();
        assert_eq!(error, "the benchmark measured no /call_ns/journal_off");
    }
}
