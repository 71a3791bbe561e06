//! Typed holes of a tool that are filled with parts of the workspace.

use haft_policy::shell::Script;
use haft_protocol::{Access, Capabilities, Capability};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

use crate::Arguments;

/// Whether what a slot names has to exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existence {
    /// It must be there.
    Required,
    /// It may be there or come to be.
    Optional,
}

/// Where a slot takes what fills it from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotSource {
    /// From the argument at a JSON pointer; a part `*` stands for every item of an array.
    Argument(String),
    /// From the workspace: every root of it.
    Roots,
}

/// What a slot stands for where its path ends at a link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// For what the link points to, and where it is written to for the link as well.
    #[default]
    Followed,
    /// For the link, wherever it points: what it points to is neither looked at nor claimed.
    Kept,
    /// For the link where an argument has one of these values, else for what it points to.
    KeptWhere {
        /// JSON pointer of the argument.
        argument: String,
        /// The values.
        values: Vec<String>,
    },
}

impl Links {
    fn are_followed(&self) -> bool {
        *self == Self::Followed
    }
}

/// A typed hole of a tool: what names a path, and what the tool does with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The name by which rules and bodies speak of it.
    pub name: String,
    /// Where it takes its path from.
    pub source: SlotSource,
    /// What the tool does with it.
    pub access: Access,
    /// Whether it has to exist.
    pub existence: Existence,
    /// What it stands for where its path ends at a link.
    #[serde(default, skip_serializing_if = "Links::are_followed")]
    pub links: Links,
}

impl Slot {
    /// Makes a slot for an existing path that is only looked at, given by the argument of the same name.
    pub fn read(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            source: SlotSource::Argument(format!("/{name}")),
            name,
            access: Access::Read,
            existence: Existence::Required,
            links: Links::Followed,
        }
    }

    /// Makes a slot for a path that is changed or made, given by the argument of the same name.
    pub fn write(name: impl Into<String>) -> Self {
        Self { access: Access::Write, existence: Existence::Optional, ..Self::read(name) }
    }

    /// Makes a slot for a directory beneath which anything may be changed, given by the argument of the same name.
    pub fn write_tree(name: impl Into<String>) -> Self {
        Self { access: Access::WriteTree, ..Self::read(name) }
    }

    /// Makes a slot for the whole workspace, beneath every root of which anything may be changed.
    pub fn write_roots(name: impl Into<String>) -> Self {
        Self { source: SlotSource::Roots, ..Self::write_tree(name) }
    }

    /// Takes the path from another argument.
    pub fn from_argument(mut self, pointer: impl Into<String>) -> Self {
        self.source = SlotSource::Argument(pointer.into());
        self
    }

    /// Stands for a link itself, and never for what it points to.
    pub fn keeping_links(mut self) -> Self {
        self.links = Links::Kept;
        self
    }

    /// Stands for a link itself where the argument of this name has one of these values.
    pub fn keeping_links_where(mut self, argument: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|&it| it.to_owned()).collect();
        self.links = Links::KeptWhere { argument: format!("/{argument}"), values };
        self
    }

    /// Returns the pointers of the arguments that it depends on.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        let path = match &self.source {
            SlotSource::Argument(pointer) => Some(pointer),
            SlotSource::Roots => None,
        };
        let links = match &self.links {
            Links::KeptWhere { argument, .. } => Some(argument),
            Links::Followed | Links::Kept => None,
        };
        [path, links].into_iter().flatten().map(String::as_str)
    }

    /// Returns the slot as one call binds it, by what the call does and the tool declares, and by its arguments.
    ///
    /// A slot that writes only reads in a call that does not: nothing has to be said twice, and nothing can contradict.
    pub(crate) fn narrowed(
        &self,
        effects: &Capabilities,
        declared: &Capabilities,
        arguments: &Arguments,
    ) -> Self {
        let writes = if declared.has(Capability::WriteFiles) {
            effects.has(Capability::WriteFiles)
        } else {
            effects.has(Capability::Execute)
        };
        let is_kept = match &self.links {
            Links::Followed => false,
            Links::Kept => true,
            Links::KeptWhere { argument, values } => {
                let value = arguments.at(argument).and_then(Value::as_str);
                value.is_some_and(|value| values.iter().any(|it| it == value))
            }
        };
        Self {
            access: if writes { self.access } else { self.access.reading() },
            links: if is_kept { Links::Kept } else { Links::Followed },
            ..self.clone()
        }
    }
}

/// How an argument holds commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandForm {
    /// As a text that a shell reads.
    Shell,
    /// As a program and its arguments, which no shell reads.
    Argv,
}

/// An argument that a tool runs as a command, so that rules can tell what that is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommandSlot {
    /// JSON pointer of the argument.
    pub argument: String,
    /// How it holds the command.
    pub form: CommandForm,
}

impl CommandSlot {
    /// Makes a slot for a text that a shell reads, given by the argument of this name.
    pub fn shell(name: &str) -> Self {
        Self { argument: format!("/{name}"), form: CommandForm::Shell }
    }

    /// Makes a slot for a program with its arguments, given by the argument of this name.
    pub fn argv(name: &str) -> Self {
        Self { argument: format!("/{name}"), form: CommandForm::Argv }
    }

    /// Takes the commands of a call apart; `None` where the argument is not given.
    pub(crate) fn read(&self, arguments: &Arguments) -> Option<Script> {
        let value = arguments.at(&self.argument).filter(|it| !it.is_null())?;
        Some(match self.form {
            CommandForm::Shell => match value.as_str() {
                Some(text) => Script::parse(text),
                None => Script::unreadable("the command is no text"),
            },
            CommandForm::Argv => match value.as_array().and_then(|items| words(items)) {
                Some(words) => Script::of_argv(&words),
                None => Script::unreadable("the command is no list of words"),
            },
        })
    }
}

fn words(items: &[Value]) -> Option<Vec<&str>> {
    items.iter().map(Value::as_str).collect()
}

/// A path as a caller wrote it, on its way to a slot.
///
/// The text cannot be taken out: a body asks the call for what the slot was bound to, so that no tool opens by path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolPath(String);

impl JsonSchema for ToolPath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("ToolPath")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

impl ToolPath {
    /// Makes the path of the workspace's first root, the usual default.
    pub fn root() -> Self {
        Self(".".to_owned())
    }
}
