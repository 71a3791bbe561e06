//! How a command or a call ended.

use std::process::{Command, Output};

use haft::{Outcome, Status};
use serde_json::Value;

/// How a command ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) exit: i32,
    pub(crate) outcome: Outcome,
    /// What a model reads of it.
    pub(crate) text: String,
}

impl Called {
    /// Returns the data of a call that went well.
    pub(crate) fn data(&self) -> &Value {
        assert_eq!((self.exit, self.outcome.is_ok()), (0, true), "{}", self.text);
        self.outcome.structured.as_ref().unwrap()
    }

    /// Returns the kind of the failure.
    #[track_caller]
    pub(crate) fn failure(&self) -> &'static str {
        match &self.outcome.status {
            Status::Failed(failure) => failure.kind.as_str(),
            status => panic!("should have failed: {status:?}\n{}", self.text),
        }
    }

    /// Returns the control that refused.
    #[track_caller]
    pub(crate) fn control(&self) -> String {
        match &self.outcome.status {
            Status::Denied(denial) => {
                assert_eq!(self.exit, 3);
                denial.control.to_string()
            }
            status => panic!("should have been denied: {status:?}\n{}", self.text),
        }
    }

    /// Returns the notices, one a line.
    pub(crate) fn notices(&self) -> String {
        let notices = self.outcome.notices.iter().map(|it| format!("{}\n", it.text));
        notices.collect::<Vec<_>>().concat()
    }

    /// Returns what is said of things left out, one a line.
    pub(crate) fn bounds(&self) -> String {
        let bounds = self.outcome.bounds.iter().map(|it| format!("{it}\n"));
        bounds.collect::<Vec<_>>().concat()
    }
}

impl Ran {
    /// Returns everything that was printed.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command) -> Ran {
    ran(command.output())
}

/// Reads a call from what the command printed in JSON mode.
#[track_caller]
pub(crate) fn called(ran: &Ran) -> Called {
    let object = one_object(ran);
    let outcome = object["data"]["outcome"].clone();
    assert!(!outcome.is_null(), "there should be an outcome: {object}");
    let outcome: Outcome = serde_json::from_value(outcome).unwrap();
    Called { exit: ran.exit, text: outcome.model_text(), outcome }
}

/// Reads the one object that standard output holds, and checks the envelope.
#[track_caller]
pub(crate) fn one_object(ran: &Ran) -> Value {
    let object: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("standard output is no JSON: {error}\n{}", ran.all()));
    assert_eq!(ran.stdout.matches('\n').count(), 1, "{}", ran.stdout);
    assert_eq!(object["haft"], 1);
    assert_eq!(object["exit"], ran.exit);
    assert_eq!(object["ok"], ran.exit == 0);
    object
}

/// Takes what a process left, which has to be text.
pub(crate) fn ran(output: std::io::Result<Output>) -> Ran {
    let Output { status, stdout, stderr } = output.unwrap();
    let exit = status.code().unwrap_or_else(|| panic!("ended by {status}"));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { exit, stdout: text(stdout), stderr: text(stderr) }
}
