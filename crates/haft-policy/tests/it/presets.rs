//! Presets decide by capability.

use haft_policy::{Policy, Preset};
use haft_protocol::{Access, Capability, Decision};

use crate::call::Call;

#[test]
fn each_effect_has_its_answer_in_each_preset() {
    let answers = |effect| Preset::ALL.map(|preset| preset.decision(effect).as_str()).join(" ");
    let table = Capability::ALL.map(|effect| format!("{effect}: {}", answers(effect))).join("\n");
    insta::assert_snapshot!(table, @r"
    read_files: allow allow allow
    write_files: deny allow allow
    execute: deny ask allow
    network: deny ask allow
    external: deny ask allow
    session: deny allow allow
    ");
}

#[test]
fn strictest_effect_of_a_call_counts() {
    let call = Call::new("x/y", &[Capability::ReadFiles, Capability::Network]);
    let decide = |preset| call.under(&Policy::new(preset, Vec::new(), false).unwrap()).decision();
    assert_eq!(Preset::ALL.map(decide), [Decision::Deny, Decision::Ask, Decision::Allow]);
}

#[test]
fn call_without_effects_is_allowed_everywhere() {
    for preset in Preset::ALL {
        let policy = Policy::new(preset, Vec::new(), false).unwrap();
        assert_eq!(Call::new("x/add", &[]).under(&policy).decision(), Decision::Allow);
    }
}

#[test]
fn binding_for_writing_counts_as_writing_whatever_the_tool_declares() {
    let policy = Policy::new(Preset::ReadOnly, Vec::new(), false).unwrap();
    let liar = Call::new("x/y", &[Capability::ReadFiles]).on("a", Access::Write);
    assert_eq!(liar.under(&policy).decision(), Decision::Deny);
}

#[test]
fn tool_that_always_asks_is_asked_about_in_full_and_with_yes() {
    let call = Call::new("x/pay", &[Capability::External]).always_asking();
    for yes in [false, true] {
        let policy = Policy::new(Preset::Full, Vec::new(), yes).unwrap();
        assert_eq!(call.under(&policy).decision(), Decision::Ask);
    }
    let policy = Policy::new(Preset::ReadOnly, Vec::new(), true).unwrap();
    assert_eq!(call.under(&policy).decision(), Decision::Deny);
}

#[test]
fn unknown_preset_is_an_error_that_names_the_three() {
    insta::assert_snapshot!("nonsense".parse::<Preset>().unwrap_err(), @"`nonsense` is not a preset: expected `read-only`, `edit` or `full`");
    insta::assert_snapshot!("Full".parse::<Preset>().unwrap_err(), @"`Full` is not a preset: expected `read-only`, `edit` or `full`");
    insta::assert_snapshot!(serde_json::from_str::<Preset>("\"read_only\"").unwrap_err(), @"unknown variant `read_only`, expected one of `read-only`, `edit`, `full` at line 1 column 11");
}
