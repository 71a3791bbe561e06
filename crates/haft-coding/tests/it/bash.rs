//! Commands, as a model sees them. They run without the helper here; what the helper does is shown where it is.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use haft_coding::{Bash, BashSettings, CodingTools};
use haft_policy::{Policy, Preset, Rule, RuleAccess};
use haft_process::{Launcher, SandboxLevel};
use haft_protocol::{Caller, Entrance, Outcome, RunId, ToolCall};
use haft_testkit::doors::{
    CountedIds, MemoryArtifacts, MemoryJournal, Oracle, SteppingClock, Steps,
};
use haft_tool::{
    Budget, BuildContext, CallContext, Dispatch, DispatchLimits, OnConflict, Ports, Registry,
};
use haft_workspace::{Protection, Workspace, WorkspaceBinder, WorkspaceConfig};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// A workspace, and the tool over it.
pub(crate) struct Shell {
    folder: tempfile::TempDir,
    dispatch: Dispatch,
    context: CallContext,
    artifacts: Arc<MemoryArtifacts>,
    runtime: Runtime,
}

impl Shell {
    fn new() -> Self {
        Self::with(BashSettings { sandbox: SandboxLevel::Group, ..BashSettings::default() })
    }

    pub(crate) fn with(settings: BashSettings) -> Self {
        Self::under(settings, Vec::new())
    }

    pub(crate) fn under(settings: BashSettings, rules: Vec<Rule>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ws", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let roots = vec![folder.path().join("ws")];
        let protection = Protection::standard();
        let workspace = Workspace::open(WorkspaceConfig { roots, protection }).unwrap();
        let steps = Arc::new(Steps::default());
        let artifacts = Arc::new(MemoryArtifacts::default());
        let ports = Ports {
            journal: Arc::new(MemoryJournal::default()),
            binder: Arc::new(WorkspaceBinder::new(workspace)),
            checkpoints: steps.clone(),
            capture: steps.clone(),
            artifacts: artifacts.clone(),
            approver: Arc::new(Oracle::default()),
            exclusion: steps,
            clock: Arc::new(SteppingClock::default()),
            ids: Arc::new(CountedIds::default()),
        };
        let launcher = Launcher::new(None, folder.path().join("tmp"));
        let registry = Registry::new(BuildContext::default());
        let tools = CodingTools::new().bash(Bash::new(launcher, settings));
        registry.register(Arc::new(tools), OnConflict::Reject).unwrap();
        let caller = Caller {
            entrance: Entrance::Library,
            principal: "test".into(),
            run: RunId::from_parts(0, 1),
            branch: None,
            parent: None,
        };
        let policy = Arc::new(Policy::new(Preset::Full, rules, false).unwrap());
        Self {
            folder,
            dispatch: Dispatch::new(ports, DispatchLimits::default()),
            context: CallContext::new(caller, registry.snapshot(), policy),
            artifacts,
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_time()
                .build()
                .unwrap(),
        }
    }

    pub(crate) fn ws(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    fn call(&self, arguments: Value) -> Outcome {
        self.call_tool("bash", arguments)
    }

    pub(crate) fn call_tool(&self, tool: &str, arguments: Value) -> Outcome {
        let call = ToolCall::new(self.dispatch.ports().call_id(), tool, arguments);
        let mut context = self.context.clone();
        (context.step, context.run) = (Budget::new(1), Budget::new(1));
        let _guard = self.runtime.enter();
        let handle = self.dispatch.start(&context, call);
        self.runtime.block_on(handle).into_outcome().unwrap()
    }

    /// What a model reads of a command, but for what is said of every command without the helper.
    fn says(&self, arguments: Value) -> String {
        let text = self.call(arguments).model_text();
        text.replace("\n[notice: what the command started and detached may still be running]", "")
    }

    fn bash(&self, command: &str) -> String {
        self.says(json!({ "command": command }))
    }

    fn data(&self, arguments: Value) -> Value {
        self.call(arguments).structured.unwrap()
    }
}

#[test]
fn the_status_comes_first_then_each_stream() {
    let shell = Shell::new();
    insta::assert_snapshot!(shell.bash("echo one; echo two"), @r"
    exit 0 (sandbox: group)
    stdout, 8 bytes:
    one
    two
    ");
    insta::assert_snapshot!(shell.bash("echo out; echo wrong >&2; exit 3"), @r"
    exit 3 (sandbox: group)
    stdout, 4 bytes:
    out
    stderr, 6 bytes:
    wrong
    ");
    insta::assert_snapshot!(shell.bash("true"), @"exit 0, no output (sandbox: group)");
    insta::assert_snapshot!(shell.bash("kill -9 $$"), @"ended by signal 9 (KILL), no output (sandbox: group)");
    insta::assert_snapshot!(shell.bash("ls /no/such/place"), @r"
    exit 2 (sandbox: group)
    stderr, 62 bytes:
    ls: cannot access '/no/such/place': No such file or directory
    ");
}

#[test]
fn the_data_says_the_same() {
    let shell = Shell::new();
    let data = shell.data(json!({ "command": "printf a; printf bb >&2; exit 3" }));
    insta::assert_snapshot!(data, @r#"{"end":"exited","exit_code":3,"stdout":{"text":"a","bytes":1,"is_cut":false},"stderr":{"text":"bb","bytes":2,"is_cut":false},"sandbox":"group"}"#);
}

#[test]
fn o_023_a_command_that_runs_out_of_time_keeps_what_it_wrote() {
    let shell = Shell::new();
    let command = "echo begun; echo trouble >&2; trap '' TERM; sleep 100; sleep 100";
    let text = shell.says(json!({ "command": command, "timeout_ms": 200 }));
    insta::assert_snapshot!(text, @r"
    stopped after 200 ms: it ran out of time (sandbox: group)
    stdout, 6 bytes:
    begun
    stderr, 8 bytes:
    trouble
    [notice: give it longer with `timeout_ms` (up to 300000), or do less at once; what it writes to a file of the workspace stays for the next call]
    ");
}

#[test]
fn time_has_limits_and_a_default() {
    let shell = Shell::new();
    for refused in [json!(0), json!(-1), json!(300_001), json!("soon")] {
        let outcome = shell.call(json!({ "command": "true", "timeout_ms": refused }));
        assert!(!outcome.is_ok(), "{refused}");
    }
    for accepted in [json!(1000), json!(300_000), Value::Null] {
        let outcome = shell.call(json!({ "command": "true", "timeout_ms": accepted }));
        assert!(outcome.is_ok(), "{accepted}: {}", outcome.model_text());
    }
}

#[test]
fn one_of_command_and_argv_is_needed() {
    let shell = Shell::new();
    insta::assert_snapshot!(shell.says(json!({})), @r#"
    failed (invalid_arguments): neither "command" nor "argv" is given, and one is needed
    hint: give "command" for a line of bash, or "argv" for a program and its arguments
    "#);
    insta::assert_snapshot!(shell.says(json!({ "command": "true", "argv": ["true"] })), @r#"
    failed (invalid_arguments): both "command" and "argv" are given, and one is needed
    hint: give "command" for a line of bash, or "argv" for a program and its arguments
    "#);
}

#[test]
fn o_027_neither_form_is_rewritten() {
    let shell = Shell::new();
    let out = |arguments: Value| shell.data(arguments)["stdout"]["text"].clone();
    assert_eq!(out(json!({ "argv": ["printf", "%s|", "a b", "$x", ";", ""] })), "a b|$x|;||");
    let text = "cat <<'MY-MARKER'\n'hello' `x` $x\nMY-MARKER\n{ echo in; }; echo 'a!b'";
    assert_eq!(out(json!({ "command": text })), "'hello' `x` $x\nin\na!b\n");
    let dashed = shell.call(json!({ "command": "-x" })).model_text();
    assert!(dashed.contains("-x: command not found"), "{dashed}");
}

#[test]
fn o_030_what_acts_on_a_terminal_is_shown_and_does_not_act() {
    let shell = Shell::new();
    insta::assert_snapshot!(
        shell.bash(r"printf '\e]0;x\a\e[2K\rALL PASSED\e[8m\n'; printf 'caf\xe9 \xe2\x80\xae\n'"),
        @r"
    exit 0 (sandbox: group)
    stdout, 35 bytes:
    ALL PASSED\x1b[8m
    caf� \u{202e}
    [notice: lines that were written over and over are shown as they were at last]
    [notice: control or hidden characters are shown escaped]
    [notice: bytes that are not UTF-8 are shown as U+FFFD]
    "
    );
    let progress = shell.bash("for i in $(seq 10000); do printf '\\r%d of 10000' $i; done; echo");
    insta::assert_snapshot!(progress, @r"
    exit 0 (sandbox: group)
    stdout, 138 895 bytes:
    2420 of 
    [… 73 359 bytes left out …]
    10000 of 10000
    [artifact 00000000000000000000000000: whole stdout, text/plain, 138895 bytes]
    [65536 bytes of stdout shown, 73359 left out: the whole stdout is artifact 00000000000000000000000000; or write it to a file and read that in parts]
    [notice: lines that were written over and over are shown as they were at last]
    ");
}

#[test]
fn o_025_long_output_shows_both_ends_and_keeps_the_whole() {
    let shell = Shell::new();
    let outcome = shell.call(json!({ "command": "seq 1 100000; seq 1 9 >&2" }));
    let text = outcome.model_text();
    assert!(text.len() < 96 * 1024, "{}", text.len());
    assert!(
        text.starts_with("exit 0 (sandbox: group)\nstdout, 588 895 bytes:\n1\n2\n"),
        "{}",
        haft_text::head(&text, 100)
    );
    assert!(text.contains("\n99999\n100000\nstderr, 18 bytes:\n1\n"));
    let bound = &outcome.bounds[0];
    insta::assert_snapshot!(bound, @"65536 bytes of stdout shown, 523359 left out: the whole stdout is artifact 00000000000000000000000000; or write it to a file and read that in parts");
    let kept = shell.artifacts.all();
    assert_eq!((kept.len(), kept[0].title.as_str()), (1, "whole stdout"));
    assert_eq!(kept[0].bytes.len(), 588_895);
    assert!(kept[0].bytes.ends_with(b"\n100000\n"));
}

#[test]
fn o_025_both_streams_have_room_even_when_all_is_escaped() {
    let shell = Shell::new();
    let outcome =
        shell.call(json!({ "command": "head -c 500000 /dev/zero; head -c 500000 /dev/zero >&2" }));
    let text = outcome.model_text();
    assert!(text.len() < 96 * 1024, "{}", text.len());
    assert_eq!(outcome.bounds.len(), 2);
    for bound in &outcome.bounds {
        let haft_protocol::Count::Exact(left_out) = bound.left_out else { panic!("{bound}") };
        assert_eq!(bound.kept + left_out, 500_000);
    }
}

#[test]
fn o_022_the_call_ends_with_the_command() {
    let shell = Shell::new();
    let start = std::time::Instant::now();
    let text = shell.bash("sleep 100 & echo done");
    assert!(start.elapsed() < std::time::Duration::from_secs(3));
    insta::assert_snapshot!(text, @r"
    exit 0 (sandbox: group)
    stdout, 5 bytes:
    done
    ");
}

#[test]
fn o_024_a_question_is_answered_with_nothing() {
    let shell = Shell::new();
    let command = "read -p 'sure? ' x || echo none; $EDITOR f || echo no editor; echo $PAGER $TERM $GIT_TERMINAL_PROMPT";
    insta::assert_snapshot!(shell.bash(command), @r"
    exit 0 (sandbox: group)
    stdout, 26 bytes:
    none
    no editor
    cat dumb 0
    ");
}

#[test]
fn o_029_a_directory_that_goes_costs_one_call() {
    let shell = Shell::new();
    fs::create_dir(shell.ws("t")).unwrap();
    let text = shell.says(json!({ "command": "rm -rf ../t; pwd -P | tail -c 5", "cwd": "t" }));
    assert!(text.starts_with("exit"), "{text}");
    let gone = shell.says(json!({ "command": "pwd", "cwd": "t" }));
    insta::assert_snapshot!(gone, @"failed (not_found): `t` does not exist");
    assert!(shell.bash("basename $PWD").contains("\nws"));
}

#[test]
fn it_starts_in_the_workspace_and_nowhere_else() {
    let shell = Shell::new();
    fs::create_dir(shell.ws("a")).unwrap();
    std::os::unix::fs::symlink("/", shell.ws("away")).unwrap();
    fs::write(shell.ws("f"), "").unwrap();
    let out = |cwd: &str| shell.data(json!({ "command": "basename $PWD", "cwd": cwd }));
    assert_eq!(out(".")["stdout"]["text"], "ws\n");
    assert_eq!(out("a")["stdout"]["text"], "a\n");
    for outside in ["..", "/", "away", "/tmp"] {
        let outcome = shell.call(json!({ "command": "true", "cwd": outside }));
        assert_eq!(outcome.status.as_str(), "denied", "{outside}");
    }
    let file = shell.says(json!({ "command": "true", "cwd": "f" }));
    insta::assert_snapshot!(file, @r"
    failed (unsupported): `f` is a regular file, not a directory
    hint: read it, or name the directory it is in
    ");
}

#[test]
fn what_is_not_started_says_why() {
    let shell = Shell::new();
    insta::assert_snapshot!(shell.says(json!({ "argv": ["no-such-program"] })), @"failed (not_found): nothing was run: the program `no-such-program` was not found in PATH");
    let settings =
        BashSettings { sandbox_at_least: SandboxLevel::Files, ..BashSettings::default() };
    insta::assert_snapshot!(Shell::with(settings).bash("true"), @r#"
    failed (unsupported): nothing was run: sandbox level `files` is demanded, and `group` is the most that works here: there is no helper: the program did not call `haft_process::helper::run_if_requested` first
    hint: a person can let commands run confined less: `sandbox_at_least = "none"` under `[programs]` in the user's config.toml
    "#);
    insta::assert_snapshot!(Shell::with(BashSettings::default()).bash("true"), @r"
    exit 0, no output (sandbox: group)
    [notice: confined less than wanted: level `group` is the most that works here, not `files+net`]
    ");
}

#[test]
fn the_environment_is_the_settings_and_nothing_else() {
    let shell = Shell::with(
        BashSettings { sandbox: SandboxLevel::Group, ..BashSettings::default() }.with_environment(
            [
                ("LANG".into(), "C".into()),
                ("SECRET".into(), "x".into()),
                ("GIVEN".into(), "y".into()),
            ],
            ["GIVEN"],
        ),
    );
    let data = shell.data(json!({ "argv": ["env"] }));
    let text = data["stdout"]["text"].as_str().unwrap();
    let mut names: Vec<&str> =
        text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    names.sort_unstable();
    assert_eq!(
        names.join(" "),
        "DEBIAN_FRONTEND EDITOR GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EDITOR GIT_PAGER GIT_SSH_COMMAND GIT_TERMINAL_PROMPT GIVEN HOME LANG MANPAGER \
         PAGER PATH SSH_ASKPASS SUDO_ASKPASS TERM TMPDIR VISUAL"
    );
}

#[test]
fn a_call_that_is_called_off_keeps_what_was_written() {
    let shell = Shell::new();
    let fifo = shell.ws("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let call = ToolCall::new(
        shell.dispatch.ports().call_id(),
        "bash",
        json!({ "command": "echo begun; : > fifo; sleep 100" }),
    );
    let guard = shell.runtime.enter();
    let handle = shell.dispatch.start(&shell.context, call);
    drop(guard);
    // Opens when the command has come so far.
    drop(fs::File::open(&fifo).unwrap());
    shell.context.cancellation.cancel();
    let outcome = shell.runtime.block_on(handle).into_outcome().unwrap();
    assert_eq!(outcome.status.as_str(), "cancelled");
    assert!(outcome.model_text().contains("begun"), "{}", outcome.model_text());
}

#[test]
fn a_rule_about_some_files_holds_against_the_whole_command() {
    let under = |rule: Rule| {
        let settings = BashSettings { sandbox: SandboxLevel::Group, ..BashSettings::default() };
        Shell::under(settings, vec![rule.path("private/**".parse().unwrap())]).bash("true")
    };
    insta::assert_snapshot!(under(Rule::deny()), @r#"
    denied by policy: the rule `deny path = "private/**"` (default) denies `builtin/bash` on `.`
    hint: a person can change that rule (default)
    hint: `builtin/bash` may write anything beneath `.`, so the rule holds for it; a person can name other tools in the rule
    "#);
    insta::assert_snapshot!(under(Rule::deny().access(RuleAccess::Read)), @r#"
    denied by policy: the rule `deny path = "private/**", access = "read"` (default) denies `builtin/bash` on `.`
    hint: a person can change that rule (default)
    hint: `builtin/bash` may write anything beneath `.`, so the rule holds for it; a person can name other tools in the rule
    "#);
}
