use proptest::prelude::*;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::{BEFORE_FLAG, Sign, all, are_in, has_login_in_address};
use crate::redaction::shapes::{self, PATTERNS};

/// Strings of one place in a pattern that are looked at.
const MOST: usize = 2_000;

/// One step of a string that a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Exact(char),
    /// A letter in lower case, written in either.
    Letter(char),
    WordBegins,
    TextBegins,
}

type Text = Vec<Step>;

/// What a part of a pattern matches, as far as that can be listed, and whether the list goes to its end.
struct Listed {
    texts: Vec<Text>,
    whole: bool,
}

fn listed(hir: &Hir) -> Option<Listed> {
    let whole = |texts| Some(Listed { texts, whole: true });
    match hir.kind() {
        HirKind::Look(Look::WordAscii) => whole(vec![vec![Step::WordBegins]]),
        HirKind::Look(Look::Start) => whole(vec![vec![Step::TextBegins]]),
        HirKind::Empty | HirKind::Look(_) => whole(vec![Vec::new()]),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            whole(vec![text.chars().map(Step::Exact).collect()])
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut chars: Vec<char> =
                class.iter().flat_map(|it| it.start()..=it.end()).map(char::from).collect();
            if let [upper, lower] = chars[..]
                && upper.is_ascii_uppercase()
                && upper.to_ascii_lowercase() == lower
            {
                return whole(vec![vec![Step::Letter(lower)]]);
            }
            chars.retain(|it| !(it.is_ascii_uppercase() && chars_has_lower(class, *it)));
            let step = |it: char| {
                let both = it.is_ascii_lowercase()
                    && class.iter().any(|range| {
                        (range.start()..=range.end()).contains(&(it.to_ascii_uppercase() as u8))
                    });
                vec![if both { Step::Letter(it) } else { Step::Exact(it) }]
            };
            (chars.len() <= 16).then(|| chars.into_iter().map(step).collect()).and_then(whole)
        }
        HirKind::Class(Class::Unicode(_)) => None,
        HirKind::Capture(capture) => listed(&capture.sub),
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            let once = listed(sub)?;
            match (min, max) {
                (0, Some(1)) if once.whole => whole([vec![Vec::new()], once.texts].concat()),
                (1, Some(1)) => Some(once),
                (1.., _) => Some(Listed { whole: false, ..once }),
                _ => None,
            }
        }
        HirKind::Concat(parts) => {
            let mut texts = vec![Vec::new()];
            for part in parts {
                match listed(part) {
                    Some(next) if texts.len() * next.texts.len() <= MOST => {
                        texts = joined(&texts, &next.texts);
                        if !next.whole {
                            return Some(Listed { texts, whole: false });
                        }
                    }
                    _ => return Some(Listed { texts, whole: false }),
                }
            }
            whole(texts)
        }
        HirKind::Alternation(parts) => {
            let parts: Option<Vec<Listed>> = parts.iter().map(listed).collect();
            let parts = parts?;
            let is_whole = parts.iter().all(|it| it.whole);
            let texts = parts.into_iter().flat_map(|it| it.texts).collect();
            Some(Listed { texts, whole: is_whole })
        }
    }
}

fn chars_has_lower(class: &regex_syntax::hir::ClassBytes, upper: char) -> bool {
    let lower = upper.to_ascii_lowercase() as u8;
    class.iter().any(|range| (range.start()..=range.end()).contains(&lower))
}

fn joined(texts: &[Text], next: &[Text]) -> Vec<Text> {
    texts.iter().flat_map(|text| next.iter().map(|next| [&text[..], next].concat())).collect()
}

/// Tells whether every text that a part of a pattern matches has a sign.
fn demands_sign(hir: &Hir, signs: &[Sign]) -> bool {
    let every_text_has_one = |texts: &[Text]| texts.iter().all(|text| has_sign(text, signs));
    match hir.kind() {
        HirKind::Capture(capture) => demands_sign(&capture.sub, signs),
        HirKind::Repetition(Repetition { min: 1.., sub, .. }) => demands_sign(sub, signs),
        HirKind::Alternation(parts) => parts.iter().all(|it| demands_sign(it, signs)),
        HirKind::Concat(parts) => {
            parts.iter().any(|part| demands_sign(part, signs))
                || (0..parts.len()).any(|from| {
                    let rest = Hir::concat(parts[from..].to_vec());
                    listed(&rest).is_some_and(|it| every_text_has_one(&it.texts))
                })
                || every_way_demands_sign(parts, signs)
        }
        _ => listed(hir).is_some_and(|it| every_text_has_one(&it.texts)),
    }
}

/// Goes each way through the first choice by itself, with what stands around it.
fn every_way_demands_sign(parts: &[Hir], signs: &[Sign]) -> bool {
    let choice = parts.iter().enumerate().find_map(|(at, part)| match part.kind() {
        HirKind::Alternation(ways) => Some((at, ways)),
        _ => None,
    });
    choice.is_some_and(|(at, ways)| {
        ways.iter().all(|way| {
            let [before, after] = [&parts[..at], &parts[at + 1..]];
            demands_sign(&Hir::concat([before, std::slice::from_ref(way), after].concat()), signs)
        })
    })
}

fn has_sign(text: &[Step], signs: &[Sign]) -> bool {
    signs.iter().any(|sign| {
        let wanted: Vec<char> = sign.text.chars().collect();
        let spelled: Vec<Step> =
            text.iter().copied().filter(|it| *it != Step::WordBegins).collect();
        let begins_word = |at: usize| {
            let mut letters = 0;
            text.iter().any(|step| {
                let here = letters == at && *step == Step::WordBegins;
                letters += usize::from(*step != Step::WordBegins);
                here
            })
        };
        spelled.windows(wanted.len()).enumerate().any(|(at, window)| {
            let same = window.iter().zip(&wanted).all(|(step, wanted)| match step {
                Step::Exact(it) if sign.any_case => it.eq_ignore_ascii_case(wanted),
                Step::Exact(it) => it == wanted,
                Step::Letter(it) => sign.any_case && it.eq_ignore_ascii_case(wanted),
                Step::WordBegins | Step::TextBegins => false,
            });
            same && (!sign.begins_word || begins_word(at))
        }) || {
            // At the beginning of a text the flag stands alone.
            let flag = BEFORE_FLAG.iter().any(|it| sign.text == format!("{it}-u"));
            let begins = [Step::TextBegins, Step::Exact('-')];
            flag && spelled.starts_with(&begins)
                && matches!(spelled.get(2), Some(Step::Exact('u' | 'U') | Step::Letter('u')))
        }
    })
}

fn hir(pattern: &str) -> Hir {
    ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).unwrap()
}

/// The pattern for logins in addresses, which has a look of its own.
fn is_of_addresses(pattern: &str) -> bool {
    pattern.contains(":/{1,2}")
}

#[test]
fn every_pattern_demands_a_sign() {
    let signs = all();
    for pattern in PATTERNS.iter().filter(|it| !is_of_addresses(it)) {
        assert!(demands_sign(&hir(pattern), &signs), "{pattern}");
    }
    assert_eq!(PATTERNS.iter().filter(|it| is_of_addresses(it)).count(), 1);
}

#[test]
fn a_pattern_without_a_sign_would_be_noticed() {
    let signs = all();
    for pattern in
        ["(?i)hidden=[a-z]+", "ghp-[a-z]+", "(?i)ghp_[a-z]+", r"ASIA[A-Z]{16}", "(token)?x"]
    {
        assert!(!demands_sign(&hir(pattern), &signs), "{pattern}");
    }
}

#[test]
fn ordinary_texts_have_no_sign() {
    for text in [
        "fn main() {\n    println!(\"hello\");\n}\n",
        "the preset `edit` lets calls read",
        "a task-list on a disk-drive in Asia, see https://example.org/path?page=2",
        "mail me@example.org about https://example.org",
        "monkey: 3\nkeys: [a, b]",
    ] {
        assert!(!are_in(text), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn addresses_with_a_login_are_seen(text in "[a:/@?# \"<\n]{0,8}x?://?[a:/@?]{0,24}@[a/]{0,2}") {
        let pattern = PATTERNS.iter().find(|it| is_of_addresses(it)).unwrap();
        let is_match = shapes::compile(pattern).unwrap().is_match(text.as_bytes());
        prop_assert!(!is_match || has_login_in_address(&text));
    }
}
