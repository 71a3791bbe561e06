//! What a policy answers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use haft_protocol::{
    CallId, Control, Decision, DecisionRecord, Denial, Digest, LogicalPath, QualifiedName,
};
use serde::Serialize;

use crate::assess::{Assessment, Case, Ending, Escape, Ground};
use crate::error::escaped;
use crate::hint;
use crate::policy::Level;
use crate::rule::Met;
use crate::subject::Effects;
use crate::{PathFilter, Subject};

/// What a policy says about one call, good for that call and no other.
///
/// Only [`Policy::decide`](crate::Policy::decide) makes verdicts, and they cannot be read from data.
#[derive(Debug, Clone)]
pub struct Verdict {
    decision: Decision,
    because: Because,
    call: CallId,
    fingerprint: Digest,
    arguments_digest: Digest,
    filter: PathFilter,
}

impl Verdict {
    pub(crate) fn new(
        decision: Decision,
        because: Because,
        subject: &Subject<'_>,
        filter: PathFilter,
    ) -> Self {
        Self {
            decision,
            because,
            call: subject.call,
            fingerprint: subject.fingerprint,
            arguments_digest: subject.arguments_digest,
            filter,
        }
    }

    /// Returns the decision.
    pub const fn decision(&self) -> Decision {
        self.decision
    }

    /// Returns what the decision rests on.
    pub const fn because(&self) -> &Because {
        &self.because
    }

    /// Returns what the call may touch beneath the paths it is bound to.
    pub const fn filter(&self) -> &PathFilter {
        &self.filter
    }

    /// Tells whether the verdict is about this call of this tool with these arguments.
    pub fn covers(&self, call: CallId, fingerprint: Digest, arguments_digest: Digest) -> bool {
        (self.call, self.fingerprint, self.arguments_digest)
            == (call, fingerprint, arguments_digest)
    }

    /// Returns what the journal keeps.
    pub fn record(&self) -> DecisionRecord {
        DecisionRecord { decision: self.decision, because: self.because.shared() }
    }

    /// Returns the refusal of a call that may not run: by policy when it is denied, by approval when it is asked about
    /// and there is nobody to ask; `None` when it is allowed.
    pub fn refusal(&self) -> Option<Denial> {
        match self.decision {
            Decision::Allow => None,
            Decision::Ask => {
                let reason = format!("{}, and there is nobody to ask", self.because);
                let denial = Denial::new(Control::Approval, reason);
                Some(self.because.hints.iter().fold(denial, Denial::hint))
            }
            Decision::Deny => Some(self.because.denial()),
        }
    }
}

/// What a decision rests on, in one sentence, and the ways out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    sentence: Arc<str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
}

impl Because {
    /// Returns the sentence: the rule with its reason, text and place, or the preset.
    pub fn as_str(&self) -> &str {
        &self.sentence
    }

    /// Returns the sentence, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.sentence)
    }

    /// Returns what a person could do about it, each an instruction.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Returns the refusal that rests on this.
    pub fn denial(&self) -> Denial {
        let denial = Denial::new(Control::Policy, self.as_str());
        self.hints.iter().fold(denial, Denial::hint)
    }

    pub(crate) fn of(
        level: &Level,
        case: &Case<'_>,
        assessment: &Assessment<'_>,
        ending: Ending,
    ) -> Self {
        let ground = ground_sentence(level, case.subject.tool, Some(case), &assessment.ground);
        let ground = match (assessment.others(), assessment.decision) {
            (0, _) | (_, Decision::Allow) => ground,
            (1, _) => format!("{ground}; 1 more rule does so too").into(),
            (others, _) => format!("{ground}; {others} more rules do so too").into(),
        };
        let sentence = match ending {
            Ending::Plain | Ending::Doubtful => ground,
            Ending::Answered => format!("yes was said beforehand, where {ground}").into(),
            Ending::Insists => {
                format!("`{}` always asks, whatever the rules allow", case.subject.tool).into()
            }
        };
        Self { sentence, hints: hint::ways_out(level, case, assessment, ending) }
    }

    pub(crate) fn ruled_out(level: &Level, tool: &QualifiedName, ground: Ground<'_>) -> Self {
        let sentence = ground_sentence(level, tool, None, &ground);
        Self { sentence, hints: hint::ways_out_of_ground(level, &ground) }
    }

    pub(crate) fn unresolved(path: &LogicalPath) -> Self {
        let path = escaped(path.as_str().chars());
        Self { sentence: format!("`{path}` is not a resolved path").into(), hints: Vec::new() }
    }

    pub(crate) fn nobody() -> Self {
        Self { sentence: "no policy is in force".into(), hints: Vec::new() }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

fn ground_sentence(
    level: &Level,
    tool: &QualifiedName,
    case: Option<&Case<'_>>,
    ground: &Ground<'_>,
) -> Arc<str> {
    match ground {
        Ground::Rule { rule, met } => {
            let decision = rule.decision();
            let is_doubtful = matches!(met, Met::Doubt(_)) && decision == Decision::Deny;
            let verb = if is_doubtful { "may deny" } else { verb(decision) };
            let subject = case.map(|it| it.subject);
            let on = match met {
                Met::Call => None,
                Met::Resource(index) => subject
                    .and_then(|it| it.resources.get(*index))
                    .map(|it| format!(" on `{}`", escaped(it.path.as_str().chars()))),
                Met::Command(index) => subject
                    .and_then(|it| it.commands?.commands().get(*index))
                    .map(|it| format!(" for `{it}`")),
                Met::Doubt(why) => Some(format!(": {why}")),
            };
            let on = on.unwrap_or_default();
            let reason = rule.reason_to_show().map(|it| format!("{it}; ")).unwrap_or_default();
            format!("{reason}the rule `{rule}` ({}) {verb} `{tool}`{on}", rule.origin()).into()
        }
        Ground::Confined { to, by } => {
            let to = escaped(to.as_str().chars());
            let resources = case.map(|it| it.subject.resources).unwrap_or_default();
            let why = match by {
                Escape::Programs => "nothing holds a program to it".to_owned(),
                Escape::Unbound => {
                    format!("`{tool}` does not say which files it reads or changes")
                }
                Escape::Resource(index) => {
                    let path = resources.get(*index).map(|it| escaped(it.path.as_str().chars()));
                    format!("`{}` lies outside", path.unwrap_or_default())
                }
            };
            format!("calls are confined to `{to}`, and {why}").into()
        }
        Ground::Preset { decision, effects } => {
            let (decision, effects) = (*decision, *effects);
            level.preset_sentences.get(decision, effects, || {
                let preset = format!("the preset `{}` ({})", level.preset, level.preset_origin);
                if effects.is_empty() {
                    format!("{preset} allows what has no effects")
                } else {
                    format!("{preset} {} {effects}", verb(decision))
                }
            })
        }
    }
}

const fn verb(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allows",
        Decision::Ask => "asks before",
        Decision::Deny => "denies",
    }
}

/// What was said of a preset so far. Most calls are decided by one, and there are few sentences about it.
#[derive(Debug, Default)]
pub(crate) struct PresetSentences(Mutex<Vec<(Decision, Effects, Arc<str>)>>);

impl PresetSentences {
    fn get(&self, decision: Decision, effects: Effects, say: impl FnOnce() -> String) -> Arc<str> {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., sentence)) = said.iter().find(|it| (it.0, it.1) == (decision, effects)) {
            return Arc::clone(sentence);
        }
        let sentence: Arc<str> = say().into();
        said.push((decision, effects, Arc::clone(&sentence)));
        sentence
    }
}

/// A copy has everything to say yet: its preset may become another.
impl Clone for PresetSentences {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// They follow from what else a level holds.
impl PartialEq for PresetSentences {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PresetSentences {}
