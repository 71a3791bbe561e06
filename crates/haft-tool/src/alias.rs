//! A tool with some arguments fixed, under its own name.

use std::sync::Arc;

use haft_protocol::{Capabilities, Failure, QualifiedName};
use haft_schema::SchemaError;
use serde_json::{Map, Value};

use crate::descriptor::{Descriptor, DescriptorError};
use crate::tool::BoxFuture;
use crate::{Arguments, Call, Output, Tool};

/// A tool with some arguments fixed, shown under its own name with the schema of what is left.
///
/// Fixing the tag of a tool with several actions shows the exact schema of that action. A caller can neither see nor
/// override what is fixed. Rules match the alias and the tool behind it; a denial of either wins.
#[derive(Debug, Clone)]
pub struct Alias {
    /// The alias's own name.
    pub name: QualifiedName,
    /// What a model reads; `None` keeps the tool's description.
    pub description: Option<String>,
    /// The fixed arguments.
    pub fixed: Map<String, Value>,
}

impl Alias {
    /// Makes an alias that fixes nothing yet.
    pub fn new(name: QualifiedName) -> Self {
        Self { name, description: None, fixed: Map::new() }
    }

    /// Fixes an argument.
    pub fn fix(mut self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fixed.insert(argument.into(), value.into());
        self
    }

    /// Says what a model reads.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Makes the tool that the alias shows.
    ///
    /// # Errors
    ///
    /// Fails when the tool's contract does not allow the fixed arguments.
    pub(crate) fn over(&self, tool: &Arc<dyn Tool>) -> Result<Arc<dyn Tool>, DescriptorError> {
        let behind = tool.descriptor();
        let schema =
            |source: SchemaError| DescriptorError::Schema { name: self.name.clone(), source };
        let input = behind.input().narrow(&self.fixed).map_err(schema)?;
        let description =
            self.description.clone().unwrap_or_else(|| behind.description().to_owned());
        let descriptor = behind.renamed(self.name.clone(), description, input).build()?;
        Ok(Arc::new(Aliased { tool: Arc::clone(tool), behind, descriptor }))
    }
}

struct Aliased {
    tool: Arc<dyn Tool>,
    behind: Arc<Descriptor>,
    descriptor: Arc<Descriptor>,
}

impl Tool for Aliased {
    fn descriptor(&self) -> Arc<Descriptor> {
        if self.tool.descriptor().fingerprint() == self.behind.fingerprint() {
            return Arc::clone(&self.descriptor);
        }
        // The tool behind became another one; its own descriptor lets dispatch notice.
        self.tool.descriptor()
    }

    fn effects(&self, arguments: &Arguments) -> Result<Option<Capabilities>, Failure> {
        self.tool.effects(arguments)
    }

    fn call(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Output, Failure>> {
        match call.forwarded(&self.descriptor, &self.behind) {
            Ok(call) => Arc::clone(&self.tool).call(call),
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        }
    }
}
