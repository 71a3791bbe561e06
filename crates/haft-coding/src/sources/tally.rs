//! What is counted of source files beside results.

use std::sync::atomic::{AtomicU64, Ordering};

use haft_protocol::{ErrorKind, Failure, Notice, NoticeKind, limits};
use haft_tool::Call;
use haft_workspace::{Resolved, WalkReport};
use schemars::JsonSchema;
use serde::Serialize;

use crate::scope;
use crate::speech::{self, HintIf, SEARCH};
use crate::words::{counted, size};

/// What was passed over of source files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct SkippedSources {
    /// Files that are not UTF-8 text.
    pub not_text: u64,
    /// Files that are too large to be parsed.
    pub too_large: u64,
    /// Files whose parsing or matching took too long.
    pub too_slow: u64,
    /// Files that are nested too deeply for a pattern that names the same thing twice.
    pub too_deep: u64,
    /// Files of a language that is not compiled in.
    pub language_off: u64,
    /// What the system did not let be read.
    pub unreadable: u64,
    /// Files that break the grammar of their language somewhere. They were looked at.
    pub broken: u64,
    /// Files left out by ignore rules.
    pub ignored_files: u64,
    /// Directories left out by ignore rules.
    pub ignored_directories: u64,
    /// What the protection list keeps from sight.
    pub protected: u64,
    /// What a rule keeps from sight.
    pub hidden_by_rule: u64,
}

impl SkippedSources {
    /// Says what was passed over.
    pub(crate) fn notices(&self, report: &WalkReport) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut add = |number: u64, why: &str| {
            if number > 0 {
                let text = format!("{} {why}", counted(number, "source file", "source files"));
                notices.push(Notice::new(NoticeKind::Skipped, text));
            }
        };
        add(self.not_text, "skipped: not UTF-8 text");
        let most = size(limits::SYNTAX_FILE_BYTES as u64);
        add(self.too_large, &format!("skipped: larger than {most}"));
        let seconds = limits::SYNTAX_FILE_MS / 1000;
        add(self.too_slow, &format!("skipped: not done within {seconds} seconds"));
        let most = limits::SYNTAX_COMPARED_DEPTH;
        add(self.too_deep, &format!("skipped: nested more than {most} levels deep"));
        add(self.language_off, "skipped: the language is not compiled in");
        add(self.broken, "with syntax errors: what stands near them may be missing or wrong");
        notices.extend(scope::passed_over(&report.skipped));
        notices
    }
}

/// Why a file was not looked at to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    NotText,
    TooLarge,
    TooSlow,
    TooDeep,
    LanguageOff,
    Unreadable,
    /// The walk is over.
    Over,
}

impl Passed {
    /// Says the same of a file that a call names itself.
    pub(super) fn failure(self, call: &Call, place: &Resolved) -> Failure {
        let search = || speech::tool(call, SEARCH, "grep");
        let path = place.logical();
        let failure = |kind, text: String| Failure::new(kind, format!("`{path}` {text}"));
        match self {
            Self::NotText => failure(ErrorKind::Unsupported, "is not UTF-8 text".to_owned()),
            Self::TooLarge => {
                let most = size(limits::SYNTAX_FILE_BYTES as u64);
                failure(
                    ErrorKind::LimitExceeded,
                    format!("is larger than {most}, the most that is parsed"),
                )
                .hint_if(search(), |search| format!("search in it with {search}"))
            }
            Self::TooSlow | Self::Over => {
                let seconds = limits::SYNTAX_FILE_MS / 1000;
                failure(ErrorKind::LimitExceeded, format!("was not done within {seconds} seconds"))
                    .hint_if(search(), |search| format!("search in it with {search}"))
            }
            Self::TooDeep => {
                let most = limits::SYNTAX_COMPARED_DEPTH;
                let text = format!(
                    "is nested more than {most} levels deep, the most for a pattern that names the same thing twice"
                );
                failure(ErrorKind::LimitExceeded, text)
                    .hint("give the second metavariable another name")
            }
            Self::LanguageOff => failure(
                ErrorKind::Unsupported,
                "is of a language that this build of haft leaves out".to_owned(),
            ),
            Self::Unreadable => {
                failure(ErrorKind::Unavailable, "could not be read to its end".to_owned())
            }
        }
    }
}

/// What is counted beside results.
#[derive(Debug, Default)]
pub(super) struct Tally {
    looked_at: AtomicU64,
    broken: AtomicU64,
    not_text: AtomicU64,
    too_large: AtomicU64,
    too_slow: AtomicU64,
    too_deep: AtomicU64,
    language_off: AtomicU64,
    unreadable: AtomicU64,
    over: AtomicU64,
}

impl Tally {
    pub(super) fn note_looked_at(&self, is_broken: bool) {
        self.looked_at.fetch_add(1, Ordering::Relaxed);
        self.broken.fetch_add(u64::from(is_broken), Ordering::Relaxed);
    }

    pub(super) fn note(&self, passed: Passed) {
        self.counter(passed).fetch_add(1, Ordering::Relaxed);
    }

    fn counter(&self, passed: Passed) -> &AtomicU64 {
        match passed {
            Passed::NotText => &self.not_text,
            Passed::TooLarge => &self.too_large,
            Passed::TooSlow => &self.too_slow,
            Passed::TooDeep => &self.too_deep,
            Passed::LanguageOff => &self.language_off,
            Passed::Unreadable => &self.unreadable,
            Passed::Over => &self.over,
        }
    }

    fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    pub(super) fn looked_at(&self) -> u64 {
        Self::get(&self.looked_at)
    }

    /// Tells whether the time was up in the middle of a file.
    pub(super) fn is_over(&self) -> bool {
        Self::get(&self.over) > 0
    }

    /// Returns why a file was passed over, if one was.
    pub(super) fn only(&self) -> Option<Passed> {
        [
            Passed::NotText,
            Passed::TooLarge,
            Passed::TooSlow,
            Passed::TooDeep,
            Passed::LanguageOff,
            Passed::Unreadable,
            Passed::Over,
        ]
        .into_iter()
        .find(|passed| Self::get(self.counter(*passed)) > 0)
    }

    pub(super) fn skipped(&self, report: &WalkReport) -> SkippedSources {
        let walk = &report.skipped;
        SkippedSources {
            not_text: Self::get(&self.not_text),
            too_large: Self::get(&self.too_large),
            too_slow: Self::get(&self.too_slow),
            too_deep: Self::get(&self.too_deep),
            language_off: Self::get(&self.language_off),
            unreadable: walk.unreadable + Self::get(&self.unreadable),
            broken: Self::get(&self.broken),
            ignored_files: walk.ignored_files,
            ignored_directories: walk.ignored_directories,
            protected: walk.hidden.protected,
            hidden_by_rule: walk.hidden.by_rule,
        }
    }
}
