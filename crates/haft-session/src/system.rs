//! What its operator tells a model.

use std::sync::Arc;

use haft_protocol::Digest;

/// A text from the project for its models, such as `AGENTS.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// Where it stands, as people name it.
    pub name: String,
    /// The text.
    pub text: String,
}

/// What its operator tells a model, the same for every request of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    text: Arc<str>,
    instructions: Arc<[Instructions]>,
}

/// What a model is told where nobody says anything else.
const STANDARD: &str = include_str!("system.md");

impl System {
    /// Makes the standard text, with facts of the place, one a line, and the project's instructions.
    pub fn standard(facts: &[String], instructions: Vec<Instructions>) -> Self {
        Self::with_text(STANDARD.trim_end(), facts, instructions)
    }

    /// Makes a system text of somebody's own.
    pub fn with_text(own: &str, facts: &[String], instructions: Vec<Instructions>) -> Self {
        let mut text = own.to_owned();
        if !facts.is_empty() {
            text.push_str("\n\n");
            text.push_str(&facts.join("\n"));
        }
        for it in &instructions {
            text.push_str(&format!(
                "\n\n<instructions from=\"{}\">\n{}\n</instructions>",
                it.name,
                it.text.trim_end()
            ));
        }
        Self { text: text.into(), instructions: instructions.into() }
    }

    /// Returns the text.
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Returns the instructions in it.
    pub fn instructions(&self) -> &[Instructions] {
        &self.instructions
    }

    /// Returns the digest of the text.
    pub fn digest(&self) -> Digest {
        Digest::of_bytes(self.text.as_bytes())
    }
}
