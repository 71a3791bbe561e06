//! Putting a file in its place, whole or not at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;

use haft_protocol::{ChangeKind, Digest, FileState, Notice, NoticeKind};
use haft_tool::SystemIds;
use haft_tool::ports::Ids as _;
use rustix::io::Errno;

use super::deed::{Deed, Planned, recorded};
use super::standing::{Existing, Standing};
use super::step::Step;
use super::{Expected, Writer, Written};
use crate::file::Metadata;
use crate::protection::lines::UNFINISHED;
use crate::resolved::Resolved;
use crate::sys::{Dir, SET_ID, keep_extras, set_mode};
use crate::write_error::WriteError;

/// Mode of a new file, before the user's mask takes bits away.
const NEW_FILE: u32 = 0o666;

/// Mode of a file that others may not look into until it is what it is to be.
const OWN: u32 = 0o700;

/// What else is wanted of a file that is put in its place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wish {
    /// The permission bits; else those of the file that stands there, or of any new file.
    pub(crate) mode: Option<u32>,
    /// Whether something comes back under a name that it had, whatever that is.
    pub(crate) is_restored: bool,
}

impl Writer {
    /// Puts content in a file's place.
    pub(crate) fn put(
        &self,
        place: &Resolved,
        expected: Expected,
        bytes: &[u8],
        wish: Wish,
    ) -> Result<Written, WriteError> {
        let Wish { mode, is_restored } = wish;
        let standing = self.stand(place)?;
        let existing = self.existing(&standing)?;
        let changed = |problem| Err(WriteError::Changed { path: standing.shown(), problem });
        match (&existing, expected) {
            (None, Expected::Nothing) if is_restored => {}
            (None, Expected::Nothing) => standing.check_new_names()?,
            (None, Expected::Content(_)) => return changed("it is gone"),
            (Some(_), Expected::Nothing) => return changed("something stands there now"),
            (Some(existing), Expected::Content(digest)) if existing.content.digest != digest => {
                return changed("its content is another");
            }
            (Some(existing), Expected::Content(_)) => {
                let mode_now = existing.metadata.mode;
                match standing.dir.may_write(standing.leaf) {
                    Ok(true) => {}
                    Ok(false) => {
                        let path = standing.shown();
                        return Err(WriteError::ReadOnly { path, mode: mode_now });
                    }
                    Err(Errno::NOENT) => return changed("it is gone"),
                    Err(error) => return Err(standing.failed(error)),
                }
                let is_same = existing.content.digest == Digest::of_bytes(bytes)
                    && mode.is_none_or(|mode| mode == mode_now);
                if is_same {
                    return Ok(Written::default());
                }
            }
        }
        let content = self
            .account
            .effects
            .keep(&mut &*bytes)
            .map_err(|source| WriteError::Unrecorded { path: standing.shown(), source })?;
        let unfinished = format!("{}{:032x}{}", UNFINISHED.0, SystemIds.random(), UNFINISHED.1);
        let mode = match (&existing, mode) {
            (_, Some(mode)) => Some(mode),
            (Some(existing), None) => Some(existing.metadata.mode),
            (None, None) => None,
        };
        let after = FileState::File { content: Some(content), mode: mode.unwrap_or(NEW_FILE) };
        let (kind, before) = match &existing {
            Some(existing) => (ChangeKind::Modified, Some(existing.state())),
            None => (ChangeKind::Created, None),
        };
        let mut change = recorded(place.logical().clone(), kind, before, Some(after));
        change.not_restorable =
            existing.as_ref().and_then(|existing| existing.not_restorable(&self.account));

        let mut planned = standing.planned_directories(self)?;
        let number = planned.len();
        let leftover = Some(unfinished.clone());
        planned.push(Planned { leftover, ..Planned::new(place.root, change) });
        let mut deed = Deed::announce(&self.account, &self.view, planned)?;
        let made = match standing.make_directories(&mut deed) {
            Ok(made) => made,
            Err(error) => {
                deed.not_done(number);
                return Err(error);
            }
        };
        let unfinished = OsString::from(unfinished);
        let writing = Writing { standing: &standing, existing: existing.as_ref(), bytes, mode };
        match writing.run(self, &made.dir, &unfinished, &mut deed) {
            Ok(state) => {
                let after = FileState::File { content: Some(content), mode: state.mode };
                deed.done(number, Some(after));
                deed.notices.extend(existing.and_then(|existing| existing.other_names(place)));
                Ok(deed.written())
            }
            Err(error) => {
                // Not there where it was never made.
                let _ = made.dir.unlink(&unfinished);
                deed.not_done(number);
                made.take_back(&mut deed);
                Err(error)
            }
        }
    }
}

/// A file on its way to its place.
struct Writing<'a> {
    standing: &'a Standing<'a>,
    existing: Option<&'a Existing>,
    bytes: &'a [u8],
    mode: Option<u32>,
}

impl Writing<'_> {
    /// Writes beside the place, then takes the place. Returns what stands there then.
    fn run(
        &self,
        writer: &Writer,
        dir: &Dir,
        unfinished: &OsString,
        deed: &mut Deed<'_>,
    ) -> Result<Metadata, WriteError> {
        let standing = self.standing;
        let failed = |error: Errno| standing.failed(error);
        // Never more permissive than what it becomes: others are let in when all is in place.
        let first_mode = self.mode.map_or(NEW_FILE, |mode| mode & OWN);
        let mut file = dir.make_file(unfinished, first_mode).map_err(failed)?;
        deed.tell(Step::FileMade);
        file.write_all(self.bytes).map_err(|error| WriteError::of_io(standing.shown(), error))?;
        deed.notices.extend(self.dress(&file)?);
        file.sync_all().map_err(|error| WriteError::of_io(standing.shown(), error))?;
        let written = Metadata::of(&rustix::fs::fstat(&file).map_err(failed)?);
        if written.len != self.bytes.len() as u64 {
            let short = std::io::Error::from(std::io::ErrorKind::WriteZero);
            return Err(WriteError::of_io(standing.shown(), short));
        }
        deed.tell(Step::FileWritten);
        if let Some(existing) = self.existing {
            writer.still_holds(standing, &existing.content)?;
            dir.rename(unfinished, dir, standing.leaf).map_err(failed)?;
        } else {
            deed.tell(Step::Compared);
            dir.rename_onto_nothing(unfinished, dir, standing.leaf).map_err(failed)?;
        }
        deed.tell(Step::Done);
        if let Err(error) = dir.sync() {
            tracing::warn!(%error, "a directory was not synced");
        }
        deed.tell(Step::Synced);
        // What was written counts only if it is what stands there.
        if dir.look(standing.leaf).ok().is_none_or(|it| it.id != written.id) {
            let text = format!(
                "`{}` was written, and something else was put there right after",
                standing.shown()
            );
            deed.notices.push(Notice::new(NoticeKind::Degraded, text));
        }
        Ok(written)
    }

    /// Gives the new file the owner, the attributes and the mode it is to have; says what could not be kept.
    fn dress(&self, file: &File) -> Result<Option<Notice>, WriteError> {
        let failed = |error: Errno| self.standing.failed(error);
        let mut lost = Vec::new();
        if let Some(existing) = self.existing {
            let is = Metadata::of(&rustix::fs::fstat(file).map_err(failed)?);
            lost = keep_extras(&existing.file, &existing.metadata, file, &is);
        }
        if let Some(mode) = self.mode {
            // Writing to a program takes its borrowed rights away, and so does this.
            if mode & SET_ID != 0 {
                lost.push(format!("its set-id bits (mode {mode:o})"));
            }
            set_mode(file, mode & !SET_ID).map_err(failed)?;
        }
        Ok((!lost.is_empty()).then(|| {
            let text =
                format!("`{}` could not keep {}", self.standing.shown(), lost.join(", nor "));
            Notice::new(NoticeKind::Degraded, text)
        }))
    }
}
