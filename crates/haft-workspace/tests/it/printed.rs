//! Paths that programs print.

use std::sync::Arc;

use haft_protocol::LogicalPath;
use haft_workspace::{PathError, View};

use crate::rig::Rig;

#[test]
fn what_a_program_prints_is_followed_like_any_path_and_shown_through_the_filter() {
    let rig = Rig::new();
    rig.file("src/a.rs", "").file("secret/b.rs", "").file(".env", "").link("out.rs", rig.out(""));
    let filter = |path: &LogicalPath| !path.as_str().starts_with("secret");
    let view = View::new(rig.workspace.clone(), Arc::new(filter));
    let absolute = rig.ws("src/a.rs").display().to_string();
    for path in ["src/a.rs", "./src/../src/a.rs", &absolute] {
        assert_eq!(view.printed(path).unwrap().logical().as_str(), "src/a.rs");
    }
    let refused = |path: &str| view.printed(path).unwrap_err();
    assert!(matches!(refused("secret/b.rs"), PathError::HiddenByRule { .. }));
    assert_eq!(view.hidden().by_rule, 1);
    assert!(matches!(refused(".env"), PathError::Protected { .. }));
    assert!(matches!(refused("gone.rs"), PathError::NotFound { .. }));
    for path in ["../out/secret.txt", "/etc/passwd", "out.rs/secret.txt"] {
        assert!(matches!(refused(path), PathError::Outside { .. }), "{path}");
    }
    assert_eq!(view.real_roots(), [rig.ws("").canonicalize().unwrap()]);
}

#[test]
fn of_names_that_look_alike_none_is_taken_for_what_was_printed_and_none_is_told() {
    let rig = Rig::new();
    rig.file("a\u{202f}b", "1").file("a\u{a0}b", "2");
    let refused = rig.view().printed("a b").unwrap_err();
    assert!(
        matches!(&refused, PathError::Ambiguous { candidates, .. } if candidates.is_empty()),
        "{refused}"
    );
}
