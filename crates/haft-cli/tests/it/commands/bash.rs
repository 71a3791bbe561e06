//! `haft call bash`: commands under the sandbox, with this very program as the helper.

use std::fs::File;
use std::io::Read as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::{Ran, Rig, called};

fn bash(rig: &Rig, command: &str) -> Ran {
    with(rig, &json!({ "command": command }))
}

fn with(rig: &Rig, arguments: &Value) -> Ran {
    rig.haft(&["--preset", "full", "call", "bash", &arguments.to_string()])
}

#[test]
fn the_strongest_level_is_used_and_told() {
    let rig = Rig::new();
    let ran = bash(&rig, "echo hello; echo $0");
    insta::assert_snapshot!(ran.all(), @r"
    exit 0 (sandbox: files+net)
    stdout, 11 bytes:
    hello
    bash
    ");
    rig.config("[programs]\nsandbox = \"group\"\n");
    insta::assert_snapshot!(bash(&rig, "echo hello").all(), @r"
    exit 0 (sandbox: group)
    stdout, 6 bytes:
    hello
    ");
}

#[test]
fn what_lies_outside_is_neither_read_nor_written() {
    let rig = Rig::new();
    rig.outside("secret", "canary").file("inside", "x");
    let out = rig.out("");
    let out = out.display();
    for command in [
        format!("cat {out}/secret"),
        format!("ln -s {out} away; cat away/secret"),
        format!("ln {out}/secret linked && cat linked"),
        format!("echo x > {out}/new"),
        format!("mv inside {out}/moved"),
    ] {
        let ran = bash(&rig, &command);
        assert!(!ran.stdout.contains("canary"), "{}", ran.all());
        assert!(!ran.stdout.starts_with("exit 0"), "{command}: {}", ran.all());
        assert!(ran.all().contains("this may be the sandbox"), "{}", ran.all());
    }
    assert_eq!(std::fs::read_dir(rig.out("")).unwrap().count(), 1);
}

#[test]
fn the_network_is_off_and_the_setting_is_named() {
    let rig = Rig::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let command = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let ran = bash(&rig, &command);
    assert!(ran.all().contains("Network is unreachable"), "{}", ran.all());
    let set = "turn it on: `sandbox = \"files\"` under `[programs]` in `/";
    assert!(ran.all().contains(set) && ran.all().contains("config.toml`"), "{}", ran.all());
    rig.config("[programs]\nsandbox = \"files\"\n");
    assert!(bash(&rig, &command).stdout.starts_with("exit 0"));
}

#[test]
fn what_a_person_lets_programs_read_is_read() {
    let rig = Rig::new();
    rig.outside("data", "for all");
    rig.config(&format!("[programs]\nread = [\"{}\"]\n", rig.out("").display()));
    let ran = bash(&rig, &format!("cat {}; echo x > {0}", rig.out("data").display()));
    assert!(ran.stdout.contains("for all"), "{}", ran.all());
    assert!(ran.stdout.starts_with("exit 1"), "{}", ran.all());
}

#[test]
fn o_022_what_is_left_behind_is_stopped_and_named() {
    let rig = Rig::new();
    let start = Instant::now();
    let ran = bash(&rig, "(setsid sleep 100 &) ; sleep 101 & echo done");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(ran.stdout.contains("done"), "{}", ran.all());
    assert!(ran.all().contains("2 processes were still running when the command ended"));
    assert!(ran.all().contains("`sleep 100`") && ran.all().contains("`sleep 101`"));
}

#[test]
fn o_023_nothing_outlives_haft_even_when_it_is_killed() {
    let rig = Rig::new();
    rig.fifo("fifo");
    let command =
        json!({ "command": "exec 3> fifo; trap '' TERM HUP INT; setsid sleep 100 & sleep 100" });
    let mut haft = rig
        .command(&["--preset", "full", "call", "bash", &command.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Opens when the command has come so far.
    let mut reader = File::open(rig.ws("fifo")).unwrap();
    haft.kill().unwrap();
    haft.wait().unwrap();
    // Ends when nobody holds the other end any more.
    assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn the_helper_is_of_no_use_by_hand() {
    let ran = Rig::new().haft(&["__exec"]);
    assert_eq!(ran.exit, 2);
    assert_eq!(ran.stderr, "`__exec` is how haft starts commands; it is of no use by hand\n");
}

#[test]
fn a_folder_that_poses_as_a_repository_runs_nothing() {
    let rig = Rig::new();
    rig.config("[[rules]]\ndecision = \"allow\"\ntool = \"bash\"\ncommands = [\"git status\"]\n");
    let config = "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"id > pwned; false\"\n";
    rig.file("evil/HEAD", "ref: refs/heads/main\n").file("evil/config", config);
    rig.file("evil/objects/x", "").file("evil/refs/x", "");
    let args = json!({ "command": "git status", "cwd": "evil" }).to_string();
    let called = called(&rig.haft(&["--json", "call", "bash", &args]));
    assert_ne!(called.data()["exit_code"], 0, "{}", called.text);
    assert!(!rig.ws("evil/pwned").exists(), "{}", called.text);
}
