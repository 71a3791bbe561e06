//! The closed list of languages.

use std::collections::HashSet;
use std::path::Path;

use haft_syntax::Language;

#[test]
fn the_queries_of_every_language_fit_its_grammar() {
    for language in Language::ALL.into_iter().filter(|language| language.is_on()) {
        let limits = haft_syntax::Limits::default();
        let text = crate::rig::source(language);
        haft_syntax::references(language, text, "x", &limits).unwrap();
    }
}

#[test]
fn no_two_languages_share_an_extension_or_a_name() {
    let mut seen = HashSet::new();
    for language in Language::ALL {
        for extension in language.extensions() {
            assert!(seen.insert(*extension), "{extension}");
            let path = format!("a/b.c/file.{extension}");
            assert_eq!(Language::of_path(Path::new(&path)), Some(language));
        }
        assert_eq!(language.as_str().parse(), Ok(language));
        let written = language.title().replace(" with JSX", "").parse::<Language>();
        assert!(written.is_ok(), "{}", language.title());
    }
    assert_eq!(Language::of_path(Path::new("README.md")), None);
    assert_eq!(Language::of_path(Path::new("c")), None);
    assert_eq!(Language::of_path(Path::new(".py")), None);
}

#[test]
fn a_name_that_no_language_has_is_answered_with_those_there_are() {
    insta::assert_snapshot!("cobol".parse::<Language>().unwrap_err(), @"`cobol` is no language that is known here; there are c, cpp, go, java, javascript, python, rust, tsx, typescript");
}

#[test]
fn a_language_that_is_off_is_an_error_that_says_how_to_turn_it_on() {
    let error = haft_syntax::SyntaxError::LanguageOff { language: Language::Cpp };
    insta::assert_snapshot!(error, @"C++ is not compiled in: build with the feature `lang-cpp` of haft-syntax");
    for language in Language::ALL.into_iter().filter(|language| !language.is_on()) {
        let error = haft_syntax::Pattern::compile(language, "x").unwrap_err();
        assert_eq!(error, haft_syntax::SyntaxError::LanguageOff { language });
    }
}
