//! Going through source files: which there are, what is looked at, and what was passed over.

mod tally;

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_protocol::{Count, ErrorKind, Failure, limits};
use haft_syntax::{Found, Language, Limits, SyntaxError};
use haft_tool::{Call, Cancellation};
use haft_workspace::{FileKind, OpenFile, Resolved, WalkEnd, WalkReport, WorkspaceCall};
use memchr::memmem::Finder;

use crate::first::{FileHits, First, Place, Room};
use crate::pulse::Pulse;
use crate::scope::Scope;

pub use tally::SkippedSources;
use tally::{Passed, Tally};

/// Which source files of a call are looked at.
pub(crate) struct Sources<'a> {
    pub(crate) scope: Scope<'a>,
    /// The only language, where there is one.
    pub(crate) language: Option<Language>,
    /// What a file has to hold to be worth parsing; empty, where any is.
    pub(crate) needle: &'a str,
    /// How many results are kept.
    pub(crate) limit: u64,
}

/// What was found in source files.
pub(crate) struct Gathered<T> {
    /// The files whose results come first by path.
    pub(crate) files: Vec<FileHits<T>>,
    /// How many results there are.
    pub(crate) total: Count,
    /// How many files were looked at.
    pub(crate) looked_at: u64,
    pub(crate) skipped: SkippedSources,
    pub(crate) report: WalkReport,
}

/// One search in source files, as all its threads see it.
struct Search<'a, T, F> {
    sources: &'a Sources<'a>,
    examine: F,
    finder: Finder<'a>,
    /// Whether the call names one file.
    is_one_file: bool,
    deadline: Instant,
    cancellation: Cancellation,
    first: Mutex<First<T>>,
    tally: Tally,
    pulse: Pulse<'a>,
}

impl Sources<'_> {
    /// Looks at the file or the files beneath the directory that the call is bound to.
    ///
    /// `examine` is handed each text with its language, and answers with rows; `bytes` tells how long one is.
    pub(crate) fn gather<T: Send>(
        &self,
        call: &Call,
        examine: impl Fn(Language, &str, &Limits) -> Result<Found<T>, SyntaxError> + Sync,
        bytes: impl Fn(&T) -> usize + Sync,
    ) -> Result<Gathered<T>, Failure> {
        let (view, place) = (call.view()?, call.resolved("path")?);
        let is_one_file = place.kind() != Some(FileKind::Directory);
        if is_one_file {
            // A file that is named itself and cannot be looked at is a failure, not something passed over.
            view.open(&place)?;
            self.language_of(&place)?;
        }
        let options = self.scope.walk(call)?;
        let room = Room { results: self.limit, bytes: limits::SEARCH_BYTES, by_file: false };
        let search = Search {
            sources: self,
            examine,
            finder: Finder::new(self.needle),
            is_one_file,
            deadline: options.deadline.unwrap_or_else(Instant::now),
            cancellation: call.cancellation().clone(),
            first: Mutex::new(First::new(room)),
            tally: Tally::default(),
            pulse: Pulse::new(call, "files looked at"),
        };
        let is_called_off = || search.pulse.is_called_off();
        let mut report = view.walk(&place, &options, &is_called_off, || {
            let mut buffer = Vec::new();
            let (search, bytes) = (&search, &bytes);
            move |found| {
                search.visit(found, &mut buffer, bytes);
                ControlFlow::Continue(())
            }
        })?;
        let Search { first, tally, .. } = search;
        if is_one_file && let Some(passed) = tally.only() {
            return Err(passed.failure(call, &place));
        }
        let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        if report.end == WalkEnd::Complete && tally.is_over() {
            report.end = WalkEnd::Deadline;
        }
        let is_whole =
            report.end == WalkEnd::Complete && first.matches < limits::SEARCH_COUNTED_MATCHES;
        let total = first.matches;
        Ok(Gathered {
            total: if is_whole { Count::Exact(total) } else { Count::AtLeast(total) },
            looked_at: tally.looked_at(),
            skipped: tally.skipped(&report),
            files: first.into_files().collect(),
            report,
        })
    }

    /// Returns the language of a file that a call names itself.
    fn language_of(&self, place: &Resolved) -> Result<Language, Failure> {
        let path = place.logical().as_str();
        let by_name = || Language::of_path(path.as_ref());
        self.language.or_else(by_name).ok_or_else(|| {
            let known = Language::ALL.map(Language::as_str).join(", ");
            Failure::new(
                ErrorKind::Unsupported,
                format!("the end of `{path}` tells no language that is known here"),
            )
            .hint(format!("set \"language\" to one of {known}"))
        })
    }
}

impl<T, F> Search<'_, T, F>
where
    F: Fn(Language, &str, &Limits) -> Result<Found<T>, SyntaxError>,
{
    fn visit(
        &self,
        found: &haft_workspace::Found<'_>,
        buffer: &mut Vec<u8>,
        bytes: impl Fn(&T) -> usize,
    ) {
        let by_name = Language::of_path(found.relative());
        let language = match self.sources.language {
            // A file that is named itself is of the language that the call says.
            Some(language) if self.is_one_file || by_name == Some(language) => language,
            Some(_) => return,
            None => match by_name {
                Some(language) => language,
                None => return,
            },
        };
        if found.kind() != FileKind::File || self.has_enough(&Place::of(found.relative())) {
            return;
        }
        let Ok(file) = found.open() else { return };
        match self.look_into(language, file, buffer) {
            Ok(None) => self.tally.note_looked_at(false),
            Ok(Some(rows)) => {
                self.tally.note_looked_at(rows.has_errors);
                if rows.total > 0 {
                    let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
                    first.offer(Place::of(found.relative()), rows.total as u64, || {
                        let path = found.path().clone();
                        let bytes = rows.items.iter().map(&bytes).sum::<usize>();
                        let (hits, count) = (rows.items, rows.total as u64);
                        let bytes = bytes + path.as_str().len() + 2;
                        FileHits { path, hits, count, bytes }
                    });
                }
            }
            Err(passed) => self.tally.note(passed),
        }
        self.pulse.add(1);
    }

    /// Tells whether nothing from a place on would be shown or counted.
    fn has_enough(&self, place: &Place) -> bool {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.matches >= limits::SEARCH_COUNTED_MATCHES && first.is_behind(place)
    }

    /// Examines one file, if it is worth parsing.
    fn look_into(
        &self,
        language: Language,
        file: OpenFile,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Found<T>>, Passed> {
        read(file, buffer)?;
        if !self.sources.needle.is_empty() && self.finder.find(buffer).is_none() {
            return Ok(None);
        }
        let text = str::from_utf8(buffer).map_err(|_| Passed::NotText)?;
        if text.contains('\0') {
            return Err(Passed::NotText);
        }
        let file_deadline = Instant::now() + Duration::from_millis(limits::SYNTAX_FILE_MS);
        let (deadline, cancellation) =
            (self.deadline.min(file_deadline), self.cancellation.clone());
        let limits = Limits {
            items: usize::try_from(self.sources.limit).unwrap_or(usize::MAX),
            is_over: Arc::new(move || cancellation.is_cancelled() || Instant::now() >= deadline),
            ..Limits::default()
        };
        (self.examine)(language, text, &limits).map(Some).map_err(|error| match error {
            SyntaxError::Stopped if Instant::now() < file_deadline => Passed::Over,
            SyntaxError::Stopped => Passed::TooSlow,
            SyntaxError::TooLarge { .. } => Passed::TooLarge,
            SyntaxError::TooDeep { .. } => Passed::TooDeep,
            SyntaxError::LanguageOff { .. } => Passed::LanguageOff,
            _ => Passed::Unreadable,
        })
    }
}

/// Reads a file that is not too large.
fn read(file: OpenFile, buffer: &mut Vec<u8>) -> Result<(), Passed> {
    const MOST: u64 = limits::SYNTAX_FILE_BYTES as u64;
    buffer.clear();
    if file.metadata().len > MOST {
        return Err(Passed::TooLarge);
    }
    let read =
        file.take(MOST + 1).read_to_end(buffer).map_err(|_: io::Error| Passed::Unreadable)?;
    if read as u64 > MOST { Err(Passed::TooLarge) } else { Ok(()) }
}
