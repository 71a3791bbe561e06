//! Asking the person at the terminal.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use haft::ports::{Approver, Port, Question};
use haft::{Answer, text};

use crate::progress::ProgressLine;

/// Asks the person at the terminal, and says that there is nobody where there is no terminal.
#[derive(Debug, Clone)]
pub(crate) struct TerminalApprover {
    user: String,
    may_ask: bool,
    progress: Arc<ProgressLine>,
}

impl TerminalApprover {
    /// Makes an approver. In JSON mode nobody is asked: a program reads the answers.
    pub(crate) fn new(user: String, json: bool, progress: Arc<ProgressLine>) -> Self {
        let may_ask = !json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { user, may_ask, progress }
    }
}

impl TerminalApprover {
    /// Asks a question of our own; nothing, where there is nobody to ask.
    pub(crate) async fn confirm(&self, question: &'static str) -> Option<bool> {
        if !self.may_ask {
            return None;
        }
        let user = self.user.clone();
        match haft::blocking(move || asked(&format!("{question} [y/N] "), user)).await {
            Answer::Approve { .. } => Some(true),
            Answer::Refuse { .. } | Answer::Later => Some(false),
            Answer::Nobody { .. } => None,
        }
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
            let shown = question.to_text();
            let user = self.user.clone();
            // Nothing may be drawn over what a person decides about.
            self.progress.stop();
            let answer = haft::blocking(move || ask_at_terminal(&shown, user)).await;
            self.progress.start();
            answer
        })
    }
}

fn ask_at_terminal(shown: &str, by: String) -> Answer {
    asked(&format!("{}\nAllow this once? [y/N] ", text::visible(shown)), by)
}

/// Asks, and reads the answer. What is asked is safe to print.
fn asked(question: &str, by: String) -> Answer {
    let mut stderr = anstream::stderr();
    let asked = write!(stderr, "{question}").and_then(|()| stderr.flush());
    if asked.is_err() {
        return Answer::Nobody { ways_out: Vec::new() };
    }
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(read) if read > 0 && matches!(line.trim(), "y" | "Y" | "yes") => Answer::Approve { by },
        Ok(_) => Answer::Refuse { by, reason: None },
        Err(error) => {
            Answer::Refuse { by, reason: Some(format!("the answer could not be read: {error}")) }
        }
    }
}
