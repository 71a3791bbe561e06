//! Station 14, second half: what is too much for an outcome goes into an artifact.

use std::io;
use std::sync::Arc;

use haft_protocol::{Bound, CallId, ContentPart, Count, Outcome};

use serde_json::Value;

use super::DispatchLimits;
use crate::ledger::KeptRows;
use crate::ports::{NewArtifact, Ports};

/// Cuts text and structured output to their limits, and keeps the whole as artifacts where there is a store. Returns
/// which lines of the text were kept.
pub(super) async fn bound_output(
    ports: &Ports,
    limits: &DispatchLimits,
    call: CallId,
    outcome: &mut Outcome,
) -> KeptRows {
    let mut rows = KeptRows::ALL;
    let total: usize = outcome.content.iter().filter_map(ContentPart::as_text).map(str::len).sum();
    if total > limits.outcome_text_bytes {
        let whole: Vec<&str> = outcome.content.iter().filter_map(ContentPart::as_text).collect();
        let whole: Arc<[u8]> = whole.join("\n").into_bytes().into();
        let kept;
        (kept, rows) = cut_text(&mut outcome.content, limits.outcome_text_bytes);
        let spilled =
            Spilled { title: "whole text", media_type: "text/plain", kept, total: total as u64 };
        spill(ports, call, outcome, whole, spilled).await;
    }
    if let Some(value) =
        outcome.structured.take_if(|it| exceeds(it, limits.outcome_structured_bytes))
    {
        let whole = value.to_string().into_bytes();
        let total = whole.len() as u64;
        let spilled =
            Spilled { title: "structured output", media_type: "application/json", kept: 0, total };
        spill(ports, call, outcome, whole.into(), spilled).await;
    }
    rows
}

/// Tells whether a value's JSON has more bytes than a limit, without keeping any of it.
fn exceeds(value: &Value, limit: usize) -> bool {
    struct Room(usize);
    impl io::Write for Room {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(piece.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(piece.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(limit), value).is_err()
}

struct Spilled {
    title: &'static str,
    media_type: &'static str,
    kept: u64,
    total: u64,
}

async fn spill(
    ports: &Ports,
    call: CallId,
    outcome: &mut Outcome,
    bytes: Arc<[u8]>,
    spilled: Spilled,
) {
    let Spilled { title, media_type, kept, total } = spilled;
    let artifact =
        NewArtifact { call, title: title.to_owned(), media_type: media_type.to_owned(), bytes };
    let way_on = match ports.artifacts.keep(artifact).await {
        Ok(id) => {
            outcome.content.push(ContentPart::Artifact {
                id,
                title: title.to_owned(),
                media_type: media_type.to_owned(),
                bytes: total,
            });
            format!("the {title} is artifact {id}")
        }
        Err(error) => {
            tracing::warn!(%call, %error, "an artifact was not kept");
            format!("the {title} was not kept ({error}); narrow the call")
        }
    };
    outcome.bounds.push(Bound {
        unit: format!("bytes of {}", if kept == 0 { title } else { "text" }),
        kept,
        left_out: Count::Exact(total.saturating_sub(kept)),
        way_on,
    });
}

/// Cuts the text parts to a total: the first three quarters from the start, the last quarter from the end. Returns how
/// many bytes, and which lines, were kept.
fn cut_text(content: &mut [ContentPart], limit: usize) -> (u64, KeptRows) {
    let texts = content.iter_mut().filter_map(|part| match part {
        ContentPart::Text { text } => Some(text),
        ContentPart::Image { .. } | ContentPart::Artifact { .. } => None,
    });
    let texts: Vec<&mut String> = texts.collect();
    let last = texts.len().saturating_sub(1);
    let lines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let mut room = limit;
    let mut kept = 0;
    // Parts stand on lines of their own.
    let mut all_lines = 0;
    let mut rows = KeptRows::ALL;
    for (position, text) in texts.into_iter().enumerate() {
        let before = all_lines;
        all_lines += lines(text) + 1;
        if text.len() > room {
            let tail = if position == last { room / 4 } else { 0 };
            let head = text.get(..text.floor_char_boundary(room - tail)).unwrap_or_default();
            let end = text.get(text.ceil_char_boundary(text.len() - tail)..).unwrap_or_default();
            rows.head = rows.head.min(before + lines(head));
            rows.tail_from = all_lines - lines(end);
            let cut = text.len() - head.len() - end.len();
            kept += head.len() + end.len();
            *text = format!("{head}\n[… {cut} bytes left out …]\n{end}");
            room = 0;
        } else {
            room -= text.len();
            kept += text.len();
        }
    }
    (kept as u64, rows)
}
