//! Listing a directory.

use std::num::NonZeroU32;

use haft_protocol::{Bound, Count, ErrorKind, Failure, LogicalPath, Notice, NoticeKind, limits};
use haft_tool::{Call, Output, Shown};
use haft_workspace::{FileKind, ListOptions, WalkOptions, WorkspaceCall};
use schemars::JsonSchema;
use serde::Serialize;

use super::{ListDirArgs, ReaderOutput};
use crate::entry::{Beside, Entry};
use crate::pulse::Pulse;
use crate::scope::{self, Scope};
use crate::speech::{self, READER};
use crate::words::fitted;

/// Entries of a directory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DirectoryOutput {
    /// The path of the directory.
    pub path: String,
    /// The entries that come first by path.
    pub entries: Vec<Entry>,
    /// How many entries there are.
    pub total: u64,
    /// Whether there are no more than that.
    pub is_total_exact: bool,
}

/// How many levels a recursive listing has when no number is given.
const LEVELS: NonZeroU32 = NonZeroU32::new(limits::LIST_DEPTH_DEFAULT).unwrap();

pub(super) fn list(call: &Call, args: &ListDirArgs) -> Result<Shown<ReaderOutput>, Failure> {
    let place = call.resolved("path")?;
    let path = place.logical().as_str();
    if let Some(kind) = place.kind()
        && kind != FileKind::Directory
    {
        let text = format!("`{path}` is {kind}, not a directory");
        return Err(Failure::new(ErrorKind::Unsupported, text).hint(
            match speech::action(call, READER, "read") {
                Some(read) => format!("use {read}, or name the directory it is in"),
                None => "name the directory it is in".to_owned(),
            },
        ));
    }
    let levels = match args.depth {
        Some(depth) => depth,
        None if args.recursive => LEVELS,
        None => NonZeroU32::MIN,
    };
    let scope =
        Scope { include: &args.include, include_ignored: args.include_ignored, ..Scope::default() };
    let mut options = ListOptions { most: scope::most(args.limit), ..ListOptions::tree() };
    options.walk = WalkOptions { depth: Some(scope::most(levels)), ..scope.walk(call)? };
    let pulse = Pulse::of_entries(call);
    let is_called_off = || pulse.is_called_off();
    let listing = call.view()?.list(&place, &options, &is_called_off, |found| {
        pulse.add(1);
        args.kinds.is_empty() || args.kinds.contains(&found.kind().into())
    })?;

    let (total, is_total_exact) = scope::known(listing.total);
    let entries: Vec<Entry> = listing.entries.into_iter().map(Entry::from).collect();
    let beside = Beside { size: true, modified: false };
    let lines: Vec<String> = entries.iter().map(|entry| entry.line(beside)).collect();
    let (text, kept) = fitted(&lines, limits::READ_BYTES);
    let text = if kept == 0 { "(no entries)".to_owned() } else { text };

    let mut bounds = Vec::new();
    bounds.extend(entries_left_out(args, kept as u64, total, is_total_exact));
    if levels > NonZeroU32::MIN {
        bounds.extend(levels_left_out(levels, listing.report.unentered));
    }
    bounds.extend(scope::unfinished(&listing.report, "entries", kept));
    let mut notices = scope::passed_over(&listing.report.skipped);
    if path == "." {
        notices.extend(further_roots(&call.view()?.further_roots()));
    }
    let output = Output { bounds, notices, ..Output::text(text) };
    let value = ReaderOutput::Directory(DirectoryOutput {
        path: path.to_owned(),
        entries: entries.into_iter().take(kept).collect(),
        total,
        is_total_exact,
    });
    Ok(Shown { value, output })
}

/// Names the roots that no path from the first one leads to, to whoever looks around there.
fn further_roots(roots: &[LogicalPath]) -> Option<Notice> {
    let roots: Vec<String> = roots.iter().map(|root| format!("`{root}`")).collect();
    let (what, verb) = if roots.len() == 1 { ("root", "is") } else { ("roots", "are") };
    let text = format!("further {what} of the workspace {verb} {}", roots.join(", "));
    (!roots.is_empty()).then(|| Notice::new(NoticeKind::Remark, text))
}

fn entries_left_out(args: &ListDirArgs, kept: u64, total: u64, is_exact: bool) -> Option<Bound> {
    let rest = total.saturating_sub(kept);
    let is_by_number = kept >= u64::from(args.limit.get());
    let way_on = if is_by_number && args.limit.get() < limits::LIST_ENTRIES {
        "raise \"limit\", or narrow \"path\" or \"include\""
    } else {
        "narrow \"path\" or \"include\""
    };
    (rest > 0).then(|| Bound {
        unit: "entries".to_owned(),
        kept,
        left_out: if is_exact { Count::Exact(rest) } else { Count::AtLeast(rest) },
        way_on: way_on.to_owned(),
    })
}

/// Says that there is more beneath the last level, when nobody can see that from the level itself.
fn levels_left_out(levels: NonZeroU32, unentered: u64) -> Option<Bound> {
    let levels = levels.get();
    let deeper = limits::LIST_DEPTH.min(levels.saturating_mul(2));
    let way_on = if levels < deeper {
        format!("call again with \"depth\": {deeper}, or list a directory of the last level")
    } else {
        "list a directory of the last level".to_owned()
    };
    (unentered > 0).then(|| Bound {
        unit: "levels".to_owned(),
        kept: levels.into(),
        left_out: Count::Unknown,
        way_on,
    })
}
