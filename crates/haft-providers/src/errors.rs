//! What providers say when they do not answer, and what that means.
//!
//! Providers word the same thing in many ways, and proxies put one's words into another's status. So words count before
//! statuses, and the [table](TABLE) is read from the top: the first row that fits says what kind of error it is.

mod table;

use std::time::Duration;

use haft_model::{ModelError, ModelErrorKind};
use haft_net::NetError;
use haft_text::visible_line;
use serde_json::Value;

use table::TABLE;

/// Characters of a provider's words that a person is shown.
const SHOWN_CHARS: usize = 600;

/// An error as a provider reports it, in the body of an answer or in the midst of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// The status of HTTP, or a code of the body that is one.
    pub(crate) status: Option<u16>,
    /// Its short names: `type`, `code`, `status`.
    pub(crate) codes: Vec<String>,
    /// Its words.
    pub(crate) message: String,
    /// Tokens of the window, where a field says so.
    pub(crate) window_tokens: Option<u64>,
    /// How long to wait, where a field says so.
    pub(crate) retry_after: Option<Duration>,
}

impl Report {
    /// Reads the body of an answer with an error's status.
    pub(crate) fn of_body(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let report = serde_json::from_str(&crate::json::mend(&text)).ok();
        let mut report = match report.as_ref().map(Self::of_json) {
            Some(report) if !report.message.is_empty() || !report.codes.is_empty() => report,
            _ => Self { message: text.trim().to_owned(), ..Self::default() },
        };
        report.status = Some(status);
        report
    }

    /// Reads an object that says what went wrong, whichever form it has.
    pub(crate) fn of_json(value: &Value) -> Self {
        let value = value.as_array().and_then(|all| all.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let mut report = Self::default();
        for name in ["type", "code", "status"] {
            match error.get(name) {
                Some(Value::String(code)) => report.codes.push(code.to_lowercase()),
                Some(Value::Number(code)) => {
                    let code = code.as_u64().and_then(|code| u16::try_from(code).ok());
                    report.status = report.status.or(code.filter(|code| (400..600).contains(code)));
                }
                _ => {}
            }
        }
        let words = [error.get("message"), error.get("detail"), error.get("error"), Some(error)];
        let words = words.into_iter().flatten().find_map(|it| match it {
            Value::String(text) => Some(text.clone()),
            Value::Array(_) => Some(it.to_string()),
            _ => None,
        });
        report.message = words.unwrap_or_default();
        // A relay says little itself and keeps what it was told apart.
        if let Some(Value::String(raw)) = error.pointer("/metadata/raw") {
            report.message.push_str(": ");
            report.message.push_str(raw);
        }
        report.window_tokens = error.get("n_ctx").and_then(Value::as_u64);
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            report.detail(detail);
        }
        report
    }

    /// Reads the text of an object that says what went wrong; nothing where it is none.
    pub(crate) fn of_text(text: &str) -> Self {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        Self::of_json(&value)
    }

    /// Reads what Google says beside its words: when to come back, and which allowance is used up.
    fn detail(&mut self, detail: &Value) {
        let seconds = detail.get("retryDelay").and_then(Value::as_str);
        let seconds = seconds.and_then(|text| text.trim().strip_suffix('s')?.parse::<f64>().ok());
        let delay = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
        self.retry_after = self.retry_after.or(delay);
        let violations = detail.get("violations").and_then(Value::as_array);
        let quotas = violations.into_iter().flatten().filter_map(|it| it.get("quotaId")?.as_str());
        if quotas.into_iter().any(|quota| quota.contains("PerDay")) {
            self.codes.push(table::DAILY.to_owned());
        } else if self.retry_after.is_some() && self.codes.iter().any(|it| it == table::EXHAUSTED) {
            self.codes.push(table::SOON.to_owned());
        }
    }

    /// Returns what kind of error it is.
    pub(crate) fn kind(&self) -> ModelErrorKind {
        let message = self.message.to_lowercase();
        let row = TABLE.iter().find(|row| row.fits(self.status, &self.codes, &message));
        row.map_or(ModelErrorKind::Server, |row| row.kind)
    }

    /// Makes the error, told by whoever asked. What comes before the provider's words says who they are of.
    pub(crate) fn into_error(self, who: &str, hide: impl Fn(&str) -> String) -> ModelError {
        let kind = self.kind();
        let window = matches!(kind, ModelErrorKind::Overflow | ModelErrorKind::OutputOverflow)
            .then(|| self.window_tokens.or_else(|| window_in(&self.message)))
            .flatten();
        let words = shown(&hide(&self.message));
        let code = self.codes.first().map_or("no words", String::as_str);
        let words = if words.is_empty() { code } else { &words };
        let mut error = ModelError::new(kind, format!("{who}: {words}"));
        error.status = self.status;
        error.window_tokens = window;
        error.retry_after = self.retry_after;
        error
    }
}

/// Returns words of others on one line, harmless and not long.
pub(crate) fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN_CHARS).collect();
    let line = cut.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = visible_line(&line);
    if text.chars().nth(SHOWN_CHARS).is_some() { format!("{line} …") } else { line.into_owned() }
}

/// Finds how many tokens the window has in words such as `210231 tokens > 200000 maximum`.
fn window_in(message: &str) -> Option<u64> {
    let message = message.to_lowercase();
    table::WINDOWS.iter().find_map(|before| {
        let (_, rest) = message.split_once(before)?;
        let digits: String = rest
            .trim_start()
            .chars()
            .take_while(|it| it.is_ascii_digit() || *it == ',')
            .filter(char::is_ascii_digit)
            .collect();
        digits.parse().ok().filter(|tokens| *tokens > 0)
    })
}

/// Brings an error of the way there into the form of an error of a model.
pub(crate) fn of_net(error: &NetError) -> ModelError {
    let kind = match error {
        NetError::TimedOut { what: "answer" | "send all", .. } => ModelErrorKind::Stalled,
        NetError::TooLarge { .. } => ModelErrorKind::Malformed,
        NetError::Redirect { .. }
        | NetError::Refused { .. }
        | NetError::Proxy { .. }
        | NetError::Setup { .. } => ModelErrorKind::BadRequest,
        NetError::Header { .. } => ModelErrorKind::Credentials,
        _ => ModelErrorKind::Transport,
    };
    ModelError::new(kind, error.to_string())
}

#[cfg(test)]
mod tests;
