//! The workspace as the body of one call may change it.

pub(crate) mod deed;
mod moving;
pub(crate) mod put;
mod removing;
pub(crate) mod standing;
pub(crate) mod step;

use std::fmt;
use std::sync::Arc;

use haft_protocol::{Change, Digest, ErrorKind, Failure, LogicalPath, Notice};

use crate::resolved::Resolved;
use crate::view::View;
use crate::write_error::WriteError;

use deed::Account;
use put::Wish;

/// The workspace as the body of one call may change it: at the places that its writing slots are bound to, and nowhere
/// else.
///
/// Each change is whole or not at all. Before it happens, what it takes away is kept and the change is put on record; if
/// either cannot be, it does not happen. Nothing is followed that came to be a link after the path was checked, and a
/// file that somebody changed meanwhile is left alone. What remains is the moment between the last look at a file and
/// the rename that replaces it.
///
/// All methods block; call them on a thread that may. A clone writes for the same call.
#[derive(Clone)]
pub struct Writer {
    pub(crate) view: View,
    pub(crate) places: Arc<[SlotPlace]>,
    pub(crate) account: Account,
}

/// A place of a writing slot.
pub(crate) struct SlotPlace {
    pub(crate) slot: String,
    pub(crate) place: WritePlace,
}

/// A place that a call may change: only a [`Writer`] hands one out.
#[derive(Debug, Clone)]
pub struct WritePlace(pub(crate) Arc<Resolved>);

/// What has to stand at a place for a change to be made there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Nothing,
    /// A regular file with this content.
    Content(Digest),
}

/// What something may be moved onto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onto {
    /// Nothing may stand there.
    Nothing,
    /// A file may be put in the place of a file.
    File,
}

/// What was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "a body reports what it changed"]
pub struct Written {
    /// The changes, in order; none where everything was as wanted already.
    pub changes: Vec<Change>,
    /// What could not be kept, and what else a reader of the result should know.
    pub notices: Vec<Notice>,
}

impl Written {
    /// Adds what was changed next.
    pub fn extend(&mut self, next: Self) {
        self.changes.extend(next.changes);
        self.notices.extend(next.notices);
    }
}

impl WritePlace {
    /// Returns the place, after links: this is what is read and written.
    pub fn resolved(&self) -> &Arc<Resolved> {
        &self.0
    }

    /// Returns the path of the place, after links.
    pub fn logical(&self) -> &LogicalPath {
        self.0.logical()
    }

    /// Returns the path of what is moved or removed: the link, where the path names one.
    pub fn itself_logical(&self) -> &LogicalPath {
        self.itself().logical()
    }

    /// Returns the place that the path names without following a link at its end.
    pub(crate) fn itself(&self) -> &Resolved {
        self.0.link().unwrap_or(&self.0)
    }
}

impl Writer {
    /// Returns the places a slot is bound to: none where its argument was left out or the slot does not write.
    pub fn places(&self, slot: &str) -> Vec<WritePlace> {
        self.places.iter().filter(|it| it.slot == slot).map(|it| it.place.clone()).collect()
    }

    /// Returns the one place a slot is bound to.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Internal`] when the slot does not write, is not bound, or is bound to several places.
    pub fn place(&self, slot: &str) -> Result<WritePlace, Failure> {
        match <[_; 1]>::try_from(self.places(slot)) {
            Ok([place]) => Ok(place),
            Err(places) => {
                let text = format!(
                    "the slot `{slot}` is bound to {} places to write to, not one",
                    places.len()
                );
                Err(Failure::new(ErrorKind::Internal, text))
            }
        }
    }

    /// Returns the workspace as the same call may see it.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Puts content in a file's place, or makes the file, with the directories above it.
    ///
    /// Mode, owner and extended attributes stay what they were; set-id bits go, as they do with any write. A link is
    /// written through. Where the file holds these bytes already, nothing is done.
    ///
    /// # Errors
    ///
    /// Fails when what stands there is not what is `expected`, when it is no regular file or may not be written to, when
    /// the name of a new file is a trap, when there is no room, and when the change cannot be put on record. The file is
    /// then what it was, and nothing is left beside it.
    pub fn replace(
        &self,
        place: &WritePlace,
        expected: Expected,
        bytes: &[u8],
    ) -> Result<Written, WriteError> {
        self.put(&place.0, expected, bytes, Wish::default())
    }

    /// Makes a directory, with those above it. Where it is there already, nothing is done.
    ///
    /// # Errors
    ///
    /// Fails when something else stands there, when a new name is a trap, when the system refuses, and when the change
    /// cannot be put on record.
    pub fn create_dir(&self, place: &WritePlace) -> Result<Written, WriteError> {
        self.make_directory(&place.0, None)
    }

    /// Moves a file, a link or a directory. A link moves, and not what it points to.
    ///
    /// A file also moves to another device; a directory does not, and not where it holds something protected or hidden.
    ///
    /// # Errors
    ///
    /// Fails when nothing is there to be moved, when something stands where it is moved to (unless a file may replace a
    /// file, and does), and as [`replace`](Self::replace) does.
    pub fn rename(
        &self,
        from: &WritePlace,
        to: &WritePlace,
        onto: Onto,
    ) -> Result<Written, WriteError> {
        self.give_place(from, to, onto, false)
    }

    /// Removes a file, a link or an empty directory. A link goes, and not what it points to.
    ///
    /// # Errors
    ///
    /// Fails when nothing is there, when it is of another kind, a directory that is not empty, or changed while it was
    /// kept, when the system refuses, and when the change cannot be put on record.
    pub fn remove(&self, place: &WritePlace) -> Result<Written, WriteError> {
        self.take_away(place.itself())
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places.iter().map(|it| (&it.slot, it.place.logical().as_str()));
        f.debug_map().entries(places).finish()
    }
}
