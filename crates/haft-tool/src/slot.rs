//! Typed holes of a tool that are filled with parts of the workspace.

use haft_policy::shell::Script;
use haft_protocol::Access;
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
