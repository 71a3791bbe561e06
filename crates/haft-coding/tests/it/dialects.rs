//! What each provider is given of the tools.

use std::fmt::Write as _;
use std::sync::Arc;

use haft_coding::{
    AstSearch, Bash, BashSettings, CodeCheck, CodeNav, Editor, Reader, Search, Undo,
};
use haft_schema::dialect::{Dialect, choose_strict, lower};
use haft_tool::{Tool, TypedTool as _};

fn tools() -> Vec<Arc<dyn Tool>> {
    let launcher = || haft_process::Launcher::new(None, "/tmp");
    [
        Reader.erase(),
        Editor.erase(),
        Search.erase(),
        CodeNav.erase(),
        AstSearch.erase(),
        Bash::new(launcher(), BashSettings::default()).erase(),
        CodeCheck::new(launcher(), BashSettings::default()).erase(),
        Undo.erase(),
    ]
    .map(Result::unwrap)
    .to_vec()
}

#[test]
fn dialects_that_take_nearly_everything_take_the_tools_as_they_are() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic, Dialect::GeminiJson, Dialect::Loose] {
        for tool in tools() {
            let descriptor = tool.descriptor();
            let lowered = lower(descriptor.input().schema(), dialect);
            assert_eq!(lowered.schema, **descriptor.input().schema(), "{}", descriptor.name());
            assert!(lowered.losses.is_empty() && lowered.inverse.is_identity());
        }
    }
}

#[test]
fn the_tools_in_each_narrow_dialect() {
    for dialect in [
        Dialect::OpenAiStrict,
        Dialect::AnthropicStrict,
        Dialect::Gemini,
        Dialect::LlamaCpp,
        Dialect::Common,
    ] {
        let mut text = String::new();
        for tool in tools() {
            let descriptor = tool.descriptor();
            let lowered = lower(descriptor.input().schema(), dialect);
            let schema = serde_json::to_string_pretty(&lowered.schema).unwrap();
            let _ = writeln!(text, "{} {schema}", descriptor.name());
            for loss in lowered.losses {
                let _ = writeln!(text, "{}: {} {:?}", loss.pointer, loss.what, loss.kind);
            }
            text.push('\n');
        }
        insta::assert_snapshot!(dialect.as_str(), text);
    }
}

#[test]
fn which_tools_may_be_strict_at_once() {
    let strict = |dialect: Dialect| {
        let tools = tools();
        let weights: Vec<_> = tools
            .iter()
            .map(|it| lower(it.descriptor().input().schema(), dialect).weight)
            .collect();
        let chosen = choose_strict(dialect, &weights).into_iter().zip(&tools);
        let names =
            chosen.filter(|(strict, _)| *strict).map(|(_, it)| it.descriptor().name().to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(strict(Dialect::OpenAiStrict), @"builtin/reader builtin/editor builtin/search builtin/code_nav builtin/ast_search builtin/bash builtin/code_check builtin/undo");
    insta::assert_snapshot!(strict(Dialect::AnthropicStrict), @"builtin/reader builtin/editor builtin/ast_search");
}
