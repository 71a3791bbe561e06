//! The files a rule looks at.

use std::path::Path;

use anyhow::{Context, Result};
use ignore::WalkBuilder;

use super::SourceFile;

/// The text files of the repository, by slash-separated path from its root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    sources: Vec<SourceFile>,
    others: Vec<TextFile>,
    paths: Vec<String>,
}

/// A text file that is not Rust.
#[derive(Debug)]
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Tree {
    /// Reads every file that git would not ignore. Bytes that are not UTF-8 have no rules here,
    /// and neither have the inputs kept for fuzzing.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        let walk = WalkBuilder::new(root)
            .hidden(false)
            .parents(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .sort_by_file_path(Ord::cmp)
            .build();
        for entry in walk {
            let entry = entry.context("cannot walk the repository")?;
            let relative = entry.path().strip_prefix(root)?;
            let path = relative.to_string_lossy().replace('\\', "/");
            if path.is_empty() {
                continue;
            }
            tree.paths.push(path.clone());
            if !entry.file_type().is_some_and(|kind| kind.is_file())
                || path.starts_with("fuzz/corpus/")
            {
                continue;
            }
            let bytes =
                std::fs::read(entry.path()).with_context(|| format!("cannot read {path}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                tree.add(path, text);
            }
        }
        Ok(tree)
    }

    fn add(&mut self, path: String, text: String) {
        if extension(&path) == Some("rs") {
            self.sources.push(SourceFile::new(path, text));
        } else {
            self.others.push(TextFile { path, text });
        }
    }

    /// Returns the number of text files.
    pub(crate) fn len(&self) -> usize {
        self.sources.len() + self.others.len()
    }

    /// Returns the Rust files.
    pub(crate) fn sources(&self) -> &[SourceFile] {
        &self.sources
    }

    /// Returns one Rust file.
    pub(crate) fn source(&self, path: &str) -> Option<&SourceFile> {
        self.sources.iter().find(|file| file.path == path)
    }

    /// Returns the text files that are not Rust.
    pub(crate) fn others(&self) -> &[TextFile] {
        &self.others
    }

    /// Returns path and text of every text file.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let sources = self.sources.iter().map(|file| (file.path.as_str(), file.text.as_str()));
        sources.chain(self.others.iter().map(|file| (file.path.as_str(), file.text.as_str())))
    }

    /// Tells whether a file or folder of that path exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.iter().any(|known| known == path)
    }

    /// Returns the Markdown pages.
    pub(crate) fn pages(&self) -> impl Iterator<Item = &TextFile> {
        self.others.iter().filter(|file| extension(&file.path) == Some("md"))
    }

    /// Makes a tree out of paths and texts, for the tests of rules.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            let mut parent = *path;
            while let Some((above, _)) = parent.rsplit_once('/') {
                tree.paths.push(above.to_owned());
                parent = above;
            }
            tree.paths.push((*path).to_owned());
            tree.add((*path).to_owned(), (*text).to_owned());
        }
        tree
    }
}

/// Returns what follows the last dot of a file's name.
pub(crate) fn extension(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}
