//! Roots and the names they go by.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use haft_workspace::{
    ListOptions, Protection, View, Want, Workspace, WorkspaceConfig, WorkspaceError,
};

fn open(roots: Vec<PathBuf>) -> Result<Workspace, WorkspaceError> {
    Workspace::open(WorkspaceConfig { roots, protection: Protection::standard() })
}

/// A folder whose own path has no links in it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap();
    (folder, path)
}

fn logical(workspace: &Workspace, path: impl AsRef<std::path::Path>) -> String {
    let text = path.as_ref().to_str().unwrap();
    workspace.resolve(text, Want::Existing).unwrap().logical().to_string()
}

#[test]
fn o_042_a_root_behind_a_link_is_known_by_both_paths() {
    let (_guard, folder) = folder();
    fs::create_dir(folder.join("real")).unwrap();
    fs::write(folder.join("real/a.txt"), "").unwrap();
    symlink(folder.join("real"), folder.join("alias")).unwrap();
    let workspace = open(vec![folder.join("alias")]).unwrap();
    assert_eq!(logical(&workspace, folder.join("alias/a.txt")), "a.txt");
    assert_eq!(logical(&workspace, folder.join("real/a.txt")), "a.txt");
    assert_eq!(logical(&workspace, "a.txt"), "a.txt");
    assert_eq!(logical(&workspace, folder.join("alias")), ".");
    assert_eq!(logical(&workspace, folder.join("real/")), ".");
    // Both spellings lead into the root for links as well.
    symlink(folder.join("alias/a.txt"), folder.join("real/l")).unwrap();
    assert_eq!(logical(&workspace, "l"), "a.txt");
}

#[test]
fn further_roots_are_absolute_and_links_may_lead_into_them() {
    let (_guard, folder) = folder();
    for root in ["one", "two"] {
        fs::create_dir(folder.join(root)).unwrap();
        fs::write(folder.join(root).join("a.txt"), root).unwrap();
    }
    symlink(folder.join("two/a.txt"), folder.join("one/across")).unwrap();
    symlink("../two/a.txt", folder.join("one/climbs")).unwrap();
    let workspace = open(vec![folder.join("one"), folder.join("two")]).unwrap();
    let two = folder.join("two").display().to_string();
    assert_eq!(logical(&workspace, "a.txt"), "a.txt");
    assert_eq!(logical(&workspace, format!("{two}/a.txt")), format!("{two}/a.txt"));
    assert_eq!(logical(&workspace, &two), two);
    assert_eq!(logical(&workspace, "across"), format!("{two}/a.txt"));
    assert!(workspace.resolve("climbs", Want::Existing).is_err());
    assert!(workspace.resolve("../two/a.txt", Want::Existing).is_err());
    let place = workspace.resolve(&two, Want::Existing).unwrap();
    let view = View::unfiltered(workspace.clone());
    let listing = view.list(&place, &ListOptions::tree(), &|| false, |_| true).unwrap();
    assert_eq!(listing.entries[0].path.as_str(), format!("{two}/a.txt"));
    let roots: Vec<String> = workspace.roots().map(|root| root.to_string()).collect();
    assert_eq!(roots, [".".to_owned(), two]);
}

#[test]
fn a_root_within_another_is_part_of_it() {
    let (_guard, folder) = folder();
    fs::create_dir_all(folder.join("outer/inner")).unwrap();
    fs::write(folder.join("outer/inner/a.txt"), "").unwrap();
    symlink(folder.join("outer/inner"), folder.join("alias")).unwrap();
    let workspace = open(vec![
        folder.join("outer"),
        folder.join("alias"),
        folder.join("outer"),
        folder.join("outer/inner"),
    ])
    .unwrap();
    assert_eq!(workspace.roots().count(), 1);
    assert_eq!(logical(&workspace, folder.join("alias/a.txt")), "inner/a.txt");
    assert_eq!(logical(&workspace, folder.join("alias")), "inner");
    assert!(workspace.resolve(folder.join("alias/..").to_str().unwrap(), Want::Existing).is_ok());

    let error = open(vec![folder.join("outer/inner"), folder.join("outer")]).unwrap_err();
    assert!(matches!(error, WorkspaceError::FirstRootInside { .. }), "{error}");
}

#[test]
fn roots_that_cannot_be_are_named() {
    let (_guard, folder) = folder();
    fs::write(folder.join("file"), "").unwrap();
    assert!(matches!(open(vec![]), Err(WorkspaceError::NoRoots)));
    let missing = open(vec![folder.join("gone")]).unwrap_err();
    assert!(matches!(missing, WorkspaceError::RootMissing { .. }), "{missing}");
    let file = open(vec![folder.join("file")]).unwrap_err();
    assert!(matches!(file, WorkspaceError::RootNotADirectory { .. }), "{file}");
    let beneath_file = open(vec![folder.join("file/x")]).unwrap_err();
    assert!(matches!(beneath_file, WorkspaceError::RootNotADirectory { .. }), "{beneath_file}");
    #[cfg(target_os = "linux")]
    {
        let processes = open(vec!["/proc".into()]).unwrap_err();
        assert!(matches!(processes, WorkspaceError::RootOfProcesses { .. }), "{processes}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn processes_are_out_of_reach_beneath_the_root_of_all() {
    let workspace = open(vec!["/".into()]).unwrap();
    assert_eq!(logical(&workspace, "/"), ".");
    assert_eq!(logical(&workspace, "/etc/../etc"), "etc");
    for path in ["/proc/self/environ", "proc/self/root/etc/passwd", "/proc/1"] {
        let error = workspace.resolve(path, Want::Existing).unwrap_err();
        assert!(error.to_string().contains("shows processes"), "{error}");
    }
}
