//! Pure decisions about calls: rules, presets, verdicts, explanations.
//!
//! A [`Policy`] is plain data: a preset, rules, and whether somebody said yes beforehand. It decides over a [`Subject`],
//! which is one call with its final arguments and *resolved* resources, and answers with a [`Verdict`] that is good for
//! that call alone. It knows no files, no clock and no tools; the same subject always gets the same verdict.
//!
//! ```
//! use haft_policy::{Policy, Preset, Resource, Rule, Subject};
//! use haft_protocol::{Access, CallId, Capabilities, Decision, Digest, LogicalPath, QualifiedName};
//!
//! let rules = vec![Rule::deny().tool("*".parse()?).path("secrets/**".parse()?)];
//! let policy = Policy::new(Preset::Edit, rules, false)?;
//!
//! let tool: QualifiedName = "builtin/read".parse()?;
//! let verdict = policy.decide(&Subject {
//!     call: CallId::from_parts(0, 1),
//!     fingerprint: Digest::of_bytes("read"),
//!     arguments_digest: Digest::of_bytes("{}"),
//!     tool: &tool,
//!     alias: None,
//!     effects: &Capabilities::read_only(),
//!     resources: &[Resource::new("path", LogicalPath::new("secrets/key"), Access::Read)],
//!     commands: None,
//! });
//! assert_eq!(verdict.decision(), Decision::Deny);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a call is decided
//!
//! 1. A **deny** rule that matches wins, wherever it stands.
//! 2. Otherwise an **allow** rule that matches is the answer, and without one the **preset** is.
//! 3. An **ask** rule that matches turns an allow into an ask. It never softens a deny of the preset.
//! 4. `yes` turns an ask of a rule or of a preset into an allow. It never answers a deny.
//! 5. A tool that declares [`Approval::Always`](haft_protocol::Approval::Always) is asked about even so.
//!
//! A path rule looks at resolved paths only. To deny or ask, one bound path within the pattern is enough, and a pattern
//! covers everything beneath what it matches. To allow, *every* bound path has to match, and a call without paths never
//! does. A rule about commands looks at every command that a text runs, never at its first word: see [`shell`]. See
//! [`Rule`], [`ToolPattern`], [`PathPattern`] and [`CommandPattern`] for the exact words, [`Preset`] for the three presets.
//!
//! Not here: reading rules from files (`haft-config`), asking people and running calls (`haft-tool`), the names that are
//! protected whatever the rules say (`haft-workspace`).

mod assess;
mod command_pattern;
mod coverage;
mod error;
mod explain;
mod filter;
mod glob;
mod hint;
mod origin;
mod path_pattern;
mod policy;
mod preset;
mod rule;
pub mod shell;
mod subject;
mod tool_pattern;
mod verdict;

pub use command_pattern::CommandPattern;
pub use error::{PatternProblem, PolicyError};
pub use explain::{CommandExplanation, Explanation, LevelExplanation, RuleExplanation, Standing};
pub use filter::PathFilter;
pub use origin::{Layer, Origin};
pub use path_pattern::PathPattern;
pub use policy::{Policy, PolicyBuilder};
pub use preset::Preset;
pub use rule::{Rule, RuleAccess};
pub use subject::{Resource, Subject};
pub use tool_pattern::ToolPattern;
pub use verdict::{Because, Verdict};
