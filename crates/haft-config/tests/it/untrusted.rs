//! A project that nobody trusts may only narrow.

use haft_policy::Preset;
use haft_protocol::SandboxLevel;

use crate::files::{Files, dropped, settings};

const GREEDY: &str = r#"preset = "full"

[[rules]]
decision = "allow"
tool = "bash"

[[rules]]
decision = "deny"
path = "secrets/**"

[protection]
extra = ["*.pem"]
except = [".env"]

[roots]
extra = ["/home"]

[limits]
permits = 64
calls_per_step = 3

[journal]
retention_days = 1
artifacts_bytes = 1_048_576
record_arguments = false
"#;

#[test]
fn what_narrows_is_followed_and_what_widens_is_reported() {
    let config = Files::project(GREEDY).load().unwrap();
    assert_eq!(config.preset, Preset::Edit);
    assert_eq!(config.protection.extra, ["*.pem"]);
    assert!(config.protection.except.is_empty() && config.further_roots.is_empty());
    insta::assert_snapshot!(settings(&config), @"limits.calls_per_step = 3 (.haft/config.toml:20)");
    insta::assert_snapshot!(dropped(&config), @r#"
    .haft/config.toml:1: not followed until you trust this file with `haft trust`: set the preset `full`
    .haft/config.toml:3: not followed until you trust this file with `haft trust`: follow the rule `allow tool = "bash"`
    .haft/config.toml:13: not followed until you trust this file with `haft trust`: lift the protection of `.env`
    .haft/config.toml:16: not followed until you trust this file with `haft trust`: let tools see `/home`
    .haft/config.toml:19: not followed until you trust this file with `haft trust`: set `limits.permits` to 64
    .haft/config.toml:23: not followed until you trust this file with `haft trust`: set `journal.retention_days` to 1
    .haft/config.toml:24: not followed until you trust this file with `haft trust`: set `journal.artifacts_bytes` to 1048576
    .haft/config.toml:25: not followed until you trust this file with `haft trust`: set `journal.record_arguments` to false
    "#);
    assert!(config.rules.iter().all(|rule| !rule.origin().trusted));
    assert!(!config.project().unwrap().trusted);
}

#[test]
fn how_programs_run_can_only_become_stricter() {
    let loose = r#"
[programs]
sandbox = "none"
sandbox_at_least = "files"
environment = ["CARGO_*"]
read = ["/opt/sdk"]
processes = 100_000
file_bytes = 2_000_000
"#;
    let config = Files::project(loose).load().unwrap();
    assert_eq!(config.programs.sandbox, SandboxLevel::FilesNet);
    assert_eq!(config.programs.sandbox_at_least, SandboxLevel::Files);
    assert!(config.programs.environment.is_empty() && config.programs.read.is_empty());
    assert_eq!((config.programs.processes, config.programs.file_bytes), (4_096, 2_000_000));
    insta::assert_snapshot!(dropped(&config), @r"
    .haft/config.toml:3: not followed until you trust this file with `haft trust`: set `programs.sandbox` to `none`
    .haft/config.toml:5: not followed until you trust this file with `haft trust`: let programs see the variable `CARGO_*`
    .haft/config.toml:6: not followed until you trust this file with `haft trust`: let programs read `/opt/sdk`
    .haft/config.toml:7: not followed until you trust this file with `haft trust`: set `programs.processes` to 100000
    ");
    let config = Files::project(loose).trusted().load().unwrap();
    assert_eq!(config.programs.sandbox, SandboxLevel::None);
    assert_eq!(config.programs.environment, ["CARGO_*"]);
}

#[test]
fn trusted_file_is_followed_altogether() {
    let config = Files::project(GREEDY).trusted().load().unwrap();
    assert_eq!(config.preset, Preset::Full);
    assert_eq!(config.protection.except, [".env"]);
    assert_eq!(dropped(&config), "");
    assert!(config.rules.iter().all(|rule| rule.origin().trusted));
    assert!(config.project().unwrap().trusted);
    insta::assert_snapshot!(settings(&config), @r#"
    preset = "full" (.haft/config.toml:1)
    limits.permits = 64 (.haft/config.toml:19)
    limits.calls_per_step = 3 (.haft/config.toml:20)
    journal.retention_days = 1 (.haft/config.toml:23)
    journal.artifacts_bytes = 1048576 (.haft/config.toml:24)
    journal.record_arguments = false (.haft/config.toml:25)
    "#);
}

#[test]
fn changed_file_is_untrusted_again() {
    let files = Files::project("preset = 'full'").trusted();
    assert_eq!(files.load().unwrap().preset, Preset::Full);
    let changed = files.and_project("preset = 'full' ");
    assert_eq!(changed.load().unwrap().preset, Preset::Edit);
}

#[test]
fn preset_may_go_down_and_not_up() {
    let load = |user: &str, project: &str| {
        let files = Files::user(format!("preset = '{user}'"));
        files.and_project(format!("preset = '{project}'")).load().unwrap()
    };
    assert_eq!(load("full", "read-only").preset, Preset::ReadOnly);
    assert_eq!(load("full", "edit").preset, Preset::Edit);
    assert_eq!(load("read-only", "edit").preset, Preset::ReadOnly);
    assert_eq!(load("edit", "edit").dropped(), []);
    insta::assert_snapshot!(load("edit", "edit").origin("preset"), @"/u/haft/config.toml:1");
}

#[test]
fn names_in_a_report_cannot_disguise_themselves() {
    let config = Files::project("[protection]\nexcept = [\"a\\u202eb\\nc\"]").load().unwrap();
    insta::assert_snapshot!(dropped(&config), @r".haft/config.toml:2: not followed until you trust this file with `haft trust`: lift the protection of `a\u{202e}b\nc`");
}
