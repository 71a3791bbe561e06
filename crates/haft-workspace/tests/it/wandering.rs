//! Random changes and random undos, compared with a file system that is a table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use haft_protocol::CallId;
use haft_tool::ports::Effects as _;
use proptest::prelude::*;
use proptest::sample::select;

use crate::hand::Hands;

/// Files with what they hold, and directories.
type Tree = BTreeMap<String, Option<String>>;

#[derive(Debug, Clone)]
enum Act {
    Create(String, String),
    Write(String, String),
    Mkdir(String),
    Remove(String),
    Move(String, String),
    MoveOnto(String, String),
    /// What a program does, as often as tools do.
    Program(Box<Act>),
    /// Takes back the latest that was not taken back.
    Undo,
    /// Takes back some earlier one, then takes that back.
    UndoAndBack(usize),
}

fn path() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c", "a/x", "a/y", "b/x", "a/x/1", "b/x/1", "c/y/2"])
        .prop_map(ToOwned::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    select(vec!["", "one\n", "two\n", "one\ntwo\nthree\n", "one\n2\nthree\n"])
        .prop_map(ToOwned::to_owned)
}

fn change() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (path(), text()).prop_map(|(path, text)| Act::Create(path, text)),
        3 => (path(), text()).prop_map(|(path, text)| Act::Write(path, text)),
        1 => path().prop_map(Act::Mkdir),
        2 => path().prop_map(Act::Remove),
        2 => (path(), path()).prop_map(|(from, to)| Act::Move(from, to)),
        1 => (path(), path()).prop_map(|(from, to)| Act::MoveOnto(from, to)),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => change(),
        1 => change().prop_map(|act| Act::Program(Box::new(act))),
        3 => Just(Act::Undo),
        1 => any::<prop::sample::Index>().prop_map(|index| Act::UndoAndBack(index.index(1000))),
    ]
}

/// Makes the directories above a path; nothing, where a file is in the way.
fn with_above(tree: &Tree, path: &str) -> Option<Tree> {
    let mut tree = tree.clone();
    for (at, _) in path.match_indices('/') {
        let above = path.get(..at)?;
        match tree.get(above) {
            Some(Some(_)) => return None,
            Some(None) => {}
            None => drop(tree.insert(above.to_owned(), None)),
        }
    }
    Some(tree)
}

fn beneath<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    path.strip_prefix(directory).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Does something to the table, in the plainest way there is; nothing, where it cannot be done.
fn done(tree: &Tree, act: &Act) -> Option<Tree> {
    match act {
        Act::Create(path, text) => {
            let mut tree = with_above(tree, path).filter(|_| !tree.contains_key(path))?;
            tree.insert(path.clone(), Some(text.clone()));
            Some(tree)
        }
        Act::Write(path, text) => {
            let mut tree = tree.clone();
            tree.get_mut(path)?.as_mut()?.clone_from(text);
            Some(tree)
        }
        Act::Mkdir(path) => {
            let mut tree =
                with_above(tree, path).filter(|_| !matches!(tree.get(path), Some(Some(_))))?;
            tree.insert(path.clone(), None);
            Some(tree)
        }
        Act::Remove(path) => {
            let within = |it: &&String| beneath(it, path).is_some();
            let mut tree = Some(tree.clone()).filter(|it| it.keys().filter(within).count() == 1)?;
            tree.remove(path)?;
            Some(tree)
        }
        Act::Move(from, to) | Act::MoveOnto(from, to) => {
            let moved = tree.get(from)?;
            let replaces = matches!(act, Act::MoveOnto(..));
            let may_stand = match tree.get(to) {
                None => true,
                Some(there) => replaces && there.is_some() && moved.is_some() && from != to,
            };
            if !may_stand || beneath(to, from).is_some() {
                return None;
            }
            let mut after = with_above(tree, to)?;
            for (path, held) in tree {
                if let Some(rest) = beneath(path, from) {
                    after.remove(path);
                    after.insert(format!("{to}{rest}"), held.clone());
                }
            }
            Some(after)
        }
        Act::Program(_) | Act::Undo | Act::UndoAndBack(_) => None,
    }
}

/// Reads the table off the disk.
fn read(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                tree.insert(name, None);
                folders.push(path);
            } else {
                tree.insert(name, Some(fs::read_to_string(path).unwrap()));
            }
        }
    }
    tree
}

fn by_tool(hands: &Hands, act: &Act) -> String {
    match act {
        Act::Create(path, text) => hands.create(path, text),
        Act::Write(path, text) => hands.write(path, text),
        Act::Mkdir(path) => hands.mkdir(path),
        Act::Remove(path) => hands.remove(path),
        Act::Move(from, to) => hands.rename(from, to),
        Act::MoveOnto(from, to) => hands.rename_onto(from, to),
        Act::Program(_) | Act::Undo | Act::UndoAndBack(_) => unreachable!(),
    }
}

/// What a shell would be told to do the same, where it can be done.
fn script(act: &Act) -> String {
    let above = |path: &str| Path::new(path).parent().unwrap().to_str().unwrap().to_owned();
    match act {
        Act::Create(path, text) => format!("mkdir -p ./{}; printf '{text}' > {path}", above(path)),
        Act::Write(path, text) => format!("printf '{text}' > {path}"),
        Act::Mkdir(path) => format!("mkdir -p {path}"),
        Act::Remove(path) => format!("if [ -d {path} ]; then rmdir {path}; else rm {path}; fi"),
        Act::Move(from, to) | Act::MoveOnto(from, to) => {
            format!("mkdir -p ./{}; mv -T {from} {to}", above(to))
        }
        Act::Program(_) | Act::Undo | Act::UndoAndBack(_) => unreachable!(),
    }
}

/// Tells whether a directory was not moved back because it came to be after the move. One that an undo made again cannot
/// be told from one that somebody else made.
fn is_reborn(told: &str) -> bool {
    told.contains("another directory stands there now")
}

/// A call that changed something, and how things stood before it.
struct Done {
    call: CallId,
    before: Tree,
}

fn wander(acts: Vec<Act>) {
    let hands = Hands::in_memory();
    let folder = hands.rig.ws("");
    let mut tree = Tree::new();
    let mut stack: Vec<Done> = Vec::new();
    for act in acts {
        let records = hands.effects.records().len();
        let before = tree.clone();
        match &act {
            Act::Undo => {
                let Some(last) = stack.pop() else { continue };
                let told = hands.undo(last.call);
                // What no tool had touched before a program came by is lost, and that is said.
                if told.contains("stays") {
                    assert!(told.contains("cannot be brought back") || is_reborn(&told), "{told}");
                    stack.clear();
                    tree = read(&folder);
                } else {
                    tree = last.before;
                }
            }
            Act::UndoAndBack(index) => {
                let Some(some) = stack.get(index % stack.len().max(1)) else { continue };
                hands.undo(some.call);
                if hands.effects.records().len() > records {
                    let told = hands.undo_latest();
                    if told.contains("stays") {
                        assert!(is_reborn(&told), "{told}");
                        stack.clear();
                        tree = read(&folder);
                    }
                }
            }
            Act::Program(act) => {
                let Some(after) = done(&tree, act) else { continue };
                hands.run(&script(act));
                tree = after;
            }
            act => {
                let told = by_tool(&hands, act);
                match done(&tree, act) {
                    Some(after) => {
                        assert!(!told.starts_with("failed"), "{act:?}: {told}");
                        tree = after;
                    }
                    None => assert!(told.starts_with("failed"), "{act:?}: {told}"),
                }
            }
        }
        assert_eq!(read(&folder), tree, "after {act:?}");
        let is_undo = matches!(act, Act::Undo | Act::UndoAndBack(_));
        if !is_undo && hands.effects.records().len() > records {
            stack.push(Done { call: hands.latest(), before });
        }
    }
    assert!(hands.effects.cut_short().unwrap().is_empty());
    assert_eq!(hands.leftovers(), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_changes_and_undos_leave_what_a_table_of_files_would(acts in prop::collection::vec(act(), 1..120)) {
        wander(acts);
    }
}
