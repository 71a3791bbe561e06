//! The only place that prints.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::OnceLock;

use anstream::ColorChoice;
use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use haft::Bound;
use serde::Serialize;
use serde_json::{Value, json};
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::args::ColorArg;
use crate::environment::Environment;
use crate::exit::Exit;

/// The version of the JSON envelope.
const ENVELOPE_VERSION: u32 = 1;

/// Characters of an error or a hint that are shown.
const ERROR_CHARS: usize = 4_000;

/// Why standard output takes no more, once it does not.
static UNWRITABLE: OnceLock<io::Error> = OnceLock::new();

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
        self.envelope_of_part(exit, data, None)
    }

    /// Prints the one JSON object of a command, of whose data some may be left out.
    pub(crate) fn envelope_of_part(
        self,
        exit: Exit,
        data: impl Serialize,
        left_out: Option<&Bound>,
    ) -> anyhow::Result<Exit> {
        let mut object = json!({
            "haft": ENVELOPE_VERSION,
            "command": self.command,
            "ok": exit == Exit::Ok,
            "exit": exit as u8,
            "data": serde_json::to_value(data)?,
        });
        if let (Some(object), Some(bound)) = (object.as_object_mut(), left_out) {
            object.insert("bounds".to_owned(), json!([bound]));
        }
        self.object(&object);
        Ok(exit)
    }

    /// Prints an error, as text on standard error or as the one JSON object.
    pub(crate) fn error(self, exit: Exit, kind: &str, text: &str, hints: &[String]) -> Exit {
        let text = &*within(text, ERROR_CHARS);
        let hints: Vec<_> = hints.iter().map(|hint| within(hint, ERROR_CHARS)).collect();
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
            for hint in &hints {
                self.aside(Tone::Warn, "hint", hint);
            }
        }
        exit
    }

    fn object(self, value: &Value) {
        self.raw(&format!("{}\n", harmless(&value.to_string())));
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

    /// Prints words, and after them a text that is wrapped beneath its beginning.
    pub(crate) fn entry(self, words: &[(Tone, &str)], (tone, text): (Tone, &str)) {
        let indent = words.iter().map(|(_, word)| display_width(word)).sum();
        let mut lines = wrapped(text, columns().saturating_sub(indent)).into_iter();
        let first = lines.next().unwrap_or_default();
        let mut row = words.to_vec();
        row.push((tone, &first));
        self.line(&row);
        for line in lines {
            self.line(&[(Tone::Plain, &" ".repeat(indent)), (tone, &line)]);
        }
    }

    /// Prints paragraphs and lists, wrapped, with an indentation.
    pub(crate) fn paragraphs(self, indent: usize, text: &str) {
        for line in text.lines() {
            let item = if line.starts_with("- ") { "- " } else { "" };
            if line.is_empty() {
                self.raw("\n");
                continue;
            }
            let words = [(Tone::Plain, &*" ".repeat(indent)), (Tone::Plain, item)];
            self.entry(&words, (Tone::Plain, line.strip_prefix(item).unwrap_or(line)));
        }
    }

    /// Prints a remark to standard error: a label, then text. Further lines are indented, so that no text can pass for
    /// another remark.
    #[expect(clippy::unused_self, reason = "whoever prints has a printer")]
    pub(crate) fn aside(self, tone: Tone, label: &str, text: &str) {
        let style = tone.style();
        let text = haft::text::visible(text);
        let text = beside_wrapped(&format!("{label}: {}", text.trim_end_matches('\n')), "  ");
        let text = text.strip_prefix(label).unwrap_or(&text);
        let mut stderr = anstream::stderr().lock();
        // There is nobody left to tell when standard error is closed.
        let _ = writeln!(stderr, "{style}{label}{style:#}{text}");
    }

    /// Prints words of different weight on one line of standard error.
    #[expect(clippy::unused_self, reason = "whoever prints has a printer")]
    pub(crate) fn beside(self, words: &[(Tone, &str)]) {
        let mut line = String::new();
        for (tone, word) in words {
            let style = tone.style();
            line.push_str(&format!("{style}{}{style:#}", haft::text::visible_line(word)));
        }
        // There is nobody left to tell when standard error is closed.
        let _ = writeln!(anstream::stderr().lock(), "{line}");
    }

    /// Prints one line of JSON of many, each with the version of their form.
    pub(crate) fn event(self, event: &impl Serialize) {
        let mut line = json!({ "haft": ENVELOPE_VERSION });
        // What cannot be written as JSON is none of the events there are.
        if let (Some(line), Ok(Value::Object(event))) =
            (line.as_object_mut(), serde_json::to_value(event))
        {
            line.extend(event);
        }
        self.object(&line);
    }

    /// Prints text that was made safe to print, as far as it has come.
    pub(crate) fn safe(self, text: &str) {
        self.raw(text);
    }

    /// Writes bytes as they are, for those who asked for exactly these; on a terminal, as text that is safe to print.
    pub(crate) fn bytes(self, bytes: &[u8]) {
        if io::stdout().is_terminal() {
            return self.text(&String::from_utf8_lossy(bytes));
        }
        write(bytes);
    }

    /// Writes a text of our own that is meant for another program: a script, a page.
    pub(crate) fn file(self, text: &str) {
        self.raw(text);
    }

    /// Writes what is already safe to print.
    #[expect(clippy::unused_self, reason = "whoever prints has a printer")]
    fn raw(self, text: &str) {
        match anstream::AutoStream::choice(&io::stdout()) {
            ColorChoice::Never => write(strip_str(text).to_string().as_bytes()),
            _ => write(text.as_bytes()),
        }
    }
}

/// Writes to standard output until it takes no more. What the command does and how it ends is not up to its reader.
fn write(bytes: &[u8]) {
    if UNWRITABLE.get().is_some() {
        return;
    }
    // The standard library's own handle says nothing where the other end cannot be written to.
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    if let Err(error) = stdout.and_then(|mut it| it.write_all(bytes)) {
        let _ = UNWRITABLE.set(error);
    }
}

/// Returns how a command ends whose output may not have been written: as it ended itself where its reader had enough, as
/// `head` does; as a failure where what was asked for could not be delivered.
pub(crate) fn delivered(exit: Exit, printer: Printer) -> Exit {
    match UNWRITABLE.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            printer.aside(Tone::Bad, "error", &format!("cannot write to standard output: {error}"));
            if exit == Exit::Ok { Exit::Failed } else { exit }
        }
        _ => exit,
    }
}

/// Says why the command line could not be read, or what was asked to be said about it: its help, its version.
pub(crate) fn unread(error: &clap::Error, environment: &Environment) -> Exit {
    if !error.use_stderr() {
        let is_printed = error.print().or_else(|error| match error.kind() {
            ErrorKind::BrokenPipe => Ok(()),
            _ => Err(error),
        });
        return if is_printed.is_ok() { Exit::Ok } else { Exit::Failed };
    }
    let mut typed = environment.arguments.iter().map(|it| it.to_string_lossy());
    let is_harmless = typed.all(|it| matches!(haft::text::visible_line(&it), Cow::Borrowed(_)));
    if is_harmless && !environment.wants_json() {
        let _ = error.print();
        return Exit::Usage;
    }
    // What was typed is repeated in the text, so the text passes where all others do.
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or(&text);
    let text = text.split("\n\nFor more").next().unwrap_or(text);
    let text = text.trim().strip_prefix("error: ").unwrap_or(text);
    let printer = Printer::new(environment.wants_json(), "haft", ColorArg::Auto);
    printer.error(Exit::Usage, "usage", text, &["`haft --help` says what can be typed".to_owned()])
}

/// Writes what acts on a terminal as escapes of JSON, which mean the same to whoever parses it.
fn harmless(json: &str) -> Cow<'_, str> {
    if matches!(haft::text::visible_line(json), Cow::Borrowed(_)) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for char in json.chars() {
        let mut bytes = [0; 4];
        if let Cow::Borrowed(char) = haft::text::visible_line(char.encode_utf8(&mut bytes)) {
            escaped.push_str(char);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(escaped)
}

/// Wraps a text at its spaces, so that what is to be typed stays in one piece.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let options = Options::new(columns.max(20))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(Cow::into_owned).collect()
}

/// Wraps each line of a text where standard error is a terminal. All lines but the first are indented.
pub(crate) fn beside_wrapped(text: &str, indent: &str) -> String {
    let end = format!("\n{indent}");
    if !io::stderr().is_terminal() {
        return text.replace('\n', &end);
    }
    let columns = terminal_columns().min(COLUMNS).saturating_sub(indent.len());
    let lines: Vec<String> = text.lines().flat_map(|line| wrapped(line, columns)).collect();
    lines.join(&end)
}

/// Cuts a text to a number of characters and marks the cut.
fn within(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars).and_then(|(at, _)| text.get(..at)) {
        Some(kept) => Cow::Owned(format!("{kept}…")),
        None => Cow::Borrowed(text),
    }
}

/// Cuts a text to a number of columns and marks the cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for char in text.chars() {
        kept.push(char);
        if display_width(&kept) >= columns {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}

/// Returns how many columns text is wrapped to.
pub(crate) fn columns() -> usize {
    width().map_or(COLUMNS, |columns| columns.clamp(40, COLUMNS))
}

/// Returns how many columns a line has where standard output is a terminal.
pub(crate) fn width() -> Option<usize> {
    let is_terminal = io::stdout().is_terminal();
    is_terminal.then(terminal_columns)
}

fn terminal_columns() -> usize {
    crate::environment::columns().unwrap_or_else(textwrap::termwidth).max(40)
}
