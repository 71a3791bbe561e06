//! Configuration in layers, each value with its origin, and trust of project files by digest.
//!
//! Values come from what is built in, the user's file, the project's `.haft/config.toml`, variables of the environment
//! and flags, each layer over the one before. This crate opens nothing and reads no environment: a face hands in the
//! paths, the variables, the flags, and a [`Door`] that reads files.
//!
//! ```
//! use std::path::Path;
//! use haft_config::{Config, Sources};
//! use haft_policy::Preset;
//!
//! let files = |path: &Path| -> std::io::Result<Option<Vec<u8>>> {
//!     Ok(path.ends_with("project/.haft/config.toml").then(|| b"preset = \"read-only\"".to_vec()))
//! };
//! let sources = Sources { project: Some(Path::new("/home/me/project")), ..Sources::default() };
//! let config = Config::load(&sources, &files)?;
//!
//! // Nobody trusts the project's file yet, and yet it may narrow.
//! assert_eq!(config.preset, Preset::ReadOnly);
//! assert_eq!(config.origin("preset").to_string(), ".haft/config.toml:1");
//! let policy = config.policy(&[], false)?;
//! # Ok::<(), haft_config::ConfigError>(())
//! ```
//!
//! # A file
//!
//! ```toml
//! preset = "edit"                     # read-only, edit or full
//!
//! [[rules]]
//! decision = "deny"                   # allow, ask or deny
//! tool = "*"                          # or: tools = ["edit", "github:*"]
//! path = "secrets/**"                 # or: paths = […]
//! access = "write"                    # read or write
//! capabilities = ["write_files"]
//! reason = "keys are handed out by the operator"
//!
//! [protection]
//! extra = ["*.pem"]                   # names that no tool reads
//! except = [".env.example"]           # not from a project that nobody trusts
//!
//! [roots]
//! extra = ["/srv/data"]               # not from a project that nobody trusts
//!
//! [limits]
//! permits = 4                         # a project that nobody trusts may only lower
//!
//! [journal]
//! retention_days = 14                 # not from a project that nobody trusts
//!
//! [model]
//! default = "fast"                    # this and all below: not from a project that nobody trusts
//!
//! [models.fast]
//! model = "anthropic/claude-haiku-4-5"
//! price = { input = 1, output = 5 }   # US dollars for a million tokens
//!
//! [models.box]
//! base_url = "https://box.example:8443/v1"
//! key_env = "BOX_KEY"
//!
//! [aliases.changes]                   # a tool with some arguments fixed, under a name of your own
//! tool = "reader"
//! arguments = { action = "read", path = "CHANGELOG.md" }
//! ```
//!
//! An unknown key, a value of another type or out of range, or a pattern that cannot be read is an error with file,
//! line and column: a slip never means the permissive default.
//!
//! # Trust
//!
//! Whoever wrote the project wrote its `.haft/config.toml`. Until a person trusts exactly these bytes, by their digest
//! in a [`Trust`] file of the user's, the file may only narrow; what it may not do is [reported](Config::dropped) and
//! not followed. A changed file has to be trusted anew.
//!
//! Not here: what rules mean (`haft-policy`), where the user's folders are (the faces), writing files (whoever asked).

mod aliases;
mod config;
mod document;
mod error;
mod merge;
mod models;
mod read;
mod rules;
mod settings;
mod sources;
mod trust;

pub use aliases::AliasEntry;
pub use config::{Config, Journal, Limits, Programs, ProjectFile, Protection};
pub use error::{ConfigError, Place, Problem};
pub use merge::Dropped;
pub use models::{ModelEntry, ModelPrice};
pub use settings::Setting;
pub use sources::{Door, Environment, Flags, Sources};
pub use trust::{PROJECT_FILE, Trust, TrustError};
