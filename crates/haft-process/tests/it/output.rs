//! What a command writes: bounded, counted, unchanged.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use haft_process::{Capture, End, SandboxLevel};

use crate::support::{HELPED, Room};

#[test]
fn o_025_a_flood_costs_no_memory_and_is_counted() {
    let room = Room::new();
    for script in ["yes", "yes >&2", "head -c 300000000 /dev/zero"] {
        let before = peak_bytes();
        let mut command = room.bash(SandboxLevel::FilesNet, script);
        command.timeout = Duration::from_millis(700);
        let finished = room.run(command);
        // The kernel counts roughly, so that a peak can seem to be lower than it was.
        let more = peak_bytes().saturating_sub(before);
        assert!(more < 4 * 1024 * 1024, "{script}: {more}");
        let total = finished.stdout.total() + finished.stderr.total();
        assert!(total > 10_000_000, "{script}: {total}");
        let captured = if script.contains(">&2") { finished.stderr } else { finished.stdout };
        assert_eq!(captured.available(), 8 * 1024 * 1024);
        assert_eq!(captured.ends().left_out(), captured.total() - 64 * 1024);
    }
}

fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn o_026_a_cut_never_splits_a_character() {
    let room = Room::new();
    for shift in 0..3 {
        let script =
            format!("head -c {shift} /dev/zero | tr '\\0' x; yes 中 | head -n 3000 | tr -d '\\n'");
        let mut command = room.bash(SandboxLevel::Group, &script);
        command.capture = Capture { head: 1000, tail: 1000, spool: 100_000 };
        let finished = room.run(command);
        let kept = finished.stdout.kept();
        assert_eq!(kept.total, 9000 + shift);
        assert!(!kept.to_string().contains('\u{fffd}'), "{shift}");
        assert_eq!(kept.head.len() as u64 + kept.tail.len() as u64 + kept.left_out, kept.total);
        assert_eq!(finished.stdout.bytes().unwrap().len() as u64, kept.total);
    }
}

#[test]
fn o_027_the_text_reaches_bash_as_it_is() {
    let room = Room::new();
    let scripts = [
        "true | true; { echo in; }",
        "x=$$; [ \"$x\" -gt 1 ] && echo PID=number",
        "cat <<MY-MARKER\nbody\nMY-MARKER\n",
        "cat <<'EOF'\n'hello' `id` $x \\n\nEOF\n",
        "echo 'a!b' \"c\\\\d\" $'e\\tf'",
        "printf '%s|' \"$@\" -- \\' \\\" ';' '&&'",
        "echo \u{4e2d}\u{202e}\u{7f}",
    ];
    for script in scripts {
        let plain = std::process::Command::new("bash").arg("-c").arg(script).output().unwrap();
        let finished = room.run(room.bash(SandboxLevel::FilesNet, script));
        assert_eq!(finished.stdout.bytes().unwrap(), plain.stdout, "{script}");
        assert_eq!(finished.end, End::Exited(plain.status.code().unwrap()));
    }
}

#[test]
fn o_027_an_argument_vector_is_never_split_again() {
    let room = Room::new();
    let command =
        room.argv(SandboxLevel::FilesNet, ["printf", "%s|", "a b", "", "$x", "'", "\n", "--"]);
    assert_eq!(room.run(command).stdout.bytes().unwrap(), b"a b||$x|'|\n|--|");
}

#[test]
fn invalid_utf_8_is_kept_as_bytes() {
    let room = Room::new();
    let finished = room.run(room.bash(SandboxLevel::Group, r"printf 'a\xff\xfe\0b'"));
    assert_eq!(finished.stdout.bytes().unwrap(), b"a\xff\xfe\0b");
    assert_eq!(finished.stdout.kept().head, "a\u{fffd}\u{fffd}\0b");
}

#[test]
fn streams_are_kept_apart() {
    let room = Room::new();
    for level in HELPED {
        let finished = room.run(room.bash(level, "echo out; echo err >&2; exit 3"));
        assert_eq!(finished.end, End::Exited(3));
        assert_eq!(finished.stdout.bytes().unwrap(), b"out\n");
        assert_eq!(finished.stderr.bytes().unwrap(), b"err\n");
    }
}

#[test]
fn the_environment_is_what_was_given() {
    let room = Room::new();
    for level in [SandboxLevel::None, SandboxLevel::Group, SandboxLevel::FilesNet] {
        let mut command = room.argv(level, ["env", "-0"]);
        command.env.push(("ODD".into(), "a=b\nc".into()));
        command.sandbox.private_home = false;
        let mut said: Vec<String> = room
            .run(command)
            .stdout
            .kept()
            .head
            .split_terminator('\0')
            .map(str::to_owned)
            .collect();
        said.sort();
        let out = format!("OUT={}", room.outside.path().display());
        assert_eq!(said, ["ODD=a=b\nc", &out, "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]);
    }
}

#[test]
fn home_is_private_writable_and_gone_afterwards() {
    let room = Room::new();
    for level in [SandboxLevel::None, SandboxLevel::Group, SandboxLevel::FilesNet] {
        let mut command = room.bash(
            level,
            "[ \"$HOME\" = \"$TMPDIR\" ] && ls -A ~ && echo x > ~/f && mktemp > /dev/null && pwd -P > /dev/null && echo $HOME",
        );
        command.env.push(("HOME".into(), "/nobody".into()));
        let finished = room.run(command);
        let home = finished.stdout.kept().head.trim().to_owned();
        assert!(finished.end.is_success(), "{level}: {}", finished.stderr.kept());
        assert!(home.starts_with('/') && home != "/nobody");
        assert!(!std::path::Path::new(&home).exists());
    }
}

#[test]
fn a_private_home_goes_however_it_is_left() {
    let room = Room::new();
    let kept = room.outside.path().join("secret");
    let mode = || std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777;
    let before = mode();
    let deep = "perl -e 'for (1 .. 1500) { mkdir \"d\"; chdir \"d\" or die }'";
    let script = format!(
        "cd ~ && mkdir -p a/b/c e && touch a/b/c/f a/b/g && ln -s $OUT a/b/out && ln -s $OUT/secret a/link \
         && {deep} && chmod 000 a/b/c a/b a e && chmod 000 ~ && echo $HOME"
    );
    for level in HELPED {
        let finished = room.run(room.bash(level, &script));
        assert!(finished.end.is_success(), "{level}: {}", finished.stderr.kept());
        let home = finished.stdout.kept().head.trim().to_owned();
        let around = std::path::Path::new(&home).parent().unwrap();
        assert!(around.is_absolute() && !around.exists(), "{level}: {home}");
        assert_eq!(mode(), before);
        assert!(kept.exists());
    }
}

#[test]
fn nothing_is_inherited_but_the_three_streams() {
    let room = Room::new();
    let file = std::fs::File::open("/etc/passwd").unwrap();
    // Without the mark to be closed by exec.
    let leaky = rustix::io::dup(&file).unwrap();
    rustix::io::fcntl_setfd(&leaky, rustix::io::FdFlags::empty()).unwrap();
    for level in HELPED {
        let finished = room.run(room.argv(level, ["ls", "-l", "/proc/self/fd"]));
        let said = finished.stdout.kept().head;
        let links: Vec<&str> =
            said.lines().filter_map(|line| line.split_once("-> ")).map(|(_, to)| to).collect();
        assert_eq!(links.len(), 4, "{level}: {said}");
        assert_eq!(links[0], "/dev/null");
        assert!(links[1].starts_with("pipe:") && links[2].starts_with("pipe:"));
        assert!(links[3].starts_with("/proc/"));
    }
    drop(leaky);
}
