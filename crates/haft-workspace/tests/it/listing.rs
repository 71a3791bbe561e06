//! Listings.

use std::num::NonZeroUsize;

use haft_protocol::{Count, LogicalPath};
use haft_workspace::{FileKind, LinkTarget, ListOptions, PathError};

use crate::rig::Rig;

fn paths(listing: &haft_workspace::Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.relative.as_str()).collect()
}

#[test]
fn entries_come_in_order_each_directory_before_what_is_in_it() {
    let rig = Rig::new();
    for path in ["b/x", "a.txt", "a/z", "a-b", "B", ".hidden", "a/a/a"] {
        rig.file(path, "12345");
    }
    let tree = rig.list(".", &ListOptions::tree());
    assert_eq!(
        paths(&tree),
        [".hidden", "B", "a", "a/a", "a/a/a", "a/z", "a-b", "a.txt", "b", "b/x"]
    );
    assert_eq!(tree.total, Count::Exact(10));
    assert!(!tree.is_cut());
    let children = rig.list(".", &ListOptions::children());
    assert_eq!(paths(&children), [".hidden", "B", "a", "a-b", "a.txt", "b"]);
    assert_eq!(children.entries[1].len, Some(5));
    assert_eq!(children.entries[2].len, None);
    assert!(children.entries[1].modified.is_some());
    let within = rig.list("a", &ListOptions::children());
    assert_eq!(within.entries[0].path, LogicalPath::new("a/a"));
    assert_eq!(within.entries[0].relative, "a");
    let directories = ListOptions { kind: Some(FileKind::Directory), ..ListOptions::tree() };
    assert_eq!(paths(&rig.list(".", &directories)), ["a", "a/a", "b"]);
}

#[test]
fn the_first_entries_are_kept_and_all_are_counted() {
    let rig = Rig::new();
    for number in 0..500 {
        rig.file(&format!("d{}/f{number:03}", number % 7), "");
    }
    let most = NonZeroUsize::new(3).unwrap();
    let place = rig.existing(".").unwrap();
    for _ in 0..10 {
        let listing = rig.view().list(&place, &ListOptions::tree(), most, &|| false).unwrap();
        assert_eq!(paths(&listing), ["d0", "d0/f000", "d0/f007"]);
        assert_eq!(listing.total, Count::Exact(507));
        assert!(listing.is_cut());
    }
    let called_off = rig.view().list(&place, &ListOptions::tree(), most, &|| true).unwrap();
    assert_eq!(called_off.total, Count::AtLeast(0));
}

#[test]
fn links_are_shown_with_where_they_lead() {
    let rig = Rig::new();
    rig.file("real/a.txt", "");
    rig.link("1-file", "real/a.txt")
        .link("2-dir", "real")
        .link("3-gone", "nothing")
        .link("4-out", rig.out("secret.txt"))
        .link("5-circle", "5-circle")
        .link("6-chain", "1-file");
    let listing = rig.list(".", &ListOptions::children());
    let place = |path: &str, kind| Some(LinkTarget::Place { path: LogicalPath::new(path), kind });
    let targets: Vec<_> = listing.entries.iter().map(|entry| entry.target.clone()).collect();
    assert_eq!(
        targets,
        [
            place("real/a.txt", FileKind::File),
            place("real", FileKind::Directory),
            Some(LinkTarget::Nowhere),
            Some(LinkTarget::OutOfReach),
            Some(LinkTarget::Nowhere),
            place("real/a.txt", FileKind::File),
            None,
        ]
    );
    assert!(listing.entries.iter().take(6).all(|entry| entry.kind == FileKind::Link));
}

#[test]
fn only_directories_are_listed() {
    let rig = Rig::new();
    rig.file("a.txt", "");
    let place = rig.existing("a.txt").unwrap();
    let most = NonZeroUsize::MIN;
    let error = rig.view().list(&place, &ListOptions::children(), most, &|| false).unwrap_err();
    assert!(matches!(error, PathError::NotADirectory { .. }));
    insta::assert_snapshot!(haft_protocol::Failure::from(error), @r"
    `a.txt` is a regular file, not a directory
    hint: read it, or name the directory it is in
    ");
}
