//! Secrets, which neither records nor messages hold.

use haft::config::Config;
use haft::store::{REDACTED, Redaction, StoreError, is_secret_name};

use crate::environment::Environment;

/// Returns what is taken out of records: what looks like a secret, wherever it stands what the environment holds under
/// the name of one, and the arguments of calls where the configuration says so.
pub(crate) fn redaction(
    environment: &Environment,
    config: &Config,
) -> Result<Redaction, StoreError> {
    let redaction = Redaction::new(environment.secrets(is_secret_name))?;
    Ok(if config.journal.record_arguments { redaction } else { redaction.without_arguments() })
}

/// Masks what a message about a configuration file shows of its lines.
pub(crate) fn masked(text: &str) -> String {
    let Ok(redaction) = Redaction::new([]) else {
        // The first line says what is wrong; only those after it show what was written.
        return text.lines().next().unwrap_or_default().to_owned();
    };
    let lines: Vec<String> = text.lines().map(|line| masked_line(&redaction, line)).collect();
    lines.join("\n")
}

/// Masks the value of a line like `3 | password = abc`, whose file cannot be read, so that nobody knows where it ends.
fn masked_line(redaction: &Redaction, line: &str) -> String {
    let written = line.split_once(" | ").and_then(|(_, written)| written.split_once('='));
    match (written, line.split_once('=')) {
        (Some((key, _)), Some((before, _))) if is_secret_name(key.trim()) => {
            format!("{before}= {REDACTED}")
        }
        _ => redaction.text(line).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_beside_a_mistake_is_masked_where_its_name_tells() {
        let text = "config.toml:3:12: this is not TOML\n  |\n3 | password = abc def\n  |   ^^^";
        assert_eq!(
            masked(text),
            "config.toml:3:12: this is not TOML\n  |\n3 | password = [redacted]\n  |   ^^^"
        );
        for plain in ["1 | preset = \"nonsense\"", "a = b", "1 | tool = \"token\""] {
            assert_eq!(masked(plain), plain);
        }
    }

    #[test]
    fn a_value_that_looks_like_a_secret_is_masked_under_any_name() {
        let line = format!("1 | x = \"ghp_{}\"", "a1B2c3D4".repeat(5));
        assert_eq!(masked(&line), "1 | x = \"[redacted]\"");
    }
}
