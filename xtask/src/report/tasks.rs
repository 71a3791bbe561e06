//! What is tried, each time with other words and numbers.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// One kind of task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The tools that a model is shown: those that the task takes, as a person would choose who knows how small it is.
    pub(crate) tools: &'static str,
    /// Makes the trial of a number.
    pub(crate) make: fn(usize) -> Set,
}

/// One trial: files, what is asked, and what shows that it was done.
pub(crate) struct Set {
    files: Vec<(String, String)>,
    pub(crate) asked: String,
    proof: Proof,
}

/// What shows that a task was done.
enum Proof {
    /// The last reply holds this.
    Says(String),
    /// This script, as it was in the beginning, ends well.
    Passes(&'static str),
}

pub(crate) const TASKS: &[Task] = &[
    Task { name: "read", about: "a fact in a file that is named", tools: "read_file", make: read },
    Task {
        name: "find",
        about: "a fact in a file that is not named",
        tools: "search_files,read_file",
        make: find,
    },
    Task {
        name: "fix",
        about: "a bug, and a check that fails until it is gone",
        tools: "read_file,edit_file,run_command",
        make: fix,
    },
];

impl Set {
    /// Writes the files.
    pub(crate) fn lay_out(&self, folder: &Path) -> Result<()> {
        for (path, text) in &self.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// Tells whether the task was done.
    pub(crate) fn is_done(&self, folder: &Path, said: &str) -> Result<bool> {
        let script = match &self.proof {
            Proof::Says(text) => return Ok(said.contains(text.as_str())),
            Proof::Passes(script) => script,
        };
        // Whoever changes the check has not passed it.
        for (path, text) in self.files.iter().filter(|(path, _)| path == script) {
            fs::write(folder.join(path), text)?;
        }
        let mut command = Command::new("python3");
        command.arg(script).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command.status().context("there is no python3")?.success())
    }
}

fn file(path: &str, text: impl Into<String>) -> (String, String) {
    (path.to_owned(), text.into())
}

fn read(number: usize) -> Set {
    let (what, fact) = match number % 4 {
        0 => ("launch code", "7Q-ORANGE"),
        1 => ("name of the release", "Kittiwake"),
        2 => ("door code", "40-17-93"),
        _ => ("colour of the new logo", "deep teal"),
    };
    Set {
        files: vec![
            file("README.md", "# Harbour\n\nNotes of the harbour team.\n"),
            file(
                "notes/monday.txt",
                format!(
                    "Monday\n\nCoffee is out again.\nThe {what} is {fact}.\nAnna is back on Thursday.\n"
                ),
            ),
        ],
        asked: format!("What is the {what}? It stands in notes/monday.txt."),
        proof: Proof::Says(fact.to_owned()),
    }
}

fn find(number: usize) -> Set {
    let (key, value) = match number % 4 {
        0 => ("max_upload_mb", "37"),
        1 => ("retry_limit", "11"),
        2 => ("session_minutes", "43"),
        _ => ("cache_port", "6391"),
    };
    let module = |name: &str, body: &str| {
        (format!("app/{name}.py"), format!("\"\"\"The {name} of the service.\"\"\"\n\n{body}\n"))
    };
    Set {
        files: vec![
            file("README.md", "# Service\n\nRun `python3 -m app`.\n"),
            module("routes", "ROUTES = {\"/\": \"home\", \"/login\": \"login\"}"),
            module("views", "def home(request):\n    return \"home\""),
            module(
                "limits",
                &format!("LIMITS = {{\n    \"page_size\": 25,\n    \"{key}\": {value},\n}}"),
            ),
            module("mail", "SENDER = \"post@example.org\""),
        ],
        asked: format!("Which value does `{key}` have in this project? Search for it."),
        proof: Proof::Says(value.to_owned()),
    }
}

fn fix(number: usize) -> Set {
    let (module, check) = match number % 3 {
        0 => (include_str!("tasks/total.py"), include_str!("tasks/total_check.py")),
        1 => (include_str!("tasks/discount.py"), include_str!("tasks/discount_check.py")),
        _ => (include_str!("tasks/cheapest.py"), include_str!("tasks/cheapest_check.py")),
    };
    Set {
        files: vec![file("shop.py", module), file("check.py", check)],
        asked: "`python3 check.py` fails because of a bug in shop.py. Fix shop.py so that it passes; leave check.py as it is.".to_owned(),
        proof: Proof::Passes("check.py"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_task_is_done_before_anybody_works_on_it() {
        for task in TASKS {
            for number in 0..4 {
                let set = (task.make)(number);
                assert!(matches!(&set.proof, Proof::Passes(_)) || !set.asked.is_empty());
                if let Proof::Says(fact) = &set.proof {
                    assert!(!set.asked.contains(fact.as_str()), "{}", set.asked);
                    let holds = set.files.iter().filter(|(_, text)| text.contains(fact.as_str()));
                    assert_eq!(holds.count(), 1, "{fact}");
                }
            }
        }
    }
}
