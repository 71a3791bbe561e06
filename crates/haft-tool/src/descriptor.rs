//! The static facts of a tool.

use std::sync::{Arc, OnceLock};

use haft_policy::shell::Script;
use haft_protocol::limits::{DESCRIPTION_BYTES, RUN_MS};
use haft_protocol::{Capabilities, Capability, CapabilityError, Digest, NameError, QualifiedName};
use haft_schema::{Contract, SchemaError};
use serde_json::{Value, json};

use crate::{Arguments, CommandSlot, Slot, SlotSource};

/// The static facts of a tool: names, description, contracts, capabilities, slots, limits.
///
/// A descriptor never changes. Its fingerprint covers everything a caller could have based a decision on, so an
/// approval of one tool is never an approval of another that took its name.
#[derive(Debug)]
pub struct Descriptor {
    facts: DescriptorBuilder,
    fingerprint: OnceLock<Digest>,
}

/// A tool that cannot be described in this way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptorError {
    /// Nothing to tell a model.
    #[error("tool `{name}` has no description: say in a sentence what it does and when to use it")]
    NoDescription {
        /// The tool.
        name: QualifiedName,
    },
    /// Too much to tell a model.
    #[error(
        "the description of tool `{name}` has {bytes} bytes; at most {DESCRIPTION_BYTES} are allowed"
    )]
    LongDescription {
        /// The tool.
        name: QualifiedName,
        /// The bytes.
        bytes: usize,
    },
    /// A slot that depends on an argument that there is not.
    #[error(
        "slot `{slot}` of tool `{name}` depends on `{argument}`, which its schema does not have"
    )]
    UnknownArgument {
        /// The tool.
        name: QualifiedName,
        /// The slot.
        slot: String,
        /// The pointer.
        argument: String,
    },
    /// A slot that writes, on a tool that declares no writes.
    #[error(
        "slot `{slot}` of tool `{name}` writes, yet the tool does not declare `write_files` or `execute`"
    )]
    UndeclaredWrite {
        /// The tool.
        name: QualifiedName,
        /// The slot.
        slot: String,
    },
    /// A command that no argument gives.
    #[error("tool `{name}` takes a command from `{argument}`, which its schema does not have")]
    UnknownCommand {
        /// The tool.
        name: QualifiedName,
        /// The pointer.
        argument: String,
    },
    /// A tool that runs commands and does not say so.
    #[error("tool `{name}` runs the command in `{argument}`, yet it does not declare `execute`")]
    UndeclaredCommand {
        /// The tool.
        name: QualifiedName,
        /// The pointer.
        argument: String,
    },
    /// A name that breaks the grammar.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Capabilities that contradict each other.
    #[error(transparent)]
    Capabilities(#[from] CapabilityError),
    /// A schema that cannot be a contract.
    #[error("the schema of tool `{name}` cannot be used")]
    Schema {
        /// The tool.
        name: QualifiedName,
        /// Why.
        #[source]
        source: SchemaError,
    },
}

impl Descriptor {
    /// Starts a descriptor. Without further words the tool is a pure function.
    pub fn builder(
        name: QualifiedName,
        description: impl Into<String>,
        input: Contract,
    ) -> DescriptorBuilder {
        DescriptorBuilder {
            name,
            title: None,
            description: description.into(),
            input,
            output: None,
            capabilities: Capabilities::pure(),
            slots: Vec::new(),
            commands: Vec::new(),
            run_ms: RUN_MS,
            composite: false,
        }
    }

    /// Returns the tool's name.
    pub fn name(&self) -> &QualifiedName {
        &self.facts.name
    }

    /// Returns what people read as the tool's name: its title, else its name as words.
    pub fn title(&self) -> String {
        self.facts.title.clone().unwrap_or_else(|| in_words(self.facts.name.name()))
    }

    /// Returns what a model reads about the tool.
    pub fn description(&self) -> &str {
        &self.facts.description
    }

    /// Returns the contract of the arguments.
    pub fn input(&self) -> &Contract {
        &self.facts.input
    }

    /// Returns the contract of the structured output, where there is one.
    pub fn output(&self) -> Option<&Contract> {
        self.facts.output.as_ref()
    }

    /// Returns the ceiling of what a call may do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.facts.capabilities
    }

    /// Returns the slots.
    pub fn slots(&self) -> &[Slot] {
        &self.facts.slots
    }

    /// Returns the arguments that are run as commands.
    pub fn commands(&self) -> &[CommandSlot] {
        &self.facts.commands
    }

    /// Takes apart what a call with these arguments runs; `None` where it runs no command.
    pub(crate) fn script(&self, arguments: &Arguments) -> Option<Script> {
        self.facts.commands.iter().filter_map(|it| it.read(arguments)).reduce(Script::and)
    }

    /// Returns how long a body may run, in milliseconds.
    pub fn run_ms(&self) -> u64 {
        self.facts.run_ms
    }

    /// Tells whether the body only waits for other calls, so that it holds no permit.
    pub fn is_composite(&self) -> bool {
        self.facts.composite
    }

    /// Returns the digest of everything above.
    pub fn fingerprint(&self) -> Digest {
        *self.fingerprint.get_or_init(|| self.facts.digest())
    }

    /// Returns the same tool under another name with some arguments fixed. Slots of arguments that cannot be given any
    /// more go, as those of actions that are not the fixed one.
    pub(crate) fn renamed(
        &self,
        name: QualifiedName,
        description: String,
        input: Contract,
    ) -> DescriptorBuilder {
        let mut renamed =
            DescriptorBuilder { name, title: None, description, input, ..self.facts.clone() };
        let DescriptorBuilder { input, slots, commands, .. } = &mut renamed;
        // Where arguments that nobody knows may be given, a slot that takes one stays, and is a mistake.
        if input.schema().get("additionalProperties") == Some(&Value::Bool(false)) {
            slots.retain(|slot| match &slot.source {
                SlotSource::Argument(argument) => has_argument(input, argument),
                SlotSource::Roots => true,
            });
            commands.retain(|slot| has_argument(input, &slot.argument));
        }
        renamed
    }
}

/// A descriptor in the making.
#[derive(Debug, Clone)]
pub struct DescriptorBuilder {
    name: QualifiedName,
    title: Option<String>,
    description: String,
    input: Contract,
    output: Option<Contract>,
    capabilities: Capabilities,
    slots: Vec<Slot>,
    commands: Vec<CommandSlot>,
    run_ms: u64,
    composite: bool,
}

impl DescriptorBuilder {
    /// Says what people read as the tool's name, in a few words.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Declares what a call may do.
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Declares the contract of the structured output.
    pub fn output(mut self, output: Option<Contract>) -> Self {
        self.output = output;
        self
    }

    /// Adds a slot.
    pub fn slot(mut self, slot: Slot) -> Self {
        self.slots.push(slot);
        self
    }

    /// Declares that an argument is run as a command.
    pub fn command(mut self, slot: CommandSlot) -> Self {
        self.commands.push(slot);
        self
    }

    /// Declares how long a body may run, in milliseconds.
    pub fn run_ms(mut self, run_ms: u64) -> Self {
        self.run_ms = run_ms.max(1);
        self
    }

    /// Declares that the body only waits for other calls.
    pub fn composite(mut self) -> Self {
        self.composite = true;
        self
    }

    /// Checks the facts, against the arguments where their contract is [made](Contract::is_made).
    ///
    /// # Errors
    ///
    /// Fails without a description, with one that is too long, and for a slot that no argument can fill or that writes
    /// without the capability to.
    pub fn build(self) -> Result<Arc<Descriptor>, DescriptorError> {
        let Self { name, description, input, capabilities, slots, commands, .. } = &self;
        let named = || name.clone();
        let lacks = |argument: &str| input.is_made() && !has_argument(input, argument);
        if description.trim().is_empty() {
            return Err(DescriptorError::NoDescription { name: named() });
        }
        if description.len() > DESCRIPTION_BYTES {
            return Err(DescriptorError::LongDescription {
                name: named(),
                bytes: description.len(),
            });
        }
        for slot in slots {
            if let Some(argument) = slot.arguments().find(|it| lacks(it)) {
                let (slot, argument) = (slot.name.clone(), argument.to_owned());
                return Err(DescriptorError::UnknownArgument { name: named(), slot, argument });
            }
            let may_write =
                capabilities.has(Capability::WriteFiles) || capabilities.has(Capability::Execute);
            if slot.access.writes() && !may_write {
                return Err(DescriptorError::UndeclaredWrite {
                    name: named(),
                    slot: slot.name.clone(),
                });
            }
        }
        for CommandSlot { argument, .. } in commands {
            let (name, argument) = (named(), argument.clone());
            if lacks(&argument) {
                return Err(DescriptorError::UnknownCommand { name, argument });
            }
            if !capabilities.has(Capability::Execute) {
                return Err(DescriptorError::UndeclaredCommand { name, argument });
            }
        }
        Ok(Arc::new(Descriptor { facts: self, fingerprint: OnceLock::new() }))
    }

    fn digest(&self) -> Digest {
        Digest::of_json(&json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "input": self.input.digest(),
            "output": self.output.as_ref().map(Contract::digest),
            "capabilities": self.capabilities,
            "slots": self.slots,
            "commands": self.commands,
            "run_ms": self.run_ms,
            "composite": self.composite,
        }))
    }
}

/// Writes a name as the begin of a sentence.
fn in_words(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// Tells whether the first part of a pointer names a property that the schema, or an argument it fixes, knows.
fn has_argument(input: &Contract, pointer: &str) -> bool {
    let Some(first) = pointer.split('/').nth(1) else { return false };
    let advertised = input.schema().get("properties").and_then(Value::as_object);
    advertised.is_some_and(|properties| properties.contains_key(first)) || input.fixes(first)
}
