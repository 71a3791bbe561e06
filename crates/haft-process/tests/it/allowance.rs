//! What a command may use up.

use std::path::Path;

use haft_process::{Allowance, End, SandboxLevel};
use rustix::process::geteuid;

use crate::support::{HELPED, Room};

fn allowed(allowance: Allowance, room: &Room, level: SandboxLevel, script: &str) -> (End, String) {
    let mut command = room.bash(level, script);
    command.allowance = allowance;
    let finished = room.run(command);
    (finished.end, format!("{}{}", finished.stdout.kept(), finished.stderr.kept()))
}

#[test]
fn a_file_grows_as_far_as_it_may() {
    let allowance = Allowance { file_bytes: 1024 * 1024, ..Allowance::default() };
    let without = Room::without_helper();
    let room = Room::new();
    let rooms = HELPED.map(|level| (&room, level)).into_iter();
    for (room, level) in rooms.chain([(&without, SandboxLevel::Group)]) {
        let script = "exec head -c 100000000 /dev/zero > big";
        let (end, said) = allowed(allowance, room, level, script);
        assert_eq!(end, End::Signalled(25), "{level}: {said}");
        let (_, said) = allowed(allowance, room, level, "wc -c < big; ulimit -f unlimited");
        assert!(said.starts_with("1048576\n"), "{level}: {said}");
        assert!(said.contains("ulimit"), "{level}: it could be raised: {said}");
    }
}

#[test]
fn a_process_has_as_much_memory_as_it_may() {
    let allowance = Allowance { memory_bytes: 64 * 1024 * 1024, ..Allowance::default() };
    let room = Room::new();
    let fill = |bytes: u32| {
        let script = format!("head -c {bytes} /dev/zero | tail -n 1 | wc -c");
        allowed(allowance, &room, SandboxLevel::Group, &script).1
    };
    assert_eq!(fill(1_000_000), "1000000\n");
    let said = fill(200_000_000);
    assert!(said.contains("memory exhausted"), "{said}");
}

#[test]
fn what_multiplies_comes_to_an_end() {
    // Root is held to no number, so it becomes somebody else.
    let as_nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups";
    let has_programs =
        Path::new("/usr/bin/setpriv").exists() && Path::new("/usr/bin/perl").exists();
    if !has_programs {
        return;
    }
    let allowance = Allowance { processes: 20, ..Allowance::default() };
    let room = Room::new();
    let begin = if geteuid().is_root() { as_nobody } else { "exec" };
    // As many as there may be and not one more, each waiting for its end.
    let bomb = "my $n = 0; while ($n < 20000) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } $n++ } print \"$n $!\\n\"";
    let script = format!("{begin} perl -e '{bomb}'");
    let (end, said) = allowed(allowance, &room, SandboxLevel::Group, &script);
    assert_eq!(end, End::Exited(0), "{said}");
    let (made, why) = said.split_once(' ').unwrap();
    let made: u32 = made.parse().unwrap();
    assert!(why.contains("temporarily unavailable") && (20..20_000).contains(&made), "{said}");
}

#[test]
fn what_is_lower_already_stays() {
    let room = Room::new();
    let script = "ulimit -f 8; exec bash -c 'ulimit -f'";
    let (_, said) = allowed(Allowance::default(), &room, SandboxLevel::Group, script);
    assert_eq!(said, "8\n");
    let (_, said) = allowed(Allowance::default(), &room, SandboxLevel::Group, "ulimit -f");
    assert_eq!(said, "16777216\n");
}
