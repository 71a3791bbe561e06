//! Files that exist in a test alone.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use haft_config::{Config, ConfigError, Door, PROJECT_FILE, Sources, Trust};
use haft_policy::Origin;
use haft_protocol::Digest;

pub(crate) const USER: &str = "/u/haft/config.toml";
pub(crate) const PROJECT: &str = "/p";
pub(crate) const TRUST: &str = "/u/haft/trust.json";

#[derive(Debug, Clone, Default)]
pub(crate) struct Files(BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    pub(crate) fn user(text: impl AsRef<[u8]>) -> Self {
        Self::default().with(USER, text)
    }

    pub(crate) fn project(text: impl AsRef<[u8]>) -> Self {
        Self::default().and_project(text)
    }

    pub(crate) fn and_project(self, text: impl AsRef<[u8]>) -> Self {
        self.with(Path::new(PROJECT).join(PROJECT_FILE), text)
    }

    /// Trusts the project's file as it is now.
    pub(crate) fn trusted(self) -> Self {
        let bytes = self.0.get(&Path::new(PROJECT).join(PROJECT_FILE)).unwrap();
        let mut trust = Trust::default();
        trust.add(Path::new(PROJECT), PROJECT_FILE, Digest::of_bytes(bytes)).unwrap();
        self.with(TRUST, trust.to_bytes())
    }

    pub(crate) fn with(mut self, path: impl Into<PathBuf>, text: impl AsRef<[u8]>) -> Self {
        self.0.insert(path.into(), text.as_ref().to_vec());
        self
    }

    pub(crate) fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&sources(), self)
    }

    /// Returns the error with what it rests on.
    pub(crate) fn error(&self) -> String {
        let error = self.load().unwrap_err();
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }
}

impl Door for Files {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match self.0.get(path) {
            Some(bytes) if bytes == b"locked" => Err(io::ErrorKind::PermissionDenied.into()),
            found => Ok(found.cloned()),
        }
    }
}

pub(crate) fn sources() -> Sources<'static> {
    Sources {
        user: Some(Path::new(USER)),
        project: Some(Path::new(PROJECT)),
        trust: Some(Path::new(TRUST)),
        ..Sources::default()
    }
}

/// Writes every setting on a line, with its origin.
pub(crate) fn settings(config: &Config) -> String {
    let lines = config.settings().into_iter().filter(|it| it.origin != Origin::default());
    lines
        .map(|it| format!("{} = {} ({})", it.key, it.value, it.origin))
        .collect::<Vec<_>>()
        .join("\n")
}

pub(crate) fn dropped(config: &Config) -> String {
    config.dropped().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
