//! Names that announce a secret.

/// Ends of a name in lower case without separators: `accessToken` and `X-Access-Token` both end in `token`.
const ENDS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
    "apikeys",
    "accesskey",
    "accountkey",
    "authkey",
    "encryptionkey",
    "privatekey",
    "secretkey",
    "sessionkey",
    "signingkey",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
];

/// What may follow and changes nothing: `password_confirmation`, `secretValue`.
const TAILS: &[&str] =
    &["base", "b64", "confirmation", "confirm", "hash", "header", "plain", "raw", "value"];

/// Characters looked at from the end of a name.
const NAME_CHARS: usize = 64;

/// Tells whether a name announces a secret.
///
/// Case and separators do not matter. `max_tokens`, `token_count` and the shell's `PWD` are no secrets.
pub fn is_secret_name(name: &str) -> bool {
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let mut squashed = [0; NAME_CHARS];
    let letters = name
        .bytes()
        .rev()
        .filter(u8::is_ascii_alphanumeric)
        .take(NAME_CHARS)
        .skip_while(u8::is_ascii_digit);
    let mut first = NAME_CHARS;
    for (place, letter) in squashed.iter_mut().rev().zip(letters) {
        *place = letter.to_ascii_lowercase();
        first -= 1;
    }
    let squashed = squashed.get(first..).unwrap_or_default();
    let ends = |name: &[u8]| ENDS.iter().any(|end| name.ends_with(end.as_bytes()));
    let last = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let last = last.rsplit(['_', '-', '.']).next().filter(|last| last.len() < name.len());
    // By itself `pass` is as often the opposite of `fail`.
    last.is_some_and(|last| last.eq_ignore_ascii_case("pass"))
        || ends(squashed)
        || TAILS.iter().any(|tail| squashed.strip_suffix(tail.as_bytes()).is_some_and(ends))
}

#[cfg(test)]
mod tests {
    use super::is_secret_name;

    #[test]
    fn names_of_secrets_are_known_in_any_spelling() {
        for name in [
            "password",
            "PASSWORD",
            "db-password2",
            "userPassword",
            "API_KEY",
            "x-api-key",
            "apiKey",
            "access_token",
            "GITHUB_TOKEN",
            "--token",
            "client.secret",
            "Authorization",
            "Proxy-Authorization",
            "Set-Cookie",
            "aws_secret_access_key",
            "password_confirmation",
            "secretValue",
            "pwd",
            "DB_PASS",
            "secret_key_base",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn names_that_only_sound_like_secrets_are_let_through() {
        for name in [
            "",
            "max_tokens",
            "token_count",
            "tokenizer",
            "author",
            "key",
            "monkey",
            "path",
            "PWD",
            "secretName",
            "cookie_policy",
            "passwordless",
            "pass",
            "bypass",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
