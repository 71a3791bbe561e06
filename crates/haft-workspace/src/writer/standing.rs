//! What stands at a place right now.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use haft_protocol::{
    ChangeKind, ContentRef, Digest, Digester, FileState, Notice, NoticeKind, Timestamp, limits,
};
use rustix::io::Errno;

use super::deed::{Account, Deed, Planned, recorded};
use super::step::Step;
use super::{Writer, Written};
use crate::error::PathError;
use crate::file::{FileKind, Metadata};
use crate::resolved::Resolved;
use crate::sys::{Dir, set_mode};
use crate::trap_names::problem_of_new_name;
use crate::write_error::WriteError;

/// Mode of a new directory, before the user's mask takes bits away.
const NEW_DIRECTORY: u32 = 0o777;

/// A place as it is about to be changed: the deepest directory on the way to it that is there, and what is missing.
pub(super) struct Standing<'a> {
    pub(super) place: &'a Resolved,
    pub(super) dir: Arc<Dir>,
    /// The directory's path from its root.
    path: PathBuf,
    /// Directories that are missing between.
    to_make: Vec<OsString>,
    pub(super) leaf: &'a OsStr,
}

/// A directory that was there before, and is made again under its old name, whatever that is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Again {
    pub(crate) mode: u32,
    /// When the one that went was made.
    pub(crate) born: Option<Timestamp>,
}

/// A regular file that stands at a place, with its content kept.
pub(super) struct Existing {
    pub(super) file: File,
    pub(super) metadata: Metadata,
    pub(super) content: ContentRef,
}

impl Existing {
    pub(super) fn state(&self) -> FileState {
        FileState::File { content: Some(self.content), mode: self.metadata.mode }
    }

    /// Says why the file could not be brought back, where that is so.
    pub(super) fn not_restorable(&self, account: &Account) -> Option<String> {
        not_kept(&self.content, account)
    }

    /// Says what happens to the file's other names, where it has some.
    pub(super) fn other_names(&self, place: &Resolved) -> Option<Notice> {
        let others = self.metadata.links.checked_sub(1).filter(|others| *others > 0)?;
        let names = match others {
            1 => "another name, which keeps".to_owned(),
            others => format!("{others} other names, which keep"),
        };
        let text = format!("`{}` had {names} what stood there before", place.logical());
        Some(Notice::new(NoticeKind::Degraded, text))
    }
}

/// Says why content was not kept, where it was not.
pub(crate) fn not_kept(content: &ContentRef, account: &Account) -> Option<String> {
    if content.stored {
        None
    } else if account.effects.is_none() {
        Some("nothing is kept of what is changed".to_owned())
    } else {
        Some(format!("its {} bytes are more than is kept", content.bytes))
    }
}

impl Standing<'_> {
    pub(super) fn shown(&self) -> String {
        self.place.logical().to_string()
    }

    pub(super) fn failed(&self, error: Errno) -> WriteError {
        WriteError::of_system(self.shown(), error)
    }

    /// Tells what stands at the place, if anything does.
    pub(super) fn look(&self) -> Result<Option<Metadata>, WriteError> {
        if !self.to_make.is_empty() {
            return Ok(None);
        }
        match self.dir.look(self.leaf) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Refuses names that nothing new is given.
    pub(super) fn check_new_names(&self) -> Result<(), WriteError> {
        for name in self.to_make.iter().map(AsRef::as_ref).chain([self.leaf]) {
            if let Some(problem) = problem_of_new_name(name) {
                return Err(WriteError::Name { path: self.shown(), problem });
            }
        }
        Ok(())
    }

    /// Returns the directories that have to be made first, as changes.
    pub(super) fn planned_directories(&self, writer: &Writer) -> Result<Vec<Planned>, WriteError> {
        let missing = self.to_make.len();
        if missing > limits::NEW_DIRECTORIES {
            return Err(WriteError::TooDeep { path: self.shown(), missing });
        }
        let mut path = self.path.clone();
        let planned = self
            .to_make
            .iter()
            .map(|name| {
                path.push(name);
                let after = Some(FileState::Directory { mode: NEW_DIRECTORY });
                let logical = writer.view.logical(self.place.root, &path);
                let change = recorded(logical, ChangeKind::Created, None, after);
                Planned::new(self.place.root, change)
            })
            .collect();
        Ok(planned)
    }

    /// Counts the last name of the place among the directories to be made.
    pub(super) fn leaf_too(mut self) -> Self {
        self.to_make.push(self.leaf.to_owned());
        self
    }

    /// Makes the directories, which were planned as the first changes of the deed.
    ///
    /// Where not all can be made, those that were are removed again.
    pub(super) fn make_directories(&self, deed: &mut Deed<'_>) -> Result<Made, WriteError> {
        let mut made = Made { dir: Arc::clone(&self.dir), made: Vec::new() };
        for (number, name) in self.to_make.iter().enumerate() {
            match made_directory(&made.dir, name) {
                Ok((dir, metadata)) => {
                    let above = std::mem::replace(&mut made.dir, Arc::new(dir));
                    made.made.push((above, name.clone(), number));
                    deed.tell(Step::DirectoryMade);
                    if let Some((above, name, _)) = made.made.last() {
                        deed.born(number, || above.born_at(name));
                    }
                    deed.done(number, Some(FileState::Directory { mode: metadata.mode }));
                }
                Err(error) => {
                    (number..self.to_make.len()).for_each(|number| deed.not_done(number));
                    made.take_back(deed);
                    return Err(self.failed(error));
                }
            }
        }
        Ok(made)
    }
}

fn made_directory(dir: &Dir, name: &OsStr) -> Result<(Dir, Metadata), Errno> {
    dir.make_directory(name, NEW_DIRECTORY)?;
    let made = dir.child(name)?;
    let metadata = made.metadata()?;
    let _ = dir.sync();
    Ok((made, metadata))
}

impl Writer {
    /// Makes a directory, with those above it; again, where it was there before.
    pub(crate) fn make_directory(
        &self,
        place: &Resolved,
        again: Option<Again>,
    ) -> Result<Written, WriteError> {
        let standing = self.stand(place)?;
        match standing.look()?.map(|it| it.kind) {
            Some(FileKind::Directory) => return Ok(Written::default()),
            Some(kind) => return Err(WriteError::Exists { path: standing.shown(), kind }),
            None if again.is_some() => {}
            None => standing.check_new_names()?,
        }
        let standing = standing.leaf_too();
        let mut planned = standing.planned_directories(self)?;
        if let (Some(last), Some(again)) = (planned.last_mut(), again) {
            last.stands_for = again.born;
        }
        let mut deed = Deed::announce(&self.account, &self.view, planned)?;
        let made = standing.make_directories(&mut deed)?;
        if let Some(Again { mode, .. }) = again {
            let set = made.dir.readable().and_then(|dir| set_mode(&dir, mode));
            set.map_err(|error| standing.failed(error))?;
        }
        Ok(deed.written())
    }

    /// Makes a link where one was.
    pub(crate) fn make_link(&self, place: &Resolved, target: &str) -> Result<Written, WriteError> {
        let standing = self.stand(place)?;
        if let Some(there) = standing.look()? {
            return Err(WriteError::Exists { path: standing.shown(), kind: there.kind });
        }
        let after = FileState::Link { target: target.to_owned() };
        let path = place.logical().clone();
        let change = recorded(path, ChangeKind::Created, None, Some(after));
        let mut planned = standing.planned_directories(self)?;
        let number = planned.len();
        planned.push(Planned::new(place.root, change));
        let mut deed = Deed::announce(&self.account, &self.view, planned)?;
        let made = match standing.make_directories(&mut deed) {
            Ok(made) => made,
            Err(error) => {
                deed.not_done(number);
                return Err(error);
            }
        };
        if let Err(error) = made.dir.make_link(standing.leaf, target.as_ref()) {
            deed.not_done(number);
            made.take_back(&mut deed);
            return Err(standing.failed(error));
        }
        deed.tell(Step::Done);
        let _ = made.dir.sync();
        deed.tell(Step::Synced);
        deed.done(number, None);
        Ok(deed.written())
    }
}

/// Directories that were made on the way, and the last of them.
pub(super) struct Made {
    pub(super) dir: Arc<Dir>,
    made: Vec<(Arc<Dir>, OsString, usize)>,
}

impl Made {
    /// Removes the directories again, as far as nobody put anything in.
    pub(super) fn take_back(self, deed: &mut Deed<'_>) {
        for (dir, name, number) in self.made.into_iter().rev() {
            if dir.remove_directory(&name).is_err() {
                break;
            }
            deed.not_done(number);
        }
    }
}

impl Writer {
    /// Goes to a place once more, as far as it leads: directories that were missing may be there by now.
    ///
    /// This is where everything is refused that no change may be made to.
    pub(super) fn stand<'a>(&self, place: &'a Resolved) -> Result<Standing<'a>, WriteError> {
        self.view.admit(place)?;
        let workspace = self.view.workspace();
        let shown = || place.logical().to_string();
        workspace.check_writable(place, place.logical().as_str())?;
        let Some(leaf) = place.leaf() else {
            return Err(WriteError::Root { path: shown() });
        };
        if !workspace.still_leads_to(place) {
            let problem = "the way to it leads elsewhere now";
            return Err(WriteError::Changed { path: shown(), problem });
        }
        let mut dir = Arc::clone(&place.directory);
        let mut path = place.directory_path.clone();
        let mut to_make = place.missing();
        while let [name, rest @ ..] = to_make {
            dir = match dir.child(name) {
                Ok(child) => Arc::new(child),
                Err(Errno::NOENT) => break,
                Err(error) => return Err(WriteError::of_system(shown(), error)),
            };
            path.push(name);
            to_make = rest;
        }
        Ok(Standing { place, dir, path, to_make: to_make.to_vec(), leaf })
    }

    /// Opens the regular file at a place and keeps its content.
    pub(super) fn existing(&self, standing: &Standing<'_>) -> Result<Option<Existing>, WriteError> {
        let Some(found) = standing.look()? else { return Ok(None) };
        let shown = || standing.shown();
        match found.kind {
            FileKind::File => {}
            FileKind::Link => {
                let problem = "a link stands there now";
                return Err(WriteError::Changed { path: shown(), problem });
            }
            kind => return Err(PathError::NotAFile { path: shown(), kind }.into()),
        }
        let (mut file, metadata) =
            standing.dir.open_file(standing.leaf).map_err(|error| standing.failed(error))?;
        if metadata.kind != FileKind::File {
            return Err(PathError::Changed { path: shown() }.into());
        }
        self.view.check_twins(&metadata, standing.place)?;
        let content = self.account.effects.keep(&mut file);
        let content =
            content.map_err(|source| WriteError::Unrecorded { path: standing.shown(), source })?;
        self.account.watch.tell(Step::Kept);
        Ok(Some(Existing { file, metadata, content }))
    }

    /// Looks once more whether a file still holds what was kept of it.
    pub(super) fn still_holds(
        &self,
        standing: &Standing<'_>,
        content: &ContentRef,
    ) -> Result<(), WriteError> {
        let changed = |problem| Err(WriteError::Changed { path: standing.shown(), problem });
        match standing.look()? {
            None => return changed("it is gone"),
            Some(it) if it.kind != FileKind::File => return changed("it is no file any more"),
            Some(_) => {}
        }
        let (file, metadata) =
            standing.dir.open_file(standing.leaf).map_err(|error| standing.failed(error))?;
        if metadata.kind != FileKind::File {
            return changed("it is no file any more");
        }
        let digest = digest_of(file).map_err(|error| WriteError::of_io(standing.shown(), error))?;
        if digest != (content.digest, content.bytes) {
            return changed("its content is another");
        }
        self.account.watch.tell(Step::Compared);
        Ok(())
    }
}

/// Digests a file to its end.
pub(crate) fn digest_of(mut file: File) -> std::io::Result<(Digest, u64)> {
    let mut digester = Digester::default();
    let mut piece = vec![0; limits::PIECE_BYTES];
    loop {
        let count = file.read(&mut piece)?;
        let Some(read) = piece.get(..count).filter(|read| !read.is_empty()) else {
            return Ok(digester.finish());
        };
        digester.update(read);
    }
}
