//! Shapes of text that are secrets, or have one inside.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// Bytes that all patterns together may compile to.
const COMPILED_BYTES: usize = 8 * 1024 * 1024;

/// A name of a secret, from its telling part on.
macro_rules! name {
    () => {
        "(?:pass(?:words?|wd|phrase|code)|[-_.]pass|pwd|secrets?|token|credentials?|authorization|cookies?|(?:api|access|account|auth|encryption|private|secret|session|signing)[-_ ]?keys?)(?:[-_]?(?:base|confirmation|confirm|hash|header|plain|raw|value))?[0-9]{0,3}"
    };
}

/// What tools put before a line of a file: a number with a tab, a colon or a hyphen, maybe after a path.
macro_rules! row {
    () => {
        r"(?:[ \t]*(?:[^\s:]{1,80}:)?[0-9]{1,9}[\t:\-])?"
    };
}

/// Space between a name and its value, which may be on the next line.
macro_rules! gap {
    () => {
        r"\s{0,8}(?:\n[ \t]*[0-9]{1,9}[\t:\-])?[ \t]*"
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
pub(super) const PATTERNS: &[&str] = &[
    // A private key, to its end; without an end to the end of the quotes or of the text. Line ends may be escaped, and
    // each line may be a text of its own in a list.
    concat!(
        key!("BEGIN"),
        r#"(?:[^"'\\]|\\[a-z]|["']\s*,\s*["'])*?"#,
        key!("END"),
        "|",
        key!("BEGIN"),
        r#"(?:[^"'\\]|\\[a-z]|["']\s*,\s*["'])*"#
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
        r"|GOCSPX-[A-Za-z0-9_\-]{16,}",
        r"|hv[brs]\.[A-Za-z0-9_\-]{16,}",
        r"|dckr_pat_[A-Za-z0-9_\-]{16,}",
        r"|whsec_[A-Za-z0-9+/]{16,}={0,2}",
        r"|shp(?:at|ca|pa|ss)_[A-Za-z0-9]{24,}",
        r"|dop_v1_[A-Za-z0-9]{32,}",
        r"|glsa_[A-Za-z0-9_]{24,}",
        r"|AGE-SECRET-KEY-1[A-Z0-9]{30,}",
        r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?",
        r")",
        r"|\b(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,}",
    ),
    // Addresses that are secrets by themselves.
    r"(?i)\b(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks)/([A-Za-z0-9/_\-]+)",
    // What an `Authorization` header holds, wherever it is quoted.
    r"\b(?i:bearer)[ \t]+([A-Za-z0-9._~+/=\-]{8,})",
    r"\b(?i:basic)[ \t]+([A-Za-z0-9+/]{16,}={0,2})",
    // Headers, to the end of the line or of the quotes around them.
    r#"(?i)\b(?:authorization|cookie|x-[a-z0-9\-]{0,40}(?:auth|key|secret|signature|token))[ \t]*:[ \t]*([^\s"'\\][^\r\n"'\\]*)"#,
    // The password of a URL, and a token in the place of a user. A URL taken for a path has lost a slash.
    r#"(?i)\b[a-z][a-z0-9+.\-]{0,31}:/{1,2}(?:[^\s/?#"'<>:@\\]*:([^\s/?#"'<>\\]+)@|([^\s/?#"'<>:@\\]{20,})@)"#,
    // Values in a query that are keys under names too common to be listed elsewhere.
    r#"(?i)[?&](?:key|sig|signature|code|auth|jwt|assertion|sid|x-amz-signature|x-goog-signature)=([^&\s#"'<>\\]+)"#,
    // A name and a value in quotes: JSON, code, configuration; then the same inside a text that is quoted itself.
    concat!("(?i)", name!(), r#"["']?\s{0,8}(?:=>|[:=])"#, gap!(), r#""((?:[^"\\\r\n]|\\.)+)"#),
    concat!("(?i)", name!(), r#"["']?\s{0,8}(?:=>|[:=])"#, gap!(), r"'((?:[^'\\\r\n]|\\.)+)"),
    concat!("(?i)", name!(), r#"(?:\\+["'])?\s{0,8}[:=]\s{0,8}\\+["']([^"'\\\r\n]+)"#),
    concat!("(?i)", name!(), r"[ \t]{0,8}=[ \t]{0,8}`([^`\r\n]+)"),
    // A name in quotes and a number, or a list of texts.
    concat!(
        "(?i)",
        name!(),
        r#"["']\s{0,8}:"#,
        gap!(),
        r"(-?[0-9][0-9.e+\-]*)[ \t\r]*(?:[,}\]\n]|$)"
    ),
    concat!(
        "(?i)",
        name!(),
        r#"["']?\s{0,8}[:=]"#,
        gap!(),
        r#"\[[\s0-9:\-]*((?:(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')[\s,0-9:\-]*)+)"#
    ),
    // An element of XML, and an element or attribute behind the name.
    concat!(r"(?i)<[a-z0-9_.:\-]{0,40}", name!(), r"(?:\s[^<>]{0,200})?>\s*([^<\s][^<]*)<"),
    concat!(
        r#"(?i)\b(?:name|key)\s?=\s?["'][a-z0-9_.:\-]{0,40}"#,
        name!(),
        r#"["'][^<>]{0,80}?(?:\bvalue\s?=\s?"([^"]+)|\bvalue\s?=\s?'([^']+)|>\s*([^<\s][^<]*)<)"#
    ),
    // A user and a password on the command line of curl and others.
    r#"(?:^|[\s"'])(?:-u|-U|--user|--proxy-user)(?:[ \t]+|=)["']?[^\s:"'/]*:([^\s"'/][^\s"']*)"#,
    // A login of `.netrc`.
    r"(?i)\blogin[ \t]+[^\s]+\s+password[ \t]+([^\s]+)",
    concat!(
        r"(?im)^",
        row!(),
        r"[ \t]*(?:machine[ \t]+[^\s]+[ \t]+)?password[ \t]+([^\s=:{(][^\s]*)[ \t\r]*$"
    ),
    // A name, an equals sign and a value without space: environment, query, flag.
    concat!("(?i)", name!(), r#"=([^\s"'=\\&;,(){}<>\[\]|`][^\s"'\\&;,(){}<>\[\]|`]*)"#),
    // A flag and its value: `--token x`.
    concat!(
        "(?i)-(?:[a-z0-9]{1,20}-){0,4}",
        name!(),
        r#"[ \t]+(?:"([^"\r\n]+)|'([^'\r\n]+)|([^\s"'\-\\](?:[^\s"'\\]|\\[^\s"'])*))"#
    ),
    // A line of YAML, of properties or of a header dump.
    concat!(
        "(?im)^",
        row!(),
        r"[ \t\-]*(?:export[ \t]+)?[a-z0-9_.\-]{0,40}",
        name!(),
        r##"[ \t]*(?:[ \t]=[ \t]*|=[ \t]+|:[ \t]+)([^\s"'=~#&*!|>{}\[\](),;<`][^\s"'{}\[\](),;<>`]*)(?:[ \t]+#[^\r\n]*)?[ \t\r]*$"##
    ),
    // A block or a list of YAML, of which each line is deeper than the name or begins with a hyphen.
    concat!(
        "(?im)^",
        row!(),
        r"[ \t\-]*[a-z0-9_.\-]{0,40}",
        name!(),
        r":[ \t]*(?:[|>][0-9+\-]{0,2}[ \t]*\r?\n((?:",
        row!(),
        r"[ \t]+[^\s][^\r\n]*\n?)+)|\r?\n((?:",
        row!(),
        r"[ \t]*-[ \t]+[^\s][^\r\n]*\n?)+))"
    ),
    // Words about a password in running text.
    r#"(?i)\b(?:password|passwd|passphrase)[ \t]*:[ \t]*(?:`([^`\r\n]+)|([^\s"'\\,;(){}<>\[\]`]+))"#,
];

/// How many patterns, from the first, are shapes of secrets themselves rather than of what stands around them.
const SHAPES_OF_THEMSELVES: usize = 3;

/// A line of a private key: alone on its line, or a text of its own.
const KEY_LINE: &str = concat!(
    r#"(?m)(?:^|["'])"#,
    row!(),
    r#"[ \t]*([A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{2,}={1,2})(?:\\[nr])*[ \t]*(?:["']|\r?$)"#
);

/// The first and the last line of a private key.
const KEY_BORDER: &str = r"-----(?:(BEGIN)|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";

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

    /// Tells whether a text has a token or a key in it.
    pub(super) fn has_secret_of_itself(&self, text: &str) -> bool {
        let found = self.which.matches(text.as_bytes());
        found.into_iter().any(|index| index < SHAPES_OF_THEMSELVES)
    }

    /// Returns the patterns that occur in a text; `None` for one that does not compile, which none does.
    pub(super) fn found(&self, text: &str) -> impl Iterator<Item = Option<&Regex>> + use<'_> {
        self.which.matches(text.as_bytes()).into_iter().map(|index| {
            let (compiled, pattern) = (self.each.get(index)?, PATTERNS.get(index)?);
            compiled.get_or_init(|| compile(pattern)).as_ref()
        })
    }
}

pub(super) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(COMPILED_BYTES).build().ok()
}

/// Returns the patterns, which are the same for every store of the process. They are compiled when a text first has a
/// sign of a secret.
pub(super) fn shared() -> Option<&'static Shapes> {
    static SHAPES: LazyLock<Option<Shapes>> = LazyLock::new(Shapes::compile);
    SHAPES.as_ref()
}

/// Returns the pattern of a line of a private key, which is looked for only where there is such a key.
pub(super) fn key_line() -> Option<&'static Regex> {
    static KEY_LINES: LazyLock<Option<Regex>> = LazyLock::new(|| compile(KEY_LINE));
    KEY_LINES.as_ref()
}

/// Returns the pattern of the first or last line of a private key; its group takes part in a first one.
pub(super) fn key_border() -> Option<&'static Regex> {
    static KEY_BORDERS: LazyLock<Option<Regex>> = LazyLock::new(|| compile(KEY_BORDER));
    KEY_BORDERS.as_ref()
}

#[cfg(test)]
mod tests {
    use super::{KEY_BORDER, KEY_LINE, PATTERNS, compile, shared};

    #[test]
    fn every_pattern_compiles() {
        assert!(shared().is_some());
        for pattern in PATTERNS.iter().chain(&[KEY_BORDER, KEY_LINE]) {
            assert!(compile(pattern).is_some(), "{pattern}");
        }
    }
}
