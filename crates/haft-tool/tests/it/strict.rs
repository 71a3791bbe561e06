//! Tools of every form, under the lints of a strict crate and beside names that generated code could trip over.
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]
#![deny(unused_qualifications, non_local_definitions, unused_lifetimes)]

mod files {
    //! A module that shows its tools.

    use haft_protocol::Failure;
    use haft_tool::{Call, Output, ToolPath, tool};

    /// Does nothing with nothing.
    #[tool]
    pub(crate) async fn nothing() {}

    /// Takes every kind of path.
    #[tool(
        name = "files/paths",
        capabilities(write_files, external),
        side_effect = "a mail to the owner",
        idempotent,
        always_ask,
        run_ms = 1_000
    )]
    pub(crate) async fn paths(
        /// One.
        #[slot(read)]
        one: ToolPath,
        /// Perhaps one.
        #[slot(write)]
        perhaps: Option<ToolPath>,
        /// Many.
        #[slot(read, optional_target)]
        #[serde(default)]
        many: Vec<ToolPath>,
        /// A folder.
        #[slot(write_tree, name = "folder")]
        r#in: ToolPath,
        call: Call,
    ) -> Result<Output, Failure> {
        let _ = (one, perhaps, many, r#in);
        Ok(Output::text(call.id().to_string()))
    }
}

mod renamed {
    pub(crate) use haft_tool as api;
}

/// Names that the generated code must not trip over.
#[expect(dead_code, reason = "the names are what matters")]
mod names {
    pub(crate) struct Args;
    pub(crate) struct Option;
    pub(crate) struct Result;
    pub(crate) struct String;
    pub(crate) struct Vec;
    pub(crate) trait Tool {}
}

#[expect(unused_imports, reason = "the names are what matters")]
use names::{Args, Option, Result, String, Tool, Vec};

/// Takes parameters that are called like what is around them.
#[renamed::api::tool(crate = "crate::strict::renamed::api", description_file = "strict.md")]
async fn shadows(
    /// Not the generated arguments.
    args: i64,
    /// Not the call.
    call: i64,
    /// Not the tool itself.
    shadows: i64,
    it: &haft_tool::Call,
) -> core::result::Result<std::string::String, Mishap> {
    let _ = it;
    Ok((args + call + shadows).to_string())
}

/// What went wrong.
#[derive(Debug)]
struct Mishap;

impl From<Mishap> for haft_protocol::Failure {
    fn from(_: Mishap) -> Self {
        Self::new(haft_protocol::ErrorKind::Internal, "a mishap")
    }
}

#[test]
fn tools_of_every_form_are_made() {
    /// Stands inside a function, beside types of its own.
    #[haft_tool::tool]
    async fn local(
        /// A type of the surrounding function.
        unit: Unit,
    ) -> &'static str {
        match unit {
            Unit::Metre => "m",
            Unit::Second => "s",
        }
    }

    /// A unit.
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    enum Unit {
        Metre,
        Second,
    }

    let tools = [files::nothing::tool(), files::paths::tool(), shadows::tool(), local::tool()];
    let names: std::vec::Vec<_> =
        tools.into_iter().map(|it| it.unwrap().descriptor().name().to_string()).collect();
    assert_eq!(names, ["local/nothing", "files/paths", "local/shadows", "local/local"]);
    let _ = (files::nothing {}, files::paths {}, shadows {}, local(Unit::Metre));
    let _ = Unit::Second;
}
