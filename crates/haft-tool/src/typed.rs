//! Tools with typed arguments.

use std::sync::Arc;

use haft_protocol::{Capabilities, ErrorKind, Failure, QualifiedName};
use haft_schema::Contract;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::descriptor::{Descriptor, DescriptorError};
use crate::tool::BoxFuture;
use crate::{Arguments, Call, CommandSlot, IntoOutput, Output, Slot, Tool};

/// The facts of a typed tool that do not follow from its types.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The tool's name.
    pub name: QualifiedName,
    /// What people read as the tool's name, in a few words; `None` takes the name as words.
    pub title: Option<String>,
    /// What a model reads about the tool.
    pub description: String,
    /// What a call may do at most.
    pub capabilities: Capabilities,
    /// Which arguments name parts of the workspace.
    pub slots: Vec<Slot>,
    /// Which arguments are run as commands.
    pub commands: Vec<CommandSlot>,
    /// How long a body may run, in milliseconds; `None` takes [`RUN_MS`](haft_protocol::limits::RUN_MS).
    pub run_ms: Option<u64>,
    /// Whether the body only waits for other calls.
    pub composite: bool,
}

impl Facts {
    /// Makes the facts of a pure function.
    pub fn new(name: QualifiedName, description: impl Into<String>) -> Self {
        Self {
            name,
            title: None,
            description: description.into(),
            capabilities: Capabilities::pure(),
            slots: Vec::new(),
            commands: Vec::new(),
            run_ms: None,
            composite: false,
        }
    }
}

/// A tool whose contract follows from Rust types. This is the form to write tools in.
///
/// The doc comments of `Args` and its fields are what a model reads; a serde default makes a field optional.
pub trait TypedTool: Send + Sync + Sized + 'static {
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// What the body returns.
    type Output: IntoOutput;

    /// Returns the facts that do not follow from the types.
    ///
    /// # Errors
    ///
    /// Fails for a name that breaks the grammar and for capabilities that contradict each other.
    fn facts(&self) -> Result<Facts, DescriptorError>;

    /// Whether [`effects`](Self::effects) narrows anything; without it, nobody reads the arguments to find out.
    const NARROWS: bool = false;

    /// Narrows the declared capabilities to what a call with these arguments can do; `None` keeps them.
    ///
    /// Slots follow: in a call that by this writes no files, what a slot would write is bound for reading.
    ///
    /// Asked only where [`NARROWS`](Self::NARROWS) is true, before anything is decided about the call.
    ///
    /// # Errors
    ///
    /// Fails for arguments that no call can be made of, though each is right: nobody should be asked about it.
    fn effects(&self, args: &Self::Args) -> Result<Option<Capabilities>, Failure> {
        let _ = args;
        Ok(None)
    }

    /// Runs the body.
    fn run(
        &self,
        call: Call,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;

    /// Makes the object-safe form.
    ///
    /// # Errors
    ///
    /// Fails when the types' schemas cannot be contracts or the facts contradict them.
    fn erase(self) -> Result<Arc<dyn Tool>, DescriptorError> {
        let facts = self.facts()?;
        let schema = |source| DescriptorError::Schema { name: facts.name.clone(), source };
        let input = Contract::of::<Self::Args>().map_err(schema)?;
        let output = Self::Output::contract().map_err(schema)?;
        erased(self, facts, input, output)
    }

    /// Makes the object-safe form as [`erase`](Self::erase) does, and its contracts when somebody first looks at them.
    ///
    /// For sources of many tools of which a short process calls one. What is wrong with the types, and with the facts
    /// about them, does not show here: test such a tool with `erase`.
    ///
    /// # Errors
    ///
    /// Fails when the facts contradict each other.
    fn erase_later(self) -> Result<Arc<dyn Tool>, DescriptorError> {
        let facts = self.facts()?;
        let schema = |source| DescriptorError::Schema { name: facts.name.clone(), source };
        let input = Contract::of_later::<Self::Args>();
        let output = Self::Output::contract_later().map_err(schema)?;
        erased(self, facts, input, output)
    }
}

fn erased<T: TypedTool>(
    tool: T,
    facts: Facts,
    input: Contract,
    output: Option<Contract>,
) -> Result<Arc<dyn Tool>, DescriptorError> {
    let Facts { name, title, description, capabilities, slots, commands, run_ms, composite } =
        facts;
    let mut builder =
        Descriptor::builder(name, description, input).capabilities(capabilities).output(output);
    if let Some(title) = title {
        builder = builder.title(title);
    }
    for slot in slots {
        builder = builder.slot(slot);
    }
    for command in commands {
        builder = builder.command(command);
    }
    if let Some(run_ms) = run_ms {
        builder = builder.run_ms(run_ms);
    }
    if composite {
        builder = builder.composite();
    }
    Ok(Arc::new(Erased { tool, descriptor: builder.build()? }))
}

struct Erased<T> {
    tool: T,
    descriptor: Arc<Descriptor>,
}

/// A mismatch here means that the contract accepted what the type does not: a fault in the tool's own types.
fn typed<T: DeserializeOwned>(arguments: &Arguments) -> Result<T, Failure> {
    arguments.parse().map_err(|error| {
        Failure::new(
            ErrorKind::InvalidArguments,
            format!("the arguments do not fit the tool: {error}"),
        )
    })
}

impl<T: TypedTool> Tool for Erased<T> {
    fn descriptor(&self) -> Arc<Descriptor> {
        Arc::clone(&self.descriptor)
    }

    fn effects(&self, arguments: &Arguments) -> Result<Option<Capabilities>, Failure> {
        if T::NARROWS { self.tool.effects(&typed(arguments)?) } else { Ok(None) }
    }

    fn call(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Output, Failure>> {
        Box::pin(async move {
            let args = typed(call.arguments(&self.descriptor)?)?;
            self.tool.run(call, args).await?.into_output()
        })
    }
}
