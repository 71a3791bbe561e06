//! A yes for good: the rule that says it, and where it is kept.

use std::io;
use std::path::{Path, PathBuf};

use haft::config::{Config, Sources};
use haft::policy::shell::{Script, ShellCommand, Word};
use haft::policy::{CommandPattern, Rule, ToolPattern};
use haft::ports::Question;

use crate::files;

/// Commands that one rule is offered for.
const COMMANDS: usize = 5;

/// Directories whose programs a model cannot rewrite.
const SYSTEM: &[&str] = &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/"];

/// Programs that run what a file named in their arguments holds, without the digits of a version.
const INTERPRETERS: &[&str] = &[
    ".",
    "ash",
    "bash",
    "bun",
    "busybox",
    "csh",
    "dash",
    "deno",
    "elixir",
    "escript",
    "expect",
    "fish",
    "groovy",
    "guile",
    "java",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "mksh",
    "node",
    "nodejs",
    "npx",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "pypy",
    "python",
    "racket",
    "ruby",
    "scala",
    "sh",
    "source",
    "swipl",
    "tclsh",
    "tcsh",
    "ts-node",
    "tsx",
    "wish",
    "yash",
    "zsh",
    "Rscript",
];

/// Programs that run a file where `run` or `exec` stands among their arguments.
const RUNNERS: &[&str] = &["go", "hatch", "npm", "pdm", "pipenv", "poetry", "rye", "uv"];

/// Programs that take what they do from a file that `-f` names.
const DRIVEN: &[&str] = &["awk", "gawk", "gmake", "make", "mawk", "nawk", "sed"];

/// Programs that do what the files of a project say, whatever their arguments are.
const DIRECTED: &[&str] = &[
    "ant",
    "bazel",
    "bundle",
    "cargo",
    "cmake",
    "composer",
    "ctest",
    "dotnet",
    "eslint",
    "gmake",
    "go",
    "gradle",
    "gradlew",
    "grunt",
    "gulp",
    "hatch",
    "jest",
    "just",
    "make",
    "meson",
    "mix",
    "mocha",
    "mvn",
    "ninja",
    "nox",
    "npm",
    "pdm",
    "phpunit",
    "pip",
    "pipenv",
    "playwright",
    "pnpm",
    "poetry",
    "pre-commit",
    "pytest",
    "rake",
    "rspec",
    "rye",
    "sbt",
    "stack",
    "swift",
    "task",
    "tox",
    "turbo",
    "uv",
    "vite",
    "vitest",
    "webpack",
    "yarn",
    "zig",
];

/// A rule that allows what was asked about, and the file that it would stand in.
#[derive(Debug, Clone)]
pub(super) struct Always {
    rule: Rule,
    directed: Vec<String>,
    file: PathBuf,
}

impl Always {
    /// Makes the narrowest rule about a question, where there is one that speaks for itself: of plain commands with nothing
    /// left to chance, none of which runs a file whose contents may be others tomorrow, or in another project.
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
        let mut directed: Vec<String> = Vec::new();
        for command in commands {
            if runs_a_file(command) {
                return None;
            }
            let pattern = CommandPattern::exactly(command)?;
            if !rule.commands().contains(&pattern) {
                rule = rule.command(pattern);
            }
            let name = name_of(command).filter(|it| DIRECTED.contains(it));
            if let Some(name) = name
                && !directed.iter().any(|it| it == name)
            {
                directed.push(name.to_owned());
            }
        }
        Some(Self { rule, directed, file: file.to_owned() })
    }

    /// Returns the rule as it would stand in the file.
    pub(super) fn to_toml(&self) -> String {
        self.rule.to_toml()
    }

    /// Returns the programs among the commands that do what the files of a project say.
    pub(super) fn directed(&self) -> &[String] {
        &self.directed
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

/// Tells whether a command names a program or a script that may lie in the workspace: the words of a rule would stay the
/// same, and what they mean would not.
fn runs_a_file(command: &ShellCommand) -> bool {
    let Some(program) = command.program().and_then(Word::literal) else { return true };
    let is_of_the_system = SYSTEM.iter().any(|it| program.starts_with(it));
    if program.contains('/') && (!is_of_the_system || program.contains("/../")) {
        return true;
    }
    let Some(name) = name_of(command) else { return true };
    let arguments: Vec<&str> = command.arguments().iter().filter_map(Word::literal).collect();
    if INTERPRETERS.contains(&name) {
        return !matches!(arguments.as_slice(), ["--version" | "-V" | "--help"]);
    }
    let has_file = |it: &&str| it.starts_with("--file") || is_flag_with(it, 'f');
    (RUNNERS.contains(&name) && arguments.iter().any(|it| matches!(*it, "run" | "exec" | "x")))
        || (DRIVEN.contains(&name) && arguments.iter().any(has_file))
}

/// Returns the name of a command's program, without its path and the digits of a version.
fn name_of(command: &ShellCommand) -> Option<&str> {
    let program = command.program().and_then(Word::literal)?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    Some(if bare.is_empty() { name } else { bare })
}

/// Tells whether an argument is one letter or several behind a dash, this one among them.
fn is_flag_with(argument: &str, letter: char) -> bool {
    argument.strip_prefix('-').is_some_and(|it| !it.starts_with('-') && it.contains(letter))
}

/// Returns the rules that a text of a configuration has.
fn rules(file: &Path, text: Vec<u8>) -> io::Result<Vec<Rule>> {
    let sources = Sources { user: Some(file), ..Sources::default() };
    let door = |_: &Path| -> io::Result<Option<Vec<u8>>> { Ok(Some(text.clone())) };
    Ok(Config::load(&sources, &door).map_err(|error| io::Error::other(error.to_string()))?.rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> bool {
        Script::parse(text).commands().iter().any(runs_a_file)
    }

    #[test]
    fn what_names_a_program_or_a_script_by_a_path_runs_a_file() {
        for text in [
            "./run.sh",
            "tools/run.sh --fast",
            "/home/ada/project/run.sh",
            "/usr/bin/../../home/ada/run.sh",
            "sh run.sh",
            "/bin/sh run.sh",
            "bash -x ./run.sh",
            ". run.sh",
            "source env.sh",
            "python3.12 run.py",
            "python -m run",
            "node run.js",
            "timeout 5 ./run.sh",
            "env sh run.sh",
            "cargo build && ./run.sh",
            "xargs ./run.sh",
            "find . -exec ./run.sh {} +",
            "uv run run.py",
            "go run run.go",
            "make -f run.mk",
            "awk -f run.awk",
        ] {
            assert!(runs(text), "{text}");
        }
    }

    #[test]
    fn what_names_none_is_a_plain_command() {
        for text in [
            "echo one",
            "ls -l src",
            "git status",
            "cargo test -p x",
            "/usr/bin/git diff a.py",
            "cat run.sh",
            "python3 --version",
            "make test",
            "go vet .",
            "timeout 5 cargo check",
        ] {
            assert!(!runs(text), "{text}");
        }
    }
}
