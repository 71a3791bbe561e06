//! One thread of a search.

use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use haft_protocol::limits;
use haft_text::{Charset, Encoding, Kind, sniff};
use haft_workspace::{FileKind, Found, OpenFile};

use super::collector::{Appetite, Collector};
use super::first::{FileHits, Place};
use super::paced::{Paced, Stopped};
use super::{Grep, Tally};
use crate::GrepMode;

/// How many bytes of a file are read at first. Most files are no longer, and are searched where they lie.
const BUFFER: usize = 64 * 1024;

/// One thread of a search, with what it needs for every file.
pub(super) struct Worker<'a> {
    search: &'a Grep<'a>,
    /// A copy of its own: copies share the compiled pattern, and not the space that searching takes.
    matcher: RegexMatcher,
    searcher: Searcher,
    buffer: Vec<u8>,
}

/// Why a file was not searched to its end. Where it is text, what was found until then counts.
enum Passed {
    Binary,
    TooLarge,
    Unreadable,
    /// The walk is over.
    Over,
}

impl<'a> Worker<'a> {
    pub(super) fn new(search: &'a Grep<'a>) -> Self {
        let args = search.args;
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(search.pattern.line_end)
            .multi_line(args.multiline)
            .line_number(args.output == GrepMode::Matches)
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(
                if args.multiline {
                    usize::try_from(limits::SEARCH_MULTILINE_BYTES).unwrap_or(usize::MAX)
                } else {
                    limits::SEARCH_HELD_LINE_BYTES
                }
                .min(search.pattern.longest.max(BUFFER)),
            ));
        if args.output == GrepMode::Matches {
            let lines = |own: Option<u32>| {
                usize::try_from(own.unwrap_or(args.context)).unwrap_or(usize::MAX)
            };
            builder.before_context(lines(args.before)).after_context(lines(args.after));
        }
        Self {
            search,
            matcher: search.pattern.matcher.clone(),
            searcher: builder.build(),
            buffer: vec![0; BUFFER],
        }
    }

    /// Searches in what a walk met. What went away in between is not counted at all.
    pub(super) fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        let tally = &self.search.tally;
        match found.kind() {
            FileKind::File => {}
            FileKind::Directory | FileKind::Link => return ControlFlow::Continue(()),
            _ => {
                Tally::count(&tally.not_regular);
                return ControlFlow::Continue(());
            }
        }
        let place = Place::of(found.relative());
        if let Some(appetite) = self.search.appetite(&place)
            && let Ok(file) = found.open()
        {
            self.search_file(found, place, file, appetite);
            self.search.pulse.add(1);
        }
        ControlFlow::Continue(())
    }

    fn search_file(&mut self, found: &Found<'_>, place: Place, file: OpenFile, appetite: Appetite) {
        let is_over = || {
            self.search.pulse.add(0);
            found.is_over()
        };
        let matcher = Paced::new(&self.matcher, self.search.pattern.longest, &is_over);
        let mut collector = Collector::new(&matcher, appetite);
        let tally = &self.search.tally;
        let mut source = Source { file, is_over: &is_over, undecoded: None };
        if !self.search.args.pattern.is_ascii() {
            source.undecoded = Some(&tally.undecoded);
        }
        let passed = search(&mut self.searcher, &mut self.buffer, source, &mut collector);
        match passed {
            Ok(()) => Tally::count(&tally.searched),
            Err(Passed::Over) => {}
            Err(Passed::TooLarge) => Tally::count(&tally.too_large),
            Err(Passed::Unreadable) => Tally::count(&tally.unreadable),
            Err(Passed::Binary) => return Tally::count(&tally.binary),
        }
        if collector.count > 0 {
            let Collector { hits, bytes, count, .. } = collector;
            let mut first = self.search.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.offer(place, count, || {
                let path = found.path().clone();
                let bytes = bytes + path.as_str().len() + 2;
                FileHits { path, hits, count, bytes }
            });
        }
    }
}

/// One open file that is searched.
struct Source<'a> {
    file: OpenFile,
    is_over: &'a dyn Fn() -> bool,
    /// Where it is counted if it would have to be decoded and is too long; nothing where the pattern is ASCII, which
    /// stands for the same bytes in every encoding that has no mark.
    undecoded: Option<&'a AtomicU64>,
}

/// Searches in one open file.
fn search(
    searcher: &mut Searcher,
    buffer: &mut [u8],
    source: Source<'_>,
    collector: &mut Collector<'_>,
) -> Result<(), Passed> {
    let Source { mut file, is_over, undecoded } = source;
    let (head, is_whole) = read_head(&mut file, buffer).map_err(|_| Passed::Unreadable)?;
    if is_binary(head) {
        return Err(Passed::Binary);
    }
    let matcher = collector.matcher();
    let legacy = undecoded.and_then(|undecoded| Some((legacy(head, is_whole)?, undecoded)));
    if let Some((_, undecoded)) = legacy.filter(|_| !is_whole) {
        Tally::count(undecoded);
    }
    let searched = if let Some((encoding, _)) = legacy.filter(|_| is_whole) {
        searcher.search_slice(matcher, encoding.decode(head).text.as_bytes(), &mut *collector)
    } else if is_whole {
        searcher.search_slice(matcher, head, &mut *collector)
    } else {
        let reader = Cursor::new(head).chain(Watched { file, is_over });
        searcher.search_reader(matcher, reader, &mut *collector)
    };
    // What reading would refuse is not shown here either. Only files with a match are looked at so closely.
    if collector.count > 0 && !is_text(head, is_whole) {
        return Err(Passed::Binary);
    }
    searched.map_err(|error| match matcher.stopped() {
        Some(Stopped::Over) => Passed::Over,
        Some(Stopped::TooLong) => Passed::TooLarge,
        None => why(&error),
    })
}

/// Reads the beginning of a file, and tells whether that is all of it.
fn read_head<'b>(file: &mut OpenFile, buffer: &'b mut [u8]) -> io::Result<(&'b [u8], bool)> {
    let expected = file.metadata().len;
    let mut filled = 0;
    let is_whole = loop {
        let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) else {
            break false;
        };
        match file.read(free) {
            Ok(0) => break true,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        // The size that was seen when the file was opened saves a look for its end.
        if filled as u64 == expected && filled < buffer.len() {
            break true;
        }
    };
    Ok((buffer.get(..filled).unwrap_or_default(), is_whole))
}

/// Returns what a file is read as that is in one of the encodings from before Unicode.
fn legacy(head: &[u8], is_whole: bool) -> Option<Encoding> {
    if head.is_ascii() || std::str::from_utf8(head).is_ok() {
        return None;
    }
    let (sample, is_whole) = sample(head, is_whole);
    let encoding = sniff(sample, is_whole);
    matches!(encoding.charset, Charset::Legacy(_)).then_some(encoding)
}

/// Returns the first bytes of a file, by which it is judged, and whether those are all.
fn sample(head: &[u8], is_whole: bool) -> (&[u8], bool) {
    match head.get(..limits::SNIFF_BYTES) {
        Some(sample) => (sample, is_whole && sample.len() == head.len()),
        None => (head, is_whole),
    }
}

fn is_text(head: &[u8], is_whole: bool) -> bool {
    let (sample, is_whole) = sample(head, is_whole);
    matches!(Kind::sniff(sample, is_whole), Kind::Text(_) | Kind::Empty)
}

/// Tells whether a zero byte among the first gives a file away, as it does when files are read. UTF-16 with its mark is
/// text; the same mark and two zeros are the mark of UTF-32.
fn is_binary(head: &[u8]) -> bool {
    let is_utf16 = match head {
        [0xff, 0xfe, 0, 0, ..] => false,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        _ => false,
    };
    let sample = head.get(..limits::SNIFF_BYTES).unwrap_or(head);
    !is_utf16 && sample.contains(&0)
}

/// The rest of a long file, whose reading ends when the walk does.
struct Watched<'a> {
    file: OpenFile,
    is_over: &'a dyn Fn() -> bool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if (self.is_over)() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// Tells apart what made a search in one file stop. The searcher's word for a line longer than it may hold is `Other`.
fn why(error: &io::Error) -> Passed {
    match error.kind() {
        io::ErrorKind::TimedOut => Passed::Over,
        io::ErrorKind::Other => Passed::TooLarge,
        _ => Passed::Unreadable,
    }
}
