//! What each level stops: every way out is really tried.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::Path;

use haft_process::{Confinement, End, SandboxLevel};
use rustix::process::geteuid;

use crate::support::{HELPED, HELPER, Room};

/// Tries a way out under each level. The level from which on it is closed is the claim.
#[track_caller]
fn closed_from(room: &Room, level: SandboxLevel, script: &str) {
    for tried in HELPED {
        let worked = room.does(tried, script);
        assert_eq!(worked, tried < level, "{tried}: {script}");
    }
}

#[test]
fn files_outside_are_not_read() {
    let room = Room::new();
    std::fs::create_dir(room.outside.path().join(".ssh")).unwrap();
    std::fs::write(room.outside.path().join(".ssh/id"), "key").unwrap();
    let files = SandboxLevel::Files;
    closed_from(&room, files, "cat $OUT/secret");
    closed_from(&room, files, "cat $OUT/.ssh/id");
    closed_from(&room, files, "ls $OUT");
    closed_from(&room, files, "ls $OUT/..");
    closed_from(&room, files, "cat ../${OUT##*/}/secret");
    closed_from(&room, files, "cat /proc/self/root$OUT/secret");
    closed_from(&room, files, "cd $OUT && cat secret");
    closed_from(&room, files, "ln -sfn $OUT away && cat away/secret");
    closed_from(&room, files, "ln -f $OUT/secret linked && cat linked");
    closed_from(&room, files, "exec 3< $OUT/secret && cat <&3");
}

#[test]
fn files_outside_are_not_written() {
    let room = Room::new();
    let files = SandboxLevel::Files;
    closed_from(&room, files, "echo x > $OUT/new");
    closed_from(&room, files, "echo x >> $OUT/secret");
    closed_from(&room, files, "truncate -s 0 $OUT/secret");
    closed_from(&room, files, "mkdir -p $OUT/made && rmdir $OUT/made");
    closed_from(&room, files, "echo x > here && mv here $OUT/moved");
    closed_from(&room, files, "echo x > here && ln -f here $OUT/hard");
    closed_from(&room, files, "ln -sfn x $OUT/soft");
    closed_from(&room, files, "mkfifo $OUT/fifo && rm $OUT/fifo");
    closed_from(&room, files, "ln -sfn $OUT away && echo x > away/new");
    closed_from(&room, files, "touch $OUT/.ok && rm $OUT/.ok");
    assert_eq!(std::fs::read_to_string(room.outside.path().join("moved")).unwrap(), "x\n");
}

#[test]
fn work_inside_is_free() {
    let room = Room::new();
    let script = "mkdir -p a/b && echo x > a/f && mv a/f a/b/g && ln -f a/b/g h && ln -sfn h i && chmod +x h \
                  && rm -r a h i && echo '#!/bin/sh' > run && chmod +x run && ./run && sed --version > /dev/null \
                  && echo y | tee /dev/null > /dev/fd/1 && head -c 4 /dev/urandom > r && sort < r > /dev/null";
    for level in HELPED {
        let finished = room.run(room.bash(level, script));
        assert!(finished.end.is_success(), "{level}: {}", finished.stderr.kept());
    }
}

#[test]
fn given_paths_are_read_and_executed_and_not_written() {
    let room = Room::new();
    let tool = room.outside.path().join("tool");
    std::fs::write(&tool, "#!/bin/sh\necho ran\n").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = room.bash(SandboxLevel::FilesNet, "$OUT/tool; echo x > $OUT/tool");
    command.sandbox.read = vec![room.outside.path().into(), "/no/such/path".into()];
    let finished = room.run(command);
    assert_eq!((finished.stdout.kept().head.as_str(), finished.end), ("ran\n", End::Exited(1)));
}

#[test]
fn other_processes_are_out_of_reach() {
    let room = Room::new();
    let files = SandboxLevel::Files;
    let own = std::process::id();
    closed_from(&room, files, &format!("kill -CONT {own}"));
    closed_from(&room, files, &format!("cat /proc/{own}/environ"));
    closed_from(&room, files, &format!("readlink /proc/{own}/fd/0"));
    closed_from(&room, files, &format!("ls /proc/{own}/root/"));
    closed_from(&room, files, &format!("ls /proc/{own}/cwd/"));
    closed_from(&room, files, "cat /proc/$PPID/environ");
    closed_from(&room, files, "kill -CONT $PPID");
}

#[test]
fn other_processes_are_not_limited_nor_slowed() {
    let room = Room::new();
    let files = SandboxLevel::Files;
    let own = std::process::id();
    closed_from(&room, files, "prlimit --pid $PPID --nofile=500:500");
    closed_from(&room, files, "prlimit --pid $PPID --fsize=unlimited:unlimited");
    closed_from(&room, files, &format!("prlimit --pid {own} --core=0:0"));
    closed_from(&room, files, "renice -n 0 -p $PPID");
    closed_from(&room, files, "renice -n 0 -g $PPID");
    closed_from(&room, files, "renice -n 0 -u $UID");
    closed_from(&room, files, "taskset -cp 0 $PPID");
    closed_from(&room, files, "ionice -c 2 -p $PPID");
    closed_from(&room, files, "chrt -o -p 0 $PPID");
    let script = "ulimit -n 50 && prlimit --nofile=40 true && nice -n 1 true && taskset 1 true \
                  && ionice -c 2 true && chrt -o 0 true && prlimit --pid $PPID --nofile";
    for level in HELPED {
        let finished = room.run(room.bash(level, script));
        assert!(finished.end.is_success(), "{level}: {}", finished.stderr.kept());
    }
}

#[test]
fn nothing_is_shared_by_number_or_name() {
    let room = Room::new();
    let files = SandboxLevel::Files;
    closed_from(&room, files, "perl -e 'shmctl(shmget(0, 64, 0600) // exit 1, 0, 0) or exit 1'");
    closed_from(&room, files, "perl -e 'semctl(semget(0, 1, 0600) // exit 1, 0, 0, 0) or exit 1'");
    closed_from(&room, files, "perl -e 'msgctl(msgget(0, 0600) // exit 1, 0, 0) or exit 1'");
}

#[test]
fn root_of_a_container_is_confined_too() {
    if !geteuid().is_root() {
        return;
    }
    let room = Room::new();
    let files = SandboxLevel::Files;
    closed_from(&room, files, "rm -f disk; mknod disk b 7 0");
    closed_from(&room, files, "rm -f mem; mknod mem c 1 1");
    for script in [
        "ls /proc/1/root/",
        "cat /proc/1/environ",
        "mount -t tmpfs none .",
        "unshare -m true",
        "dmesg -C",
        "chroot . true",
    ] {
        assert!(!room.does(files, script), "{script}");
        assert!(!room.does(SandboxLevel::FilesNet, script), "{script}");
    }
    let caps = room.says(files, "grep -E '^Cap(Eff|Prm)' /proc/self/status");
    assert_eq!(caps, "CapPrm:\t00000000000000fb\nCapEff:\t00000000000000fb\n");
}

#[test]
fn a_new_namespace_opens_nothing() {
    let room = Room::new();
    let script = "unshare -Ur cat $OUT/secret";
    assert!(!room.does(SandboxLevel::Files, script));
    assert!(!room.does(SandboxLevel::FilesNet, "unshare -Ur true"));
}

#[test]
fn the_network_is_off_from_the_last_level_on() {
    let room = Room::new();
    let net = SandboxLevel::FilesNet;
    let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = tcp.local_addr().unwrap().port();
    closed_from(&room, net, &format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
    let udp = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let port = udp.local_addr().unwrap().port();
    closed_from(&room, net, &format!("echo x > /dev/udp/127.0.0.1/{port}"));
    let said = room.says(net, &format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
    assert!(said.contains("Network is unreachable"), "{said}");
}

#[test]
fn sockets_by_name_are_off_from_the_last_level_on() {
    let room = Room::new();
    let _socket = UnixListener::bind(room.outside.path().join("socket")).unwrap();
    let script = "perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0) or exit 1; \
                  connect($s, pack_sockaddr_un(\"$ENV{OUT}/socket\")) or exit 1'";
    closed_from(&room, SandboxLevel::FilesNet, script);
    let script = "perl -MSocket -e 'socketpair(my $a, my $b, PF_UNIX, SOCK_DGRAM, 0) or exit 1'";
    closed_from(&room, SandboxLevel::FilesNet, script);
    let script = "perl -MSocket -e 'socketpair(my $a, my $b, PF_UNIX, SOCK_STREAM, 0) or exit 1'";
    assert!(room.does(SandboxLevel::FilesNet, script), "programs talk to their children this way");
    let pair =
        |kind: &str| format!("perl -MSocket -e 'socketpair(my $a, my $b, 1, {kind}, 0) or exit 1'");
    closed_from(&room, SandboxLevel::FilesNet, &pair("SOCK_RAW"));
    for kind in ["SOCK_SEQPACKET", "SOCK_STREAM | 02000000 | 04000"] {
        assert!(room.does(SandboxLevel::FilesNet, &pair(kind)), "{kind}");
    }
}

#[test]
fn abstract_sockets_are_off_from_files_on() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::SocketAddr;
    let room = Room::new();
    let name = format!("haft-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _socket = UnixListener::bind_addr(&address).unwrap();
    let script = format!(
        "perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0) or exit 1; \
         connect($s, pack(\"S\", 1) . \"\\0{name}\") or exit 1'"
    );
    closed_from(&room, SandboxLevel::Files, &script);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn ways_around_the_filter_are_closed() {
    let room = Room::new();
    let net = SandboxLevel::FilesNet;
    let errno =
        |call: &str| room.says(net, &format!("perl -e '$! = 0; syscall({call}); print $! + 0'"));
    let (permission, unknown) = ("1", "38");
    assert_eq!(errno("425, 1, 0"), unknown, "io_uring_setup");
    assert_eq!(errno("435, 0, 0"), unknown, "clone3");
    assert_eq!(errno("0x40000000 + 41, 2, 1, 0"), unknown, "socket of x32");
    assert_eq!(errno("101, 0, 0, 0, 0"), permission, "ptrace");
    assert_eq!(errno("321, 0, 0, 0"), permission, "bpf");
    assert_eq!(errno("41, 16, 3, 0"), permission, "a netlink socket");
    assert_eq!(errno("41, 17, 3, 0"), permission, "a packet socket");
    assert_eq!(errno("41, 40, 1, 0"), permission, "a vsock");
    assert_eq!(errno("56, 0x10000000, 0, 0, 0, 0"), permission, "clone into a user namespace");
    assert_eq!(errno("250, 0, 0, 0"), permission, "keyctl");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_that_reach_others_are_refused_from_files_on() {
    let room = Room::new();
    let calls = [
        ("prlimit64", "302, getppid(), 7, $limit, 0"),
        ("prlimit64 of itself", "302, $$, 7, $limit, 0"),
        ("setpriority", "141, 0, getppid(), 0"),
        ("setpriority of a group", "141, 1, 0, 0"),
        ("setpriority of a user", "141, 2, 0, 0"),
        ("ioprio_set", "251, 1, getppid(), 0"),
        ("ioprio_set of a group", "251, 2, 0, 0"),
        ("sched_setparam", "142, getppid(), 0"),
        ("sched_setscheduler", "144, getppid(), 0, 0"),
        ("sched_setaffinity", "203, getppid(), 0, 0"),
        ("sched_setattr", "314, getppid(), 0, 0"),
        ("migrate_pages", "256, getppid(), 0, 0, 0"),
        ("move_pages", "279, getppid(), 0, 0, 0, 0, 0"),
        ("process_vm_readv", "310, $$, 0, 0, 0, 0, 0"),
        ("process_vm_writev", "311, $$, 0, 0, 0, 0, 0"),
        ("kcmp", "312, $$, $$, 0, 0, 0"),
        ("pidfd_getfd", "438, 0, 0, 0"),
        ("process_madvise", "440, 0, 0, 0, 0, 0"),
        ("process_mrelease", "448, 0, 0"),
        ("fanotify_init", "300, 0x200, 0"),
        ("shmget", "29, 0, 0, 0"),
        ("shmat", "30, -1, 0, 0"),
        ("shmctl", "31, -1, 0, 0"),
        ("semget", "64, 0, 0, 0"),
        ("semop", "65, -1, 0, 0"),
        ("semctl", "66, -1, 0, 0, 0"),
        ("semtimedop", "220, -1, 0, 0, 0"),
        ("msgget", "68, -1, 0"),
        ("msgsnd", "69, -1, 0, 0, 0"),
        ("msgrcv", "70, -1, 0, 0, 0, 0"),
        ("msgctl", "71, -1, 0, 0"),
        ("mq_open", "240, $name, 0, 0, 0"),
        ("mq_unlink", "241, $name"),
        ("tkill", "200, getppid(), 0"),
        ("tgkill", "234, getppid(), getppid(), 0"),
        ("kill of the helper's group", "62, -getppid(), 0"),
    ];
    let given = "my ($limit, $name) = (\"\\0\" x 16, \"x\");";
    let tried = calls.map(|(name, call)| {
        format!("$! = 0; syscall({call}); print \"{name}: \", $! + 0, \"\\n\";")
    });
    let expected = calls.map(|(name, _)| format!("{name}: 1\n")).concat();
    let script = format!("{given} {} ", tried.concat());
    let x32 = "$! = 0; syscall(0x40000000 + 302, getppid(), 7, 0, 0); print \"x32: \", $! + 0";
    for level in [SandboxLevel::Files, SandboxLevel::FilesNet] {
        let finished = room.run(room.argv(level, ["perl", "-e", &format!("{script}{x32}")]));
        let said = finished.stdout.kept().to_string();
        assert_eq!(said, format!("{expected}x32: 38"), "{level}: {}", finished.stderr.kept());
    }
}

#[test]
fn what_no_level_stops_is_known() {
    let room = Room::new();
    let secret = room.outside.path().join("secret");
    let net = SandboxLevel::FilesNet;
    // Landlock has no rules for what is known about a file, nor for its mode and times.
    assert!(room.does(net, "stat $OUT/secret"));
    assert!(room.does(net, "chmod 600 $OUT/secret"));
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret");
    #[cfg(target_arch = "x86_64")]
    assert!(
        room.does(
            net,
            "perl -e 'my $fd = syscall(253); exit(syscall(254, $fd, $ENV{OUT}, 0x100) < 0)'"
        ),
        "a directory is watched"
    );
    assert!(room.does(net, "cat /etc/passwd"), "settings of the system are readable");
    assert!(room.does(net, &format!("cat /proc/{}/cmdline", std::process::id())));
}

#[test]
fn a_failure_under_a_level_is_guessed_to_be_its_doing() {
    let room = Room::new();
    let guess = |level, script: &str| room.run(room.bash(level, script)).likely_confined();
    let net = SandboxLevel::FilesNet;
    assert_eq!(guess(net, "cat $OUT/secret"), Some(Confinement::Files));
    assert_eq!(guess(net, "exec 3<>/dev/tcp/127.0.0.1/9"), Some(Confinement::Network));
    assert_eq!(
        guess(SandboxLevel::Group, "cat /no/such/file; echo Permission denied; exit 1"),
        None
    );
    assert_eq!(guess(net, "echo Permission denied"), None);
    assert_eq!(guess(net, "cat /no/such/file"), None);
}

#[test]
fn works_for_a_user_without_any_privilege() {
    if !geteuid().is_root() || !Path::new("/usr/bin/setpriv").exists() {
        return;
    }
    // This program again, as nobody, where nobody can reach it.
    let place = tempfile::tempdir().unwrap();
    let (helper, tests) = (place.path().join("helper"), place.path().join("tests"));
    std::fs::copy(env!("CARGO_BIN_EXE_haft-process-helper"), &helper).unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let tried = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&tests)
        .args([
            "--exact",
            "self_test::every_level_is_tried",
            "confinement::files_outside_are_not_read",
            "output::a_private_home_goes_however_it_is_left",
        ])
        .env(HELPER, &helper)
        .env("TMPDIR", "/tmp")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tried.stdout);
    assert!(said.contains("3 passed"), "{said}");
}
