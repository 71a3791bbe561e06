//! Removing, moving and making entries of directories.

use haft_protocol::{ErrorKind, Failure};
use haft_tool::{Output, Seen, Shown};
use haft_workspace::{FileKind, Onto};
use serde_json::json;

use super::file::{Target, report};
use super::{DeletedOutput, EditorOutput, MadeOutput, MovedOutput};
use crate::EntryKind;
use crate::speech::{self, EDITOR, HintIf};

pub(super) fn delete(target: &Target<'_>) -> Result<Shown<EditorOutput>, Failure> {
    let path = target.place.itself_logical().clone();
    let written = target.writer.remove(&target.place).map_err(|error| target.near(error.into()))?;
    let was = match written.changes.first().and_then(|change| change.before.as_ref()) {
        Some(haft_protocol::FileState::Directory { .. }) => EntryKind::Dir,
        Some(haft_protocol::FileState::Link { .. }) => EntryKind::Link,
        Some(haft_protocol::FileState::Other) => EntryKind::Other,
        Some(haft_protocol::FileState::File { .. }) | None => EntryKind::File,
    };
    let what = match was {
        EntryKind::Dir => "the directory ",
        EntryKind::Link => "the link ",
        _ => "",
    };
    let mut output = Output::text(format!("deleted {what}`{path}`"));
    report(&mut output, written);
    output.seen = vec![Seen::Removed { path: path.clone() }];
    let value = DeletedOutput { path: path.to_string(), was };
    Ok(Shown { value: EditorOutput::Deleted(value), output })
}

pub(super) fn rename(target: &Target<'_>) -> Result<Shown<EditorOutput>, Failure> {
    let from = target.place.itself_logical().clone();
    let to = target.writer.place("to")?;
    if to.resolved().kind() == Some(FileKind::Directory) && to.logical() != &from {
        let text =
            format!("`{}` is a directory that is there already; nothing was moved", to.logical());
        let failure = Failure::new(ErrorKind::Conflict, text);
        let Some(name) = from.as_str().rsplit('/').next().filter(|_| from.as_str() != ".") else {
            return Err(failure.hint("give in \"to\" the whole new path, with the name at its end"));
        };
        let into = format!("{}/{name}", to.logical().as_str().trim_end_matches('/'));
        let into = into.strip_prefix("./").unwrap_or(&into);
        let call = json!({ "action": "move", "path": from.as_str(), "to": into });
        let call = speech::call(target.call, EDITOR, speech::fields(&call));
        return Err(
            failure.hint_if(call, |call| format!("to move it into that directory, send: {call}"))
        );
    }
    let renamed = target.writer.rename(&target.place, &to, Onto::Nothing);
    let written = renamed.map_err(|error| target.near(error.into()))?;
    let path = to.itself_logical().clone();
    let mut output = Output::text(format!("moved `{from}` to `{path}`"));
    report(&mut output, written);
    output.seen = vec![Seen::Moved { from: from.clone(), to: path.clone() }];
    let value = MovedOutput { from: from.to_string(), path: path.to_string() };
    Ok(Shown { value: EditorOutput::Moved(value), output })
}

pub(super) fn make_dir(target: &Target<'_>) -> Result<Shown<EditorOutput>, Failure> {
    let path = target.path().clone();
    let written = target.writer.create_dir(&target.place)?;
    let is_new = !written.changes.is_empty();
    let text = if is_new {
        format!("made the directory `{path}`")
    } else {
        format!("the directory `{path}` is there already")
    };
    let mut output = Output::text(text);
    report(&mut output, written);
    let value = MadeOutput { path: path.to_string(), is_new };
    Ok(Shown { value: EditorOutput::Made(value), output })
}
