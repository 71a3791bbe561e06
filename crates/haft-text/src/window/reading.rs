use std::io::{ErrorKind, Read};

use super::scan::Scan;
use super::{FinalNewline, Total, Window, WindowError, WindowRequest};
use crate::breaks::Breaks;
use crate::encoding::{Charset, Decoder, PREFIX, sniff};

/// How many bytes are read at once: as many as decide the encoding.
pub(super) const BUFFER: usize = PREFIX;

/// Reads a window with a buffer of `buffer` bytes.
pub(super) fn read(
    reader: &mut dyn Read,
    request: &WindowRequest,
    cancelled: &dyn Fn() -> bool,
    buffer: usize,
) -> Result<Window, WindowError> {
    let mut source = Source::new(reader, cancelled, buffer);
    source.read_prefix()?;
    let prefix = source.bytes();
    let encoding = sniff(prefix, source.ended);
    let breaks = Breaks::sniff(prefix, encoding.charset, source.ended);
    let mut stream = match encoding.charset {
        // Their line ends are single bytes that occur in no other character.
        charset @ (Charset::Utf8 | Charset::Legacy(_)) => {
            Stream::Bytes(Scan::new(request, breaks, charset), encoding.bom_len())
        }
        Charset::Utf16Le | Charset::Utf16Be => {
            Stream::Decoded(Scan::new(request, breaks, Charset::Utf8), Decoder::new(encoding))
        }
    };
    loop {
        stream.push(source.bytes());
        if source.ended || stream.scan().is_satisfied(source.bytes_read) {
            break;
        }
        source.read_more()?;
    }
    let Source { ended, bytes_read, .. } = source;
    let (scanned, invalid) = stream.finish(ended);
    let lines = scanned.lines;
    Ok(Window {
        rows: scanned.rows,
        total: if ended { Total::Exact(lines) } else { Total::AtLeast(lines) },
        next_offset: scanned.next_offset,
        encoding,
        invalid: scanned.invalid + invalid,
        line_ending: scanned.line_ending,
        final_newline: match (ended, scanned.ends_with_newline) {
            (false, _) => FinalNewline::Unseen,
            (true, true) => FinalNewline::Present,
            (true, false) => FinalNewline::Missing,
        },
        stopped: scanned.stopped,
        bytes_read,
    })
}

/// A reader with its buffer.
struct Source<'a> {
    reader: &'a mut dyn Read,
    cancelled: &'a dyn Fn() -> bool,
    buffer: Vec<u8>,
    filled: usize,
    bytes_read: u64,
    ended: bool,
}

impl<'a> Source<'a> {
    fn new(reader: &'a mut dyn Read, cancelled: &'a dyn Fn() -> bool, buffer: usize) -> Self {
        Self { reader, cancelled, buffer: vec![0; buffer], filled: 0, bytes_read: 0, ended: false }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or_default()
    }

    /// Fills the whole buffer, so that short reads do not weaken the guess of the encoding.
    fn read_prefix(&mut self) -> Result<(), WindowError> {
        while !self.ended && self.filled < self.buffer.len() {
            self.read_once()?;
        }
        Ok(())
    }

    /// Replaces the buffer by what one read gives.
    fn read_more(&mut self) -> Result<(), WindowError> {
        self.filled = 0;
        self.read_once()
    }

    fn read_once(&mut self) -> Result<(), WindowError> {
        let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
        loop {
            if (self.cancelled)() {
                return Err(WindowError::Cancelled { bytes_read: self.bytes_read });
            }
            match self.reader.read(free) {
                Ok(count) => {
                    // A reader that claims more than it was given room for is not believed.
                    let count = count.min(free.len());
                    self.ended = count == 0;
                    self.filled += count;
                    self.bytes_read += count as u64;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(WindowError::Read { bytes_read: self.bytes_read, source });
                }
            }
        }
    }
}

/// How the bytes of a source become bytes in which lines can be found.
enum Stream<'a> {
    /// As they are, after so many bytes of byte order mark.
    Bytes(Scan<'a>, usize),
    /// Decoded to UTF-8 first.
    Decoded(Scan<'a>, Decoder),
}

impl<'a> Stream<'a> {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::Bytes(scan, bom) => {
                let (_, text) = bytes.split_at_checked(*bom).unwrap_or((bytes, &[]));
                *bom -= bytes.len().min(*bom);
                scan.push(text);
            }
            Self::Decoded(scan, decoder) => {
                decoder.decode(bytes, &mut |text| scan.push(text.as_bytes()));
            }
        }
    }

    fn scan(&self) -> &Scan<'a> {
        match self {
            Self::Bytes(scan, _) | Self::Decoded(scan, _) => scan,
        }
    }

    /// Ends the stream; the number counts sequences that broke before lines were found.
    fn finish(self, at_end: bool) -> (super::scan::Scanned, u64) {
        match self {
            Self::Bytes(scan, _) => (scan.finish(at_end), 0),
            Self::Decoded(mut scan, mut decoder) => {
                if at_end {
                    decoder.finish(&mut |text| scan.push(text.as_bytes()));
                }
                (scan.finish(at_end), decoder.invalid())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;
    use crate::window::LineHash;

    /// Splits lines without streaming, following the rules in the documentation of [`Window`].
    fn naive_lines(bytes: &[u8], window: &Window, breaks: Breaks) -> Vec<String> {
        let mut text = window.encoding.decode(bytes).text.replace("\r\n", "\n");
        if breaks == Breaks::CarriageReturns {
            text = text.replace('\r', "\n");
        }
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        if lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    fn breaks(bytes: &[u8], window: &Window, buffer: usize) -> Breaks {
        let prefix = bytes.get(..buffer).unwrap_or(bytes);
        Breaks::sniff(prefix, window.encoding.charset, bytes.len() < buffer)
    }

    /// Bytes in which line ends, characters of several bytes and damage are frequent.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("\n".as_bytes().to_vec()),
            Just("\r\n".as_bytes().to_vec()),
            Just("\r".as_bytes().to_vec()),
            Just("中é".as_bytes().to_vec()),
            "[a-z ]{0,6}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..3),
        ];
        let utf8 = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat());
        let utf16 = "\\PC{0,20}(\n|\r\n|\r)[a-z\n]{0,20}".prop_map(|text| {
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect()
        });
        prop_oneof![4 => utf8.boxed(), 1 => utf16.boxed()]
    }

    fn request(offset: u64, limit: u32) -> WindowRequest {
        WindowRequest {
            offset,
            column: 0,
            limit: NonZeroU32::new(limit).unwrap(),
            max_bytes: usize::MAX,
            max_line_bytes: usize::MAX,
            count_to: u64::MAX,
        }
    }

    proptest! {
        #[test]
        fn windows_in_sequence_hold_every_line(
            bytes in bytes(),
            buffer in 2..40_usize,
            limit in 1..5_u32,
            max_bytes in 0..40_usize,
            count_to in 0..60_u64,
        ) {
            let mut offset = Some(1);
            let mut texts = Vec::new();
            let mut last = None;
            while let Some(next) = offset {
                let request =
                    WindowRequest { max_bytes, count_to, ..request(next, limit) };
                let window = read(&mut bytes.as_slice(), &request, &|| false, buffer).unwrap();
                prop_assert!(window.rows.len() <= limit as usize);
                for (row, number) in window.rows.iter().zip(next..) {
                    prop_assert_eq!(row.number, number);
                    texts.push((row.text.clone(), row.cut, row.hash));
                }
                let certain = !window.rows.last().is_some_and(|row| {
                    row.cut.is_some_and(|cut| matches!(cut.line_bytes, Total::AtLeast(_)))
                });
                if let (Some(next), true) = (window.next_offset, certain) {
                    prop_assert!(window.total.known() >= next);
                }
                offset = window.next_offset;
                last = Some(window);
            }
            let last = last.unwrap();
            let lines = naive_lines(&bytes, &last, breaks(&bytes, &last, buffer));
            prop_assert_eq!(last.total, Total::Exact(lines.len() as u64));
            prop_assert_eq!(texts.len(), lines.len());
            for ((text, cut, hash), line) in texts.iter().zip(&lines) {
                match cut {
                    None => prop_assert_eq!(text, line),
                    Some(_) => prop_assert!(line.starts_with(text) && text.len() < line.len()),
                }
                let full = cut.is_none_or(|cut| matches!(cut.line_bytes, Total::Exact(_)));
                prop_assert_eq!(*hash == LineHash::of(line), full);
            }
        }

        #[test]
        fn columns_in_sequence_hold_the_whole_line(
            bytes in bytes(), buffer in 2..40_usize, max_line_bytes in 0..12_usize,
        ) {
            let mut column = Some(0);
            let mut text = String::new();
            let mut whole = None;
            while let Some(next) = column {
                let request = WindowRequest { column: next, max_line_bytes, ..request(1, 1) };
                let window = read(&mut bytes.as_slice(), &request, &|| false, buffer).unwrap();
                column = window.rows.first().and_then(|row| {
                    text.push_str(&row.text);
                    row.cut.map(|cut| cut.next_column)
                });
                whole = Some(window);
            }
            let window = whole.unwrap();
            let lines = naive_lines(&bytes, &window, breaks(&bytes, &window, buffer));
            prop_assert_eq!(text, lines.first().cloned().unwrap_or_default());
        }

        #[test]
        fn short_reads_change_nothing(bytes in bytes(), buffer in 2..40_usize, step in 1..5_usize) {
            struct Slow<'a>(&'a [u8], usize);
            impl Read for Slow<'_> {
                fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                    let most = buf.len().min(self.1);
                    self.0.read(&mut buf[..most])
                }
            }
            let request = request(2, 3);
            let quick = read(&mut bytes.as_slice(), &request, &|| false, buffer).unwrap();
            let slow = read(&mut Slow(&bytes, step), &request, &|| false, buffer).unwrap();
            prop_assert_eq!(format!("{quick:?}"), format!("{slow:?}"));
        }
    }
}
