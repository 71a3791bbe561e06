//! What a reader sees of a command.

use std::sync::Arc;

use haft_process::{Captured, Cleanup, Confinement, End, Finished};
use haft_protocol::{Bound, ContentPart, Count, Failure, NoticeKind, limits};
use haft_text::{Kept, collapse_carriage_returns, head, tail, visible, visible_line};
use haft_tool::{Call, Output, Shown, blocking};
use schemars::JsonSchema;
use serde::Serialize;

use super::BashSettings;
use crate::words::{counted, grouped, size};

/// How a command ended and what it printed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BashOutput {
    /// How it ended.
    pub end: EndKind,
    /// The exit status, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: StreamOutput,
    /// What it wrote to standard error.
    pub stderr: StreamOutput,
    /// Processes that were still running when the command ended, and were stopped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftProcess>,
    /// How far it was confined: `none`, `group`, `files` or `files+net`.
    pub sandbox: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    /// By itself.
    Exited,
    /// By a signal.
    Signalled,
    /// It was stopped because it ran out of time.
    TimedOut,
    /// It was stopped because the call was called off.
    Stopped,
}

/// What a command wrote to one of its streams.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamOutput {
    /// The text as it is shown: the start, and after a line that says what was left out, the end.
    pub text: String,
    /// Bytes that were written.
    pub bytes: u64,
    /// Whether some of them are not shown.
    pub is_cut: bool,
}

/// A process that was still running when the command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftProcess {
    /// Its id.
    pub pid: u32,
    /// Its command line.
    pub command: String,
}

/// Shows a command that ended.
pub(super) async fn show(
    call: &Call,
    finished: Finished,
    timeout: u32,
    settings: &BashSettings,
) -> Result<Shown<BashOutput>, Failure> {
    let room = limits::COMMAND_SHOWN_BYTES;
    let mut stderr = Stream::of("stderr", &finished.stderr);
    let mut stdout = Stream::of("stdout", &finished.stdout);
    stderr.fit((room / 3).max(room.saturating_sub(stdout.text.len())));
    stdout.fit(room.saturating_sub(stderr.text.len()));

    let mut output = Output::text(status(&finished, timeout));
    output.content.extend([&stdout, &stderr].into_iter().filter_map(Stream::section));
    output = say_what_was_changed(output, &[&stdout, &stderr]);
    if finished.end == End::TimedOut {
        output = output.with_notice(NoticeKind::Remark, way_on_in_time(timeout));
    }
    output = say_what_happened(output, &finished, settings);
    let (end, exit_code, signal) = match finished.end {
        End::Exited(code) => (EndKind::Exited, Some(code), None),
        End::Signalled(signal) => (EndKind::Signalled, None, Some(signal)),
        End::TimedOut => (EndKind::TimedOut, None, None),
        End::Stopped => (EndKind::Stopped, None, None),
    };
    let left = finished.left_behind.processes.iter().map(|process| LeftProcess {
        pid: process.pid,
        command: visible_line(&process.command).into_owned(),
    });
    let value = BashOutput {
        end,
        exit_code,
        signal,
        stdout: stdout.data(),
        stderr: stderr.data(),
        left_behind: left.collect(),
        sandbox: finished.level.to_string(),
    };
    let Finished { stdout: out, stderr: err, .. } = finished;
    for (stream, captured) in [(stdout, out), (stderr, err)] {
        if stream.left_out > 0 {
            keep(call, &stream, captured, &mut output).await;
        }
    }
    Ok(Shown { value, output })
}

/// The first line: how it ended, and where.
fn status(finished: &Finished, timeout: u32) -> String {
    let how = match finished.end {
        End::Exited(code) => format!("exit {code}"),
        End::Signalled(signal) => format!("ended by signal {signal}{}", signal_name(signal)),
        End::TimedOut => {
            format!("stopped after {} ms: it ran out of time", grouped(timeout.into()))
        }
        End::Stopped => "stopped: the call was called off".to_owned(),
    };
    let silent = finished.stdout.total() + finished.stderr.total() == 0;
    let silent = if silent { ", no output" } else { "" };
    format!("{how}{silent} (sandbox: {})", finished.level)
}

/// Says how to go on after a command that ran out of time.
fn way_on_in_time(timeout: u32) -> String {
    let most = limits::COMMAND_MS_MAX;
    let longer = if timeout < most {
        format!("give it longer with `timeout_ms` (up to {most}), or ")
    } else {
        "no command runs longer: ".to_owned()
    };
    format!(
        "{longer}do less at once; what it writes to a file of the workspace stays for the next call"
    )
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        2 => " (INT)",
        6 => " (ABRT)",
        7 => " (BUS)",
        8 => " (FPE)",
        9 => " (KILL)",
        11 => " (SEGV)",
        13 => " (PIPE)",
        15 => " (TERM)",
        24 => " (XCPU)",
        25 => " (XFSZ)",
        31 => " (SYS)",
        _ => "",
    }
}

/// One stream as it is shown.
struct Stream {
    name: &'static str,
    kept: Kept,
    text: String,
    left_out: u64,
    has_escapes: bool,
    has_malformed: bool,
    has_rewritten: bool,
}

impl Stream {
    fn of(name: &'static str, captured: &Captured) -> Self {
        let kept = captured.kept();
        let raw = |bytes: &[u8]| memchr::memmem::find_iter(bytes, "\u{fffd}").count();
        let ends = captured.ends();
        let (front, back) = ends.tail();
        let written = raw(ends.head()) + raw(&[front, back].concat());
        let read = [&kept.head, &kept.tail].map(|text| text.matches('\u{fffd}').count());
        let mut stream = Self {
            name,
            text: String::new(),
            left_out: 0,
            has_escapes: false,
            has_malformed: read.iter().sum::<usize>() > written,
            has_rewritten: false,
            kept,
        };
        stream.render();
        stream
    }

    /// Writes the text from what is kept.
    fn render(&mut self) {
        let Kept { head, tail, left_out, .. } = &self.kept;
        let (head_lines, tail_lines) =
            (collapse_carriage_returns(head), collapse_carriage_returns(tail));
        self.has_rewritten = has_rewritten(head) || has_rewritten(tail);
        let (shown_head, shown_tail) = (visible(&head_lines), visible(&tail_lines));
        self.has_escapes = *shown_head != *head_lines || *shown_tail != *tail_lines;
        self.left_out = *left_out;
        self.text = if *left_out == 0 {
            format!("{shown_head}{shown_tail}")
        } else {
            let line = if shown_head.is_empty() || shown_head.ends_with('\n') { "" } else { "\n" };
            format!("{shown_head}{line}[… {} bytes left out …]\n{shown_tail}", grouped(*left_out))
        };
    }

    /// Keeps less, until what is shown has room: escapes may be longer than what they stand for.
    fn fit(&mut self, room: usize) {
        let mut each = self.kept.head.len().max(self.kept.tail.len()).min(room / 2);
        let mut has_room = true;
        while has_room && self.text.len() > room {
            has_room = each > 0;
            let Kept { head: first, tail: last, left_out, .. } = &mut self.kept;
            if last.is_empty() {
                *last = std::mem::take(first);
                first.clone_from(last);
                let (start, end) = (head(first, each).len(), tail(last, each).len());
                let (start, end) = (start, end.min(first.len() - start));
                *left_out = (first.len() - start - end) as u64;
                last.drain(..last.len() - end);
                first.truncate(start);
            } else {
                let (start, end) = (head(first, each).len(), tail(last, each).len());
                *left_out += (first.len() - start + last.len() - end) as u64;
                last.drain(..last.len() - end);
                first.truncate(start);
            }
            self.render();
            each = each * 3 / 4;
        }
    }

    fn section(&self) -> Option<ContentPart> {
        if self.kept.total == 0 {
            return None;
        }
        let bytes = counted(self.kept.total, "byte", "bytes");
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        Some(ContentPart::text(format!("{}, {bytes}:\n{text}", self.name)))
    }

    fn data(&self) -> StreamOutput {
        StreamOutput { text: self.text.clone(), bytes: self.kept.total, is_cut: self.left_out > 0 }
    }
}

/// Tells whether a line was written over, which ends of lines in the manner of Windows do not count as.
fn has_rewritten(text: &str) -> bool {
    text.lines().any(|line| line.trim_end_matches('\r').contains('\r'))
}

/// Says where what is shown is not what was written.
fn say_what_was_changed(mut output: Output, streams: &[&Stream]) -> Output {
    let some = |test: fn(&Stream) -> bool| streams.iter().any(|stream| test(stream));
    if some(|stream| stream.has_rewritten) {
        output = output.with_notice(
            NoticeKind::Substituted,
            "lines that were written over and over are shown as they were at last",
        );
    }
    if some(|stream| stream.has_escapes) {
        output = output
            .with_notice(NoticeKind::Substituted, "control or hidden characters are shown escaped");
    }
    if some(|stream| stream.has_malformed) {
        output = output
            .with_notice(NoticeKind::Substituted, "bytes that are not UTF-8 are shown as U+FFFD");
    }
    output
}

/// Says what was left running, and what was weaker than it could be.
fn say_what_happened(mut output: Output, finished: &Finished, settings: &BashSettings) -> Output {
    let left = &finished.left_behind;
    if !left.is_empty() {
        let number = left.processes.len() as u64 + u64::from(left.more);
        let names = left.processes.iter().take(4);
        let names = names.map(|it| format!("`{}` ({})", visible_line(&it.command), it.pid));
        let more = if number > 4 { ", …" } else { "" };
        let were = counted(number, "process was", "processes were");
        let names = names.collect::<Vec<_>>().join(", ");
        let text =
            format!("{were} still running when the command ended, and stopped: {names}{more}");
        output = output.with_notice(NoticeKind::Remark, text);
    }
    if finished.level < settings.sandbox {
        let text = format!(
            "confined less than wanted: level `{}` is the most that works here, not `{}`",
            finished.level, settings.sandbox
        );
        output = output.with_notice(NoticeKind::Degraded, text);
    }
    let unsure = match finished.cleanup {
        Cleanup::Complete | Cleanup::CommandOnly => None,
        Cleanup::GroupOnly => {
            Some("what the command started and detached may still be running".to_owned())
        }
        Cleanup::HelperLost => Some(
            "the process that watched the command was killed; what it detached may still be running"
                .to_owned(),
        ),
        Cleanup::Survivors(number) => {
            let processes = counted(number.into(), "process", "processes");
            Some(format!("{processes} of the command could not be killed"))
        }
        _ => Some("whether all of the command has ended is not known".to_owned()),
    };
    if let Some(text) = unsure {
        output = output.with_notice(NoticeKind::Degraded, text);
    }
    if matches!(finished.end, End::Signalled(XFSZ) | End::Exited(XFSZ_OF_SHELL)) {
        let most = size(settings.allowance.file_bytes);
        let text = format!(
            "a file may grow to {most} at most. A person can change that: {}",
            settings.to_set("file_bytes = BYTES")
        );
        output = output.with_notice(NoticeKind::Remark, text);
    }
    match finished.likely_confined() {
        Some(Confinement::Network) => output.with_notice(
            NoticeKind::Remark,
            format!(
                "this may be the sandbox: the network is off at level `files+net`. A person can turn it on: {}",
                settings.to_set("sandbox = \"files\"")
            ),
        ),
        Some(Confinement::Files) => output.with_notice(
            NoticeKind::Remark,
            format!(
                "this may be the sandbox: at level `{}` only the workspace, `$HOME` and `$TMPDIR` can be written, and only they and the system's directories read. {}",
                finished.level,
                capital(&settings.read_hint()),
            ),
        ),
        None => output,
    }
}

/// The signal that ends who writes more to a file than it may hold, and the status by which a shell tells of it.
const XFSZ: i32 = 25;
const XFSZ_OF_SHELL: i32 = 128 + XFSZ;

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), chars.as_str()))
}

/// Keeps the whole of a stream as an artifact, as far as it is there, and says how to get it.
async fn keep(call: &Call, stream: &Stream, captured: Captured, output: &mut Output) {
    let name = stream.name;
    let (total, available) = (captured.total(), captured.available());
    let title = if available < total {
        format!("first {} of {name}", size(available))
    } else {
        format!("whole {name}")
    };
    let read = blocking(move || captured.bytes()).await;
    let kept = match read {
        Ok(bytes) => {
            let is_text = std::str::from_utf8(&bytes).is_ok();
            let media_type = if is_text { "text/plain" } else { "application/octet-stream" };
            let kept = call.keep(&title, media_type, Arc::from(bytes)).await;
            kept.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.kind().to_string()),
    };
    let way_on = match kept {
        Ok(part) => {
            let id = match &part {
                ContentPart::Artifact { id, .. } => id.to_string(),
                ContentPart::Text { .. } | ContentPart::Image { .. } => String::new(),
            };
            output.content.push(part);
            format!("the {title} is artifact {id}; or write it to a file and read that in parts")
        }
        Err(error) => {
            tracing::warn!(%error, "what a command wrote was not kept");
            format!("the rest was not kept ({error}); write it to a file and read that in parts")
        }
    };
    output.bounds.push(Bound {
        unit: format!("bytes of {name}"),
        kept: total.saturating_sub(stream.left_out),
        left_out: Count::Exact(stream.left_out),
        way_on,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(head: &str, tail: &str, left_out: u64) -> Stream {
        let kept = haft_text::HeadTail::new(0, 0).kept();
        let mut kept = kept;
        kept.total = (head.len() + tail.len()) as u64 + left_out;
        (kept.head, kept.tail, kept.left_out) = (head.to_owned(), tail.to_owned(), left_out);
        let mut stream = Stream {
            name: "stdout",
            kept,
            text: String::new(),
            left_out: 0,
            has_escapes: false,
            has_malformed: false,
            has_rewritten: false,
        };
        stream.render();
        stream
    }

    #[test]
    fn every_byte_is_shown_or_counted_whatever_the_room() {
        let long = "中\0é\n".repeat(500);
        for (mut stream, room) in [1, 50, 100, 1000, 5000, 50_000]
            .into_iter()
            .flat_map(|room| [(stream(&long, "", 0), room), (stream(&long, &long, 77), room)])
        {
            stream.fit(room);
            let kept = stream.kept.head.len() + stream.kept.tail.len();
            assert_eq!(kept as u64 + stream.left_out, stream.kept.total, "{room}");
            assert!(stream.text.len() <= room.max(40), "{room}: {}", stream.text.len());
        }
    }

    #[test]
    fn what_fits_is_not_touched() {
        let mut stream = stream("a\nb\n", "", 0);
        stream.fit(4);
        assert_eq!((stream.text.as_str(), stream.left_out), ("a\nb\n", 0));
    }
}
