//! Writing whole files.

use haft_protocol::{ErrorKind, Failure, Notice, NoticeKind, limits};
use haft_text::{Charset, Document, LineHash, overwrite};
use haft_tool::{Output, Seen, Shown};
use haft_workspace::{Expected, FileKind};

use super::file::{Target, report};
use super::placeholder::placeholder;
use super::refusal::unwritable;
use super::shown::{difference, ends};
use super::{Difference, EditorOutput, WriteArgs, WrittenOutput};
use crate::speech::{self, EDITOR, HintIf};
use crate::words::{counted, size};

pub(super) fn write(target: &Target<'_>, args: &WriteArgs) -> Result<Shown<EditorOutput>, Failure> {
    let path = target.path();
    match target.kind() {
        None => create(target, &args.content),
        Some(FileKind::Directory) => {
            let text = format!("`{path}` is a directory, not a file");
            Err(Failure::new(ErrorKind::Unsupported, text).hint("name the file to write in it"))
        }
        Some(_) => replace(target, &args.content),
    }
}

fn create(target: &Target<'_>, content: &str) -> Result<Shown<EditorOutput>, Failure> {
    let path = target.path();
    if content.len() as u64 > limits::EDIT_FILE_BYTES {
        let text = format!("`{path}` would become longer than {}", size(limits::EDIT_FILE_BYTES));
        return Err(Failure::new(ErrorKind::LimitExceeded, text).hint("write less at once"));
    }
    let written = target.writer.replace(&target.place, Expected::Nothing, content.as_bytes())?;
    let (value, text) = told(target, content.as_bytes(), None);
    let mut output = Output::text(text);
    report(&mut output, written);
    let new = hashes(content.as_bytes());
    output.seen = vec![Seen::Replaced { path: path.clone(), old: Vec::new(), new }];
    Ok(Shown { value: EditorOutput::Written(value), output })
}

fn replace(target: &Target<'_>, content: &str) -> Result<Shown<EditorOutput>, Failure> {
    let path = target.path();
    let before = target.read()?;
    let failed = |kind, text: String| Failure::new(kind, format!("{text}; nothing was changed"));
    let is_text = before.what().is_none();
    let evidence = target.evidence();
    let old = hashes(&before.bytes);
    evidence.check_whole(&old)?;
    if let Some(line) = placeholder(content, &before.bytes) {
        let text = format!(
            "`{path}` would lose most of its {}, and the new content says `{line}` in their place",
            counted(old.len() as u64, "line", "lines")
        );
        return Err(failed(ErrorKind::InvalidArguments, text)
            .hint_if(speech::action(target.call, EDITOR, "edit"), |edit| {
                format!("to change a part of the file, use {edit}")
            })
            .hint("to replace all of it, write out what the line stands for"));
    }
    let most = usize::try_from(limits::EDIT_FILE_BYTES).unwrap_or(usize::MAX);
    let (after, ending) = if is_text {
        overwrite(&before.bytes, content, most).map_err(|error| {
            unwritable(path, error, "content", failed)
                .hint("or delete the file first; a new one is written as UTF-8")
        })?
    } else {
        (content.as_bytes().to_vec(), None)
    };

    let written = target.replace(&before, &after)?;
    let (difference, bound) = if is_text && before.bytes != after {
        let (difference, bound) = difference(&before.bytes, &after);
        (Some(difference), bound)
    } else {
        (None, None)
    };
    let is_same = written.changes.is_empty();
    let (mut value, mut text) = told(target, &after, difference);
    value.is_new = false;
    if is_same {
        text = format!("`{path}` holds this content already: nothing was written");
    }
    let mut output = Output::text(text);
    output.bounds.extend(bound);
    if let Some(ending) = ending {
        let text = format!("its lines were written to end in {}, as they did before", ends(ending));
        output.notices.push(Notice::new(NoticeKind::Substituted, text));
    }
    let encoding = Document::new(&before.bytes).encoding();
    let is_told = encoding.charset != Charset::Utf8 || encoding.bom;
    let is_as_given = matches!(encoding.charset, Charset::Legacy(_)) && content.is_ascii();
    if is_text && !is_same && is_told && !is_as_given {
        let text = format!("it was written in {encoding}, as it was before");
        output.notices.push(Notice::new(NoticeKind::Substituted, text));
    }
    report(&mut output, written);
    let new = hashes(&after);
    output.seen = vec![Seen::Replaced { path: path.clone(), old, new }];
    Ok(Shown { value: EditorOutput::Written(value), output })
}

/// Says what a file holds now.
fn told(
    target: &Target<'_>,
    after: &[u8],
    difference: Option<Difference>,
) -> (WrittenOutput, String) {
    let path = target.path();
    let lines = Document::new(after).line_count();
    let bytes = after.len() as u64;
    let holds = format!("{}, {}", counted(lines, "line", "lines"), counted(bytes, "byte", "bytes"));
    let text = match &difference {
        None if target.kind().is_none() => format!("made `{path}`: {holds}"),
        None => format!("wrote `{path}`: {holds}"),
        Some(difference) => format!("wrote `{path}`: {holds}\n{}", difference.diff),
    };
    (WrittenOutput { path: path.to_string(), is_new: true, lines, bytes, difference }, text)
}

fn hashes(bytes: &[u8]) -> Vec<LineHash> {
    Document::new(bytes).line_hashes()
}
