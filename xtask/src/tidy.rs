//! `cargo xtask tidy`: rules that no linter sees, over the files of the repository.
//!
//! Each rule is a file of its own that turns a [`Tree`] into violations; what is allowed is
//! held as data beside the rule, with a reason for every entry. An entry that no longer
//! matches anything is a violation too, so the lists stay true.

mod doors;
mod entrances;
mod faults;
mod floors;
mod ignored;
mod layout;
mod links;
mod source;
mod tables;
mod tree;
mod vendors;
mod words;

use std::fmt;
use std::process::ExitCode;

use anyhow::Result;

use self::source::SourceFile;
use self::tree::Tree;
use crate::repository;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    path: String,
    line: usize,
    rule: &'static str,
    text: String,
}

impl Violation {
    fn new(path: &str, line: usize, rule: &'static str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, text: text.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}: {}", self.path, self.line, self.rule, self.text)
    }
}

/// Checks the whole repository and prints every violation.
pub(crate) fn run() -> Result<ExitCode> {
    let root = repository::root()?;
    let tree = Tree::read(&root)?;
    let crates = floors::crates(&root)?;

    let mut violations = floors::check(&crates);
    violations.extend(vendors::check(&crates));
    for rule in [
        layout::check,
        entrances::check,
        doors::check,
        faults::check,
        words::check,
        links::check,
        tables::check,
        ignored::check,
    ] {
        violations.extend(rule(&tree));
    }
    violations.sort();
    violations.dedup();

    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => {
            println!("tidy: {} files, no violations", tree.len());
            Ok(ExitCode::SUCCESS)
        }
        found => {
            println!("tidy: {} files, {found} violations", tree.len());
            Ok(ExitCode::FAILURE)
        }
    }
}
