use std::borrow::Cow;

use haft_text::{collapse_carriage_returns, visible, visible_exactly, visible_line};
use proptest::prelude::*;

#[test]
fn terminal_sequences_lose_their_power() {
    let cases = [
        "\x1b]0;title\x07\x1b[2K\rALL PASSED\x1b[8m",
        "\x1b]52;c;cm0gLXJm\x07",
        "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
        "c1: \u{9b}31m\u{9d}0;x\u{9c} del: \x7f nul: \0 bell: \x07 back: \x08",
    ];
    insta::assert_snapshot!(cases.map(visible).join("\n"), @r"
    \x1b]0;title\x07\x1b[2K\rALL PASSED\x1b[8m
    \x1b]52;c;cm0gLXJm\x07
    \x1b]8;;http://evil.example\x1b\click\x1b]8;;\x1b\
    c1: \u{9b}31m\u{9d}0;x\u{9c} del: \x7f nul: \x00 bell: \x07 back: \x08
    ");
}

#[test]
fn hidden_and_reordering_characters_show() {
    let cases = [
        "access_level != \"user\u{202e} \u{2066}// admin\u{2069} \u{2066}\"",
        "pass\u{200b}word soft\u{ad}hyphen \u{feff}mark \u{2060}joiner",
        "tags: \u{e0041}\u{e0042} filler: \u{3164} line: \u{2028}",
    ];
    insta::assert_snapshot!(cases.map(visible).join("\n"), @r#"
    access_level != "user\u{202e} \u{2066}// admin\u{2069} \u{2066}"
    pass\u{200b}word soft\u{ad}hyphen \u{feff}mark \u{2060}joiner
    tags: \u{e0041}\u{e0042} filler: \u{3164} line: \u{2028}
    "#);
}

#[test]
fn ordinary_text_is_untouched() {
    let text =
        "tab\there\n“quotes” é 中文 العربية 👩\u{200d}🚀 ❤\u{fe0f} می\u{200c}خواهم nbsp\u{a0}";
    assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
}

#[test]
fn a_line_stays_a_line() {
    assert_eq!(visible_line("evil\nname\t\r\x1b.txt"), r"evil\nname\t\r\x1b.txt");
}

#[test]
fn what_a_person_decides_about_tells_a_line_break_from_a_backslash() {
    assert_eq!(visible_exactly("a\nb"), r"a\nb");
    assert_eq!(visible_exactly(r"a\nb"), r"a\\nb");
    assert_eq!(visible_exactly("a\\\nb"), r"a\\\nb");
    assert_eq!(visible_exactly(r"a\\nb"), r"a\\\\nb");
    assert_eq!(visible_exactly(r"sed 's/\(a\)\.b/\1/' \"), r"sed 's/\(a\)\.b/\1/' \");
}

#[test]
fn what_a_person_decides_about_hides_nothing() {
    let blanks =
        "\u{2800}\u{3164}\u{115f}\u{ffa0}\u{a0}\u{3000}\u{2003}\u{200d}\u{fe0f}\u{34f}\u{1d159} .";
    insta::assert_snapshot!(
        visible_exactly(blanks),
        @r"\u{2800}\u{3164}\u{115f}\u{ffa0}\u{a0}\u{3000}\u{2003}\u{200d}\u{fe0f}\u{34f}\u{1d159} ."
    );
    assert!(matches!(visible_exactly("ls -a | wc"), Cow::Borrowed(_)));
}

#[test]
fn a_progress_bar_becomes_its_last_state() {
    let bar: String = "\rdownload ...".repeat(9_999) + "\rdownload done";
    let output = format!("start\r\n{bar}\r\nend");
    assert_eq!(collapse_carriage_returns(&output), "start\ndownload done\nend");
}

#[test]
fn returns_at_the_end_of_a_line_erase_nothing() {
    assert_eq!(collapse_carriage_returns("50%\r100%\r"), "100%");
    assert_eq!(collapse_carriage_returns("a\r\r\nb\r\n"), "a\nb\n");
    assert_eq!(collapse_carriage_returns("\r\n\r"), "\n");
    assert!(matches!(collapse_carriage_returns("a\nb"), Cow::Borrowed(_)));
}

proptest! {
    #[test]
    fn nothing_visible_acts_on_a_terminal(chars in prop::collection::vec(any::<char>(), 0..60)) {
        let text: String = chars.into_iter().collect();
        let shown = visible(&text);
        prop_assert!(shown.chars().all(|char| !char.is_control() || matches!(char, '\n' | '\t')));
        prop_assert!(visible_line(&text).chars().all(|char| !char.is_control()));
        prop_assert!(shown.len() <= text.len() * 4);
        prop_assert_eq!(visible(&shown), shown.clone());
    }

    #[test]
    fn no_two_texts_are_decided_about_in_the_same_words(
        one in r"[\\\nntx{2}8 0a]{0,6}",
        other in r"[\\\nntx{2}8 0a]{0,6}",
    ) {
        prop_assert_eq!(one == other, visible_exactly(&one) == visible_exactly(&other));
    }

    #[test]
    fn collapsing_leaves_no_carriage_return(text in "[ab\r\n]{0,40}") {
        let collapsed = collapse_carriage_returns(&text);
        prop_assert!(!collapsed.contains('\r'));
        prop_assert_eq!(collapsed.matches('\n').count(), text.matches('\n').count());
    }
}
