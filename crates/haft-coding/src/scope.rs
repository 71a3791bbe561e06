//! What a search or listing goes through, and what is said of what it passed over.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::{Duration, Instant};

use haft_protocol::{Bound, Count, Failure, Notice, NoticeKind, limits};
use haft_tool::Call;
use haft_workspace::{Globs, Skipped, WalkEnd, WalkOptions, WalkReport};

use crate::words::counted;

/// Which entries of a tree are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) include: &'a [String],
    pub(crate) exclude: &'a [String],
    pub(crate) skip_dotted: bool,
    pub(crate) include_ignored: bool,
}

impl Scope<'_> {
    /// Turns the scope into options of a walk that ends before the call does.
    pub(crate) fn walk(&self, call: &Call) -> Result<WalkOptions, Failure> {
        let globs = |globs: &[String]| (!globs.is_empty()).then(|| Globs::new(globs)).transpose();
        let most = Duration::from_millis(limits::SEARCH_MS);
        // What was found has to be put into words before the deadline of the call.
        let left = call.time_left().mul_f64(0.9);
        Ok(WalkOptions {
            include_ignored: self.include_ignored,
            skip_dotted: self.skip_dotted,
            only: globs(self.include)?,
            without: globs(self.exclude)?,
            deadline: Some(Instant::now() + most.min(left)),
            ..WalkOptions::default()
        })
    }
}

/// How many results a search shows where its caller names no number.
pub(crate) fn results() -> NonZeroU32 {
    NonZeroU32::new(limits::SEARCH_RESULTS).unwrap_or(NonZeroU32::MIN)
}

/// Turns the number of results a caller asks for into one to count with.
pub(crate) fn most(limit: NonZeroU32) -> NonZeroUsize {
    NonZeroUsize::try_from(limit).unwrap_or(NonZeroUsize::MAX)
}

/// Returns what is known of a number, and whether that is all.
pub(crate) fn known(count: Count) -> (u64, bool) {
    match count {
        Count::Exact(number) => (number, true),
        Count::AtLeast(number) => (number, false),
        Count::Unknown => (0, false),
    }
}

/// Says that a walk did not come to its end, so that there may be more than the `kept` results.
pub(crate) fn unfinished(report: &WalkReport, unit: &str, kept: usize) -> Option<Bound> {
    let entries = counted(report.entries, "entry", "entries");
    let why = match report.end {
        WalkEnd::Complete | WalkEnd::Satisfied => return None,
        WalkEnd::Deadline => format!("the time was up after {entries}"),
        WalkEnd::Entries => format!("at most {entries} are looked at"),
        WalkEnd::Cancelled => format!("it was called off after {entries}"),
    };
    Some(Bound {
        unit: unit.to_owned(),
        kept: kept as u64,
        left_out: Count::Unknown,
        way_on: format!("{why}; name a \"path\" deeper in the tree, or narrower globs"),
    })
}

/// Says what was passed over. What is kept from sight is the binding's to say.
pub(crate) fn passed_over(skipped: &Skipped) -> Vec<Notice> {
    let (files, directories) = (skipped.ignored_files, skipped.ignored_directories);
    let mut ignored = Vec::new();
    if files > 0 {
        ignored.push(counted(files, "file", "files"));
    }
    if directories > 0 {
        ignored.push(counted(directories, "directory", "directories"));
    }
    let mut notices = Vec::new();
    if !ignored.is_empty() {
        let ignored = ignored.join(" and ");
        notices.push(Notice::new(
            NoticeKind::Skipped,
            format!("{ignored} skipped by ignore rules; \"include_ignored\": true includes them"),
        ));
    }
    if skipped.dotted > 0 {
        let names = counted(skipped.dotted, "entry", "entries");
        notices.push(Notice::new(
            NoticeKind::Skipped,
            format!("{names} skipped whose name begins with a dot; \"hidden\": true includes them"),
        ));
    }
    let rest = Skipped {
        hidden: haft_workspace::Hidden::default(),
        ignored_files: 0,
        ignored_directories: 0,
        dotted: 0,
        ..skipped.clone()
    };
    notices.extend(rest.notices());
    notices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_that_was_ended_says_why() {
        let report = |end| WalkReport {
            end,
            entries: 12,
            unentered: 0,
            escaped: 0,
            skipped: Skipped::default(),
        };
        let ends = [WalkEnd::Deadline, WalkEnd::Entries, WalkEnd::Cancelled];
        let said =
            ends.map(|end| unfinished(&report(end), "matches", 3).unwrap().to_string()).join("\n");
        insta::assert_snapshot!(said, @r#"
        3 matches shown, an unknown number left out: the time was up after 12 entries; name a "path" deeper in the tree, or narrower globs
        3 matches shown, an unknown number left out: at most 12 entries are looked at; name a "path" deeper in the tree, or narrower globs
        3 matches shown, an unknown number left out: it was called off after 12 entries; name a "path" deeper in the tree, or narrower globs
        "#);
        assert_eq!(unfinished(&report(WalkEnd::Complete), "matches", 3), None);
    }
}
