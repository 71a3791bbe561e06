//! What a program changed, seen from outside, and taken back.

use std::fs;

use crate::hand::Hands;

#[test]
fn what_a_program_changes_is_seen() {
    let hands = Hands::new();
    hands
        .rig
        .file("a", "one")
        .file("d/x", "deep")
        .file("d/y", "deeper")
        .file("run", "x")
        .link("l", "a");
    let told = hands.run(
        "echo two > a; mkdir n; echo new > n/f; rm d/x; chmod 755 run; ln -sfn d l; mv d/y d/z",
    );
    assert_eq!(
        told,
        "moved d/z from d/y: nothing -> file of 6 bytes 644\n\
         created n: nothing -> directory 755\n\
         created n/f: nothing -> file of 4 bytes 644\n\
         modified a: file 644 -> file of 4 bytes 644\n\
         modified l: link to a -> link to d\n\
         modified run: file 644 -> file of 1 bytes 755\n\
         deleted d/x: file 644 -> nothing"
    );
    assert_eq!(hands.run("cat a d/z; touch d"), "");
}

#[test]
fn what_tools_had_touched_comes_back_and_the_rest_is_said_to_be_gone() {
    let hands = Hands::new();
    hands.rig.file("known", "start").file("unknown", "start");
    hands.write("known", "by a tool");
    hands.run("echo x > known; echo y > unknown; echo z > new; mkdir dir; echo q > dir/f");
    assert_eq!(
        hands.undo_latest(),
        "unknown: stays: it cannot be brought back: what it held was not kept, for no tool had changed it before the command ran\n\
         known: put back\n\
         new: removed\n\
         dir/f: removed\n\
         dir: removed"
    );
    assert_eq!(hands.text("known"), "by a tool");
    assert_eq!(hands.text("unknown"), "y\n");
    hands.undo_latest();
    assert_eq!(hands.text("known"), "x\n");
    assert_eq!(hands.text("dir/f"), "q\n");
}

#[test]
fn what_moved_moves_back_whole() {
    let hands = Hands::new();
    hands.rig.file("a/b/c", "1").file("a/d", "2").file("top", "3");
    let told = hands.run("mv a z; mv z/d z/e; mv top z/b/top; echo new > z/n");
    assert_eq!(
        told,
        "moved z from a: nothing -> directory 755\n\
         moved z/b/top from top: nothing -> file of 1 bytes 644\n\
         moved z/e from z/d: nothing -> file of 1 bytes 644\n\
         created z/n: nothing -> file of 4 bytes 644"
    );
    hands.undo_latest();
    assert_eq!(
        (hands.text("a/b/c"), hands.text("a/d"), hands.text("top")),
        ("1".into(), "2".into(), "3".into())
    );
    assert!(!hands.rig.ws("z").exists());
}

#[test]
fn what_changed_its_kind_or_moved_about_comes_back() {
    let hands = Hands::new();
    hands.rig.file("f", "file").file("m/deep/x", "1").file("m/deep/y", "2");
    hands.write("f", "by a tool");
    hands.write("m/deep/x", "by a tool");
    hands.write("m/deep/y", "by a tool");
    hands.run(
        "rm f; mkdir f; echo new > f/in; mkdir b; mv m/deep/y b/y; mv m z; echo w > z/deep/x; \
         rm z/deep/x; mv z/deep b/deep; rmdir z",
    );
    let told = hands.undo_latest();
    assert!(!told.contains("stays"), "{told}");
    for path in ["f", "m/deep/x", "m/deep/y"] {
        assert_eq!(hands.text(path), "by a tool");
    }
    assert_eq!(fs::read_dir(hands.rig.ws("")).unwrap().count(), 2);
}

#[test]
fn what_is_not_looked_at_is_said_where_something_changed_in_it() {
    let hands = Hands::new();
    hands
        .rig
        .file(".gitignore", "target/\nout*/\n")
        .file("target/debug/deps/x", "one")
        .file("out1/x", "one")
        .file("out2/x", "one")
        .file("src", "one")
        .dir(".git");
    let told = hands.run("echo two > src; cat target/debug/deps/x");
    assert_eq!(told, "modified src: file 644 -> file of 4 bytes 644");
    assert_eq!(
        hands.run("echo > target/debug/new"),
        "[something changed in `target`: ignore rules leave out what it is]"
    );
    assert_eq!(
        hands.run("echo > target/new; rm out1/x; echo > out2/y"),
        "[something changed in `out1`, `out2`, `target`: ignore rules leave out what it is]"
    );
    assert_eq!(
        hands.run("mkdir out3; rm -r out1 target"),
        "created out3: nothing -> directory 755\n\
         deleted target: directory 755 -> nothing\n\
         deleted out1: directory 755 -> nothing"
    );
    let told = hands.undo_latest();
    assert!(
        told.contains("ignore rules leave it out, so what it holds was not looked at"),
        "{told}"
    );
    assert!(hands.rig.ws("out3").exists() && !hands.rig.ws("target").exists());
}

#[test]
fn single_files_that_ignore_rules_leave_out_are_looked_at() {
    let hands = Hands::new();
    hands.rig.file(".gitignore", "*.log\n").file("a.log", "one").dir(".git");
    hands.write("a.log", "by a tool");
    assert_eq!(
        hands.run("echo two > a.log; echo new > b.log"),
        "created b.log: nothing -> file of 4 bytes 644\n\
         modified a.log: file of 9 bytes 644 -> file of 4 bytes 644"
    );
    assert_eq!(hands.undo_latest(), "a.log: put back\nb.log: removed");
    assert_eq!(hands.text("a.log"), "by a tool");
}

#[test]
fn protected_names_are_told_and_what_they_hold_is_not() {
    let hands = Hands::new();
    hands.rig.file(".env", "KEY=old").file("sub/id_rsa", "key");
    assert_eq!(
        hands.run("cat .env; echo KEY=new > .env; rm sub/id_rsa; echo x > sub/.env; echo x > a"),
        "created a: nothing -> file of 2 bytes 644\n\
         [`.env`, `sub/.env`, `sub/id_rsa` changed: what is protected is not looked at, and no undo brings it back]"
    );
    assert_eq!(hands.undo_latest(), "a: removed");
    assert_eq!(hands.text(".env"), "KEY=new\n");
}

#[test]
fn what_is_in_protected_directories_is_told_by_name_too() {
    let hands = Hands::new();
    hands.rig.file(".ssh/config", "Host a").file(".ssh/keys/one", "key").file("sub/.aws/x", "x");
    assert_eq!(hands.run("cat .ssh/config .ssh/keys/one; ls -R .ssh"), "");
    let told =
        "[`.ssh/config` changed: what is protected is not looked at, and no undo brings it back]";
    assert_eq!(hands.run("echo Host b > .ssh/config"), told);
    assert_eq!(hands.run("rm -f .ssh/config"), told);
    assert_eq!(
        hands.run("rm .ssh/keys/one; mkdir .ssh/new; chmod 700 .ssh; rm -r sub/.aws"),
        "[`.ssh`, `.ssh/keys/one`, `.ssh/new` and 1 more changed: what is protected is not looked at, and no undo brings it back]"
    );
}

#[test]
fn protected_directories_with_more_than_is_looked_at_still_tell_of_themselves() {
    let hands = Hands::new();
    let make = "mkdir .aws; cd .aws; for n in $(seq 4100); do : > $n; done";
    hands.run(make);
    assert_eq!(hands.run("cat .aws/1"), "");
    assert_eq!(
        hands.run("rm .aws/4000"),
        "[`.aws` changed: what is protected is not looked at, and no undo brings it back]"
    );
}

#[test]
fn a_directory_in_place_of_one_that_is_gone_is_new() {
    let hands = Hands::new();
    hands.rig.dir("d");
    assert_eq!(
        hands.run("rmdir d; mkdir e"),
        "created e: nothing -> directory 755\n\
         deleted d: directory 755 -> nothing"
    );
}

#[test]
fn a_file_that_was_changed_and_changed_back_is_no_change() {
    let hands = Hands::new();
    hands.rig.file("a", "one");
    hands.write("a", "two");
    assert_eq!(hands.run("printf x > a; printf two > a"), "");
    fs::write(hands.rig.ws("a"), "three").unwrap();
    assert_eq!(hands.run("true"), "");
}

#[test]
fn rules_that_come_in_between_make_nothing_gone() {
    let hands = Hands::new();
    hands.rig.file("a", "one").file("d/x", "deep").link("l", "a").dir(".git/info");
    let told = hands.run("echo '*' > .git/info/exclude; echo two > a; rm d/x");
    assert_eq!(
        told,
        "modified a: file 644 -> file of 4 bytes 644\n\
         deleted d/x: file 644 -> nothing\n\
         [ignore rules leave out directories that they did not before the command: what is new in these is not told]"
    );
}

#[test]
fn what_only_comes_into_view_is_not_taken_away() {
    let hands = Hands::new();
    hands.rig.file(".gitignore", "kept/\n").file("kept/x", "one");
    let born = |path: &str| fs::metadata(hands.rig.ws(path)).unwrap().created().ok();
    let Some(old) = born("kept/x") else { return };
    // Until the clock of the file system has moved on for sure.
    loop {
        hands.rig.file("later", "x");
        let is_later = born("later").unwrap() > old + std::time::Duration::from_millis(100);
        fs::remove_file(hands.rig.ws("later")).unwrap();
        if is_later {
            break;
        }
    }
    hands.run("rm .gitignore; echo new > new; mkdir out; mv kept/x out/x");
    let told = hands.undo_latest();
    assert!(told.contains("new: removed"), "{told}");
    assert!(told.contains("out/x: stays: it cannot be brought back: it was made before"), "{told}");
    assert_eq!(hands.text("out/x"), "one");
}

#[test]
fn what_is_written_to_and_made_to_look_as_if_moved_is_told_as_it_is() {
    let hands = Hands::new();
    hands.rig.file("a", "zero");
    hands.write("a", "one");
    let told = hands.run("cp -p a keep; printf two > a; touch -r keep a; rm keep; mv a b");
    assert_eq!(
        told,
        "deleted a: file of 3 bytes 644 -> nothing\n\
         created b: nothing -> file of 3 bytes 644"
    );
    assert_eq!(hands.undo_latest(), "b: removed\na: put back");
    assert_eq!(hands.text("a"), "one");
}
