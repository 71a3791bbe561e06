//! Models that a model lets work for it.

mod confine;
mod report;
mod tool;

use std::sync::Arc;

use haft_model::{ChatModel, Sampling};
use haft_session::{Keeper, State, System};
use haft_tool::{
    BuildContext, Registry, Scope, Selection, SourceError, Tool, ToolSource, TypedTool as _,
};

use crate::agent::TurnOptions;
use crate::event::Watcher;
use crate::purse::Purse;
pub use report::{SubagentReport, SubagentStatus};
use tool::Subagent;
pub use tool::{SubagentParams, SubagentPreset};

/// The source of the tool `subagent`, by which a model lets another one work for it.
///
/// A subagent has the model, the tools and the system text of the turn that starts it. Authority only shrinks: its policy is
/// that turn's, narrowed where the call says so; hooks and watchers are the same; its requests, tokens, money and calls count
/// against the limits of that turn and of all above it; it ends when that turn is interrupted. It starts with no
/// conversation and with nothing seen of files. Subagents start subagents
/// [a few levels deep](haft_protocol::limits::SUBAGENT_DEPTH) at most.
///
/// It works in the roots of the turn that starts it, or is [confined](haft_policy::PolicyBuilder::within) to a directory
/// beneath the first one: then it runs no programs and starts no subagents, which nothing would hold to that directory.
///
/// What it says and does is a run of its own on record, beneath the run that it works for, so that it can be told what it
/// had done where it is cut short. Its calls are calls of that other run, and carry its branch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Subagents;

impl ToolSource for Subagents {
    fn name(&self) -> &'static str {
        "subagents"
    }

    fn scope(&self) -> Scope {
        Scope::Shared
    }

    fn build(&self, _: &BuildContext) -> Result<Vec<Arc<dyn Tool>>, SourceError> {
        let tool = Subagent.erase_later().map_err(|source| SourceError::Descriptor {
            source_name: self.name().to_owned(),
            source,
        })?;
        Ok(vec![tool])
    }
}

/// What a subagent needs of the turn that starts it; in the extensions of the turn's calls.
#[derive(Debug)]
pub(crate) struct Parent {
    pub(crate) registry: Arc<Registry>,
    pub(crate) shown: Selection,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) sampling: Sampling,
    pub(crate) system: System,
    pub(crate) watcher: Watcher,
    pub(crate) keeper: Arc<dyn Keeper>,
    pub(crate) purse: Purse,
    /// Levels of subagents above the turn, its own included.
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
            keeper: Arc::clone(&parts.keeper),
            purse,
            depth,
        }
    }
}
