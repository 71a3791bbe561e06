//! Models that a model lets work for it.

use std::sync::Arc;

use haft_model::{ChatModel, Sampling};
use haft_session::{State, System};
use haft_tool::{Registry, Selection};

use crate::agent::TurnOptions;
use crate::event::Watcher;
use crate::purse::Purse;

/// What a subagent needs of the turn that starts it; in the extensions of the turn's calls.
#[derive(Debug)]
pub(crate) struct Parent {
    pub(crate) registry: Arc<Registry>,
    pub(crate) shown: Selection,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) sampling: Sampling,
    pub(crate) system: System,
    pub(crate) watcher: Watcher,
    pub(crate) purse: Purse,
    /// Levels of subagents above the turn.
    pub(crate) depth: u32,
}

impl Parent {
    pub(crate) fn of(state: &State, options: &TurnOptions, purse: Purse, depth: u32) -> Self {
        let parts = &state.parts;
        Self {
            registry: Arc::clone(&parts.registry),
            shown: parts.shown.clone(),
            model: Arc::clone(&parts.model),
            sampling: parts.sampling.clone(),
            system: parts.system.clone(),
            watcher: options.watcher.clone(),
            purse,
            depth,
        }
    }
}
