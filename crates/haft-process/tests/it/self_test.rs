//! What works is found by trying.

use haft_process::helper::Helper;
use haft_process::{HelperState, SandboxLevel};

use crate::support::Room;

#[test]
fn every_level_is_tried() {
    let report = Room::new().launcher.self_test();
    assert_eq!(report.helper, HelperState::Works);
    assert_eq!(report.strongest(), SandboxLevel::FilesNet);
    assert_eq!(report.first_problem(), None);
    let levels: Vec<_> = report.levels.iter().map(|it| it.level).collect();
    assert_eq!(levels, SandboxLevel::ALL);
    // Shows that the trials would get through if nothing stopped them.
    let group = &report.levels[1];
    assert!(group.trials.iter().all(|trial| !trial.is_refused), "{group:?}");
    let files = &report.levels[2];
    assert_eq!(files.trials.iter().filter(|trial| trial.is_refused).count(), 9);
    let all = &report.levels[3];
    assert!(all.trials.iter().all(|trial| trial.is_refused), "{all:?}");
}

#[test]
fn without_a_helper_the_report_says_so() {
    let report = Room::without_helper().launcher.self_test();
    assert_eq!((report.helper, report.levels.len()), (HelperState::Absent, 4));
}

#[test]
fn a_helper_that_does_not_work_is_told_from_none() {
    let report = Room::with(Some(Helper::at("/nonexistent"))).launcher.self_test();
    let HelperState::Fails { problem } = &report.helper else { panic!("{report:?}") };
    assert!(problem.contains("`/nonexistent` cannot be started"), "{problem}");
    assert_eq!(report.strongest(), SandboxLevel::Group);
}

#[test]
fn levels_have_names() {
    for level in SandboxLevel::ALL {
        let json = serde_json::to_string(&level).unwrap();
        assert_eq!(json, format!("\"{level}\""));
        assert_eq!(serde_json::from_str::<SandboxLevel>(&json).unwrap(), level);
        assert_eq!(level.to_string().parse(), Ok(level));
    }
    let error = "high".parse::<SandboxLevel>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`high` is no sandbox level: use `none`, `group`, `files` or `files+net`"
    );
}
