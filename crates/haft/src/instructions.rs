//! What a project tells whoever works on it.

use std::io::Read as _;

use haft_protocol::limits;
use haft_session::Instructions;
use haft_text::{Kind, sniff};
use haft_workspace::{PathError, View, Want};

use crate::Haft;

/// Where a project keeps its instructions: the first of these that is there.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// What was found of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The instructions, in the order of the roots.
    pub instructions: Vec<Instructions>,
    /// What a person should know: what could not be read and what was cut, one a line.
    pub remarks: Vec<String>,
}

impl Haft {
    /// Reads what the project tells whoever works on it: `AGENTS.md`, or `CLAUDE.md` where there is none, at the top of each
    /// root.
    ///
    /// They are read as a tool would read them: not through links that lead out, not where they are protected, and no more
    /// of them than [`limits::INSTRUCTIONS_BYTES`] of one and [`limits::INSTRUCTIONS_BYTES_ALL`] of all. It blocks for as
    /// long as reading a small file takes.
    pub fn instructions(&self) -> Found {
        let view = View::unfiltered(self.workspace().clone());
        let mut found = Found::default();
        let mut room = limits::INSTRUCTIONS_BYTES_ALL;
        for root in self.workspace().roots() {
            let path = |name: &str| match root.as_str() {
                "." => name.to_owned(),
                root => format!("{}/{name}", root.trim_end_matches('/')),
            };
            let read = NAMES.iter().map(|name| path(name)).find_map(|path| {
                let read =
                    self.read_instructions(&view, &path, room.min(limits::INSTRUCTIONS_BYTES));
                match read {
                    Err(Unread::Missing) => None,
                    Ok(instructions) => Some(Ok(instructions)),
                    Err(Unread::Because(why)) => Some(Err(format!("`{path}` was not read: {why}"))),
                }
            });
            match read {
                Some(Ok(instructions)) => {
                    room = room.saturating_sub(instructions.text.len());
                    found.remarks.extend(instructions.remark());
                    found.instructions.push(instructions);
                }
                Some(Err(remark)) => found.remarks.push(remark),
                None => {}
            }
        }
        found
    }

    fn read_instructions(
        &self,
        view: &View,
        path: &str,
        room: usize,
    ) -> Result<Instructions, Unread> {
        let place = self.workspace().resolve(path, Want::Existing)?;
        let file = view.open(&place)?;
        let bytes = file.metadata().len;
        // A character more than has room, so that what is cut is cut between characters.
        let most = room.saturating_add(8);
        let mut text = Vec::new();
        let read = file.take(most as u64).read_to_end(&mut text);
        read.map_err(|error| Unread::Because(error.to_string()))?;
        let is_whole = text.len() as u64 >= bytes;
        match Kind::sniff(&text, is_whole) {
            Kind::Text(_) | Kind::Empty => {}
            Kind::Image(_) | Kind::Binary(_) => {
                return Err(Unread::Because("it is not text".to_owned()));
            }
        }
        let decoded = sniff(&text, is_whole).decode(&text).text;
        let mut instructions = Instructions::within(path, &decoded, room);
        if !is_whole || instructions.left_out_bytes > 0 {
            let shown = instructions.text.len() as u64;
            instructions.left_out_bytes = bytes.saturating_sub(shown).max(1);
        }
        Ok(instructions)
    }
}

enum Unread {
    Missing,
    Because(String),
}

impl From<PathError> for Unread {
    fn from(error: PathError) -> Self {
        match error {
            // A link to nothing is there, and somebody meant something by it.
            PathError::NotFound { link: None, .. } => Self::Missing,
            error => Self::Because(error.to_string()),
        }
    }
}
