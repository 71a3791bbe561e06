//! The results that come first, whatever order they are found in.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use haft_protocol::LogicalPath;

use super::hit::Hit;

/// What was found in one file.
#[derive(Debug)]
pub(super) struct FileHits {
    pub(super) path: LogicalPath,
    /// The first matches, where matches are asked for.
    pub(super) hits: Vec<Hit>,
    /// How many there are.
    pub(super) count: u64,
    /// Bytes of text it takes to show what is kept.
    pub(super) bytes: usize,
}

/// How many results a search shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Results: matches or files.
    pub(super) results: u64,
    /// Bytes of text.
    pub(super) bytes: usize,
    /// Whether a file is one result, and not each match in it.
    pub(super) by_file: bool,
}

/// The files whose results come first by path. What would not be shown is let go of, so memory stays bounded, and the
/// same tree gives the same results however its files are met.
#[derive(Debug)]
pub(super) struct First {
    room: Room,
    files: BTreeMap<Place, FileHits>,
    results: u64,
    bytes: usize,
    /// Matches counted.
    pub(super) matches: u64,
    /// Files counted that have a match.
    pub(super) files_with_match: u64,
}

/// The place of a path in the order of results: name by name, so that nothing comes between a directory and what is in
/// it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Box<[u8]>);

impl Place {
    pub(super) fn of(path: &Path) -> Self {
        // No name holds a zero byte, and no byte is smaller.
        let bytes = path.as_os_str().as_bytes();
        Self(bytes.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect())
    }
}

impl First {
    pub(super) fn new(room: Room) -> Self {
        Self { room, files: BTreeMap::new(), results: 0, bytes: 0, matches: 0, files_with_match: 0 }
    }

    /// Tells whether nothing from this place on could be shown.
    pub(super) fn is_behind(&self, place: &Place) -> bool {
        self.is_full() && self.files.last_key_value().is_some_and(|(last, _)| last < place)
    }

    fn is_full(&self) -> bool {
        self.results >= self.room.results || self.bytes >= self.room.bytes
    }

    /// Counts a file that has matches, and keeps what may be shown of it.
    pub(super) fn offer(&mut self, place: Place, count: u64, file: impl FnOnce() -> FileHits) {
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
    pub(super) fn into_files(self) -> impl Iterator<Item = FileHits> {
        self.files.into_values()
    }
}

impl Room {
    fn results_of(self, file: &FileHits) -> u64 {
        if self.by_file { 1 } else { file.hits.len() as u64 }
    }
}
