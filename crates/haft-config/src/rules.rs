//! Reading `[[rules]]`.

use haft_policy::{CommandPattern, PathPattern, PolicyError, Rule, RuleAccess, ToolPattern};
use haft_protocol::limits::{RULE_PATTERNS, RULES_PATTERN_TOKENS};
use haft_protocol::{Capability, Decision};

use crate::document::{Document, escaped};
use crate::read::{Node, Values};
use crate::settings::nearest;
use crate::{ConfigError, Problem};

/// The keys of a rule.
const KEYS: &[&str] = &[
    "decision",
    "tool",
    "tools",
    "path",
    "paths",
    "command",
    "commands",
    "capabilities",
    "access",
    "reason",
];

const DECISIONS: [(&str, Decision); 3] =
    [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];

const ACCESSES: [(&str, RuleAccess); 2] =
    [("read", RuleAccess::Read), ("write", RuleAccess::Write)];

/// Reads one rule into the values of its layer.
pub(crate) fn rule(
    document: &Document<'_>,
    node: &Node<'_>,
    values: &mut Values,
) -> Result<(), ConfigError> {
    let table = document.table("rules", node)?;
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&&**key.get_ref())) {
        return Err(document.unknown("rules.", key, KEYS));
    }
    let decision = match table.get("decision") {
        Some(node) => word(document, "rules.decision", "a decision", &DECISIONS, node)?,
        None => return Err(document.at(node, Problem::NoDecision)),
    };
    let mut rule = Rule::new(decision).with_origin(document.origin_of(node.span()));
    for node in one_or_many(document, node, "tool", "tools")? {
        let pattern = document.text("rules.tool", node)?.parse::<ToolPattern>();
        let pattern = pattern.map_err(|it| document.at(node, Problem::Policy(it)))?;
        values.hold(document, node, pattern.as_str(), pattern.tokens())?;
        rule = rule.tool(pattern);
    }
    for node in one_or_many(document, node, "path", "paths")? {
        let pattern = document.text("rules.path", node)?.parse::<PathPattern>();
        let pattern = pattern.map_err(|it| document.at(node, Problem::Policy(it)))?;
        values.hold(document, node, pattern.as_str(), pattern.tokens())?;
        rule = rule.path(pattern);
    }
    for node in one_or_many(document, node, "command", "commands")? {
        let pattern = document.text("rules.command", node)?.parse::<CommandPattern>();
        let pattern = pattern.map_err(|it| document.at(node, Problem::Policy(it)))?;
        values.hold(document, node, pattern.as_str(), pattern.tokens())?;
        rule = rule.command(pattern);
    }
    if let Some(node) = table.get("capabilities") {
        let capabilities = Capability::ALL.map(|capability| (capability.as_str(), capability));
        for node in some(document, "capabilities", node)? {
            let key = "rules.capabilities";
            rule = rule.capability(word(document, key, "a capability", &capabilities, node)?);
        }
    }
    if let Some(node) = table.get("access") {
        rule = rule.access(word(document, "rules.access", "an access", &ACCESSES, node)?);
    }
    if let Some(node) = table.get("reason") {
        rule = rule.reason(document.text("rules.reason", node)?);
    }
    rule.check().map_err(|it| document.at(node, Problem::Policy(it)))?;
    values.rules.push(rule);
    Ok(())
}

impl Values {
    /// Counts what a pattern takes up, before all of them together are too much.
    fn hold(
        &mut self,
        document: &Document<'_>,
        node: &Node<'_>,
        pattern: &str,
        tokens: usize,
    ) -> Result<(), ConfigError> {
        self.pattern_tokens += tokens;
        if self.pattern_tokens <= RULES_PATTERN_TOKENS {
            return Ok(());
        }
        let (rule, limit) = (escaped(pattern), RULES_PATTERN_TOKENS);
        Err(document.at(node, Problem::Policy(PolicyError::RulesTooLarge { rule, limit })))
    }
}

/// Reads a key that takes one text, or its plural that takes a list.
fn one_or_many<'n, 't>(
    document: &Document<'_>,
    rule: &'n Node<'t>,
    one: &'static str,
    many: &'static str,
) -> Result<&'n [Node<'t>], ConfigError> {
    let table = document.table("rules", rule)?;
    match (table.get(one), table.get(many)) {
        (None, None) => Ok(&[]),
        (Some(node), None) if node.get_ref().is_array() => {
            Err(document.at(node, Problem::ListOfOne { one, many }))
        }
        (Some(node), None) => Ok(std::slice::from_ref(node)),
        (None, Some(node)) => some(document, many, node),
        (Some(_), Some(node)) => Err(document.at(node, Problem::Twice { one, other: many })),
    }
}

/// Reads a list that is not empty.
fn some<'n, 't>(
    document: &Document<'_>,
    key: &str,
    node: &'n Node<'t>,
) -> Result<&'n [Node<'t>], ConfigError> {
    let key = format!("rules.{key}");
    let list = document.list(&key, node)?;
    if list.is_empty() {
        Err(document.at(node, Problem::Empty { key }))
    } else if list.len() > RULE_PATTERNS {
        Err(document.too_many("patterns of one rule", list.len(), RULE_PATTERNS, node))
    } else {
        Ok(list)
    }
}

fn word<T: Copy>(
    document: &Document<'_>,
    key: &str,
    what: &'static str,
    words: &[(&'static str, T)],
    node: &Node<'_>,
) -> Result<T, ConfigError> {
    let text = document.text(key, node)?;
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let expected: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let nearest = nearest(text, expected.iter().copied());
        let value = escaped(text);
        document.at(node, Problem::UnknownWord { value, what, nearest, expected })
    })
}
