//! Carrying a plan out.

use std::collections::HashMap;
use std::sync::Arc;

use haft_protocol::{EffectRecord, FileState};

use super::disk::{Standing, state_of};
use super::{UndoPlan, UndoStep, Undoing, is_same, plan};
use crate::resolve::Naming;
use crate::resolved::Resolved;
use crate::workspace::Want;
use crate::write_error::WriteError;
use crate::writer::standing::Again;
use crate::writer::{Expected, Onto, WritePlace, Writer, Written, put::Wish};

impl Writer {
    /// Plans how to take changes back at places that the call named. Nothing is changed, so they may be bound for reading.
    pub fn plan_undo(&self, effects: &[EffectRecord], places: &[Arc<Resolved>]) -> UndoPlan {
        plan(effects, self.view.workspace(), &Standing::of(self, places))
    }

    /// Plans how to take changes back wherever they were made. Nothing is changed.
    pub fn plan_undo_of_all(&self, effects: &[EffectRecord]) -> UndoPlan {
        plan(effects, self.view.workspace(), &Standing::everywhere(self))
    }

    /// Carries a plan out at the places a writing slot is bound to, step by step, and returns it as it came to be.
    ///
    /// Each step is looked at once more before it is done. One that cannot be done stays, says why, and does not keep
    /// the others from being done.
    pub fn undo(&self, plan: &UndoPlan, slot: &str) -> (UndoPlan, Written) {
        let places = self.places(slot).into_iter();
        let places = places.map(|place| (place.resolved().given().to_owned(), place)).collect();
        let mut written = Written::default();
        let mut done = UndoPlan::default();
        for step in &plan.steps {
            let mut step = step.clone();
            if step.is_deed() {
                match self.take_back(&step, &places) {
                    Ok(changed) => written.extend(changed),
                    Err(why) => step.undoing = Undoing::Stays { why },
                }
            }
            done.steps.push(step);
        }
        (done, written)
    }

    fn take_back(
        &self,
        step: &UndoStep,
        places: &HashMap<String, WritePlace>,
    ) -> Result<Written, String> {
        let place = |path: &str| -> Result<&WritePlace, String> {
            places.get(path).ok_or_else(|| format!("`{path}` was not named"))
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
        let now = self.view.workspace().again(place, Want::Any, Naming::All);
        now.map_err(|error| error.to_string())
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
                written.extend(
                    self.make_directory(place, Some(Again { mode: *mode, born: step.born }))?,
                );
            }
            Some(FileState::Link { target }) => written.extend(self.make_link(place, target)?),
        }
        Ok(written)
    }
}
