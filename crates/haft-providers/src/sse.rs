//! Server-sent events: from bytes to events, bounded.

use std::collections::VecDeque;

/// Something a server said in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// An event with data.
    Event(Event),
    /// A comment, or an event without data: the server lives, and says nothing.
    Ping,
}

/// An event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// What the server calls it; empty where it has no name.
    pub(crate) name: String,
    /// Its data, lines joined.
    pub(crate) data: String,
}

/// An event that is longer than any that makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Takes bytes as they come, cut anywhere, and gives whole events.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    after_return: bool,
    first_line: bool,
}

impl Decoder {
    /// Makes a decoder of events that have at most so many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            name: String::new(),
            data: None,
            after_return: false,
            first_line: true,
        }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        frames: &mut VecDeque<Frame>,
    ) -> Result<(), TooLong> {
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = bytes.split_at(end);
            self.hold(line)?;
            let line = std::mem::take(&mut self.line);
            self.take_line(&line, frames);
            bytes = match rest {
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => &[],
            };
        }
        self.hold(bytes)
    }

    /// Returns the event that the end of the stream has cut off, where there is one: some servers leave out the empty line
    /// behind their last.
    pub(crate) fn finish(mut self) -> Option<Event> {
        let mut frames = VecDeque::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut frames);
        }
        self.take_line(b"", &mut frames);
        frames.into_iter().find_map(|frame| match frame {
            Frame::Event(event) => Some(event),
            Frame::Ping => None,
        })
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let held = self.line.len() + self.name.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > self.limit {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_line(&mut self, line: &[u8], frames: &mut VecDeque<Frame>) {
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if self.first_line => rest,
            _ => line,
        };
        self.first_line = false;
        if line.is_empty() {
            self.end_event(frames);
            return;
        }
        let text = String::from_utf8_lossy(line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => {
                // A comment is a sign of life at once; no empty line has to follow.
                frames.push_back(Frame::Ping);
            }
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
    }

    fn end_event(&mut self, frames: &mut VecDeque<Frame>) {
        let name = std::mem::take(&mut self.name);
        match self.data.take() {
            Some(data) if !data.is_empty() => frames.push_back(Frame::Event(Event { name, data })),
            Some(_) => frames.push_back(Frame::Ping),
            None if !name.is_empty() => frames.push_back(Frame::Ping),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> Vec<Frame> {
        let mut decoder = Decoder::new(1000);
        let mut frames = VecDeque::new();
        for piece in pieces {
            decoder.feed(piece, &mut frames).unwrap();
        }
        frames.extend(decoder.finish().map(Frame::Event));
        frames.into()
    }

    fn event(name: &str, data: &str) -> Frame {
        Frame::Event(Event { name: name.to_owned(), data: data.to_owned() })
    }

    #[test]
    fn names_and_lines_of_data_are_joined() {
        let text = b"event: a\ndata: 1\ndata:2\ndata:  3\nid: x\nretry: 5\n\ndata: [DONE]\n\n";
        assert_eq!(decode(&[text]), [event("a", "1\n2\n 3"), event("", "[DONE]")]);
    }

    #[test]
    fn every_line_ending_ends_a_line() {
        assert_eq!(decode(&[b"data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n"]).len(), 3);
        assert_eq!(decode(&[b"data: 1\r", b"\n\r", b"\ndata: 2\r\n\r\n"]).len(), 2);
    }

    #[test]
    fn a_mark_of_byte_order_stands_before_the_first_line_only() {
        assert_eq!(decode(&["\u{feff}data: 1\n\n".as_bytes()]), [event("", "1")]);
        assert_eq!(decode(&["data: 1\n\u{feff}data: 2\n\n".as_bytes()]), [event("", "1")]);
    }

    #[test]
    fn what_says_nothing_is_a_ping() {
        let text = b": keep-alive\n\nevent: ping\n\ndata:\n\nevent: ping\ndata: {}\n\n";
        assert_eq!(decode(&[text]), [Frame::Ping, Frame::Ping, Frame::Ping, event("ping", "{}")]);
    }

    #[test]
    fn the_last_event_needs_no_empty_line() {
        assert_eq!(decode(&[b"data: 1\n\ndata: 2"]), [event("", "1"), event("", "2")]);
        assert_eq!(decode(&[b"data: 1\n\ndata: 2\n"]), [event("", "1"), event("", "2")]);
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(decode(&[b"data: a\xffb\n\n"]), [event("", "a\u{fffd}b")]);
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut decoder = Decoder::new(1000);
        let mut frames = VecDeque::new();
        let fed = (0..2000).map(|_| decoder.feed(b"x", &mut frames)).find(Result::is_err);
        assert_eq!(fed, Some(Err(TooLong)));
        let mut decoder = Decoder::new(1000);
        let fed = (0..2000).map(|_| decoder.feed(b"data: x\n", &mut frames)).find(Result::is_err);
        assert_eq!(fed, Some(Err(TooLong)));
        assert!(frames.is_empty());
    }

    proptest! {
        #[test]
        fn where_bytes_are_cut_changes_nothing(
            text in "(data: [a-z€]{0,4}|event: [a-z]{1,3}|: x|)(\r\n|\r|\n){1,2}((data: [a-z€]{0,4}|:)(\r\n|\r|\n){1,2}){0,5}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                pieces.push(&bytes[start..cut]);
                start = cut;
            }
            prop_assert_eq!(decode(&pieces), decode(&[bytes]));
        }
    }
}
