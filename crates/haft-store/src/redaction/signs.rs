//! Signs of a secret: what is in every text that one of the patterns matches.
//!
//! Most texts have none, and those are done with after one look. The patterns take longer to compile than a short
//! process takes for everything else.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};

/// One sign.
#[derive(Debug, Clone)]
struct Sign {
    text: String,
    /// Whether it counts only where a word begins.
    begins_word: bool,
    /// Whether it counts in upper and lower case.
    any_case: bool,
}

/// Beginnings of tokens that name who issued them.
const ISSUERS: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "xox",
    "xapp-",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "SG.",
    "GOCSPX-",
    "hvb.",
    "hvr.",
    "hvs.",
    "dckr_pat_",
    "whsec_",
    "shpat_",
    "shpca_",
    "shppa_",
    "shpss_",
    "dop_v1_",
    "glsa_",
    "AGE-SECRET-KEY-1",
    "eyJ",
];

/// Words that begin with the announcement of a secret, in any case.
const WORDS: &[&str] = &["bearer", "basic ", "basic\t", "x-", "hooks.slack.com/"];

/// What stands anywhere in a name, an address or a command line, in any case.
const PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "-pass",
    "_pass",
    ".pass",
    "pwd",
    "secret",
    "token",
    "credential",
    "authorization",
    "cookie",
    "/api/webhooks/",
    "--user",
    "--proxy-user",
];

/// What makes a key a secret one, before the word itself.
const KEYS: &[&str] =
    &["api", "access", "account", "auth", "encryption", "private", "secret", "session", "signing"];

/// Names in a query that are too common to be looked for elsewhere.
const QUERY: &[&str] = &[
    "key",
    "sig",
    "signature",
    "code",
    "auth",
    "jwt",
    "assertion",
    "sid",
    "x-amz-signature",
    "x-goog-signature",
];

/// What stands before the short name of the flag for a user and a password.
const BEFORE_FLAG: &[char] = &[' ', '\t', '\n', '\u{b}', '\u{c}', '\r', '"', '\''];

fn all() -> Vec<Sign> {
    let sign = |text: String, begins_word, any_case| Sign { text, begins_word, any_case };
    let issuers = ISSUERS.iter().map(|it| sign((*it).to_owned(), true, false));
    let words = WORDS.iter().map(|it| sign((*it).to_owned(), true, true));
    let parts = PARTS.iter().map(|it| sign((*it).to_owned(), false, true));
    let keys = KEYS.iter().flat_map(|kind| {
        ["", "-", "_", " "].map(|gap| sign(format!("{kind}{gap}key"), false, true))
    });
    let query = QUERY
        .iter()
        .flat_map(|name| ['?', '&'].map(|mark| sign(format!("{mark}{name}="), false, true)));
    let flags = BEFORE_FLAG.iter().map(|before| sign(format!("{before}-u"), false, true));
    let others = ["PRIVATE KEY", ":AA"].map(|it| sign(it.to_owned(), false, false));
    issuers.chain(words).chain(parts).chain(keys).chain(query).chain(flags).chain(others).collect()
}

/// All signs, ready to be looked for at once.
struct Signs {
    signs: Vec<Sign>,
    automaton: AhoCorasick,
}

impl Signs {
    fn compile() -> Option<Self> {
        let signs = all();
        // Quick to build rather than quick to search: most processes look at a few texts and end.
        let automaton = AhoCorasickBuilder::new()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .prefilter(false)
            .dense_depth(1)
            .build(signs.iter().map(|sign| sign.text.to_ascii_lowercase()))
            .ok()?;
        Some(Self { signs, automaton })
    }

    fn are_in(&self, text: &str) -> bool {
        self.automaton.find_overlapping_iter(&text.to_ascii_lowercase()).any(|found| {
            self.signs.get(found.pattern().as_usize()).is_none_or(|sign| {
                let before = found.start().checked_sub(1).and_then(|at| text.as_bytes().get(at));
                let in_word = before.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
                let written = text.as_bytes().get(found.range());
                !(sign.begins_word && in_word)
                    && (sign.any_case || written == Some(sign.text.as_bytes()))
            })
        })
    }
}

/// Tells whether a text has a sign of a secret. One without has none that a pattern knows.
pub(super) fn are_in(text: &str) -> bool {
    static SIGNS: LazyLock<Option<Signs>> = LazyLock::new(Signs::compile);
    // The flag's other sign is what stands before it, which at the beginning is nothing.
    let begins_with_flag = || text.starts_with("-u") || text.starts_with("-U");
    SIGNS.as_ref().is_none_or(|signs| signs.are_in(text))
        || begins_with_flag()
        || has_login_in_address(text)
}

/// Tells whether there is something like `//user@` in a text.
fn has_login_in_address(text: &str) -> bool {
    let ends = |it: char| {
        it.is_ascii_whitespace() || matches!(it, '/' | '?' | '#' | '"' | '\'' | '<' | '>')
    };
    text.contains('@')
        && text.match_indices(":/").any(|(at, mark)| {
            let after = text.get(at + mark.len()..).unwrap_or_default();
            let authority = after.strip_prefix('/').unwrap_or(after);
            authority.split(ends).next().is_some_and(|authority| authority.contains('@'))
        })
}

#[cfg(test)]
mod tests;
