//! Tools made of a function and a schema given by hand.

use std::sync::Arc;

use haft_protocol::{Failure, QualifiedName};
use haft_schema::Contract;
use serde_json::{Map, Value};

use crate::descriptor::{Descriptor, DescriptorBuilder, DescriptorError};
use crate::tool::BoxFuture;
use crate::{Call, Output, Tool};

/// A function with a schema given by hand, for tools whose arguments are known only at run time.
///
/// There is no form without a schema: what cannot be checked cannot be registered.
///
/// ```
/// use haft_tool::{FunctionTool, Output};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "who": { "type": "string" } } });
/// let greet = FunctionTool::new("local/greet".parse()?, "Greets somebody.", schema)?
///     .body(|_call, args| async move { Ok(Output::text(format!("hello, {}", args["who"]))) })?;
/// # let _: std::sync::Arc<dyn haft_tool::Tool> = greet;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FunctionTool {
    facts: DescriptorBuilder,
}

impl FunctionTool {
    /// Starts a tool from its name, its description and the JSON Schema of its arguments.
    ///
    /// # Errors
    ///
    /// Fails for a schema that is not safe to compile or does not describe an object.
    pub fn new(
        name: QualifiedName,
        description: impl Into<String>,
        schema: Value,
    ) -> Result<Self, DescriptorError> {
        let input = Contract::foreign(schema)
            .map_err(|source| DescriptorError::Schema { name: name.clone(), source })?;
        Ok(Self { facts: Descriptor::builder(name, description, input) })
    }

    /// Changes the further facts: capabilities, slots, limits.
    pub fn facts(self, change: impl FnOnce(DescriptorBuilder) -> DescriptorBuilder) -> Self {
        Self { facts: change(self.facts) }
    }

    /// Adds the body and makes the tool.
    ///
    /// # Errors
    ///
    /// Fails as [`DescriptorBuilder::build`] does.
    pub fn body<F, R>(self, body: F) -> Result<Arc<dyn Tool>, DescriptorError>
    where
        F: Fn(Call, Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Output, Failure>> + Send + 'static,
    {
        Ok(Arc::new(Function { descriptor: self.facts.build()?, body }))
    }
}

struct Function<F> {
    descriptor: Arc<Descriptor>,
    body: F,
}

impl<F, R> Tool for Function<F>
where
    F: Fn(Call, Map<String, Value>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output, Failure>> + Send + 'static,
{
    fn descriptor(&self) -> Arc<Descriptor> {
        Arc::clone(&self.descriptor)
    }

    fn call(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Output, Failure>> {
        match call.arguments(&self.descriptor) {
            Ok(arguments) => {
                let arguments = arguments.values().clone();
                Box::pin((self.body)(call, arguments))
            }
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        }
    }
}
