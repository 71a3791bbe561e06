//! The directories that haft itself lives in, known by what they are and not by what they are called.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use haft_protocol::limits;

use super::Protected;
use crate::file::FileId;

/// One directory that no tool gets at, by the path it is used under.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) path: PathBuf,
    pub(super) why: &'static str,
}

/// How the ways to such directories stand at one moment: the system is asked anew, for directories come to be.
#[derive(Debug, Default)]
pub(crate) struct OwnPlaces {
    ways: Vec<Way>,
}

/// The way to one directory.
#[derive(Debug)]
struct Way {
    why: &'static str,
    /// Every directory it leads through. Whoever may change anything in one of them may lead it elsewhere.
    through: HashSet<FileId>,
    /// The links it leads through: the directory they stand in, and their name.
    links: Vec<(FileId, OsString)>,
    /// The directory itself, or the last one on the way that is there.
    last: Option<FileId>,
    /// The names that are missing after it.
    missing: Vec<OsString>,
}

impl OwnPlaces {
    pub(super) fn now(own: &[Own]) -> Self {
        Self { ways: own.iter().map(Way::now).collect() }
    }

    /// Tells whether a directory is one of them.
    pub(crate) fn is(&self, id: FileId) -> Option<&'static str> {
        let is_it = |way: &&Way| way.missing.is_empty() && way.last == Some(id);
        self.ways.iter().find(is_it).map(|way| way.why)
    }

    /// Tells whether names that are missing in a directory would come to be one of them, lie in it or lead to it.
    pub(crate) fn would_be(&self, directory: FileId, names: &[OsString]) -> Option<&'static str> {
        let is_it = |way: &&Way| {
            let is_same =
                |(one, two): (&OsString, &OsString)| one.eq_ignore_ascii_case(two.as_os_str());
            way.last == Some(directory)
                && !way.missing.is_empty()
                && way.missing.iter().zip(names).all(is_same)
        };
        self.ways.iter().find(is_it).map(|way| way.why)
    }

    /// Tells whether a name in a directory is a link on the way to one of them.
    pub(crate) fn leads_there(&self, directory: FileId, name: &OsStr) -> Option<&'static str> {
        let is_it = |way: &&Way| {
            way.links.iter().any(|(id, link)| *id == directory && link.eq_ignore_ascii_case(name))
        };
        self.ways.iter().find(is_it).map(|way| way.why)
    }

    /// Tells whether the way to one of them leads through a directory, so that a program there could change it.
    pub(crate) fn lies_within(&self, directory: FileId) -> Option<&'static str> {
        self.ways.iter().find(|way| way.through.contains(&directory)).map(|way| way.why)
    }
}

impl Way {
    fn now(own: &Own) -> Self {
        let mut way = Self {
            why: own.why,
            through: HashSet::new(),
            links: Vec::new(),
            last: None,
            missing: Vec::new(),
        };
        let mut at = PathBuf::from("/");
        let mut hops = 0;
        let mut steps = steps_of(&own.path);
        way.last = way.pass(&at);
        while let Some(name) = steps.pop_front() {
            if name == ".." {
                at.pop();
                way.last = way.pass(&at);
                continue;
            }
            let next = at.join(&name);
            match fs::symlink_metadata(&next) {
                Ok(it) if it.is_symlink() && hops < limits::LINK_HOPS => {
                    hops += 1;
                    way.links.extend(way.last.map(|last| (last, name)));
                    let target = fs::read_link(&next).unwrap_or_default();
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                        way.last = way.pass(&at);
                    }
                    let rest = std::mem::replace(&mut steps, steps_of(&target));
                    steps.extend(rest);
                }
                Ok(_) => {
                    at = next;
                    way.last = way.pass(&at);
                }
                Err(_) => {
                    way.missing = std::iter::once(name).chain(steps).collect();
                    break;
                }
            }
        }
        way
    }

    fn pass(&mut self, at: &Path) -> Option<FileId> {
        let it = fs::symlink_metadata(at).ok()?;
        let id = FileId { device: it.dev(), inode: it.ino() };
        self.through.insert(id);
        Some(id)
    }
}

fn steps_of(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

/// Says of a name that it is, or leads to, a directory that haft lives in.
pub(crate) fn protected(name: &OsStr, why: &'static str) -> Protected {
    Protected { name: crate::name::shown(name).into_owned(), why }
}
