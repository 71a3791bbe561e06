//! Changes through the writer.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::sync::{Arc, Mutex};

use haft_policy::Rule;
use haft_protocol::EffectState;
use haft_testkit::doors::Mood;
use haft_tool::ports::Effects as _;
use haft_workspace::Step;
use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat};

use crate::hand::Hands;

fn mode_of(hands: &Hands, path: &str) -> u32 {
    fs::metadata(hands.rig.ws(path)).unwrap().mode() & 0o7777
}

fn set_mode(hands: &Hands, path: &str, mode: u32) {
    fs::set_permissions(hands.rig.ws(path), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_is_replaced_and_the_change_says_what_was_and_what_is() {
    let hands = Hands::new();
    hands.rig.file("a.txt", "one");
    set_mode(&hands, "a.txt", 0o640);
    assert_eq!(
        hands.write("a.txt", "three"),
        "modified a.txt: file of 3 bytes 640 -> file of 5 bytes 640"
    );
    assert_eq!(hands.text("a.txt"), "three");
    let record = hands.effects.records().pop().unwrap();
    assert_eq!(record.state, EffectState::Done);
    let before = *record.change.before.unwrap().content().unwrap();
    assert_eq!(hands.effects.fetch(before.digest).unwrap().unwrap()[..], *b"one");
    assert_eq!(hands.leftovers(), Vec::<String>::new());
}

#[test]
fn a_file_is_made_with_the_directories_above_it() {
    let hands = Hands::new();
    set_mode(&hands, "", 0o755);
    let told = hands.create("d/e/new.txt", "text");
    assert!(told.starts_with("created d: nothing -> directory 7"), "{told}");
    assert!(told.contains("\ncreated d/e: nothing -> directory 7"), "{told}");
    assert!(told.contains("\ncreated d/e/new.txt: nothing -> file of 4 bytes 6"), "{told}");
    assert_eq!(hands.text("d/e/new.txt"), "text");
    insta::assert_snapshot!(hands.create("d/e/new.txt", "again"), @"
    failed (conflict): `d/e/new.txt` changed since it was read: something stands there now; nothing was written
    hint: read it again, then decide anew
    ");
}

#[test]
fn o_009_content_decides_whether_a_file_is_what_was_read() {
    let hands = Hands::new();
    hands.rig.file("a.txt", "same");
    let ahead = std::time::SystemTime::now() + std::time::Duration::from_hours(100);
    fs::File::options()
        .append(true)
        .open(hands.rig.ws("a.txt"))
        .unwrap()
        .set_modified(ahead)
        .unwrap();
    assert!(hands.swap("a.txt", "same", "new").starts_with("modified a.txt"));
    insta::assert_snapshot!(hands.swap("a.txt", "same", "newer"), @"
    failed (conflict): `a.txt` changed since it was read: its content is another; nothing was written
    hint: read it again, then decide anew
    ");
    assert_eq!(hands.text("a.txt"), "new");
}

#[test]
fn a_file_that_changes_at_the_last_moment_is_left_alone() {
    for step in [Step::Kept, Step::Announced, Step::FileMade, Step::FileWritten] {
        let hands = Hands::new();
        hands.rig.file("a.txt", "read").file("b.txt", "gone");
        let path = hands.rig.ws("a.txt");
        hands.watch(move |now| {
            if now == step {
                fs::write(&path, "theirs").unwrap();
            }
        });
        let told = hands.write("a.txt", "mine");
        assert!(told.contains("its content is another; nothing was written"), "{step:?}: {told}");
        assert_eq!(hands.text("a.txt"), "theirs");
        assert_eq!(hands.leftovers(), Vec::<String>::new());
        let path = hands.rig.ws("b.txt");
        hands.watch(move |now| {
            if now == step {
                let _ = fs::remove_file(&path);
            }
        });
        assert!(hands.write("b.txt", "mine").contains("it is gone"), "{step:?}");
        assert!(!hands.rig.ws("b.txt").exists());
        hands.watch_no_more();
        let settled = hands.effects.records().iter().all(|it| it.state == EffectState::NotDone);
        assert!(settled);
    }
}

#[test]
fn what_comes_to_stand_where_a_new_file_goes_is_left_alone() {
    for step in [Step::Announced, Step::FileMade, Step::FileWritten, Step::Compared] {
        let hands = Hands::new();
        let path = hands.rig.ws("d/new.txt");
        hands.rig.dir("d");
        hands.watch(move |now| {
            if now == step {
                fs::write(&path, "theirs").unwrap();
            }
        });
        let told = hands.create("d/new.txt", "mine");
        assert!(told.contains("something stands there now; nothing was written"), "{told}");
        assert_eq!(hands.text("d/new.txt"), "theirs");
        assert_eq!(hands.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn o_005_mode_owner_and_attributes_survive_and_nobody_sees_more_meanwhile() {
    for (mask, mode) in [(0o022, 0o755), (0o022, 0o600), (0o077, 0o755), (0o077, 0o664), (0, 0o400)]
    {
        let hands = Hands::new();
        hands.rig.file("f", "one");
        let path = hands.rig.ws("f");
        let has_attributes =
            rustix::fs::setxattr(&path, "user.note", b"kept", XattrFlags::empty()).is_ok();
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            std::os::unix::fs::chown(&path, Some(12), Some(34)).unwrap();
        }
        set_mode(&hands, "f", mode);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (folder, modes) = (hands.rig.ws(""), Arc::clone(&seen));
        hands.watch(move |_| {
            for entry in fs::read_dir(&folder).unwrap() {
                let facts = entry.unwrap().metadata().unwrap();
                modes.lock().unwrap().push((facts.mode() & 0o7777, facts.uid()));
            }
        });
        // Tests of one process share the mask; the one set here only matters to what has no mode of its own.
        let before = rustix::process::umask(Mode::from_raw_mode(mask));
        let told = hands.write("f", "two");
        rustix::process::umask(before);
        let is_writable = is_root || mode & 0o200 != 0;
        assert_eq!(told.starts_with("modified"), is_writable, "{told}");
        assert_eq!(mode_of(&hands, "f"), mode);
        assert_eq!(hands.text("f"), if is_writable { "two" } else { "one" });
        for (seen, _) in &*seen.lock().unwrap() {
            assert_eq!(seen & !mode, 0, "{seen:o} is more than {mode:o}");
        }
        if has_attributes {
            let mut value = [0; 16];
            assert_eq!(rustix::fs::getxattr(&path, "user.note", &mut value).unwrap(), 4);
        }
        if is_root {
            let facts = fs::metadata(&path).unwrap();
            assert_eq!((facts.uid(), facts.gid()), (12, 34));
        }
    }
}

#[test]
fn o_005_what_cannot_be_kept_is_told() {
    let hands = Hands::new();
    hands.rig.file("f", "one").file("run", "one");
    fs::hard_link(hands.rig.ws("f"), hands.rig.ws("g")).unwrap();
    set_mode(&hands, "run", 0o4755);
    insta::assert_snapshot!(hands.write("f", "two"), @"
    modified f: file of 3 bytes 644 -> file of 3 bytes 644
    [notice: `f` had another name, which keeps what stood there before]
    ");
    assert_eq!(hands.text("g"), "one");
    insta::assert_snapshot!(hands.write("run", "two"), @"
    modified run: file of 3 bytes 4755 -> file of 3 bytes 755
    [notice: `run` could not keep its set-id bits (mode 4755)]
    ");
}

#[test]
fn o_040_a_link_is_written_through_inside_and_refused_outside() {
    let hands = Hands::new();
    hands.rig.file("real/f", "one").link("f", "real/f").link("leak", hands.rig.out("secret.txt"));
    hands.rig.link("d", hands.rig.out("")).link("chain", "leak");
    assert!(hands.write("f", "two").starts_with("modified real/f"));
    assert_eq!(hands.text("real/f"), "two");
    assert!(fs::symlink_metadata(hands.rig.ws("f")).unwrap().is_symlink());
    for path in ["leak", "chain", "d/new.txt", "d/secret.txt"] {
        for told in [
            hands.write(path, "x"),
            hands.create(path, "x"),
            hands.remove(path),
            hands.mkdir(path),
            hands.rename(path, "here"),
            hands.rename("real/f", path),
        ] {
            assert!(told.starts_with("denied by workspace"), "{path}: {told}");
        }
    }
    assert_eq!(fs::read_to_string(hands.rig.out("secret.txt")).unwrap(), crate::rig::CANARY);
    assert!(!hands.rig.out("new.txt").exists());
}

#[test]
fn o_041_nothing_is_made_outside_however_much_of_the_path_is_missing() {
    let hands = Hands::new();
    hands.rig.link("dangling", hands.rig.out("new.txt")).link("d", hands.rig.out(""));
    hands.rig.link("inside", "made/here.txt");
    for path in ["dangling", "d/a/b/c.txt", "d/../../out/x", "../out/a/b"] {
        let told = hands.create(path, "x");
        assert!(told.starts_with("denied by workspace"), "{path}: {told}");
        assert!(hands.mkdir(path).starts_with("denied by workspace"), "{path}");
    }
    for name in ["new.txt", "a", "x"] {
        assert!(!hands.rig.out(name).exists());
    }
    assert!(hands.create("inside", "x").contains("created made/here.txt"));
}

#[test]
fn a_link_that_is_removed_or_moved_goes_itself() {
    let hands = Hands::new();
    hands.rig.file("real", "text").link("one", "real").link("two", "real");
    assert_eq!(hands.remove("one"), "deleted one: link to real -> nothing");
    assert_eq!(hands.rename("two", "three"), "moved three from two: nothing -> link to real");
    assert_eq!(hands.text("real"), "text");
    assert_eq!(fs::read_link(hands.rig.ws("three")).unwrap().to_str(), Some("real"));
}

#[test]
fn a_rule_about_a_link_holds_for_what_is_done_to_it() {
    let rule = Rule::deny().path("kept/**".parse().unwrap());
    let hands = Hands::with_rules(vec![rule]);
    hands.rig.file("real", "text").dir("kept").link("kept/link", "../real");
    for told in [
        hands.remove("kept/link"),
        hands.rename("kept/link", "here"),
        hands.write("kept/link", "x"),
    ] {
        assert!(told.starts_with("denied by policy"), "{told}");
    }
}

#[test]
fn o_018_names_of_devices_and_other_traps_are_not_made() {
    let hands = Hands::new();
    hands.rig.file("a", "text").file("nul", "old");
    for path in ["NUL.txt", "aux/x", "d/com1", "a:b", "a.", "a ", "line\nbreak"] {
        for told in [hands.create(path, "x"), hands.rename("a", path)] {
            assert!(told.starts_with("failed (invalid_arguments)"), "{path}: {told}");
        }
        assert!(hands.mkdir(path).starts_with("failed (invalid_arguments)"), "{path}");
    }
    insta::assert_snapshot!(hands.create("d/NUL.txt", "x"), @"
    failed (invalid_arguments): `d/NUL.txt` cannot be made: `nul` is a device on Windows, whatever its ending
    hint: choose another name
    ");
    assert!(!hands.rig.ws("d").exists());
    assert!(hands.write("nul", "new").starts_with("modified nul"));
    assert!(hands.rename("nul", "fine").starts_with("moved fine"));
}

#[test]
fn o_015_pipes_and_devices_are_neither_written_moved_nor_removed() {
    let hands = Hands::new();
    hands.rig.file("a", "text");
    mknodat(CWD, hands.rig.ws("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    insta::assert_snapshot!(hands.swap("pipe", "", "x"), @"failed (unsupported): `pipe` is a FIFO, not a regular file");
    insta::assert_snapshot!(hands.rename("pipe", "b"), @"failed (unsupported): `pipe` is a FIFO: only files, links and directories are moved");
    insta::assert_snapshot!(hands.remove("pipe"), @"failed (unsupported): `pipe` is a FIFO: only files, links and empty directories are removed");
    assert!(hands.rename_onto("a", "pipe").contains("already exists: it is a FIFO"));
}

#[test]
fn what_is_protected_is_not_changed() {
    let hands = Hands::new();
    hands.rig.file(".git/config", "c").file("a", "text").file(".env", "secret");
    for path in [".git/config", ".git/hooks/x", ".haft/config.toml", ".env", "d/.env"] {
        for told in [
            hands.create(path, "x"),
            hands.remove(path),
            hands.rename("a", path),
            hands.rename(path, "b"),
        ] {
            assert!(told.starts_with("denied by protection"), "{path}: {told}");
        }
    }
    fs::hard_link(hands.rig.ws(".env"), hands.rig.ws("twin")).unwrap();
    assert!(hands.write("twin", "x").starts_with("denied by protection"));
}

#[test]
fn a_directory_is_not_moved_out_of_its_protection() {
    let rule = Rule::deny().path("deep/secret/**".parse().unwrap());
    let hands = Hands::with_rules(vec![rule]);
    hands
        .rig
        .file(".docker/config.json", "{}")
        .file("deep/secret/x", "x")
        .file("repo/.git/config", "c");
    insta::assert_snapshot!(hands.rename(".docker", "d"), @"
    failed (permission_denied): `.docker` cannot be moved as a whole: it holds something that is protected
    hint: move what else is in it piece by piece
    ");
    assert!(hands.rename("repo", "d").contains("something that is protected"));
    assert!(hands.rename("deep", "d").contains("something that a rule hides"));
    assert!(!hands.rig.ws("d").exists());
}

#[test]
fn things_are_moved_and_nothing_is_moved_over() {
    let hands = Hands::new();
    hands.rig.file("a", "one").file("b", "two").file("d/x", "deep").dir("e");
    insta::assert_snapshot!(hands.rename("a", "b"), @"
    failed (conflict): `b` already exists: it is a regular file
    hint: choose another path, or remove or replace what is there
    ");
    assert_eq!(
        hands.rename_onto("a", "b"),
        "deleted b: file of 3 bytes 644 -> nothing\nmoved b from a: nothing -> file 644"
    );
    assert_eq!(hands.text("b"), "one");
    assert!(hands.rename("d", "n/m/d").ends_with("moved n/m/d from d: nothing -> directory 755"));
    assert_eq!(hands.text("n/m/d/x"), "deep");
    assert!(hands.rename("n", "n/m/d/in").contains("cannot be moved into itself"));
    assert!(hands.rename_onto("b", "e").contains("already exists: it is a directory"));
    assert!(hands.rename("gone", "e/f").starts_with("failed (not_found)"));
    assert!(hands.rename(".", "e/f").contains("root of the workspace"));
}

#[test]
fn things_are_removed_one_by_one() {
    let hands = Hands::new();
    hands.rig.file("d/a", "one");
    insta::assert_snapshot!(hands.remove("d"), @"
    failed (conflict): the directory `d` is not empty
    hint: remove what is in it first; some of it may be hidden from you
    ");
    assert_eq!(hands.remove("d/a"), "deleted d/a: file of 3 bytes 644 -> nothing");
    assert_eq!(hands.remove("d"), "deleted d: directory 755 -> nothing");
    assert!(hands.remove("d").starts_with("failed (not_found)"));
    assert!(hands.remove(".").contains("root of the workspace"));
}

#[test]
fn a_directory_that_is_there_is_not_made_again() {
    let hands = Hands::new();
    hands.rig.file("f", "text");
    assert!(hands.mkdir("d/e").starts_with("created d: nothing -> directory"));
    assert_eq!(hands.mkdir("d/e"), "");
    assert!(hands.mkdir("f").contains("already exists: it is a regular file"));
    assert!(hands.mkdir("f/g").contains("not a directory"));
}

#[test]
fn o_017_a_change_that_cannot_be_recorded_does_not_happen() {
    let hands = Hands::new();
    hands.rig.file("a", "one").dir("d");
    hands.effects.temper.set(Mood::Fails);
    for told in [
        hands.write("a", "two"),
        hands.create("n/b", "x"),
        hands.remove("a"),
        hands.remove("d"),
        hands.mkdir("e"),
        hands.rename("a", "b"),
    ] {
        assert!(told.contains("could not be put on record"), "{told}");
    }
    assert_eq!(hands.text("a"), "one");
    for path in ["n", "b", "e"] {
        assert!(!hands.rig.ws(path).exists());
    }
    assert!(hands.rig.ws("d").exists());
}

#[test]
fn o_017_bytes_that_are_there_already_are_no_change() {
    let hands = Hands::new();
    hands.rig.file("a", "one");
    assert_eq!(hands.write("a", "one"), "");
    assert!(
        hands.call(serde_json::json!({ "path": "a", "do": { "write": "one" } })).changes.is_empty()
    );
    assert!(hands.effects.records().is_empty());
}

#[test]
fn content_that_is_too_much_to_keep_is_told_to_be_gone_for_good() {
    let hands = Hands::new();
    hands.rig.file("a", "12345");
    hands.effects.keep_at_most(4);
    insta::assert_snapshot!(hands.write("a", "1"), @"
    modified a: file of 5 bytes 644 -> file of 1 bytes 644
    [notice: `a` cannot be brought back: its 5 bytes are more than is kept]
    ");
}

#[test]
fn o_017_a_full_disk_is_told_and_leaves_everything_as_it_was() {
    let hands = Hands::new();
    let disk = hands.rig.ws("disk");
    hands.rig.dir("disk");
    let Some(_mounted) = Disk::mount(&disk) else { return };
    fs::write(disk.join("a"), vec![b'x'; 30_000]).unwrap();
    fs::write(disk.join("fill"), vec![b'x'; 30_000]).unwrap();
    let told = hands.write("disk/a", &"y".repeat(40_000));
    assert!(told.starts_with("failed (upstream): there is no room for `disk/a`"), "{told}");
    let told = hands.create("disk/n/b", &"y".repeat(40_000));
    assert!(told.starts_with("failed (upstream): there is no room for `disk/n/b`"), "{told}");
    assert_eq!(fs::read(disk.join("a")).unwrap(), vec![b'x'; 30_000]);
    let mut names: Vec<_> =
        fs::read_dir(&disk).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "fill"]);
    fs::remove_file(disk.join("fill")).unwrap();
    // Over to this disk: a file is carried, a directory is not.
    hands.rig.file("small", "text").file("dir/x", "y");
    assert!(hands.rename("small", "disk/small").contains("deleted small"));
    assert_eq!(hands.text("disk/small"), "text");
    assert!(hands.rename("dir", "disk/dir").contains("lie on different devices"));
}

/// A small file system, where this user may mount one.
struct Disk(std::path::PathBuf);

impl Disk {
    fn mount(path: &std::path::Path) -> Option<Self> {
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(path)
            .stderr(std::process::Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then(|| Self(path.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn several_changes_of_one_place_follow_one_another() {
    let hands = Hands::new();
    hands.create("d/f", "one");
    hands.write("d/f", "two");
    hands.write("./d/../d/f", "three");
    symlink("d", hands.rig.ws("l")).unwrap();
    assert!(hands.write("l/f", "four").starts_with("modified d/f"));
    assert_eq!(hands.text("d/f"), "four");
}
