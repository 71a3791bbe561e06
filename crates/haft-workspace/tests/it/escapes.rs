//! Paths that try to leave.

use std::fs;

use haft_protocol::{Control, Status};
use haft_workspace::{PathError, Want};

use crate::rig::{CANARY, Rig};

/// Refused as leading out, whether or not something is there, to read and to create.
fn check_refused(rig: &Rig, paths: &[&str]) {
    for path in paths {
        for want in [Want::Existing, Want::Any] {
            match rig.workspace.resolve(path, want) {
                Err(error @ PathError::Outside { .. }) => {
                    assert_eq!(error.denial().unwrap().control, Control::Workspace);
                }
                other => panic!("{path} as {want:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn dots_do_not_lead_out() {
    let rig = Rig::new();
    rig.file("sub/a.txt", "inside").link("inner", "sub");
    check_refused(
        &rig,
        &[
            "..",
            "../",
            "../out/secret.txt",
            "./../out/secret.txt",
            "sub/../../out/secret.txt",
            "sub/../..",
            "sub/./.././../out",
            "inner/../../out/secret.txt",
            "../ws/sub/a.txt",
            "../../../../../../../../etc/passwd",
        ],
    );
    assert_eq!(rig.verdict("sub/../sub/./a.txt"), "read `inside`");
    assert_eq!(rig.verdict("inner/../sub//a.txt"), "read `inside`");
}

#[test]
fn o_039_absolute_paths_are_compared_name_by_name() {
    let rig = Rig::new();
    rig.file("a.txt", "inside");
    fs::create_dir(rig.folder.path().join("ws-evil")).unwrap();
    fs::write(rig.folder.path().join("ws-evil/x"), CANARY).unwrap();
    let ws = rig.ws("").display().to_string();
    let ws = ws.trim_end_matches('/');
    for path in [
        format!("{ws}-evil/x"),
        format!("/{ws}-evil/x"),
        format!("{ws}/../ws-evil/x"),
        format!("{ws}/../ws/a.txt"),
        format!("{}/", rig.folder.path().display()),
        format!("{}", rig.out("secret.txt").display()),
        format!("{ws} /a.txt"),
        format!("{ws}./a.txt"),
        ws.to_uppercase(),
        "/".to_owned(),
        "/etc/passwd".to_owned(),
        "/proc/self/root/etc/passwd".to_owned(),
        "//etc/passwd".to_owned(),
    ] {
        check_refused(&rig, &[&path]);
    }
    for path in [format!("{ws}/a.txt"), format!("/{ws}//a.txt"), format!("{ws}/./a.txt")] {
        assert_eq!(rig.verdict(&path), "read `inside`", "{path}");
    }
    assert_eq!(rig.existing(ws).unwrap().logical().as_str(), ".");
}

#[test]
fn o_040_links_do_not_lead_out() {
    let rig = Rig::new();
    rig.dir("sub")
        .link("leak", rig.out("secret.txt"))
        .link("relative", "../out/secret.txt")
        .link("d", rig.out(""))
        .link("c", "d")
        .link("b", "c")
        .link("sub/up", "../..")
        .link("sub/deep", "../../out/deep")
        .link("dangling", rig.out("new.txt"))
        .link("beside", "../out/new/er.txt")
        .link("proc", "/proc/self/root")
        .link("environment", "/proc/self/environ")
        .link("round", "../ws/sub");
    check_refused(
        &rig,
        &[
            "leak",
            "relative",
            "d",
            "d/",
            "d/secret.txt",
            "d/new.txt",
            "d/a/b/c.txt",
            "b/secret.txt",
            "b/deep/secret.txt",
            "sub/up/out/secret.txt",
            "sub/deep/secret.txt",
            "dangling",
            "beside",
            "proc/etc/passwd",
            "environment",
            "round",
        ],
    );
    assert!(!rig.out("new.txt").exists());
    insta::assert_snapshot!(rig.verdict("b/secret.txt"), @"`b/secret.txt` leads outside the workspace through the link `d`");
}

#[test]
fn links_within_the_workspace_are_followed_to_the_real_place() {
    let rig = Rig::new();
    rig.file("real/a.txt", "inside")
        .link("real/to-b", "../real/a.txt")
        .link("dir", "real")
        .link("absolute", rig.ws("real"))
        .link("chain", "dir/to-b");
    for path in ["dir/a.txt", "absolute/a.txt", "chain", "dir/to-b", "absolute/../dir/a.txt"] {
        let place = rig.existing(path).unwrap();
        assert_eq!(place.logical().as_str(), "real/a.txt", "{path}");
        assert_eq!(place.given(), path);
    }
    assert_eq!(rig.verdict("chain"), "read `inside`");
    assert_eq!(rig.existing("dir/..").unwrap().logical().as_str(), ".");
}

#[test]
fn links_in_a_circle_end() {
    let rig = Rig::new();
    rig.link("a", "b").link("b", "a").link("self", "self").link("into", "into/x");
    for path in ["a", "b", "self", "into", "a/x"] {
        assert!(matches!(rig.existing(path), Err(PathError::TooManyLinks { .. })), "{path}");
        assert!(matches!(rig.any(path), Err(PathError::TooManyLinks { .. })), "{path}");
    }
    insta::assert_snapshot!(rig.verdict("a"), @"`a` leads through more than 40 links");
}

#[test]
fn up_to_forty_links_are_followed() {
    let rig = Rig::new();
    rig.file("l0", "end");
    for number in 1..=41 {
        rig.link(&format!("l{number}"), format!("l{}", number - 1));
    }
    assert_eq!(rig.verdict("l40"), "read `end`");
    assert!(matches!(rig.existing("l41"), Err(PathError::TooManyLinks { .. })));
}

#[test]
fn text_stands_for_itself() {
    let rig = Rig::new();
    rig.file("a.txt", "inside").file("~/x", "tilde").file("..%2f", "percent").file("a b.", "dot");
    assert_eq!(rig.verdict("~/x"), "read `tilde`");
    assert_eq!(rig.verdict("..%2f"), "read `percent`");
    assert_eq!(rig.verdict("a b."), "read `dot`");
    for path in [
        "..%2fout/secret.txt",
        "%2e%2e/out/secret.txt",
        "a.txt.",
        "a.txt ",
        "A.TXT",
        "...",
        "…/out",
    ] {
        assert!(matches!(rig.existing(path), Err(PathError::NotFound { .. })), "{path}");
    }
}

#[test]
fn text_that_is_no_path_is_refused_by_name() {
    let rig = Rig::new();
    rig.file("a.txt", "inside");
    let long_name = format!("sub/{}", "n".repeat(256));
    let long_path = "d/".repeat(3000);
    for path in ["", "a.txt\0", "\0", &long_name, &long_path] {
        let error = rig.existing(path).unwrap_err();
        assert!(matches!(error, PathError::Malformed { .. }), "{path:?}: {error}");
        assert!(matches!(rig.any(path), Err(PathError::Malformed { .. })));
        assert!(error.to_string().len() < 400, "{error}");
    }
    insta::assert_snapshot!(rig.verdict(""), @"`` is not a path: it is empty; `.` is the workspace itself");
    insta::assert_snapshot!(rig.verdict("a\0b"), @r"`a\x00b` is not a path: it contains a NUL byte");
    insta::assert_snapshot!(rig.verdict(&"n".repeat(300)), @"`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` is not a path: one of its names has 300 bytes, 255 can be");
}

#[test]
fn refusals_and_failures_say_what_would_be_right() {
    let rig = Rig::new();
    rig.file("src/main.rs", "").file("src/lib.rs", "").dir("docs").link("gone", "src/gone.rs");
    let told = |path: &str| match Status::from(rig.read(path).unwrap_err()) {
        Status::Failed(failure) => format!("failed ({}): {failure}", failure.kind),
        Status::Denied(denial) => denial.to_string(),
        other => format!("{other:?}"),
    };
    insta::assert_snapshot!(told("../x"), @r"
    denied by workspace: `../x` leads outside the workspace
    hint: use a path within `.`
    ");
    insta::assert_snapshot!(told("src/mian.rs"), @r"
    failed (not_found): `src/mian.rs` does not exist
    hint: near it: `src/main.rs`
    ");
    insta::assert_snapshot!(told("scr/main.rs"), @r"
    failed (not_found): `scr/main.rs` does not exist: there is no `scr`
    hint: near it: `src`
    ");
    insta::assert_snapshot!(told("gone"), @"failed (not_found): `gone` does not exist: the link `gone` points to `src/gone.rs`, which is not there");
    insta::assert_snapshot!(told("src"), @r"
    failed (unsupported): `src` is a directory, not a regular file
    hint: list it, or name a file in it
    ");
    insta::assert_snapshot!(told("src/main.rs/x"), @r"
    failed (unsupported): `src/main.rs` is a regular file, not a directory
    hint: read it, or name the directory it is in
    ");
    insta::assert_snapshot!(told("src/main.rs/"), @r"
    failed (unsupported): `src/main.rs` is a regular file, not a directory
    hint: read it, or name the directory it is in
    ");
    insta::assert_snapshot!(told(".env"), @r"
    denied by protection: `.env` is protected: environment files hold credentials
    hint: do without its content, or ask the user to provide what is needed
    ");
    insta::assert_snapshot!(told("~/x"), @r"
    failed (not_found): `~/x` does not exist: there is no `~`
    hint: `~` is a name like any other here
    ");
}

#[test]
fn o_041_what_does_not_exist_yet_is_held_at_the_deepest_directory_that_does() {
    let rig = Rig::new();
    rig.dir("a/b").link("l", "a/b").link("to-new", "a/new/file.txt");
    let place = rig.any("l/c/d/e.txt").unwrap();
    assert_eq!(place.logical().as_str(), "a/b/c/d/e.txt");
    assert_eq!(place.missing(), ["c", "d"]);
    assert_eq!(place.leaf().unwrap(), "e.txt");
    assert_eq!(place.kind(), None);
    assert_eq!(place.above().len(), 3);
    // A link to what is not there yet means the place it points to.
    assert_eq!(rig.any("to-new").unwrap().logical().as_str(), "a/new/file.txt");
    // What is not there has nothing above it.
    assert!(matches!(rig.any("a/x/../y"), Err(PathError::NotFound { .. })));
    assert!(matches!(rig.any("a/x/../../../y"), Err(PathError::NotFound { .. })));
    assert!(rig.view().open(&place).is_err());
    assert!(!rig.ws("a/b/c").exists());
}

#[test]
fn a_place_goes_stale_when_its_path_comes_to_mean_another() {
    let rig = Rig::new();
    rig.file("a/x.txt", "one").file("b/x.txt", "two").link("l", "a");
    let check = |path: &str| rig.workspace.resolve(path, Want::Any).unwrap();
    let (through_link, file, absent) = (check("l/x.txt"), check("a/x.txt"), check("a/new.txt"));
    for place in [&through_link, &file, &absent] {
        rig.workspace.revalidate(place).unwrap();
    }
    fs::remove_file(rig.ws("l")).unwrap();
    rig.link("l", "b");
    insta::assert_snapshot!(rig.workspace.revalidate(&through_link).unwrap_err(), @"`a/x.txt` changed since the call was checked: it leads to another place now");
    rig.file("a/new.txt", "");
    insta::assert_snapshot!(rig.workspace.revalidate(&absent).unwrap_err(), @"`a/new.txt` changed since the call was checked: something stands there now");
    rig.file("a/other", "");
    fs::rename(rig.ws("a/other"), rig.ws("a/x.txt")).unwrap();
    // A file in the place of a file: whoever saves a file whole does that, and the place is what it was.
    rig.workspace.revalidate(&file).unwrap();
    fs::remove_file(rig.ws("a/x.txt")).unwrap();
    rig.dir("a/x.txt");
    insta::assert_snapshot!(rig.workspace.revalidate(&file).unwrap_err(), @"`a/x.txt` changed since the call was checked: something else stands there now");
    fs::remove_dir(rig.ws("a/x.txt")).unwrap();
    insta::assert_snapshot!(rig.workspace.revalidate(&file).unwrap_err(), @"`a/x.txt` changed since the call was checked: nothing stands there any more");
    fs::remove_file(rig.ws("l")).unwrap();
    rig.link("l", rig.out(""));
    insta::assert_snapshot!(rig.workspace.revalidate(&through_link).unwrap_err(), @"`a/x.txt` changed since the call was checked: it no longer leads there: `l/x.txt` leads outside the workspace through the link `l`");
}

#[test]
fn a_held_directory_stays_what_it_was() {
    let rig = Rig::new();
    rig.file("d/secret.txt", "inside");
    let place = rig.existing("d/secret.txt").unwrap();
    fs::rename(rig.ws("d"), rig.ws("moved")).unwrap();
    rig.link("d", rig.out(""));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut rig.view().open(&place).unwrap(), &mut text).unwrap();
    assert_eq!(text, "inside");
    assert!(rig.workspace.revalidate(&place).is_err());
}
