//! Names that nothing new is given, because some system makes a trap of them.

use std::ffi::OsStr;

/// Names of devices on Windows, whatever follows their first dot.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Returns what is wrong with a name for something new, if anything is.
///
/// What stands there already is worked with under any name.
///
/// ```
/// use haft_workspace::problem_of_new_name;
///
/// assert!(problem_of_new_name("notes.txt".as_ref()).is_none());
/// assert!(problem_of_new_name("NUL.txt".as_ref()).is_some());
/// ```
pub fn problem_of_new_name(name: &OsStr) -> Option<String> {
    let Some(name) = name.to_str() else {
        return Some("its name is not UTF-8".to_owned());
    };
    if let Some(char) = name.chars().find(|char| char.is_control()) {
        return Some(format!("its name holds the control character {}", char.escape_default()));
    }
    // A stream of another file on Windows, a separator in lists of paths elsewhere.
    if name.contains(':') {
        return Some("a name with `:` means something else on Windows".to_owned());
    }
    if name.ends_with(['.', ' ']) {
        return Some("Windows drops a dot or a space at the end of a name".to_owned());
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    // Superscript digits count as digits there.
    let stem: String = stem
        .chars()
        .map(|char| match char {
            '\u{b9}' => '1',
            '\u{b2}' => '2',
            '\u{b3}' => '3',
            char => char.to_ascii_lowercase(),
        })
        .collect();
    if DEVICES.contains(&stem.as_str()) || matches!(stem.as_str(), "conin$" | "conout$") {
        return Some(format!("`{stem}` is a device on Windows, whatever its ending"));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn names_that_are_traps_are_refused() {
        for name in [
            "nul",
            "NUL.txt",
            "Con",
            "aux",
            "aux.c",
            "com1",
            "COM9.log",
            "lpt1",
            "com\u{b9}",
            "conin$",
            "nul .txt",
            "a:b",
            "a.",
            "a ",
            "a\nb",
            "a\u{1b}[0m",
            "\u{7f}",
            "a\tb",
        ] {
            assert!(problem_of_new_name(name.as_ref()).is_some(), "{name:?}");
        }
        assert!(problem_of_new_name(OsStr::from_bytes(b"caf\xe9")).is_some());
    }

    #[test]
    fn ordinary_names_are_not() {
        for name in [
            "null",
            "console",
            "com",
            "com0",
            "com10",
            "auxiliary.c",
            "a.nul",
            "lpt",
            "prn1",
            ".a",
            "a b",
            "-rf",
            "größe",
            "shot 3.00\u{202f}PM.png",
            "~",
            "$a",
            "a*b?",
        ] {
            assert_eq!(problem_of_new_name(name.as_ref()), None, "{name:?}");
        }
    }
}
