//! What has to be true of every line that is read as the name of a tool.
//!
//! The fuzz target runs this on inputs it invents, an ordinary test on those that were kept.

use haft_protocol::{QualifiedName, WireName, WireNames};

/// Reads each line as a name, then spells all that were names into one table.
pub(crate) fn check(input: &[u8]) {
    let mut table = WireNames::new();
    let mut spelled: Vec<(QualifiedName, WireName)> = Vec::new();
    for line in String::from_utf8_lossy(input).lines() {
        // What a wire name refuses is never handed to a model; both refusals are fit for a message.
        if let Err(error) = WireName::new(line) {
            assert!(error.to_string().chars().all(|character| !character.is_control()));
        }
        match line.parse::<QualifiedName>() {
            Ok(name) => {
                assert_eq!(name.to_string().parse(), Ok(name.clone()), "{name} does not read back");
                spelled.push((name.clone(), table.assign(&name)));
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.chars().all(|character| !character.is_control()), "{text:?}");
                assert!(text.len() < 2000, "the message grows with the input: {}", text.len());
            }
        }
    }
    for (name, wire) in &spelled {
        assert!(WireName::new(wire.as_str()).is_ok(), "{wire} is no wire name");
        assert_eq!(table.resolve(wire.as_str()), Some(name), "{wire} leads elsewhere");
        assert_eq!(table.wire(name), Some(wire), "{name} was spelled anew");
    }
}
