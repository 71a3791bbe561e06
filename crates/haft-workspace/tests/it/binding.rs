//! Slots of calls, bound to the workspace.

use std::fs;
use std::io::Read;
use std::sync::Arc;

use haft_policy::Rule;
use haft_protocol::{Access, Capabilities, Failure, Outcome};
use haft_testkit::Rig as Dispatching;
use haft_tool::ports::{BindRefusal, Binder, Bound, Port, Ports, SlotValue};
use haft_tool::{
    Call, Claim, Dispatch, DispatchLimits, Existence, Facts, Slot, ToolPath, TypedTool, blocking,
};
use haft_workspace::{WalkOptions, WorkspaceBinder, WorkspaceCall};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::rig::{Rig, contents};

/// Reads a file, or all files beneath a directory.
struct Cat;

#[derive(Deserialize, JsonSchema)]
struct CatArgs {
    /// What to read.
    #[expect(dead_code, reason = "the body asks the call")]
    path: ToolPath,
}

impl TypedTool for Cat {
    type Args = CatArgs;
    type Output = String;

    fn facts(&self) -> Result<Facts, haft_tool::DescriptorError> {
        let mut facts = Facts::new("local/cat".parse()?, "Reads.");
        facts.capabilities = Capabilities::read_only();
        facts.slots = vec![Slot::read("path")];
        Ok(facts)
    }

    async fn run(&self, call: Call, _: CatArgs) -> Result<String, Failure> {
        let (view, place) = (call.view()?, call.resolved("path")?);
        assert!(call.resolved("other").is_err());
        assert!(call.places("other")?.is_empty());
        blocking(move || {
            if place.kind() == Some(haft_workspace::FileKind::Directory) {
                return Ok(contents(&view, &place, &WalkOptions::default()).0.join("\n"));
            }
            let mut text = String::new();
            let read = view.open(&place)?.read_to_string(&mut text);
            assert!(read.is_ok());
            Ok(text)
        })
        .await
    }
}

fn dispatching(rig: &Rig, rules: Vec<Rule>) -> Dispatching {
    let mut builder = Dispatching::builder().tool(Cat.erase().unwrap());
    for rule in rules {
        builder = builder.rule(rule);
    }
    let mut dispatching = builder.build();
    let binder = Arc::new(WorkspaceBinder::new(rig.workspace.clone()));
    let ports = Ports { binder, ..dispatching.dispatch.ports().clone() };
    dispatching.dispatch = Dispatch::new(ports, DispatchLimits::default());
    dispatching
}

fn told(outcome: &Outcome) -> String {
    outcome.model_text()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_reads_what_its_slot_is_bound_to() {
    let rig = Rig::new();
    rig.file("a.txt", "text").file("d/b\u{a0}c.txt", "folded").file("d/.env", "SECRET");
    let dispatching = dispatching(&rig, Vec::new());
    let cat = async |path: &str| told(&dispatching.call("cat", json!({ "path": path })).await);
    assert_eq!(cat("a.txt").await, "text");
    insta::assert_snapshot!(cat("d/b c.txt").await, @r"
    folded
    [notice: `d/b c.txt` does not exist; used `d/b<U+00A0>c.txt`, the one name that differs only in spaces or accents]
    ");
    insta::assert_snapshot!(cat("d").await, @r"
    d/b c.txt: folded
    [notice: 1 entry hidden: protected]
    ");
    insta::assert_snapshot!(cat("../out/secret.txt").await, @r"
    denied by workspace: `../out/secret.txt` leads outside the workspace
    hint: use a path within `.`
    ");
    insta::assert_snapshot!(cat("d/.env").await, @r"
    denied by protection: `d/.env` is out of reach: `.env` is protected: environment files hold credentials
    hint: do without its content, or ask the user to provide what is needed
    ");
    insta::assert_snapshot!(cat("b.txt").await, @r"
    failed (not_found): `b.txt` does not exist
    hint: near it: `a.txt`
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_look_alike_are_told_to_those_who_may_see_them() {
    let rig = Rig::new();
    rig.file("a\u{202f}b", "1").file("a\u{a0}b", "2").file("a\u{2009}b", "3");
    let rule = Rule::deny().path("a\u{a0}b".parse().unwrap());
    let dispatching = dispatching(&rig, vec![rule]);
    insta::assert_snapshot!(told(&dispatching.call("cat", json!({ "path": "a b" })).await), @"
    failed (conflict): `a b` does not exist, and `a<U+2009>b`, `a<U+202F>b` differ from it only in spaces or accents
    hint: copy the exact name from a listing
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_narrows_what_the_body_sees() {
    let rig = Rig::new();
    rig.file("src/a.txt", "text").file("private/b.txt", "hidden");
    let rule = Rule::deny().path("private/**".parse().unwrap());
    let dispatching = dispatching(&rig, vec![rule]);
    let outcome = dispatching.call("cat", json!({ "path": "." })).await;
    insta::assert_snapshot!(told(&outcome), @r"
    src/a.txt: text
    [notice: 1 entry hidden by a rule]
    ");
    let outcome = dispatching.call("cat", json!({ "path": "private/b.txt" })).await;
    assert!(!outcome.is_ok());
}

fn value(path: &str, access: Access, existence: Existence) -> SlotValue {
    let slot = Slot { access, existence, ..Slot::read("path") };
    SlotValue { slot, argument: "/path".to_owned(), given: path.to_owned() }
}

async fn bind(rig: &Rig, path: &str, access: Access) -> Result<Arc<dyn Bound>, BindRefusal> {
    let binder = WorkspaceBinder::new(rig.workspace.clone());
    binder.bind(vec![value(path, access, Existence::Optional)]).await
}

async fn claim(rig: &Rig, path: &str, access: Access) -> Claim {
    let Ok(bound) = bind(rig, path, access).await else { panic!("{path} should be bound") };
    bound.claims()[0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_of_every_spelling_are_the_same_and_trees_cover_what_is_in_them() {
    let rig = Rig::new();
    rig.file("a/b/c.txt", "").link("l", "a/b");
    let write = |path: &'static str| claim(&rig, path, Access::Write);
    let tree = |path: &'static str| claim(&rig, path, Access::WriteTree);
    let file = write("a/b/c.txt").await;
    assert_eq!(file.key, write("l/../b/./c.txt").await.key);
    assert_eq!(file.key, claim(&rig, rig.ws("l/c.txt").to_str().unwrap(), Access::Read).await.key);
    assert_ne!(file.key, write("a/b/d.txt").await.key);
    assert_eq!(write("l/new/x").await.key, write("a/b/new/x").await.key);
    for path in ["a/b", "a", ".", "l"] {
        assert!(tree(path).await.excludes(&file), "{path}");
        assert!(file.excludes(&tree(path).await), "{path}");
        assert!(tree(path).await.excludes(&write("a/b/new/x").await), "{path}");
    }
    assert!(!tree("a/b").await.excludes(&write("a/x").await));
    assert!(tree(".").await.excludes(&tree(".").await));
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_and_history_are_bound_for_reading_only() {
    let rig = Rig::new();
    rig.file(".git/config", "").file(".haft/config.toml", "").link("l", ".git");
    for path in
        [".git/config", ".git/hooks/new", ".haft/config.toml", ".haft", "l/config", "x/.GIT/y"]
    {
        assert!(bind(&rig, path, Access::Read).await.is_ok(), "{path}");
        let Err(BindRefusal::Denied(denial)) = bind(&rig, path, Access::Write).await else {
            panic!("{path} should be denied")
        };
        assert_eq!(denial.control, haft_protocol::Control::Protection);
    }
    let Err(BindRefusal::Denied(denial)) = bind(&rig, ".haft/x", Access::Write).await else {
        panic!()
    };
    insta::assert_snapshot!(denial, @"denied by protection: `.haft/x` is read-only for tools: haft's own rules stand there, and only a person changes them");
    assert!(bind(&rig, ".gitignore", Access::Write).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_that_haft_lives_in_is_bound_for_no_program() {
    let rig = Rig::with_own_directory(".config/haft");
    rig.dir(".config/haft").dir(".config/other").dir("src");
    for path in [".", ".config", ".config/haft"] {
        let Err(BindRefusal::Denied(denial)) = bind(&rig, path, Access::WriteTree).await else {
            panic!("{path} should be denied")
        };
        assert_eq!(denial.control, haft_protocol::Control::Protection, "{path}");
    }
    for path in ["src", ".config/other"] {
        assert!(bind(&rig, path, Access::WriteTree).await.is_ok(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binding_is_current_until_its_path_means_something_else() {
    let rig = Rig::new();
    rig.file("a/x", "").file("b/x", "").link("l", "a");
    let Ok(bound) = bind(&rig, "l/x", Access::Write).await else { panic!() };
    assert!(bound.is_current().await);
    assert_eq!(bound.records()[0].path.as_str(), "a/x");
    assert_eq!(bound.records()[0].given, "l/x");
    fs::remove_file(rig.ws("l")).unwrap();
    rig.link("l", "b");
    assert!(!bound.is_current().await);
    let binder = WorkspaceBinder::new(rig.workspace.clone());
    assert!(binder.bind(Vec::new()).await.is_ok_and(|bound| bound.claims().is_empty()));
    assert!(binder.describe().starts_with("the workspace of /"));
}
