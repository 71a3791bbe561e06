//! A command ends, and nothing of it is left.

use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

use haft_process::{Cleanup, End, SandboxLevel};

use crate::support::{HELPED, Room, block_on, fifo, own_sleep, running};

#[test]
fn o_022_returns_when_the_command_ends_though_children_hold_its_streams() {
    let room = Room::new();
    for level in HELPED {
        let long = own_sleep(1);
        let start = Instant::now();
        let finished = room.run(room.bash(level, &format!("sleep {long} & echo done")));
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(
            (finished.end, finished.stdout.kept().head.as_str()),
            (End::Exited(0), "done\n")
        );
        assert_eq!(finished.cleanup, Cleanup::Complete);
        let left: Vec<_> = finished.left_behind.processes.iter().map(|it| &it.command).collect();
        assert_eq!(left, [&format!("sleep {long}")]);
        assert_eq!(running(&long), 0);
    }
}

#[test]
fn o_022_a_child_that_goes_on_writing_does_not_hold_the_call() {
    let room = Room::new();
    let script = "(while :; do echo tick; sleep 0.01; done) & sleep 0.1; echo fg-done";
    let start = Instant::now();
    let finished = room.run(room.bash(SandboxLevel::FilesNet, script));
    assert!(start.elapsed() < Duration::from_secs(2));
    assert!(finished.stdout.kept().head.contains("fg-done\n"));
    assert!(!finished.left_behind.is_empty());
}

#[test]
fn o_022_without_a_helper_a_detached_child_is_named_as_possible() {
    let room = Room::without_helper();
    let start = Instant::now();
    let finished = room.run(room.bash(SandboxLevel::Group, "setsid yes & echo $! >&2; sleep 0.1"));
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(finished.cleanup, Cleanup::GroupOnly);
    let pid: i32 = finished.stderr.kept().head.trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_pipeline_leaves_nothing_behind() {
    let room = Room::new();
    let finished =
        room.run(room.bash(SandboxLevel::FilesNet, "yes | head -n 1; cat <(sleep 0.01)"));
    assert_eq!(finished.stdout.kept().head, "y\n");
    assert!(finished.left_behind.is_empty(), "{:?}", finished.left_behind);
}

#[test]
fn o_023_a_timeout_reaches_those_that_ignore_it_and_those_that_left_the_session() {
    let room = Room::new();
    for level in HELPED {
        let (one, two, three) = (own_sleep(2), own_sleep(3), own_sleep(4));
        let script = format!(
            "echo begun; setsid sleep {one} & (setsid bash -c 'trap \"\" TERM; sleep {two}' &) ; \
             trap '' TERM; sleep {three}; sleep {three}"
        );
        let mut command = room.bash(level, &script);
        command.timeout = Duration::from_millis(300);
        command.grace = Duration::from_millis(200);
        let finished = room.run(command);
        assert_eq!(finished.end, End::TimedOut);
        assert_eq!(finished.cleanup, Cleanup::Complete);
        assert_eq!(finished.stdout.kept().head, "begun\n");
        assert!(finished.elapsed < Duration::from_secs(3), "{:?}", finished.elapsed);
        assert_eq!([running(&one), running(&two), running(&three)], [0; 3]);
    }
}

#[test]
fn a_timeout_lets_a_shell_clean_up() {
    let room = Room::new();
    let script = "trap 'echo cleaned > mark; exit 1' TERM; sleep 100";
    let mut command = room.bash(SandboxLevel::FilesNet, script);
    command.timeout = Duration::from_millis(300);
    assert_eq!(room.run(command).end, End::TimedOut);
    assert_eq!(std::fs::read_to_string(room.inside.path().join("mark")).unwrap(), "cleaned\n");
}

#[test]
fn a_timeout_ends_what_was_stopped_by_a_signal() {
    let room = Room::new();
    let mut command = room.bash(SandboxLevel::Group, "kill -STOP $$; sleep 100");
    command.timeout = Duration::from_millis(200);
    let finished = room.run(command);
    assert_eq!((finished.end, finished.cleanup), (End::TimedOut, Cleanup::Complete));
}

#[test]
fn a_deep_family_goes_whole() {
    let room = Room::new();
    let script = "n() { [ $1 -gt 0 ] || exec sleep 1000; \
                  bash -c \"$(declare -f n); trap '' TERM; n $(($1-1))\" & wait; }; \
                  trap '' TERM; n 20";
    let mut command = room.bash(SandboxLevel::FilesNet, script);
    command.timeout = Duration::from_millis(400);
    command.grace = Duration::from_millis(100);
    let finished = room.run(command);
    assert_eq!((finished.end, finished.cleanup), (End::TimedOut, Cleanup::Complete));
    assert_eq!(running("trap '' TERM; n "), 0);
}

#[test]
fn what_multiplies_is_gone_in_time() {
    let room = Room::new();
    // Doubles eight times and no further.
    let script =
        "b() { [ $1 -gt 0 ] || exec sleep 1000; (b $(($1-1))) & (b $(($1-1))) & wait; }; b 8";
    let mut command = room.bash(SandboxLevel::FilesNet, script);
    command.timeout = Duration::from_millis(500);
    command.grace = Duration::from_millis(100);
    let finished = room.run(command);
    assert_eq!((finished.end, finished.cleanup), (End::TimedOut, Cleanup::Complete));
    assert!(finished.elapsed < Duration::from_secs(8), "{:?}", finished.elapsed);
}

#[test]
fn o_024_nothing_waits_for_a_person() {
    let room = Room::new();
    for level in [SandboxLevel::None, SandboxLevel::Group, SandboxLevel::FilesNet] {
        let script =
            "cat; read x || echo no input; tty; (: < /dev/tty) 2>/dev/null || echo no terminal";
        let finished = room.run(room.bash(level, script));
        let said = finished.stdout.kept().head;
        assert_eq!(said.lines().next(), Some("no input"));
        if level > SandboxLevel::None {
            assert_eq!(said, "no input\nnot a tty\nno terminal\n");
        }
    }
}

#[test]
fn o_031_no_zombies_and_every_status_its_own() {
    let room = Room::new();
    let script = "for i in $(seq 40); do (sleep 0.1 & exec true); done; exit 7";
    for _ in 0..3 {
        let finished = room.run(room.bash(SandboxLevel::FilesNet, script));
        assert_eq!(finished.end, End::Exited(7));
    }
    for _ in 0..30 {
        assert_eq!(room.run(room.bash(SandboxLevel::Group, "exit 7")).end, End::Exited(7));
    }
    assert_eq!(zombies_of_this_process(), 0);
}

fn zombies_of_this_process() -> usize {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
    let is_ours = |stat: &String| {
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&own)
    };
    stats.filter(is_ours).count()
}

#[test]
fn orphans_are_reaped_while_the_command_runs() {
    let room = Room::new();
    let script = "for i in $(seq 50); do (true & exec true); done; sleep 0.6; \
                  grep -sl '^State:.Z' /proc/[0-9]*/status 2>/dev/null | while read f; do \
                  grep -sq \"^PPid:.$PPID$\" $f && echo zombie; done; true";
    assert_eq!(room.says(SandboxLevel::Group, script), "");
}

#[test]
fn a_signal_of_its_own_is_told_apart() {
    let room = Room::new();
    for level in [SandboxLevel::None, SandboxLevel::Group, SandboxLevel::FilesNet] {
        assert_eq!(room.run(room.bash(level, "kill -9 $$")).end, End::Signalled(9), "{level}");
    }
}

#[test]
fn being_asked_to_stop_keeps_what_was_written() {
    for room in [Room::new(), Room::without_helper()] {
        let path = fifo(&room);
        let mut command = room.bash(SandboxLevel::Group, "echo begun; exec 3> fifo; sleep 100");
        command.timeout = Duration::from_mins(1);
        let stop = async move {
            // Opens once the command has.
            let _ = tokio::task::spawn_blocking(move || File::open(path)).await;
        };
        let finished = block_on(room.launcher.run(command, stop)).unwrap();
        assert_eq!(finished.end, End::Stopped);
        assert_eq!(finished.stdout.kept().head, "begun\n");
    }
}

#[test]
fn dropping_the_future_stops_everything() {
    for room in [Room::new(), Room::without_helper()] {
        let path = fifo(&room);
        let script = "exec 3> fifo; trap '' TERM; sleep 100 & sleep 100";
        let mut command = room.bash(SandboxLevel::Group, script);
        command.grace = Duration::from_millis(50);
        let mut reader = block_on(async {
            let run = room.launcher.run(command, std::future::pending());
            let opened = tokio::task::spawn_blocking(move || File::open(path));
            tokio::select! {
                _ = run => unreachable!(),
                file = opened => file.unwrap().unwrap(),
            }
        });
        // The runtime is gone as well. The end comes when nobody holds the other end any more.
        assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0);
    }
}

#[test]
fn a_helper_that_is_killed_is_told_and_takes_its_session_along() {
    let room = Room::new();
    let long = own_sleep(5);
    let script = format!("sleep {long} & kill -9 $PPID; sleep {long}");
    let start = Instant::now();
    let finished = room.run(room.bash(SandboxLevel::Group, &script));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!((finished.end, finished.cleanup), (End::Signalled(9), Cleanup::HelperLost));
    assert_eq!(running(&long), 0);
}

#[test]
fn a_helper_without_descriptors_still_ends_everything() {
    let room = Room::new();
    let long = own_sleep(6);
    let limit = "prlimit --pid $PPID --nofile=0:0";
    let script = format!("{limit}; setsid sleep {long} & setsid sleep {long} & sleep 0.1");
    let finished = room.run(room.bash(SandboxLevel::Group, &script));
    assert_eq!((finished.end, finished.cleanup), (End::Exited(0), Cleanup::Complete));
    assert!(!finished.left_behind.is_empty());
    assert_eq!(running(&long), 0);

    let mut command =
        room.bash(SandboxLevel::Group, &format!("{limit}; setsid sleep {long}; true"));
    command.timeout = Duration::from_millis(300);
    let start = Instant::now();
    let finished = room.run(command);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!((finished.end, finished.cleanup), (End::TimedOut, Cleanup::Complete));
    assert_eq!(running(&long), 0);
}

#[test]
fn a_confined_command_cannot_take_its_helpers_descriptors() {
    let room = Room::new();
    let long = own_sleep(7);
    let limit = "prlimit --pid $PPID --nofile=0:0 2>/dev/null && echo taken";
    let script = format!("{limit}; setsid sleep {long} & sleep 0.1");
    for level in [SandboxLevel::Files, SandboxLevel::FilesNet] {
        let finished = room.run(room.bash(level, &script));
        assert_eq!(finished.stdout.kept().head, "", "{level}");
        assert_eq!(finished.left_behind.processes.len(), 1, "{level}");
        assert_eq!(finished.cleanup, Cleanup::Complete);
        assert_eq!(running(&long), 0);
    }
}

#[test]
fn a_confined_command_cannot_kill_its_helper() {
    let room = Room::new();
    for level in [SandboxLevel::Files, SandboxLevel::FilesNet] {
        let finished = room.run(room.bash(level, "kill -9 $PPID 2>/dev/null || echo alive"));
        assert_eq!(finished.stdout.kept().head, "alive\n");
        assert_eq!(finished.cleanup, Cleanup::Complete);
    }
}

#[test]
fn the_helper_does_not_mind_being_asked_to_end() {
    let room = Room::new();
    let script = "for s in TERM INT HUP QUIT USR1 USR2; do kill -$s $PPID; done; kill -0 $PPID && echo there";
    let finished = room.run(room.bash(SandboxLevel::Group, script));
    assert_eq!(finished.stdout.kept().head, "there\n");
    assert_eq!(finished.cleanup, Cleanup::Complete);
}

#[test]
fn signals_have_their_usual_meaning_for_the_command() {
    let room = Room::new();
    let script = "grep -E '^Sig(Ign|Blk)' /proc/self/status";
    for level in HELPED {
        let said = room.says(level, script);
        let sets = said.lines().map(|line| u64::from_str_radix(&line[8..], 16).unwrap());
        // The two that the C library keeps for itself cannot be reset through it.
        let sets: Vec<u64> = sets.map(|set| set & !(0b11 << 31)).collect();
        assert_eq!(sets, [0, 0], "{level}: {said}");
    }
}
