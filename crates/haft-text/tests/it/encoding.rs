use haft_text::{Charset, Decoder, Encoding, sniff};
use proptest::prelude::*;

fn check(bytes: &[u8], name: &str, text: &str) {
    let encoding = sniff(bytes, true);
    let decoded = encoding.decode(bytes);
    assert_eq!((encoding.to_string().as_str(), decoded.text.as_str()), (name, text));
    assert_eq!(decoded.invalid, 0, "{name} {text:?}");
}

fn utf16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn utf16be(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

#[test]
fn a_byte_order_mark_decides_and_is_never_text() {
    check(b"\xef\xbb\xbfhello\r\n", "utf-8 with BOM", "hello\r\n");
    check(&[b"\xff\xfe".as_slice(), &utf16le("hé")].concat(), "utf-16le with BOM", "hé");
    check(&[b"\xfe\xff".as_slice(), &utf16be("hé")].concat(), "utf-16be with BOM", "hé");
}

#[test]
fn a_mark_inside_the_text_stays() {
    check("a\u{feff}b".as_bytes(), "utf-8", "a\u{feff}b");
    check("\u{feff}\u{feff}b".as_bytes(), "utf-8 with BOM", "\u{feff}b");
}

#[test]
fn utf8_wins_over_legacy_charsets() {
    check(b"", "utf-8", "");
    check(b"plain", "utf-8", "plain");
    check("naïve 中文 🦀".as_bytes(), "utf-8", "naïve 中文 🦀");
}

#[test]
fn a_character_cut_by_the_prefix_is_no_evidence() {
    let text = "aé中🦀".as_bytes();
    for end in 1..text.len() {
        assert_eq!(sniff(&text[..end], false), Encoding::UTF_8, "{end}");
    }
    assert_ne!(sniff(b"caf\xc3", true), Encoding::UTF_8);
}

#[test]
fn utf16_is_found_without_its_mark() {
    for text in
        ["hi\n", "fn main() {}\r\n", "Привет, мир\nещё строка\n", "日本語の文章です。\n次の行\n"]
    {
        check(&utf16le(text), "utf-16le", text);
        check(&utf16be(text), "utf-16be", text);
    }
}

#[test]
fn names_with_nul_between_them_are_not_utf16() {
    for bytes in [b"src/lib.rs\0src/main.rs\0".as_slice(), b"hello\0world\0!!", b"ab\0cd\0"] {
        assert_eq!(sniff(bytes, true).name(), "utf-8");
    }
}

#[test]
fn legacy_charsets_are_told_apart() {
    check(b"const x = 1;\n// caf\xe9 note\n", "windows-1252", "const x = 1;\n// café note\n");
    check(
        b"\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\x81A\x90\xa2\x8aE\x81B",
        "shift_jis",
        "こんにちは、世界。",
    );
    check(
        b"// \xd6\xd0\xce\xc4\xd7\xa2\xca\xcd\xa3\xac\xb2\xe2\xca\xd4\xce\xc4\xbc\xfe\n",
        "gbk",
        "// 中文注释，测试文件\n",
    );
    check(
        b"\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2! \xfc\xd4\xcf \xd0\xd2\xcf\xd7\xc5\xd2\xcb\xc1.",
        "koi8-u",
        "Привет, мир! Это проверка.",
    );
}

#[test]
fn one_broken_byte_does_not_turn_utf8_into_mojibake() {
    let bytes =
        [b"d\xc3\xa9j\xc3\xa0 vu, \xc3\xa9t\xc3\xa9, ".as_slice(), b"broken: \xe9."].concat();
    let encoding = sniff(&bytes, true);
    let decoded = encoding.decode(&bytes);
    assert_eq!(encoding, Encoding::UTF_8);
    assert_eq!(decoded.text, "déjà vu, été, broken: \u{fffd}.");
    assert_eq!(decoded.invalid, 1);
}

#[test]
fn malformed_sequences_are_counted_and_shown() {
    let decoded = Encoding::UTF_8.decode(b"a\xffb\xe4\xb8c\xf0\x9f");
    assert_eq!(decoded.text, "a\u{fffd}b\u{fffd}c\u{fffd}");
    assert_eq!(decoded.invalid, 3);
    let lone = Encoding { charset: Charset::Utf16Le, bom: false }.decode(b"a\0\x00\xd8b\0c");
    assert_eq!((lone.text.as_str(), lone.invalid), ("a\u{fffd}b\u{fffd}", 2));
}

#[test]
fn a_decoder_takes_another_text_after_the_end() {
    let mut text = String::new();
    let mut decoder = Decoder::new(Encoding::UTF_8);
    for part in ["中".as_bytes(), b"\xe4\xb8", b"ok"] {
        decoder.decode(part, &mut |chunk| text.push_str(chunk));
        decoder.finish(&mut |chunk| text.push_str(chunk));
    }
    assert_eq!((text.as_str(), decoder.invalid()), ("中\u{fffd}ok", 1));
}

fn charsets() -> impl Strategy<Value = Encoding> {
    prop::sample::select(vec![
        b"plain".as_slice(),
        b"caf\xe9",
        b"a\0b\0\n\0",
        b"\0a\0b\0\n",
        b"\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\x81A\x90\xa2\x8aE\x81B",
    ])
    .prop_map(|sample: &[u8]| sniff(sample, true))
}

proptest! {
    #[test]
    fn any_bytes_decode(bytes in prop::collection::vec(any::<u8>(), 0..300), whole in any::<bool>()) {
        let encoding = sniff(&bytes, whole);
        let decoded = encoding.decode(&bytes);
        prop_assert!(decoded.text.len() <= bytes.len() * 3);
        let shown = decoded.text.matches('\u{fffd}').count() as u64;
        prop_assert!(decoded.invalid <= shown);
    }

    #[test]
    fn text_in_utf8_decodes_to_itself(text in "\\PC{0,80}") {
        prop_assert_eq!(sniff(text.as_bytes(), true).decode(text.as_bytes()).text, text);
    }

    #[test]
    fn pieces_decode_like_the_whole(
        encoding in charsets(),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        size in 1..20_usize,
    ) {
        let mut text = String::new();
        let mut decoder = Decoder::new(encoding);
        for piece in bytes.chunks(size) {
            decoder.decode(piece, &mut |chunk| text.push_str(chunk));
        }
        decoder.finish(&mut |chunk| text.push_str(chunk));
        let whole = encoding.decode(&bytes);
        prop_assert_eq!(text, whole.text);
        prop_assert_eq!(decoder.invalid(), whole.invalid);
    }
}
