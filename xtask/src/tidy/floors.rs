//! The floors of the house: which crate may depend on which.
//!
//! A crate depends on lower floors, and on its own floor only where the table says so. Test
//! dependencies are free; what only tests may use is on no floor.

use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Violation;

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On a floor: 0 words, 1 contracts, 2 doors, 3 sources, 4 runtime, 5 faces.
    Floor(u8),
    /// Beside the house: used by tests and by people who work on it.
    Development,
}

/// A row of the table: a crate, its place, and the crates of its own floor that it may use.
struct Room {
    name: &'static str,
    place: Place,
    own_floor: &'static [&'static str],
}

const fn room(name: &'static str, floor: u8, own_floor: &'static [&'static str]) -> Room {
    Room { name, place: Place::Floor(floor), own_floor }
}

const fn beside(name: &'static str) -> Room {
    Room { name, place: Place::Development, own_floor: &[] }
}

/// The whole house, with the rooms that are planned but not built.
#[rustfmt::skip]
const HOUSE: &[Room] = &[
    room("haft-protocol", 0, &[]),
    room("haft-schema", 0, &["haft-protocol"]),
    room("haft-text", 0, &[]),
    room("haft-policy", 0, &["haft-protocol"]),
    room("haft-lndl", 0, &[]),
    room("haft-tool", 1, &["haft-macros"]),
    room("haft-macros", 1, &[]),
    room("haft-model", 1, &[]),
    room("haft-config", 1, &[]),
    room("haft-workspace", 2, &[]),
    room("haft-process", 2, &[]),
    room("haft-net", 2, &[]),
    room("haft-store", 2, &[]),
    room("haft-coding", 3, &["haft-syntax"]),
    room("haft-syntax", 3, &[]),
    room("haft-mcp", 3, &[]),
    room("haft-skills", 3, &[]),
    room("haft-custom", 3, &[]),
    room("haft-providers", 3, &[]),
    room("haft-session", 4, &[]),
    room("haft-agent", 4, &["haft-session"]),
    room("haft-flow", 4, &["haft-agent", "haft-session"]),
    room("haft-engine", 4, &["haft-flow", "haft-agent", "haft-session"]),
    room("haft", 5, &[]),
    room("haft-cli", 5, &["haft"]),
    room("haft-server", 5, &["haft"]),
    beside("haft-testkit"),
    beside("xtask"),
];

/// A member of the workspace, as Cargo sees it.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// The folder that holds the manifest, from the root of the repository.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) manifest: String,
}

/// A line of a manifest.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) for_tests: bool,
}

impl Crate {
    pub(crate) fn manifest_path(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// Returns the line of the manifest that first names a dependency.
    pub(crate) fn line_of(&self, dependency: &str) -> usize {
        let names = |line: &str| {
            let rest = line.trim_start().strip_prefix(dependency);
            rest.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
        };
        self.manifest.lines().position(names).map_or(1, |index| index + 1)
    }
}

/// Asks Cargo for the members of the workspace.
pub(crate) fn crates(root: &Path) -> Result<Vec<Crate>> {
    let mut command = MetadataCommand::new();
    command.manifest_path(root.join("Cargo.toml")).no_deps();
    let metadata = command.exec().context("cannot read the workspace")?;
    metadata
        .packages
        .into_iter()
        .map(|package| {
            let folder = package.manifest_path.parent().context("a manifest has a folder")?;
            let folder = folder.strip_prefix(root).unwrap_or(folder);
            let dependencies = package.dependencies.iter().map(|dependency| Dependency {
                name: dependency.name.clone(),
                for_tests: dependency.kind == DependencyKind::Development,
            });
            Ok(Crate {
                name: package.name.to_string(),
                folder: folder.as_str().replace('\\', "/"),
                dependencies: dependencies.collect(),
                manifest: std::fs::read_to_string(&package.manifest_path)?,
            })
        })
        .collect()
}

/// Checks every edge between members.
pub(crate) fn check(crates: &[Crate]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for member in crates {
        let path = member.manifest_path();
        let Some(room) = room_of(&member.name) else {
            let text = format!("{} stands on no floor", member.name);
            violations.push(Violation::new(&path, 1, "floors", text));
            continue;
        };
        let folder = match member.name.as_str() {
            "xtask" => "xtask".to_owned(),
            name => format!("crates/{name}"),
        };
        if member.folder != folder {
            let text = format!("{} belongs into {folder}", member.name);
            violations.push(Violation::new(&path, 1, "floors", text));
        }
        for dependency in &member.dependencies {
            if let Some(text) = problem(room, dependency, crates) {
                let line = member.line_of(&dependency.name);
                violations.push(Violation::new(&path, line, "floors", text));
            }
        }
    }
    violations
}

fn problem(from: &Room, dependency: &Dependency, crates: &[Crate]) -> Option<String> {
    let ours = crates.iter().any(|member| member.name == dependency.name);
    let Some(to) = room_of(&dependency.name) else {
        return ours.then(|| format!("{} stands on no floor", dependency.name));
    };
    if dependency.for_tests {
        return None;
    }
    let (from_name, to_name) = (from.name, to.name);
    match (from.place, to.place) {
        (Place::Development, _) => None,
        (Place::Floor(_), Place::Development) => {
            Some(format!("{to_name} is for tests: it goes under dev-dependencies"))
        }
        (Place::Floor(above), Place::Floor(below)) if above > below => None,
        (Place::Floor(here), Place::Floor(there)) if here == there => {
            let allowed = from.own_floor.contains(&to_name);
            let text = format!("{from_name} may not use {to_name} of its own floor {here}");
            (!allowed).then_some(text)
        }
        (Place::Floor(here), Place::Floor(there)) => {
            Some(format!("{from_name} on floor {here} may not use {to_name} on floor {there}"))
        }
    }
}

fn room_of(name: &str) -> Option<&'static Room> {
    HOUSE.iter().find(|room| room.name == name)
}

/// Returns the crates of floor 0.
pub(crate) fn pure_crates() -> impl Iterator<Item = &'static str> {
    HOUSE.iter().filter(|room| room.place == Place::Floor(0)).map(|room| room.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, dependencies: &[(&str, bool)]) -> Crate {
        let lines = dependencies.iter().map(|(name, _)| format!("{name}.workspace = true\n"));
        Crate {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            manifest: lines.collect(),
            dependencies: dependencies
                .iter()
                .map(|(name, for_tests)| Dependency {
                    name: (*name).to_owned(),
                    for_tests: *for_tests,
                })
                .collect(),
        }
    }

    fn texts(member: Crate) -> Vec<String> {
        check(&[member]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_edge_upward_is_caught() {
        assert_eq!(
            texts(member("haft-tool", &[("haft-protocol", false), ("haft-store", false)])),
            [
                "crates/haft-tool/Cargo.toml:2: floors: haft-tool on floor 1 may not use haft-store on floor 2"
            ]
        );
    }

    #[test]
    fn an_edge_on_the_own_floor_needs_a_row() {
        assert!(texts(member("haft-tool", &[("haft-macros", false)])).is_empty());
        assert_eq!(texts(member("haft-macros", &[("haft-tool", false)])).len(), 1);
        assert_eq!(texts(member("haft-store", &[("haft-workspace", false)])).len(), 1);
    }

    #[test]
    fn what_is_for_tests_stays_in_tests() {
        assert!(texts(member("haft-tool", &[("haft-testkit", true)])).is_empty());
        assert_eq!(texts(member("haft-tool", &[("haft-testkit", false)])).len(), 1);
        assert_eq!(texts(member("haft", &[("xtask", false)])).len(), 1);
    }

    #[test]
    fn test_dependencies_may_point_anywhere() {
        assert!(texts(member("haft-tool", &[("haft-cli", true)])).is_empty());
    }

    #[test]
    fn an_unknown_crate_is_caught_and_so_is_an_edge_to_it() {
        assert_eq!(
            texts(member("haft-extra", &[])),
            ["crates/haft-extra/Cargo.toml:1: floors: haft-extra stands on no floor"]
        );
        let both = [member("haft-extra", &[]), member("haft", &[("haft-extra", false)])];
        assert_eq!(check(&both).len(), 2);
    }

    #[test]
    fn a_folder_is_called_like_its_crate() {
        let mut moved = member("haft-tool", &[]);
        moved.folder = "crates/tool".to_owned();
        assert_eq!(
            texts(moved),
            ["crates/tool/Cargo.toml:1: floors: haft-tool belongs into crates/haft-tool"]
        );
    }

    #[test]
    fn every_row_names_rooms_of_its_own_floor() {
        for room in HOUSE {
            for other in room.own_floor {
                assert_eq!(room_of(other).map(|it| it.place), Some(room.place), "{other}");
            }
        }
    }
}
