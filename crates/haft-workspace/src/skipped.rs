//! What a look at many files passed over, and why.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_protocol::{LogicalPath, Notice, NoticeKind};

/// How many unreadable paths are named; the rest are counted.
const UNREADABLE_SHOWN: usize = 3;

/// What was kept from sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hidden {
    /// By the protection list. A directory counts as one, whatever is in it.
    pub protected: u64,
    /// By a rule.
    pub by_rule: u64,
}

/// What several views that belong together kept from sight.
#[derive(Debug, Default)]
pub(crate) struct HiddenCount {
    protected: AtomicU64,
    by_rule: AtomicU64,
}

impl HiddenCount {
    pub(crate) fn get(&self) -> Hidden {
        Hidden {
            protected: self.protected.load(Ordering::Relaxed),
            by_rule: self.by_rule.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn add(&self, hidden: Hidden) {
        self.protected.fetch_add(hidden.protected, Ordering::Relaxed);
        self.by_rule.fetch_add(hidden.by_rule, Ordering::Relaxed);
    }

    pub(crate) fn begin_anew(&self) {
        self.protected.store(0, Ordering::Relaxed);
        self.by_rule.store(0, Ordering::Relaxed);
    }
}

/// What a listing or walk passed over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// What was kept from sight.
    pub hidden: Hidden,
    /// Files and links that ignore rules leave out.
    pub ignored_files: u64,
    /// Directories that ignore rules leave out, with all that is in them.
    pub ignored_directories: u64,
    /// Names that begin with a dot, where those were not asked for.
    pub dotted: u64,
    /// What the system did not permit to read, or failed to.
    pub unreadable: u64,
    /// The first of those.
    pub unreadable_paths: Vec<LogicalPath>,
    /// Directories deeper than any walk goes.
    pub too_deep: u64,
    /// Files of ignore rules that are too long, or no regular files.
    pub rules_unread: u64,
}

impl Skipped {
    pub(crate) fn note_unreadable(&mut self, path: &LogicalPath) {
        self.unreadable += 1;
        if self.unreadable_paths.len() < UNREADABLE_SHOWN {
            self.unreadable_paths.push(path.clone());
        }
    }

    /// Adds what another thread passed over.
    pub(crate) fn add(&mut self, other: Self) {
        self.hidden.protected += other.hidden.protected;
        self.hidden.by_rule += other.hidden.by_rule;
        self.ignored_files += other.ignored_files;
        self.ignored_directories += other.ignored_directories;
        self.dotted += other.dotted;
        self.unreadable += other.unreadable;
        self.unreadable_paths.extend(other.unreadable_paths);
        self.unreadable_paths.sort_unstable();
        self.unreadable_paths.truncate(UNREADABLE_SHOWN);
        self.too_deep += other.too_deep;
        self.rules_unread += other.rules_unread;
    }

    /// Says what was passed over, in words for the reader of a result.
    pub fn notices(&self) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut add = |kind, text: String| notices.push(Notice::new(kind, text));
        if self.hidden.protected > 0 {
            let text = format!("{} hidden: protected", entries(self.hidden.protected));
            add(NoticeKind::Hidden, text);
        }
        if self.hidden.by_rule > 0 {
            add(NoticeKind::Hidden, format!("{} hidden by a rule", entries(self.hidden.by_rule)));
        }
        let (files, directories) = (self.ignored_files, self.ignored_directories);
        if files + directories > 0 {
            let mut text = String::new();
            if files > 0 {
                text.push_str(&counted(files, "file", "files"));
            }
            if directories > 0 {
                let and = if files > 0 { " and " } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(text, "{and}{}", counted(directories, "directory", "directories"));
            }
            text.push_str(" skipped by ignore rules: include ignored files to see them");
            add(NoticeKind::Skipped, text);
        }
        if self.dotted > 0 {
            let text = format!("{} skipped whose name begins with a dot", entries(self.dotted));
            add(NoticeKind::Skipped, text);
        }
        if self.unreadable > 0 {
            let mut text = format!("{} skipped, not readable", entries(self.unreadable));
            let named: Vec<String> =
                self.unreadable_paths.iter().map(|path| format!("`{path}`")).collect();
            if !named.is_empty() {
                let more = if self.unreadable > named.len() as u64 { ", …" } else { "" };
                let _ = write!(text, ": {}{more}", named.join(", "));
            }
            add(NoticeKind::Skipped, text);
        }
        if self.too_deep > 0 {
            let what = counted(self.too_deep, "directory", "directories");
            add(
                NoticeKind::Skipped,
                format!("{what} skipped, too deep for one walk: begin one there"),
            );
        }
        if self.rules_unread > 0 {
            let what = counted(self.rules_unread, "file", "files");
            let text =
                format!("{what} of ignore rules not followed: too long, or not regular files");
            add(NoticeKind::Degraded, text);
        }
        notices
    }
}

fn entries(number: u64) -> String {
    counted(number, "entry", "entries")
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_count_what_was_passed_over_and_say_the_way_to_it() {
        let skipped = Skipped {
            hidden: Hidden { protected: 1, by_rule: 2 },
            ignored_files: 3,
            ignored_directories: 1,
            dotted: 4,
            unreadable: 2,
            unreadable_paths: vec![LogicalPath::new("a/locked")],
            too_deep: 1,
            rules_unread: 1,
        };
        let text: Vec<String> = skipped.notices().iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        1 entry hidden: protected
        2 entries hidden by a rule
        3 files and 1 directory skipped by ignore rules: include ignored files to see them
        4 entries skipped whose name begins with a dot
        2 entries skipped, not readable: `a/locked`, …
        1 directory skipped, too deep for one walk: begin one there
        1 file of ignore rules not followed: too long, or not regular files
        ");
        assert!(Skipped::default().notices().is_empty());
    }
}
