//! Listings.

use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime};

use haft_protocol::{Count, LogicalPath};
use haft_workspace::{FileKind, LinkTarget, ListOptions, ListOrder};

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
    let place = rig.existing(".").unwrap();
    let directories = rig
        .view()
        .list(&place, &ListOptions::tree(), &|| false, |found| found.kind() == FileKind::Directory)
        .unwrap();
    assert_eq!(paths(&directories), ["a", "a/a", "b"]);
    assert_eq!(directories.total, Count::Exact(3));
}

#[test]
fn the_largest_or_the_newest_come_first() {
    let rig = Rig::new();
    for (path, len, age) in [("a/b", 3, 30), ("c", 1, 10), ("d", 3, 20), ("e", 2, 40)] {
        rig.file(path, &"x".repeat(len));
        let file = std::fs::File::options().write(true).open(rig.ws(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - age)).unwrap();
    }
    let list = |order| rig.list(".", &ListOptions { order, ..ListOptions::tree() });
    assert_eq!(paths(&list(ListOrder::Largest)), ["a/b", "d", "e", "c", "a"]);
    assert_eq!(paths(&list(ListOrder::Newest)), ["a", "c", "d", "a/b", "e"]);
    let most = NonZeroUsize::new(2).unwrap();
    let first =
        rig.list(".", &ListOptions { order: ListOrder::Largest, most, ..ListOptions::tree() });
    assert_eq!(paths(&first), ["a/b", "d"]);
    assert_eq!(first.total, Count::Exact(5));
}

#[test]
fn the_first_entries_are_kept_and_all_are_counted() {
    let rig = Rig::new();
    for number in 0..500 {
        rig.file(&format!("d{}/f{number:03}", number % 7), "");
    }
    let options = ListOptions { most: NonZeroUsize::new(3).unwrap(), ..ListOptions::tree() };
    let place = rig.existing(".").unwrap();
    for _ in 0..10 {
        let listing = rig.list(".", &options);
        assert_eq!(paths(&listing), ["d0", "d0/f000", "d0/f007"]);
        assert_eq!(listing.total, Count::Exact(507));
        assert!(listing.is_cut());
    }
    let called_off = rig.view().list(&place, &options, &|| true, |_| true).unwrap();
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
fn a_file_is_listed_alone() {
    let rig = Rig::new();
    rig.file("a/b.txt", "");
    let listing = rig.list("a/b.txt", &ListOptions::tree());
    assert_eq!(paths(&listing), ["b.txt"]);
    assert_eq!(listing.entries[0].path, LogicalPath::new("a/b.txt"));
}

#[test]
fn directories_that_are_not_entered_are_counted() {
    let rig = Rig::new();
    rig.file("a/b/c", "").file("d/e", "").file("f", "");
    assert_eq!(rig.list(".", &ListOptions::children()).report.unentered, 2);
    assert_eq!(rig.list(".", &ListOptions::tree()).report.unentered, 0);
}
