//! The file that a call is about.

use std::io::Read;

use haft_protocol::{Digest, ErrorKind, Failure, LogicalPath, limits};
use haft_text::Kind;
use haft_tool::{Call, Output};
use haft_workspace::{Expected, FileKind, WorkspaceCall, WritePlace, Writer, Written};

use super::seen::Evidence;
use crate::pulse::Pulse;
use crate::words::{counted, size};

/// What a call works on: the place of its `path`, and what the caller has seen of it.
pub(super) struct Target<'c> {
    pub(super) call: &'c Call,
    pub(super) writer: Writer,
    pub(super) place: WritePlace,
}

/// A file that was read whole.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
}

impl<'c> Target<'c> {
    pub(super) fn new(call: &'c Call) -> Result<Self, Failure> {
        let writer = call.writer()?;
        let place = writer.place("path")?;
        Ok(Self { call, writer, place })
    }

    /// The path, after links.
    pub(super) fn path(&self) -> &LogicalPath {
        self.place.logical()
    }

    /// What stands there.
    pub(super) fn kind(&self) -> Option<FileKind> {
        self.place.resolved().kind()
    }

    /// Whether nobody waits for the call any more.
    pub(super) fn is_called_off(&self) -> bool {
        self.call.cancellation().is_cancelled()
    }

    /// What the caller has seen of the file.
    pub(super) fn evidence(&self) -> Evidence<'_> {
        Evidence::new(self.call, self.path())
    }

    /// Reads the whole file.
    pub(super) fn read(&self) -> Result<Content, Failure> {
        let path = self.path();
        let file = self.writer.view().open(self.place.resolved())?;
        let len = file.metadata().len;
        let too_long = || {
            let text = format!(
                "`{path}` is too long to edit: more than {}",
                size(limits::EDIT_FILE_BYTES)
            );
            Failure::new(ErrorKind::LimitExceeded, text)
                .hint("change it with a program made for files of that size")
        };
        if len > limits::EDIT_FILE_BYTES {
            return Err(too_long());
        }
        let pulse = Pulse::new(self.call, "bytes read");
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let mut rest = file.take(limits::EDIT_FILE_BYTES + 1);
        loop {
            if pulse.is_called_off() {
                let text = format!("`{path}` was not read to its end: the call was called off");
                return Err(Failure::new(ErrorKind::Unavailable, text));
            }
            let mut part = (&mut rest).take(READ_AT_ONCE);
            let count = part.read_to_end(&mut bytes).map_err(|error| {
                let text = format!("`{path}` cannot be read: {}", error.kind());
                Failure::new(ErrorKind::Upstream, text)
            })?;
            pulse.add(count as u64);
            if count == 0 {
                break;
            }
        }
        if bytes.len() as u64 > limits::EDIT_FILE_BYTES {
            return Err(too_long());
        }
        Ok(Content { bytes })
    }

    /// Reads the whole file as text.
    pub(super) fn read_text(&self) -> Result<Content, Failure> {
        let path = self.path();
        if self.kind() == Some(FileKind::Directory) {
            let text = format!("`{path}` is a directory, not a file");
            return Err(Failure::new(ErrorKind::Unsupported, text).hint("name a file in it"));
        }
        let content = self.read().map_err(|failure| self.near(failure))?;
        match content.what() {
            None => Ok(content),
            Some(what) => {
                let bytes = counted(content.bytes.len() as u64, "byte", "bytes");
                let text = format!("`{path}` cannot be edited as text: {what}, {bytes}");
                Err(Failure::new(ErrorKind::Unsupported, text)
                    .hint("change it with a program made for it"))
            }
        }
    }

    /// Says of what is not there what is near it.
    pub(super) fn near(&self, failure: Failure) -> Failure {
        if failure.kind != ErrorKind::NotFound {
            return failure;
        }
        let missing = self.writer.view().missing(self.place.resolved()).map(Failure::from);
        match missing.filter(|missing| missing.kind == ErrorKind::NotFound) {
            Some(missing) if !missing.hints.is_empty() => missing,
            missing => missing.unwrap_or(failure).hint("search for the file by its name"),
        }
    }

    /// Puts new content in the place of what was read.
    pub(super) fn replace(&self, before: &Content, after: &[u8]) -> Result<Written, Failure> {
        let expected = Expected::Content(Digest::of_bytes(&before.bytes));
        Ok(self.writer.replace(&self.place, expected, after)?)
    }
}

/// How many bytes are read between two looks at whether the call was called off.
const READ_AT_ONCE: u64 = 1024 * 1024;

impl Content {
    /// What it is, where it is no text.
    pub(super) fn what(&self) -> Option<&'static str> {
        let head = self.bytes.get(..HEAD_BYTES).unwrap_or(&self.bytes);
        match Kind::sniff(head, self.bytes.len() < HEAD_BYTES) {
            Kind::Empty | Kind::Text(_) => None,
            Kind::Image(_) => Some("an image"),
            Kind::Binary(what) => Some(what),
        }
    }
}

/// How many bytes say what a file holds.
const HEAD_BYTES: usize = 64 * 1024;

/// Adds what was written to an output.
pub(super) fn report(output: &mut Output, written: Written) {
    output.changes.extend(written.changes);
    output.notices.extend(written.notices);
}
