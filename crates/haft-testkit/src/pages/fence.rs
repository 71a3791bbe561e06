//! The fences of a page.

use std::fmt;

/// What a fence is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FenceKind {
    /// A heading of the second level: an empty workspace.
    Fresh,
    /// A file to write.
    File {
        /// Where.
        path: String,
        /// Whether the text has escapes.
        escaped: bool,
    },
    /// Rules and preset for what follows.
    Rules,
    /// A call to make.
    Call {
        /// The tool.
        tool: String,
    },
    /// What the last call has to come to.
    Outcome,
    /// What a file has to hold.
    Bytes {
        /// Where.
        path: String,
    },
}

/// A fence, with the lines it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// What it is.
    pub kind: FenceKind,
    /// The text between its marks.
    pub text: String,
    /// The number of the line that opens it, from 1.
    pub line: usize,
    /// How many lines the text has.
    pub lines: usize,
}

/// A page that is not in the one form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub text: String,
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

/// Reads the fences of a page, in order. Fences of other languages are prose.
///
/// # Errors
///
/// Fails for a fence that is not closed and for words that a fence does not take.
pub fn fences(page: &str) -> Result<Vec<Fence>, PageError> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if line.starts_with("## ") {
            found.push(Fence {
                kind: FenceKind::Fresh,
                text: String::new(),
                line: index + 1,
                lines: 0,
            });
        }
        let Some(words) = line.strip_prefix("```") else { continue };
        let kind = kind_of(words).map_err(|text| PageError { line: index + 1, text })?;
        let mut text = Vec::new();
        loop {
            match lines.next() {
                Some((_, "```")) => break,
                Some((_, line)) => text.push(line),
                None => {
                    return Err(PageError {
                        line: index + 1,
                        text: "the fence is not closed".to_owned(),
                    });
                }
            }
        }
        if let Some(kind) = kind {
            found.push(Fence { kind, text: text.join("\n"), line: index + 1, lines: text.len() });
        }
    }
    Ok(found)
}

fn kind_of(words: &str) -> Result<Option<FenceKind>, String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    Ok(Some(match words.as_slice() {
        ["file", path] => FenceKind::File { path: (*path).to_owned(), escaped: false },
        ["file", path, "escaped"] => FenceKind::File { path: (*path).to_owned(), escaped: true },
        ["rules"] => FenceKind::Rules,
        ["call", tool] => FenceKind::Call { tool: (*tool).to_owned() },
        ["outcome"] => FenceKind::Outcome,
        ["bytes", path] => FenceKind::Bytes { path: (*path).to_owned() },
        [first, ..] if matches!(*first, "file" | "rules" | "call" | "outcome" | "bytes") => {
            return Err(format!(
                "a fence `{first}` does not take these words: {}",
                words.join(" ")
            ));
        }
        _ => return Ok(None),
    }))
}

/// Reads text with escapes as bytes; its line ends do not count.
pub(super) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut chars = text.chars().filter(|char| *char != '\n');
    while let Some(char) = chars.next() {
        if char != '\\' {
            bytes.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match chars.next() {
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('\\') => bytes.push(b'\\'),
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                bytes.push(
                    u8::from_str_radix(&digits, 16)
                        .map_err(|_| format!("`\\x{digits}` is no byte"))?,
                );
            }
            other => return Err(format!("`\\{}` is no escape", other.unwrap_or(' '))),
        }
    }
    Ok(bytes)
}
