//! The only place that prints.

use std::io::{IsTerminal as _, Write as _};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::ColorArg;
use crate::exit::Exit;

/// The version of the JSON envelope.
const ENVELOPE_VERSION: u32 = 1;

/// Columns that text is wrapped to where the terminal is wider or says nothing.
const COLUMNS: usize = 80;

/// A word's weight on a terminal. Colour only repeats what the words say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// The important part.
    Strong,
    /// Beside the point.
    Faint,
    /// It went well.
    Good,
    /// Worth a look.
    Warn,
    /// It did not go well.
    Bad,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// Prints for people, or one JSON object for programs.
///
/// Everything that did not grow in this source passes [`haft::text::visible`] here, so that no file name, file content
/// or tool can move the reader's cursor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    json: bool,
    command: &'static str,
}

impl Printer {
    /// Makes a printer for a command.
    pub(crate) fn new(json: bool, command: &'static str, color: ColorArg) -> Self {
        match color {
            ColorArg::Auto => {}
            ColorArg::Always => ColorChoice::Always.write_global(),
            ColorArg::Never => ColorChoice::Never.write_global(),
        }
        Self { json, command }
    }

    /// Tells whether one JSON object is wanted.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Prints the one JSON object of a command that has something to say.
    pub(crate) fn envelope(self, exit: Exit, data: impl Serialize) -> anyhow::Result<Exit> {
        let data = serde_json::to_value(data)?;
        self.object(&json!({
            "haft": ENVELOPE_VERSION,
            "command": self.command,
            "ok": exit == Exit::Ok,
            "exit": exit as u8,
            "data": data,
        }));
        Ok(exit)
    }

    /// Prints an error, as text on standard error or as the one JSON object.
    pub(crate) fn error(self, exit: Exit, kind: &str, text: &str, hints: &[String]) -> Exit {
        if self.json {
            self.object(&json!({
                "haft": ENVELOPE_VERSION,
                "command": self.command,
                "ok": false,
                "exit": exit as u8,
                "error": { "kind": kind, "text": text, "hints": hints },
            }));
        } else {
            self.aside(Tone::Bad, "error", text);
            for hint in hints {
                self.aside(Tone::Warn, "hint", hint);
            }
        }
        exit
    }

    fn object(self, value: &Value) {
        self.raw(&format!("{value}\n"));
    }

    /// Prints text to standard output as it is, but for control characters.
    pub(crate) fn text(self, text: &str) {
        self.raw(&haft::text::visible(text));
        if !text.ends_with('\n') {
            self.raw("\n");
        }
    }

    /// Prints words of different weight on one line.
    pub(crate) fn line(self, words: &[(Tone, &str)]) {
        let mut line = String::new();
        for (tone, word) in words {
            let style = tone.style();
            line.push_str(&format!("{style}{}{style:#}", haft::text::visible_line(word)));
        }
        line.push('\n');
        self.raw(&line);
    }

    /// Prints a paragraph, wrapped, with an indentation.
    pub(crate) fn paragraph(self, indent: usize, text: &str) {
        let indent = " ".repeat(indent);
        let options =
            textwrap::Options::new(columns()).initial_indent(&indent).subsequent_indent(&indent);
        for line in haft::text::visible(text).lines() {
            self.raw(&textwrap::fill(line, &options));
            self.raw("\n");
        }
    }

    /// Prints a remark to standard error: a label, then text.
    pub(crate) fn aside(self, tone: Tone, label: &str, text: &str) {
        let style = tone.style();
        let text = haft::text::visible(text);
        let mut stderr = anstream::stderr().lock();
        // There is nobody left to tell when standard error is closed.
        let _ = writeln!(stderr, "{style}{label}{style:#}: {text}");
    }

    /// Writes bytes as they are, for those who asked for exactly these.
    pub(crate) fn bytes(self, bytes: &[u8]) {
        finish(std::io::stdout().lock().write_all(bytes));
    }

    /// Writes what is already safe to print. A closed pipe ends the command quietly, as `head` expects.
    fn raw(self, text: &str) {
        let mut stdout = anstream::stdout().lock();
        finish(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
    }
}

/// Ends the command where standard output does: quietly when its reader went away, as `head` does.
fn finish(written: std::io::Result<()>) {
    if let Err(error) = written {
        let code =
            if error.kind() == std::io::ErrorKind::BrokenPipe { 0 } else { Exit::Failed as i32 };
        std::process::exit(code);
    }
}

/// Returns how many columns text is wrapped to.
pub(crate) fn columns() -> usize {
    let narrower = crate::environment::columns().filter(|_| std::io::stdout().is_terminal());
    narrower.map_or(COLUMNS, |columns| columns.clamp(40, COLUMNS))
}
