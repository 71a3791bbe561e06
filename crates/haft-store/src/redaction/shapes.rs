//! Shapes of text that are secrets, or have one inside.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// Bytes that all patterns together may compile to.
const COMPILED_BYTES: usize = 8 * 1024 * 1024;

/// A name of a secret, from its telling part on.
macro_rules! name {
    () => {
        "(?:pass(?:words?|wd|phrase|code)|pwd|secrets?|token|credentials?|authorization|cookies?|(?:api|access|account|auth|encryption|private|secret|session|signing)[-_ ]?keys?)(?:[-_]?(?:confirmation|confirm|hash|header|plain|raw|value))?[0-9]{0,3}"
    };
}

/// The line before or after a private key.
macro_rules! key {
    ($end:literal) => {
        concat!("-----", $end, " [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    };
}

/// The patterns. The first group that takes part in a match is the secret; without a group the whole match is.
///
/// The engine knows neither look-around nor references, so that a search is linear in the text. They are patterns of
/// bytes, which makes for small automata; what begins or ends a match is ASCII, so a match never cuts a character.
const PATTERNS: &[&str] = &[
    // A private key, to its end; without an end to the end of the quotes or of the text. Line ends may be escaped.
    concat!(
        key!("BEGIN"),
        r#"(?:[^"'\\]|\\[a-z])*?"#,
        key!("END"),
        "|",
        key!("BEGIN"),
        r#"(?:[^"'\\]|\\[a-z])*"#
    ),
    // Tokens that carry the name of who issued them.
    concat!(
        r"\b(?:",
        r"sk-[A-Za-z0-9_\-]{16,}",
        r"|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"|gh[oprsu]_[A-Za-z0-9]{20,}",
        r"|github_pat_[A-Za-z0-9_]{20,}",
        r"|glpat-[A-Za-z0-9_\-]{16,}",
        r"|(?:AKIA|ASIA)[A-Z0-9]{16}",
        r"|xox[a-z]-[A-Za-z0-9\-]{10,}",
        r"|xapp-[A-Za-z0-9\-]{10,}",
        r"|AIza[A-Za-z0-9_\-]{30,}",
        r"|ya29\.[A-Za-z0-9_\-]{16,}",
        r"|npm_[A-Za-z0-9]{30,}",
        r"|pypi-[A-Za-z0-9_\-]{40,}",
        r"|hf_[A-Za-z0-9]{30,}",
        r"|SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",
        r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?",
        r")",
    ),
    // What an `Authorization` header holds, wherever it is quoted.
    r"\b(?i:bearer)[ \t]+([A-Za-z0-9._~+/=\-]{8,})",
    r"\b(?i:basic)[ \t]+([A-Za-z0-9+/]{16,}={0,2})",
    // Headers, to the end of the line or of the quotes around them.
    r#"(?i)\b(?:authorization|cookie|x-[a-z0-9\-]{0,40}(?:auth|key|secret|signature|token))[ \t]*:[ \t]*([^\s"'\\][^\r\n"'\\]*)"#,
    // The password of a URL, and a token in the place of a user.
    r#"(?i)\b[a-z][a-z0-9+.\-]{0,31}://(?:[^\s/?#"'<>:@\\]*:([^\s/?#"'<>\\]+)@|([^\s/?#"'<>:@\\]{20,})@)"#,
    // Values in a query that are keys under names too common to be listed elsewhere.
    r#"(?i)[?&](?:key|sig|signature|code|auth|jwt|assertion|sid|x-amz-signature|x-goog-signature)=([^&\s#"'<>\\]+)"#,
    // A name and a value in quotes: JSON, code, configuration; then the same inside a text that is quoted itself.
    concat!("(?i)", name!(), r#"["']?\s{0,8}(?:=>|[:=])\s{0,8}"((?:[^"\\\r\n]|\\.)+)"#),
    concat!("(?i)", name!(), r#"["']?\s{0,8}(?:=>|[:=])\s{0,8}'((?:[^'\\\r\n]|\\.)+)"#),
    concat!("(?i)", name!(), r#"(?:\\+["'])?\s{0,8}[:=]\s{0,8}\\+["']([^"'\\\r\n]+)"#),
    // A name, an equals sign and a value without space: environment, query, flag.
    concat!("(?i)", name!(), r#"=([^\s"'=\\&;,(){}<>\[\]|`][^\s"'\\&;,(){}<>\[\]|`]*)"#),
    // A flag and its value: `--token x`.
    concat!(
        "(?i)-(?:[a-z0-9]{1,20}-){0,4}",
        name!(),
        r#"[ \t]+(?:"([^"\r\n]+)|'([^'\r\n]+)|([^\s"'\-\\](?:[^\s"'\\]|\\[^\s"'])*))"#
    ),
    // A line of YAML or of a header dump.
    concat!(
        r"(?im)^[ \t]*[a-z0-9_.\-]{0,40}",
        name!(),
        r##"[ \t]*:[ \t]+([^\s"'#&*!|>{}\[\](),;<`]+)[ \t\r]*$"##
    ),
    // Words about a password in running text.
    r#"(?i)\b(?:password|passwd|passphrase)[ \t]*:[ \t]*([^\s"'\\,;(){}<>\[\]`]+)"#,
];

/// The patterns, compiled: one automaton that tells which of them occur, and each by itself when it first does.
pub(super) struct Shapes {
    which: RegexSet,
    each: Vec<OnceLock<Option<Regex>>>,
}

impl Shapes {
    fn compile() -> Option<Self> {
        let which = RegexSetBuilder::new(PATTERNS)
            .unicode(false)
            .size_limit(COMPILED_BYTES)
            .build()
            .ok()?;
        Some(Self { which, each: PATTERNS.iter().map(|_| OnceLock::new()).collect() })
    }

    /// Returns the patterns that occur in a text; `None` for one that does not compile, which none does.
    pub(super) fn found(&self, text: &str) -> impl Iterator<Item = Option<&Regex>> + use<'_> {
        self.which.matches(text.as_bytes()).into_iter().map(|index| {
            let (compiled, pattern) = (self.each.get(index)?, PATTERNS.get(index)?);
            compiled.get_or_init(|| compile(pattern)).as_ref()
        })
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(COMPILED_BYTES).build().ok()
}

/// Returns the patterns, which are the same for every store of the process. They are compiled when a text is first
/// redacted: whoever only reads does without.
pub(super) fn shared() -> Option<&'static Shapes> {
    static SHAPES: LazyLock<Option<Shapes>> = LazyLock::new(Shapes::compile);
    SHAPES.as_ref()
}

#[cfg(test)]
mod tests {
    use super::{PATTERNS, compile, shared};

    #[test]
    fn every_pattern_compiles() {
        assert!(shared().is_some());
        for pattern in PATTERNS {
            assert!(compile(pattern).is_some(), "{pattern}");
        }
    }
}
