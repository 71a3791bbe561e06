//! Carrying a plan out.

use std::sync::Arc;

use haft_protocol::{CallId, EffectRecord, FileState};
use haft_tool::ports::PortError;

use super::disk::{Standing, state_of};
use super::{UndoPlan, UndoStep, Undoing, is_same, plan};
use crate::resolved::Resolved;
use crate::write_error::WriteError;
use crate::writer::{Expected, Onto, WritePlace, Writer, Written, put::Wish};

impl Writer {
    /// Returns what a call changed, as far as it is on record.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    pub fn changes_of(&self, call: CallId) -> Result<Vec<EffectRecord>, PortError> {
        self.account.effects.of_call(call)
    }

    /// Plans how to take changes back at the places a slot is bound to. Nothing is changed.
    pub fn plan_undo(&self, effects: &[EffectRecord], slot: &str) -> UndoPlan {
        plan(effects, self.view.workspace(), &Standing::new(self, slot))
    }

    /// Carries a plan out, step by step, and returns it as it came to be.
    ///
    /// Each step is looked at once more before it is done. One that cannot be done stays, says why, and does not keep
    /// the others from being done.
    pub fn undo(&self, plan: &UndoPlan, slot: &str) -> (UndoPlan, Written) {
        let standing = Standing::new(self, slot);
        let mut written = Written::default();
        let mut done = UndoPlan::default();
        for step in &plan.steps {
            let mut step = step.clone();
            if step.is_deed() {
                match self.take_back(&step, &standing) {
                    Ok(changed) => written.extend(changed),
                    Err(why) => step.undoing = Undoing::Stays { why },
                }
            }
            done.steps.push(step);
        }
        (done, written)
    }

    fn take_back(&self, step: &UndoStep, standing: &Standing<'_>) -> Result<Written, String> {
        let place = |path: &str| -> Result<&WritePlace, String> {
            standing.places.get(path).ok_or_else(|| format!("`{path}` was not named"))
        };
        let here = place(step.path.as_str())?;
        let told = |error: WriteError| error.to_string();
        if let Undoing::MovedBack { to } = &step.undoing {
            let to = place(to.as_str())?;
            return self.give_place(here, to, Onto::Nothing, true).map_err(told);
        }
        let itself = Arc::new(here.itself().clone());
        let now = state_of(&self.now(&itself)?)?;
        if !is_same(now.as_ref(), step.from.as_ref()) {
            return Err("it changed while this was planned".to_owned());
        }
        self.set(&itself, step).map_err(told)
    }

    /// Follows the path of a place once more, for directories above it may have been made meanwhile.
    fn now(&self, place: &Resolved) -> Result<Resolved, String> {
        let workspace = self.view.workspace();
        let want = crate::workspace::Want::Any;
        let now = workspace.resolve(place.given(), want).map_err(|error| error.to_string())?;
        Ok(now.link().cloned().unwrap_or(now))
    }

    fn set(&self, place: &Resolved, step: &UndoStep) -> Result<Written, WriteError> {
        let mut written = Written::default();
        let is_file = |state: &Option<FileState>| matches!(state, Some(FileState::File { .. }));
        let from = step.from.as_ref();
        let expected = match from.and_then(FileState::content) {
            Some(content) if is_file(&step.to) => Expected::Content(content.digest),
            _ => {
                if from.is_some() {
                    written.extend(self.take_away(place)?);
                }
                Expected::Nothing
            }
        };
        match &step.to {
            // Something else is never planned.
            None | Some(FileState::Other) => {}
            Some(FileState::File { mode, .. }) => {
                let bytes = step.content.as_deref().unwrap_or_default();
                let wish = Wish { mode: Some(*mode), is_restored: true };
                written.extend(self.put(place, expected, bytes, wish)?);
            }
            Some(FileState::Directory { mode }) => {
                written.extend(self.make_directory(place, Some(*mode))?);
            }
            Some(FileState::Link { target }) => written.extend(self.make_link(place, target)?),
        }
        Ok(written)
    }
}
