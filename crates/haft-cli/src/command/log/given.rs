//! What a caller gave, of the arguments that are on record with every default in place.

use std::sync::Arc;

use haft::coding::{Bash, CodingTools, Toolset};
use haft::{BuildContext, OnConflict, Registry, RegistryError, Snapshot};
use serde_json::{Map, Value};

/// The contracts of the tools that haft comes with, in each of their shapes.
pub(super) struct Contracts([Arc<Snapshot>; 2]);

impl Contracts {
    /// Reads them. `bash` is never run.
    pub(super) fn of_tools(bash: Bash) -> Result<Self, RegistryError> {
        let registry = Registry::new(BuildContext::default());
        registry.register(Arc::new(CodingTools::new().bash(bash)), OnConflict::Reject)?;
        let actions = registry.snapshot();
        Toolset::Verbs.arrange(&registry)?;
        Ok(Self([actions, registry.snapshot()]))
    }

    /// Leaves out of the arguments of a call what its tool puts in by itself; of a tool nobody knows, nothing.
    pub(super) fn given(&self, tool: &str, arguments: &Map<String, Value>) -> Map<String, Value> {
        match self.0.iter().find_map(|tools| tools.find(tool)) {
            Some(found) => found.descriptor.input().without_defaults(arguments),
            None => arguments.clone(),
        }
    }
}
