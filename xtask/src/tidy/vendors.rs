//! Crates of others that open something: who may depend on them.
//!
//! The floors say which of our crates know each other; this table keeps the libraries behind
//! a door from being used around it.

use super::Violation;
use super::floors::{self, Crate};

/// What a library reaches, and the crates that may use it.
struct Vendor {
    names: &'static [&'static str],
    users: &'static [&'static str],
    what: &'static str,
}

const VENDORS: &[Vendor] = &[
    Vendor {
        names: &["cap-std", "cap-primitives", "cap-tempfile", "ignore", "walkdir"],
        users: &["haft-workspace", "haft-store"],
        what: "opens files",
    },
    Vendor {
        names: &["rustix", "nix"],
        users: &["haft-workspace", "haft-store", "haft-process"],
        what: "calls the system",
    },
    Vendor { names: &["rusqlite"], users: &["haft-store"], what: "opens the state database" },
    Vendor {
        names: &["process-wrap", "portable-pty", "landlock", "seccompiler"],
        users: &["haft-process"],
        what: "starts or confines processes",
    },
    Vendor {
        names: &["reqwest", "rustls", "rustls-platform-verifier", "sse-stream"],
        users: &["haft-net"],
        what: "dials out",
    },
    Vendor {
        names: &["hyper", "hyper-util"],
        users: &["haft-net", "haft-mcp"],
        what: "speaks HTTP",
    },
    Vendor { names: &["rmcp"], users: &["haft-mcp"], what: "speaks MCP" },
    Vendor { names: &["axum"], users: &["haft-server"], what: "listens" },
    Vendor {
        names: &["ast-grep-core", "ast-grep-language"],
        users: &["haft-syntax"],
        what: "parses source files",
    },
    Vendor {
        names: &["tree-sitter"],
        users: &["haft-syntax", "haft-policy"],
        what: "parses source files and command texts",
    },
    Vendor { names: &["tree-sitter-bash"], users: &["haft-policy"], what: "parses command texts" },
    Vendor {
        names: &["anyhow", "clap", "clap_complete", "clap_mangen", "indicatif", "anstream"],
        users: &["haft-cli", "haft-server"],
        what: "belongs to a face",
    },
    Vendor {
        names: &["tracing-subscriber"],
        users: &["haft-cli", "haft-server"],
        what: "is chosen by whoever owns the process",
    },
];

/// Libraries that bring time, chance or a runtime, which floor 0 takes as arguments.
const IMPURE: &[&str] = &["tokio", "tokio-util", "futures-util", "getrandom", "rand", "tempfile"];

/// Checks the manifests of all members that are part of the product.
pub(crate) fn check(crates: &[Crate]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for member in crates.iter().filter(|member| !is_development(&member.name)) {
        let pure = floors::pure_crates().any(|name| name == member.name);
        for dependency in member.dependencies.iter().filter(|dependency| !dependency.for_tests) {
            let name = dependency.name.as_str();
            let mut say = |text: String| {
                let line = member.line_of(name);
                violations.push(Violation::new(&member.manifest_path(), line, "vendors", text));
            };
            if let Some(vendor) = VENDORS.iter().find(|vendor| vendor.names.contains(&name))
                && !vendor.users.contains(&member.name.as_str())
            {
                let users = vendor.users.join(", ");
                say(format!("{name} {}; it is for {users}", vendor.what));
            }
            if pure && IMPURE.contains(&name) {
                say(format!("floor 0 is pure: what {name} brings arrives as an argument"));
            }
        }
    }
    violations
}

fn is_development(name: &str) -> bool {
    matches!(name, "haft-testkit" | "xtask")
}

#[cfg(test)]
mod tests {
    use super::super::floors::Dependency;
    use super::*;

    fn texts(name: &str, dependency: &str, for_tests: bool) -> Vec<String> {
        let member = Crate {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            manifest: format!("[dependencies]\n{dependency} = \"1\"\n"),
            dependencies: vec![Dependency { name: dependency.to_owned(), for_tests }],
        };
        check(&[member]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_library_is_used_behind_its_door_only() {
        assert_eq!(
            texts("haft-coding", "rusqlite", false),
            [
                "crates/haft-coding/Cargo.toml:2: vendors: rusqlite opens the state database; it is for haft-store"
            ]
        );
        assert!(texts("haft-store", "rusqlite", false).is_empty());
        assert!(texts("haft-coding", "rusqlite", true).is_empty());
        assert!(texts("haft-testkit", "anyhow", false).is_empty());
    }

    #[test]
    fn floor_0_takes_no_runtime() {
        assert_eq!(texts("haft-policy", "tokio", false).len(), 1);
        assert!(texts("haft-tool", "tokio", false).is_empty());
    }
}
