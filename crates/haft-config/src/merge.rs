//! One layer over another.

use std::fmt;

use haft_policy::Origin;
use haft_protocol::Decision;

use crate::document::escaped;
use crate::read::{Value, Values};
use crate::settings::{RECORD_ARGUMENTS, Untrusted};
use crate::sources::PRESET;
use crate::{AliasEntry, Config, ModelEntry, models};

/// How a layer is put over those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    /// Its values win.
    Over,
    /// Its values win where they are stricter; all others are dropped.
    Narrowing,
}

/// Something in a project's file that is not followed because nobody trusts the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The key, such as `preset` or `rules`.
    pub key: String,
    /// Where it stands, with its text.
    pub origin: Origin,
    /// What it would have done.
    pub wanted: String,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, wanted, .. } = self;
        write!(f, "{origin}: not followed until you trust this file with `haft trust`: {wanted}")
    }
}

impl Config {
    pub(crate) fn merge(&mut self, values: Values, merge: Merge) {
        let narrowing = merge == Merge::Narrowing;
        if let Some(Value { value: preset, origin }) = values.preset {
            if !narrowing || preset < self.preset {
                self.preset = preset;
                self.origins.insert(PRESET, origin);
            } else if preset > self.preset {
                self.leave_out(PRESET, origin, format!("set the preset `{preset}`"));
            }
        }
        for (number, Value { value, origin }) in values.numbers {
            let current = (number.field)(self);
            let lower = value < *current && number.untrusted == Untrusted::MayLower;
            if !narrowing || lower {
                *current = value;
                self.origins.insert(number.key, origin);
            } else if value != *current {
                self.leave_out(number.key, origin, format!("set `{}` to {value}", number.key));
            }
        }
        if let Some(Value { value, origin }) = values.record_arguments {
            if !narrowing {
                self.journal.record_arguments = value;
                self.origins.insert(RECORD_ARGUMENTS, origin);
            } else if value != self.journal.record_arguments {
                let wanted = format!("set `{RECORD_ARGUMENTS}` to {value}");
                self.leave_out(RECORD_ARGUMENTS, origin, wanted);
            }
        }
        for Value { value, origin } in values.extra {
            self.protection.extra.push(value);
            self.origins.insert("protection.extra", origin);
        }
        for Value { value, origin } in values.except {
            if narrowing {
                let wanted = format!("lift the protection of `{value}`");
                self.leave_out("protection.except", origin, wanted);
            } else {
                self.protection.except.push(value);
                self.origins.insert("protection.except", origin);
            }
        }
        for Value { value, origin } in values.roots {
            if narrowing {
                let wanted = format!("let tools see `{}`", value.display());
                self.leave_out("roots.extra", origin, wanted);
            } else if !self.further_roots.contains(&value) {
                self.further_roots.push(value);
                self.origins.insert("roots.extra", origin);
            }
        }
        for (level, Value { value, origin }) in values.levels {
            let current = (level.field)(self);
            if !narrowing || value > *current {
                *current = value;
                self.origins.insert(level.key, origin);
            } else if value < *current {
                self.leave_out(level.key, origin, format!("set `{}` to `{value}`", level.key));
            }
        }
        for Value { value, origin } in values.environment {
            if narrowing {
                let wanted = format!("let programs see the variable `{value}`");
                self.leave_out("programs.environment", origin, wanted);
            } else if !self.programs.environment.contains(&value) {
                self.programs.environment.push(value);
                self.origins.insert("programs.environment", origin);
            }
        }
        for Value { value, origin } in values.read {
            if narrowing {
                let wanted = format!("let programs read `{}`", value.display());
                self.leave_out("programs.read", origin, wanted);
            } else if !self.programs.read.contains(&value) {
                self.programs.read.push(value);
                self.origins.insert("programs.read", origin);
            }
        }
        self.merge_models(values.model, values.models, values.plain_http, narrowing);
        for (name, Value { value, origin }) in values.aliases {
            if narrowing {
                self.leave_out("aliases", origin, format!("show `{}` as `{name}`", value.tool));
            } else {
                self.aliases.insert(name, AliasEntry { origin, ..value });
            }
        }
        for rule in values.rules {
            if narrowing && rule.decision() == Decision::Allow {
                self.leave_out("rules", rule.origin().clone(), format!("follow the rule `{rule}`"));
            }
            self.rules.push(rule);
        }
        self.dropped.sort_by_key(|it| it.origin.line);
    }

    fn merge_models(
        &mut self,
        model: Option<Value<String>>,
        named: models::Named,
        plain_http: Vec<Value<String>>,
        narrowing: bool,
    ) {
        if let Some(Value { value, origin }) = model {
            if narrowing {
                self.leave_out(models::DEFAULT, origin, format!("choose the model `{value}`"));
            } else {
                self.model = Some(value);
                self.origins.insert(models::DEFAULT, origin);
            }
        }
        for (name, Value { value, origin }) in named {
            if narrowing {
                self.leave_out("models", origin, format!("say who the model `{name}` is"));
            } else {
                self.models.insert(name, ModelEntry { origin, ..value });
            }
        }
        for Value { value, origin } in plain_http {
            if narrowing {
                let wanted = format!("let `{value}` be asked without encryption");
                self.leave_out(models::PLAIN_HTTP, origin, wanted);
            } else if !self.plain_http.contains(&value) {
                self.plain_http.push(value);
                self.origins.insert(models::PLAIN_HTTP, origin);
            }
        }
    }

    fn leave_out(&mut self, key: &str, origin: Origin, wanted: String) {
        self.dropped.push(Dropped { key: key.to_owned(), origin, wanted: escaped(&wanted) });
    }
}
