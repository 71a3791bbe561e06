//! What has to be true of every text that is resolved as a path of the workspace.
//!
//! The fuzz target runs this on inputs it invents, an ordinary test on those that were kept.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::symlink;

use haft_workspace::{Protection, View, Want, Workspace, WorkspaceConfig};
use tempfile::TempDir;

/// What stands in every file that must not be read.
const SECRET: &str = "nobody may read this";

/// How long a message may be beyond twice the path it is about.
const MESSAGE_BYTES: usize = 4 * 1024;

/// Resolves each line as a path, and reads what it leads to.
pub(crate) fn check(input: &[u8]) {
    let folder = laid_out().unwrap();
    let workspace = Workspace::open(WorkspaceConfig {
        roots: vec![folder.path().join("inside")],
        protection: Protection::standard(),
    })
    .unwrap();
    let view = View::unfiltered(workspace.clone());

    for line in String::from_utf8_lossy(input).lines().take(20) {
        for want in [Want::Existing, Want::Any] {
            match workspace.resolve(line, want) {
                Ok(place) => {
                    let logical = place.logical().to_string();
                    assert!(logical.split('/').all(|part| part != ".."), "{line:?}: {logical}");
                    let mut text = String::new();
                    if let Ok(file) = view.open(&place) {
                        let _ = file.take(1024).read_to_string(&mut text);
                    }
                    assert!(!text.contains(SECRET), "{line:?} leads to what is kept");
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(!text.contains(char::is_control), "{line:?}: {text:?}");
                    assert!(text.len() < 2 * line.len() + MESSAGE_BYTES, "{line:?}: {text:?}");
                }
            }
        }
    }
}

/// Lays out a root with links of all kinds, and files beside it that it must not lead to.
fn laid_out() -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let at = |path: &str| folder.path().join(path);
    for path in ["inside/a/b", "inside/keys", "inside-out", "outside"] {
        fs::create_dir_all(at(path))?;
    }
    for path in ["inside/a/b/c.txt", "inside/one two.txt", "inside/caf\u{e9}.txt"] {
        fs::write(at(path), "anybody may read this")?;
    }
    for path in ["inside/.env", "inside/keys/id_rsa", "inside-out/x", "outside/secret"] {
        fs::write(at(path), SECRET)?;
    }
    for (link, target) in [
        ("inside/in", "a/b"),
        ("inside/out", "../outside"),
        ("inside/leak", "../outside/secret"),
        ("inside/round", "round"),
        ("inside/env", ".env"),
        ("inside/dangling", "../outside/none"),
        ("inside/a/up", ".."),
    ] {
        symlink(target, at(link))?;
    }
    symlink(at("outside"), at("inside/far"))?;
    Ok(folder)
}
