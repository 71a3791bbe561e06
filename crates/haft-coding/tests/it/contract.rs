//! What is advertised of the tools.

use std::sync::Arc;

use haft_coding::{
    AstSearch, Bash, BashSettings, CodeCheck, CodeNav, CodingTools, Editor, Reader, Search, Undo,
};
use haft_testkit::kit::source_conforms;
use haft_tool::{BuildContext, ToolSource as _, TypedTool};
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
        Required for `read`. The file or directory. Default: "." for `list_dir`.
    offset {"type":"integer","minimum":1,"default":1}
        Only for `read`. Number of the first line to show.
    column {"type":"integer","minimum":0,"default":0}
        Only for `read`. Bytes of that line to pass over, to go on in a long line that was cut.
    limit {"anyOf":[{"type":"integer","minimum":1,"maximum":2000,"default":2000,"description":"For `read`: Lines to show at most."},{"type":"integer","minimum":1,"maximum":1000,"default":1000,"description":"For `list_dir`: Entries to list at most."}]}
        
    recursive {"type":"boolean","default":false}
        Only for `list_dir`. Also list what is in the directories beneath, 3 levels in all where `depth` is not given.
    depth {"type":"integer","minimum":1,"maximum":64}
        Only for `list_dir`. Levels to list; 1 is the directory itself.
    kinds {"type":"array","items":{"type":"string","description":"What an entry of a directory is.\n\n- `file`: A regular file.\n- `dir`: A directory.\n- `link`: A symbolic link.\n- `fifo`: A named pipe.\n- `socket`: A socket.\n- `device`: A character or block device.\n- `other`: Anything else.","enum":["file","dir","link","fifo","socket","device","other"]},"default":[]}
        Only for `list_dir`. Kinds to list; all where none is given.
    include {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Only for `list_dir`. Globs of which one must match: a name (`*.rs`), or with a slash a path from `path` on (`src/**`).
    include_ignored {"type":"boolean","default":false}
        Only for `list_dir`. Also list what ignore rules such as `.gitignore` leave out.

    required: ["action"]
    "#);
}

#[test]
fn the_editor_is_advertised_with_every_argument_described() {
    insta::assert_snapshot!(shown(Editor), @r#"
    Changes files of the workspace: `edit` text in a file, `write` a whole file, `insert` lines, `delete`, `move`, `mkdir`.

    - `edit` replaces `old` by `new`. Copy `old` exactly from the file, without the line numbers that reading shows, and with enough lines around it to occur only once, or set `replace_all`. For several edits of one file give `edits`: each works on what those before it left, and all happen or none. Encoding, line ends and everything else in the file stay as they are.
    - `write` makes a file with the directories above it, or replaces all that is in it. Give the whole content.
    - `insert` puts whole lines after a line; 0 puts them first.

    Read what you change first. A call that is refused changes nothing, shows the nearest place, and has a corrected call where there is one. Each result shows what changed as a difference.

    action {"type":"string","enum":["edit","write","insert","delete","move","mkdir"]}
        - `edit`: Replace text in a file.
        - `write`: Make a file, or replace all that is in it.
        - `insert`: Put whole lines between lines of a file.
        - `delete`: Remove a file, a link or an empty directory.
        - `move`: Move or rename a file, a link or a directory.
        - `mkdir`: Make a directory, with those above it.
    path {"type":"string","minLength":1}
        The file or directory.
    old {"type":"string"}
        Only for `edit`. The text to replace, as it stands in the file.
    new {"type":"string"}
        Only for `edit`. The text to put in its place; empty to remove it.
    replace_all {"type":"boolean","default":false}
        Only for `edit`. Replace every place where `old` stands.
    edits {"type":"array","items":{"type":"object","description":"One of several edits.","properties":{"old":{"type":"string","description":"The text to replace, as it stands in the file after the edits before."},"new":{"type":"string","description":"The text to put in its place; empty to remove it."},"replace_all":{"type":"boolean","description":"Replace every place where `old` stands.","default":false}},"required":["old","new"],"additionalProperties":false},"maxItems":100}
        Only for `edit`. Several edits, in place of `old` and `new`.
    content {"type":"string"}
        Only for `write`, required there. The whole text of the file.
    line {"type":"integer","minimum":0}
        Only for `insert`, required there. Number of the line to insert after; 0 for before the first.
    lines {"type":"string","minLength":1}
        Only for `insert`, required there. The lines.
    to {"type":"string","minLength":1}
        Only for `move`, required there. Its whole new path; nothing may stand there.

    required: ["action","path"]
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
        Only for `grep`. Take the pattern as plain text.
    case {"type":"string","enum":["sensitive","insensitive","smart"],"default":"sensitive"}
        Only for `grep`. Which letters count as equal.
        
        - `sensitive`: Only the same letters.
        - `insensitive`: Capitals and small letters too.
        - `smart`: `insensitive` for a pattern without capitals, else `sensitive`.
    word {"type":"boolean","default":false}
        Only for `grep`. Match whole words only.
    include {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Only for `grep`. Globs of which one must match a file: its name (`*.rs`), or with a slash its path from `path` on (`src/**`).
    exclude {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Only for `grep`. Globs of files and directories to pass over, written like those of `include`.
    context {"type":"integer","minimum":0,"maximum":50,"default":0}
        Only for `grep`. Lines to show before and after each match.
    before {"type":"integer","minimum":0,"maximum":50}
        Only for `grep`. Lines to show before each match, in place of `context`.
    after {"type":"integer","minimum":0,"maximum":50}
        Only for `grep`. Lines to show after each match, in place of `context`.
    multiline {"type":"boolean","default":false}
        Only for `grep`. Let a match go over several lines: the pattern may then hold `\n`, and `(?s)` lets `.` match it.
    hidden {"type":"boolean","default":true}
        Look at files and directories whose name begins with a dot.
    include_ignored {"type":"boolean","default":false}
        Also look at what ignore rules such as `.gitignore` leave out.
    output {"type":"string","enum":["matches","files","count"],"default":"matches"}
        Only for `grep`. What to answer with.
        
        - `matches`: The lines that match.
        - `files`: The files with a match.
        - `count`: The files with a match, and how many each has.
    limit {"type":"integer","minimum":1,"maximum":2000,"default":100}
        Results at most.
    kinds {"type":"array","items":{"type":"string","description":"What an entry of a directory is.\n\n- `file`: A regular file.\n- `dir`: A directory.\n- `link`: A symbolic link.\n- `fifo`: A named pipe.\n- `socket`: A socket.\n- `device`: A character or block device.\n- `other`: Anything else.","enum":["file","dir","link","fifo","socket","device","other"]},"default":[]}
        Only for `find`. Kinds to find; all where none is given.
    min_size {"type":"integer","minimum":0}
        Only for `find`. Only files of at least so many bytes.
    max_size {"type":"integer","minimum":0}
        Only for `find`. Only files of at most so many bytes.
    newer_than {"type":"string"}
        Only for `find`. Only what changed after this: an age (`2h`, `3d`) or a time (`2026-01-31T12:00:00Z`).
    older_than {"type":"string"}
        Only for `find`. Only what last changed before this, written like `newer_than`.
    sort {"type":"string","enum":["path","size","modified"],"default":"path"}
        Only for `find`. Which results come first.
        
        - `path`: By path.
        - `size`: The largest files.
        - `modified`: What changed last.

    required: ["action"]
    "#);
}

#[test]
fn the_navigation_is_advertised_with_every_argument_described() {
    insta::assert_snapshot!(shown(CodeNav), @r#"
    Finds its way in source code: Python, Rust, TypeScript, JavaScript, Go, C, C++ and Java. Changes nothing, runs nothing.

    - `outline` shows what files define, each on a line: first and last line number, then the definition up to its body, indented by what it stands in.
    - `definition` finds where a name is defined: `area`, or `Shape.area` for what stands in `Shape`.
    - `references` finds where a name is used, apart from its definitions.

    All three look at one file or go down from `path`, skip what ignore rules leave out, and sort by path. The answer is syntactic: files are parsed, nothing is resolved. Two things of one name are not told apart, and what a program makes while it runs is not found.

    action {"type":"string","enum":["outline","definition","references"]}
        - `outline`: Show what files define.
        - `definition`: Find where a name is defined.
        - `references`: Find where a name is used.
    path {"type":"string","minLength":1,"default":"."}
        The file or directory to look at.
    language {"type":"string","enum":["c","cpp","go","java","javascript","python","rust","tsx","typescript"]}
        Only files of this language; for a file that is named itself, the language to read it in.
    kinds {"type":"array","items":{"type":"string","description":"What a definition is.\n\n- `module`: A module or namespace.\n- `class`: A class.\n- `struct`: A structure or record.\n- `union`: A union.\n- `enum`: An enumeration.\n- `variant`: One of the values of an enumeration.\n- `interface`: An interface or protocol.\n- `trait`: A trait or concept.\n- `impl`: What a type does, apart from its definition: `impl` in Rust. It is in outlines and is no definition.\n- `type`: Another name for a type.\n- `function`: A function.\n- `method`: A function of a type.\n- `constructor`: What makes a value of a type.\n- `field`: A value held by each value of a type.\n- `constant`: A value that does not change.\n- `variable`: A value of a whole file or type.\n- `macro`: A macro.","enum":["module","class","struct","union","enum","variant","interface","trait","impl","type","function","method","constructor","field","constant","variable","macro"]},"default":[]}
        Only for `outline`. Kinds of definitions to show; all where none is given.
    include {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Globs of which one must match a file: its name (`*.rs`), or with a slash its path from `path` on (`src/**`).
    exclude {"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":100,"default":[]}
        Globs of files and directories to pass over, written like those of `include`.
    include_ignored {"type":"boolean","default":false}
        Also look at what ignore rules such as `.gitignore` leave out.
    limit {"type":"integer","minimum":1,"maximum":2000}
        For `outline`: Definitions at most. For `definition`, `references`: Results at most. Default: 500 for `outline`, 100 for `definition`, `references`.
    symbol {"type":"string","minLength":1,"maxLength":1000}
        Only for `definition`, `references`, required there. The name: `area`, or with what it stands in `Shape.area` or `Shape::area`. Uses are found by its last part alone.

    required: ["action"]
    "#);
}

#[test]
fn the_search_by_structure_is_advertised_with_every_argument_described() {
    insta::assert_snapshot!(shown(AstSearch), @r#"
    Searches source code by its structure: Python, Rust, TypeScript, JavaScript, Go, C, C++ and Java. Changes nothing, runs nothing.

    A pattern is code with metavariables in it. `$NAME`, in capitals, stands for one expression, name, type or statement; `$$$NAMES` stands for any number of them, such as all arguments or the statements of a block. A metavariable that stands twice stands for the same code twice; `$_` and `$$$` stand for anything. Blank space and comments do not count; words before a definition do: `fn $NAME() { $$$ }` finds no `pub fn`.

    - `$X.unwrap()` finds `f(1).unwrap()`, with `$X` = `f(1)`
    - `print($$$ARGS)` finds every call of `print`
    - `if err != nil { $$$BODY }` finds Go's error checks
    - `def $NAME($$$PARAMETERS): $$$BODY` finds functions of Python

    Each match is shown with the lines it stands on and with what its metavariables stand for. It goes down from `path`, skips what ignore rules leave out, and sorts by path. Plain text is found faster by a search in files.

    pattern {"type":"string","maxLength":4096,"minLength":1}
        Code with metavariables in it: `$NAME` for one piece of code, `$$$NAMES` for any number.
    language {"type":"string","enum":["c","cpp","go","java","javascript","python","rust","tsx","typescript"]}
        The language of the pattern and of the files. `typescript` and `tsx` are two.
        
        - `c`: C: `.c`, `.h`.
        - `cpp`: C++: `.cc`, `.cpp`, `.cxx`, `.hpp` and their like.
        - `go`: Go: `.go`.
        - `java`: Java: `.java`.
        - `javascript`: JavaScript, JSX too: `.js`, `.jsx`, `.mjs`, `.cjs`.
        - `python`: Python: `.py`, `.pyi`.
        - `rust`: Rust: `.rs`.
        - `tsx`: TypeScript with JSX: `.tsx`.
        - `typescript`: TypeScript: `.ts`, `.mts`, `.cts`.
    path {"type":"string","minLength":1,"default":"."}
        The file or directory to search in.
    include {"type":"array","maxItems":100,"default":[],"items":{"type":"string","minLength":1,"maxLength":1024}}
        Globs of which one must match a file: its name (`*.rs`), or with a slash its path from `path` on (`src/**`).
    exclude {"type":"array","maxItems":100,"default":[],"items":{"type":"string","minLength":1,"maxLength":1024}}
        Globs of files and directories to pass over, written like those of `include`.
    include_ignored {"type":"boolean","default":false}
        Also look at what ignore rules such as `.gitignore` leave out.
    limit {"type":"integer","maximum":2000,"default":100,"minimum":1}
        Matches at most.

    required: ["pattern","language"]
    "#);
}

#[test]
fn bash_is_advertised_with_every_argument_described() {
    let launcher = haft_process::Launcher::new(None, "/tmp");
    let bash = Bash::new(launcher, BashSettings::default());
    insta::assert_snapshot!(shown(bash), @r#"
    Runs a command in the workspace and shows how it ended and what it printed.

    - `command` goes to bash exactly as it is written; `argv` starts a program without a shell. Give one of them.
    - Each call is a process of its own: a directory that was entered or a variable that was set does not last.
    - There is no terminal, standard input is empty, and programs that ask a question fail. `HOME` and `TMPDIR` are an empty directory that goes after the call.
    - Processes that are still running when the command ends are stopped. A command that runs out of time is stopped, and what it had printed is shown.
    - Of long output the start and the end are shown. Where a sandbox is in force, files outside the workspace cannot be changed and there is no network; the result names its level.

    Read, search and edit files with the tools made for it; they are bounded and can be taken back. What a command changes is seen by a look before and after, and not deep inside directories that ignore rules leave out.

    command {"type":"string","maxLength":100000,"minLength":1}
        A command for bash, which gets exactly this text.
    argv {"type":"array","maxItems":1000,"items":{"type":"string","maxLength":100000},"minItems":1}
        A program and its arguments, in place of `command`; no shell looks at them.
    cwd {"type":"string","minLength":1,"default":"."}
        The directory to start in.
    timeout_ms {"type":"integer","maximum":300000,"minimum":1}
        Milliseconds it may run; 30000 where nothing is given.

    required: null
    "#);
}

#[test]
fn the_code_check_is_advertised_with_every_argument_described() {
    let launcher = haft_process::Launcher::new(None, "/tmp");
    let check = CodeCheck::new(launcher, BashSettings::default());
    insta::assert_snapshot!(shown(check), @r#"
    Checks source code with a checker that is installed, and lists what it finds by path, line and column. Fixes nothing.

    - `ruff` checks Python files; it runs none of them.
    - `cargo_check` and `cargo_clippy` check the Rust package whose `Cargo.toml` is nearest, at or above `path`, without fetching anything. They run its build scripts and macros, and write to its target directory.

    Only what is found at or beneath `path` is listed; what is found elsewhere is counted. A checker that is not installed is no failure: the status is `unavailable`, and the result says how to get it.

    path {"type":"string","minLength":1,"default":"."}
        The file or directory to check.
    checker {"type":"string","enum":["ruff","cargo_check","cargo_clippy"]}
        The checker. Where none is given: `cargo_check` for Rust or where a `Cargo.toml` is at or above `path`, `ruff` for Python.
    limit {"type":"integer","maximum":500,"default":50,"minimum":1}
        Diagnostics at most.

    required: null
    "#);
}

#[test]
fn a_checker_that_runs_nothing_of_the_project_changes_nothing() {
    let launcher = haft_process::Launcher::new(None, "/tmp");
    let check = CodeCheck::new(launcher, BashSettings::default());
    let effects = |checker: Option<&str>| {
        let arguments = serde_json::json!({ "checker": checker });
        let arguments = arguments.as_object().unwrap().clone();
        let arguments = arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let args = serde_json::from_value(Value::Object(arguments)).unwrap();
        check
            .effects(&args)
            .unwrap()
            .map(|it| it.effects().map(|it| it.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(effects(None), None);
    assert_eq!(effects(Some("cargo_check")), None);
    assert_eq!(effects(Some("ruff")), Some(vec!["read_files".to_owned(), "execute".to_owned()]));
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

#[test]
fn a_tool_whose_contracts_wait_is_the_tool_it_would_be_at_once() {
    let bash = Bash::new(haft_process::Launcher::new(None, "/tmp"), BashSettings::default());
    let at_once = [
        Reader.erase(),
        Search.erase(),
        Editor.erase(),
        CodeNav.erase(),
        AstSearch.erase(),
        Undo.erase(),
        bash.clone().erase(),
    ];
    let later = CodingTools::new().bash(bash).build(&BuildContext::default()).unwrap();
    let later: Vec<_> = later.iter().map(|tool| tool.descriptor()).collect();
    for waiting in &later {
        assert!(!waiting.input().is_made(), "{}", waiting.name());
    }
    for tool in at_once {
        let tool = tool.unwrap().descriptor();
        let waiting = later.iter().find(|it| it.name() == tool.name()).unwrap();
        assert_eq!(waiting.fingerprint(), tool.fingerprint(), "{}", tool.name());
    }
}

#[tokio::test]
async fn the_source_conforms() {
    let launcher = haft_process::Launcher::new(None, "/tmp");
    let tools = CodingTools::new().bash(Bash::new(launcher, BashSettings::default()));
    source_conforms(Arc::new(tools), BuildContext::default()).await;
}
