use std::collections::BTreeSet;

use haft_protocol::limits::DESCRIPTION_BYTES;
use proc_macro2::TokenStream;
use syn::parse_quote;

use super::*;

fn expanded(arguments: &str, item: &str) -> TokenStream {
    let (arguments, item) = (arguments.parse().unwrap(), item.parse().unwrap());
    tool(parse_quote!(::haft_tool), arguments, item)
}

/// Returns what is said about a function that cannot be a tool, a line for each fault.
fn faults(arguments: &str, item: &str) -> String {
    let function: ItemFn = syn::parse_str(item).unwrap();
    match Tool::read(parse_quote!(::haft_tool), arguments.parse().unwrap(), function) {
        Ok(_) => "none".to_owned(),
        Err(error) => {
            let lines: Vec<String> = error.into_iter().map(|fault| fault.to_string()).collect();
            lines.join("\n")
        }
    }
}

/// Returns the expansion as a person would write it.
fn written(arguments: &str, item: &str) -> String {
    prettyplease::unparse(&syn::parse2(expanded(arguments, item)).unwrap())
}

/// Returns one line of an expansion that holds a word.
fn line(arguments: &str, item: &str, word: &str) -> String {
    let written = written(arguments, item);
    written.lines().find(|line| line.contains(word)).unwrap_or("none").trim().to_owned()
}

const ADD: &str = "/// Adds.\n async fn add(a: i64) -> i64 { a }";

#[test]
fn a_function_becomes_a_tool_of_the_same_name_and_stays_a_function() {
    let item = r#"
        /// Copies a file.
        ///
        /// Keeps its mode.
        #[tracing::instrument]
        pub async fn copy(
            /// The file to copy.
            #[slot(read)] from: ToolPath,
            /// Where to.
            #[slot(write)]
            #[serde(rename = "to")]
            target: ToolPath,
            /// How often to try.
            #[serde(default)]
            mut tries: u32,
            call: &Call,
        ) -> Result<String, Failure> {
            Ok(String::new())
        }
    "#;
    let arguments = r#"name = "files/copy", capabilities(write_files), idempotent, run_ms = 5_000"#;
    insta::assert_snapshot!(written(arguments, item), @r#"
    #[allow(clippy::unused_async)]
    /// Copies a file.
    ///
    /// Keeps its mode.
    #[tracing::instrument]
    pub async fn copy(
        from: ToolPath,
        target: ToolPath,
        mut tries: u32,
        call: &Call,
    ) -> Result<String, Failure> {
        Ok(String::new())
    }
    ///The tool `files/copy`, made of the function of the same name.
    #[allow(non_camel_case_types)]
    #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
    pub struct copy {}
    impl copy {
        /// Makes the tool, ready for a registry.
        ///
        /// # Errors
        ///
        /// Fails when the types' schemas cannot be contracts or the facts contradict them.
        pub fn tool() -> ::core::result::Result<
            ::std::sync::Arc<dyn ::haft_tool::Tool>,
            ::haft_tool::DescriptorError,
        > {
            ::haft_tool::TypedTool::erase(Self {})
        }
    }
    const _: () = {
        #[derive(
            ::haft_tool::__private::serde::Deserialize,
            ::haft_tool::__private::schemars::JsonSchema
        )]
        #[serde(crate = "::haft_tool::__private::serde", deny_unknown_fields)]
        #[schemars(crate = "::haft_tool::__private::schemars")]
        pub struct __ToolArgs {
            /// The file to copy.
            from: ToolPath,
            /// Where to.
            #[serde(rename = "to")]
            target: ToolPath,
            /// How often to try.
            #[serde(default)]
            tries: u32,
        }
        impl ::haft_tool::TypedTool for copy {
            type Args = __ToolArgs;
            type Output = ::haft_tool::__private::Ended<Result<String, Failure>>;
            fn facts(
                &self,
            ) -> ::core::result::Result<::haft_tool::Facts, ::haft_tool::DescriptorError> {
                ::core::result::Result::Ok(::haft_tool::Facts {
                    name: ::haft_tool::__private::QualifiedName::for_user("files/copy")?,
                    title: ::core::option::Option::None,
                    description: ::std::string::String::from(
                        "Copies a file.\n\nKeeps its mode.",
                    ),
                    capabilities: ::haft_tool::__private::Capabilities::builder()
                        .effect(::haft_tool::__private::Capability::ReadFiles)
                        .effect(::haft_tool::__private::Capability::WriteFiles)
                        .idempotent()
                        .build()?,
                    slots: ::std::vec![
                        ::haft_tool::Slot::read("from"), ::haft_tool::Slot::write("to")
                    ],
                    commands: ::std::vec![],
                    run_ms: ::core::option::Option::Some(5000u64),
                    composite: false,
                })
            }
            async fn run(
                &self,
                call: ::haft_tool::Call,
                args: Self::Args,
            ) -> ::core::result::Result<Self::Output, ::haft_tool::__private::Failure> {
                ::core::result::Result::Ok(
                    ::haft_tool::__private::Ended(
                        copy(args.from, args.target, args.tries, &call).await,
                    ),
                )
            }
        }
    };
    "#);
}

#[test]
fn a_function_may_take_nothing_or_everything_at_once() {
    let written = |item| written("", item).replace(char::is_whitespace, "");
    let nothing = written("/// Tells the time.\n async fn now() -> u64 { 0 }");
    assert!(nothing.contains("Ended(now().await)"), "{nothing}");
    assert!(nothing.contains("_:::haft_tool::Call"), "{nothing}");

    let all = written("/// Searches.\n async fn search(call: Call, #[args] args: SearchArgs) {}");
    assert!(!all.contains("__ToolArgs"), "{all}");
    assert!(all.contains("typeArgs=SearchArgs;"), "{all}");
    assert!(all.contains("Ended(search(call,args).await)"), "{all}");
}

#[test]
fn capabilities_are_what_is_declared_and_what_slots_read() {
    let builder = |arguments: &str, parameters: &str| {
        let item = format!("/// Does it.\n async fn f({parameters}) {{}}");
        let text = written(arguments, &item).replace(char::is_whitespace, "");
        let (_, rest) = text.split_once("Capabilities::builder()").unwrap();
        let (declared, _) = rest.split_once(".build()?").unwrap();
        declared.replace("::haft_tool::__private::", "")
    };
    assert_eq!(builder("", ""), "");
    assert_eq!(builder("read_only", ""), ".effect(Capability::ReadFiles).read_only()");
    assert_eq!(builder("", "#[slot(read)] a: ToolPath"), ".effect(Capability::ReadFiles)");
    assert_eq!(
        builder(
            "capabilities(network, execute), side_effect = \"a\", side_effect = \"b\", always_ask",
            ""
        ),
        ".effect(Capability::Execute).effect(Capability::Network).side_effect(\"a\").side_effect(\"b\").always_ask()"
    );
    assert_eq!(
        builder("capabilities(write_files), idempotent", "#[slot(write)] a: ToolPath"),
        ".effect(Capability::WriteFiles).idempotent()"
    );
}

#[test]
fn slots_point_to_what_serde_calls_the_argument() {
    let slots = |parameters: &str| {
        let item = format!("/// Does it.\n async fn f({parameters}) {{}}");
        let text = written("capabilities(write_files)", &item).replace(char::is_whitespace, "");
        let (_, rest) = text.split_once("::std::vec![").unwrap();
        let (slots, _) = rest.split_once("],commands").unwrap();
        slots.replace("::haft_tool::", "")
    };
    assert_eq!(slots("#[slot(read)] a: ToolPath"), "Slot::read(\"a\")");
    assert_eq!(
        slots("#[slot(write)] r#type: Option<haft_tool::ToolPath>"),
        "Slot::write(\"type\")"
    );
    assert_eq!(
        slots("#[slot(read)] a: Vec<ToolPath>"),
        "Slot::read(\"a\").from_argument(\"/a/*\")"
    );
    assert_eq!(
        slots(
            "#[slot(read)] #[serde(default, rename(deserialize = \"b\"))] a: Option<Vec<ToolPath>>"
        ),
        "Slot::read(\"b\").from_argument(\"/b/*\")"
    );
    assert_eq!(
        slots("#[slot(write_tree, optional_target, name = \"target\")] a: ToolPath"),
        "Slot{existence:Existence::Optional,..Slot::write_tree(\"target\").from_argument(\"/a\")}"
    );
    assert_eq!(
        slots(
            "#[args] #[slot(read, argument = \"/path\")] #[slot(write, argument = \"/edits/*/path\", name = \"edited\")] a: Edits"
        ),
        "Slot::read(\"path\"),Slot::write(\"edited\").from_argument(\"/edits/*/path\")"
    );
}

#[test]
fn a_description_comes_from_the_comment_an_argument_or_a_file() {
    assert_eq!(
        line("", ADD, "description:"),
        "description: ::std::string::String::from(\"Adds.\"),"
    );
    assert_eq!(
        line("description = \"Sums.\"", ADD, "description:"),
        "description: ::std::string::String::from(\"Sums.\"),"
    );
    let from_file = line("description_file = \"add.md\"", "async fn add() {}", "include_str");
    assert_eq!(from_file, "::core::include_str!(\"add.md\").trim(),");
}

#[test]
fn generated_paths_start_where_they_are_told_to() {
    let text = expanded("crate = \"crate::api\"", ADD).to_string();
    assert!(!text.contains("haft_tool"), "{text}");
    let text = written("crate = \"crate::api\"", ADD);
    assert!(text.contains("crate = \"crate::api::__private::serde\""), "{text}");
}

#[test]
fn generated_code_needs_nothing_but_the_standard_library_and_the_root() {
    let item = "/// Does it.\n async fn f(#[slot(write)] a: ToolPath) {}";
    let arguments = "capabilities(write_files), side_effect = \"a\", run_ms = 1";
    let text = written(arguments, item).replace(char::is_whitespace, "");
    let in_name = |it: char| it.is_alphanumeric() || it == '_';
    let pieces: Vec<&str> = text.split("::").collect();
    let starts: BTreeSet<&str> = pieces
        .windows(2)
        .filter(|pair| !pair[0].ends_with(|it| in_name(it) || it == '>'))
        .filter_map(|pair| pair[1].split(|it| !in_name(it)).next())
        .collect();
    assert_eq!(starts, BTreeSet::from(["core", "haft_tool", "std"]));
}

#[test]
fn a_condition_on_the_function_holds_for_the_tool() {
    let text = written("", "/// Adds.\n #[cfg(unix)] async fn add() {}");
    assert_eq!(text.matches("#[cfg(unix)]").count(), 4, "{text}");
}

#[test]
fn what_cannot_be_a_tool_stays_a_function_beside_the_fault() {
    let text = written(
        "nme = \"x\"",
        "/// Adds.\n async fn add(/// One.\n a: i64, #[slot(read)] b: T) {}",
    );
    insta::assert_snapshot!(text, @r#"
    ::core::compile_error! {
        "unknown key `nme`; did you mean `name`?"
    }
    ::core::compile_error! {
        "a slot is filled from a `ToolPath`, an `Option<ToolPath>` or a `Vec<ToolPath>`"
    }
    /// Adds.
    async fn add(a: i64, b: T) {}
    "#);
    let text = expanded("", "struct Add;").to_string();
    assert!(text.ends_with("struct Add ;"), "{text}");
}

#[test]
fn a_signature_has_to_be_one_of_a_body() {
    let check = |item: &str| faults("", &format!("/// Does it.\n {item} {{ loop {{}} }}"));
    insta::assert_snapshot!(check("fn f()"), @"a tool is an `async fn`: add `async` before `fn`");
    insta::assert_snapshot!(check("const unsafe extern \"C\" fn f()"), @"
    a tool is an `async fn`: add `async` before `fn`
    a tool cannot be `const`
    a tool cannot be `unsafe`: nobody could uphold its conditions
    a tool cannot be `extern`
    ");
    insta::assert_snapshot!(check("async fn f<T>(a: T) where T: Copy"), @"
    a tool has one contract: a generic function would have many
    a tool has one contract: there is nothing to constrain
    ");
    insta::assert_snapshot!(check("async fn f(&self)"), @"a tool is a free function: `self` has nothing to stand for");
    insta::assert_snapshot!(check("async fn f() -> impl Future"), @"the contract of the output follows from the type: name it");
}

#[test]
fn a_parameter_has_to_be_readable_from_a_call() {
    let check =
        |parameters: &str| faults("", &format!("/// Does it.\n async fn f({parameters}) {{}}"));
    insta::assert_snapshot!(check("(a, b): (i64, i64)"), @"the name of a parameter is what a model reads: a plain name, no pattern");
    insta::assert_snapshot!(check("_: i64"), @"the name of a parameter is what a model reads: a plain name, no pattern");
    insta::assert_snapshot!(check("a: &str, b: &[u8], c: &Path, d: &Map<A, B>, e: &(A, B)"), @"
    an argument belongs to its body: take `String`
    an argument belongs to its body: take a `Vec`
    an argument belongs to its body: take `ToolPath` with a `#[slot]`
    an argument belongs to its body: take `Map`
    an argument belongs to its body: take an owned type
    ");
    insta::assert_snapshot!(check("a: impl Into<String>, b: _"), @"
    the contract follows from the type: name it
    the contract follows from the type: name it
    ");
    insta::assert_snapshot!(check("#[cfg(unix)] a: i64"), @"a tool has one contract: put the condition on the function and write it twice");
    insta::assert_snapshot!(check("#[serde(flatten)] a: A"), @"a closed contract cannot be flattened into: take one type with `#[args]`");
}

#[test]
fn there_is_one_call_and_it_is_no_argument() {
    let check =
        |parameters: &str| faults("", &format!("/// Does it.\n async fn f({parameters}) {{}}"));
    insta::assert_snapshot!(check("a: &Call, b: haft_tool::Call"), @"a body has one call, and it is taken already");
    insta::assert_snapshot!(check("a: &mut Call"), @"nothing about a call can be changed: `&Call`, or `Call` to own it");
    insta::assert_snapshot!(check("/// Documented.\n #[serde(default)] #[slot(read)] a: Call"), @"
    the call is no argument: nothing of it is in the contract
    the call is no argument: nothing of it is in the contract
    ");
}

#[test]
fn all_arguments_are_one_parameter() {
    let check =
        |parameters: &str| faults("", &format!("/// Does it.\n async fn f({parameters}) {{}}"));
    insta::assert_snapshot!(check("#[args] a: A, #[args] b: B, c: C"), @"
    only one parameter can be all arguments
    another parameter is all arguments already: make `c` a field of its type
    ");
    insta::assert_snapshot!(check("#[args(x)] a: A"), @"unexpected token in attribute");
    insta::assert_snapshot!(check("#[args] #[serde(default)] a: A"), @"with `#[args]` this belongs to the type of the arguments");
    insta::assert_snapshot!(check("#[args] #[slot(read)] a: A"), @r#"say which field holds the path: `#[slot(read, argument = "/path")]`"#);
    insta::assert_snapshot!(check("#[args] #[slot(read, argument = \"path\")] a: A"), @"`path` does not point to a field; expected a form like `/path` or `/edits/*/path`");
    insta::assert_snapshot!(check("#[args] #[slot(read, argument = \"/*\")] a: A"), @"`/*` does not point to a field; expected a form like `/path` or `/edits/*/path`");
    insta::assert_snapshot!(
        check("#[args] #[slot(read, argument = \"/a/path\")] #[slot(read, argument = \"/b/path\")] a: A"),
        @r#"another slot is called `path` already: give one of them a `name = "…"`"#
    );
}

#[test]
fn a_path_has_a_slot_and_a_slot_has_a_path() {
    let check =
        |parameters: &str| faults("", &format!("/// Does it.\n async fn f({parameters}) {{}}"));
    insta::assert_snapshot!(check("a: ToolPath, b: Option<ToolPath>"), @"
    a path is nothing without its use: add `#[slot(read)]`, `#[slot(write)]` or `#[slot(write_tree)]`
    a path is nothing without its use: add `#[slot(read)]`, `#[slot(write)]` or `#[slot(write_tree)]`
    ");
    insta::assert_snapshot!(check("#[slot(read)] a: String"), @"a slot is filled from a `ToolPath`, an `Option<ToolPath>` or a `Vec<ToolPath>`");
    insta::assert_snapshot!(check("a: Vec<Option<ToolPath>>, b: [ToolPath; 2]"), @"
    a slot cannot reach a path in here: use `ToolPath`, `Option<ToolPath>` or `Vec<ToolPath>`
    a slot cannot reach a path in here: use `ToolPath`, `Option<ToolPath>` or `Vec<ToolPath>`
    ");
    insta::assert_snapshot!(check("#[slot(read)] #[slot(read)] a: ToolPath"), @"a parameter fills one slot");
    insta::assert_snapshot!(check("#[slot] a: ToolPath, #[slot()] b: ToolPath"), @"
    expected attribute arguments in parentheses: #[slot(...)]
    expected `read`, `write` or `write_tree`
    ");
    insta::assert_snapshot!(check("#[slot(raed)] a: ToolPath, #[slot(read, write)] b: ToolPath"), @"
    unknown word `raed`; did you mean `read`?
    a slot is for one use, and this is `read` already
    ");
    insta::assert_snapshot!(check("#[slot(read, argument = \"/b\")] a: ToolPath"), @"the parameter is the argument; `argument` is for slots of an `#[args]` type");
    insta::assert_snapshot!(check("#[slot(read)] #[serde(rename = \"a/b\")] a: ToolPath"), @"a slot cannot take its path from `a/b`: `/` and `~` mean something in pointers");
    insta::assert_snapshot!(check("#[slot(write)] a: ToolPath"), @"`write` changes files: declare `capabilities(write_files)`");
    insta::assert_snapshot!(
        faults("capabilities(write_files)", "/// Does it.\n async fn f(#[slot(write, optional_target)] a: ToolPath) {}"),
        @"what `write` names may always come to be: leave `optional_target` out"
    );
}

#[test]
fn declarations_do_not_contradict_each_other() {
    insta::assert_snapshot!(faults("read_only, capabilities(write_files, network)", ADD), @"declared read-only, yet also `write_files`: drop one of them");
    insta::assert_snapshot!(faults("capabilities(network), side_effect = \"mail\"", ADD), @"`side_effects` needs a capability that changes something, such as `write_files`");
    insta::assert_snapshot!(
        faults("read_only", "/// Does it.\n async fn f(#[slot(write)] a: ToolPath) {}"),
        @"declared read-only, yet also `write`: drop one of them"
    );
}

#[test]
fn arguments_of_the_attribute_are_known_and_stand_once() {
    insta::assert_snapshot!(faults("nme = \"a\", readonly, zzz, haft::name = \"b\"", ADD), @"
    unknown key `nme`; did you mean `name`?
    unknown key `readonly`; did you mean `read_only`?
    unknown key `zzz`; expected one of `name`, `description`, `description_file`, `read_only`, `capabilities`, `idempotent`, `always_ask`, `side_effect`, `run_ms`, `composite`, `crate`
    unknown key `haft::name`; expected one of `name`, `description`, `description_file`, `read_only`, `capabilities`, `idempotent`, `always_ask`, `side_effect`, `run_ms`, `composite`, `crate`
    ");
    insta::assert_snapshot!(faults("capabilities(network, networks, network)", ADD), @"
    unknown capability `networks`; did you mean `network`?
    `network` stands here twice
    ");
    insta::assert_snapshot!(faults("read_only, read_only, name = \"a\", name = \"b\"", ADD), @"
    `read_only` stands here twice
    `name` stands here twice
    ");
    insta::assert_snapshot!(faults("name = 1, read_only = true, capabilities = \"x\", composite()", ADD), @r#"
    expected a text: `name = "…"`
    `read_only` stands alone: it is declared or left out
    expected a list: `capabilities(read_files, write_files, execute, network, external, session)`
    `composite` stands alone: it is declared or left out
    "#);
    insta::assert_snapshot!(faults("run_ms = 0", ADD), @"expected milliseconds, at least 1: `run_ms = 5_000`");
    insta::assert_snapshot!(faults("run_ms = 99999999999999999999", ADD), @"number too large to fit in target type");
    insta::assert_snapshot!(faults("description = \"a\", description_file = \"b\"", ADD), @"`description` and `description_file` exclude each other");
    insta::assert_snapshot!(faults("crate = \"not a path\"", ADD), @"`not a path` is not a path such as `haft::tool_api`");
    insta::assert_snapshot!(faults("\"name\"", ADD), @"expected identifier");
}

#[test]
fn names_keep_the_grammar_and_stay_out_of_reserved_namespaces() {
    insta::assert_snapshot!(faults("name = \"files/add/now\"", ADD), @"`files/add/now` is not a tool name: expected `name`, `namespace/name` or `server:namespace/name`");
    insta::assert_snapshot!(faults("name = \"files/1st\"", ADD), @"name `1st` is not a name: expected a letter, then letters, digits, `_` or `-`, at most 64 characters");
    insta::assert_snapshot!(faults("name = \"builtin/add\"", ADD), @"namespace `builtin` is reserved: choose another, such as `local`");
    insta::assert_snapshot!(faults("name = \"OpenAI/add\"", ADD), @"namespace `OpenAI` is reserved: choose another, such as `local`");
    insta::assert_snapshot!(faults("", "/// Adds.\n async fn _add() {}"), @r#"name `_add` is not a name: expected a letter, then letters, digits, `_` or `-`, at most 64 characters; say another with `name = "…"`"#);
}

#[test]
fn a_tool_without_a_description_is_refused() {
    insta::assert_snapshot!(faults("", "async fn add() {}"), @"a model cannot choose what nothing is said about: add a doc comment that says what the tool does and when to use it");
    insta::assert_snapshot!(faults("description = \" \"", ADD), @"a model cannot choose what nothing is said about: add a doc comment that says what the tool does and when to use it");
    insta::assert_snapshot!(faults("", "#[doc = include_str!(\"a.md\")] async fn add() {}"), @r#"this text is not known to `#[tool]`: say `description_file = "…"` in its arguments"#);
    let long = format!("description = \"{}\"", "a".repeat(DESCRIPTION_BYTES + 1));
    insta::assert_snapshot!(faults(&long, ADD), @"the description has 16385 bytes; at most 16384 are allowed");
}
