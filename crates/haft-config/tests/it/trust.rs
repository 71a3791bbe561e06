//! The list of trusted projects.

use std::path::Path;

use haft_config::{PROJECT_FILE, Trust};
use haft_protocol::Digest;

use crate::files::{Files, TRUST};

fn digest(text: &str) -> Digest {
    Digest::of_bytes(text)
}

#[test]
fn trust_goes_by_project_file_and_bytes() {
    let mut trust = Trust::default();
    trust.add(Path::new("/a"), PROJECT_FILE, digest("1")).unwrap();
    assert!(trust.is_trusted(Path::new("/a"), PROJECT_FILE, &digest("1")));
    assert!(!trust.is_trusted(Path::new("/a"), PROJECT_FILE, &digest("2")));
    assert!(!trust.is_trusted(Path::new("/a"), ".haft/tools/x.yaml", &digest("1")));
    assert!(!trust.is_trusted(Path::new("/a/b"), PROJECT_FILE, &digest("1")));
    assert!(!trust.is_trusted(Path::new("a"), PROJECT_FILE, &digest("1")));

    trust.add(Path::new("/a"), PROJECT_FILE, digest("2")).unwrap();
    assert!(!trust.is_trusted(Path::new("/a"), PROJECT_FILE, &digest("1")));
    assert!(trust.remove(Path::new("/a")));
    assert!(!trust.remove(Path::new("/a")));
    assert_eq!(trust, Trust::default());
}

#[test]
fn stored_form_is_plain_and_reads_back_the_same() {
    let mut trust = Trust::default();
    trust.add(Path::new("/home/me/b"), PROJECT_FILE, digest("1")).unwrap();
    trust.add(Path::new("/home/me/a"), PROJECT_FILE, digest("2")).unwrap();
    let bytes = trust.to_bytes();
    insta::assert_snapshot!(String::from_utf8_lossy(&bytes), @r#"
    {
      "version": 1,
      "projects": {
        "/home/me/a": {
          ".haft/config.toml": "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
        },
        "/home/me/b": {
          ".haft/config.toml": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
        }
      }
    }
    "#);
    assert_eq!(Trust::read(&bytes).unwrap(), trust);
    assert_eq!(Trust::read(b"").unwrap(), Trust::default());
    let files: Vec<_> = trust.files().map(|(project, file, _)| project.join(file)).collect();
    let expected = ["/home/me/a/.haft/config.toml", "/home/me/b/.haft/config.toml"];
    assert_eq!(files, expected.map(std::path::PathBuf::from));
}

#[test]
fn list_that_cannot_be_read_stops_everything() {
    let error = |text: &str| Files::project("").with(TRUST, text).error();
    insta::assert_snapshot!(error("{"), @"cannot use /u/haft/trust.json: repair or remove it, for it is not a list of trusted projects: EOF while parsing an object at line 1 column 1");
    insta::assert_snapshot!(error(r#"{"version":2,"projects":{"/a":{"f":"new"}},"more":1}"#), @"cannot use /u/haft/trust.json: this list of trusted projects has form 2, and this haft knows 1");
    insta::assert_snapshot!(error(r#"{"version":1,"projects":{},"more":1}"#), @"cannot use /u/haft/trust.json: repair or remove it, for it is not a list of trusted projects: unknown field `more`, expected `version` or `projects` at line 1 column 33");
    insta::assert_snapshot!(error(r#"{"version":1,"projects":{"/a":{"x":"abc"}}}"#), @"cannot use /u/haft/trust.json: repair or remove it, for it is not a list of trusted projects: `abc` is not a digest: expected 64 hexadecimal digits at line 1 column 41");
    insta::assert_snapshot!(error("locked"), @"cannot read /u/haft/trust.json: permission denied");
}

#[test]
fn path_that_cannot_be_kept_is_not_trusted() {
    let add = |path: &str| Trust::default().add(Path::new(path), PROJECT_FILE, digest(""));
    insta::assert_snapshot!(add("here").unwrap_err(), @"`here` cannot be trusted: expected a full path of UTF-8 text");
}
