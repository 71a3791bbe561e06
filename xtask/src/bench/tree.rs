//! Inputs of scenarios: made once, the same on every machine, kept in the scratch folder.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A word that stands once in each marked file and nowhere else.
pub(crate) const WORD: &str = "quincunx_marker";

/// A glob that matches the marked files and nothing else.
pub(crate) const MARKED_NAMES: &str = "marked-*.txt";

/// The name of the long file.
pub(crate) const LONG_FILE: &str = "long.txt";

/// The name of the small file, and what it holds.
pub(crate) const SMALL_FILE: &str = "small.txt";
pub(crate) const SMALL_FILE_LINE: &str = "one line and no more";

/// Lines of the long file; at 64 bytes each they make 2 GiB.
pub(crate) const LONG_FILE_LINES: u64 = 32 * 1024 * 1024;

const FILES: u64 = 50_000;
const FILES_IN_A_FOLDER: u64 = 100;
const FILES_BETWEEN_MARKS: u64 = 2_500;

/// Changes when what is generated changes, so that old inputs are made again.
const VERSION: &str = "1";

const WORDS: &[&str] = &[
    "let", "return", "buffer", "offset", "if", "match", "self", "value", "index", "line", "for",
    "struct", "name", "path", "error", "while", "result", "token", "length", "state", "node",
];

/// Returns a tree of 50 000 files, about 100 MB, in folders three deep.
pub(crate) fn many_files(scratch: &Path) -> Result<PathBuf> {
    made(scratch, "many-files", |folder| {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        for number in 0..FILES {
            let path = folder.join(path_of(number));
            if number % FILES_IN_A_FOLDER == 0 {
                let parent = path.parent().context("a file has a folder")?;
                fs::create_dir_all(parent)?;
            }
            let mut text = String::new();
            let lines = 10 + dice.below(90);
            let marked = is_marked(number).then_some(lines / 2);
            for line in 0..lines {
                if marked == Some(line) {
                    text.push_str(WORD);
                }
                for _ in 0..2 + dice.below(8) {
                    text.push(' ');
                    text.push_str(dice.pick(WORDS));
                }
                text.push('\n');
            }
            fs::write(path, text)?;
        }
        Ok(())
    })
}

/// Returns a text file of 2 GiB.
pub(crate) fn long_file(scratch: &Path) -> Result<PathBuf> {
    let folder = made(scratch, "long-file", |folder| {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(folder.join(LONG_FILE))?);
        for number in 1..=LONG_FILE_LINES {
            file.write_all(line_of_long_file(number).as_bytes())?;
        }
        file.flush()?;
        Ok(())
    })?;
    Ok(folder.join(LONG_FILE))
}

/// Returns a folder with a file of one line.
pub(crate) fn small_file(scratch: &Path) -> Result<PathBuf> {
    made(scratch, "small-file", |folder| {
        Ok(fs::write(folder.join(SMALL_FILE), format!("{SMALL_FILE_LINE}\n"))?)
    })
}

/// Returns a line of the long file, counted from one, with its end.
pub(crate) fn line_of_long_file(number: u64) -> String {
    format!("{number:>12} the quick brown fox jumps over the lazy dog again.\n")
}

/// Returns the paths of the marked files, from the root of the tree.
pub(crate) fn marked_files() -> impl Iterator<Item = String> {
    (0..FILES).filter(|number| is_marked(*number)).map(path_of)
}

fn is_marked(number: u64) -> bool {
    number % FILES_BETWEEN_MARKS == 1_234
}

fn path_of(number: u64) -> String {
    let folder = number / FILES_IN_A_FOLDER;
    let kind = if is_marked(number) { "marked" } else { "plain" };
    format!("part-{}/group-{}/set-{folder}/{kind}-{number}.txt", folder / 100, folder / 10)
}

/// Makes a folder once: under a provisional name first, so that half of one is never used.
fn made(scratch: &Path, name: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let folder = scratch.join(format!("{name}-{VERSION}"));
    if folder.exists() {
        return Ok(folder);
    }
    eprintln!("making {}", folder.display());
    let unfinished = scratch.join(format!("{name}-unfinished"));
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir_all(&unfinished)?;
    fill(&unfinished).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::rename(&unfinished, &folder)?;
    Ok(folder)
}

/// A xorshift generator: the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let index = usize::try_from(self.below(words.len() as u64)).unwrap_or(0);
        words.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_files_are_marked() {
        let marked: Vec<_> = marked_files().collect();
        assert_eq!(marked.len(), 20);
        assert_eq!(marked[0], "part-0/group-1/set-12/marked-1234.txt");
    }

    #[test]
    fn lines_of_the_long_file_are_64_bytes() {
        assert_eq!(line_of_long_file(1).len(), 64);
        assert_eq!(line_of_long_file(LONG_FILE_LINES).len(), 64);
    }

    #[test]
    fn dice_fall_alike() {
        let throw = || {
            let mut dice = Dice(7);
            [dice.below(100), dice.below(100), dice.below(100)]
        };
        assert_eq!(throw(), throw());
    }
}
