//! What a call may meet on its way through a tree.

use haft_policy::{PathFilter, Policy, Preset};
use haft_protocol::{Access, Capability, LogicalPath};

use crate::call::{Call, rule};

fn search(path: &str) -> Call {
    Call::new("builtin/search", &[Capability::ReadFiles]).on(path, Access::Read)
}

fn filter(call: &Call, rules: &[&str], yes: bool) -> PathFilter {
    let rules = rules.iter().map(|text| rule(text)).collect();
    call.under(&Policy::new(Preset::Edit, rules, yes).unwrap()).filter().clone()
}

fn seen(filter: &PathFilter, paths: &[&str]) -> Vec<bool> {
    paths.iter().map(|path| filter.sees(&LogicalPath::new(*path))).collect()
}

#[test]
fn denied_and_asked_paths_are_hidden_from_a_walk() {
    let filter = filter(&search("."), &["deny * on secrets/**", "ask search on **/.env"], false);
    let paths = ["src/a", "secrets", "secrets/a", ".env", "a/.env", "a/.env.example"];
    assert_eq!(seen(&filter, &paths), [true, false, false, false, false, true]);
    assert!(!filter.is_open());
}

#[test]
fn rules_about_other_tools_hide_nothing() {
    let filter = filter(&search("."), &["deny edit on src/**", "deny * on b that execute"], false);
    assert!(filter.is_open());
    assert_eq!(seen(&filter, &["src/a", "b"]), [true, true]);
}

#[test]
fn writing_may_be_denied_where_looking_is_not() {
    let filter = filter(&search("."), &["deny * on gen/** to write"], false);
    let path = LogicalPath::new("gen/a");
    assert!(filter.sees(&path));
    assert!(!filter.admits(&path, Access::Write));
    assert!(!filter.admits(&LogicalPath::new("."), Access::WriteTree));
}

#[test]
fn answered_question_opens_what_it_was_asked_about() {
    let rules = ["ask * on secrets/**", "deny * on secrets/root/**"];
    let filter = filter(&search("secrets/team"), &rules, false);
    let paths = ["secrets/team", "secrets/team/a", "secrets/other", "secrets/root/a"];
    assert_eq!(seen(&filter, &paths), [true, true, false, false]);
}

#[test]
fn yes_opens_what_would_be_asked() {
    let filter = filter(&search("."), &["ask * on a", "deny * on b"], true);
    assert_eq!(seen(&filter, &["a", "b"]), [true, false]);
}

#[test]
fn question_about_writing_as_such_leaves_the_walk_open() {
    let call = Call::new("x/format", &[Capability::ReadFiles, Capability::WriteFiles])
        .on(".", Access::Read);
    let filter = filter(&call, &["ask * to write"], false);
    assert!(filter.admits(&LogicalPath::new("a"), Access::Write));
}

#[test]
fn unresolved_path_is_hidden() {
    assert!(!PathFilter::open().sees(&LogicalPath::new("a/../b")));
    assert!(PathFilter::open().sees(&LogicalPath::new("a/b")));
    assert!(PathFilter::open().is_open());
}
