//! A policy: plain data that decides.

use std::sync::Arc;

use haft_protocol::limits::{RULES, RULES_PATTERN_TOKENS};
use haft_protocol::{Capabilities, Decision, Digest, LogicalPath, QualifiedName};
use serde::{Deserialize, Serialize};

use crate::assess::{Assessment, Case, Ending, Ground};
use crate::error::shown;
use crate::explain::explain;
use crate::rule::Met;
use crate::subject::Effects;
use crate::verdict::PresetSentences;
use crate::{
    Because, CommandPattern, Explanation, Origin, PathFilter, PathPattern, PolicyError, Preset,
    Rule, Subject, ToolPattern, Verdict,
};

/// A preset, rules, and whether somebody said yes beforehand.
///
/// A policy is loaded once and does not change. Its serde form is complete: what is read back decides alike and has the
/// same [digest](Policy::digest). Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Level>", into = "Vec<Level>")]
pub struct Policy {
    /// What each authority on the way to here permits. All of them have to allow a call.
    levels: Arc<[Level]>,
}

/// What one authority permits: the preset and rules of one configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Level {
    pub(crate) preset: Preset,
    #[serde(default)]
    pub(crate) preset_origin: Origin,
    #[serde(default)]
    pub(crate) rules: Vec<Arc<Rule>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_root: Option<LogicalPath>,
    #[serde(default)]
    further_roots: Vec<LogicalPath>,
    /// The directory that calls are confined to, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<LogicalPath>,
    #[serde(default)]
    pub(crate) yes: bool,
    /// Where the user's own configuration is, for hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_file: Option<String>,
    #[serde(skip)]
    pub(crate) preset_sentences: PresetSentences,
}

/// A policy in the making.
#[derive(Debug, Clone)]
pub struct PolicyBuilder(Level);

impl Policy {
    /// Makes a policy for one root.
    ///
    /// # Errors
    ///
    /// Fails as [`PolicyBuilder::build`] does.
    pub fn new(preset: Preset, rules: Vec<Rule>, yes: bool) -> Result<Self, PolicyError> {
        let builder = Self::builder().preset(preset, Origin::default()).rules(rules);
        if yes { builder.yes().build() } else { builder.build() }
    }

    /// Starts a policy with the preset `edit` and no rules.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder(Level::default())
    }

    /// Decides over a call.
    ///
    /// A call with a path that is not resolved is denied.
    pub fn decide(&self, subject: &Subject<'_>) -> Verdict {
        let case = match Case::new(subject) {
            Ok(case) => case,
            Err(path) => {
                let because = Because::unresolved(path);
                return Verdict::new(Decision::Deny, because, subject, PathFilter::shut());
            }
        };
        let filter = PathFilter::new(&self.levels, &case);
        let strictest = self.levels.iter().map(|level| level.decide(&case)).reduce(stricter);
        match strictest {
            Some(Decided { level, assessment, decision, ending }) => {
                let because = Because::of(level, &case, &assessment, ending);
                Verdict::new(decision, because, subject, filter)
            }
            // Not reached: a policy has a level.
            None => Verdict::new(Decision::Deny, Because::nobody(), subject, filter),
        }
    }

    /// Tells why no arguments whatever could make a tool's call allowed or asked about; `None` when some might.
    ///
    /// `ceiling` is what the tool declares. Its calls are taken to have at least one of the declared effects.
    pub fn rules_out(
        &self,
        tool: &QualifiedName,
        alias: Option<&QualifiedName>,
        ceiling: &Capabilities,
    ) -> Option<Because> {
        let effects: Effects = ceiling.effects().collect();
        self.levels.iter().find_map(|level| level.rules_out(tool, alias, effects))
    }

    /// Returns a policy that allows what both allow and asks where either asks: authority only shrinks.
    pub fn narrow(&self, other: &Policy) -> Self {
        let mut levels = self.levels.to_vec();
        for level in other.levels.iter() {
            if !levels.contains(level) {
                levels.push(level.clone());
            }
        }
        Self { levels: levels.into() }
    }

    /// Returns the directories that calls are confined to, one for each authority that said so.
    pub fn within(&self) -> impl Iterator<Item = &LogicalPath> {
        self.levels.iter().filter_map(|level| level.within.as_ref())
    }

    /// Explains what [`Policy::decide`] says: every rule it considered, and what came of it.
    pub fn explain(&self, subject: &Subject<'_>) -> Explanation {
        explain(&self.levels, subject, &self.decide(subject))
    }

    /// Returns the rules, in the order they were given.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.levels.iter().flat_map(|level| level.rules.iter().map(|rule| &**rule))
    }

    /// Returns the rules that name none of these tools and aliases, which may be a slip of the pen.
    pub fn idle_rules<'a>(
        &'a self,
        tools: impl IntoIterator<Item = &'a QualifiedName>,
    ) -> Vec<&'a Rule> {
        let mut idle: Vec<&Rule> = self.rules().collect();
        for tool in tools {
            idle.retain(|rule| !rule.names(tool, None));
        }
        idle
    }

    /// Returns the patterns that are full paths into none of the roots, and so are about nothing here, each with its rule.
    pub fn astray(&self) -> impl Iterator<Item = (&Rule, &PathPattern)> {
        self.levels.iter().flat_map(|level| {
            let roots: Vec<LogicalPath> =
                level.first_root.iter().chain(&level.further_roots).cloned().collect();
            level.rules.iter().flat_map(move |rule| {
                let astray = |path: &&PathPattern| path.is_astray(&roots);
                let astray: Vec<_> = rule.paths().iter().filter(astray).collect();
                astray.into_iter().map(move |path| (&**rule, path))
            })
        })
    }

    /// Returns the presets, one for each authority that narrowed the policy.
    pub fn presets(&self) -> impl Iterator<Item = Preset> {
        self.levels.iter().map(|level| level.preset)
    }

    /// Digests everything the policy decides by, and where it comes from.
    pub fn digest(&self) -> Digest {
        let levels: Vec<Digest> = self.levels.iter().map(Level::digest).collect();
        Digest::of_parts(levels.iter().map(|digest| digest.as_bytes().as_slice()))
    }
}

impl Default for Policy {
    /// Makes the policy with the preset `edit` and no rules.
    fn default() -> Self {
        Self { levels: Arc::new([Level::default()]) }
    }
}

struct Decided<'l> {
    level: &'l Level,
    assessment: Assessment<'l>,
    decision: Decision,
    ending: Ending,
}

fn stricter<'l>(one: Decided<'l>, other: Decided<'l>) -> Decided<'l> {
    if other.decision > one.decision { other } else { one }
}

impl Level {
    fn decide(&self, case: &Case<'_>) -> Decided<'_> {
        let assessment = self.assess(case);
        let (decision, ending) = Ending::of(&assessment, self.yes, case);
        Decided { level: self, assessment, decision, ending }
    }

    fn rules_out(
        &self,
        tool: &QualifiedName,
        alias: Option<&QualifiedName>,
        ceiling: Effects,
    ) -> Option<Because> {
        let mut named = self.rules.iter().filter(|rule| rule.names(tool, alias));
        if let Some(rule) = named.clone().find(|rule| rule.denies_all(ceiling)) {
            let ground = Ground::Rule { rule, met: Met::Call };
            return Some(Because::ruled_out(self, tool, ground));
        }
        let denies = |effect| self.preset.decision(effect) == Decision::Deny;
        let all_denied = !ceiling.is_empty() && ceiling.iter().all(denies);
        let lifts = |rule: &Arc<Rule>| {
            rule.could_allow(ceiling) && !rule.is_ignored() && self.lifts_preset(rule)
        };
        if all_denied && !named.any(lifts) {
            let ground = Ground::Preset { decision: Decision::Deny, effects: ceiling };
            return Some(Because::ruled_out(self, tool, ground));
        }
        None
    }

    fn check(&self) -> Result<(), PolicyError> {
        if self.rules.len() > RULES {
            return Err(PolicyError::TooMany {
                what: "rules",
                count: self.rules.len(),
                limit: RULES,
            });
        }
        let mut tokens = 0;
        for rule in &self.rules {
            rule.check()?;
            tokens += rule.tools().iter().map(ToolPattern::tokens).sum::<usize>();
            tokens += rule.paths().iter().map(PathPattern::tokens).sum::<usize>();
            tokens += rule.commands().iter().map(CommandPattern::tokens).sum::<usize>();
            if tokens > RULES_PATTERN_TOKENS {
                return Err(PolicyError::RulesTooLarge {
                    rule: shown(&rule.to_string()),
                    limit: RULES_PATTERN_TOKENS,
                });
            }
        }
        Ok(())
    }

    /// Looks up where the full paths of patterns lead in the first root.
    fn find_first_root(&mut self) {
        let Some(root) = &self.first_root else { return };
        for rule in &mut self.rules {
            if rule.paths().iter().any(PathPattern::is_absolute) {
                *rule = Arc::new(rule.in_first_root(root));
            }
        }
    }

    fn digest(&self) -> Digest {
        let mut parts = vec![self.preset.to_string(), self.yes.to_string()];
        parts.extend(feed(&self.preset_origin));
        parts.push(self.first_root.as_ref().map(ToString::to_string).unwrap_or_default());
        parts.push(self.further_roots.len().to_string());
        parts.extend(self.further_roots.iter().map(ToString::to_string));
        for rule in &self.rules {
            parts.push(rule.to_toml());
            parts.extend(feed(rule.origin()));
        }
        parts.extend(self.within.as_ref().map(|it| format!("within {it}")));
        Digest::of_parts(parts.iter().map(String::as_bytes))
    }
}

fn feed(origin: &Origin) -> [String; 5] {
    [
        origin.layer.to_string(),
        origin.trusted.to_string(),
        origin.file.clone().unwrap_or_default(),
        origin.line.unwrap_or_default().to_string(),
        origin.text.clone(),
    ]
}

impl PolicyBuilder {
    /// Sets the preset, and where it comes from.
    ///
    /// A rule that allows lifts a *deny* of the preset only when it comes from the same layer or a later one:
    /// `--preset read-only` holds against what the user's file allows.
    pub fn preset(mut self, preset: Preset, origin: Origin) -> Self {
        self.0.preset = preset;
        self.0.preset_origin = origin;
        self
    }

    /// Adds a rule.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.0.rules.push(Arc::new(rule));
        self
    }

    /// Adds rules.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.0.rules.extend(rules.into_iter().map(Arc::new));
        self
    }

    /// Gives the full name of the first root, so that patterns that are full paths match in it.
    pub fn first_root(mut self, root: LogicalPath) -> Self {
        self.0.first_root = Some(root);
        self
    }

    /// Names a root beside the first one.
    pub fn further_root(mut self, root: LogicalPath) -> Self {
        self.0.further_roots.push(root);
        self
    }

    /// Confines calls to a directory, which is relative to the first root.
    ///
    /// What reads or changes files is denied unless it is bound to paths in that directory alone, and sees none but
    /// those. What runs programs is denied, for nothing holds a program to a part of a root.
    pub fn within(mut self, directory: LogicalPath) -> Self {
        self.0.within = Some(directory);
        self
    }

    /// Says yes beforehand to what rules and the preset would ask. A deny stays a deny, and a tool that always asks
    /// still asks.
    pub fn yes(mut self) -> Self {
        self.0.yes = true;
        self
    }

    /// Names the file of the user's configuration, there or not, so that hints say where a rule is to be written.
    pub fn user_file(mut self, file: impl Into<String>) -> Self {
        self.0.user_file = Some(file.into());
        self
    }

    /// Checks the policy.
    ///
    /// # Errors
    ///
    /// Fails for a rule without conditions, and for more rules or patterns than a policy takes.
    pub fn build(self) -> Result<Policy, PolicyError> {
        Policy::try_from(vec![self.0])
    }
}

impl TryFrom<Vec<Level>> for Policy {
    type Error = PolicyError;

    fn try_from(mut levels: Vec<Level>) -> Result<Self, PolicyError> {
        if levels.is_empty() {
            return Err(PolicyError::NoLevel);
        }
        levels.iter().try_for_each(Level::check)?;
        levels.iter_mut().for_each(Level::find_first_root);
        Ok(Self { levels: levels.into() })
    }
}

impl From<Policy> for Vec<Level> {
    fn from(policy: Policy) -> Self {
        policy.levels.to_vec()
    }
}
