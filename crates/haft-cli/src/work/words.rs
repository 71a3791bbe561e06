//! Calls and their results in a few words.

use haft::{Outcome, RawArguments, Status};
use serde_json::{Map, Value};

use crate::print::Tone;

/// Lines of a result that are shown.
const LINES: usize = 5;

/// Characters of one value.
const VALUE_CHARS: usize = 120;

/// What is shown below a call rather than in its line, or says nothing to its reader.
const PASSED_OVER: [&str; 8] =
    ["old", "new", "content", "text", "edits", "description", "replacement", "old_text"];

/// Says what a call is about: `grep "price" in src`.
pub(crate) fn said_of_call(arguments: &RawArguments) -> String {
    let parsed = match arguments {
        RawArguments::Text(text) => serde_json::from_str(text).map_err(|_| text.as_str()),
        RawArguments::Json(value) => Ok(value.clone()),
    };
    match parsed {
        Ok(Value::Object(arguments)) => of_object(&arguments),
        Ok(Value::Null) => String::new(),
        Ok(value) => cut(&value.to_string()),
        Err(text) => cut(text),
    }
}

fn of_object(arguments: &Map<String, Value>) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest: Vec<(&String, &Value)> = arguments.iter().collect();
    let mut take = |keys: &[&str]| -> Option<Value> {
        let index = rest.iter().position(|(key, value)| {
            keys.contains(&key.as_str()) && !value.is_null() && **value != Value::Bool(false)
        })?;
        Some(rest.remove(index).1.clone())
    };
    if let Some(Value::String(action)) = take(&["action"]) {
        words.push(cut(&action));
    }
    match take(&["command", "argv"]) {
        Some(Value::Array(argv)) => words.extend(argv.iter().map(plain)),
        Some(command) => words.push(plain(&command)),
        None => {}
    }
    let sought = take(&["pattern", "query", "name", "symbol"]);
    if let Some(sought) = &sought {
        words.push(cut(&sought.to_string()));
    }
    if let Some(path) = take(&["path", "file", "directory"]) {
        let path = plain(&path);
        match sought {
            Some(_) if path == "." => {}
            Some(_) => words.push(format!("in {path}")),
            None => words.push(path),
        }
    }
    if let Some(to) = take(&["to", "destination"]) {
        words.push(format!("to {}", plain(&to)));
    }
    for (key, value) in rest {
        let says_nothing = value.is_null() || *value == Value::Bool(false);
        if says_nothing || PASSED_OVER.contains(&key.as_str()) {
            continue;
        }
        words.push(match value {
            Value::Bool(_) => key.clone(),
            value => format!("{key}={}", plain(value)),
        });
    }
    words.join(" ")
}

/// Says how a call ended, in a few lines.
pub(super) fn result(outcome: &Outcome) -> Vec<(Tone, String)> {
    let (tone, text) = match &outcome.status {
        Status::Ok => (Tone::Faint, outcome.model_text()),
        Status::Failed(failure) => {
            (Tone::Warn, format!("{}: {}", failure.kind.as_str(), failure.model_text))
        }
        Status::Denied(denial) => {
            (Tone::Bad, format!("denied by {}: {}", denial.control, denial.reason))
        }
        Status::Cancelled => (Tone::Warn, "taken back".to_owned()),
        Status::TimedOut { after_ms } => {
            (Tone::Warn, format!("ran out of time after {after_ms} ms"))
        }
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut shown: Vec<(Tone, String)> =
        lines.by_ref().take(LINES).map(|line| (tone, line.trim_end().to_owned())).collect();
    match lines.count() {
        0 => {}
        1 => shown.push((Tone::Faint, "… and 1 more line".to_owned())),
        more => shown.push((Tone::Faint, format!("… and {more} more lines"))),
    }
    if shown.is_empty() {
        shown.push((Tone::Faint, "nothing".to_owned()));
    }
    shown
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => cut(text),
        value => cut(&value.to_string()),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS).and_then(|(at, _)| text.get(..at)) {
        Some(kept) => format!("{kept}…"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use haft::{ContentPart, Control, Denial, ErrorKind, Failure};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_said_in_the_words_that_matter() {
        let said = |value: Value| said_of_call(&RawArguments::Json(value));
        let grep = json!({ "action": "grep", "pattern": "price", "path": "src", "literal": false });
        assert_eq!(said(grep), r#"grep "price" in src"#);
        let read = json!({ "action": "read", "path": "a.txt", "offset": 10, "limit": null });
        assert_eq!(said(read), "read a.txt offset=10");
        let edit =
            json!({ "action": "edit", "path": "a.txt", "old": "x", "new": "y", "all": true });
        assert_eq!(said(edit), "edit a.txt all");
        assert_eq!(said(json!({ "command": "cargo test" })), "cargo test");
        assert_eq!(said(json!({ "argv": ["ls", "-l", ""] })), r#"ls -l """#);
        assert_eq!(said(json!({ "action": "move", "path": "a", "to": "b" })), "move a to b");
        assert_eq!(said(json!([1, 2])), "[1,2]");
        assert_eq!(said_of_call(&RawArguments::Text("{\"path\": ".to_owned())), "{\"path\": ");
        assert_eq!(
            said_of_call(&RawArguments::Text("x".repeat(1_000))).chars().count(),
            VALUE_CHARS + 1
        );
    }

    #[test]
    fn a_result_is_a_few_lines_and_says_what_is_left_out() {
        let ok = |text: &str| {
            let mut outcome = Outcome::new(Status::Ok);
            outcome.content = vec![ContentPart::text(text)];
            result(&outcome).into_iter().map(|(_, line)| line).collect::<Vec<_>>()
        };
        assert_eq!(ok("a\n\nb\n"), ["a", "b"]);
        assert_eq!(ok("1\n2\n3\n4\n5\n6\n7"), ["1", "2", "3", "4", "5", "… and 2 more lines"]);
        assert_eq!(ok(""), ["nothing"]);
        let failed = Outcome::from(Failure::new(ErrorKind::NotFound, "there is no `a`"));
        assert_eq!(result(&failed), [(Tone::Warn, "not_found: there is no `a`".to_owned())]);
        let denied = Outcome::from(Denial::new(Control::Policy, "keys"));
        assert_eq!(result(&denied), [(Tone::Bad, "denied by policy: keys".to_owned())]);
    }
}
