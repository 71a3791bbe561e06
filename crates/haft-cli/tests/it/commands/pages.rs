//! Help, manual pages and completion scripts.

use std::process::{Command, Stdio};

use crate::rig::{Rig, run};

/// Every command, as it is typed.
pub(crate) const COMMANDS: &[&[&str]] = &[
    &[],
    &["tools"],
    &["tools", "show"],
    &["call"],
    &["policy"],
    &["policy", "explain"],
    &["policy", "show"],
    &["trust"],
    &["log"],
    &["show"],
    &["state"],
    &["state", "du"],
    &["state", "gc"],
    &["doctor"],
    &["completions"],
    &["man"],
];

#[test]
fn every_command_explains_itself_within_eighty_columns() {
    let rig = Rig::new();
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let ran = rig.haft(&[command, &[flag][..]].concat());
            assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{command:?}");
            assert!(ran.stdout.contains("Usage: haft"), "{}", ran.stdout);
            for line in ran.stdout.lines() {
                assert!(line.chars().count() <= 80, "{command:?}: {line}");
            }
        }
    }
    let version = format!("haft {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(rig.haft(&["--version"]).stdout, version);
}

#[test]
fn options_of_every_command_are_explained_in_one_place() {
    let rig = Rig::new();
    for command in COMMANDS.iter().filter(|it| !it.is_empty()) {
        for flag in ["-h", "--help"] {
            let help = rig.haft(&[command, &[flag][..]].concat()).stdout;
            for option in ["--state-dir", "--no-state", "--preset <", "--root <", "--color"] {
                assert!(!help.contains(option), "{command:?}: {help}");
            }
            assert!(help.contains("`haft --help`"), "{command:?}: {help}");
        }
        // The page of a manual stands alone.
        let page = rig.haft(&[&["man"][..], command].concat()).stdout;
        assert!(page.contains("state\\-dir"), "{command:?}");
    }
    // They are taken wherever they stand.
    assert_eq!(rig.haft(&["tools", "--json"]).stdout, rig.haft(&["--json", "tools"]).stdout);
    insta::assert_snapshot!(rig.haft(&["state", "gc", "-h"]).stdout, @r"
    Remove what is older or more than the configuration keeps

    Usage: haft state gc [OPTIONS]

    Options:
      -n, --dry-run  Only say what would be removed
      -h, --help     Print help
      -V, --version  Print version

    Options for every command, such as --root, --preset and --json: `haft --help`
    ");
}

#[test]
fn the_help_names_the_exit_codes() {
    let rig = Rig::new();
    insta::assert_snapshot!(rig.haft(&["-h"]).stdout, @r"
    Typed tools over your files, behind one call path that checks, confines and
    records every call

    Usage: haft [OPTIONS] <COMMAND>

    Commands:
      run          Give a model a task in your files
      chat         Talk with a model that works in your files
      resume       Go on with a run where it stopped
      fork         Begin a run as another one began, and go another way
      runs         List runs of models, the latest first
      models       List the models there are, the keys and the servers
      tools        List the tools, or show one of them
      call         Call a tool
      policy       See what may happen and why
      config       See what is set, and where
      trust        Let this project's own rules count, after you have read them
      log          List recorded calls, newest first
      show         Show one recorded call, or one run of a model
      changes      List what calls changed in the files of this workspace, newest
                   first
      diff         Show what a call changed, line by line
      undo         Take back what a call or a run changed in files
      mcp          Serve the tools to an MCP client, or print what such a client
                   needs to know
      state        Look after recorded state
      doctor       Check the set-up and say what each part stands on
      completions  Print a completion script for your shell
      man          Print the manual page of haft or of one of its commands

    Options:
      -C, --root <DIR>       A directory that tools may look into; may be given
                             again [default: the nearest folder above with `.haft`,
                             else the current directory]
          --preset <PRESET>  What calls may do without asking: read-only (look;
                             changes and commands are denied), edit (change files
                             too; commands are asked about) or full (everything that
                             no rule forbids) [default: edit]
      -y, --yes              Say yes beforehand to what the preset and rules would
                             ask about; never to what they deny
          --toolset <SHAPE>  The shape of the built-in tools: actions (`reader`,
                             `editor`) or verbs (`read_file`, `edit_file`) [default:
                             actions]
          --json             Print one JSON object instead of text
          --state-dir <DIR>  Keep records in this directory [default:
                             HAFT_STATE_DIR, else the platform's state directory]
          --no-state         Keep no records
      -v, --verbose...       Say more on standard error; twice for details (HAFT_LOG
                             takes precise filters)
          --color <WHEN>     When to use colours [default: auto] [possible values:
                             auto, always, never]
      -h, --help             Print help (see more with '--help')
      -V, --version          Print version

    Exit codes:
      0    everything went well
      1    a tool or command could not do what it was asked to, or what was named
           is not there
      2    the command line, the arguments or the configuration is not right
      3    a control refused: policy, approval, workspace, protection, budget
      4    a tool ran past its deadline, or a run reached a limit of turns, money or
           time
      130  cancelled: by Ctrl-C; a single call also by SIGTERM or SIGHUP
      129, 143
           a model's run was ended by SIGHUP, by SIGTERM
    ");
}

#[test]
fn a_command_line_that_cannot_be_read_is_a_mistake() {
    let rig = Rig::new();
    for args in [
        &[][..],
        &["nonsense"],
        &["call"],
        &["tools", "shaw"],
        &["state"],
        &["log", "--limit", "0"],
        &["log", "--limit", "many"],
        &["--color", "sometimes", "tools"],
        &["--state-dir", "x", "--no-state", "tools"],
        &["completions", "nosh"],
    ] {
        let ran = rig.haft(args);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{args:?}: {}", ran.all());
        assert!(!ran.stderr.is_empty());
    }
    assert!(!rig.state().exists());
}

#[test]
fn every_command_has_a_manual_page() {
    let rig = Rig::new();
    for command in COMMANDS {
        let ran = rig.haft(&[&["man"], *command].concat());
        let title = [&["haft"], *command].concat().join("-");
        assert_eq!(ran.exit, 0, "{}", ran.all());
        assert!(ran.stdout.contains(&format!(".TH {title} 1 ")), "{}", ran.stdout);
        assert!(ran.stdout.contains(".SH OPTIONS"), "{}", ran.stdout);
    }
    let unknown = rig.haft(&["man", "policy", "nonsense"]);
    assert_eq!(unknown.exit, 2);
    insta::assert_snapshot!(unknown.stderr, @r"
    error: `policy` has no command `nonsense`
    hint: `haft --help` lists the commands
    ");
}

/// Returns what bash completes a line with, whose last word is begun.
fn completed(script: &std::path::Path, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|it| format!("'{it}'")).collect();
    let line = format!(
        "source {}; COMP_WORDS=({}); COMP_CWORD={}; _haft haft '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
        words.len() - 1,
        words.last().unwrap(),
        words[words.len() - 2],
    );
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", &line]);
    run(command).stdout.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn names_of_tools_and_models_are_completed() {
    let rig = Rig::new();
    rig.config(
        "[aliases.read_notes]\ntool = \"reader\"\narguments = { action = \"read\" }\ndescription = \"Reads.\"\n\n\
         [models.fast]\nmodel = \"openai/x\"\n\n[models.box]\nbase_url = \"http://127.0.0.1:1/v1\"\n",
    );
    let ran = rig.haft(&["completions", "bash"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    let script = rig.folder().join("haft.bash");
    std::fs::write(&script, &ran.stdout).unwrap();
    assert_eq!(completed(&script, &["haft", "call", "re"]), ["reader", "read_notes"]);
    assert_eq!(
        completed(&script, &["haft", "run", "--call-first", "rea"]),
        ["reader", "read_notes"]
    );
    assert_eq!(completed(&script, &["haft", "run", "--tools", "ast_s"]), ["ast_search"]);
    assert_eq!(completed(&script, &["haft", "run", "-m", ""]), ["fast"]);
    assert_eq!(completed(&script, &["haft", "tools", "show", "edi"]), ["editor"]);
    assert_eq!(completed(&script, &["haft", "policy", "explain", "edi"]), ["editor"]);
    let verbs = rig.haft(&["--toolset", "verbs", "completions", "bash"]);
    assert!(verbs.stdout.contains("read_file"));
    // A configuration that cannot be read is no reason to complete nothing.
    rig.config("[models\n");
    let ran = rig.haft(&["completions", "bash"]);
    assert_eq!(ran.exit, 0);
    assert!(ran.stderr.contains("no names of tools and models are completed"), "{}", ran.stderr);
}

#[test]
fn completion_scripts_are_scripts() {
    let rig = Rig::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = rig.haft(&["completions", shell]);
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("doctor"), "{shell}");
        let check = match shell {
            "bash" | "zsh" => "-n",
            "fish" => "--no-execute",
            _ => continue,
        };
        let script = rig.folder().join(shell);
        std::fs::write(&script, &ran.stdout).unwrap();
        if Command::new(shell).arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("skipped: there is no {shell} to read its script");
            continue;
        }
        let mut reading = Command::new(shell);
        reading.arg(check).arg(script);
        let read = run(reading);
        assert_eq!((read.exit, read.all().as_str()), (0, ""), "{shell}");
    }
}
