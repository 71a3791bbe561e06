//! Texts and patterns that somebody made to break what reads them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use haft_syntax::{Language, Limits, Pattern, SyntaxError, definitions, outline, references};
use proptest::prelude::*;

/// Runs a check with as little stack as a thread of a walk has.
fn on_a_small_stack(check: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(1024 * 1024).spawn(check).unwrap().join().unwrap();
}

/// Limits that end the work after so many questions.
fn patience(questions: u64) -> Limits {
    let asked = AtomicU64::new(0);
    Limits::until(move || asked.fetch_add(1, Ordering::Relaxed) >= questions)
}

/// Limits that end the work after a moment.
fn moment() -> Limits {
    let begun = Instant::now();
    Limits::until(move || begun.elapsed() > Duration::from_millis(100))
}

fn everything(language: Language, text: &str, limits: &Limits) {
    let _ = outline(language, text, limits);
    let _ = definitions(language, text, "x", limits);
    let _ = references(language, text, "x", limits);
}

#[test]
fn nesting_does_not_use_up_the_stack() {
    on_a_small_stack(|| {
        let parens = format!("x = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let blocks = format!("{}{}", "{".repeat(100_000), "}".repeat(100_000));
        let open = "(".repeat(100_000);
        let functions = "function x(){".repeat(20_000) + &"}".repeat(20_000);
        for text in [&parens, &blocks, &open, &functions] {
            for language in Language::ALL {
                let _ = references(language, text, "x", &moment());
            }
        }
        let pattern = Pattern::compile(Language::Python, "x = $A").unwrap();
        assert_eq!(pattern.matches(&parens, &Limits::default()).unwrap().total, 1);
    });
}

#[test]
fn the_same_thing_twice_is_not_compared_without_end() {
    on_a_small_stack(|| {
        let deep = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
        let text = format!("{deep} == {deep}\n");
        let pattern = Pattern::compile(Language::JavaScript, "$A == $A").unwrap();
        let error = pattern.matches(&text, &Limits::default()).unwrap_err();
        assert_eq!(error, SyntaxError::TooDeep { most: 500 });
        let deep = format!("{}1{}", "(".repeat(480), ")".repeat(480));
        let text = format!("{deep} == {deep}\n");
        assert_eq!(pattern.matches(&text, &Limits::default()).unwrap().total, 1);
    });
}

#[test]
fn a_pattern_as_deep_as_may_be_is_matched_on_a_small_stack() {
    on_a_small_stack(|| {
        let deep = |inner: &str| format!("{}{inner}{}", "(".repeat(110), ")".repeat(110));
        let pattern = Pattern::compile(Language::Python, &deep("$X")).unwrap();
        assert_eq!(pattern.matches(&deep("1"), &Limits::default()).unwrap().total, 1);
    });
}

#[test]
fn matching_that_would_take_hours_is_stopped() {
    // Each try of what follows the second `$$$` copies what the first one stands for.
    let list = "1, ".repeat(60_000);
    let text = format!("f({list}x, {list}z)\n");
    let pattern = Pattern::compile(Language::Python, "f($$$A, x, $$$B, y)").unwrap();
    assert_eq!(pattern.matches(&text, &patience(2_000)).unwrap_err(), SyntaxError::Stopped);
}

#[test]
fn ellipses_in_each_other_cost_no_more_than_they_may() {
    let nested = |inner: &str| format!("{}{inner}{}", "f($$$, ".repeat(6), ")".repeat(6));
    let pattern = Pattern::compile(Language::Python, &nested("x")).unwrap();
    let text = format!("{}x{}", "f(1, 2, ".repeat(100), ")".repeat(100));
    assert!(pattern.matches(&text, &Limits::default()).unwrap().total > 0);
}

#[test]
fn an_ellipsis_alone_is_refused_in_every_language() {
    for language in Language::ALL {
        for pattern in ["$$$", "$$$A", "$$$;", "$$$A;"] {
            let compiled = Pattern::compile(language, pattern);
            assert!(compiled.is_err(), "{language} {pattern} {compiled:?}");
        }
    }
}

#[test]
fn what_a_parser_puts_in_for_what_is_missing_is_no_match() {
    let pattern = Pattern::compile(Language::TypeScript, ";").unwrap();
    let text = "->)(=>((`${$A";
    assert_eq!(pattern.matches(text, &Limits::default()).unwrap().total, 0);
    assert_eq!(pattern.matches("f();\n", &Limits::default()).unwrap().total, 1);
}

#[test]
fn a_text_that_is_too_large_is_not_parsed() {
    let text = "x = 1\n".repeat(200_000);
    let error = outline(Language::Python, &text, &Limits::default()).unwrap_err();
    insta::assert_snapshot!(error, @"it has 1200000 bytes, and no more than 1048576 are parsed");
}

#[test]
fn the_word_to_stop_is_heard_while_parsing_and_while_asking() {
    let text = "def x(): pass\n".repeat(50_000);
    let questions = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&questions);
    let never = Limits::until(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    });
    outline(Language::Python, &text, &never).unwrap();
    let all = questions.load(Ordering::Relaxed);
    assert!(all > 100, "{all}");
    for share in [0, all / 4, all / 2, all * 3 / 4] {
        let error = outline(Language::Python, &text, &patience(share)).unwrap_err();
        assert_eq!(error, SyntaxError::Stopped);
    }
}

#[test]
fn what_is_shown_of_long_names_stays_short() {
    let name = "n".repeat(400_000);
    let text = format!("class {name}:\n{}", "    def f(self): pass\n".repeat(2_000));
    let found = outline(Language::Python, &text, &Limits::default()).unwrap();
    assert_eq!(found.total, 2_001);
    assert!(found.items.iter().all(|it| it.container.as_ref().is_none_or(|it| it.len() <= 80)));
    assert!(found.items.iter().all(|it| it.signature.len() <= 200));
    let deep = "function x(){".repeat(2_000) + &"}".repeat(2_000);
    let found = outline(Language::JavaScript, &deep, &Limits::default()).unwrap();
    assert_eq!(found.items.last().unwrap().container.as_deref(), Some("….x.x.x.x.x.x.x.x"));
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        ";",
        ":",
        ",",
        ".",
        "=",
        "=>",
        "->",
        "::",
        "$A",
        "$$$B",
        "$",
        "µ",
        "x",
        "class ",
        "def ",
        "fn ",
        "func ",
        "function ",
        "struct ",
        "enum ",
        "impl ",
        "import ",
        "\n",
        "\n    ",
        "\t",
        "\"",
        "'",
        "`",
        "//",
        "/*",
        "*/",
        "#",
        "R\"(",
        "\\",
        "1",
        "é",
        "\u{0}",
        "operator",
        "~",
        "*",
        "&",
        "template<",
        "@",
        "\r\n",
        "${",
        "`${",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_and_no_pattern_is_too_strange(text in pieces(), pattern in pieces()) {
        for language in Language::ALL {
            let limits = Limits::default();
            let shown = outline(language, &text, &limits).unwrap();
            for symbol in &shown.items {
                prop_assert!(text.get(symbol.span.bytes.clone()).is_some());
                prop_assert!(symbol.span.line <= symbol.span.last_line);
            }
            everything(language, &text, &limits);
            match Pattern::compile(language, &pattern) {
                Ok(pattern) => {
                    let found = pattern.matches(&text, &limits).unwrap();
                    let needle = pattern.needle();
                    let holds = |bytes| text.get(bytes).is_some_and(|it: &str| it.contains(&needle));
                    prop_assert!(found.items.iter().all(|it| holds(it.span.bytes.clone())));
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
