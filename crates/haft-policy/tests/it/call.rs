//! A call to decide over, in a line.

use haft_policy::shell::Script;
use haft_policy::{Policy, Resource, Rule, Subject, Verdict};
use haft_protocol::{Access, CallId, Capabilities, Capability, Digest, LogicalPath, QualifiedName};

#[derive(Debug, Clone)]
pub(crate) struct Call {
    tool: QualifiedName,
    alias: Option<QualifiedName>,
    effects: Vec<Capability>,
    always_ask: bool,
    resources: Vec<Resource>,
    commands: Option<Script>,
}

impl Call {
    pub(crate) fn new(tool: &str, effects: &[Capability]) -> Self {
        Self {
            tool: tool.parse().unwrap(),
            alias: None,
            effects: effects.to_vec(),
            always_ask: false,
            resources: Vec::new(),
            commands: None,
        }
    }

    pub(crate) fn reads(path: &str) -> Self {
        Self::new("builtin/read", &[Capability::ReadFiles]).on(path, Access::Read)
    }

    pub(crate) fn edits(path: &str) -> Self {
        Self::new("builtin/edit", &[Capability::ReadFiles, Capability::WriteFiles])
            .on(path, Access::Write)
    }

    pub(crate) fn runs(text: &str) -> Self {
        Self {
            commands: Some(Script::parse(text)),
            ..Self::new("builtin/bash", &[Capability::Execute])
        }
    }

    pub(crate) fn on(mut self, path: &str, access: Access) -> Self {
        let slot = format!("path{}", self.resources.len());
        self.resources.push(Resource::new(slot, LogicalPath::new(path), access));
        self
    }

    pub(crate) fn by_alias(mut self, alias: &str) -> Self {
        self.alias = Some(alias.parse().unwrap());
        self
    }

    pub(crate) fn always_asking(mut self) -> Self {
        self.always_ask = true;
        self
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&Subject<'_>) -> T) -> T {
        let effects = self.capabilities();
        look(&Subject {
            call: CallId::from_parts(0, 1),
            fingerprint: Digest::of_bytes("fingerprint"),
            arguments_digest: Digest::of_bytes("arguments"),
            tool: &self.tool,
            alias: self.alias.as_ref(),
            effects: &effects,
            resources: &self.resources,
            commands: self.commands.as_ref(),
        })
    }

    pub(crate) fn under(&self, policy: &Policy) -> Verdict {
        self.with(|subject| policy.decide(subject))
    }

    pub(crate) fn tool(&self) -> &QualifiedName {
        &self.tool
    }

    pub(crate) fn alias(&self) -> Option<&QualifiedName> {
        self.alias.as_ref()
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        let builder = self.effects.iter().fold(Capabilities::builder(), |it, one| it.effect(*one));
        if self.always_ask { builder.always_ask() } else { builder }.build().unwrap()
    }
}

/// Reads `deny search on secrets/** .env to write`, where all but the decision may be left out.
pub(crate) fn rule(text: &str) -> Rule {
    let mut words = text.split_whitespace();
    let mut rule = match words.next() {
        Some("allow") => Rule::allow(),
        Some("ask") => Rule::ask(),
        _ => Rule::deny(),
    };
    let mut place = "tools";
    for word in words {
        match (place, word) {
            (_, "on") => place = "paths",
            (_, "to") => place = "access",
            (_, "that") => place = "capabilities",
            ("paths", pattern) => rule = rule.path(pattern.parse().unwrap()),
            ("access", access) => {
                let access = format!("\"{access}\"");
                rule = rule.access(serde_json::from_str(&access).unwrap());
            }
            ("capabilities", capability) => {
                let capability = format!("\"{capability}\"");
                rule = rule.capability(serde_json::from_str(&capability).unwrap());
            }
            (_, pattern) => rule = rule.tool(pattern.parse().unwrap()),
        }
    }
    rule
}
