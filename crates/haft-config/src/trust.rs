//! Which files of which projects a person trusts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use haft_protocol::Digest;
use serde::{Deserialize, Serialize};

/// Where a project keeps its configuration, from the project's folder.
pub const PROJECT_FILE: &str = ".haft/config.toml";

/// The version of the stored form.
const VERSION: u32 = 1;

/// The files that a person has read and answers for, by project and digest.
///
/// The value is read from bytes and written as bytes; whoever holds the file reads and replaces it as a whole.
///
/// ```
/// use std::path::Path;
/// use haft_config::{PROJECT_FILE, Trust};
/// use haft_protocol::Digest;
///
/// let project = Path::new("/home/me/project");
/// let digest = Digest::of_bytes("preset = \"full\"");
/// let mut trust = Trust::default();
/// trust.add(project, PROJECT_FILE, digest)?;
///
/// let read = Trust::read(&trust.to_bytes())?;
/// assert!(read.is_trusted(project, PROJECT_FILE, &digest));
/// assert!(!read.is_trusted(project, PROJECT_FILE, &Digest::of_bytes("preset = \"edit\"")));
/// # Ok::<(), haft_config::TrustError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    projects: BTreeMap<String, BTreeMap<String, Digest>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<P> {
    version: u32,
    projects: P,
}

/// Trust that cannot be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The bytes are not a list of trusted projects.
    #[error("repair or remove it, for it is not a list of trusted projects")]
    Malformed {
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The list was written by a newer haft.
    #[error("this list of trusted projects has form {version}, and this haft knows {VERSION}")]
    Newer {
        /// The form's version.
        version: u32,
    },
    /// The project's path cannot be kept.
    #[error("`{}` cannot be trusted: expected a full path of UTF-8 text", path.display())]
    Path {
        /// The path.
        path: PathBuf,
    },
}

impl Trust {
    /// Reads the stored form. No bytes at all mean that nothing is trusted.
    ///
    /// # Errors
    ///
    /// Fails when the bytes are anything else; they must not be replaced then.
    pub fn read(bytes: &[u8]) -> Result<Self, TrustError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let malformed = |source| TrustError::Malformed { source };
        let Version { version } = serde_json::from_slice(bytes).map_err(malformed)?;
        if version > VERSION {
            return Err(TrustError::Newer { version });
        }
        let stored: Stored<_> = serde_json::from_slice(bytes).map_err(malformed)?;
        Ok(Self { projects: stored.projects })
    }

    /// Writes the stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let stored = Stored { version: VERSION, projects: &self.projects };
        // Text keys and hexadecimal digests: there is nothing in here that JSON could not say.
        let mut bytes = serde_json::to_vec_pretty(&stored).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Tells whether a person trusts these very bytes as this file of this project.
    ///
    /// `project` is the canonical path of its folder, `file` the path within it, such as [`PROJECT_FILE`].
    pub fn is_trusted(&self, project: &Path, file: &str, digest: &Digest) -> bool {
        full_path(project).and_then(|project| self.projects.get(project)?.get(file)) == Some(digest)
    }

    /// Trusts these bytes, in place of any others that were trusted as this file of this project.
    ///
    /// # Errors
    ///
    /// Fails for a project whose path is not a full path of UTF-8 text.
    pub fn add(&mut self, project: &Path, file: &str, digest: Digest) -> Result<(), TrustError> {
        let path = full_path(project).ok_or_else(|| TrustError::Path { path: project.into() })?;
        self.projects.entry(path.to_owned()).or_default().insert(file.to_owned(), digest);
        Ok(())
    }

    /// Trusts nothing of this project any more, and tells whether anything was trusted.
    pub fn remove(&mut self, project: &Path) -> bool {
        full_path(project).is_some_and(|project| self.projects.remove(project).is_some())
    }

    /// Returns every trusted file: project, path within it, digest.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str, &Digest)> {
        self.projects.iter().flat_map(|(project, files)| {
            files.iter().map(move |(file, digest)| (Path::new(project), file.as_str(), digest))
        })
    }
}

fn full_path(path: &Path) -> Option<&str> {
    path.to_str().filter(|_| path.is_absolute())
}
