//! Searching for files and directories.

mod moment;

use std::time::SystemTime;

use haft_protocol::{Bound, Count, ErrorKind, Failure, Notice, NoticeKind, limits};
use haft_tool::{Call, Output, Shown};
use haft_workspace::{FileKind, Found, ListOptions, ListOrder, Metadata, WorkspaceCall};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{FindArgs, Order, SearchOutput};
use crate::entry::{Beside, Entry, EntryKind};
use crate::pulse::Pulse;
use crate::scope::{self, Scope};
use crate::words::fitted;

/// Files and directories.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundOutput {
    /// What comes first in the order asked for.
    pub entries: Vec<Entry>,
    /// How many there are.
    pub total: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
}

/// Searches for the file, or beneath the directory, that the call is bound to.
pub(super) fn find(call: &Call, args: &FindArgs) -> Result<Shown<SearchOutput>, Failure> {
    let (view, place) = (call.view()?, call.resolved("path")?);
    let wanted = Wanted::of(args)?;
    let scope = Scope {
        include: std::slice::from_ref(&args.pattern),
        skip_dotted: !args.hidden,
        include_ignored: args.include_ignored,
        ..Scope::default()
    };
    let options = ListOptions {
        walk: scope.walk(call)?,
        most: scope::most(args.limit),
        order: match args.sort {
            Order::Path => ListOrder::Path,
            Order::Size => ListOrder::Largest,
            Order::Modified => ListOrder::Newest,
        },
    };
    let pulse = Pulse::of_entries(call);
    let is_called_off = || pulse.is_called_off();
    let listing = view.list(&place, &options, &is_called_off, |found| {
        pulse.add(1);
        wanted.admits(found)
    })?;

    let (total, is_total_exact) = scope::known(listing.total);
    let mut notices = scope::passed_over(&listing.report.skipped);
    let entries: Vec<Entry> = listing.entries.into_iter().map(Entry::from).collect();
    let lines: Vec<String> = entries.iter().map(|entry| entry.line(beside(args))).collect();
    let (text, kept) = fitted(&lines, limits::SEARCH_BYTES);
    let text = if kept == 0 { "nothing found".to_owned() } else { text };
    if total == 0 && leads_elsewhere(&args.pattern) {
        let text = "a pattern is matched with paths from \"path\" on, which never begin with `/` or hold `..`";
        notices.push(Notice::new(NoticeKind::Remark, text));
    }
    let mut bounds = Vec::new();
    bounds.extend(left_out(args, kept as u64, total, is_total_exact));
    bounds.extend(scope::unfinished(&listing.report, "results", kept));
    let entries = entries.into_iter().take(kept).collect();
    let value = SearchOutput::Found(FoundOutput { entries, total, is_total_exact });
    Ok(Shown { value, output: Output { bounds, notices, ..Output::text(text) } })
}

/// What is said beside a path: what was asked about.
fn beside(args: &FindArgs) -> Beside {
    Beside {
        size: args.min_size.is_some() || args.max_size.is_some() || args.sort == Order::Size,
        modified: args.newer_than.is_some()
            || args.older_than.is_some()
            || args.sort == Order::Modified,
    }
}

fn left_out(args: &FindArgs, kept: u64, total: u64, is_exact: bool) -> Option<Bound> {
    let rest = total.saturating_sub(kept);
    let limit = args.limit.get();
    let way_on = if kept >= limit.into() && limit < limits::SEARCH_RESULTS_MAX {
        "raise \"limit\", or narrow \"path\" or \"pattern\""
    } else {
        "narrow \"path\" or \"pattern\""
    };
    (rest > 0).then(|| Bound {
        unit: "results".to_owned(),
        kept,
        left_out: if is_exact { Count::Exact(rest) } else { Count::AtLeast(rest) },
        way_on: way_on.to_owned(),
    })
}

fn leads_elsewhere(pattern: &str) -> bool {
    pattern.starts_with('/') || pattern.split('/').any(|name| name == "..")
}

/// What of the entries that the pattern matches is asked for.
struct Wanted<'a> {
    kinds: &'a [EntryKind],
    min_size: Option<u64>,
    max_size: Option<u64>,
    after: Option<SystemTime>,
    before: Option<SystemTime>,
}

impl<'a> Wanted<'a> {
    fn of(args: &'a FindArgs) -> Result<Self, Failure> {
        let now = Timestamp::now();
        let time = |name: &str, text: &Option<String>| {
            text.as_ref().map(|text| moment::parse(name, text, now)).transpose()
        };
        let wanted = Self {
            kinds: &args.kinds,
            min_size: args.min_size,
            max_size: args.max_size,
            after: time("newer_than", &args.newer_than)?,
            before: time("older_than", &args.older_than)?,
        };
        let refused = |text: &str| Err(Failure::new(ErrorKind::InvalidArguments, text));
        if wanted.min_size.zip(wanted.max_size).is_some_and(|(min, max)| min > max) {
            return refused("no file can match: \"min_size\" is more than \"max_size\"");
        }
        if wanted.after.zip(wanted.before).is_some_and(|(after, before)| after >= before) {
            return refused("nothing can match: \"newer_than\" is no earlier than \"older_than\"");
        }
        Ok(wanted)
    }

    fn admits(&self, found: &Found<'_>) -> bool {
        let has_kind = self.kinds.is_empty() || self.kinds.contains(&found.kind().into());
        let by_size = self.min_size.is_some() || self.max_size.is_some();
        let by_time = self.after.is_some() || self.before.is_some();
        if !has_kind || (by_size && found.kind() != FileKind::File) {
            return false;
        }
        if !by_size && !by_time {
            return true;
        }
        // What went away in between is not there to be found.
        let Ok(Metadata { len, modified, .. }) = found.metadata() else { return false };
        let has_size = self.min_size.is_none_or(|min| len >= min)
            && self.max_size.is_none_or(|max| len <= max);
        let is_time = |fits: &dyn Fn(SystemTime) -> bool| modified.is_some_and(fits);
        has_size
            && self.after.is_none_or(|after| is_time(&|time| time > after))
            && self.before.is_none_or(|before| is_time(&|time| time < before))
    }
}
