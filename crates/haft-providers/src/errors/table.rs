//! The table of errors, as data.

use haft_model::ModelErrorKind as Kind;

/// One row: it fits where the status is one of its own, or it has none, and a code or a text does, or it has neither.
pub(super) struct Row {
    pub(super) kind: Kind,
    /// Statuses from and to; none of them fits everything.
    statuses: &'static [(u16, u16)],
    /// Codes that fit as a whole.
    codes: &'static [&'static str],
    /// Texts in lower case that fit within a message. What stands on both sides of `…` has to follow in this order.
    texts: &'static [&'static str],
}

impl Row {
    /// Tells whether the row fits. The message is in lower case.
    pub(super) fn fits(&self, status: Option<u16>, codes: &[String], message: &str) -> bool {
        let among =
            |status: u16| self.statuses.iter().any(|(from, to)| (*from..=*to).contains(&status));
        let by_status = self.statuses.is_empty() || status.is_some_and(among);
        let by_code = codes.iter().any(|code| self.codes.contains(&code.as_str()));
        let by_text = self.texts.iter().any(|text| holds(message, text));
        let by_words = self.codes.is_empty() && self.texts.is_empty() || by_code || by_text;
        by_status && by_words
    }
}

fn holds(message: &str, text: &str) -> bool {
    let mut rest = message;
    text.split('…').all(|part| match rest.split_once(part) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

/// What stands before the number of tokens that a window has.
pub(super) const WINDOWS: &[&str] = &[
    "maximum context length is",
    "tokens allowed (",
    "token limit:",
    "context length of only",
    "context window of",
    "context size (",
    "tokens > ",
    " > ",
];

const ANY: &[(u16, u16)] = &[];

/// What Google calls every allowance that is used up, whether for a minute or for good.
pub(super) const EXHAUSTED: &str = "resource_exhausted";
/// A code of ours: the allowance of a day is used up, whatever is said about coming back.
pub(super) const DAILY: &str = "haft_daily_quota";
/// A code of ours: an allowance is used up, and it is said when to come back.
pub(super) const SOON: &str = "haft_come_back";

/// From the most telling to the least.
pub(super) const TABLE: &[Row] = &[
    Row {
        kind: Kind::OutputOverflow,
        statuses: ANY,
        codes: &[],
        texts: &[
            "input length and `max_tokens` exceed context limit",
            "input length and max_tokens exceed context limit",
            "max_tokens…which is the maximum allowed number of output tokens",
            "max_tokens…is too large",
            "max_completion_tokens…is too large",
        ],
    },
    Row { kind: Kind::Quota, statuses: ANY, codes: &[DAILY], texts: &[] },
    // Google words the allowance of a minute as if the account had no more to spend.
    Row { kind: Kind::RateLimited, statuses: ANY, codes: &[SOON], texts: &[] },
    Row {
        kind: Kind::Quota,
        statuses: ANY,
        codes: &[
            "insufficient_quota",
            "insufficient_balance",
            "billing_error",
            "billing_hard_limit_reached",
        ],
        texts: &[
            "exceeded your current quota",
            "credit balance is too low",
            "insufficient balance",
            "insufficient credits",
            "requires more credits",
        ],
    },
    Row { kind: Kind::Quota, statuses: &[(402, 402)], codes: &[], texts: &[] },
    Row {
        kind: Kind::RateLimited,
        statuses: ANY,
        codes: &[
            "rate_limit_exceeded",
            "rate_limit_error",
            "rate_limited",
            EXHAUSTED,
            "too_many_requests",
        ],
        texts: &[
            "tokens per min",
            "requests per min",
            "rate limit",
            "rate-limit",
            "too many requests",
        ],
    },
    Row {
        kind: Kind::Overflow,
        statuses: ANY,
        codes: &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "request_too_large",
            "context_window_exceeded",
        ],
        texts: &[
            "prompt is too long",
            "prompt too long",
            "maximum context length",
            "exceeds the available context size",
            "exceed context limit",
            "exceeds the context",
            "exceeds the model's context",
            "exceeds the maximum context",
            "exceeds the maximum number of tokens",
            "exceeded model token limit",
            "input is too long for requested model",
            "context length exceeded",
            "context window",
            "greater than the context length",
            "longer than the model's context",
            "total message size",
            "request body limit",
            "request_too_large",
            "reduce the length of the messages",
            // A server that has cut the prompt from the front until its template found no question in it.
            "no user query found in messages",
        ],
    },
    Row { kind: Kind::Overflow, statuses: &[(413, 413)], codes: &[], texts: &[] },
    Row {
        kind: Kind::Reasoning,
        statuses: ANY,
        codes: &["invalid_encrypted_content"],
        texts: &[
            "encrypted content…could not be",
            "items are not persisted when `store` is set to false",
            "without its required following item",
            "without its required 'reasoning' item",
            "signature…thinking",
            "thinking…signature",
            "expected `thinking`",
            "`thinking` or `redacted_thinking` blocks",
            "reasoning_content",
            "thought_signature",
            "thought signature",
        ],
    },
    Row {
        kind: Kind::Refused,
        statuses: ANY,
        codes: &["content_policy_violation", "content_filter", "responsibleaipolicyviolation"],
        texts: &["content management policy", "usage policies"],
    },
    Row {
        kind: Kind::UnknownModel,
        statuses: ANY,
        codes: &["model_not_found", "invalid_model", "model_not_available"],
        texts: &[
            "model…not found",
            "model…does not exist",
            "no such model",
            "unknown model",
            "not a valid model id",
        ],
    },
    Row { kind: Kind::UnknownModel, statuses: &[(404, 404)], codes: &[], texts: &["model:"] },
    Row {
        kind: Kind::Credentials,
        statuses: ANY,
        codes: &[
            "authentication_error",
            "permission_error",
            "invalid_api_key",
            "unauthenticated",
            "permission_denied",
        ],
        texts: &["incorrect api key", "invalid api key", "invalid x-api-key", "api key not valid"],
    },
    Row { kind: Kind::Credentials, statuses: &[(401, 401), (403, 403)], codes: &[], texts: &[] },
    Row {
        kind: Kind::Overloaded,
        statuses: ANY,
        codes: &["overloaded_error", "server_overloaded", "engine_overloaded_error", "unavailable"],
        texts: &["overloaded", "loading model"],
    },
    Row { kind: Kind::Overloaded, statuses: &[(503, 503), (529, 529)], codes: &[], texts: &[] },
    Row { kind: Kind::RateLimited, statuses: &[(429, 429)], codes: &[], texts: &[] },
    Row {
        kind: Kind::Server,
        statuses: &[(408, 408), (409, 409), (425, 425), (500, 599)],
        codes: &[],
        texts: &[],
    },
    Row { kind: Kind::BadRequest, statuses: &[(400, 499)], codes: &[], texts: &[] },
    Row {
        kind: Kind::BadRequest,
        statuses: ANY,
        codes: &["invalid_request_error", "not_found_error", "invalid_argument", "bad_request"],
        texts: &[],
    },
];
