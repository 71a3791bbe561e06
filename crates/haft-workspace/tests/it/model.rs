//! Resolving compared with a resolver that knows nothing of files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use haft_workspace::{FileKind, PathError, Protection, Want, Workspace, WorkspaceConfig};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Node {
    File,
    Link(String),
    Directory(BTreeMap<String, Node>),
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    At(String, FileKind),
    Outside,
    NotFound,
    NotADirectory,
    TooManyLinks,
}

/// Follows a path in a tree in memory, in the plainest way there is.
fn follow(tree: &Node, text: &str) -> End {
    let mut here: Vec<String> = Vec::new();
    let mut steps: Vec<String> = text.split('/').rev().map(ToOwned::to_owned).collect();
    let mut must_be_directory = text.ends_with('/') || text.ends_with("/.");
    let mut hops = 0;
    while let Some(step) = steps.pop() {
        match step.as_str() {
            "" | "." => {}
            ".." => {
                if here.pop().is_none() {
                    return End::Outside;
                }
            }
            name => {
                let Some(Node::Directory(directory)) = at(tree, &here) else { unreachable!() };
                let is_last = steps.iter().all(|step| matches!(step.as_str(), "" | "."));
                match directory.get(name) {
                    None => return End::NotFound,
                    Some(Node::Directory(_)) => here.push(name.to_owned()),
                    Some(Node::File) if is_last && !must_be_directory => {
                        here.push(name.to_owned());
                        return End::At(here.join("/"), FileKind::File);
                    }
                    Some(Node::File) => return End::NotADirectory,
                    Some(Node::Link(target)) => {
                        hops += 1;
                        if hops > 40 {
                            return End::TooManyLinks;
                        }
                        must_be_directory |=
                            is_last && (target.ends_with('/') || target.ends_with("/."));
                        steps.extend(target.split('/').rev().map(ToOwned::to_owned));
                    }
                }
            }
        }
    }
    let path = if here.is_empty() { ".".to_owned() } else { here.join("/") };
    End::At(path, FileKind::Directory)
}

fn at<'a>(tree: &'a Node, path: &[String]) -> Option<&'a Node> {
    path.iter().try_fold(tree, |node, name| match node {
        Node::Directory(directory) => directory.get(name),
        _ => None,
    })
}

fn build(node: &Node, path: &Path) {
    match node {
        Node::File => fs::write(path, "").unwrap(),
        Node::Link(target) => symlink(target, path).unwrap(),
        Node::Directory(directory) => {
            fs::create_dir(path).unwrap();
            for (name, node) in directory {
                build(node, &path.join(name));
            }
        }
    }
}

/// Few names, so that paths and links meet what is there.
fn path() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        6 => "[abc]".prop_map(|name| name),
        2 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(String::new()),
    ];
    prop::collection::vec(step, 1..7)
        .prop_map(|steps| steps.join("/"))
        .prop_filter("relative and not empty", |text| !text.is_empty() && !text.starts_with('/'))
}

fn tree() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![1 => Just(Node::File), 2 => path().prop_map(Node::Link)];
    let directory = |inner: BoxedStrategy<Node>| {
        prop::collection::btree_map("[abc]", inner, 0..4).prop_map(Node::Directory)
    };
    let node = leaf.prop_recursive(4, 32, 4, move |inner| directory(inner.boxed()).boxed());
    directory(node.boxed())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn resolving_agrees_with_the_model(tree in tree(), paths in prop::collection::vec(path(), 24)) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        build(&tree, &root);
        let config = WorkspaceConfig { roots: vec![root], protection: Protection::standard() };
        let workspace = Workspace::open(config).unwrap();
        for path in paths {
            let end = match workspace.resolve(&path, Want::Existing) {
                Ok(place) => End::At(place.logical().to_string(), place.kind().unwrap()),
                Err(PathError::Outside { .. }) => End::Outside,
                Err(PathError::NotFound { .. }) => End::NotFound,
                Err(PathError::NotADirectory { .. }) => End::NotADirectory,
                Err(PathError::TooManyLinks { .. }) => End::TooManyLinks,
                Err(error) => panic!("{path}: {error}"),
            };
            prop_assert_eq!(end, follow(&tree, &path), "{}", path);
        }
    }
}
