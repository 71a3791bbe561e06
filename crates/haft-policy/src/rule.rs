//! One line of policy.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use haft_protocol::limits::{RULE_PATTERNS, RULE_REASON_BYTES};
use haft_protocol::{Access, Capability, Decision, LogicalPath, QualifiedName};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::assess::Case;
use crate::coverage;
use crate::error::{escaped, shown};
use crate::path_pattern::Trail;
use crate::subject::Effects;
use crate::{CommandPattern, Origin, PathPattern, PolicyError, ToolPattern};

/// One line of policy: a decision, and the calls it is about.
///
/// A rule matches when each of its conditions does; a condition that is left out matches every call, and at least one
/// has to be there. What a condition means depends on the decision, so that a doubtful call is never allowed:
///
/// | condition | to deny or ask | to allow |
/// |---|---|---|
/// | tools | the canonical name or the alias matches | the same |
/// | paths | some bound path, or a directory above it, matches | every bound path matches, and there is one |
/// | capabilities | the call has one of them | the call has nothing else |
/// | access | some bound path is accessed so | every bound path is |
/// | commands | some command matches, or could | every command matches, and nothing else happens |
///
/// Commands are those of the call's command text or argument vector, and those that they run: see
/// [`Script`](crate::shell::Script). A rule about commands is about no other calls, and a rule is about paths or about
/// commands, not both: what a command does with files is not seen.
///
/// - To deny, one command that [matches](CommandPattern) is enough. Where a program is not known, or something in the text
///   is unclear, a rule that denies **asks**, and a yes that was said beforehand does not answer.
/// - To allow, each command has to match a pattern of some rule that allows; all words are literal; nothing is unclear;
///   nothing is assigned, defined, or redirected but to `/dev/null` and open descriptors, or read from a file; and the text
///   is [plain](crate::shell::Script::is_plain). What a command runs has to match as well as the command itself, save
///   for programs that only run others: `timeout 5 ls` is allowed with `ls`, `sudo ls` with both alone.
///
/// A tree that a call may write as a whole counts as matched for a deny or ask when the pattern could match anything
/// inside, and for an allow when the pattern matches everything inside. To deny or ask about `read` concerns a path
/// bound for writing too, when the call also reads. A rule that allows by paths or access speaks of files: unless it
/// lists capabilities, it does not match a call that does more than read and write files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    decision: Decision,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "some_patterns")]
    tools: Vec<ToolPattern>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "some_patterns")]
    paths: Vec<PathPattern>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "some_patterns")]
    commands: Vec<CommandPattern>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "some_set")]
    capabilities: BTreeSet<Capability>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access: Option<RuleAccess>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default)]
    origin: Origin,
}

/// What a rule says about the access to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleAccess {
    /// Looking at them.
    Read,
    /// Changing them, or whole trees of them.
    Write,
}

impl RuleAccess {
    /// Returns the name used in rules and serde forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    const fn effect(self) -> Capability {
        match self {
            Self::Read => Capability::ReadFiles,
            Self::Write => Capability::WriteFiles,
        }
    }
}

impl fmt::Display for RuleAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An empty list would be read as "no condition", the opposite of what it says.
fn some_patterns<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    if list.is_empty() { Err(de::Error::invalid_length(0, &"at least one")) } else { Ok(list) }
}

fn some_set<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Capability>, D::Error> {
    some_patterns(deserializer).map(|list: Vec<_>| list.into_iter().collect())
}

/// By what a rule is about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Met {
    Call,
    /// The resource of this index.
    Resource(usize),
    /// The command of this index.
    Command(usize),
    /// Something that could be one of its commands.
    Doubt(String),
}

/// Why a rule is not about a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mismatch {
    #[error("names other tools")]
    Tool,
    #[error("the call has none of its capabilities")]
    Capability,
    #[error("the call also has {excess}")]
    Excess { excess: Effects },
    #[error(
        "is about files, and the call also has {excess}: a rule that lists capabilities may allow them"
    )]
    FilesAlone { excess: Effects },
    #[error("the call is bound to no path")]
    NoPath,
    #[error("no bound path that the call could {} lies within", access.map_or("reach", RuleAccess::as_str))]
    Elsewhere { access: Option<RuleAccess> },
    #[error("what it matches beneath `{path}`")]
    Beneath { path: String },
    #[error("`{path}` lies outside")]
    Outside { path: String },
    #[error("the call does not {access} alone")]
    Access { access: RuleAccess },
    #[error("the call runs no command")]
    NoCommand,
    #[error("names other commands")]
    OtherCommands,
    #[error("`{command}` is none of its commands")]
    Uncovered { command: String },
    #[error("{obstacle}")]
    Obstacle { obstacle: String },
}

impl Rule {
    /// Makes a rule without conditions.
    pub fn new(decision: Decision) -> Self {
        Self {
            decision,
            tools: Vec::new(),
            paths: Vec::new(),
            commands: Vec::new(),
            capabilities: BTreeSet::new(),
            access: None,
            reason: None,
            origin: Origin::default(),
        }
    }

    /// Makes a rule that allows.
    pub fn allow() -> Self {
        Self::new(Decision::Allow)
    }

    /// Makes a rule that asks.
    pub fn ask() -> Self {
        Self::new(Decision::Ask)
    }

    /// Makes a rule that denies.
    pub fn deny() -> Self {
        Self::new(Decision::Deny)
    }

    /// Adds a pattern of tools.
    pub fn tool(mut self, pattern: ToolPattern) -> Self {
        self.tools.push(pattern);
        self
    }

    /// Adds a pattern of paths.
    pub fn path(mut self, pattern: PathPattern) -> Self {
        self.paths.push(pattern);
        self
    }

    /// Adds a pattern of commands.
    pub fn command(mut self, pattern: CommandPattern) -> Self {
        self.commands.push(pattern);
        self
    }

    /// Adds a capability.
    pub fn capability(mut self, capability: Capability) -> Self {
        self.capabilities.insert(capability);
        self
    }

    /// Sets the access.
    pub fn access(mut self, access: RuleAccess) -> Self {
        self.access = Some(access);
        self
    }

    /// Sets the reason that whoever meets the rule is given.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Sets where the rule comes from.
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Returns the decision.
    pub const fn decision(&self) -> Decision {
        self.decision
    }

    /// Returns the patterns of tools; none means every tool.
    pub fn tools(&self) -> &[ToolPattern] {
        &self.tools
    }

    /// Returns the patterns of paths; none means that paths do not matter.
    pub fn paths(&self) -> &[PathPattern] {
        &self.paths
    }

    /// Returns the patterns of commands; none means that commands do not matter.
    pub fn commands(&self) -> &[CommandPattern] {
        &self.commands
    }

    /// Returns where the rule comes from.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Tells whether the rule may not be followed because it allows and nobody trusts its file.
    pub fn is_ignored(&self) -> bool {
        self.decision == Decision::Allow && !self.origin.trusted
    }

    /// Returns the rule for a workspace whose first root has this full name.
    pub(crate) fn in_first_root(&self, root: &LogicalPath) -> Self {
        let paths = self.paths.iter().map(|path| path.in_first_root(root)).collect();
        Self { paths, ..self.clone() }
    }

    /// Returns the rule as it would stand in a configuration file.
    pub fn to_toml(&self) -> String {
        let decision = ("decision", quoted(self.decision.as_str()));
        let reason = self.reason.as_ref().map(|reason| ("reason", quoted(reason)));
        let entries = [decision].into_iter().chain(self.entries()).chain(reason);
        let lines = entries.map(|(key, value)| format!("{key} = {value}\n"));
        ["[[rules]]\n".to_owned()].into_iter().chain(lines).collect()
    }

    /// Checks that the rule has a condition, and no more patterns than a rule takes.
    ///
    /// # Errors
    ///
    /// Fails otherwise. A policy checks its rules itself; this is for whoever wants to know sooner.
    pub fn check(&self) -> Result<(), PolicyError> {
        let too_many = |what, count, limit| Err(PolicyError::TooMany { what, count, limit });
        let reason_bytes = self.reason.as_ref().map_or(0, String::len);
        if self.entries().is_empty() {
            Err(PolicyError::Unconditional { rule: self.to_string() })
        } else if self.tools.len() > RULE_PATTERNS {
            too_many("tools of one rule", self.tools.len(), RULE_PATTERNS)
        } else if self.paths.len() > RULE_PATTERNS {
            too_many("paths of one rule", self.paths.len(), RULE_PATTERNS)
        } else if self.commands.len() > RULE_PATTERNS {
            too_many("commands of one rule", self.commands.len(), RULE_PATTERNS)
        } else if !self.commands.is_empty() && self.is_about_files() {
            Err(PolicyError::TwoSubjects { rule: shown(&self.to_string()) })
        } else if reason_bytes > RULE_REASON_BYTES {
            too_many("bytes of a rule's reason", reason_bytes, RULE_REASON_BYTES)
        } else {
            Ok(())
        }
    }

    /// Returns the reason, unless it is the word of a file that nobody trusts: a model would take it for ours.
    pub(crate) fn reason_to_show(&self) -> Option<String> {
        let reason = self.reason.as_ref().filter(|_| self.origin.trusted)?;
        Some(escaped(reason.chars()))
    }

    /// Tells whether the rule is about this call, and by what of it it was met.
    pub(crate) fn fit(&self, case: &Case<'_>) -> Result<Met, Mismatch> {
        if !self.names(case.subject.tool, case.subject.alias) {
            return Err(Mismatch::Tool);
        }
        match self.decision {
            Decision::Allow => self.fit_to_allow(case).map(|()| Met::Call),
            Decision::Ask | Decision::Deny => self.fit_to_restrict(case),
        }
    }

    fn fit_to_restrict(&self, case: &Case<'_>) -> Result<Met, Mismatch> {
        if !self.concerns(case.effects) {
            return Err(Mismatch::Capability);
        }
        if !self.commands.is_empty() {
            let script = case.subject.commands.ok_or(Mismatch::NoCommand)?;
            return coverage::restricted(script, self);
        }
        if !self.is_about_files() {
            return Ok(Met::Call);
        }
        let met = case
            .resources()
            .position(|(resource, trail)| self.restricts(trail, resource.access, case.effects));
        match (met, self.access) {
            (Some(index), _) => Ok(Met::Resource(index)),
            (None, Some(access)) if self.paths.is_empty() && case.effects.has(access.effect()) => {
                Ok(Met::Call)
            }
            (None, _) if case.subject.resources.is_empty() && !self.paths.is_empty() => {
                Err(Mismatch::NoPath)
            }
            (None, access) => Err(match self.reached_beneath(case) {
                Some(path) => Mismatch::Beneath { path },
                None => Mismatch::Elsewhere { access },
            }),
        }
    }

    /// Returns the bound path that a rule does not cover and may match beneath, where it hides what a call looks at.
    fn reached_beneath(&self, case: &Case<'_>) -> Option<String> {
        let hides =
            self.access != Some(RuleAccess::Write) && case.effects.has(Capability::ReadFiles);
        let reaches = |trail: &Trail<'_>| self.paths.iter().any(|it| it.touches_tree(trail));
        let (resource, _) = case.resources().find(|(_, trail)| hides && reaches(trail))?;
        Some(escaped(resource.path.as_str().chars()))
    }

    fn fit_to_allow(&self, case: &Case<'_>) -> Result<(), Mismatch> {
        let excess = case.effects.without(self.allowed());
        if !excess.is_empty() {
            return Err(if self.capabilities.is_empty() {
                Mismatch::FilesAlone { excess }
            } else {
                Mismatch::Excess { excess }
            });
        }
        if !self.commands.is_empty() {
            let script = case.subject.commands.ok_or(Mismatch::NoCommand)?;
            if let Some(obstacle) = case.obstacle.clone() {
                return Err(Mismatch::Obstacle { obstacle });
            }
            return match coverage::uncovered(script, &[self]) {
                Some(command) => Err(Mismatch::Uncovered { command: command.to_string() }),
                None => Ok(()),
            };
        }
        if let Some(access) = self.access {
            let writes = access == RuleAccess::Write;
            let fits = case.effects.has(access.effect())
                && (writes || !case.effects.has(Capability::WriteFiles))
                && case.subject.resources.iter().all(|it| it.access.writes() == writes);
            if !fits {
                return Err(Mismatch::Access { access });
            }
        }
        if self.paths.is_empty() {
            return Ok(());
        }
        if case.subject.resources.is_empty() {
            return Err(Mismatch::NoPath);
        }
        let outside = case.resources().find(|(resource, trail)| {
            !self.paths.iter().any(|pattern| match resource.access {
                Access::Read | Access::Write => pattern.matches_trail(trail),
                Access::ReadTree | Access::WriteTree => pattern.matches_tree(trail),
            })
        });
        match outside {
            Some((resource, _)) => {
                Err(Mismatch::Outside { path: escaped(resource.path.as_str().chars()) })
            }
            None => Ok(()),
        }
    }

    pub(crate) fn names(&self, tool: &QualifiedName, alias: Option<&QualifiedName>) -> bool {
        let matches = |pattern: &ToolPattern| {
            pattern.matches(tool) || alias.is_some_and(|alias| pattern.matches(alias))
        };
        self.tools.is_empty() || self.tools.iter().any(matches)
    }

    /// Tells whether a rule that denies or asks is about calls with these effects.
    pub(crate) fn concerns(&self, effects: Effects) -> bool {
        self.capabilities.is_empty() || effects.meets(self.capabilities.iter().copied().collect())
    }

    /// Tells whether a rule that denies or asks is about this path, for a call it is otherwise about.
    pub(crate) fn restricts(&self, trail: &Trail<'_>, access: Access, effects: Effects) -> bool {
        let accessed = match self.access {
            None => true,
            Some(RuleAccess::Write) => access.writes(),
            Some(RuleAccess::Read) => !access.writes() || effects.has(Capability::ReadFiles),
        };
        accessed
            && (self.paths.is_empty()
                || self.paths.iter().any(|pattern| match access {
                    Access::Read | Access::Write => pattern.covers_trail(trail),
                    Access::ReadTree | Access::WriteTree => pattern.touches_tree(trail),
                }))
    }

    /// Tells whether paths or the access to them matter.
    pub(crate) fn is_about_files(&self) -> bool {
        !self.paths.is_empty() || self.access.is_some()
    }

    /// Tells whether a rule that denies matches every call of a tool with this ceiling, which it names.
    pub(crate) fn denies_all(&self, ceiling: Effects) -> bool {
        let capabilities: Effects = self.capabilities.iter().copied().collect();
        let all_concerned = self.capabilities.is_empty()
            || !ceiling.is_empty() && ceiling.without(capabilities).is_empty();
        let about_all = !self.is_about_files() && self.commands.is_empty();
        self.decision == Decision::Deny && about_all && all_concerned
    }

    /// Tells whether a rule that allows could match some call of a tool with this ceiling, which it names.
    pub(crate) fn could_allow(&self, ceiling: Effects) -> bool {
        self.decision == Decision::Allow && (ceiling.is_empty() || ceiling.meets(self.allowed()))
    }

    fn allowed(&self) -> Effects {
        if !self.capabilities.is_empty() {
            self.capabilities.iter().copied().collect()
        } else if self.is_about_files() {
            Effects::FILES
        } else {
            Capability::ALL.into_iter().collect()
        }
    }

    /// Returns the conditions as keys and values of TOML.
    fn entries(&self) -> Vec<(&'static str, String)> {
        let capabilities: Vec<_> = self.capabilities.iter().map(|it| it.as_str()).collect();
        [
            list("tool", "tools", &self.tools),
            list("path", "paths", &self.paths),
            list("command", "commands", &self.commands),
            list("capabilities", "capabilities", &capabilities),
            self.access.map(|access| ("access", quoted(access.as_str()))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn list<T: fmt::Display>(
    one: &'static str,
    many: &'static str,
    items: &[T],
) -> Option<(&'static str, String)> {
    let quoted: Vec<String> = items.iter().map(|item| quoted(&item.to_string())).collect();
    match quoted.as_slice() {
        [] => None,
        [single] if one != many => Some((one, single.clone())),
        several => Some((many, format!("[{}]", several.join(", ")))),
    }
}

/// Writes a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut toml = String::from('"');
    for character in text.chars() {
        match character {
            '"' => toml.push_str("\\\""),
            '\\' => toml.push_str("\\\\"),
            _ if character.escape_debug().len() == 1 || character == '\'' => toml.push(character),
            _ => write!(toml, "\\U{:08X}", u32::from(character)).unwrap_or_default(),
        }
    }
    toml.push('"');
    toml
}

/// Writes the rule on one line: `deny tool = "search", path = "secrets/**"`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.decision.as_str())?;
        for (index, (key, value)) in self.entries().iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {key} = {value}")?;
        }
        Ok(())
    }
}
