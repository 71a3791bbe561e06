//! Taking things away.

use haft_protocol::{Change, ChangeKind, FileState};

use super::deed::{Deed, Planned, recorded};
use super::standing::Standing;
use super::step::Step;
use super::{Writer, Written};
use crate::file::FileKind;
use crate::name::shown;
use crate::resolved::Resolved;
use crate::write_error::WriteError;

/// What is removed and how it is known to be still that.
enum Removing {
    File(super::standing::Existing),
    Link,
    Directory,
}

impl Writer {
    pub(crate) fn take_away(&self, place: &Resolved) -> Result<Written, WriteError> {
        let standing = self.stand(place)?;
        let (removing, change) = self.to_remove(&standing)?;
        let is_directory = matches!(removing, Removing::Directory);
        let born = is_directory.then(|| standing.dir.born_at(standing.leaf)).flatten();
        let planned = vec![Planned { born, ..Planned::new(place.root, change) }];
        let mut deed = Deed::announce(&self.account, &self.view, planned)?;
        match self.remove_now(&standing, &removing) {
            Ok(()) => {}
            Err(error) => {
                deed.not_done(0);
                return Err(error);
            }
        }
        deed.tell(Step::Done);
        let _ = standing.dir.sync();
        deed.tell(Step::Synced);
        deed.done(0, None);
        if let Removing::File(existing) = &removing {
            deed.notices.extend(existing.other_names(place));
        }
        Ok(deed.written())
    }

    fn to_remove(&self, standing: &Standing<'_>) -> Result<(Removing, Change), WriteError> {
        let path = standing.place.logical().clone();
        let found = standing.look()?.ok_or_else(|| WriteError::Path(not_found(standing)))?;
        let deleted = |before| recorded(path, ChangeKind::Deleted, Some(before), None);
        Ok(match found.kind {
            FileKind::File => {
                let existing = self.existing(standing)?;
                let existing = existing.ok_or_else(|| WriteError::Path(not_found(standing)))?;
                let mut change = deleted(existing.state());
                change.not_restorable = existing.not_restorable(&self.account);
                (Removing::File(existing), change)
            }
            FileKind::Link => {
                let state = link_state(standing)?;
                let mut change = deleted(state.0);
                change.not_restorable = state.1;
                (Removing::Link, change)
            }
            FileKind::Directory => {
                (Removing::Directory, deleted(FileState::Directory { mode: found.mode }))
            }
            kind => {
                let wanted = "only files, links and empty directories are removed";
                return Err(WriteError::Kind { path: standing.shown(), kind, wanted });
            }
        })
    }

    fn remove_now(&self, standing: &Standing<'_>, it: &Removing) -> Result<(), WriteError> {
        let failed = |error| standing.failed(error);
        match it {
            Removing::File(existing) => {
                self.still_holds(standing, &existing.content)?;
                standing.dir.unlink(standing.leaf).map_err(failed)
            }
            Removing::Link => {
                if standing.look()?.is_none_or(|it| it.kind != FileKind::Link) {
                    let problem = "it is no link any more";
                    return Err(WriteError::Changed { path: standing.shown(), problem });
                }
                standing.dir.unlink(standing.leaf).map_err(failed)
            }
            Removing::Directory => standing.dir.remove_directory(standing.leaf).map_err(failed),
        }
    }
}

pub(super) fn not_found(standing: &Standing<'_>) -> crate::error::PathError {
    crate::error::PathError::of_system(standing.shown(), rustix::io::Errno::NOENT)
}

/// Returns what a link is, and why it could not be made again where that is so.
pub(super) fn link_state(
    standing: &Standing<'_>,
) -> Result<(FileState, Option<String>), WriteError> {
    let target = standing.dir.read_link(standing.leaf).map_err(|it| standing.failed(it))?;
    let why = target.to_str().is_none().then(|| "where it points is no text".to_owned());
    let target = target.to_str().map_or_else(|| shown(&target).into_owned(), ToOwned::to_owned);
    Ok((FileState::Link { target }, why))
}
