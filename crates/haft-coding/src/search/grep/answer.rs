//! Putting what a search came to into words and into data.

use std::fmt::Write;

use haft_protocol::{Bound, Count, Notice, NoticeKind, limits};
use haft_text::visible;
use haft_tool::{Output, Shown};
use haft_workspace::{WalkEnd, WalkReport};

use super::Tally;
use super::first::{FileHits, First};
use super::hit::Hit;
use super::output::{CountsOutput, FileCount, FilesOutput, Match, MatchesOutput, SkippedOutput};
use crate::scope;
use crate::search::SearchOutput;
use crate::words::{counted, fitted, row, size};
use crate::{GrepArgs, GrepMode};

/// What a search came to, before it is put into words.
pub(super) struct Answer<'a> {
    pub(super) args: &'a GrepArgs,
    pub(super) first: First,
    pub(super) tally: Tally,
    /// The most bytes that the pattern was tried on at once.
    pub(super) longest: usize,
    pub(super) report: &'a WalkReport,
}

impl Answer<'_> {
    /// Puts the answer into words and into data.
    pub(super) fn shown(self) -> Shown<SearchOutput> {
        let is_whole = self.report.end == WalkEnd::Complete;
        let files_searched = Tally::get(&self.tally.searched);
        let skipped = self.skipped();
        let notices = self.notices(skipped);
        let Self { args, first, report, .. } = self;
        let (total_matches, total_files) = (first.matches, first.files_with_match);
        let mut text = String::new();
        let mut bounds = Vec::new();
        let value = match args.output {
            GrepMode::Matches => {
                // Beyond this number files are passed by, so the count says how far the search went and not what is there.
                let is_exact = is_whole && total_matches < limits::SEARCH_COUNTED_MATCHES;
                let total = total_matches.min(limits::SEARCH_COUNTED_MATCHES);
                let kept = shown_matches(first, args, &mut text);
                bounds.extend(left_out(args, kept.len(), total, is_exact));
                bounds.extend(scope::unfinished(report, "matches", kept.len()));
                SearchOutput::Matches(MatchesOutput {
                    matches: kept,
                    total,
                    is_total_exact: is_exact,
                    files_searched,
                    skipped,
                })
            }
            GrepMode::Files => {
                let mut files: Vec<String> =
                    first.into_files().map(|file| file.path.to_string()).collect();
                let rows: Vec<_> = files.iter().map(|path| row(path).into_owned()).collect();
                let (rows, kept) = fitted(&rows, limits::SEARCH_BYTES);
                text.push_str(&rows);
                files.truncate(kept);
                bounds.extend(left_out(args, files.len(), total_files, is_whole));
                bounds.extend(scope::unfinished(report, "files", files.len()));
                SearchOutput::Files(FilesOutput {
                    files,
                    total: total_files,
                    is_total_exact: is_whole,
                    files_searched,
                    skipped,
                })
            }
            GrepMode::Count => {
                let mut counts: Vec<FileCount> = first
                    .into_files()
                    .map(|file| FileCount { path: file.path.to_string(), count: file.count })
                    .collect();
                let at_least = if is_whole { "" } else { "at least " };
                let sum = format!(
                    "\n{at_least}{} in {}",
                    counted(total_matches, "match", "matches"),
                    counted(total_files, "file", "files")
                );
                let sum = if total_files > 1 { sum } else { String::new() };
                let rows: Vec<_> = counts
                    .iter()
                    .map(|FileCount { path, count }| format!("{}:{count}", row(path)))
                    .collect();
                let (rows, kept) = fitted(&rows, limits::SEARCH_BYTES - sum.len());
                text = rows + &sum;
                counts.truncate(kept);
                bounds.extend(left_out(args, counts.len(), total_files, is_whole));
                bounds.extend(scope::unfinished(report, "files", counts.len()));
                SearchOutput::Counts(CountsOutput {
                    counts,
                    total: total_files,
                    total_matches,
                    is_total_exact: is_whole,
                    files_searched,
                    skipped,
                })
            }
        };
        if total_files == 0 {
            text = format!("no matches in {}", counted(files_searched, "file", "files"));
        }
        if text.ends_with('\n') {
            text.pop();
        }
        Shown { value, output: Output { bounds, notices, ..Output::text(text) } }
    }

    fn skipped(&self) -> SkippedOutput {
        let walk = &self.report.skipped;
        SkippedOutput {
            binary: Tally::get(&self.tally.binary),
            too_large: Tally::get(&self.tally.too_large),
            not_regular: Tally::get(&self.tally.not_regular),
            unreadable: walk.unreadable + Tally::get(&self.tally.unreadable),
            ignored_files: walk.ignored_files,
            ignored_directories: walk.ignored_directories,
            dotted: walk.dotted,
            protected: walk.hidden.protected,
            hidden_by_rule: walk.hidden.by_rule,
        }
    }

    /// Says what was passed over that only a search passes over.
    fn notices(&self, skipped: SkippedOutput) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut add = |number: u64, text: &dyn Fn() -> String| {
            if number > 0 {
                notices.push(Notice::new(NoticeKind::Skipped, text()));
            }
        };
        let files = |number| counted(number, "file", "files");
        add(skipped.binary, &|| {
            format!("{} skipped", counted(skipped.binary, "binary file", "binary files"))
        });
        add(skipped.not_regular, &|| {
            let what = counted(skipped.not_regular, "entry", "entries");
            let why =
                if skipped.not_regular == 1 { "not a regular file" } else { "not regular files" };
            format!("{what} skipped: {why}")
        });
        let unread = Tally::get(&self.tally.unreadable);
        add(unread, &|| format!("{} not read to the end: reading failed", files(unread)));
        let undecoded = Tally::get(&self.tally.undecoded);
        add(undecoded, &|| {
            format!(
                "{} not in UTF-8 and too long to be decoded: characters beyond ASCII are not found there",
                files(undecoded)
            )
        });
        add(skipped.too_large, &|| {
            let (mut what, held) = if self.args.multiline {
                ("more than a multi-line search holds", limits::SEARCH_MULTILINE_BYTES)
            } else {
                ("a line longer than a search holds", limits::SEARCH_HELD_LINE_BYTES as u64)
            };
            let most = held.min(self.longest as u64);
            if most < held {
                what = if self.args.multiline {
                    "more than a multi-line search for so large a pattern holds"
                } else {
                    "a line longer than is searched for so large a pattern"
                };
            }
            format!("{} not searched to the end: {what}, {}", files(skipped.too_large), size(most))
        });
        notices
    }
}

/// Says how many results are not shown.
fn left_out(args: &GrepArgs, kept: usize, total: u64, is_exact: bool) -> Option<Bound> {
    let kept = kept as u64;
    let rest = total.saturating_sub(kept);
    let by_file = args.output != GrepMode::Matches;
    let is_by_number = kept >= u64::from(args.limit.get());
    let way_on = match (is_by_number, by_file) {
        (true, _) if args.limit.get() < limits::SEARCH_RESULTS_MAX => {
            "raise \"limit\", or narrow \"path\", \"include\" or \"pattern\""
        }
        (_, true) => "narrow \"path\", \"include\" or \"pattern\"",
        (_, false) => "narrow \"path\", \"include\" or \"pattern\", or set \"output\": \"files\"",
    };
    (rest > 0).then(|| Bound {
        unit: if by_file { "files" } else { "matches" }.to_owned(),
        kept,
        left_out: if is_exact { Count::Exact(rest) } else { Count::AtLeast(rest) },
        way_on: way_on.to_owned(),
    })
}

/// Writes matches under their files as far as there is room, and returns those that were written.
fn shown_matches(first: First, args: &GrepArgs, text: &mut String) -> Vec<Match> {
    let most = usize::try_from(args.limit.get()).unwrap_or(usize::MAX);
    let mut matches = Vec::new();
    let has_context = [args.before, args.after].iter().any(|own| own.unwrap_or(args.context) > 0);
    for FileHits { path, hits, .. } in first.into_files() {
        let mut next_line = None;
        for hit in hits {
            if matches.len() >= most {
                return matches;
            }
            let begin = text.len();
            let from = hit.line.saturating_sub(hit.before.len() as u64);
            match next_line {
                None if text.is_empty() => {}
                None => text.push('\n'),
                Some(next) if has_context && next < from => text.push_str("--\n"),
                Some(_) => {}
            }
            if next_line.is_none() {
                text.push_str(&row(path.as_str()));
                text.push('\n');
            }
            next_line = Some(write_hit(text, &hit, from));
            if text.len() > limits::SEARCH_BYTES && !matches.is_empty() {
                text.truncate(begin);
                return matches;
            }
            matches.push(Match {
                path: path.to_string(),
                line: hit.line,
                column: hit.column as u64 + 1,
                text: hit.text.join("\n"),
                is_cut: hit.is_cut,
                before: hit.before,
                after: hit.after,
            });
        }
    }
    matches
}

/// Writes the rows of a match and returns the number of the line after them.
fn write_hit(text: &mut String, hit: &Hit, from: u64) -> u64 {
    let mut rows = |first: u64, sign: char, lines: &[String]| {
        for (number, line) in (first..).zip(lines) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{number}{sign}{}", visible(line));
        }
    };
    let end = hit.line + hit.lines;
    rows(from, '-', &hit.before);
    rows(hit.line, ':', &hit.text);
    let hidden = hit.lines.saturating_sub(hit.text.len() as u64);
    if hidden > 0 {
        let more = format!("… {} of this match", counted(hidden, "more line", "more lines"));
        rows(hit.line + hit.text.len() as u64, ':', &[more]);
    }
    rows(end, '-', &hit.after);
    end + hit.after.len() as u64
}
