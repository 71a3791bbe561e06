//! Names and paths in each of the forms in which they are written down.

use haft_protocol::{Digest, LogicalPath, QualifiedName, WireName, WireNames};

fn name(text: &str) -> QualifiedName {
    text.parse().unwrap()
}

/// Whom a name belongs to: haft, somebody else whose namespace is kept, or anybody.
#[test]
fn only_haft_on_this_machine_brings_tools_along() {
    for (text, is_builtin, is_reserved) in [
        ("builtin/read", true, true),
        ("prod:builtin/read", false, true),
        ("openai/read", false, true),
        ("prod:OpenAI/read", false, true),
        ("read", false, false),
        ("team/read", false, false),
        ("prod:team/builtin", false, false),
    ] {
        let name = name(text);
        assert_eq!((name.is_builtin(), name.is_reserved()), (is_builtin, is_reserved), "{text}");
    }
}

#[test]
fn a_name_is_the_same_in_every_form_it_is_written_in() {
    for (text, parts) in [
        ("local/read", (None, "local", "read")),
        ("team/read", (None, "team", "read")),
        ("prod:team/read", (Some("prod"), "team", "read")),
    ] {
        let name = name(text);
        assert_eq!((name.server(), name.namespace(), name.name()), parts);
        assert_eq!(name.as_str(), text);
        assert_eq!(name.to_string(), text);
        assert_eq!(String::from(name.clone()), text);
        assert_eq!(serde_json::to_string(&name).unwrap(), format!("\"{text}\""));
    }

    let wire = WireName::new("team__read").unwrap();
    assert_eq!(wire.as_str(), "team__read");
    assert_eq!(format!("{wire:>12}"), "  team__read");
    assert_eq!(String::from(wire.clone()), "team__read");
    assert_eq!(serde_json::to_string(&wire).unwrap(), "\"team__read\"");

    let path = LogicalPath::new("src/lib.rs");
    assert_eq!(path.as_str(), "src/lib.rs");
    assert_eq!(format!("{path:>12}"), "  src/lib.rs");
}

/// Makes a table in which the plain spelling of `local/search` is taken, and those with so many digits of its digest.
fn taken(digits: &[usize]) -> WireNames {
    let digest = Digest::of_bytes("local/search").to_string();
    let mut wire = WireNames::new();
    wire.assign(&name("builtin/search"));
    for digits in digits {
        // The longest leave room for one letter of the name.
        let head = &"search"[..6.min(63 - digits)];
        wire.assign(&name(&format!("{head}_{}", &digest[..*digits])));
    }
    wire
}

#[test]
fn a_spelling_that_somebody_took_on_purpose_gets_more_of_the_digest() {
    let digest = Digest::of_bytes("local/search").to_string();
    let spelled = |digits: &[usize]| taken(digits).assign(&name("search")).to_string();
    assert_eq!(spelled(&[]), format!("search_{}", &digest[..8]));
    assert_eq!(spelled(&[8]), format!("search_{}", &digest[..16]));
    assert_eq!(spelled(&[8, 16, 24, 32, 40, 48, 56]), format!("s_{}", &digest[..62]));
}

#[test]
fn a_name_all_of_whose_spellings_are_taken_is_numbered() {
    let all = [8, 16, 24, 32, 40, 48, 56, 62];
    let search = name("search");

    let mut wire = taken(&all);
    assert_eq!(wire.assign(&search).as_str(), "tool_9", "there are nine names before it");
    assert_eq!(wire.resolve("tool_9"), Some(&search));

    let mut wire = taken(&all);
    wire.assign(&name("tool_10"));
    wire.assign(&name("tool_11"));
    wire.assign(&name("tool_12"));
    assert_eq!(wire.assign(&search).as_str(), "tool_13", "a number that is taken is passed over");
}
