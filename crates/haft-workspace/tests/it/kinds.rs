//! What is neither a file nor a directory, and what may not be read.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use haft_protocol::{ErrorKind, Failure};
use haft_workspace::{FileKind, ListOptions, WalkOptions};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::rig::{Rig, contents};

fn special(rig: &Rig) -> UnixListener {
    mknodat(CWD, rig.ws("p"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    rig.link("z", "/dev/zero").file("ok.txt", "fine");
    UnixListener::bind(rig.ws("s")).unwrap()
}

#[test]
fn pipes_sockets_and_devices_are_refused_without_being_opened() {
    let rig = Rig::new();
    let _socket = special(&rig);
    for (path, kind) in [("p", FileKind::Fifo), ("s", FileKind::Socket)] {
        let place = rig.existing(path).unwrap();
        assert_eq!(place.kind(), Some(kind));
        assert_eq!(rig.view().look(&place).unwrap().kind, kind);
    }
    insta::assert_snapshot!(rig.verdict("p"), @"`p` is a FIFO, not a regular file");
    insta::assert_snapshot!(rig.verdict("s"), @"`s` is a socket, not a regular file");
    insta::assert_snapshot!(rig.verdict("z"), @"`z` leads outside the workspace through the link `z`");
    let failure = Failure::from(rig.read("p").unwrap_err());
    assert_eq!(failure.kind, ErrorKind::Unsupported);
}

#[test]
fn a_device_within_the_root_is_refused() {
    let rig = Rig::new();
    let null = rustix::fs::makedev(1, 3);
    if mknodat(CWD, rig.ws("null"), FileType::CharacterDevice, Mode::RWXU, null).is_err() {
        eprintln!("skipped: making a device takes privileges");
        return;
    }
    insta::assert_snapshot!(rig.verdict("null"), @"`null` is a character device, not a regular file");
}

#[test]
fn walks_and_listings_pass_pipes_sockets_and_devices_by() {
    let rig = Rig::new();
    let _socket = special(&rig);
    // A file of rules may be a pipe too, and nobody waits for it.
    rig.dir("sub");
    mknodat(CWD, rig.ws("sub/.gitignore"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let (texts, report) =
        contents(&rig.view(), &rig.existing(".").unwrap(), &WalkOptions::default());
    assert_eq!(texts, ["ok.txt: fine"]);
    assert_eq!(report.skipped.rules_unread, 1);
    let kinds: Vec<String> = rig
        .list(".", &ListOptions::tree())
        .entries
        .iter()
        .map(|entry| format!("{} is {}", entry.path, entry.kind))
        .collect();
    insta::assert_snapshot!(kinds.join("\n"), @r"
    ok.txt is a regular file
    p is a FIFO
    s is a socket
    sub is a directory
    sub/.gitignore is a FIFO
    z is a symbolic link
    ");
    let (alone, _) = contents(&rig.view(), &rig.existing("p").unwrap(), &WalkOptions::default());
    assert!(alone.is_empty());
}

#[test]
fn what_may_not_be_read_is_skipped_and_named() {
    let rig = Rig::new();
    rig.file("ok.txt", "needle").file("locked.txt", "needle").file("closed/x.txt", "needle");
    rig.link("dangling", "missing");
    fs::set_permissions(rig.ws("locked.txt"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(rig.ws("closed"), Permissions::from_mode(0o000)).unwrap();
    if fs::read(rig.ws("locked.txt")).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let (texts, report) =
        contents(&rig.view(), &rig.existing(".").unwrap(), &WalkOptions::default());
    assert_eq!(texts, ["ok.txt: needle"]);
    assert_eq!(report.skipped.unreadable, 2);
    let failure = Failure::from(rig.read("locked.txt").unwrap_err());
    assert_eq!(failure.kind, ErrorKind::PermissionDenied);
    assert!(rig.read("closed/x.txt").is_err());
    fs::set_permissions(rig.ws("closed"), Permissions::from_mode(0o700)).unwrap();
}
