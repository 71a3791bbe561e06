//! What became different between two looks at the same trees.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::scan::{Scan, Seen};
use crate::file::{FileId, FileKind};

/// One difference.
#[derive(Debug)]
pub(super) struct Difference<'s> {
    pub(super) root: usize,
    /// Where, as paths are once the differences before this one are there.
    pub(super) path: PathBuf,
    /// Where the same thing stood before any of them.
    pub(super) old: PathBuf,
    /// From where it moved, where it did, as paths are by then.
    pub(super) from: Option<PathBuf>,
    /// What stood there, or where it moved from.
    pub(super) was: Option<&'s Seen>,
    /// What stands there.
    pub(super) is: Option<&'s Seen>,
}

/// A directory that moved.
struct Move {
    root: usize,
    from: PathBuf,
    to: PathBuf,
}

/// What is gone, and whether it turned up elsewhere.
struct Gone<'s> {
    root: usize,
    path: &'s Path,
    was: &'s Seen,
    has_moved: bool,
}

/// Tells two looks apart, in an order in which the changes could have been made one after another: what is new or moved
/// from the root down, what was written to, what is gone from the leaves up.
pub(super) fn differences<'s>(before: &'s Scan, after: &'s Scan) -> Vec<Difference<'s>> {
    let seen = |scan: &'s Scan, root: usize, path: &OsStr| scan.seen.get(&root)?.get(path);
    let mut gone: Vec<Gone<'s>> = each(before)
        .filter(|(root, path, _)| seen(after, *root, path).is_none())
        .map(|(root, path, was)| Gone { root, path: Path::new(path), was, has_moved: false })
        .collect();
    let mut by_id: HashMap<FileId, Option<usize>> = HashMap::new();
    let mut by_path: HashMap<(usize, &Path), usize> = HashMap::new();
    for (index, it) in gone.iter().enumerate() {
        // Of several names of one file nobody can say which moved.
        by_id.entry(it.was.id).and_modify(|it| *it = None).or_insert(Some(index));
        by_path.insert((it.root, it.path), index);
    }

    let mut moves: Vec<Move> = Vec::new();
    let (mut made, mut written, mut turned) = (Vec::new(), Vec::new(), Vec::new());
    for (root, path, is) in each(after) {
        let was = seen(before, root, path);
        if was.is_some_and(|was| is.is_still(was)) {
            continue;
        }
        let path = Path::new(path);
        let here = |was, is| Difference {
            root,
            path: path.to_owned(),
            old: path.to_owned(),
            from: None,
            was,
            is: Some(is),
        };
        if let Some(was) = was {
            match (was.kind, is.kind) {
                (_, FileKind::Directory) if was.kind != is.kind => made.push(here(Some(was), is)),
                (FileKind::Directory, _) => turned.push(here(Some(was), is)),
                _ => written.push(here(Some(was), is)),
            }
            continue;
        }
        let moved = by_id.get(&is.id).copied().flatten();
        let moved = moved.and_then(|index| gone.get_mut(index));
        if let Some(it) = moved.filter(|it| it.root == root && is.is_moved(it.was)) {
            it.has_moved = true;
            let from = as_moved(&moves, root, it.path);
            // What lies in a directory that moved went with it.
            if from != path {
                let old = it.path.to_owned();
                if is.kind == FileKind::Directory {
                    moves.push(Move { root, from: old.clone(), to: path.to_owned() });
                }
                made.push(Difference { from: Some(from), old, ..here(Some(it.was), is) });
            }
            continue;
        }
        // Written to where its directory had moved.
        let old = moves.iter().rev().find_map(|it| {
            let rest = path.strip_prefix(&it.to).ok().filter(|_| it.root == root)?;
            Some(it.from.join(rest))
        });
        let index = old.as_ref().and_then(|old| by_path.get(&(root, old.as_path())).copied());
        match (old, index.and_then(|index| gone.get_mut(index))) {
            (Some(old), Some(it)) => {
                it.has_moved = true;
                written.push(Difference { old, ..here(Some(it.was), is) });
            }
            _ => made.push(here(None, is)),
        }
    }
    let deleted = gone.iter().rev().filter(|it| !it.has_moved).map(|it| Difference {
        root: it.root,
        path: as_moved(&moves, it.root, it.path),
        old: it.path.to_owned(),
        from: None,
        was: Some(it.was),
        is: None,
    });
    made.into_iter().chain(written).chain(deleted).chain(turned).collect()
}

/// Returns everything a look saw: what is in a directory after it.
fn each(scan: &Scan) -> impl Iterator<Item = (usize, &OsStr, &Seen)> {
    scan.seen.iter().flat_map(|(root, seen)| {
        seen.iter().map(move |(path, seen)| (*root, path.as_os_str(), seen))
    })
}

/// Returns what a path reads like once directories have moved.
fn as_moved(moves: &[Move], root: usize, path: &Path) -> PathBuf {
    let deepest = moves
        .iter()
        .filter(|it| it.root == root && path.starts_with(&it.from))
        .max_by_key(|it| it.from.as_os_str().len());
    match deepest {
        Some(it) => {
            path.strip_prefix(&it.from).map_or_else(|_| path.to_owned(), |rest| it.to.join(rest))
        }
        None => path.to_owned(),
    }
}
