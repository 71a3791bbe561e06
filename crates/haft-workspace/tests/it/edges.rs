//! Where limits of paths begin, and places one step beside what is kept.

use std::fs;

use haft_workspace::{PathError, Protection, Want, Workspace, WorkspaceConfig};

use crate::rig::Rig;

#[test]
fn a_path_and_its_names_may_be_as_long_as_they_may_be_and_no_longer() {
    let rig = Rig::new();
    let malformed = |path: &str| matches!(rig.existing(path), Err(PathError::Malformed { .. }));
    let name = |bytes| "n".repeat(bytes);
    assert!(!malformed(&name(255)));
    assert!(malformed(&name(256)));
    assert!(!malformed(&format!("a/{}/b", name(255))));
    assert!(malformed(&format!("a/{}/b", name(256))));
    let path = |bytes: usize| format!("{}a", "./".repeat(bytes / 2));
    assert_eq!(path(4095).len(), 4095);
    assert!(!malformed(&format!("{}/", path(4095))));
    assert!(malformed(&format!("{}//", path(4095))));
}

#[test]
fn a_second_name_of_what_is_protected_only_in_its_place_is_refused() {
    for (protected, read) in [
        (".cargo/credentials.toml", "notes.txt"),
        (".docker.bak/config.json", "notes.txt"),
        (".config/gh/hosts.yml", "notes.txt"),
        ("a/.m2/settings.xml", "a/notes.txt"),
    ] {
        let rig = Rig::new();
        rig.file(protected, "SECRET");
        fs::hard_link(rig.ws(protected), rig.ws(read)).unwrap();
        let error = rig.read(read).unwrap_err();
        assert!(error.to_string().contains("protected"), "{protected}: {error}");
    }
    let rig = Rig::new();
    rig.file(".cargo/config.toml", "fine");
    fs::hard_link(rig.ws(".cargo/config.toml"), rig.ws("notes.txt")).unwrap();
    assert_eq!(rig.read("notes.txt").unwrap(), "fine");
}

#[test]
fn nothing_is_reached_in_a_root_within_what_haft_lives_in() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("state");
    fs::create_dir_all(own.join("inner/deep")).unwrap();
    fs::write(own.join("inner/a"), "rules").unwrap();
    for root in ["state", "state/inner", "state/inner/deep"] {
        let workspace = Workspace::open(WorkspaceConfig {
            roots: vec![folder.path().join(root)],
            protection: Protection::standard().keeping_out_of(own.clone(), "haft lives there"),
        });
        let Ok(workspace) = workspace else { continue };
        for path in [".", "a", "new/file"] {
            let told = workspace.resolve(path, Want::Any).unwrap_err().to_string();
            assert!(told.contains("haft lives there"), "{root}: {path}: {told}");
        }
    }
}

#[test]
fn a_directory_named_like_the_one_haft_will_live_in_is_another() {
    let rig = Rig::with_own_directory(".config/haft");
    rig.dir("a");
    assert!(rig.any(".config/haft/x").is_err());
    assert!(rig.any("a/.config/haft/x").is_ok());
    assert!(rig.any(".config/other").is_ok());
}

#[test]
fn a_path_names_a_link_where_its_last_name_is_one() {
    let rig = Rig::new();
    rig.file("d/f", "x").link("to_f", "d/f").link("to_d", "d").link("again", "to_f");
    let link = |path| rig.existing(path).unwrap().link().map(|it| it.logical().to_string());
    for (path, named) in [
        ("to_f", Some("to_f")),
        ("d/../to_f", Some("to_f")),
        ("to_d", Some("to_d")),
        ("again", Some("again")),
        ("to_d/f", None),
        ("to_d/", None),
        ("d/f", None),
    ] {
        assert_eq!(link(path).as_deref(), named, "{path}");
    }
}

#[test]
fn several_names_that_look_alike_stand_for_nothing_new_either() {
    let rig = Rig::new();
    rig.file("a\u{202f}b", "1").file("a\u{a0}b", "2");
    for path in ["a b", "a b/new"] {
        assert!(matches!(rig.any(path), Err(PathError::Ambiguous { .. })), "{path}");
    }
}
