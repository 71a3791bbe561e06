//! The table of wire names of one branch or connection.

use std::collections::HashMap;

use crate::limits::WIRE_NAME_CHARS;
use crate::{Digest, QualifiedName, WireName};

/// Two-way table between qualified and wire names.
///
/// The first name to ask for a spelling has it for the life of the table; a later name that would be spelled alike gets
/// a suffix made of its digest. Nothing is ever reassigned, so a model's old calls and a provider's cached prompt stay
/// right. Wire names are reversed by this table only, never by taking the text apart.
#[derive(Debug, Clone, Default)]
pub struct WireNames {
    by_name: HashMap<QualifiedName, WireName>,
    by_wire: HashMap<String, QualifiedName>,
}

impl WireNames {
    /// Makes an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the wire name of a tool, assigning one at the first request.
    pub fn assign(&mut self, name: &QualifiedName) -> WireName {
        if let Some(wire) = self.by_name.get(name) {
            return wire.clone();
        }
        let wire = self.free_spelling(name);
        self.by_wire.insert(wire.as_str().to_owned(), name.clone());
        self.by_name.insert(name.clone(), wire.clone());
        wire
    }

    /// Returns the wire name of a tool that has one.
    pub fn wire(&self, name: &QualifiedName) -> Option<&WireName> {
        self.by_name.get(name)
    }

    /// Returns the tool behind a wire name.
    pub fn resolve(&self, wire: &str) -> Option<&QualifiedName> {
        self.by_wire.get(wire)
    }

    fn free_spelling(&self, name: &QualifiedName) -> WireName {
        let plain = plain_spelling(name);
        if plain.len() <= WIRE_NAME_CHARS && !self.by_wire.contains_key(&plain) {
            return WireName::spelled(plain);
        }
        let digest = Digest::of_bytes(name.to_string()).to_string();
        // A longer piece of the digest is needed only when someone chose a name to collide with eight digits of it.
        let spelled = (8..=digest.len()).step_by(8).find_map(|digits| {
            let suffix: String = digest.chars().take(digits.min(WIRE_NAME_CHARS - 2)).collect();
            let room = WIRE_NAME_CHARS - 1 - suffix.len();
            let head: String = plain.chars().take(room).collect();
            let spelled = format!("{head}_{suffix}");
            (!self.by_wire.contains_key(&spelled)).then_some(spelled)
        });
        WireName::spelled(spelled.unwrap_or_else(|| self.numbered_spelling()))
    }

    /// Finds a spelling when every digest suffix is taken, which takes a broken SHA-256 or a hostile table.
    fn numbered_spelling(&self) -> String {
        let mut number = self.by_wire.len();
        loop {
            let spelled = format!("tool_{number}");
            if !self.by_wire.contains_key(&spelled) {
                return spelled;
            }
            number += 1;
        }
    }
}

/// Spells a name without regard to length or neighbours. `local` and `builtin` are left out.
fn plain_spelling(name: &QualifiedName) -> String {
    let parts: Vec<&str> = if name.has_plain_namespace() {
        vec![name.name()]
    } else {
        name.server().into_iter().chain([name.namespace(), name.name()]).collect()
    };
    parts.join("__").replace('-', "_")
}
