//! Random files, endings and encodings against random edits.

use haft_text::{
    Charset, DiffLimits, Document, Edit, LineHash, MatchGrade, Merge, Window, WindowRequest, merge,
    sniff, unified,
};
use proptest::prelude::*;

use crate::corpus::edit::{holds, inserts};

/// What lines are made of: few words, so that they repeat, and what grades let pass.
fn content() -> impl Strategy<Value = String> {
    let indent =
        prop_oneof![Just(""), Just("  "), Just("    "), Just("\t"), Just("\t\t"), Just(" \t")];
    let word = prop_oneof![
        4 => Just("a"), 2 => Just("ab"), 2 => Just("x = 1;"), 1 => Just("}"), 1 => Just("caf\u{e9}"),
        1 => Just("it\u{2019}s"), 1 => Just("it's"), 1 => Just("\u{2026}"), 1 => Just("..."),
        1 => Just("\u{4e2d}\u{6587}"), 1 => Just("\u{a0}"), 1 => Just("\u{2014}"), 1 => Just("-"),
        1 => Just("\r"), 1 => Just("\u{fffd}"), 1 => Just("\u{1f600}"), 1 => Just("\u{ff01}"),
    ];
    let tail = prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\t "), 1 => Just("\u{a0}")];
    (indent, prop::collection::vec(word, 0..3), tail)
        .prop_map(|(indent, words, tail)| format!("{indent}{}{tail}", words.join(" ")))
}

fn ending() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")]
}

/// Lines with one kind of end, or with all kinds.
fn text() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec((content(), ending()), 0..9);
    let one = prop::option::weighted(0.7, ending());
    (lines, one, any::<bool>()).prop_map(|(lines, one, is_open)| {
        let mut text: String =
            lines.iter().flat_map(|(line, own)| [line.as_str(), one.unwrap_or(own)]).collect();
        if is_open {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

/// A text in one of several encodings, sometimes damaged.
fn file(text: &str, encoding: u8, damage: Option<(prop::sample::Index, u8)>) -> Vec<u8> {
    let units = || "\u{feff}".encode_utf16().chain(text.encode_utf16());
    let mut bytes: Vec<u8> = match encoding {
        0 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        1 => units().flat_map(u16::to_le_bytes).collect(),
        2 => units().flat_map(u16::to_be_bytes).collect(),
        // Latin letters, as Windows wrote them.
        3 => text.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(0x92)).collect(),
        // Two bytes for each character that is not ASCII, as in GBK.
        4 => text
            .chars()
            .flat_map(|char| if char.is_ascii() { vec![char as u8] } else { vec![0xd6, 0xd0] })
            .collect(),
        _ => text.as_bytes().to_vec(),
    };
    if let Some((at, byte)) = damage {
        let at = at.index(bytes.len() + 1);
        bytes.insert(at, byte);
    }
    bytes
}

/// An old text: part of the file, changed in a way that some grade lets pass.
fn old(text: &str, from: usize, to: usize, way: u8) -> String {
    let from = text.floor_char_boundary(from.min(to).min(text.len()));
    let to = text.floor_char_boundary(to.max(from).min(text.len()));
    let part = &text[from..to];
    match way {
        0 => part.replace("\r\n", "\n"),
        1 => part.replace('\n', " \n"),
        2 => part.lines().flat_map(|line| ["  ", line, "\n"]).collect(),
        3 => part.lines().map(|line| line.trim_start().to_owned() + "\n").collect(),
        4 => part.replace('\t', "    "),
        5 => part.replace('\u{2019}', "'").replace('\u{2026}', "...").replace('\u{a0}', " "),
        6 => part.replace('a', "b"),
        7 => MatchGrade::LookAlike.normalise(part).into_owned(),
        _ => part.to_owned(),
    }
}

fn damage() -> impl Strategy<Value = Option<(prop::sample::Index, u8)>> {
    prop::option::weighted(0.2, (any::<prop::sample::Index>(), 0x80..=0xff_u8))
}

/// The start of a file in windows-1252, GBK, Shift_JIS, UTF-16, UTF-8 with a mark, and KOI8-R.
const SAMPLES: &[&[u8]] = &[
    b"na\xefve caf\xe9",
    b"\xd6\xd0\xce\xc4\xd6\xd0\xce\xc4",
    b"\x82\xa0\x82\xa2\x82\xa4\x93\xfa\x96\x7b",
    b"\xff\xfeh\0",
    b"\xef\xbb\xbfh",
    b"\xd0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2",
];

proptest! {
    #[test]
    fn an_edit_changes_what_was_found_and_nothing_else(
        text in text(), encoding in 0..9_u8, damage in damage(),
        from in 0..60_usize, len in 1..40_usize, way in 0..12_u8,
        new in text(), replace_all in any::<bool>(), highest in 0..5_usize,
    ) {
        let file = file(&text, encoding, damage);
        let old = old(Document::new(&file).text(), from, from + len, way);
        let edit = Edit { old, new, replace_all };
        holds(&file, &edit, MatchGrade::ALL[highest]);
        holds(&file, &edit, MatchGrade::LookAlike);
    }

    #[test]
    fn inserted_lines_stand_where_they_were_meant_to(
        text in text(), encoding in 0..9_u8, lines in text(), after in 0..10_u64,
    ) {
        inserts(&file(&text, encoding, None), &lines, after);
    }

    #[test]
    fn a_document_has_the_lines_of_a_window(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60).boxed(),
        (text(), 0..9_u8, damage()).prop_map(|(text, encoding, damage)| file(&text, encoding, damage)).boxed(),
    ]) {
        let document = Document::new(&bytes);
        let request = WindowRequest {
            offset: 1,
            column: 0,
            limit: 1000.try_into().unwrap(),
            max_bytes: usize::MAX,
            max_line_bytes: usize::MAX,
            count_to: u64::MAX,
        };
        let window = Window::read(&bytes[..], &request, &|| false).unwrap();
        prop_assert_eq!(document.encoding(), window.encoding);
        prop_assert_eq!(document.line_ending(), window.line_ending);
        prop_assert_eq!(document.malformed(), window.invalid);
        let rows: Vec<&str> = window.rows.iter().map(|row| row.text.as_str()).collect();
        prop_assert_eq!(document.lines().collect::<Vec<_>>(), rows);
        let hashes: Vec<LineHash> = window.rows.iter().map(|row| row.hash).collect();
        prop_assert_eq!(document.line_hashes(), hashes);
        prop_assert_eq!(document.line_count(), window.rows.len() as u64);
    }

    #[test]
    fn every_character_leads_back_to_its_bytes(
        text in text(), encoding in 0..9_u8, damage in damage(), repeat in 1..60_usize,
    ) {
        let file = file(&text.repeat(repeat), encoding, damage);
        let document = Document::new(&file);
        let mut at = document.bytes_of(0..0).start;
        let text = document.text();
        let step = text.len() / 20 + 1;
        for (start, char) in text.char_indices().filter(|(start, _)| start % step == 0) {
            let bytes = document.bytes_of(start..start + char.len_utf8());
            prop_assert!(bytes.start >= at && bytes.end <= file.len());
            if char != char::REPLACEMENT_CHARACTER {
                let encoding = haft_text::Encoding { bom: false, ..document.encoding() };
                prop_assert_eq!(encoding.decode(&file[bytes.clone()]).text, char.to_string());
            }
            at = bytes.start;
        }
        prop_assert_eq!(document.bytes_of(text.len()..text.len()).end, file.len());
    }

    #[test]
    fn what_is_written_in_an_encoding_reads_back(text in "\\PC{0,20}", sample in prop::sample::select(SAMPLES)) {
        let encoding = sniff(sample, true);
        match encoding.encode(&text) {
            Ok(bytes) => {
                let encoding = haft_text::Encoding { bom: false, ..encoding };
                prop_assert_eq!(encoding.decode(&bytes).text, text);
            }
            Err(lack) => {
                prop_assert!(matches!(encoding.charset, Charset::Legacy(_)));
                prop_assert_eq!(text.chars().nth(lack.column as usize - 1), Some(lack.char));
            }
        }
    }

    #[test]
    fn a_difference_leads_from_one_text_to_the_other(
        before in text(), after in text(), context in 0..4_usize,
    ) {
        let (before, after) = (before.replace('\r', ""), after.replace('\r', ""));
        let limits = DiffLimits { context, lines: usize::MAX, bytes: usize::MAX, line_bytes: usize::MAX };
        let diff = unified(before.as_bytes(), after.as_bytes(), &limits);
        prop_assert_eq!(&patched(&before, &diff.text), &after);
        prop_assert_eq!(diff.left_out, 0);
        let short = unified(before.as_bytes(), after.as_bytes(), &DiffLimits { bytes: 40, ..limits });
        prop_assert!(diff.text.starts_with(&short.text));
        prop_assert_eq!((short.added, short.removed), (diff.added, diff.removed));
        prop_assert_eq!(short.left_out == 0, short.text == diff.text);
    }

    #[test]
    fn a_merge_takes_every_line_from_one_of_three(base in text(), ours in text(), theirs in text()) {
        let (b, o, t) = (base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        prop_assert_eq!(merge(b, o, b), Merge::Clean(o.to_vec()));
        prop_assert_eq!(merge(b, b, t), Merge::Clean(t.to_vec()));
        prop_assert_eq!(merge(b, o, o), Merge::Clean(o.to_vec()));
        match (merge(b, o, t), merge(b, t, o)) {
            (Merge::Clean(merged), Merge::Clean(turned)) => {
                prop_assert_eq!(&merged, &turned);
                let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
                    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
                };
                let known = [lines(b), lines(o), lines(t)].concat();
                prop_assert!(lines(&merged).iter().all(|line| known.contains(line)));
            }
            (Merge::Conflict(one), Merge::Conflict(other)) => prop_assert_eq!(one.len(), other.len()),
            (one, other) => prop_assert!(false, "{one:?} but {other:?}"),
        }
    }
}

/// Applies a difference as `patch` would.
fn patched(before: &str, diff: &str) -> String {
    let mut old = before.split_inclusive('\n');
    let mut taken = 0;
    let mut after = String::new();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("@@ -") {
            let range = head.split(' ').next().unwrap();
            let (start, len) = range.split_once(',').unwrap_or((range, "1"));
            let start: usize = start.parse().unwrap();
            let start = if len == "0" { start } else { start - 1 };
            for line in old.by_ref().take(start - taken) {
                after.push_str(line);
            }
            taken = start;
            continue;
        }
        let (sign, content) = line.split_at(1);
        let is_open = lines.next_if(|line| line.starts_with('\\')).is_some();
        let content = if is_open { content.to_owned() } else { format!("{content}\n") };
        if sign != "+" {
            assert_eq!(old.next(), Some(content.as_str()));
            taken += 1;
        }
        if sign != "-" {
            after.push_str(&content);
        }
    }
    after.extend(old);
    after
}
