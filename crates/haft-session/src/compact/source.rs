//! What a summary is made of.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use haft_model::{Estimator, TokenCounter as _};
use haft_protocol::{ContentPart, Entry, RawArguments, ReplyPart, Step, UserMessage, limits};

use crate::compile;
use crate::envelope;

/// What one text may have at least before whole entries are left out.
const TEXT_BYTES_MIN: usize = 128;

/// What the summary before may have at least.
const BEFORE_BYTES_MIN: usize = 2_048;

/// Makes the text of a request for a summary: the task, the summary before, and the entries, as far as there is room.
///
/// Long texts are cut in their middle, the more the less room there is; where that is not enough, entries in the middle are
/// left out and counted.
pub(super) fn request<'a>(
    task: Option<&Entry>,
    before: Option<&str>,
    entries: impl Iterator<Item = &'a Entry>,
    tokens: u64,
    estimator: &Estimator,
) -> String {
    let entries: Vec<&Entry> = entries.collect();
    let task = task.map(|it| spoken(it, limits::SUMMARISED_TEXT_BYTES)).unwrap_or_default();
    let mut bytes = limits::SUMMARISED_TEXT_BYTES;
    let mut spoken_entries: Vec<String> = Vec::new();
    loop {
        spoken_entries.clear();
        spoken_entries.extend(entries.iter().map(|it| spoken(it, bytes)));
        let before = before.map(|it| {
            haft_text::head_tail(it, bytes.saturating_mul(4).max(BEFORE_BYTES_MIN)).to_string()
        });
        let text = text(&task, before.as_deref(), &spoken_entries);
        if estimator.text(&text) <= tokens {
            return text;
        }
        if bytes <= TEXT_BYTES_MIN {
            break;
        }
        bytes /= 4;
    }
    let before = before.map(|it| haft_text::head_tail(it, BEFORE_BYTES_MIN).to_string());
    let before = before.as_deref();
    let fixed = estimator.text(&text(&task, before, &[]));
    let weights: Vec<u64> = spoken_entries.iter().map(|it| estimator.text(it)).collect();
    let left_out = middle(&weights, tokens.saturating_sub(fixed));
    let note = format!("[{} messages in between are left out here]\n", left_out.len());
    spoken_entries.splice(left_out, [note]);
    text(&task, before, &spoken_entries)
}

/// Returns which weights around the middle have to go so that the others have room.
fn middle(weights: &[u64], room: u64) -> Range<usize> {
    let mut sum = weights.iter().fold(0, |sum: u64, it| sum.saturating_add(*it));
    let (mut low, mut high) = (weights.len() / 2, weights.len() / 2);
    while sum > room && (low > 0 || high < weights.len()) {
        // What is left out grows to both sides in turns.
        let goes = if low > weights.len().saturating_sub(high) {
            low = low.saturating_sub(1);
            low
        } else {
            high = high.saturating_add(1);
            high.saturating_sub(1)
        };
        sum = sum.saturating_sub(weights.get(goes).copied().unwrap_or(0));
    }
    low..high
}

fn text(task: &str, before: Option<&str>, entries: &[String]) -> String {
    let history = entries.concat();
    let texts = || [task, before.unwrap_or_default(), history.as_str()];
    let tags = ["task", "summary", "conversation"].map(|name| envelope::tag(name, texts()));
    let [task_tag, summary_tag, conversation_tag] = &tags;
    let mut text = format!("The task:\n{}\n", envelope::wrapped(task_tag, "", task));
    if let Some(before) = before {
        let before = envelope::wrapped(summary_tag, "", before);
        let _ = write!(
            text,
            "\nThe record of what came before, which yours takes the place of:\n{before}\n"
        );
    }
    let history = envelope::wrapped(conversation_tag, "", &history);
    let _ = write!(
        text,
        "\nWhat was said and done since, oldest first:\n{history}\n\nWrite the record."
    );
    text
}

/// Writes an entry as somebody would tell it, each text of at most so many bytes.
fn spoken(entry: &Entry, bytes: usize) -> String {
    let cut = |text: &str| haft_text::head_tail(text.trim(), bytes).to_string();
    match entry {
        Entry::User(message) => {
            let said: Vec<String> = compile::said(message).iter().map(part).collect();
            format!("person: {}\n", cut(&said.join("\n")))
        }
        Entry::Summary(summary) => format!("{}\n", cut(&summary.text)),
        Entry::Step(step) => spoken_step(step, &cut),
    }
}

fn spoken_step(step: &Step, cut: &impl Fn(&str) -> String) -> String {
    let mut lines = String::new();
    for part in &step.reply.parts {
        if let ReplyPart::Text { text, .. } = part
            && !text.trim().is_empty()
        {
            let _ = writeln!(lines, "model: {}", cut(text));
        }
    }
    for (call, outcome) in step.calls() {
        let arguments = match &call.arguments {
            RawArguments::Text(text) => cut(text),
            RawArguments::Json(value) => cut(&value.to_string()),
        };
        let _ = writeln!(lines, "call of {}: {arguments}", cut(&call.tool));
        if let Some(outcome) = outcome {
            let _ = writeln!(lines, "result: {}", cut(&outcome.model_text()));
        }
    }
    lines
}

fn part(part: &ContentPart) -> String {
    match part {
        ContentPart::Text { text } => text.clone(),
        ContentPart::Image { media_type, .. } => format!("[image, {}]", media_type.media_type()),
        ContentPart::Artifact { id, title, .. } => format!("[artifact {id}: {title}]"),
    }
}

/// Tells whether a message is a person's, and not the runtime's alone.
fn is_asked(message: &UserMessage) -> bool {
    !message.content.is_empty()
}

/// Makes what is added to a summary word for word: what was asked last, unless that stays, and what was changed.
pub(super) fn added<'a>(
    older: impl Iterator<Item = &'a Entry>,
    mut kept: impl Iterator<Item = &'a Entry>,
) -> String {
    let mut asked = None;
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for entry in older {
        match entry {
            Entry::User(message) if is_asked(message) => asked = Some(message),
            Entry::Step(step) => {
                let outcomes = step.results.iter().flatten();
                paths.extend(outcomes.flat_map(|it| &it.changes).map(|it| it.path.as_str()));
            }
            Entry::User(_) | Entry::Summary(_) => {}
        }
    }
    let mut added = String::new();
    if !paths.is_empty() {
        let shown = paths.iter().take(limits::SUMMARY_PATHS);
        let shown: Vec<String> =
            shown.map(|path| format!("`{}`", haft_text::visible_line(path))).collect();
        let more = match paths.len().saturating_sub(limits::SUMMARY_PATHS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = write!(added, "\n\nChanged so far: {}{more}.", shown.join(", "));
    }
    let asked =
        asked.filter(|_| !kept.any(|it| matches!(it, Entry::User(message) if is_asked(message))));
    if let Some(asked) = asked {
        let said: Vec<String> = compile::said(asked).iter().map(part).collect();
        let said = said.join("\n");
        let said = haft_text::head_tail(said.trim(), limits::SUMMARY_ASKED_BYTES);
        let _ = write!(added, "\n\nWhat was asked last, word for word:\n{said}");
    }
    added
}
