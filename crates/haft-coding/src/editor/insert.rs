//! Putting lines between lines.

use haft_protocol::{ErrorKind, Failure, Notice, NoticeKind, limits};
use haft_text::{Document, InsertError, LineHash};
use haft_tool::{Output, Shown};

use super::file::{Target, report};
use super::refusal::unwritable;
use super::shown::{difference, ends};
use super::{EditDone, EditedOutput, EditorOutput, Grade, InsertArgs};
use crate::words::{counted, grouped};

pub(super) fn insert(
    target: &Target<'_>,
    args: &InsertArgs,
) -> Result<Shown<EditorOutput>, Failure> {
    let before = target.read_text()?;
    let path = target.path();
    let most = usize::try_from(limits::EDIT_FILE_BYTES).unwrap_or(usize::MAX);
    let failed = |kind, text: String| Failure::new(kind, format!("{text}; nothing was changed"));
    let edited = haft_text::insert(&before.bytes, args.line, &args.lines, most).map_err(
        |error| match error {
            InsertError::NoSuchLine { after, lines, .. } => {
                let lines_in_words = counted(lines, "line", "lines");
                let text =
                    format!("\"line\": {after} is past the end: `{path}` has {lines_in_words}");
                failed(ErrorKind::InvalidArguments, text)
                    .hint(format!("use a \"line\" from 0 to {lines}; {lines} puts them last"))
            }
            InsertError::Unwritable(error) => unwritable(path, error, "lines", failed),
            error => failed(ErrorKind::InvalidArguments, error.to_string()),
        },
    )?;
    let evidence = target.evidence();
    let gap = evidence.check_gap(&Document::new(&before.bytes), args.line)?;

    let written = target.replace(&before, &edited.bytes)?;
    let (difference, bound) = difference(&before.bytes, &edited.bytes);
    let lines: Vec<LineHash> = edited
        .applied
        .iter()
        .flat_map(|done| &done.touched)
        .flat_map(|it| it.new.clone())
        .collect();
    let where_to = match args.line {
        0 => "before the first line".to_owned(),
        line => format!("after line {}", grouped(line)),
    };
    let inserted = counted(lines.len() as u64, "line", "lines");
    let text = format!("inserted {inserted} into `{path}` {where_to}\n{}", difference.diff);
    let mut output = Output::text(text);
    output.bounds.extend(bound);
    for ending in edited.applied.iter().filter_map(|done| done.ending) {
        let text = format!(
            "the new lines were written to end in {}, as those beside them do",
            ends(ending)
        );
        output.notices.push(Notice::new(NoticeKind::Substituted, text));
    }
    report(&mut output, written);
    output.seen = vec![gap.filled(path, lines)];
    let done = EditDone { grade: Grade::Exact, places: 1, lines: vec![args.line + 1] };
    let value = EditedOutput { path: path.to_string(), edits: vec![done], difference };
    Ok(Shown { value: EditorOutput::Edited(value), output })
}
