//! The results that come first, whatever order they are found in.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use haft_protocol::LogicalPath;

use crate::hit::Hit;

/// What was found in one file.
#[derive(Debug)]
pub(crate) struct FileHits<T = Hit> {
    pub(crate) path: LogicalPath,
    /// The first matches, where matches are asked for.
    pub(crate) hits: Vec<T>,
    /// How many there are.
    pub(crate) count: u64,
    /// Bytes of text it takes to show what is kept.
    pub(crate) bytes: usize,
}

/// How many results a search shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Results: matches or files.
    pub(crate) results: u64,
    /// Bytes of text.
    pub(crate) bytes: usize,
    /// Whether a file is one result, and not each match in it.
    pub(crate) by_file: bool,
}

/// The files whose results come first by path. What would not be shown is let go of, so memory stays bounded, and the
/// same tree gives the same results however its files are met.
#[derive(Debug)]
pub(crate) struct First<T = Hit> {
    room: Room,
    files: BTreeMap<Place, FileHits<T>>,
    results: u64,
    bytes: usize,
    /// Matches counted.
    pub(crate) matches: u64,
    /// Files counted that have a match.
    pub(crate) files_with_match: u64,
}

/// The place of a path in the order of results: name by name, so that nothing comes between a directory and what is in
/// it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(Box<[u8]>);

impl Place {
    pub(crate) fn of(path: &Path) -> Self {
        // No name holds a zero byte, and no byte is smaller.
        let bytes = path.as_os_str().as_bytes();
        Self(bytes.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect())
    }
}

impl<T> First<T> {
    pub(crate) fn new(room: Room) -> Self {
        Self { room, files: BTreeMap::new(), results: 0, bytes: 0, matches: 0, files_with_match: 0 }
    }

    /// Tells whether nothing from this place on could be shown.
    pub(crate) fn is_behind(&self, place: &Place) -> bool {
        self.is_full() && self.files.last_key_value().is_some_and(|(last, _)| last < place)
    }

    fn is_full(&self) -> bool {
        self.results >= self.room.results || self.bytes >= self.room.bytes
    }

    /// Counts a file that has matches, and keeps what may be shown of it.
    pub(crate) fn offer(&mut self, place: Place, count: u64, file: impl FnOnce() -> FileHits<T>) {
        self.matches += count;
        self.files_with_match += 1;
        if self.is_behind(&place) {
            return;
        }
        let file = file();
        self.results += self.room.results_of(&file);
        self.bytes += file.bytes;
        self.files.insert(place, file);
        while let Some(last) = self.files.last_entry() {
            let results = self.room.results_of(last.get());
            let is_spare = self.results - results >= self.room.results
                || self.bytes - last.get().bytes >= self.room.bytes;
            if !is_spare {
                break;
            }
            self.results -= results;
            self.bytes -= last.get().bytes;
            last.remove();
        }
    }

    /// Returns the files that are kept, in order.
    pub(crate) fn into_files(self) -> impl Iterator<Item = FileHits<T>> {
        self.files.into_values()
    }
}

impl Room {
    fn results_of<T>(self, file: &FileHits<T>) -> u64 {
        if self.by_file { 1 } else { file.hits.len() as u64 }
    }
}
