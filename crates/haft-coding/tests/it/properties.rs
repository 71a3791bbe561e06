//! The tools against simple models of what they should do.

use std::collections::BTreeMap;

use haft_protocol::limits;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::rig::Rig;

/// A small tree: paths with contents, in which names and lines repeat often.
fn tree() -> impl Strategy<Value = BTreeMap<String, String>> {
    let name = prop::sample::select(vec!["a", "b", "ab", "a.rs", "b.rs", "c.md", ".a"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    let line = prop::sample::select(vec!["a", "ab", "b a", "", "ab ab", "A", "aXb", "é a"]);
    let text = (prop::collection::vec(line, 0..6), any::<bool>())
        .prop_map(|(lines, ends)| lines.join("\n") + if ends { "\n" } else { "" });
    prop::collection::btree_map(path, text, 0..12).prop_map(|files| {
        // A path that is a file cannot be a directory as well.
        let mut kept = BTreeMap::<String, String>::new();
        for (path, text) in files {
            if !kept.keys().any(|file| path.starts_with(&format!("{file}/"))) {
                kept.insert(path, text);
            }
        }
        kept
    })
}

fn rig(tree: &BTreeMap<String, String>) -> Rig {
    let rig = Rig::new();
    for (path, text) in tree {
        rig.file(path, text);
    }
    rig
}

/// Puts paths in the order of results.
fn in_order<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut paths: Vec<_> = paths.collect();
    paths.sort_by_key(|path| path.split('/').collect::<Vec<_>>());
    paths
}

/// What of a text stands on which line.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines())
}

/// Tells whether a glob of `*`, `?`, `**` and `{x,y}` matches.
fn matches(glob: &str, path: &str) -> bool {
    if let Some((before, rest)) = glob.split_once('{') {
        let (choices, after) = rest.split_once('}').unwrap();
        return choices.split(',').any(|it| matches(&format!("{before}{it}{after}"), path));
    }
    if !glob.contains('/') {
        let name = path.rsplit('/').next().unwrap();
        return glob == "**" || name_matches(glob, name);
    }
    let globs: Vec<&str> = glob.split('/').collect();
    let names: Vec<&str> = path.split('/').collect();
    names_match(&globs, &names)
}

fn names_match(globs: &[&str], names: &[&str]) -> bool {
    match (globs, names) {
        ([], names) => names.is_empty(),
        // At the end it stands for at least one name.
        (["**"], names) => !names.is_empty(),
        (["**", rest @ ..], names) => {
            names_match(rest, names)
                || names.split_first().is_some_and(|(_, names)| names_match(globs, names))
        }
        ([glob, globs @ ..], [name, names @ ..]) => {
            name_matches(glob, name) && names_match(globs, names)
        }
        (_, []) => false,
    }
}

fn name_matches(glob: &str, name: &str) -> bool {
    let (mut globs, mut names) = (glob.chars(), name.chars());
    match (globs.next(), names.next()) {
        (None, first) => first.is_none(),
        (Some('*'), None) => name_matches(globs.as_str(), name),
        (Some('*'), Some(_)) => {
            name_matches(globs.as_str(), name) || name_matches(glob, names.as_str())
        }
        (Some(_), None) => false,
        (Some(wanted), Some(char)) => {
            (wanted == '?' || wanted == char) && name_matches(globs.as_str(), names.as_str())
        }
    }
}

const GLOBS: [&str; 12] =
    ["**", "*", "a", "*.rs", "?.rs", "{a,b}.rs", "a/**", "**/b", "a/*/b", "**/a/*", "*/*", ".*"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn parts_in_sequence_hold_each_line_once(
        lines in prop::collection::vec("[a-zé\t]{0,30}|x{2100}", 0..60),
        limit in 1_u32..20,
        crlf in any::<bool>(),
    ) {
        let rig = Rig::new();
        let end = if crlf { "\r\n" } else { "\n" };
        let text: Vec<String> = lines.iter().map(|line| format!("{line}{end}")).collect();
        rig.file("f", text.concat());
        let (mut offset, mut read) = (json!(1), Vec::new());
        while offset != Value::Null {
            let data = rig.data("reader", "read", &json!({ "path": "f", "offset": offset, "limit": limit }));
            prop_assert_eq!(&data["total_lines"], &json!(lines.len()));
            for line in data["lines"].as_array().unwrap() {
                prop_assert_eq!(&line["number"], &json!(read.len() + 1));
                read.push(line["text"].as_str().unwrap().to_owned());
            }
            offset = data["next_offset"].clone();
        }
        let expected: Vec<&str> =
            lines.iter().map(|line| haft_text::head(line, limits::READ_LINE_BYTES)).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn grep_agrees_with_a_look_at_every_line(
        tree in tree(),
        pattern in prop::sample::select(vec!["a", "ab", "^a", "a$", "a.b", "b|é", "[^a]", "^$", "ab ab"]),
        include in prop::option::of(prop::sample::select(GLOBS.to_vec())),
        limit in 1_usize..8,
    ) {
        let rig = rig(&tree);
        let regex = regex::Regex::new(pattern).unwrap();
        let chosen = tree.keys().filter(|path| include.is_none_or(|glob| matches(glob, path)));
        let mut expected = Vec::new();
        let mut counts = Vec::new();
        for path in in_order(chosen) {
            let before = expected.len();
            for (number, line) in lines(&tree[path]) {
                if let Some(found) = regex.find(line) {
                    expected.push(json!([path, number, found.start() + 1, line]));
                }
            }
            if expected.len() > before {
                counts.push(json!({ "path": path, "count": expected.len() - before }));
            }
        }
        let include: Vec<&str> = include.into_iter().collect();
        let args = |more: Value| {
            let mut args = json!({ "pattern": pattern, "include": include });
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            args
        };
        let flat = |data: &Value| -> Vec<Value> {
            let matches = data["matches"].as_array().unwrap().iter();
            matches.map(|it| json!([it["path"], it["line"], it["column"], it["text"]])).collect()
        };
        let all = rig.data("search", "grep", &args(json!({ "limit": 2000 })));
        prop_assert_eq!(&flat(&all), &expected);
        prop_assert_eq!(&all["total"], &json!(expected.len()));
        let first = rig.data("search", "grep", &args(json!({ "limit": limit, "context": 1 })));
        let few: Vec<Value> = expected.iter().take(limit).cloned().collect();
        prop_assert_eq!(&flat(&first), &few);
        prop_assert_eq!(&first["total"], &json!(expected.len()));
        let counted = rig.data("search", "grep", &args(json!({ "output": "count" })));
        prop_assert_eq!(&counted["counts"], &json!(counts));
        let files = rig.data("search", "grep", &args(json!({ "output": "files", "limit": limit })));
        let paths: Vec<&Value> = counts.iter().map(|it| &it["path"]).take(limit).collect();
        prop_assert_eq!(&files["files"], &json!(paths));
        prop_assert_eq!(&files["total"], &json!(counts.len()));
    }

    #[test]
    fn context_agrees_with_the_lines_around(
        text in prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..40),
        before in 0_usize..4,
        after in 0_usize..4,
    ) {
        let rig = Rig::new();
        rig.file("f", text.join("\n") + "\n");
        let mut expected = Vec::new();
        let is_near = |index: usize| {
            (index.saturating_sub(after)..=index + before).any(|at| text.get(at) == Some(&"a"))
        };
        let mut last = None;
        for (index, line) in text.iter().enumerate().filter(|(index, _)| is_near(*index)) {
            if last.is_some_and(|last| last + 1 < index) && before + after > 0 {
                expected.push("--".to_owned());
            }
            last = Some(index);
            let sign = if *line == "a" { ':' } else { '-' };
            expected.push(format!("{}{sign}{line}", index + 1));
        }
        let args = json!({ "pattern": "a", "before": before, "after": after, "limit": 2000 });
        let shown = rig.grep(&args);
        let shown: Vec<&str> = shown.lines().skip(1).collect();
        prop_assert_eq!(shown, expected);
    }

    #[test]
    fn find_agrees_with_a_look_at_every_path(
        tree in tree(), pattern in prop::sample::select(GLOBS.to_vec()), limit in 1_usize..8,
    ) {
        let rig = rig(&tree);
        let mut paths: Vec<String> = Vec::new();
        for path in tree.keys() {
            let names: Vec<&str> = path.split('/').collect();
            paths.extend((1..=names.len()).map(|depth| {
                names.iter().take(depth).copied().collect::<Vec<_>>().join("/")
            }));
        }
        paths.sort();
        paths.dedup();
        let expected = in_order(paths.iter().filter(|path| matches(pattern, path)));
        let found = |limit: usize| {
            let data = rig.data("search", "find", &json!({ "pattern": pattern, "limit": limit }));
            assert_eq!(data["total"], json!(expected.len()));
            let entries = data["entries"].as_array().unwrap().iter();
            entries.map(|entry| entry["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let all: Vec<String> = found(2000);
        prop_assert_eq!(all.iter().collect::<Vec<_>>(), expected.clone());
        let first = found(limit);
        prop_assert!(first.iter().eq(all.iter().take(limit)), "{:?}", first);
    }
}
