//! Searching in files.

mod answer;
mod collector;
mod cost;
mod output;
mod paced;
mod pattern;
mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use haft_protocol::{Failure, limits};
use haft_tool::{Call, Shown};
use haft_workspace::{FileKind, WorkspaceCall};

use super::SearchOutput;
use crate::first::{self, First, Room};
use crate::hit;
use crate::pulse::Pulse;
use crate::scope::{self, Scope};
use crate::{GrepArgs, GrepMode};

use answer::Answer;
use collector::Appetite;
use pattern::Pattern;
use worker::Worker;

pub use output::{CountsOutput, FileCount, FilesOutput, Match, MatchesOutput, SkippedOutput};

/// One search, as all its threads see it.
struct Grep<'a> {
    args: &'a GrepArgs,
    pattern: Pattern,
    /// What is kept of a file that may come first.
    appetite: Appetite,
    first: Mutex<First>,
    tally: Tally,
    pulse: Pulse<'a>,
}

/// What a search counts beside matches.
#[derive(Debug, Default)]
struct Tally {
    searched: AtomicU64,
    binary: AtomicU64,
    too_large: AtomicU64,
    not_regular: AtomicU64,
    unreadable: AtomicU64,
    /// Files in an old encoding that are too long to be decoded for a search.
    undecoded: AtomicU64,
}

/// Searches in the file or in the files beneath the directory that the call is bound to.
pub(super) fn grep(call: &Call, args: &GrepArgs) -> Result<Shown<SearchOutput>, Failure> {
    let (view, place) = (call.view()?, call.resolved("path")?);
    if place.kind() != Some(FileKind::Directory) {
        // A file that is named itself and cannot be searched is a failure, not something passed over.
        view.open(&place)?;
    }
    let search = Grep::new(call, args)?;
    let scope = Scope {
        include: &args.include,
        exclude: &args.exclude,
        skip_dotted: !args.hidden,
        include_ignored: args.include_ignored,
    };
    let options = scope.walk(call)?;
    let is_called_off = || search.pulse.is_called_off();
    let report = view.walk(&place, &options, &is_called_off, || {
        let mut worker = Worker::new(&search);
        move |found| worker.visit(found)
    })?;
    let Grep { first, tally, pattern, .. } = search;
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut shown =
        Answer { args, first, tally, longest: pattern.longest, report: &report }.shown();
    shown.output.notices.extend(scope::passed_over(&report.skipped));
    Ok(shown)
}

impl<'a> Grep<'a> {
    fn new(call: &'a Call, args: &'a GrepArgs) -> Result<Self, Failure> {
        let results = args.limit.get();
        let by_file = args.output != GrepMode::Matches;
        let appetite = match args.output {
            GrepMode::Matches => Appetite {
                hits: usize::try_from(results).unwrap_or(usize::MAX),
                bytes: limits::SEARCH_BYTES,
                count: limits::SEARCH_COUNTED_MATCHES,
            },
            GrepMode::Files => Appetite { hits: 0, bytes: 0, count: 1 },
            GrepMode::Count => Appetite { hits: 0, bytes: 0, count: u64::MAX },
        };
        let room = Room { results: results.into(), bytes: limits::SEARCH_BYTES, by_file };
        Ok(Self {
            args,
            pattern: Pattern::of(args)?,
            appetite,
            first: Mutex::new(First::new(room)),
            tally: Tally::default(),
            pulse: Pulse::new(call, "files searched"),
        })
    }

    /// Returns what to keep of the file at a place; `None` where even its matches are not counted any more.
    fn appetite(&self, place: &first::Place) -> Option<Appetite> {
        if self.args.output != GrepMode::Matches {
            return Some(self.appetite);
        }
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if !first.is_behind(place) {
            return Some(self.appetite);
        }
        let is_enough = first.matches >= limits::SEARCH_COUNTED_MATCHES;
        (!is_enough).then_some(Appetite { hits: 0, ..self.appetite })
    }
}

impl Tally {
    fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
