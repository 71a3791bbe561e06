//! The contract of a tool.

mod narrow;
mod normalise;
mod tagged;

use std::fmt;
use std::sync::{Arc, OnceLock};

use haft_protocol::{Digest, RawArguments};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::decode::{self, DecodeError, Decoded, Reading};
use crate::derive::{self, Direction};
use crate::engine::Compiled;
use crate::error::SchemaError;
use crate::foreign;
use crate::repair::Repair;
use crate::view::View;
use normalise::Seen;
pub use normalise::{Normalised, Unchecked};
pub use tagged::Tag;
use tagged::Tagged;

/// What a tool's arguments, or its output, must look like: a JSON Schema that is compiled once and never changes.
///
/// Cloning shares the compiled form. Two contracts are equal when their [digests](Self::digest) are.
///
/// ```
/// use haft_schema::Contract;
/// use serde_json::json;
///
/// /// Reads a file.
/// #[derive(schemars::JsonSchema, serde::Deserialize)]
/// struct Read {
///     /// The file to read.
///     path: String,
///     /// Lines to show.
///     #[serde(default = "limit")]
///     #[schemars(range(min = 1, max = 2000))]
///     limit: u32,
/// }
/// fn limit() -> u32 { 500 }
///
/// let contract = Contract::of::<Read>()?;
/// let arguments = json!({"path": "a.txt"}).as_object().cloned().unwrap_or_default();
/// assert_eq!(contract.normalise(arguments)?.arguments["limit"], 500);
///
/// let arguments = json!({"path": "a.txt", "limit": -1}).as_object().cloned().unwrap_or_default();
/// let problems = contract.normalise(arguments).unwrap_err();
/// assert_eq!(problems.model_text(), "/limit: found -1, expected an integer from 1 to 2000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Contract(Arc<Held>);

/// A contract that is made, or is when somebody first looks at it.
struct Held {
    inner: OnceLock<Inner>,
    make: fn() -> Result<Inner, SchemaError>,
}

struct Inner {
    advertised: Arc<Value>,
    body: Body,
    fixed: Map<String, Value>,
    digest: OnceLock<Digest>,
}

/// What arguments are checked against, fixed ones included.
#[derive(Clone)]
enum Body {
    Plain(Arc<Compiled>),
    Tagged(Tagged),
}

impl Contract {
    /// Derives the contract of a tool's arguments from their type.
    ///
    /// The schema has every type in place, is closed unless the type collects unknown keys, keeps the order of the
    /// fields, and has no null where a field may be left out. Doc comments become descriptions. An internally tagged
    /// enum becomes one flat object, see [`Contract::tag`].
    ///
    /// # Errors
    ///
    /// Fails when the type contains itself, is no object, or uses a pattern without a linear-time form.
    pub fn of<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        Inner::of::<T>().map(Self::made)
    }

    /// Derives the contract of a tool's output from its type: as serialised, of any JSON type.
    ///
    /// # Errors
    ///
    /// Fails when the type contains itself or uses a pattern without a linear-time form.
    pub fn of_output<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        Inner::of_output::<T>().map(Self::made)
    }

    /// Derives as [`Contract::of`] does, when somebody first looks: most tools of a short process are never called.
    ///
    /// For types of one's own that are derived in a test. A type that cannot be derived gives a contract that accepts
    /// nothing.
    pub fn of_later<T: JsonSchema + ?Sized>() -> Self {
        Self(Arc::new(Held { inner: OnceLock::new(), make: Inner::of::<T> }))
    }

    /// Derives as [`Contract::of_output`] does, when somebody first looks; see [`Contract::of_later`].
    pub fn of_output_later<T: JsonSchema + ?Sized>() -> Self {
        Self(Arc::new(Held { inner: OnceLock::new(), make: Inner::of_output::<T> }))
    }

    /// Tells whether the contract is made already.
    pub fn is_made(&self) -> bool {
        self.0.inner.get().is_some()
    }

    /// Admits a schema that comes from elsewhere: draft 2020-12, or draft-07 when it says so.
    ///
    /// The contract's schema is the same in draft 2020-12, without `$schema` and `$id`, with a root of type object.
    /// Nothing is ever fetched.
    ///
    /// # Errors
    ///
    /// Fails when the root accepts no object, when a limit on size, depth, number or cost is passed, when a reference
    /// leaves the document, and when a pattern has no linear-time form.
    pub fn foreign(schema: Value) -> Result<Self, SchemaError> {
        let schema = foreign::admit(schema, foreign::Root::Object)?;
        Ok(Self::around(Arc::new(Compiled::new(Arc::new(schema))?), Map::new()))
    }

    /// Wraps one compiled schema, with some of its arguments fixed and no longer shown.
    fn around(compiled: Arc<Compiled>, fixed: Map<String, Value>) -> Self {
        Self::made(Inner::around(compiled, fixed))
    }

    fn tagged(tagged: Tagged, fixed: Map<String, Value>) -> Result<Self, SchemaError> {
        Inner::tagged(tagged, fixed).map(Self::made)
    }

    fn made(inner: Inner) -> Self {
        Self(Arc::new(Held { inner: OnceLock::from(inner), make: || Ok(Inner::nothing()) }))
    }

    fn inner(&self) -> &Inner {
        let Held { inner, make } = &*self.0;
        inner.get_or_init(|| make().unwrap_or_else(|_| Inner::nothing()))
    }

    /// Returns the schema to advertise, in draft 2020-12.
    pub fn schema(&self) -> &Arc<Value> {
        &self.inner().advertised
    }

    /// Returns the digest of everything that decides what the contract accepts and shows.
    pub fn digest(&self) -> Digest {
        let Inner { advertised, body, fixed, digest } = self.inner();
        *digest.get_or_init(|| match body {
            Body::Plain(_) if fixed.is_empty() => Digest::of_json(advertised),
            Body::Plain(compiled) => Digest::of_json(
                &json!({"schema": advertised, "of": compiled.schema(), "fixed": fixed}),
            ),
            Body::Tagged(tagged) => Digest::of_json(
                &json!({"schema": advertised, "branches": tagged.schemas(), "fixed": fixed}),
            ),
        })
    }

    /// Lists the arguments that must be given.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        View::of(&self.inner().advertised).required()
    }

    /// Returns the tag of a contract made from an internally tagged enum.
    ///
    /// What is advertised is one object with the keys of all variants, each described with the variants it belongs to;
    /// what is checked is the variant that the tag names, alone.
    pub fn tag(&self) -> Option<&Tag> {
        match &self.inner().body {
            Body::Plain(_) => None,
            Body::Tagged(tagged) => Some(tagged.tag()),
        }
    }

    /// Returns the exact contract of one value of the tag.
    pub fn branch(&self, value: &str) -> Option<Self> {
        match &self.inner().body {
            Body::Plain(_) => None,
            Body::Tagged(tagged) => {
                let compiled = tagged.branch(value)?;
                Some(Self::around(Arc::clone(compiled), self.inner().fixed.clone()))
            }
        }
    }

    /// Tells whether keys that the schema does not name are accepted.
    pub fn is_open(&self) -> bool {
        match &self.inner().body {
            Body::Plain(compiled) => is_open(compiled.schema()),
            Body::Tagged(tagged) => tagged.branches().all(|branch| is_open(branch.schema())),
        }
    }

    /// Returns the arguments that are fixed.
    pub fn fixed(&self) -> &Map<String, Value> {
        &self.inner().fixed
    }

    /// Tells whether an argument is fixed.
    pub fn fixes(&self, name: &str) -> bool {
        self.inner().fixed.contains_key(name)
    }

    /// Reads arguments as a model gave them, with near misses repaired and every repair reported.
    ///
    /// A value that the contract accepts is never changed. What comes out is not yet checked: see
    /// [`Contract::normalise`].
    ///
    /// # Errors
    ///
    /// Fails when the text is not a JSON object even after repair, was cut off, repeats a key with different values, or
    /// is too large or too deep.
    pub fn decode(&self, raw: RawArguments, reading: Reading) -> Result<Decoded, DecodeError> {
        let (unchecked, repairs) = self.read(raw, reading)?;
        Ok(Decoded { arguments: unchecked.into_arguments(), repairs })
    }

    /// Reads arguments as [`decode`](Self::decode) does, to be normalised next.
    ///
    /// # Errors
    ///
    /// Fails as `decode` does.
    pub fn read(
        &self,
        raw: RawArguments,
        reading: Reading,
    ) -> Result<(Unchecked<'_>, Vec<Repair>), DecodeError> {
        let (mut arguments, mut repairs) = decode::read(raw, reading.ending)?;
        if let Some(tag) = self.tag() {
            decode::coerce::spell_tag(tag, &mut arguments, &mut repairs);
        }
        let checked_by = self.checked_by(&arguments);
        let mut value = Value::Object(arguments);
        let is_accepted = checked_by.is_some_and(|it| it.accepts_at_once(&value));
        // What is accepted is not changed, so most arguments need no closer look.
        if let Some(compiled) = checked_by.filter(|_| !is_accepted)
            && let Value::Object(arguments) = &mut value
        {
            let elsewhere = |key: &str| match &self.inner().body {
                Body::Plain(_) => Vec::new(),
                Body::Tagged(tagged) => tagged.users(key).into_iter().map(String::from).collect(),
            };
            let view = View::of(compiled.schema());
            decode::coerce::coerce(view, arguments, reading.extra, &elsewhere, &mut repairs);
        }
        let seen = if is_accepted { Seen::Accepted } else { Seen::Never };
        let arguments = normalise::into_object(value);
        Ok((Unchecked::new(self, arguments, seen), repairs.into_list()))
    }

    /// Returns what given arguments are checked against, where they allow to tell.
    fn checked_by(&self, arguments: &Map<String, Value>) -> Option<&Compiled> {
        match &self.inner().body {
            Body::Plain(compiled) => Some(compiled),
            Body::Tagged(tagged) => {
                let value = arguments.get(tagged.tag().key())?.as_str()?;
                tagged.branch(value).map(|branch| &**branch)
            }
        }
    }
}

impl Inner {
    fn of<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        match derive::arguments::<T>()? {
            derive::Derived::Plain(schema) => Self::derived(schema),
            derive::Derived::Tagged { tag, description, branches } => {
                Self::tagged(Tagged::new(tag, description, branches)?, Map::new())
            }
        }
    }

    fn of_output<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        Self::derived(derive::schema_of::<T>(Direction::Output)?)
    }

    fn derived(schema: Value) -> Result<Self, SchemaError> {
        Ok(Self::around(Arc::new(Compiled::derived(Arc::new(schema))?), Map::new()))
    }

    /// Makes a contract that accepts nothing.
    fn nothing() -> Self {
        Self::around(Arc::new(Compiled::nothing()), Map::new())
    }

    fn around(compiled: Arc<Compiled>, fixed: Map<String, Value>) -> Self {
        let advertised = if fixed.is_empty() {
            Arc::clone(compiled.schema())
        } else {
            Arc::new(narrow::without(compiled.schema(), &fixed))
        };
        Self { advertised, body: Body::Plain(compiled), fixed, digest: OnceLock::new() }
    }

    fn tagged(tagged: Tagged, fixed: Map<String, Value>) -> Result<Self, SchemaError> {
        let advertised = Arc::new(tagged.flattened(&fixed)?);
        Ok(Self { advertised, body: Body::Tagged(tagged), fixed, digest: OnceLock::new() })
    }
}

fn is_open(schema: &Value) -> bool {
    let forbids = |keyword| schema.get(keyword) == Some(&Value::Bool(false));
    !forbids("additionalProperties") && !forbids("unevaluatedProperties")
}

impl PartialEq for Contract {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

impl Eq for Contract {}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contract")
            .field("schema", &self.inner().advertised)
            .field("fixed", &self.inner().fixed)
            .finish_non_exhaustive()
    }
}
