//! A yes for good: the rule that says it, and where it is kept.

use std::io;
use std::path::{Path, PathBuf};

use haft::config::{Config, Sources};
use haft::policy::shell::{Script, ShellCommand};
use haft::policy::{CommandPattern, Rule, ToolPattern};
use haft::ports::Question;

use crate::files;

/// Commands that one rule is offered for.
const COMMANDS: usize = 5;

/// A rule that allows what was asked about, and the file that it would stand in.
#[derive(Debug, Clone)]
pub(super) struct Always {
    rule: Rule,
    file: PathBuf,
}

impl Always {
    /// Makes the narrowest rule about a question, where there is one that speaks for itself: of plain commands with nothing
    /// left to chance.
    pub(super) fn of(question: &Question, file: &Path) -> Option<Self> {
        let text = question.arguments.get("command")?.as_str()?;
        let script = Script::parse(text);
        let is_simple = |it: &ShellCommand| {
            it.beside().is_none() && it.assignments().is_empty() && it.redirections().is_empty()
        };
        let commands: Vec<&ShellCommand> =
            script.commands().iter().filter(|it| !it.is_frame()).collect();
        let is_clear = script.is_plain() && script.unclear().is_empty();
        let are_few = !commands.is_empty() && commands.len() <= COMMANDS;
        if !is_clear || !are_few || !script.commands().iter().all(is_simple) {
            return None;
        }
        let mut rule = Rule::allow().tool(ToolPattern::exactly(&question.ticket.tool));
        for command in commands {
            let pattern = CommandPattern::exactly(command)?;
            if !rule.commands().contains(&pattern) {
                rule = rule.command(pattern);
            }
        }
        Some(Self { rule, file: file.to_owned() })
    }

    /// Returns the rule as it would stand in the file.
    pub(super) fn to_toml(&self) -> String {
        self.rule.to_toml()
    }

    /// Returns the file.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Puts the rule behind what stands in the file, which is left as it is.
    pub(super) fn save(&self) -> io::Result<()> {
        // A link to the file of another place stays one.
        let file = files::real_path(&self.file).unwrap_or_else(|_| self.file.clone());
        let before = files::read(&file, None)?.unwrap_or_default();
        let mut after = before.clone();
        if !after.is_empty() {
            after.extend(if after.ends_with(b"\n") { "\n" } else { "\n\n" }.bytes());
        }
        after.extend(self.rule.to_toml().bytes());
        let (had, has) = (rules(&file, before)?, rules(&file, after.clone())?);
        if has.len() != had.len() + 1 || has.last().map(Rule::to_toml) != Some(self.to_toml()) {
            return Err(io::Error::other("the file has a form that no rule can be added to"));
        }
        files::replace(&file, &after)
    }
}

/// Returns the rules that a text of a configuration has.
fn rules(file: &Path, text: Vec<u8>) -> io::Result<Vec<Rule>> {
    let sources = Sources { user: Some(file), ..Sources::default() };
    let door = |_: &Path| -> io::Result<Option<Vec<u8>>> { Ok(Some(text.clone())) };
    Ok(Config::load(&sources, &door).map_err(|error| io::Error::other(error.to_string()))?.rules)
}
