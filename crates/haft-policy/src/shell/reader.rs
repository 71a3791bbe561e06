//! Reading texts and argument vectors, and the texts and vectors inside them.

use haft_protocol::limits::{COMMAND_BYTES, COMMAND_OPERATORS, COMMANDS};

use super::tree::{self, Found};
use super::{Place, Script, ShellCommand, Unclear, Word, plain};
use crate::error::shown;

/// Unclear places that are told of; one is enough to ask.
const UNCLEAR: usize = 20;

/// Commands that run each other, one within the next.
const RUNS: usize = 8;

/// A script in the making.
pub(super) struct Reader {
    script: Script,
    /// Bytes that may still be read, of all texts together.
    bytes: usize,
}

/// What is around a text or vector.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    pub(super) places: Vec<Place>,
    pub(super) run_by: Option<usize>,
    /// Commands that run commands, from the outermost.
    pub(super) depth: usize,
    /// Whether words are added to every command that only show when it runs.
    pub(super) takes_input: bool,
}

impl Reader {
    pub(super) fn read_text(text: &str) -> Script {
        let mut reader = Self::new();
        reader.text(text, &Around::default());
        reader.script
    }

    pub(super) fn read_words(words: Vec<Word>) -> Script {
        let mut reader = Self::new();
        if words.is_empty() {
            reader.unclear("", "it is empty");
        }
        reader.words(words, Vec::new(), &Around::default());
        reader.script
    }

    fn new() -> Self {
        Self { script: Script { is_plain: true, ..Script::default() }, bytes: 2 * COMMAND_BYTES }
    }

    /// Reads a text, and what its commands run.
    pub(super) fn text(&mut self, text: &str, around: &Around) {
        if around.depth > RUNS {
            return self.unclear(text, "commands run commands too many times over");
        }
        if let Some(why) = unreadable(text) {
            return self.unclear(text, why);
        }
        match self.bytes.checked_sub(text.len()) {
            Some(left) => self.bytes = left,
            None => return self.unclear(text, "texts within texts are too long to be taken apart"),
        }
        let found = tree::read(text);
        let plain = plain::read(text);
        self.script.is_plain &= plain.is_some();
        if let Some(plain) = plain
            && found.unclear.is_empty()
            && found.plainly() != Some(plain)
        {
            self.unclear(text, "two readers do not agree on what it says");
        }
        let Found { commands, unclear } = found;
        for unclear in unclear {
            self.add_unclear(unclear);
        }
        for (_, mut command) in commands {
            command.places.splice(0..0, around.places.iter().copied());
            if around.takes_input && command.program.is_some() {
                command.arguments.push(Word::unknown("…", super::Unknown::Input));
            }
            self.command(ShellCommand { run_by: around.run_by, ..command }, around.depth);
        }
    }

    /// Reads an argument vector with what is assigned before it, and what it runs.
    pub(super) fn words(
        &mut self,
        mut words: Vec<Word>,
        assignments: Vec<String>,
        around: &Around,
    ) {
        if words.is_empty() {
            return;
        }
        let program = Some(words.remove(0));
        let command = ShellCommand {
            program,
            arguments: words,
            assignments,
            redirections: Vec::new(),
            places: around.places.clone(),
            run_by: around.run_by,
            is_frame: false,
            beside: None,
        };
        if around.depth > RUNS {
            return self.unclear(&command.to_string(), "commands run commands too many times over");
        }
        self.command(command, around.depth);
    }

    /// Adds a command, and what it runs.
    fn command(&mut self, command: ShellCommand, depth: usize) {
        if self.script.commands.len() >= COMMANDS {
            return self.unclear("", format!("there are more than {COMMANDS} commands"));
        }
        let index = self.script.commands.len();
        self.script.commands.push(command.clone());
        let mut places = command.places.clone();
        places.push(Place::Inner);
        let inside = Around { places, run_by: Some(index), depth: depth + 1, takes_input: false };
        self.see_through(&command, &inside);
    }

    /// Records that a command does nothing but run another.
    pub(super) fn mark_frame(&mut self, index: Option<usize>) {
        if let Some(command) = index.and_then(|index| self.script.commands.get_mut(index)) {
            command.is_frame = true;
        }
    }

    /// Records what a command does beside running a program.
    pub(super) fn beside(&mut self, index: Option<usize>, what: &'static str) {
        if let Some(command) = index.and_then(|index| self.script.commands.get_mut(index)) {
            command.beside = Some(what);
        }
    }

    pub(super) fn unclear(&mut self, excerpt: &str, why: impl Into<String>) {
        self.add_unclear(Unclear { line: 1, excerpt: excerpt_of(excerpt), why: why.into() });
    }

    fn add_unclear(&mut self, unclear: Unclear) {
        if self.script.unclear.len() < UNCLEAR && !self.script.unclear.contains(&unclear) {
            self.script.unclear.push(unclear);
        }
    }
}

/// Returns what is shown of a text that cannot be read.
pub(super) fn excerpt_of(text: &str) -> String {
    const CHARS: usize = 60;
    let cut: String = text.chars().take(CHARS).collect();
    let mark = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{mark}", shown(&cut))
}

/// Tells why a text is not given to the grammar at all.
fn unreadable(text: &str) -> Option<&'static str> {
    if text.len() > COMMAND_BYTES {
        return Some("it is too long to be taken apart");
    }
    // Where the grammar finds no way on, its work grows with the square of these.
    if text.matches(['|', '&', ';', '<', '>', '(', ')', '`']).count() > COMMAND_OPERATORS {
        return Some("it has too many operators to be taken apart");
    }
    let is_odd = |c: char| match c {
        '\n' | '\t' | ' ' => false,
        c => c.is_control() || c.is_whitespace() || c == '\u{feff}',
    };
    if text.contains(is_odd) {
        return Some(
            "it holds a control character or a space that shells and readers take differently",
        );
    }
    is_continued_within(text).then_some("a word or operator goes on in the next line")
}

/// Tells whether a line ends in a backslash where that does not plainly stand between two words.
fn is_continued_within(text: &str) -> bool {
    text.match_indices("\\\n").any(|(at, _)| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        let is_escaped = before.chars().rev().take_while(|it| *it == '\\').count() % 2 == 1;
        let line = before.rsplit('\n').next().unwrap_or_default();
        // On a line of its own, the grammar takes it for the end of the line before as well.
        let stands_apart = !line.trim().is_empty()
            && (line.ends_with([' ', '\t'])
                || after.chars().nth(2).is_none_or(|it| matches!(it, ' ' | '\t' | '\n')));
        !is_escaped && !stands_apart
    })
}
