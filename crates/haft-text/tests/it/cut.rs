use haft_text::{HeadTail, around, head, head_tail, tail};
use proptest::prelude::*;

/// A character of three bytes, at every offset of a cap.
const WIDE: &str = "中";

#[test]
fn cuts_never_split_a_character() {
    for lead in ["", "a", "ab"] {
        let text = format!("{lead}{}", WIDE.repeat(40));
        for max in 0..=text.len() + 1 {
            assert!(head(&text, max).len() <= max);
            assert!(head(&text, max).len() + 3 > max.min(text.len()));
            assert!(tail(&text, max).len() <= max);
            let cut = head_tail(&text, max);
            assert!(cut.head.len() + cut.tail.len() <= max);
            assert_eq!(cut.head.len() + cut.left_out + cut.tail.len(), text.len());
            assert_eq!(cut.left_out == 0, max >= text.len());
        }
    }
}

#[test]
fn a_cut_says_how_much_it_leaves_out() {
    let output = format!("{}END\n", "中".repeat(40_000));
    insta::assert_snapshot!(head_tail(&output, 20), @r"
    中中中
    … [119 985 bytes left out] …
    中中END
    ");
    assert_eq!(head_tail("short", 5).to_string(), "short");
    insta::assert_snapshot!(head_tail("short", 0), @"… [5 bytes left out] …");
}

#[test]
fn a_match_in_a_huge_line_is_shown_with_its_surroundings() {
    let half = "x();".repeat(400_000);
    let line = format!("{half}needle{half}");
    let at = half.len();
    let excerpt = around(&line, at..at + 6, 40);
    insta::assert_snapshot!(excerpt.text, @"…);x();x();x();needlex();x();x();x(…");
    assert_eq!(&excerpt.text[excerpt.matched], "needle");
}

#[test]
fn context_that_one_side_lacks_goes_to_the_other() {
    let line = format!("needle{}", "a".repeat(100));
    let excerpt = around(&line, 0..6, 20);
    assert_eq!(excerpt.text, "needleaaaaaaaa…");
    let line = format!("{}needle", "a".repeat(100));
    let excerpt = around(&line, 100..106, 20);
    assert_eq!(excerpt.text, "…aaaaaaaaneedle");
}

#[test]
fn a_match_longer_than_the_cap_is_cut_itself() {
    let line = "中".repeat(100);
    let excerpt = around(&line, 3..297, 20);
    assert_eq!(excerpt.text, "…中中中中…");
    assert_eq!(&excerpt.text[excerpt.matched], "中中中中");
}

#[test]
fn a_short_line_is_kept_whole() {
    let excerpt = around("let x = 1;", 4..5, 20);
    assert_eq!((excerpt.text.as_str(), excerpt.matched), ("let x = 1;", 4..5));
}

#[test]
fn an_endless_stream_keeps_only_its_ends() {
    let mut output = HeadTail::new(10, 10);
    for _ in 0..100_000 {
        output.push("中文\n".as_bytes());
    }
    assert_eq!(output.total(), 700_000);
    assert_eq!(output.head().len(), 10);
    let kept = output.kept();
    assert_eq!((kept.head.as_str(), kept.tail.as_str()), ("中文\n中", "\n中文\n"));
    insta::assert_snapshot!(kept, @r"
    中文
    中
    … [699 982 bytes left out] …

    中文
    ");
}

#[test]
fn a_character_cut_by_the_gap_counts_as_left_out() {
    for cap in 2..=4 {
        let mut output = HeadTail::new(cap, cap);
        output.push("中文字".as_bytes());
        let kept = output.kept();
        assert!(!kept.to_string().contains('\u{fffd}'), "{kept}");
        assert_eq!(kept.head.len() as u64 + kept.left_out + kept.tail.len() as u64, 9);
    }
}

#[test]
fn a_stream_within_both_caps_is_whole() {
    let mut output = HeadTail::new(4, 5);
    output.push("中文字".as_bytes());
    assert_eq!(output.left_out(), 0);
    assert_eq!(output.kept().to_string(), "中文字");
}

#[test]
fn a_cap_of_zero_keeps_nothing() {
    let mut output = HeadTail::new(0, 0);
    output.push(b"abc");
    assert_eq!((output.total(), output.left_out()), (3, 3));
    assert_eq!(output.kept().to_string(), "… [3 bytes left out] …\n");
}

proptest! {
    #[test]
    fn head_and_tail_equal_the_naive_ones(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
        head_cap in 0..50_usize,
        tail_cap in 0..50_usize,
    ) {
        let mut output = HeadTail::new(head_cap, tail_cap);
        for piece in &pieces {
            output.push(piece);
        }
        let all = pieces.concat();
        let (front, rest) = all.split_at(head_cap.min(all.len()));
        let back = &rest[rest.len().saturating_sub(tail_cap)..];
        let (one, two) = output.tail();
        prop_assert_eq!(output.head(), front);
        prop_assert_eq!([one, two].concat(), back);
        prop_assert_eq!(output.total(), all.len() as u64);
        prop_assert_eq!(output.left_out(), (rest.len() - back.len()) as u64);
        let kept = output.kept();
        prop_assert_eq!(kept.left_out > 0, output.left_out() > 0);
    }

    #[test]
    fn an_excerpt_keeps_its_cap_and_its_match(
        before in "[a中é]{0,40}",
        hit in "[x文]{0,20}",
        after in "[b中é]{0,40}",
        max in 0..80_usize,
    ) {
        let line = format!("{before}{hit}{after}");
        let start = before.len();
        let excerpt = around(&line, start..start + hit.len(), max);
        prop_assert!(excerpt.text.len() <= max.max(16));
        prop_assert!(hit.starts_with(&excerpt.text[excerpt.matched]));
    }

    #[test]
    fn an_excerpt_survives_any_range(
        line in "\\PC{0,60}", start in 0..100_usize, end in 0..100_usize, max in 0..60_usize,
    ) {
        let excerpt = around(&line, start..end, max);
        prop_assert!(excerpt.text.get(excerpt.matched).is_some());
    }

    #[test]
    fn any_text_can_be_cut_anywhere(text in ".{0,60}", max in 0..200_usize) {
        prop_assert!(text.starts_with(head(&text, max)));
        prop_assert!(text.ends_with(tail(&text, max)));
        let cut = head_tail(&text, max);
        prop_assert!(text.starts_with(cut.head) && text.ends_with(cut.tail));
    }
}
