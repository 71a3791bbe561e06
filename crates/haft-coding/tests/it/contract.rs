//! What is advertised of the tools.

use std::sync::Arc;

use haft_coding::{CodingTools, Reader, Search};
use haft_testkit::kit::source_conforms;
use haft_tool::{BuildContext, TypedTool};
use serde_json::Value;

/// What a model is given of a tool: its description, then each argument on a line.
fn shown(tool: impl TypedTool) -> String {
    let descriptor = tool.erase().unwrap().descriptor();
    let schema = descriptor.input().schema();
    let mut text = format!("{}\n", descriptor.description());
    for (name, property) in schema["properties"].as_object().unwrap() {
        let mut facts = property.as_object().unwrap().clone();
        // Where actions mean different things by one name, each meaning is described on its own.
        let description = if let Some(description) = facts.remove("description") {
            description.as_str().unwrap().replace('\n', "\n    ")
        } else {
            assert!(facts.contains_key("anyOf"), "{name} is not described");
            String::new()
        };
        text.push_str(&format!("\n{name} {}\n    {description}", Value::Object(facts)));
    }
    format!("{text}\n\nrequired: {}", schema["required"])
}

#[test]
fn the_reader_is_advertised_with_every_argument_described() {
    insta::assert_snapshot!(shown(Reader), @r#"
    Reads files and lists directories of the workspace. Changes nothing.

    - `read` shows a text file as numbered lines: number, tab, text. It shows an image as an image. A long file comes in parts, and the answer says where the next one begins. Lines of every encoding and line end are shown alike; control characters are shown escaped, as in `\x1b`.
    - `list_dir` lists a directory, sorted by path. Directories end in `/`, links in `@`. Hidden files are listed.

    Paths are relative to the workspace, or absolute within it.

    action {"type":"string","enum":["read","list_dir"]}
        - `read`: Show a text file as numbered lines, or an image.
        - `list_dir`: List what is in a directory.
    path {"type":"string","minLength":1}
        The file or directory. Default: "." for `list_dir`. Required for `read`.
    offset {"type":"integer","minimum":1,"default":1}
        Number of the first line to show. Only for `read`.
    column {"type":"integer","minimum":0,"default":0}
        Bytes of that line to pass over, to go on in a long line that was cut. Only for `read`.
    limit {"anyOf":[{"type":"integer","minimum":1,"maximum":2000,"default":2000,"description":"For `read`: Lines to show at most."},{"type":"integer","minimum":1,"maximum":1000,"default":1000,"description":"For `list_dir`: Entries to list at most."}]}
        
    recursive {"type":"boolean","default":false}
        Also list what is in the directories beneath, 3 levels in all where `depth` is not given. Only for `list_dir`.
    depth {"type":"integer","minimum":1,"maximum":64}
        Levels to list; 1 is the directory itself. Only for `list_dir`.
    kinds {"type":"array","items":{"type":"string","description":"What an entry of a directory is.\n\n- `file`: A regular file.\n- `dir`: A directory.\n- `link`: A symbolic link.\n- `fifo`: A named pipe.\n- `socket`: A socket.\n- `device`: A character or block device.\n- `other`: Anything else.","enum":["file","dir","link","fifo","socket","device","other"]},"default":[]}
        Kinds to list; all where none is given. Only for `list_dir`.
    include {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Globs of which one must match: a name (`*.rs`), or with a slash a path from `path` on (`src/**`). Only for `list_dir`.
    include_ignored {"type":"boolean","default":false}
        Also list what ignore rules such as `.gitignore` leave out. Only for `list_dir`.

    required: ["action"]
    "#);
}

#[test]
fn the_search_is_advertised_with_every_argument_described() {
    insta::assert_snapshot!(shown(Search), @r#"
    Searches the workspace. Changes nothing.

    - `grep` searches in files. It shows matching lines under their file as `number:text`, and lines of context as `number-text`. Binary files are skipped; long lines are cut around the match.
    - `find` searches for files and directories.

    Both go down from `path`, do not follow links, and sort by path. They skip what ignore rules such as `.gitignore` leave out and say how much that was; a path that names a file itself is always looked at. `.git` and its like are not entered. A pattern is never an option, whatever it begins with.

    action {"type":"string","enum":["grep","find"]}
        - `grep`: Search in files for lines that match a regular expression.
        - `find`: Search for files and directories by name, kind, size and age.
    pattern {"anyOf":[{"type":"string","minLength":1,"maxLength":4096,"description":"For `grep`: A regular expression in the syntax of Rust's `regex` crate, without backreferences and look-around."},{"type":"string","minLength":1,"maxLength":1024,"default":"**","description":"For `find`: A glob for the name (`*.rs`), or with a slash for the path from `path` on (`src/**/*.rs`)."}]}
        Required for `grep`.
    path {"type":"string","minLength":1,"default":"."}
        The file or directory to search in.
    literal {"type":"boolean","default":false}
        Take the pattern as plain text. Only for `grep`.
    case {"type":"string","enum":["sensitive","insensitive","smart"],"default":"sensitive"}
        Which letters count as equal.
        
        - `sensitive`: Only the same letters.
        - `insensitive`: Capitals and small letters too.
        - `smart`: `insensitive` for a pattern without capitals, else `sensitive`. Only for `grep`.
    word {"type":"boolean","default":false}
        Match whole words only. Only for `grep`.
    include {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Globs of which one must match a file: its name (`*.rs`), or with a slash its path from `path` on (`src/**`). Only for `grep`.
    exclude {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Globs of files and directories to pass over, written like those of `include`. Only for `grep`.
    context {"type":"integer","minimum":0,"maximum":50,"default":0}
        Lines to show before and after each match. Only for `grep`.
    before {"type":"integer","minimum":0,"maximum":50}
        Lines to show before each match, in place of `context`. Only for `grep`.
    after {"type":"integer","minimum":0,"maximum":50}
        Lines to show after each match, in place of `context`. Only for `grep`.
    multiline {"type":"boolean","default":false}
        Let a match go over several lines: the pattern may then hold `\n`, and `(?s)` lets `.` match it. Only for `grep`.
    hidden {"type":"boolean","default":true}
        Look at files and directories whose name begins with a dot.
    include_ignored {"type":"boolean","default":false}
        Also look at what ignore rules such as `.gitignore` leave out.
    output {"type":"string","enum":["matches","files","count"],"default":"matches"}
        What to answer with.
        
        - `matches`: The lines that match.
        - `files`: The files with a match.
        - `count`: The files with a match, and how many each has. Only for `grep`.
    limit {"type":"integer","minimum":1,"maximum":2000,"default":100}
        Results at most.
    kinds {"type":"array","items":{"type":"string","description":"What an entry of a directory is.\n\n- `file`: A regular file.\n- `dir`: A directory.\n- `link`: A symbolic link.\n- `fifo`: A named pipe.\n- `socket`: A socket.\n- `device`: A character or block device.\n- `other`: Anything else.","enum":["file","dir","link","fifo","socket","device","other"]},"default":[]}
        Kinds to find; all where none is given. Only for `find`.
    min_size {"type":"integer","minimum":0}
        Only files of at least so many bytes. Only for `find`.
    max_size {"type":"integer","minimum":0}
        Only files of at most so many bytes. Only for `find`.
    newer_than {"type":"string"}
        Only what changed after this: an age (`2h`, `3d`) or a time (`2026-01-31T12:00:00Z`). Only for `find`.
    older_than {"type":"string"}
        Only what last changed before this, written like `newer_than`. Only for `find`.
    sort {"type":"string","enum":["path","size","modified"],"default":"path"}
        Which results come first.
        
        - `path`: By path.
        - `size`: The largest files.
        - `modified`: What changed last. Only for `find`.

    required: ["action"]
    "#);
}

#[test]
fn each_action_has_a_contract_of_its_own() {
    let required = |tool: Arc<dyn haft_tool::Tool>, action: &str| {
        let contract = tool.descriptor().input().branch(action).unwrap();
        contract.schema()["required"].to_string()
    };
    let reader = Reader.erase().unwrap();
    let search = Search.erase().unwrap();
    assert_eq!(required(reader.clone(), "read"), r#"["action","path"]"#);
    assert_eq!(required(reader, "list_dir"), r#"["action"]"#);
    assert_eq!(required(search.clone(), "grep"), r#"["action","pattern"]"#);
    assert_eq!(required(search, "find"), r#"["action"]"#);
}

#[tokio::test]
async fn the_source_conforms() {
    source_conforms(Arc::new(CodingTools::new()), BuildContext::default()).await;
}
