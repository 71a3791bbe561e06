//! Replacing text.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use haft_protocol::{ErrorKind, Failure, Notice, NoticeKind, limits};
use haft_text::{Applied, Document, Edit, EditRules, MatchGrade};
use haft_tool::{Output, Shown};

use super::file::{Target, report};
use super::shown::{difference, ends};
use super::{EditArgs, EditDone, EditedOutput, EditorOutput, refusal};
use crate::words::counted;

pub(super) fn edit(target: &Target<'_>, args: &EditArgs) -> Result<Shown<EditorOutput>, Failure> {
    let edits = edits(args)?;
    refusal::check(target, &edits)?;
    let before = target.read_text()?;
    let evidence = target.evidence();
    let rules = EditRules {
        highest: evidence.highest(),
        most_places: NonZeroUsize::new(limits::EDIT_PLACES).unwrap_or(NonZeroUsize::MIN),
        most_bytes: usize::try_from(limits::EDIT_FILE_BYTES).unwrap_or(usize::MAX),
    };
    let path = target.path();
    let encoding = Document::new(&before.bytes).encoding();
    let stop = || target.is_called_off();
    let edited = haft_text::edit_until(&before.bytes, &edits, &rules, &stop)
        .map_err(|error| refusal::refused(target, encoding, &edits, error))?;
    evidence.check_edits(&edited.applied)?;

    let written = target.replace(&before, &edited.bytes)?;
    let (difference, bound) = difference(&before.bytes, &edited.bytes);
    let text = format!("{}\n{}", headline(path.as_str(), &edited.applied), difference.diff);
    let mut output = Output::text(text);
    output.bounds.extend(bound);
    output.notices.extend(remarks(&edited.applied));
    output.notices.extend(reads_otherwise(encoding, &edited.bytes));
    output.notices.extend(evidence.notice());
    report(&mut output, written);
    let done = |it: &Applied| EditDone {
        grade: it.grade.into(),
        places: it.places as u64,
        lines: it
            .touched
            .iter()
            .take(limits::EDIT_LINES_NAMED)
            .map(|lines| lines.first_line)
            .collect(),
    };
    let value = EditedOutput {
        path: path.to_string(),
        edits: edited.applied.iter().map(done).collect(),
        difference,
    };
    let touched = edited.applied.into_iter().flat_map(|done| done.touched);
    output.seen = touched.map(|lines| evidence.replaced(lines)).collect();
    Ok(Shown { value: EditorOutput::Edited(value), output })
}

/// The edits of a call: one, or several.
fn edits(args: &EditArgs) -> Result<Vec<Edit>, Failure> {
    let refused = |text: &str| {
        let failure = Failure::new(ErrorKind::InvalidArguments, text);
        Err(failure.hint("give \"old\" and \"new\" for one edit, or \"edits\": [{\"old\": …, \"new\": …}, …] for several"))
    };
    match (&args.old, &args.new, args.edits.as_slice()) {
        // Models that fill in every member say one edit twice.
        (Some(old), Some(new), [only])
            if only.old == *old && only.new == *new && only.replace_all == args.replace_all =>
        {
            let replace_all = args.replace_all;
            Ok(vec![Edit { old: old.clone(), new: new.clone(), replace_all }])
        }
        (Some(old), Some(new), []) => {
            let replace_all = args.replace_all;
            Ok(vec![Edit { old: old.clone(), new: new.clone(), replace_all }])
        }
        (None, None, []) => refused("there is nothing to replace: \"old\" and \"new\" are missing"),
        (Some(_), None, []) => refused("\"new\" is missing; it may be empty"),
        (None, Some(_), []) => refused("\"old\" is missing"),
        (None, None, edits) if !args.replace_all => Ok(edits
            .iter()
            .map(|it| Edit {
                old: it.old.clone(),
                new: it.new.clone(),
                replace_all: it.replace_all,
            })
            .collect()),
        (None, None, _) => {
            refused("\"replace_all\" stands beside \"edits\": it belongs into those that need it")
        }
        _ => refused("\"edits\" stands beside \"old\" and \"new\": give one or the other"),
    }
}

/// Says what was edited, and how its places were found.
fn headline(path: &str, applied: &[Applied]) -> String {
    let places: usize = applied.iter().map(|done| done.places).sum();
    let places = counted(places as u64, "place", "places");
    let several = if applied.len() > 1 {
        format!("{} in ", counted(applied.len() as u64, "edit", "edits"))
    } else {
        String::new()
    };
    let mut text = format!("edited `{path}`: {several}{places}");
    let inexact = applied.iter().enumerate().filter(|(_, done)| done.grade > MatchGrade::Exact);
    for (index, done) in inexact {
        let which = if applied.len() > 1 { format!("edit {} ", index + 1) } else { String::new() };
        text.push_str(&format!(", {which}matched but for {}", done.grade));
    }
    text
}

/// Says how new text was written where that is not how it was given.
fn remarks(applied: &[Applied]) -> Vec<Notice> {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    for done in applied {
        if let Some(ending) = done.ending {
            texts.push(
                format!(
                    "lines of the new text were written to end in {}, as they do there",
                    ends(ending)
                )
                .into(),
            );
        }
        if done.is_indented_anew {
            texts.push("the new text was indented as the place is".into());
        }
    }
    texts.sort_unstable();
    texts.dedup();
    texts.into_iter().map(|text| Notice::new(NoticeKind::Substituted, text)).collect()
}

/// Warns where the encoding is a guess that turns out differently after the change.
fn reads_otherwise(before: haft_text::Encoding, after: &[u8]) -> Option<Notice> {
    let now = Document::new(after);
    if now.encoding() == before || before.decode(after).text == now.text() {
        return None;
    }
    let text = format!(
        "the file was read and written as {before}, and without a mark of its encoding it now reads as {}",
        now.encoding()
    );
    Some(Notice::new(NoticeKind::Degraded, text))
}
