//! What is not started says why.

use std::time::Duration;

use haft_process::helper::Helper;
use haft_process::{Cleanup, Command, LaunchError, SandboxLevel};

use crate::support::{Room, open};

#[track_caller]
fn refused(room: &Room, command: Command) -> String {
    room.try_run(command).unwrap_err().to_string()
}

#[test]
fn a_missing_program_is_named() {
    for room in [Room::new(), Room::without_helper()] {
        let text = refused(&room, room.argv(SandboxLevel::Group, ["no-such-program", "x"]));
        assert_eq!(text, "the program `no-such-program` was not found in PATH");
        let text = refused(&room, room.argv(SandboxLevel::Group, ["./gone", "x"]));
        assert_eq!(text, "the program `./gone` was not found");
    }
}

#[test]
fn a_missing_interpreter_is_told_apart() {
    let room = Room::new();
    let path = room.inside.path().join("script");
    std::fs::write(&path, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let text = refused(&room, room.argv(SandboxLevel::FilesNet, ["./script"]));
    assert_eq!(
        text,
        "`./script` is there, but its interpreter or loader (see its first line) was not found"
    );
}

#[test]
fn a_program_that_may_not_be_executed_says_so() {
    let room = Room::new();
    std::fs::write(room.inside.path().join("data"), "x").unwrap();
    let text = refused(&room, room.argv(SandboxLevel::Group, ["./data"]));
    assert_eq!(
        text,
        "the program `./data` cannot be executed under level `group`: Permission denied (os error 13)"
    );
}

#[test]
fn o_029_a_deleted_directory_says_so() {
    for room in [Room::new(), Room::without_helper()] {
        let gone = tempfile::tempdir().unwrap();
        let handle = open(gone.path());
        drop(gone);
        let mut command = room.bash(SandboxLevel::Group, "pwd");
        command.directory = handle;
        assert!(matches!(room.try_run(command), Err(LaunchError::DirectoryGone)));
        assert!(room.does(SandboxLevel::Group, "pwd"), "the next one is not touched by it");
    }
}

#[test]
fn the_directory_is_the_handle_whatever_its_path_means_now() {
    let room = Room::new();
    for level in [SandboxLevel::None, SandboxLevel::FilesNet] {
        let kept = room.inside.path().join("kept");
        std::fs::create_dir_all(&kept).unwrap();
        std::fs::write(kept.join("mark"), "the right one").unwrap();
        let handle = open(&kept);
        std::fs::rename(&kept, room.inside.path().join("moved")).unwrap();
        std::fs::create_dir(&kept).unwrap();
        let mut command = room.bash(level, "cat mark");
        command.directory = handle;
        assert_eq!(room.run(command).stdout.kept().head, "the right one");
        std::fs::remove_dir_all(&kept).unwrap();
        std::fs::remove_dir_all(room.inside.path().join("moved")).unwrap();
    }
}

#[test]
fn what_no_program_can_be_given_is_refused() {
    let room = Room::new();
    let text = refused(&room, room.argv(SandboxLevel::Group, ["echo", "a\0b"]));
    assert_eq!(text, "the argument \"a\\0b\" cannot be given to a program: it holds a NUL byte");
    let mut command = room.bash(SandboxLevel::Group, "true");
    command.env.push(("A=B".into(), "x".into()));
    let text = refused(&room, command);
    assert_eq!(
        text,
        "the variable \"A=B\" cannot be given to a program: a name is not empty and has no `=` in it"
    );
    let none: [&str; 0] = [];
    assert!(matches!(
        room.try_run(Command::of(none, open(room.inside.path()))),
        Err(LaunchError::NoProgram)
    ));
}

#[test]
fn more_than_the_system_takes_says_how_much_it_is() {
    for room in [Room::new(), Room::without_helper()] {
        let long = "x".repeat(3_000_000);
        let text = refused(&room, room.argv(SandboxLevel::Group, ["echo", &long]));
        assert!(text.contains("bytes, more than the system takes"), "{text}");
    }
}

#[test]
fn a_demanded_level_that_does_not_work_starts_nothing() {
    let room = Room::without_helper();
    let text = refused(&room, room.bash(SandboxLevel::Files, "touch mark"));
    assert_eq!(
        text,
        "sandbox level `files` is demanded, and `group` is the most that works here: there is no helper: \
         the program did not call `haft_process::helper::run_if_requested` first"
    );
    assert!(!room.inside.path().join("mark").exists());
}

#[test]
fn the_strongest_level_up_to_the_wanted_one_is_used_and_told() {
    let room = Room::new();
    for wanted in SandboxLevel::ALL {
        let mut command = room.bash(wanted, "true");
        command.sandbox.at_least = SandboxLevel::None;
        assert_eq!(room.run(command).level, wanted);
    }
    let room = Room::without_helper();
    let mut command = room.bash(SandboxLevel::FilesNet, "true");
    command.sandbox.at_least = SandboxLevel::None;
    let finished = room.run(command);
    assert_eq!((finished.level, finished.cleanup), (SandboxLevel::Group, Cleanup::GroupOnly));
}

#[test]
fn a_program_that_is_no_helper_is_not_trusted_to_be_one() {
    let room = Room::with(Some(Helper::at("/bin/true")));
    let text = refused(&room, room.bash(SandboxLevel::FilesNet, "true"));
    assert!(text.contains("run_if_requested"), "{text}");
    let mut command = room.bash(SandboxLevel::Group, "true");
    command.timeout = Duration::from_secs(5);
    assert_eq!(room.run(command).cleanup, Cleanup::GroupOnly);
}

#[test]
fn the_helper_is_of_no_use_by_hand() {
    let helper = env!("CARGO_BIN_EXE_haft-process-helper");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(helper);
        let output = command.args(arguments).stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let by_hand = "`__exec` is how haft starts commands; it is of no use by hand\n";
    assert_eq!(run(&["__exec"]), (Some(2), by_hand.to_owned()));
    assert_eq!(run(&["__exec", "other"]), (Some(2), by_hand.to_owned()));
    assert_eq!(run(&[]).0, Some(2));
}

#[test]
fn neither_command_nor_environment_stands_in_the_helpers_own() {
    let room = Room::new();
    let mut command = room
        .bash(SandboxLevel::Group, "tr '\\0' ' ' < /proc/$PPID/cmdline; cat /proc/$PPID/environ");
    command.env.push(("TOKEN".into(), "hunter2".into()));
    assert_eq!(room.run(command).stdout.kept().head, "haft __exec ");
}
