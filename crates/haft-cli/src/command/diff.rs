//! `haft diff`: show what a call changed, line by line.

use std::sync::Arc;

use clap::Args;
use haft::ports::Effects as _;
use haft::store::Store;
use haft::text::{DiffLimits, unified};
use haft::{Change, ChangeKind, ChangedCall, EffectState, FileState};
use serde::Serialize;

use super::{Invocation, changes, undo};
use crate::exit::Exit;
use crate::print::{Printer, Tone};

/// How much of each difference is shown to a person or a program.
const LIMITS: DiffLimits =
    DiffLimits { context: 3, lines: usize::MAX, bytes: 1024 * 1024, line_bytes: 4_000 };

/// Show what a call changed, line by line
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The call: its id, the first or last four letters or more of it, or `last` for the latest that changed something in
    /// this workspace
    #[arg(default_value = "last")]
    call: String,
}

/// The difference that one change made.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    change: &'static str,
    /// What there is to say in place of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
    diff: String,
    added: u64,
    removed: u64,
    left_out: u64,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &DiffArgs) -> anyhow::Result<Exit> {
    let store = invocation.store()?;
    let printer = invocation.printer;
    let found = if args.call.eq_ignore_ascii_case("last") {
        let latest = changes::latest(invocation, &store, 1)?.calls.pop();
        if latest.is_none() {
            let text = "no change of a file in this workspace is on record";
            printer.error(Exit::Failed, "not_found", text, &[]);
        }
        latest
    } else if let Some(run) = undo::meant_run(invocation, &store, &args.call)? {
        let run = run.id.short();
        let text = format!("`{}` is a run, and what is shown is what one call changed", args.call);
        let hints = [
            format!("`haft show {run}` shows the run with its calls"),
            "`haft changes` lists the calls that changed something".to_owned(),
        ];
        return Ok(printer.error(Exit::Failed, "not_found", &text, &hints));
    } else {
        changes::find(printer, &store, &args.call)?
    };
    let Some(ChangedCall { call, .. }) = found else { return Ok(Exit::Failed) };
    let effects = store.of_call(call)?;
    let done = effects.iter().filter(|it| it.state != EffectState::NotDone);
    let shown: Vec<Shown> = done.map(|it| shown(Some(&store), &it.change, &LIMITS)).collect();
    if printer.is_json() {
        return printer.envelope(Exit::Ok, serde_json::json!({ "call": call, "changes": shown }));
    }
    if shown.is_empty() {
        let text = format!("no change of a file is on record for call {call}");
        return Ok(printer.error(Exit::Failed, "not_found", &text, &[]));
    }
    for change in &shown {
        print(printer, change);
    }
    Ok(Exit::Ok)
}

/// Compares the two sides of a change, where their contents are kept.
pub(crate) fn shown(store: Option<&Store>, change: &Change, limits: &DiffLimits) -> Shown {
    let (word, from) = match &change.kind {
        ChangeKind::Created => ("created", None),
        ChangeKind::Modified => ("modified", None),
        ChangeKind::Deleted => ("deleted", None),
        ChangeKind::Moved { from } => ("moved", Some(from.to_string())),
    };
    let mut shown = Shown {
        path: change.path.to_string(),
        from,
        change: word,
        remark: remark(change.before.as_ref(), change.after.as_ref()),
        diff: String::new(),
        added: 0,
        removed: 0,
        left_out: 0,
    };
    let is_file = |state: &Option<FileState>| matches!(state, Some(FileState::File { .. }));
    if matches!(change.kind, ChangeKind::Moved { .. })
        || !(is_file(&change.before) || is_file(&change.after))
    {
        return shown;
    }
    let held = |state| store.and_then(|store| held(store, state));
    let sides = (held(change.before.as_ref()), held(change.after.as_ref()));
    let (Some(before), Some(after)) = sides else {
        let why = change.not_restorable.as_deref().unwrap_or("what it held is not kept");
        shown.remark = Some(format!("no lines to show: {why}"));
        return shown;
    };
    if before.contains(&0) || after.contains(&0) {
        let text = format!("no text: {} bytes before, {} bytes after", before.len(), after.len());
        shown.remark = Some(text);
        return shown;
    }
    let diff = unified(&before, &after, limits);
    (shown.diff, shown.added, shown.removed) = (diff.text, diff.added, diff.removed);
    shown.left_out = diff.left_out;
    shown
}

/// Says what lines do not tell: other kinds, other modes.
fn remark(before: Option<&FileState>, after: Option<&FileState>) -> Option<String> {
    let words = |state: &FileState| match state {
        FileState::File { .. } => "a file".to_owned(),
        FileState::Directory { .. } => "a directory".to_owned(),
        FileState::Link { target } => format!("a link to {target}"),
        FileState::Other => "something else".to_owned(),
    };
    match (before, after) {
        (Some(FileState::File { mode, .. }), Some(FileState::File { mode: new, .. })) => {
            (mode != new).then(|| format!("mode {mode:o} became {new:o}"))
        }
        (Some(FileState::File { .. }), None) | (None, Some(FileState::File { .. }) | None) => None,
        (Some(before), Some(after)) => Some(format!("{} became {}", words(before), words(after))),
        (None, Some(state)) | (Some(state), None) => Some(words(state)),
    }
}

/// Returns what stood there: nothing counts as an empty file.
fn held(store: &Store, state: Option<&FileState>) -> Option<Arc<[u8]>> {
    let Some(FileState::File { content, .. }) = state else { return Some(Arc::default()) };
    store.fetch(content.as_ref()?.digest).ok().flatten()
}

fn print(printer: Printer, change: &Shown) {
    printer.line(&[(Tone::Strong, &head(change)), (Tone::Faint, &remarked(change))]);
    for (tone, line) in hunks(change) {
        printer.line(&[(tone, line)]);
    }
    if change.left_out > 0 {
        printer.aside(Tone::Warn, "bound", &left_out(change));
    }
}

/// Returns a difference as lines.
pub(crate) fn lines(change: &Shown) -> Vec<(Tone, String)> {
    let head = format!("{}{}", head(change), remarked(change));
    let hunks = hunks(change).map(|(tone, line)| (tone, line.to_owned()));
    let mut lines: Vec<(Tone, String)> =
        std::iter::once((Tone::Strong, head)).chain(hunks).collect();
    if change.left_out > 0 {
        lines.push((Tone::Faint, format!("… {}", left_out(change))));
    }
    lines
}

fn head(change: &Shown) -> String {
    let from = change.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
    format!("{} {}{from}", change.change, change.path)
}

fn remarked(change: &Shown) -> String {
    change.remark.as_ref().map(|it| format!("  ({it})")).unwrap_or_default()
}

fn hunks(change: &Shown) -> impl Iterator<Item = (Tone, &str)> {
    change.diff.lines().map(|line| {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(b'@' | b'\\') => Tone::Faint,
            _ => Tone::Plain,
        };
        (tone, line)
    })
}

fn left_out(change: &Shown) -> String {
    format!("{} lines of the difference are left out", change.left_out)
}
