//! The validator behind a contract. No other file names it.

use std::sync::{Arc, OnceLock};

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::error::SchemaError;
use crate::measure::Measure;
use crate::plain::{self, Judgement};
use crate::pointer;
use crate::survey::{Cost, Survey};
use crate::words;

/// Bytes that one compiled pattern may take.
const PATTERN_BYTES: usize = 1024 * 1024;

/// A schema ready to check values.
#[derive(Debug)]
pub(crate) struct Compiled {
    schema: Arc<Value>,
    /// Whether its words alone can accept a value.
    is_plain: bool,
    /// Filled at once, unless the schema is plain.
    engine: OnceLock<Option<Engine>>,
}

/// What a schema compiles to.
#[derive(Debug)]
struct Engine {
    survey: Survey,
    validator: Validator,
}

/// Why a value was refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Checking it would take too long.
    TooIntricate,
    /// It breaks rules; at least one of them.
    Faults(Vec<Fault>),
}

/// A rule that a value breaks.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Where in the value.
    pub(crate) pointer: String,
    /// The schema whose keyword refused it, as a JSON Pointer.
    pub(crate) schema: String,
    pub(crate) kind: FaultKind,
}

#[derive(Debug)]
pub(crate) enum FaultKind {
    Missing(String),
    Unknown(Vec<String>),
    /// No alternative fits; the faults of each.
    NoAlternative(Vec<Vec<Fault>>),
    ManyAlternatives,
    Type,
    Constant,
    Choice,
    Range,
    Pattern,
    Unique,
    Never,
    Other(String),
}

impl Compiled {
    /// Surveys and compiles a schema of draft 2020-12 whose JSON nests no deeper than the JSON parser allows.
    pub(crate) fn new(schema: Arc<Value>) -> Result<Self, SchemaError> {
        let engine = OnceLock::from(Some(Engine::of(&schema)?));
        Ok(Self { schema, is_plain: false, engine })
    }

    /// Takes a schema that was derived from a type. Compiling it waits until it is needed, where it surely compiles.
    pub(crate) fn derived(schema: Arc<Value>) -> Result<Self, SchemaError> {
        if !plain::is_plain(&schema) {
            return Self::new(schema);
        }
        Ok(Self { schema, is_plain: true, engine: OnceLock::new() })
    }

    /// Makes a schema that accepts nothing.
    pub(crate) fn nothing() -> Self {
        Self { schema: Arc::new(Value::Bool(false)), is_plain: true, engine: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> &Arc<Value> {
        &self.schema
    }

    /// Tells whether a value within the bounds of arguments is accepted, where telling takes next to nothing.
    pub(crate) fn accepts_at_once(&self, value: &Value) -> bool {
        match self.engine.get() {
            Some(Some(engine)) => engine.accepts_at_once(value),
            Some(None) | None => {
                self.is_plain && plain::judge(&self.schema, value) == Judgement::Accepts
            }
        }
    }

    /// Checks a value whose measure was taken and found within bounds.
    pub(crate) fn check(&self, value: &Value, measure: Measure) -> Result<(), Refusal> {
        if self.is_plain && plain::judge(&self.schema, value) == Judgement::Accepts {
            return Ok(());
        }
        // A plain schema compiles. Were there one that does not, it would accept nothing but by its words.
        let engine = self.engine.get_or_init(|| Engine::of(&self.schema).ok());
        engine.as_ref().ok_or(Refusal::TooIntricate)?.check(value, measure)
    }
}

impl Engine {
    fn of(schema: &Value) -> Result<Self, SchemaError> {
        let survey = Survey::of(schema)?;
        let validator = build(schema).map_err(|error| refused(&error, &survey))?;
        Ok(Self { survey, validator })
    }

    fn accepts_at_once(&self, value: &Value) -> bool {
        self.survey.cost(value, Measure::of(value).parts) == Cost::Modest
            && self.validator.is_valid(value)
    }

    fn check(&self, value: &Value, measure: Measure) -> Result<(), Refusal> {
        let cost = self.survey.cost(value, measure.parts);
        if cost == Cost::Excessive {
            return Err(Refusal::TooIntricate);
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let faults = match cost {
            Cost::Modest => self.validator.iter_errors(value).map(Fault::from).collect(),
            _ => self.validator.validate(value).err().map(Fault::from).into_iter().collect(),
        };
        Err(Refusal::Faults(faults))
    }
}

fn build(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES),
        )
        .build(schema)
}

fn refused(error: &ValidationError<'_>, survey: &Survey) -> SchemaError {
    let pointer = error.instance_path().as_str();
    if let Some((pointer, pattern)) = survey.patterns().iter().find(|(it, _)| it == pointer) {
        return SchemaError::Pattern {
            pointer: pointer::shown(pointer),
            pattern: words::cut(pattern),
            reason: pattern_fault(pattern),
        };
    }
    // The message about alternatives only says that there are some.
    let reason = match error.kind() {
        Kind::AnyOf { context } => context.iter().flatten().next().map(ToString::to_string),
        _ => None,
    };
    let reason = words::cut(&reason.unwrap_or_else(|| error.to_string()));
    SchemaError::Invalid { pointer: pointer::shown(pointer), reason }
}

fn pattern_fault(pattern: &str) -> &'static str {
    let has = |marks: &[&str]| marks.iter().any(|mark| pattern.contains(mark));
    let refers_back = |pair: (char, char)| pair.0 == '\\' && matches!(pair.1, '1'..='9' | 'k');
    if has(&["(?=", "(?!", "(?<=", "(?<!"]) {
        "uses look-around, which has no linear-time form"
    } else if pattern.chars().zip(pattern.chars().skip(1)).any(refers_back) {
        "uses a back-reference, which has no linear-time form"
    } else {
        "is no regular expression of a reasonable size"
    }
}

impl From<ValidationError<'_>> for Fault {
    fn from(error: ValidationError<'_>) -> Self {
        let parts = error.into_parts();
        let keyword = parts.kind.keyword().to_owned();
        let all = |context: Vec<Vec<ValidationError<'static>>>| {
            context.into_iter().map(|it| it.into_iter().map(Fault::from).collect()).collect()
        };
        let kind = match parts.kind {
            Kind::Required { property } => {
                FaultKind::Missing(property.as_str().unwrap_or_default().to_owned())
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => FaultKind::Unknown(unexpected),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                FaultKind::NoAlternative(all(context))
            }
            Kind::OneOfMultipleValid { .. } => FaultKind::ManyAlternatives,
            Kind::Type { kind: TypeKind::Single(_) | TypeKind::Multiple(_) } => FaultKind::Type,
            Kind::Constant { .. } => FaultKind::Constant,
            Kind::Enum { .. } => FaultKind::Choice,
            Kind::Maximum { .. }
            | Kind::Minimum { .. }
            | Kind::ExclusiveMaximum { .. }
            | Kind::ExclusiveMinimum { .. }
            | Kind::MultipleOf { .. }
            | Kind::MaxLength { .. }
            | Kind::MinLength { .. }
            | Kind::MaxItems { .. }
            | Kind::MinItems { .. }
            | Kind::MaxProperties { .. }
            | Kind::MinProperties { .. }
            | Kind::AdditionalItems { .. } => FaultKind::Range,
            Kind::Pattern { .. } => FaultKind::Pattern,
            Kind::UniqueItems => FaultKind::Unique,
            Kind::FalseSchema => FaultKind::Never,
            _ => FaultKind::Other(keyword),
        };
        let keyword_at = parts.schema_path.as_str();
        let schema = match kind {
            FaultKind::Never => keyword_at.to_owned(),
            _ => pointer::parent(keyword_at).to_owned(),
        };
        Self { pointer: parts.instance_path.as_str().to_owned(), schema, kind }
    }
}
