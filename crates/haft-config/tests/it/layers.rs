//! Layers over layers, and where each value comes from.

use haft_config::{Config, Environment, Flags, Sources};
use haft_policy::{Layer, Origin, Preset, Rule};
use haft_protocol::{LogicalPath, limits};

use crate::files::{Files, settings, sources};

#[test]
fn nothing_at_all_is_what_is_built_in() {
    let config = Config::load(&Sources::default(), &Files::default()).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(config.preset, Preset::Edit);
    assert_eq!(config.limits.permits, limits::PERMITS as u64);
    assert!(config.journal.record_arguments);
    assert_eq!(config.origin("preset"), Origin::new(Layer::Default));
    let all: Vec<_> =
        config.settings().iter().map(|it| format!("{} = {}", it.key, it.value)).collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
    preset = "edit"
    limits.permits = 8
    limits.calls_per_step = 25
    limits.calls_per_run = 10000
    limits.approval_ms = 900000
    limits.acquire_ms = 60000
    limits.hook_ms = 10000
    limits.outcome_text_bytes = 98304
    journal.retention_days = 30
    journal.retention_calls = 200000
    journal.retention_runs = 2000
    journal.runs_bytes = 1073741824
    journal.artifacts_bytes = 1073741824
    programs.memory_bytes = 70368744177664
    programs.processes = 4096
    programs.file_bytes = 17179869184
    journal.record_arguments = true
    programs.sandbox = "files+net"
    programs.sandbox_at_least = "none"
    "#);
}

#[test]
fn files_that_are_empty_or_missing_say_nothing() {
    for text in ["", "\u{feff}# only words\r\n"] {
        let config = Files::user(text).load().unwrap();
        assert_eq!(config.settings(), Config::default().settings());
        assert!(config.user().is_some_and(|file| file.ends_with("config.toml")));
    }
    let nothing = Files::default().load().unwrap();
    assert_eq!((nothing.user(), nothing.project()), (None, None));
}

#[test]
fn each_layer_wins_over_the_one_before() {
    let files =
        Files::user("preset = \"full\"\n[limits]\npermits = 2\nhook_ms = 500\ncalls_per_step = 9")
            .and_project(
                "[limits]\npermits = 3\nacquire_ms = 1_000\n[journal]\nrecord_arguments = false",
            )
            .trusted();
    let variables =
        [("HAFT_LIMITS_PERMITS", "4"), ("HAFT_LIMITS_CALLS_PER_STEP", "5"), ("HOME", "/h")];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let sources = Sources {
        environment: Environment::from_variables(variables, &[]).unwrap(),
        flags: Flags::default().preset(Preset::ReadOnly).set(
            "--calls-per-step",
            "limits.calls_per_step",
            "6",
        ),
        ..sources()
    };
    let config = Config::load(&sources, &files).unwrap();
    assert!(config.dropped().is_empty());
    insta::assert_snapshot!(settings(&config), @r#"
    preset = "read-only" (--preset)
    limits.permits = 4 (HAFT_LIMITS_PERMITS)
    limits.calls_per_step = 6 (--calls-per-step)
    limits.acquire_ms = 1000 (.haft/config.toml:3)
    limits.hook_ms = 500 (/u/haft/config.toml:4)
    journal.record_arguments = false (.haft/config.toml:5)
    "#);
}

#[test]
fn lists_of_all_layers_add_up() {
    let files = Files::user("[protection]\nextra = ['*.pem']\nexcept = ['.env.test']\n[roots]\nextra = ['/data']")
        .and_project("[protection]\nextra = ['*.key']\nexcept = ['.env.example']\n[roots]\nextra = ['/data', '/srv']")
        .trusted();
    let config = files.load().unwrap();
    assert_eq!(config.protection.extra, ["*.pem", "*.key"]);
    assert_eq!(config.protection.except, [".env.test", ".env.example"]);
    assert_eq!(config.further_roots, ["/data", "/srv"].map(std::path::PathBuf::from));
}

#[test]
fn policy_carries_rules_preset_and_their_origins() {
    let files =
        Files::user("preset = 'read-only'\n\n[[rules]]\ndecision = 'deny'\ntool = 'search'")
            .and_project("[[rules]]\ndecision = 'ask'\npath = '**'");
    let flag = Rule::allow().tool("edit".parse().unwrap()).with_origin(Origin::new(Layer::Flag));
    let flags = Flags::default().rule(flag);
    let config = Config::load(&Sources { flags, ..sources() }, &files).unwrap();
    let policy = config.policy(&["/home", "/data"].map(LogicalPath::new), true).unwrap();
    let rules: Vec<_> = policy.rules().map(|it| format!("{it} ({})", it.origin())).collect();
    insta::assert_snapshot!(rules.join("\n"), @r#"
    deny tool = "search" (/u/haft/config.toml:3)
    ask path = "**" (.haft/config.toml:1)
    allow tool = "edit" (flag)
    "#);
    assert_eq!(policy.presets().collect::<Vec<_>>(), [Preset::ReadOnly]);
}

#[test]
fn same_files_make_the_same_policy() {
    let files = Files::user("[[rules]]\ndecision = 'deny'\ntool = 'search'");
    let digest = || files.load().unwrap().policy(&[], false).unwrap().digest();
    assert_eq!(digest(), digest());
}

#[test]
fn file_that_cannot_be_read_is_no_empty_file() {
    insta::assert_snapshot!(Files::user("locked").error(), @"cannot read /u/haft/config.toml: permission denied");
    insta::assert_snapshot!(Files::project("locked").error(), @"cannot read /p/.haft/config.toml: permission denied");
}
