//! Seeing through the programs that run others.

use super::plain::{RESERVED, is_name};
use super::programs::{
    ASSIGNING, EVALUATING, FIND_RUNS, FIND_WRITES, Frame, GIT_COMMANDS, GIT_RUNS, Runner, SHELLS,
    SSH, Takes, WATCH, opaque, runner_of,
};
use super::reader::{Around, Reader};
use super::{ShellCommand, Unknown, Word};

const WRITES: &str = "writes the file that an option names";

/// The words behind a runner's options.
struct Rest<'w> {
    words: &'w [Word],
    assignments: Vec<String>,
    /// Whether there were options.
    has_options: bool,
}

impl Reader {
    /// Reads what a command runs beyond its own program.
    pub(super) fn see_through(&mut self, command: &ShellCommand, inside: &Around) {
        let Some(program) = &command.program else { return };
        let Some(path) = program.literal() else { return };
        let name = path.rsplit('/').next().unwrap_or(path);
        let arguments = command.arguments.as_slice();
        if let Some(why) = opaque(name) {
            return self.unclear(program.text(), why);
        }
        self.builtin(name, arguments, inside);
        match name {
            "eval" => self.joined(name, arguments, inside),
            "trap" => self.trap(arguments, inside),
            "find" => self.find(arguments, inside),
            "git" => self.git(arguments, inside),
            "ssh" => self.through_shell(&SSH, arguments, inside),
            "watch" => self.through_shell(&WATCH, arguments, inside),
            "parallel" => self.parallel(arguments, inside),
            _ if SHELLS.contains(&name) => self.shell(name, arguments, inside),
            _ => {
                if let Some(runner) = runner_of(name) {
                    self.runner(runner, path == name, arguments, inside);
                }
            }
        }
    }

    /// Looks after builtins that set variables, calculate, or change how a text is read.
    fn builtin(&mut self, name: &str, arguments: &[Word], inside: &Around) {
        let starts = |prefix: &str| {
            arguments.iter().any(|it| it.literal().is_none_or(|it| it.starts_with(prefix)))
        };
        let assigns = match name {
            "printf" => arguments
                .first()
                .is_some_and(|it| it.literal().is_none_or(|it| it.starts_with("-v"))),
            "wait" => starts("-p"),
            _ => ASSIGNING.contains(&name),
        };
        if assigns {
            self.beside(inside.run_by, "sets variables");
        }
        let indexes =
            |it: &Word| it.literal().is_some_and(|it| it.contains('[') && it.contains(['$', '`']));
        if (ASSIGNING.contains(&name) || EVALUATING.contains(&name))
            && arguments.iter().any(indexes)
        {
            self.unclear(name, "it may run what stands in the index of an array");
        }
        let runs = match name {
            "jobs" => starts("-x"),
            "mapfile" | "readarray" => starts("-C"),
            "set" => !arguments.iter().all(|it| it.literal().is_some_and(is_harmless_setting)),
            _ => false,
        };
        if runs {
            self.unclear(name, "its options change what later commands mean, or run one");
        }
    }

    fn runner(&mut self, runner: &Runner, is_bare: bool, arguments: &[Word], inside: &Around) {
        let asks_only = |it: &Word| matches!(it.literal(), Some("-v" | "-V" | "-pv" | "-pV"));
        if runner.name == "command" && arguments.first().is_some_and(asks_only) {
            return;
        }
        let Some(rest) = self.behind_options(runner, arguments) else { return };
        let mut words = rest.words.to_vec();
        if runner.name == "xargs" {
            if words.is_empty() {
                words.push(Word::literal_of("echo"));
            }
            fill_in(&mut words, &replaced(arguments));
            words.push(Word::unknown("…", Unknown::Input));
        }
        let starts_otherwise = |it: &Word| {
            RESERVED.contains(&it.text())
                || it.text().split_once('=').is_some_and(|(name, _)| is_name(name))
        };
        if runner.name == "time" && words.first().is_some_and(starts_otherwise) {
            return self.unclear("time", "what it measures is more than one command");
        }
        let is_frame = match runner.frame {
            Frame::Never => false,
            Frame::WithoutOptions => !rest.has_options,
            Frame::Always => true,
        };
        if is_frame && is_bare && !words.is_empty() {
            self.mark_frame(inside.run_by);
        }
        self.words(words, rest.assignments, inside);
    }

    /// Skips a runner's options and operands; what cannot be skipped for certain is not clear.
    fn behind_options<'w>(&mut self, runner: &Runner, arguments: &'w [Word]) -> Option<Rest<'w>> {
        let mut words = arguments;
        let mut rest = Rest { words, assignments: Vec::new(), has_options: false };
        let (mut operands, mut may_be_option) = (runner.operands, true);
        while let Some((first, after)) = words.split_first() {
            let Some(word) = first.literal() else {
                if operands > 0 && first.unknown_by() != Some(Unknown::Expansion) {
                    (operands, words, may_be_option) = (operands - 1, after, false);
                    continue;
                }
                self.unclear(
                    first.text(),
                    format!("what `{}` runs depends on {}", runner.name, depends(first)),
                );
                return None;
            };
            if may_be_option && word == "--" {
                (words, may_be_option) = (after, false);
            } else if may_be_option
                && (word.starts_with('-') && word != "-" || word == "-" && runner.assigns)
            {
                rest.has_options = true;
                words = match runner.option(word) {
                    _ if word == "-" => after,
                    Some(Takes::Nothing) => after,
                    Some(Takes::Next) => after.get(1..).unwrap_or_default(),
                    None => {
                        self.unclear(
                            word,
                            format!("this option of `{}` is not understood", runner.name),
                        );
                        return None;
                    }
                };
            } else if operands > 0 {
                (operands, words, may_be_option) = (operands - 1, after, runner.name == "ssh");
            } else if runner.assigns && word.contains('=') {
                rest.assignments.push(first.text().to_owned());
                (words, may_be_option) = (after, false);
            } else {
                break;
            }
        }
        rest.words = words;
        Some(rest)
    }

    /// Reads the words behind the options as a text, as a shell gets them.
    fn through_shell(&mut self, runner: &Runner, arguments: &[Word], inside: &Around) {
        if let Some(rest) = self.behind_options(runner, arguments) {
            self.joined(runner.name, rest.words, inside);
        }
    }

    /// Reads words as one text.
    fn joined(&mut self, name: &str, words: &[Word], inside: &Around) {
        if words.is_empty() {
            return;
        }
        match words.iter().map(Word::literal).collect::<Option<Vec<_>>>() {
            Some(words) => self.text(&words.join(" "), inside),
            None => self.not_literal(name, words),
        }
    }

    fn not_literal(&mut self, name: &str, words: &[Word]) {
        let Some(word) = words.iter().find(|it| it.literal().is_none()) else { return };
        self.unclear(word.text(), format!("what `{name}` runs depends on {}", depends(word)));
    }

    fn trap(&mut self, arguments: &[Word], inside: &Around) {
        let skipped = usize::from(arguments.first().is_some_and(|it| it.literal() == Some("--")));
        let Some(action) = arguments.get(skipped) else { return };
        match action.literal() {
            Some("-" | "" | "-l" | "-p") => {}
            _ => self.joined("trap", std::slice::from_ref(action), inside),
        }
    }

    /// Reads `sh -c TEXT`, a script in a file, or a shell that reads its input.
    fn shell(&mut self, name: &str, arguments: &[Word], inside: &Around) {
        let mut words = arguments;
        let mut takes_text = false;
        while let Some((first, after)) = words.split_first() {
            let Some(word) = first.literal() else { return self.not_literal(name, arguments) };
            let Some(letters) = word.strip_prefix(['-', '+']) else { break };
            words = after;
            match letters {
                "" | "-" => break,
                "-noprofile" | "-norc" | "-posix" => continue,
                _ => {}
            }
            if !letters.chars().all(|it| "ceuxvfnpo".contains(it)) {
                return self.unclear(word, format!("this option of `{name}` is not understood"));
            }
            takes_text |= letters.contains('c');
            // `-o` takes the name of a setting.
            if letters.contains('o') {
                let setting = words.first().and_then(Word::literal);
                if !setting.is_some_and(is_harmless_setting) {
                    return self
                        .unclear(word, format!("this option of `{name}` is not understood"));
                }
                words = words.get(1..).unwrap_or_default();
            }
        }
        match (takes_text, words.first()) {
            (true, Some(text)) => self.joined(name, std::slice::from_ref(text), inside),
            // A text that is missing is an error, and a script in a file is a program like others.
            (true, None) | (false, Some(_)) => {}
            (false, None) => self.unclear(name, "it runs what it reads from its input"),
        }
    }

    /// Reads the actions of `find`.
    fn find(&mut self, arguments: &[Word], inside: &Around) {
        let mut words = arguments;
        while let Some((first, after)) = words.split_first() {
            words = after;
            let Some(word) = first.literal() else {
                if !matches!(first.unknown_by(), Some(Unknown::Glob | Unknown::Home)) {
                    self.unclear(
                        first.text(),
                        format!("what `find` does depends on {}", depends(first)),
                    );
                }
                continue;
            };
            if FIND_RUNS.contains(&word) {
                let is_end = |it: &Word| matches!(it.literal(), Some(";" | "+"));
                let end = after.iter().position(is_end).unwrap_or(after.len());
                let (run, behind) = after.split_at_checked(end).unwrap_or((after, &[]));
                let mut run = run.to_vec();
                fill_in(&mut run, "{}");
                run.push(Word::unknown("…", Unknown::Input));
                self.words(run, Vec::new(), inside);
                words = behind.get(1..).unwrap_or_default();
            } else if word == "-delete" {
                let found = Word::unknown("…", Unknown::Input);
                self.words(vec![Word::literal_of("rm"), found], Vec::new(), inside);
            } else if FIND_WRITES.contains(&word) {
                self.beside(inside.run_by, WRITES);
            }
        }
    }

    /// Looks for options of git that run programs or write files.
    fn git(&mut self, arguments: &[Word], inside: &Around) {
        let mut command = None;
        let mut words = arguments.iter();
        while let Some(argument) = words.next() {
            let Some(word) = argument.literal() else { continue };
            if command.is_none() && !word.starts_with('-') && words.len() + 1 < arguments.len() {
                // Behind options for all of git stands what it does, which rules name without them.
                let does = [argument].into_iter().chain(words.clone()).cloned();
                let plain = [Word::literal_of("git")].into_iter().chain(does).collect();
                self.words(plain, Vec::new(), inside);
            }
            let is_global = command.is_none();
            let runs = match word {
                "-c" => is_global || command == Some("clone"),
                "-u" => matches!(command, Some("clone" | "fetch" | "ls-remote")),
                _ if word.starts_with("-O") => command == Some("grep"),
                _ if word.starts_with("-c") => is_global,
                _ if word.starts_with("-x") => command == Some("rebase"),
                _ if is_global && !word.starts_with('-') => GIT_COMMANDS.contains(&word),
                // Git takes the beginning of an option for the whole.
                _ => option_name(word)
                    .is_some_and(|name| GIT_RUNS.iter().any(|it| it.starts_with(name))),
            };
            if runs {
                self.unclear(argument.text(), "it may have `git` run other programs");
            }
            if option_name(word)
                .is_some_and(|name| "output".starts_with(name) || "output-directory" == name)
            {
                self.beside(inside.run_by, WRITES);
            }
            if is_global {
                match word {
                    "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix"
                    | "-c" => {
                        words.next();
                    }
                    _ if !word.starts_with('-') => command = Some(word),
                    _ => {}
                }
            }
        }
    }

    /// Reads the command of GNU parallel where it stands before its inputs and without options.
    fn parallel(&mut self, arguments: &[Word], inside: &Around) {
        let is_input = |it: &Word| it.literal().is_some_and(|it| it.starts_with(":::"));
        let end = arguments.iter().position(is_input).unwrap_or(arguments.len());
        let words = arguments.get(..end).unwrap_or_default();
        let is_simple = |it: &Word| it.literal().is_some_and(|it| !it.contains('{'));
        let has_options =
            words.first().and_then(Word::literal).is_none_or(|it| it.starts_with('-'));
        if has_options || !words.iter().all(is_simple) {
            return self.unclear("parallel", "what it runs is not read");
        }
        self.joined("parallel", words, &Around { takes_input: true, ..inside.clone() });
    }
}

/// Returns the text that xargs replaces by what it reads; without one, nothing is replaced.
fn replaced(arguments: &[Word]) -> String {
    let mut words = arguments.iter().map(|it| it.literal().unwrap_or_default());
    while let Some(word) = words.next() {
        if let Some(text) = word.strip_prefix("--replace") {
            let attached = text.strip_prefix('=');
            return attached.or_else(|| words.next()).unwrap_or_default().to_owned();
        }
        if let Some((letters, text)) = word.strip_prefix('-').and_then(|it| it.split_once('I'))
            && !letters.starts_with('-')
        {
            return if text.is_empty() { words.next().unwrap_or_default() } else { text }
                .to_owned();
        }
    }
    String::new()
}

/// Marks the words that hold a text which is replaced.
fn fill_in(words: &mut [Word], replaced: &str) {
    for word in words.iter_mut().filter(|_| !replaced.is_empty()) {
        if word.literal().is_some_and(|it| it.contains(replaced)) {
            *word = Word::unknown(word.text(), Unknown::Input);
        }
    }
}

fn depends(word: &Word) -> &'static str {
    word.unknown_by().map_or("nothing", Unknown::as_str)
}

/// Returns the name of a long option.
fn option_name(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--")?;
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    (!name.is_empty()).then_some(name)
}

/// Tells whether an argument of `set` only says when to stop and what to tell.
fn is_harmless_setting(word: &str) -> bool {
    match word.strip_prefix(['-', '+']) {
        Some(letters) => {
            !letters.is_empty() && letters.chars().all(|it| "eux".contains(it))
                || matches!(letters, "o" | "eo" | "euo" | "euxo" | "xo" | "uo" | "exo")
        }
        None => matches!(word, "errexit" | "nounset" | "pipefail" | "xtrace"),
    }
}
