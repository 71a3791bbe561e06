#![allow(unused_variables)]

use haft_tool::{Call, ToolPath, tool};

/// Takes a pattern.
#[tool]
async fn pattern((a, b): (i64, i64)) {}

/// Takes a borrowed argument.
#[tool]
async fn borrowed(text: &str) {}

/// Takes two calls.
#[tool]
async fn two_calls(one: &Call, two: Call) {}

/// Takes a path without a use for it.
#[tool]
async fn no_slot(path: ToolPath) {}

/// Fills a slot from text.
#[tool]
async fn no_path(#[slot(read)] path: String) {}

/// Hides paths where no slot reaches them.
#[tool]
async fn hidden(path: (ToolPath, ToolPath)) {}

/// Misspells the use.
#[tool]
async fn misspelt(#[slot(wirte)] path: ToolPath) {}

/// Writes and does not say so.
#[tool]
async fn undeclared(#[slot(write)] path: ToolPath) {}

/// Takes everything twice.
#[tool]
async fn everything(#[args] all: i64, one: i64) {}

fn main() {}
