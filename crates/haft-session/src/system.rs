//! What its operator tells a model.

use std::sync::Arc;

use haft_protocol::{Digest, limits};

use crate::envelope;

/// What a model is told where nobody says anything else.
const STANDARD: &str = include_str!("system.md");

/// What stands before the project's instructions.
const FROM_THE_PROJECT: &str = "The project has instructions for whoever works on it. Follow them where they concern what you are asked; what the person who talks to you says comes first.";

/// A text from the project for its models, such as `AGENTS.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// Where it stands, as people name it.
    pub name: String,
    /// The text, as far as it is shown.
    pub text: String,
    /// Bytes that are not shown, because the text is too long.
    pub left_out_bytes: u64,
}

impl Instructions {
    /// Takes a text as far as there is room for it.
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        Self::within(name, text, limits::INSTRUCTIONS_BYTES)
    }

    /// Takes a text as far as this many bytes go, up to the end of a line where there is one.
    pub fn within(name: impl Into<String>, text: &str, bytes: usize) -> Self {
        let name = name.into();
        if text.len() <= bytes {
            return Self { name, text: text.to_owned(), left_out_bytes: 0 };
        }
        let head = haft_text::head(text, bytes);
        let lines = head.rfind('\n').and_then(|end| head.get(..end)).filter(|it| !it.is_empty());
        let head = lines.unwrap_or(head);
        let left_out_bytes = text.len().saturating_sub(head.len()) as u64;
        Self { name, text: head.to_owned(), left_out_bytes }
    }

    /// Says what was left out, for people; nothing where it is whole.
    pub fn remark(&self) -> Option<String> {
        let (name, left_out) = (haft_text::visible_line(&self.name), self.left_out_bytes);
        (left_out > 0).then(|| {
            format!(
                "`{name}` is too long: the last {left_out} bytes of it are not shown to the model"
            )
        })
    }

    /// Returns the text with its name, between tags that it cannot close.
    fn enveloped(&self, tag: &str) -> String {
        let name = haft_text::visible_line(&self.name).replace(['"', '<', '>'], "_");
        let mut text = self.text.trim_end().to_owned();
        if self.left_out_bytes > 0 {
            text.push_str(&format!(
                "\n[{} more bytes of this file are not shown; read it if you need them]",
                self.left_out_bytes
            ));
        }
        envelope::wrapped(tag, &format!(" from=\"{name}\""), &text)
    }
}

/// What its operator tells a model, the same for every request of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    text: Arc<str>,
    instructions: Arc<[Instructions]>,
}

impl System {
    /// Makes the standard text, with facts of the place, one a line, and the project's instructions, in the order of the
    /// roots they are from.
    pub fn standard(facts: &[String], instructions: Vec<Instructions>) -> Self {
        Self::with_text(STANDARD, facts, instructions)
    }

    /// Makes a system text of somebody's own.
    ///
    /// Instructions stand between tags that none of them can close, whatever is in them.
    pub fn with_text(own: &str, facts: &[String], instructions: Vec<Instructions>) -> Self {
        let mut paragraphs = vec![own.trim_end().to_owned()];
        paragraphs.extend((!facts.is_empty()).then(|| facts.join("\n")));
        let shown = instructions.iter().filter(|it| !it.text.trim().is_empty());
        let texts = instructions.iter().map(|it| it.text.as_str());
        let tag = envelope::tag("instructions", texts.chain([own]));
        let enveloped: Vec<String> = shown.map(|it| it.enveloped(&tag)).collect();
        if !enveloped.is_empty() {
            paragraphs.push(FROM_THE_PROJECT.to_owned());
            paragraphs.extend(enveloped);
        }
        let text = paragraphs.join("\n\n").trim_start().to_owned();
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
