//! How to write a tool, run it, and watch it.
//!
//! # A tool from a function
//!
//! Doc comments are what a model reads; the types are the contract.
//!
//! ```
//! use haft::{Failure, Haft, OnConflict, State, tool};
//! use serde_json::json;
//!
//! /// Counts how often a word occurs in a text.
//! #[tool(name = "local/count_word")]
//! async fn count_word(
//!     /// The text to look through.
//!     text: String,
//!     /// The word to count.
//!     word: String,
//! ) -> Result<u64, Failure> {
//!     Ok(text.split_whitespace().filter(|it| *it == word).count() as u64)
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let folder = std::env::temp_dir();
//! let haft = Haft::builder().root(folder).state(State::Memory).open()?;
//! haft.registry().register_tool(count_word::tool()?, OnConflict::Reject)?;
//! let outcome = haft.call("count_word", json!({ "text": "a b a", "word": "a" })).await;
//! assert_eq!(outcome.model_text(), "2");
//!
//! // What does not fit the contract never reaches the function, and the answer says what would.
//! let outcome = haft.call("count_word", json!({ "text": "a b a" })).await;
//! assert!(outcome.model_text().contains("word"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A tool that reads files
//!
//! A path argument is a [`ToolPath`](crate::ToolPath) with a slot. Its text cannot be taken out: the body asks the call
//! for the place that was bound, and reads it through the view that protection and rules have already narrowed.
//!
//! ```
//! use std::io::{BufRead as _, BufReader};
//!
//! use haft::workspace::WorkspaceCall as _;
//! use haft::{Call, ErrorKind, Failure, Haft, OnConflict, State, ToolPath, blocking, tool};
//! use serde_json::json;
//!
//! /// Counts the lines of a file.
//! #[tool(name = "local/count_lines")]
//! async fn count_lines(
//!     /// The file.
//!     #[slot(read)]
//!     path: ToolPath,
//!     call: &Call,
//! ) -> Result<u64, Failure> {
//!     let (view, place) = (call.view()?, call.resolved("path")?);
//!     let _ = path;
//!     // Files are read beside the asynchronous threads.
//!     blocking(move || {
//!         let file = view.open(&place)?;
//!         let lines = BufReader::new(file).split(b'\n').count();
//!         u64::try_from(lines).map_err(|_| Failure::new(ErrorKind::LimitExceeded, "too many lines"))
//!     })
//!     .await
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("notes.txt"), "one\ntwo\n")?;
//! # std::fs::write(folder.path().join(".env"), "TOKEN=1\n")?;
//! let haft = Haft::builder().root(folder.path()).state(State::Memory).open()?;
//! haft.registry().register_tool(count_lines::tool()?, OnConflict::Reject)?;
//! let outcome = haft.call("count_lines", json!({ "path": "notes.txt" })).await;
//! assert_eq!(outcome.model_text(), "2");
//!
//! // The gates hold for every tool alike.
//! let outcome = haft.call("count_lines", json!({ "path": ".env" })).await;
//! assert!(outcome.model_text().starts_with("denied by protection"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Hooks
//!
//! A pre-hook may refuse or rewrite; a hook that fails denies. Post-hooks look at recorded outcomes.
//!
//! ```
//! use haft::hooks::PreVerdict;
//! use haft::{Haft, Hooks, State};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let folder = std::env::temp_dir();
//! let hooks = Hooks::none().pre("no listings", |proposed| async move {
//!     Ok(match proposed.arguments.values().get("action") {
//!         Some(action) if action == "list_dir" => PreVerdict::Deny("listings are off today".to_owned()),
//!         _ => PreVerdict::Continue,
//!     })
//! });
//! let haft = Haft::builder().root(folder).hooks(hooks).state(State::Memory).open()?;
//! let outcome = haft.call("reader", json!({ "action": "list_dir" })).await;
//! assert_eq!(outcome.model_text(), "denied by hook no listings: listings are off today");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
