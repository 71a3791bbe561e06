//! Giving things another place.

use std::io::Read as _;
use std::path::PathBuf;

use haft_protocol::{ChangeKind, FileState, limits};
use rustix::io::Errno;

use super::deed::{Deed, Planned, recorded};
use super::put::Wish;
use super::removing::{link_state, not_found};
use super::standing::{Existing, Standing};
use super::step::Step;
use super::{Expected, Onto, WritePlace, Writer, Written};
use crate::file::{FileKind, Metadata};
use crate::resolved::Resolved;
use crate::sys::Dir;
use crate::write_error::WriteError;

impl Writer {
    /// Moves; under a name that was in use before, whatever that is, where something goes back.
    pub(crate) fn give_place(
        &self,
        from: &WritePlace,
        to: &WritePlace,
        onto: Onto,
        goes_back: bool,
    ) -> Result<Written, WriteError> {
        let (source, target) = (from.itself(), to.itself());
        let standing = self.stand(source)?;
        let goal = self.stand(target)?;
        let found = standing.look()?.ok_or_else(|| WriteError::Path(not_found(&standing)))?;
        let state = match found.kind {
            FileKind::File => FileState::File { content: None, mode: found.mode },
            FileKind::Directory => FileState::Directory { mode: found.mode },
            FileKind::Link => link_state(&standing)?.0,
            kind => {
                let wanted = "only files, links and directories are moved";
                return Err(WriteError::Kind { path: standing.shown(), kind, wanted });
            }
        };
        if found.kind == FileKind::Directory {
            if target.above().contains(&found.id) {
                return Err(WriteError::IntoItself { from: standing.shown() });
            }
            self.check_contents(&standing, source)?;
        }
        let replaced = self.to_replace(&goal, &found, onto, goes_back)?;
        let device = |dir: &Dir| dir.metadata().map(|it| it.id.device);
        if device(&standing.dir).ok() != device(&goal.dir).ok() {
            return self.carry(&standing, &goal, &found, replaced.as_ref());
        }

        let mut planned = goal.planned_directories(self)?;
        let directories = planned.len();
        if let Some(replaced) = &replaced {
            let path = target.logical().clone();
            let mut change = recorded(path, ChangeKind::Deleted, Some(replaced.state()), None);
            change.not_restorable = replaced.not_restorable(&self.account);
            planned.push(Planned::new(target.root, change));
        }
        let kind = ChangeKind::Moved { from: source.logical().clone() };
        let change = recorded(target.logical().clone(), kind, None, Some(state));
        planned.push(Planned::new(target.root, change));

        let mut deed = Deed::announce(&self.account, &self.view, planned)?;
        let numbers = directories..deed.len();
        let made = match goal.make_directories(&mut deed) {
            Ok(made) => made,
            Err(error) => {
                numbers.for_each(|number| deed.not_done(number));
                return Err(error);
            }
        };
        match self.move_now(&standing, &goal, &made.dir, &found, replaced.as_ref()) {
            Ok(()) => {}
            Err(error) => {
                numbers.for_each(|number| deed.not_done(number));
                made.take_back(&mut deed);
                return Err(error);
            }
        }
        deed.tell(Step::Done);
        let _ = made.dir.sync();
        let _ = standing.dir.sync();
        deed.tell(Step::Synced);
        numbers.for_each(|number| deed.done(number, None));
        deed.notices.extend(replaced.and_then(|replaced| replaced.other_names(target)));
        Ok(deed.written())
    }

    /// Looks at what stands where something is moved to, and keeps it where it may be replaced.
    fn to_replace(
        &self,
        goal: &Standing<'_>,
        moved: &Metadata,
        onto: Onto,
        goes_back: bool,
    ) -> Result<Option<Existing>, WriteError> {
        let Some(there) = goal.look()? else {
            if !goes_back {
                goal.check_new_names()?;
            }
            return Ok(None);
        };
        let exists = WriteError::Exists { path: goal.shown(), kind: there.kind };
        match (onto, moved.kind, there.kind) {
            (Onto::File, FileKind::File, FileKind::File) if moved.id != there.id => {
                self.existing(goal)
            }
            _ => Err(exists),
        }
    }

    fn move_now(
        &self,
        standing: &Standing<'_>,
        goal: &Standing<'_>,
        to: &Dir,
        found: &Metadata,
        replaced: Option<&Existing>,
    ) -> Result<(), WriteError> {
        let failed = |error| match error {
            Errno::XDEV => WriteError::OtherDevice { from: standing.shown(), to: goal.shown() },
            Errno::INVAL => WriteError::IntoItself { from: standing.shown() },
            error => goal.failed(error),
        };
        let changed = |problem| Err(WriteError::Changed { path: standing.shown(), problem });
        if standing.look()?.is_none_or(|it| it.id != found.id) {
            return changed("something else stands there now");
        }
        match replaced {
            Some(replaced) => {
                self.still_holds(goal, &replaced.content)?;
                standing.dir.rename(standing.leaf, to, goal.leaf).map_err(failed)?;
            }
            None => {
                standing.dir.rename_onto_nothing(standing.leaf, to, goal.leaf).map_err(failed)?;
            }
        }
        // What was moved in the place of what was meant goes back, as far as it can.
        if to.look(goal.leaf).map_err(|error| goal.failed(error))?.id != found.id
            && replaced.is_none()
            && to.rename_onto_nothing(goal.leaf, &standing.dir, standing.leaf).is_ok()
        {
            return changed("something else stood there when it was moved");
        }
        Ok(())
    }

    /// Moves a file to another device: it is written there, then removed here.
    fn carry(
        &self,
        standing: &Standing<'_>,
        goal: &Standing<'_>,
        found: &Metadata,
        replaced: Option<&Existing>,
    ) -> Result<Written, WriteError> {
        if found.kind != FileKind::File {
            return Err(WriteError::OtherDevice { from: standing.shown(), to: goal.shown() });
        }
        if found.len > limits::CARRIED_BYTES {
            return Err(WriteError::Kind {
                path: standing.shown(),
                kind: found.kind,
                wanted: "it lies on another device and is too large to be carried over",
            });
        }
        let existing = self.existing(standing)?;
        let existing = existing.ok_or_else(|| WriteError::Path(not_found(standing)))?;
        let (file, _) =
            standing.dir.open_file(standing.leaf).map_err(|error| standing.failed(error))?;
        let mut bytes = Vec::new();
        file.take(limits::CARRIED_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| WriteError::of_io(standing.shown(), error))?;
        if haft_protocol::Digest::of_bytes(&bytes) != existing.content.digest {
            let problem = "it changed while it was read";
            return Err(WriteError::Changed { path: standing.shown(), problem });
        }
        let expected =
            replaced.map_or(Expected::Nothing, |it| Expected::Content(it.content.digest));
        let wish = Wish { mode: Some(existing.metadata.mode), is_restored: true };
        let mut written = self.put(goal.place, expected, &bytes, wish)?;
        match self.take_away(standing.place) {
            Ok(removed) => {
                written.changes.extend(removed.changes);
                written.notices.extend(removed.notices);
                Ok(written)
            }
            Err(error) => {
                if replaced.is_none() {
                    // It stands where it stood, so the copy goes; if that fails, there are two.
                    let _ = self.take_away(goal.place);
                }
                Err(error)
            }
        }
    }

    /// Refuses to move a directory with something in it that a new place would take protection or a rule off.
    fn check_contents(&self, standing: &Standing<'_>, source: &Resolved) -> Result<(), WriteError> {
        let protection = self.view.workspace().protection();
        let mut left = limits::MOVED_NAMES;
        let mut buffer = Vec::new();
        let mut directories = vec![source.path()];
        let root = self.view.root_of(source)?;
        let own = protection.own_places();
        let holds = |problem: &str| {
            Err(WriteError::Holds { path: standing.shown(), problem: problem.to_owned() })
        };
        while let Some(path) = directories.pop() {
            let dir = root
                .dir
                .readable_beneath(&path, root.beneath)
                .map_err(|error| standing.failed(error))?;
            let id = dir.metadata().map_err(|error| standing.failed(error))?.id;
            let mut unseen = own.is(id).map(|_| "it holds a directory that haft itself lives in");
            let mut within: Vec<PathBuf> = Vec::new();
            dir.names(&mut buffer, |name, kind| {
                let here = path.join(name);
                if protection.covers(&path, name) || protection.of_write(&here).is_some() {
                    unseen = Some("it holds something that is protected");
                } else if own.leads_there(id, name).is_some() {
                    unseen = Some("it holds a link to a directory that haft itself lives in");
                } else if !self.view.lets_see(&self.view.logical(source.root, &here)) {
                    unseen = Some("it holds something that a rule hides");
                } else if left == 0 {
                    unseen = Some("it holds more than can be looked through first");
                } else if kind.is_none_or(|kind| kind == FileKind::Directory) {
                    within.push(here);
                }
                left = left.saturating_sub(1);
                unseen.is_none()
            })
            .map_err(|error| standing.failed(error))?;
            if let Some(problem) = unseen {
                return holds(problem);
            }
            for here in within {
                let name = here.file_name().unwrap_or_default();
                if dir.look(name).is_ok_and(|it| it.kind == FileKind::Directory) {
                    directories.push(here);
                }
            }
        }
        Ok(())
    }
}
