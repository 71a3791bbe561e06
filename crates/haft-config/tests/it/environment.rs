//! Settings from variables and flags.

use haft_config::{Config, Environment, Flags, Sources};

use crate::files::Files;

fn load(name: &str, value: &str) -> Result<Config, String> {
    let variables = [(name.into(), value.into())];
    let environment = Environment::from_variables(variables, &["HAFT_STATE_DIR", "HAFT_LOG"])
        .map_err(|error| error.to_string())?;
    let sources = Sources { environment, ..Sources::default() };
    Config::load(&sources, &Files::default()).map_err(|error| error.to_string())
}

#[test]
fn variable_sets_what_it_is_named_after() {
    let config = load("HAFT_JOURNAL_RECORD_ARGUMENTS", "false").unwrap();
    assert!(!config.journal.record_arguments);
    assert_eq!(
        config.origin("journal.record_arguments").to_string(),
        "HAFT_JOURNAL_RECORD_ARGUMENTS"
    );
}

#[test]
fn variables_of_others_are_passed_over() {
    for name in ["HAFT_STATE_DIR", "HAFT_LOG", "PATH", "HAFTED"] {
        assert_eq!(load(name, "x").unwrap(), Config::default());
    }
}

#[test]
fn variable_that_says_nothing_is_an_error() {
    let error = |name, value| load(name, value).unwrap_err();
    insta::assert_snapshot!(error("HAFT_PRESSET", "full"), @"HAFT_PRESSET: there is no such variable: did you mean `HAFT_PRESET`?");
    insta::assert_snapshot!(error("HAFT_STATE_DIRR", "x"), @"HAFT_STATE_DIRR: there is no such variable: did you mean `HAFT_STATE_DIR`?");
    insta::assert_snapshot!(error("HAFT_ALLOW_EVERYTHING", "1"), @"HAFT_ALLOW_EVERYTHING: there is no such variable: unset it");
    insta::assert_snapshot!(error("HAFT_PRESET", "nonsense"), @"HAFT_PRESET: `nonsense` is not a preset: expected `read-only`, `edit` or `full`");
    insta::assert_snapshot!(error("HAFT_PRESET", ""), @"HAFT_PRESET: `` is not a preset: expected `read-only`, `edit` or `full`");
    insta::assert_snapshot!(error("HAFT_LIMITS_PERMITS", "0"), @"HAFT_LIMITS_PERMITS: `limits.permits` is 0: expected 1 to 64");
    insta::assert_snapshot!(error("HAFT_LIMITS_PERMITS", "-1"), @"HAFT_LIMITS_PERMITS: `limits.permits` takes a whole number, and this is `-1`");
    insta::assert_snapshot!(error("HAFT_LIMITS_PERMITS", "many\u{1b}"), @r"HAFT_LIMITS_PERMITS: `limits.permits` takes a whole number, and this is `many\u{1b}`");
    insta::assert_snapshot!(error("HAFT_JOURNAL_RECORD_ARGUMENTS", "no"), @"HAFT_JOURNAL_RECORD_ARGUMENTS: `journal.record_arguments` takes true or false, and this is `no`");
}

#[cfg(unix)]
#[test]
fn variable_that_is_not_text_is_an_error() {
    use std::os::unix::ffi::OsStringExt as _;
    let value = std::ffi::OsString::from_vec(vec![0xff]);
    let error = Environment::from_variables([("HAFT_PRESET".into(), value)], &[]).unwrap_err();
    insta::assert_snapshot!(error, @"HAFT_PRESET: this is not UTF-8 text");
}

#[test]
fn flag_for_an_unknown_key_is_an_error() {
    let flags = Flags::default().set("--set", "limits.permit", "3");
    let sources = Sources { flags, ..Sources::default() };
    insta::assert_snapshot!(Config::load(&sources, &Files::default()).unwrap_err(), @"--set: unknown key `limits.permit`: did you mean `limits.permits`?");
}
