use std::cell::Cell;
use std::io::{self, Read};
use std::num::NonZeroU32;

use haft_text::{
    FinalNewline, LineEnding, LineHash, Stopped, Total, Window, WindowError, WindowRequest,
};

fn request(offset: u64, limit: u32) -> WindowRequest {
    WindowRequest {
        offset,
        column: 0,
        limit: NonZeroU32::new(limit).unwrap(),
        max_bytes: 256 * 1024,
        max_line_bytes: 2000,
        count_to: 64 * 1024 * 1024,
    }
}

fn read(bytes: &[u8], request: &WindowRequest) -> Window {
    Window::read(bytes, request, &|| false).unwrap()
}

fn texts(window: &Window) -> Vec<&str> {
    window.rows.iter().map(|row| row.text.as_str()).collect()
}

#[test]
fn rows_are_numbered_and_the_rest_is_announced() {
    let text: String =
        (1..=120).flat_map(|n| ["line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
    let window = read(text.as_bytes(), &request(98, 4));
    insta::assert_snapshot!(window.render(), @r"
     98	line 98
     99	line 99
    100	line 100
    101	line 101
    ");
    assert_eq!((window.total, window.next_offset), (Total::Exact(120), Some(102)));
    assert_eq!((window.stopped, window.final_newline), (Stopped::Lines, FinalNewline::Present));
}

#[test]
fn crlf_lines_read_without_their_ends() {
    let window = read(b"alpha\r\nbeta\r\ngamma", &request(1, 10));
    assert_eq!(texts(&window), ["alpha", "beta", "gamma"]);
    assert_eq!(window.line_ending, LineEnding::Crlf);
    assert_eq!(window.final_newline, FinalNewline::Missing);
    assert_eq!((window.stopped, window.next_offset), (Stopped::End, None));
}

#[test]
fn line_ends_are_told_apart() {
    let cases: [(&[u8], LineEnding, &[&str]); 8] = [
        (b"", LineEnding::None, &[]),
        (b"one", LineEnding::None, &["one"]),
        (b"\n", LineEnding::Lf, &[""]),
        (b"a\n\nb\n", LineEnding::Lf, &["a", "", "b"]),
        (b"a\r\nb\n", LineEnding::Mixed, &["a", "b"]),
        (b"a\rb\r", LineEnding::Cr, &["a", "b"]),
        (b"a\rb\nc", LineEnding::Lf, &["a\rb", "c"]),
        (b"a\r\r\nb", LineEnding::Crlf, &["a\r", "b"]),
    ];
    for (bytes, ending, lines) in cases {
        let window = read(bytes, &request(1, 10));
        assert_eq!((window.line_ending, texts(&window).as_slice()), (ending, lines), "{bytes:?}");
        assert_eq!(window.total, Total::Exact(lines.len() as u64));
    }
}

#[test]
fn a_mark_is_never_part_of_the_first_line() {
    let window = read(b"\xef\xbb\xbfhello\r\nworld\r\n", &request(1, 10));
    assert_eq!(texts(&window), ["hello", "world"]);
    assert_eq!(window.encoding.to_string(), "utf-8 with BOM");
    assert_eq!(window.rows[0].hash, LineHash::of("hello"));
}

#[test]
fn legacy_bytes_are_decoded_not_destroyed() {
    let window = read(b"const x = 1;\n// caf\xe9 note\n", &request(1, 10));
    assert_eq!(window.rows[1].text, "// café note");
    assert_eq!((window.encoding.name(), window.invalid), ("windows-1252", 0));
}

#[test]
fn bytes_that_fit_no_encoding_are_counted() {
    let bytes = ["déjà vu été\n".as_bytes(), b"bad \xff\n", "à la carte\n".as_bytes()].concat();
    let window = read(&bytes, &request(2, 1));
    assert_eq!((window.rows[0].text.as_str(), window.invalid), ("bad \u{fffd}", 1));
    assert_eq!(read(&bytes, &request(3, 1)).invalid, 0);
}

#[test]
fn a_broken_character_does_not_swallow_the_end_of_its_line() {
    // In GB18030 the bytes 0x81 0x30 begin a character of four bytes. They stand behind the bytes
    // that decide the encoding.
    let line = b"\xd6\xd0\xce\xc4\xd7\xa2\xca\xcd\xa3\xac\xb2\xe2\xca\xd4\n";
    let text = [&line.repeat(5000), b"one\x81\x30\ntwo\x81\x30".as_slice()].concat();
    let window = read(&text, &request(5000, 10));
    assert_eq!(window.encoding.name(), "gbk");
    assert_eq!(texts(&window), ["中文注释，测试", "one\u{fffd}0", "two\u{fffd}"]);
    assert_eq!(window.invalid, 2);
}

#[test]
fn utf16_lines_are_found() {
    let text = "één\r\nдва\r\n三";
    let bytes: Vec<u8> =
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let window = read(&bytes, &request(2, 10));
    assert_eq!(texts(&window), ["два", "三"]);
    assert_eq!((window.encoding.name(), window.line_ending), ("utf-16be", LineEnding::Crlf));
    assert_eq!(window.rows[1].hash, LineHash::of("三"));
}

#[test]
fn one_huge_line_is_cut_and_can_be_continued() {
    let line = "x".repeat(2_000_000);
    let window = read(line.as_bytes(), &request(1, 2000));
    assert_eq!(
        window.render().len(),
        "1\t".len() + 2000 + " … [1 998 000 more bytes of this line]".len()
    );
    assert!(window.render().ends_with("x … [1 998 000 more bytes of this line]"));
    let cut = window.rows[0].cut.unwrap();
    assert_eq!((cut.shown_bytes, cut.line_bytes), (2000, Total::Exact(2_000_000)));
    assert_eq!(window.rows[0].hash, LineHash::of(&line));

    let further = WindowRequest { column: cut.next_column, max_line_bytes: 10, ..request(1, 1) };
    let further = read(line.as_bytes(), &further);
    insta::assert_snapshot!(
        further.render(),
        @"1	[2 000 bytes of this line before] … xxxxxxxxxx … [1 997 990 more bytes of this line]"
    );
    assert_eq!(further.rows[0].hash, window.rows[0].hash);
}

#[test]
fn many_long_lines_stay_within_the_byte_cap() {
    let text = format!("{}\n", "中".repeat(1000)).repeat(1500);
    let window = read(text.as_bytes(), &request(1, 2000));
    let bytes: usize = window.rows.iter().map(|row| row.text.len() + 1).sum();
    assert!((256 * 1024 - 2000..=256 * 1024 + 1).contains(&bytes), "{bytes}");
    assert!(window.rows.iter().all(|row| row.text.len() == 1998 && row.cut.is_some()));
    assert_eq!(window.stopped, Stopped::Bytes);
    assert_eq!(window.next_offset, Some(window.rows.len() as u64 + 1));
    assert_eq!(window.total, Total::Exact(1500));
}

#[test]
fn wide_characters_survive_every_cap() {
    for lead in ["", "a", "ab"] {
        let line = format!("{lead}{}", "中".repeat(20));
        let text = format!("{line}\n{line}\n");
        for cap in 0..=line.len() + 1 {
            for (max_line_bytes, max_bytes) in [(cap, 1000), (1000, cap), (cap, cap)] {
                let window = read(
                    text.as_bytes(),
                    &WindowRequest { max_line_bytes, max_bytes, ..request(1, 10) },
                );
                let first = &window.rows[0];
                assert!(!first.text.is_empty());
                assert!(first.text.len() <= cap.max(4));
                assert_eq!(first.cut.is_some(), cap < line.len());
                assert!(line.starts_with(&first.text));
            }
        }
    }
}

#[test]
fn a_window_never_exceeds_its_bytes_and_misses_no_line() {
    let text = "ab\ncdef\n\nghi\n";
    for max_bytes in 0..20 {
        let mut offset = Some(1);
        let mut lines = Vec::new();
        while let Some(next) = offset {
            let window = read(text.as_bytes(), &WindowRequest { max_bytes, ..request(next, 10) });
            assert!(texts(&window).join("\n").len() <= max_bytes.max(4));
            lines.extend(window.rows.iter().map(|row| row.text.clone()));
            offset = window.next_offset;
        }
        assert_eq!(lines, ["ab", "cdef", "", "ghi"]);
    }
}

#[test]
fn an_offset_past_the_end_is_plain_to_see() {
    let window = read(b"a\nb\n", &request(3, 10));
    assert!(window.rows.is_empty());
    assert_eq!((window.total, window.next_offset), (Total::Exact(2), None));
    assert_eq!((window.stopped, window.render().as_str()), (Stopped::End, ""));
    assert_eq!(texts(&read(b"a\nb\n", &request(0, 1))), ["a"]);
    assert_eq!(read(b"a\nb\n", &request(u64::MAX, u32::MAX)).total, Total::Exact(2));
}

#[test]
fn control_characters_are_shown_escaped_and_kept_in_the_row() {
    let window = read(b"\x1b]0;x\x07\x1b[2K\rALL PASSED\x1b[8m\nb\n", &request(1, 1));
    insta::assert_snapshot!(window.render(), @r"1	\x1b]0;x\x07\x1b[2K\rALL PASSED\x1b[8m");
    assert!(window.rows[0].text.starts_with('\x1b'));
}

/// Lines without end, or one line without end.
struct Endless {
    pattern: &'static [u8],
    given: u64,
}

impl Read for Endless {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        for (byte, next) in buf.iter_mut().zip(self.pattern.iter().cycle()) {
            *byte = *next;
        }
        // Whole patterns only, so that each read starts where the last one ended.
        let given = buf.len() - buf.len() % self.pattern.len();
        self.given += given as u64;
        Ok(given)
    }
}

#[test]
fn counting_stops_where_it_was_told_to() {
    let mut reader = Endless { pattern: b"0123456\n", given: 0 };
    let asked = WindowRequest { count_to: 1024 * 1024, ..request(5, 3) };
    let window = Window::read(&mut reader, &asked, &|| false).unwrap();
    assert_eq!(window.rows.len(), 3);
    assert_eq!(window.next_offset, Some(8));
    assert_eq!(window.final_newline, FinalNewline::Unseen);
    assert_eq!(window.bytes_read, reader.given);
    assert_eq!(window.total, Total::AtLeast(reader.given / 8));
    assert!((1024 * 1024..2 * 1024 * 1024).contains(&reader.given));
}

#[test]
fn an_endless_line_ends_the_window() {
    let mut reader = Endless { pattern: b"x", given: 0 };
    let asked = WindowRequest { count_to: 1024 * 1024, ..request(1, 100) };
    let window = Window::read(&mut reader, &asked, &|| false).unwrap();
    assert!(reader.given < 2 * 1024 * 1024);
    assert_eq!((window.stopped, window.total), (Stopped::Bytes, Total::AtLeast(1)));
    let row = &window.rows[0];
    assert!(matches!(row.cut.unwrap().line_bytes, Total::AtLeast(bytes) if bytes > 1024 * 1024));
    assert!(window.render().ends_with(" more bytes of this line]"), "{}", &window.render()[2000..]);
    assert!(window.render().contains("… [at least 1 "));
}

#[test]
fn a_line_whose_end_was_not_read_matches_no_full_line() {
    let line = "x".repeat(100_000);
    let asked = WindowRequest { count_to: 0, ..request(1, 1) };
    let mut reader = line.as_bytes().chain(Endless { pattern: b"x", given: 0 });
    let window = Window::read(&mut reader, &asked, &|| false).unwrap();
    let seen = window.rows[0].cut.unwrap().line_bytes.known() as usize;
    assert_ne!(window.rows[0].hash, LineHash::of(&"x".repeat(seen)));
}

#[test]
fn a_deep_offset_is_found_beyond_the_counting_limit() {
    let text = "0123456\n".repeat(50_000);
    let asked = WindowRequest { count_to: 0, ..request(49_999, 10) };
    let window = read(text.as_bytes(), &asked);
    assert_eq!((window.rows.len(), window.total), (2, Total::Exact(50_000)));
}

#[test]
fn cancelling_is_asked_before_every_read() {
    let asked = Cell::new(0);
    let cancelled = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let reader = Endless { pattern: b"x", given: 0 };
    let error = Window::read(reader, &request(2, 1), &cancelled).unwrap_err();
    assert!(matches!(error, WindowError::Cancelled { bytes_read: 196_608 }), "{error}");
}

struct Failing(io::ErrorKind);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(std::mem::replace(&mut self.0, io::ErrorKind::Other).into())
    }
}

#[test]
fn a_failing_stream_says_how_far_it_came() {
    let reader = b"abc".chain(Failing(io::ErrorKind::Interrupted));
    let error = Window::read(reader, &request(1, 1), &|| false).unwrap_err();
    assert_eq!(error.to_string(), "reading failed after 3 bytes");
}

#[test]
fn hashes_are_the_same_in_every_release() {
    assert_eq!(format!("{:?}", LineHash::of("")), "LineHash(5049d74780a3e07d4202ab47d4cef2f4)");
    assert_eq!(
        format!("{:?}", LineHash::of("let x = 1;")),
        "LineHash(5bc216eb668a91fd9656374372b2226a)"
    );
    let hash = LineHash::of("let x = 1;");
    assert_eq!(LineHash::from_bytes(hash.to_bytes()), hash);
}
