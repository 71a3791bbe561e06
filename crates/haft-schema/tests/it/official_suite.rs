//! The official JSON Schema test suite, through the same admission and checking as every contract.
//!
//! `cargo xtask testbeds` puts the suite beneath the workspace root. Without it the tests say so and pass.

mod refused;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use haft_schema::SchemaError;
use haft_schema::suite::Schema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Value,
    valid: bool,
}

/// The drafts, by folder, with the dialect that their schemas mean when they name none.
const DRAFTS: &[(&str, &str)] = &[
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// Why a group does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// A reference leaves the document; nothing is ever fetched.
    OutsideReference,
    /// A sub-schema has an identifier that references are relative to.
    NestedIdentifier,
    /// The dialect is one of the suite's own.
    OtherDialect,
    /// Draft-07 leaves open whether encoded content is checked; draft 2020-12 says that it is not.
    ContentDescribes,
}

impl Reason {
    fn explains(self, fault: &Fault) -> bool {
        match (self, fault) {
            (Self::OutsideReference, Fault::Refused(error)) => error.code() == "external_reference",
            (Self::NestedIdentifier, Fault::Refused(error)) => error.code() == "nested_identifier",
            (Self::OtherDialect, Fault::Refused(error)) => error.code() == "unsupported_dialect",
            (Self::ContentDescribes, Fault::Wrong { accepted, .. }) => *accepted,
            _ => false,
        }
    }
}

/// What is wrong with a group.
#[derive(Debug)]
enum Fault {
    Refused(SchemaError),
    Wrong {
        #[expect(dead_code, reason = "shown when a test fails")]
        case: String,
        accepted: bool,
    },
}

fn fault(group: &Group) -> Option<Fault> {
    let schema = match Schema::admit(group.schema.clone()) {
        Ok(schema) => schema,
        Err(error) => return Some(Fault::Refused(error)),
    };
    let wrong = group.tests.iter().find(|case| {
        schema.accepts(&case.data) != case.valid || !schema.is_plainly_right(&case.data)
    })?;
    Some(Fault::Wrong { case: wrong.description.clone(), accepted: !wrong.valid })
}

/// Returns the files of a folder of the suite, or nothing when the suite is not there.
fn files(folder: &str) -> Vec<PathBuf> {
    let suite =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.testbeds/json-schema-suite/tests");
    let Ok(entries) = std::fs::read_dir(suite.join(folder)) else {
        println!("skipped: the suite is not at {}; run `cargo xtask testbeds`", suite.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "json"));
    files.sort();
    files
}

fn groups(file: &Path, dialect: &str) -> Vec<Group> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut groups: Vec<Group> = serde_json::from_str(&text).unwrap();
    for group in &mut groups {
        if let Value::Object(schema) = &mut group.schema {
            schema.entry("$schema").or_insert_with(|| json!(dialect));
        }
    }
    groups
}

/// Returns why a group is listed as refused.
fn reason(draft: &str, file: &str, group: &str) -> Option<Reason> {
    let mut lists = refused::REFUSED.iter();
    let list =
        lists.find(|(d, f, _, groups)| *d == draft && *f == file && groups.contains(&group))?;
    Some(list.2)
}

#[test]
fn every_group_passes_or_is_refused_by_design() {
    let mut faults = Vec::new();
    let mut refused = BTreeSet::new();
    let mut passed = 0;
    for (draft, dialect) in DRAFTS {
        for file in [files(draft), files(&format!("{draft}/optional"))].concat() {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            for group in groups(&file, dialect) {
                match (fault(&group), reason(draft, &name, &group.description)) {
                    (None, None) => passed += 1,
                    (Some(fault), Some(reason)) if reason.explains(&fault) => {
                        refused.insert((*draft, name.clone(), group.description));
                    }
                    (fault, reason) => faults.push(format!(
                        "{draft}/{name}, {}: {fault:?}, listed as {reason:?}",
                        group.description
                    )),
                }
            }
        }
    }
    assert!(faults.is_empty(), "not as listed:\n{}", faults.join("\n"));
    println!("{passed} groups pass, {} are refused by design", refused.len());
    let listed: usize = refused::REFUSED.iter().map(|(.., groups)| groups.len()).sum();
    assert!(passed == 0 || (passed > 600 && refused.len() == listed), "groups are missing");
}

#[test]
fn formats_describe_and_never_refuse() {
    for (draft, dialect) in DRAFTS {
        for file in files(&format!("{draft}/optional/format")) {
            for group in groups(&file, dialect) {
                let Ok(schema) = Schema::admit(group.schema.clone()) else {
                    panic!("{}: {}", file.display(), group.description)
                };
                for case in &group.tests {
                    assert!(schema.accepts(&case.data), "{}: {}", file.display(), case.description);
                }
            }
        }
    }
}
