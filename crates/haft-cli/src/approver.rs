//! Asking the person at the terminal.

mod always;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::ports::{Approver, Port, Question};
use haft::text::{DiffLimits, unified, visible, visible_line};
use haft::{Answer, BindingRecord, CallId, Digest};
use serde_json::{Map, Value};

use crate::keyboard;
use crate::print::beside_wrapped;
use crate::progress::ProgressLine;
use always::Always;

/// How much of a change is shown that is asked about, beside its arguments.
const LIMITS: DiffLimits = DiffLimits { context: 0, lines: 60, bytes: 16 * 1024, line_bytes: 400 };

/// Characters of a reason that a model is told.
const REASON_CHARS: usize = 500;

/// Asks the person at the terminal, and says that there is nobody where there is no terminal.
#[derive(Debug, Clone)]
pub(crate) struct TerminalApprover {
    user: String,
    may_ask: bool,
    progress: Arc<ProgressLine>,
    run: Option<Arc<Run>>,
    agreed: Agreed,
}

/// Calls that the person said yes to before they were made, each by its own id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agreed(Arc<Mutex<Vec<CallId>>>);

impl Agreed {
    /// Notes that a call that is about to be made was what the person said yes to.
    pub(crate) fn to(&self, call: CallId) {
        self.calls().push(call);
    }

    /// Tells whether the yes to a call is there, which then is used up.
    fn takes(&self, call: CallId) -> bool {
        let mut calls = self.calls();
        let place = calls.iter().position(|it| *it == call);
        place.map(|at| calls.swap_remove(at)).is_some()
    }

    fn calls(&self) -> MutexGuard<'_, Vec<CallId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run of a model, which may ask the same again.
#[derive(Debug)]
struct Run {
    /// The user's file, where rules are kept.
    file: Option<PathBuf>,
    /// What was allowed for the rest of the run.
    allowed: Mutex<Vec<Allowed>>,
    /// Held while somebody is asked: one question at a time.
    asking: tokio::sync::Mutex<()>,
}

/// A call that was allowed: a tool as it was then, with exactly these arguments, whose paths lead where they led.
#[derive(Debug, PartialEq, Eq)]
struct Allowed {
    fingerprint: Digest,
    arguments: Digest,
    bindings: Vec<BindingRecord>,
}

impl Allowed {
    fn of(question: &Question) -> Self {
        let ticket = &question.ticket;
        Self {
            fingerprint: ticket.fingerprint,
            arguments: ticket.arguments_digest,
            bindings: ticket.bindings.clone(),
        }
    }
}

impl TerminalApprover {
    /// Makes an approver. In JSON mode nobody is asked: a program reads the answers.
    pub(crate) fn new(user: String, json: bool, progress: Arc<ProgressLine>) -> Self {
        let may_ask = !json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { user, may_ask, progress, run: None, agreed: Agreed::default() }
    }

    /// Lets a yes that was given beforehand to what a call does be the yes to the call.
    pub(crate) fn with_agreed(self, agreed: Agreed) -> Self {
        Self { agreed, ..self }
    }

    /// Lets answers count for more than one call. `file` is where rules of the user's are kept.
    pub(crate) fn during_a_run(self, file: Option<PathBuf>) -> Self {
        let run = Run { file, allowed: Mutex::default(), asking: tokio::sync::Mutex::default() };
        Self { run: Some(Arc::new(run)), ..self }
    }

    /// Asks a question of our own; nothing, where there is nobody to ask.
    pub(crate) async fn confirm(&self, question: &'static str) -> Option<bool> {
        if !self.may_ask {
            return None;
        }
        match typed(&format!("{question} [y/N] ")).await {
            Ok(line) => Some(is_yes(&line.unwrap_or_default())),
            Err(_) => None,
        }
    }

    fn yes(&self) -> Answer {
        Answer::Approve { by: self.user.clone() }
    }

    fn no(&self, reason: Option<String>) -> Answer {
        Answer::Refuse { by: self.user.clone(), reason }
    }

    /// Asks about one call.
    async fn once(&self, question: &Question) -> Answer {
        let shown = format!("{}\nAllow this once? [y/N] ", shown(question));
        match typed(&shown).await {
            Ok(Some(line)) if is_yes(&line) => self.yes(),
            Ok(_) => self.no(None),
            Err(error) => self.no(Some(format!("the answer could not be read: {error}"))),
        }
    }

    /// Asks about a call of a run, which may come again.
    async fn in_run(&self, run: &Run, question: &Question) -> Answer {
        let call = Allowed::of(question);
        let _one_at_a_time = run.asking.lock().await;
        if run.allowed().contains(&call) {
            return self.yes();
        }
        let always = run.file.as_deref().and_then(|file| Always::of(question, file));
        match typed(&offer(question, always.as_ref())).await {
            Err(error) => self.no(Some(format!("the answer could not be read: {error}"))),
            Ok(line) => match (line.as_deref().map(str::trim), always) {
                (Some(line), _) if is_yes(line) => self.yes(),
                (Some("r" | "R"), _) => {
                    run.allowed().push(call);
                    self.yes()
                }
                (Some("a" | "A"), Some(always)) => {
                    let said = match always.save() {
                        Ok(()) => format!("saved in {}", always.file().display()),
                        Err(error) => format!("allowed in this run, and not saved: {error}"),
                    };
                    let _ = writeln!(anstream::stderr(), "{}", visible_line(&said));
                    run.allowed().push(call);
                    self.yes()
                }
                (None | Some("" | "n" | "N" | "no" | "a" | "A"), _) => self.no(None),
                (Some(reason), _) => self.no(Some(reason.chars().take(REASON_CHARS).collect())),
            },
        }
    }
}

impl Run {
    fn allowed(&self) -> MutexGuard<'_, Vec<Allowed>> {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Port for TerminalApprover {
    fn describe(&self) -> String {
        if self.may_ask {
            format!("{} at this terminal", self.user)
        } else {
            "nobody: standard input is no terminal, or --json was given".to_owned()
        }
    }

    fn is_none(&self) -> bool {
        !self.may_ask
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, question: &'a Question) -> haft::BoxFuture<'a, Answer> {
        Box::pin(async move {
            if !self.may_ask {
                return Answer::Nobody { ways_out: Vec::new() };
            }
            if self.agreed.takes(question.ticket.call) {
                return self.yes();
            }
            // Nothing may be drawn over what a person decides about.
            self.progress.stop();
            let answer = match &self.run {
                Some(run) => self.in_run(run, question).await,
                None => self.once(question).await,
            };
            self.progress.start();
            answer
        })
    }
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim(), "y" | "Y" | "yes")
}

/// Returns a question, safe to print: its head wrapped deeper than any argument begins, what would run as it is.
fn shown(question: &Question) -> String {
    let text = question.to_text();
    let text = visible(&text);
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", beside_wrapped(head, "      ")),
        None => beside_wrapped(&text, "      "),
    }
}

/// Returns a question with all that can be answered, safe to print.
fn offer(question: &Question, always: Option<&Always>) -> String {
    let mut lines = vec![shown(question)];
    lines.extend(change(&question.arguments));
    lines.push("  y  yes, this once".to_owned());
    lines.push("  r  yes, and exactly the same again until this command ends".to_owned());
    let mut letters = "y/r/N";
    if let Some(always) = always {
        letters = "y/r/a/N";
        let file = always.file().display().to_string();
        lines.push(format!("  a  yes, always: this goes into {}", visible_line(&file)));
        lines.extend(always.to_toml().lines().map(|line| format!("       {}", visible_line(line))));
        lines.push(
            "     It counts in every project; rules that ask or deny still come first.".to_owned(),
        );
        if let [programs @ .., last] = always.directed() {
            let programs: Vec<String> = programs.iter().map(|it| format!("`{it}`")).collect();
            let named = match programs.as_slice() {
                [] => format!("`{last}` does"),
                programs => format!("{} and `{last}` do", programs.join(", ")),
            };
            lines.push(format!(
                "     What {named} is up to the files of the project: they can change, and the rule stays."
            ));
        }
    }
    lines.push("  n  no; or type why not, and the model is told".to_owned());
    format!("{}\nAllow? [{letters}] ", lines.join("\n"))
}

/// Shows what an edit would change, line by line: the arguments alone show it on one line each.
fn change(arguments: &Map<String, Value>) -> Vec<String> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let (Some(old), Some(new)) = (text("old"), text("new")) else { return Vec::new() };
    let diff = unified(old.as_bytes(), new.as_bytes(), &LIMITS);
    let lines = diff.text.lines().filter(|line| !line.starts_with("@@") && !line.starts_with('\\'));
    let mut lines: Vec<String> = lines.map(|line| format!("  {}", visible_line(line))).collect();
    if diff.left_out > 0 {
        lines.push(format!("  … and {} more lines", diff.left_out));
    }
    lines
}

/// Asks, and reads the line that is typed. What is asked is safe to print.
async fn typed(question: &str) -> std::io::Result<Option<String>> {
    let mut stderr = anstream::stderr();
    let (before, last) = question.rsplit_once('\n').unwrap_or(("", question));
    if !before.is_empty() {
        writeln!(stderr, "{before}").and_then(|()| stderr.flush())?;
    }
    keyboard::answer(|| write!(stderr, "{last}").and_then(|()| stderr.flush())).await
}
