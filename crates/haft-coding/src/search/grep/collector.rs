//! What a search keeps of one file.

use std::io;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkError, SinkMatch};

use super::hit::{Hit, context_line, row_bytes};
use super::paced::Paced;

/// How much of one file a search keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Appetite {
    /// The most matches.
    pub(super) hits: usize,
    /// The bytes of text after which no further match is kept.
    pub(super) bytes: usize,
    /// The number of matches after which the rest of the file is of no interest.
    pub(super) count: u64,
}

/// What is kept of one file: its first matches, and the number of all.
pub(super) struct Collector<'a> {
    matcher: &'a Paced<'a>,
    appetite: Appetite,
    before: Vec<String>,
    is_after_kept: bool,
    pub(super) hits: Vec<Hit>,
    pub(super) bytes: usize,
    pub(super) count: u64,
}

impl<'a> Collector<'a> {
    pub(super) fn new(matcher: &'a Paced<'a>, appetite: Appetite) -> Self {
        Self {
            matcher,
            appetite,
            before: Vec::new(),
            is_after_kept: false,
            hits: Vec::new(),
            bytes: 0,
            count: 0,
        }
    }

    pub(super) fn matcher(&self) -> &'a Paced<'a> {
        self.matcher
    }

    fn keeps_more(&self) -> bool {
        self.hits.len() < self.appetite.hits && self.bytes < self.appetite.bytes
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        self.is_after_kept = self.keeps_more();
        if self.is_after_kept {
            let lines = found.bytes_range_in_buffer();
            // Looked for with what is before it, so that anchors see it.
            let buffer = found.buffer().get(..lines.end).unwrap_or_default();
            let matched = self.matcher.find_at(buffer, lines.start);
            let matched = matched.map_err(io::Error::error_message)?;
            let matched = matched.map_or(0..0, |it| {
                it.start().saturating_sub(lines.start)..it.end().saturating_sub(lines.start)
            });
            let before = std::mem::take(&mut self.before);
            let number = found.line_number().unwrap_or_default();
            let hit = Hit::new(number, found.bytes(), matched, before);
            self.bytes += hit.bytes();
            self.hits.push(hit);
        }
        Ok(self.count < self.appetite.count)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        match context.kind() {
            SinkContextKind::Before if self.keeps_more() => {
                self.before.push(context_line(context.bytes()));
            }
            SinkContextKind::After if self.is_after_kept => {
                if let Some(hit) = self.hits.last_mut() {
                    let line = context_line(context.bytes());
                    self.bytes += row_bytes(&line);
                    hit.after.push(line);
                }
            }
            _ => {}
        }
        Ok(true)
    }
}
