//! The tool attribute of haft: a function in, a typed tool out.
//!
//! Users reach it as `haft_tool::tool`, or as `haft::tool` through the facade.
//!
//! ```
//! use haft_protocol::{ErrorKind, Failure};
//! use haft_tool::{OnConflict, Registry, tool};
//!
//! /// Divides two numbers and returns the whole part.
//! #[tool]
//! async fn divide(
//!     /// What to divide.
//!     number: i64,
//!     /// By how much.
//!     by: i64,
//! ) -> Result<i64, Failure> {
//!     number.checked_div(by).ok_or_else(|| {
//!         Failure::new(ErrorKind::InvalidArguments, "nothing can be divided by zero")
//!     })
//! }
//!
//! let registry = Registry::default();
//! registry.register_tool(divide::tool()?, OnConflict::Reject)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: what a tool is (`haft-tool`), and anything that happens while one runs.

mod attribute;
mod docs;
mod expand;
mod function;
mod parameter;
mod problems;
mod slot;
mod tool;

use proc_macro::TokenStream;
use syn::parse_quote;

/// Makes a tool of an `async fn`.
///
/// The function stays as it is, to be called and tested like any other. Beside it appears a type of the same name that
/// implements `TypedTool`; its `tool()` makes the tool for a registry:
///
/// ```
/// use haft_protocol::Failure;
/// use haft_tool::{Call, OnConflict, Registry, ToolPath, tool};
///
/// /// Counts the lines of a file that contain a word.
/// ///
/// /// Use it to find out whether a search is worth its output.
/// #[tool(name = "text/count", run_ms = 10_000)]
/// async fn count(
///     /// The file to look at.
///     #[slot(read)]
///     path: ToolPath,
///     /// The word to look for.
///     word: String,
///     /// Lines to stop after.
///     #[serde(default = "everything")]
///     #[schemars(range(min = 1))]
///     at_most: u64,
///     /// A second word that the same line has to contain.
///     and: Option<String>,
///     call: &Call,
/// ) -> Result<u64, Failure> {
///     // The body asks the call for what `path` was bound to, and counts.
/// #   let _ = (path, word, at_most, and, call);
///     Ok(0)
/// }
///
/// fn everything() -> u64 {
///     u64::MAX
/// }
///
/// let registry = Registry::default();
/// registry.register_tool(count::tool()?, OnConflict::Reject)?;
/// let snapshot = registry.snapshot();
/// let count = &snapshot.find("text/count").ok_or("registered above")?.descriptor;
/// assert!(count.description().starts_with("Counts the lines"));
/// assert_eq!(count.input().required().collect::<Vec<_>>(), ["path", "word"]);
/// assert!(count.capabilities().is_read_only());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Functions and types have names of their own kind, so both can be called `count`; a module `count` beside them cannot.
///
/// The whole doc comment is what a model reads about the tool; a tool without one does not compile.
///
/// # Parameters
///
/// | Parameter | What it is |
/// |---|---|
/// | `name: T` | An argument. Its doc comment describes it; serde's and schemars' attributes apply. `T` is owned and implements serde's `Deserialize` and schemars' `JsonSchema`. |
/// | `name: Option<T>` | An argument that may be left out. |
/// | `#[slot(read)] name: ToolPath` | A path that is bound before the body runs: `read`, `write`, or `write_tree` for everything beneath it. `Option<ToolPath>` and `Vec<ToolPath>` do too. With `optional_target` it need not exist; `name = "…"` calls the slot something else. |
/// | `call: &Call` or `call: Call` | The call itself, known by its type. |
/// | `#[args] args: T` | All arguments at once, for a `T` that is a struct or an internally tagged enum with an action for each variant. Slots name the field: `#[args] #[slot(read, argument = "/path")]`; an item of a list is `/paths/*`. |
///
/// The arguments are closed: what no parameter is called is refused.
///
/// # Result
///
/// The function returns `T` or `Result<T, E>`, where `T` is `IntoOutput` and `E` turns into a `Failure`. `Json<T>`
/// advertises a contract of its own.
///
/// # Declarations
///
/// | Argument | What it declares |
/// |---|---|
/// | `name = "namespace/name"` | The tool's name. Without it the function's, in the namespace `local`. |
/// | `description = "…"`, `description_file = "x.md"` | What a model reads instead of the doc comment; the file is beside the source file. |
/// | `read_only` | It looks at files and changes nothing. A `read` slot declares as much. |
/// | `capabilities(…)` | What it may do: `read_files`, `write_files`, `execute`, `network`, `external`, `session`. What changes something has to stand here. |
/// | `idempotent` | A repetition changes nothing further. |
/// | `always_ask` | A person has to say yes each time. |
/// | `side_effect = "…"` | An effect that haft cannot see; may stand several times. |
/// | `run_ms = 5_000` | How long the body may run, in milliseconds. |
/// | `composite` | The body only waits for other calls, and holds no permit. |
/// | `crate = "…"` | The path of `haft-tool`, where it is not `::haft_tool`. |
///
/// Names that break the grammar or take a reserved namespace, and declarations that contradict each other, do not
/// compile. What cannot be said here, such as effects that follow from the arguments, can be said by a `TypedTool`
/// written by hand.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(parse_quote!(::haft_tool), arguments.into(), item.into()).into()
}

/// Makes a tool of an `async fn`, for those who depend on `haft` alone.
///
/// This is [the attribute](macro@tool) of `haft-tool`, and everything said there holds; only the generated paths start
/// at `::haft::tool_api`.
#[proc_macro_attribute]
pub fn facade_tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(parse_quote!(::haft::tool_api), arguments.into(), item.into()).into()
}
