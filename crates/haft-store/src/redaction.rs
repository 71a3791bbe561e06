//! Secrets are taken out of a record before it is written.

mod escapes;
mod keys;
mod names;
mod shapes;
mod signs;

use std::borrow::Cow;
use std::{fmt, mem};

use haft_protocol::limits::ARGUMENTS_DEPTH;
use regex::bytes::Regex;
use serde_json::{Map, Value};

use crate::StoreError;
pub(crate) use keys::KeyTrail;
pub use names::is_secret_name;

/// What stands in a record where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// What stands in a record in place of the arguments, where those are not kept.
pub(crate) const NOT_RECORDED: &str = "[not recorded]";

/// Bytes below which a handed-in secret is not looked for: it would shred every text.
const LITERAL_BYTES_MIN: usize = 4;

/// Passes over one text. Each pass that changes something makes the text poorer in matches; a text that still is not
/// done by then was built to be like that.
const PASSES: usize = 8;

/// How often escapes may be escaped themselves.
const ESCAPED: usize = 3;

/// Takes secrets out of text and JSON.
///
/// Three things count as a secret: a text that the face handed in because it knows it to be one, a text in a
/// well-known shape (`ghp_…`, a private key, the password of a URL), and whatever stands behind a name like `password`.
/// What comes out is [`REDACTED`]. A text that shows a secret only once its escapes are decoded goes as a whole. Redacting twice is redacting once.
#[derive(Clone)]
pub struct Redaction {
    literals: Option<Regex>,
    longest_literal: usize,
    pub(crate) keeps_arguments: bool,
}

impl Redaction {
    /// Makes a redaction that also knows these texts to be secrets. Those shorter than four bytes are ignored.
    ///
    /// # Errors
    ///
    /// Fails when the secrets are too many to search for, some megabytes of them.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Result<Self, StoreError> {
        let mut literals: Vec<String> =
            secrets.into_iter().filter(|secret| secret.len() >= LITERAL_BYTES_MIN).collect();
        // Alternatives match in order: the longer of two secrets with one beginning has to come first.
        literals.sort_unstable_by(|one, two| two.len().cmp(&one.len()).then(one.cmp(two)));
        literals.dedup();
        let longest_literal = literals.first().map_or(0, String::len);
        let pattern: Vec<String> = literals.iter().map(|it| regex::escape(it)).collect();
        let literals = match pattern.as_slice() {
            [] => None,
            pattern => Some(
                Regex::new(&pattern.join("|"))
                    .map_err(|source| StoreError::Redaction { source: source.into() })?,
            ),
        };
        Ok(Self { literals, longest_literal, keeps_arguments: true })
    }

    /// Also leaves out what callers write: of a call's arguments the digest is kept, of its paths what they resolve to.
    ///
    /// An outcome may still repeat some of it, as an error does that names a path.
    pub fn without_arguments(mut self) -> Self {
        self.keeps_arguments = false;
        self
    }

    /// Redacts a text.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let redacted = self.as_written(text);
        if self.hides_secret(&redacted) { Cow::Borrowed(REDACTED) } else { redacted }
    }

    fn as_written<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redacted = Cow::Borrowed(text);
        for _ in 0..PASSES {
            match self.pass(&redacted) {
                None => return redacted,
                Some(poorer) => redacted = Cow::Owned(poorer),
            }
        }
        match self.pass(&redacted) {
            None => redacted,
            Some(_) => Cow::Borrowed(REDACTED),
        }
    }

    /// Redacts a value: every text in it, every key, and everything under a key that names a secret.
    ///
    /// Values nested deeper than arguments may be are left out.
    pub fn json(&self, value: &Value) -> Value {
        let mut text = |text: &str| self.text(text).into_owned();
        Self::json_within(value, usize::MAX, ARGUMENTS_DEPTH, &mut text)
    }

    /// Redacts a value whose texts are rewritten by `leaf`, which has to redact, within bounds of number and depth.
    pub(crate) fn json_within(
        value: &Value,
        nodes: usize,
        depth: usize,
        leaf: &mut dyn FnMut(&str) -> String,
    ) -> Value {
        let mut walk = Walk {
            leaf,
            nodes_left: nodes,
            depth_max: depth,
            trail: KeyTrail::default(),
            in_array: false,
            has_keys: keys::are_in_value(value),
        };
        walk.value(value, 0, Named::Plain)
    }

    /// Returns how many bytes past a cut have to be looked at, so that no secret is cut and then not known for one.
    pub(crate) fn margin(&self) -> usize {
        self.longest_literal.max(4 * 1024)
    }

    /// Tells whether a redacted text has a secret left that shows only once its escapes are decoded.
    fn hides_secret(&self, text: &str) -> bool {
        let mut decoded = escapes::decoded(text);
        for _ in 0..ESCAPED {
            let Some(plain) = decoded else { return false };
            let is_literal =
                || self.literals.as_ref().is_some_and(|it| it.is_match(plain.as_bytes()));
            let has_shape = || {
                signs::are_in(&plain)
                    && shapes::shared().is_none_or(|shapes| shapes.has_secret_of_itself(&plain))
            };
            let has_name = || escapes::hides_letters(text) && self.pass(&plain).is_some();
            if is_literal() || has_shape() || has_name() {
                return true;
            }
            decoded = escapes::decoded(&plain);
        }
        false
    }

    /// Goes over the text once. Returns `None` when there is nothing to take out.
    fn pass(&self, text: &str) -> Option<String> {
        let mut changed = None;
        if let Some(literals) = &self.literals
            && literals.is_match(text.as_bytes())
        {
            changed = replace(literals, text);
        }
        if !signs::are_in(changed.as_deref().unwrap_or(text)) {
            return changed;
        }
        // Without its patterns a redaction knows no secret from another text, and lets nothing through.
        let everything = || (text != REDACTED && !text.is_empty()).then(|| REDACTED.to_owned());
        let Some(shapes) = shapes::shared() else { return everything() };
        if keys::are_in(changed.as_deref().unwrap_or(text)) {
            let Some(line) = shapes::key_line() else { return everything() };
            if let Some(poorer) = replace(line, changed.as_deref().unwrap_or(text)) {
                changed = Some(poorer);
            }
        }
        for shape in shapes.found(changed.as_deref().unwrap_or(text)) {
            let Some(shape) = shape else { return everything() };
            if let Some(poorer) = replace(shape, changed.as_deref().unwrap_or(text)) {
                changed = Some(poorer);
            }
        }
        changed
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction").finish_non_exhaustive()
    }
}

/// Puts the marker over what the pattern's first group that took part matched, or over the whole match.
///
/// Markers that are already there are borders: nothing is matched across or inside them.
fn replace(pattern: &Regex, text: &str) -> Option<String> {
    let mut out = String::new();
    let mut changed = false;
    for (position, between) in text.split(REDACTED).enumerate() {
        if position > 0 {
            out.push_str(REDACTED);
        }
        let mut done = 0;
        for found in pattern.captures_iter(between.as_bytes()) {
            let secret = found.iter().skip(1).flatten().next().or_else(|| found.get(0));
            let Some(secret) = secret.filter(|secret| !secret.is_empty()) else { continue };
            out.push_str(between.get(done..secret.start()).unwrap_or_default());
            out.push_str(REDACTED);
            done = secret.end();
            changed = true;
        }
        out.push_str(between.get(done..).unwrap_or_default());
    }
    changed.then_some(out)
}

/// Whether what a value stands behind names a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Plain,
    Secret,
}

impl Named {
    fn of(name: &str) -> Self {
        if is_secret_name(name) { Self::Secret } else { Self::Plain }
    }
}

struct Walk<'a> {
    leaf: &'a mut dyn FnMut(&str) -> String,
    nodes_left: usize,
    depth_max: usize,
    trail: KeyTrail,
    in_array: bool,
    /// Whether there are private keys in the value, so that what looks like a part of one is taken for it.
    has_keys: bool,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, depth: usize, named: Named) -> Value {
        self.nodes_left = self.nodes_left.saturating_sub(1);
        match (value, named) {
            (Value::Null | Value::Bool(_), _) | (Value::Number(_), Named::Plain) => value.clone(),
            (Value::Number(_), Named::Secret) => REDACTED.into(),
            (Value::String(text), _) => self.text(text, named).into(),
            (Value::Array(_) | Value::Object(_), _) if depth >= self.depth_max => {
                "[nested too deeply to be kept]".into()
            }
            (Value::Array(items), _) => self.array(items, depth, named),
            (Value::Object(object), _) => Value::Object(self.object(object, depth, named)),
        }
    }

    fn text(&mut self, text: &str, named: Named) -> String {
        // Followed only from item to item: what else an object holds has no order.
        let outside = if self.in_array { self.trail.next(text) } else { Cow::Borrowed(text) };
        let is_secret = named == Named::Secret && !text.is_empty();
        if is_secret || (self.has_keys && !keys::are_in(text) && keys::has_line(text)) {
            return REDACTED.to_owned();
        }
        (self.leaf)(&outside)
    }

    fn array(&mut self, items: &[Value], depth: usize, named: Named) -> Value {
        let mut kept = Vec::new();
        let mut before: Option<&Value> = None;
        let in_array = mem::replace(&mut self.in_array, true);
        for item in items {
            if self.nodes_left == 0 {
                kept.push(format!("[{} more items]", items.len() - kept.len()).into());
                break;
            }
            let named = if before.is_some_and(is_secret_flag) { Named::Secret } else { named };
            kept.push(match (before, item) {
                (Some(before), Value::String(login)) if is_login_flag(before) => {
                    let login = login.split_once(':').map(|(user, _)| format!("{user}:{REDACTED}"));
                    let login = login.map(Value::String);
                    self.value(login.as_ref().unwrap_or(item), depth + 1, named)
                }
                _ => self.value(item, depth + 1, named),
            });
            before = Some(item);
        }
        self.in_array = in_array;
        if !in_array {
            self.trail.end();
        }
        Value::Array(kept)
    }

    fn object(
        &mut self,
        object: &Map<String, Value>,
        depth: usize,
        named: Named,
    ) -> Map<String, Value> {
        let pair = is_secret_pair(object);
        let mut kept = Map::new();
        for (key, item) in object {
            if self.nodes_left == 0 {
                kept.insert("[more]".to_owned(), (object.len() - kept.len()).into());
                break;
            }
            let named = match Named::of(key) {
                Named::Plain if pair && key.eq_ignore_ascii_case("value") => Named::Secret,
                Named::Plain => named,
                Named::Secret => Named::Secret,
            };
            let item = self.value(item, depth + 1, named);
            kept.insert((self.leaf)(key), item);
        }
        kept
    }
}

/// Tells whether this is a flag of a command line whose value comes next: `--token`, but not `--token=x`.
fn is_secret_flag(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.len() <= 64 && text.starts_with('-') && !text.contains('=') && is_secret_name(text)
    })
}

/// Tells whether this is a flag of a command line after which a user and a password come: `-u`.
fn is_login_flag(value: &Value) -> bool {
    matches!(value.as_str(), Some("-u" | "-U" | "--user" | "--proxy-user"))
}

/// Tells whether this is a pair like `{"name": "Authorization", "value": "…"}`.
fn is_secret_pair(object: &Map<String, Value>) -> bool {
    ["name", "key", "header"]
        .iter()
        .any(|key| object.get(*key).and_then(Value::as_str).is_some_and(is_secret_name))
}
