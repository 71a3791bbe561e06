//! Why a schema cannot be a contract.

/// A schema that cannot be a contract, or a contract that cannot be narrowed as asked.
///
/// Every variant has a [code](Self::code); most have a [pointer](Self::pointer) into the schema and a [hint](Self::hint)
/// for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema is not a JSON object.
    #[error("a schema is a JSON object, found {found}")]
    NotASchema {
        /// What was found instead.
        found: String,
    },
    /// The root accepts no JSON object, and arguments are always one.
    #[error("the root schema accepts {accepts}, and arguments are always an object")]
    RefusesObjects {
        /// What the root accepts.
        accepts: String,
    },
    /// The schema names a dialect that is neither draft 2020-12 nor draft-07.
    #[error("`{dialect}` is no dialect of JSON Schema that is supported")]
    Dialect {
        /// The value of `$schema`.
        dialect: String,
    },
    /// The schema is too large in its compact form.
    #[error("the schema takes more than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Schemas are nested too deep in each other.
    #[error("the schema nests more than {limit} levels")]
    TooDeep {
        /// The limit, in levels.
        limit: usize,
    },
    /// There are too many of something.
    #[error("the schema has more than {limit} {what}")]
    TooMany {
        /// The limit.
        limit: usize,
        /// What is counted, in the plural.
        what: &'static str,
    },
    /// References multiply: checking one small value would take too long or nest too deep.
    #[error("the references at `{pointer}` multiply beyond {limit} {what}")]
    TooIntricate {
        /// Where, as a JSON Pointer into the schema.
        pointer: String,
        /// The limit.
        limit: usize,
        /// What is counted, in the plural.
        what: &'static str,
    },
    /// A reference leaves the document.
    #[error("`{reference}` at `{pointer}` points outside the schema")]
    ExternalReference {
        /// Where, as a JSON Pointer into the schema.
        pointer: String,
        /// The reference.
        reference: String,
    },
    /// A reference points to nothing.
    #[error("`{reference}` at `{pointer}` points to nothing in the schema")]
    DanglingReference {
        /// Where, as a JSON Pointer into the schema.
        pointer: String,
        /// The reference.
        reference: String,
    },
    /// A reference leads back to itself without descending into the value.
    #[error("the reference at `{pointer}` leads back to itself")]
    ReferenceLoop {
        /// Where, as a JSON Pointer into the schema.
        pointer: String,
    },
    /// A sub-schema has an identifier of its own, which changes what references mean.
    #[error("the sub-schema at `{pointer}` has an identifier of its own, `{id}`")]
    NestedIdentifier {
        /// Where, as a JSON Pointer into the schema.
        pointer: String,
        /// The identifier.
        id: String,
    },
    /// A pattern that the linear-time engine does not accept.
    #[error("the pattern `{pattern}` at `{pointer}` {reason}")]
    Pattern {
        /// Where, as a JSON Pointer into the schema.
        pointer: String,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A keyword has a value that JSON Schema does not allow.
    #[error("`{pointer}` in the schema: {reason}")]
    Invalid {
        /// Where, as a JSON Pointer into the schema.
        pointer: String,
        /// What is wrong.
        reason: String,
    },
    /// A Rust type contains itself.
    #[error("the type `{type_name}` contains itself")]
    Recursive {
        /// The type.
        type_name: &'static str,
    },
    /// A variant of a tagged enum has keys that cannot be listed.
    #[error("the variant `{value}` of a tagged enum has no plain list of keys")]
    OpaqueVariant {
        /// The value of the tag.
        value: String,
    },
    /// An argument to be fixed that the contract does not know.
    #[error("the contract has no argument `{name}` to fix; it has {known}")]
    UnknownArgument {
        /// The argument.
        name: String,
        /// The arguments there are.
        known: String,
    },
    /// Arguments to be fixed together that no value of the tag has together.
    #[error("no value of the tag has all of {names}")]
    NoBranch {
        /// The arguments.
        names: String,
    },
    /// A value that the contract does not accept for an argument to be fixed.
    #[error("the value fixed for `{name}` does not fit: {reason}")]
    UnfitArgument {
        /// The argument.
        name: String,
        /// What is wrong with the value.
        reason: String,
    },
    /// An argument that is fixed already.
    #[error("the argument `{name}` is fixed already, to another value")]
    AlreadyFixed {
        /// The argument.
        name: String,
    },
}

impl SchemaError {
    /// Returns the stable name of the kind of error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotASchema { .. } => "not_a_schema",
            Self::RefusesObjects { .. } => "refuses_objects",
            Self::Dialect { .. } => "unsupported_dialect",
            Self::TooLarge { .. } => "schema_too_large",
            Self::TooDeep { .. } => "schema_too_deep",
            Self::TooMany { .. } => "schema_too_many",
            Self::TooIntricate { .. } => "schema_too_intricate",
            Self::ExternalReference { .. } => "external_reference",
            Self::DanglingReference { .. } => "dangling_reference",
            Self::ReferenceLoop { .. } => "reference_loop",
            Self::NestedIdentifier { .. } => "nested_identifier",
            Self::Pattern { .. } => "unsupported_pattern",
            Self::Invalid { .. } => "invalid_schema",
            Self::Recursive { .. } => "recursive_type",
            Self::OpaqueVariant { .. } => "opaque_variant",
            Self::UnknownArgument { .. } => "unknown_argument",
            Self::NoBranch { .. } => "no_branch",
            Self::UnfitArgument { .. } => "unfit_argument",
            Self::AlreadyFixed { .. } => "already_fixed",
        }
    }

    /// Returns the place in the schema, as a JSON Pointer, where there is one.
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::TooIntricate { pointer, .. }
            | Self::ExternalReference { pointer, .. }
            | Self::DanglingReference { pointer, .. }
            | Self::ReferenceLoop { pointer }
            | Self::NestedIdentifier { pointer, .. }
            | Self::Pattern { pointer, .. }
            | Self::Invalid { pointer, .. } => Some(pointer),
            _ => None,
        }
    }

    /// Returns what the author of the schema can do, where there is something.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotASchema { .. } | Self::RefusesObjects { .. } => {
                Some("make the root `{\"type\": \"object\", \"properties\": …}`")
            }
            Self::Dialect { .. } => {
                Some("use draft 2020-12 or draft-07, or leave `$schema` out for 2020-12")
            }
            Self::TooLarge { .. } | Self::TooDeep { .. } | Self::TooMany { .. } => {
                Some("accept free-form text for the large part, or split the tool")
            }
            Self::TooIntricate { .. } => {
                Some("let each definition refer to the next one at most once")
            }
            Self::ExternalReference { .. } => {
                Some("copy the definition into `$defs` and refer to it as `#/$defs/…`")
            }
            Self::ReferenceLoop { .. } => Some("put a property or an item between the two ends"),
            Self::NestedIdentifier { .. } => Some("remove `$id` and refer by JSON Pointer"),
            Self::Pattern { .. } => {
                Some("write the pattern without look-around and back-references, or use `format`")
            }
            Self::Recursive { .. } => Some("bound the nesting with one type for each level"),
            Self::OpaqueVariant { .. } => Some("give the variant named fields"),
            Self::Invalid { .. } => {
                Some("if the schema is written in draft-07, say so with `$schema`")
            }
            Self::DanglingReference { .. }
            | Self::UnknownArgument { .. }
            | Self::NoBranch { .. }
            | Self::UnfitArgument { .. }
            | Self::AlreadyFixed { .. } => None,
        }
    }
}
