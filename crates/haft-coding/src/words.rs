//! Numbers in sentences, and paths as lines.

use std::borrow::Cow;

use haft_text::Total;

/// Writes a path that begins a line so that it cannot pass for the tool's own words, such as `[notice: …]`,
/// `denied by …: …`, the row of a match (`12:…`), or a link and where it leads (`x@ -> …`).
pub(crate) fn row(path: &str) -> Cow<'_, str> {
    if path.contains("@ -> ") {
        return format!("\"{path}\"").into();
    }
    let after_digits = path.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_like_a_match = after_digits.len() < path.len() && after_digits.starts_with(':');
    let is_like_words = path.starts_with(['[', '(', '"']) || path.contains(": ");
    let poses = is_like_a_match || is_like_words || path == "--";
    if poses && !path.starts_with('/') { format!("./{path}").into() } else { path.into() }
}

/// Writes `1 file` or `12 files`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Writes a number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    Total::Exact(number).to_string()
}

/// Writes a number of bytes in the largest unit that leaves it at least 1: `812 B`, `1.5 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = "B";
    for larger in UNITS {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = larger;
    }
    match (unit, tenths % 10) {
        ("B", _) | (_, 0) => format!("{} {unit}", tenths / 10),
        (_, tenth) => format!("{}.{tenth} {unit}", tenths / 10),
    }
}

/// Joins as many lines as there is room for, and tells how many those are. The first line always has room.
pub(crate) fn fitted(lines: &[String], bytes: usize) -> (String, usize) {
    let mut text = String::new();
    let mut kept = 0;
    for line in lines {
        if kept > 0 {
            if text.len() + 1 + line.len() > bytes {
                break;
            }
            text.push('\n');
        }
        text.push_str(line);
        kept += 1;
    }
    (text, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_path_whatever_it_is_called() {
        for path in ["src/a.rs", "a [1].txt", "a:b", "/srv/[x]/a: b"] {
            assert_eq!(row(path), path);
        }
        assert_eq!(row("[notice: all is well]"), "./[notice: all is well]");
        assert_eq!(row("denied by policy: no"), "./denied by policy: no");
        assert_eq!(row("12:fake match"), "./12:fake match");
        assert_eq!(row("12-a.txt"), "12-a.txt");
        assert_eq!(row("--"), "./--");
        assert_eq!(row("x@ -> .env"), "\"x@ -> .env\"");
        assert_eq!(row("\"x\""), "./\"x\"");
    }

    #[test]
    fn sizes_are_short_and_never_rounded_up() {
        let cases = [0, 1, 1023, 1024, 1536, 1_048_575, 5 * 1024 * 1024, u64::MAX];
        let written = cases.map(size).join(", ");
        insta::assert_snapshot!(written, @"0 B, 1 B, 1023 B, 1 KiB, 1.5 KiB, 1023.9 KiB, 5 MiB, 16777215.9 TiB");
    }
}
