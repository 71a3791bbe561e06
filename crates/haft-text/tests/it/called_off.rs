//! Long work that is called off, or bounded.

use std::cell::Cell;
use std::num::NonZeroUsize;

use haft_text::{Edit, EditRules, MatchGrade, Refusal, edit, edit_until};

const RULES: EditRules = EditRules {
    highest: MatchGrade::LookAlike,
    most_places: NonZeroUsize::MAX,
    most_bytes: 64 * 1024 * 1024,
};

fn one(old: &str) -> [Edit; 1] {
    [Edit { old: old.to_owned(), new: "x".to_owned(), replace_all: true }]
}

#[test]
fn an_edit_asks_whether_to_stop_in_every_part_of_its_work() {
    let file = "    let value = function(argument);\n".repeat(60_000);
    // Found nowhere; found by each grade; found by none after many tries.
    let olds = ["let valve = function(arguments)", "value = function(argument);  \n", "(argument"];
    for old in olds {
        let asked = Cell::new(0_u32);
        let count = || {
            asked.set(asked.get() + 1);
            false
        };
        let done = edit_until(file.as_bytes(), &one(old), &RULES, &count);
        let all = asked.get();
        assert!(all > 10, "{old}: {all}");
        assert_eq!(done, edit(file.as_bytes(), &one(old), &RULES));
        for share in [0, all / 4, all / 2, all - 1] {
            let left = Cell::<u32>::new(share);
            let stop = || left.replace(left.get().saturating_sub(1)) == 0;
            let error = edit_until(file.as_bytes(), &one(old), &RULES, &stop).unwrap_err();
            assert_eq!(error.refusal, Refusal::CalledOff, "{old}: {share} of {all}");
        }
    }
}

#[test]
fn the_nearest_place_is_looked_for_as_far_as_a_bound_and_that_is_said() {
    let looked_at = |file: &str| {
        let error = edit(file.as_bytes(), &one("let valve = 1;"), &RULES).unwrap_err();
        let Refusal::NotFound { nearest, looked_at, .. } = error.refusal else { panic!("{error}") };
        (nearest.map(|it| it.first_line), looked_at)
    };
    assert_eq!(looked_at("\nlet value = 1;\n"), (Some(2), None));
    let newlines = "\n".repeat(5_000_000);
    assert_eq!(looked_at(&format!("{newlines}let value = 1;\n")), (None, Some(4_194_304)));
    assert_eq!(looked_at(&format!("let value = 1;\n{newlines}")), (Some(1), Some(4_194_303)));
}
