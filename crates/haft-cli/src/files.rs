//! The command's own files: configuration and trust.

#![expect(
    clippy::disallowed_methods,
    reason = "a face reads its own configuration; user files go through the workspace"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use haft::limits::CONFIG_BYTES;

/// The name of the file of trusted projects, beside the user's configuration.
pub(crate) const TRUST_FILE: &str = "trust.json";

/// Returns the real path of a directory.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Reads a configuration file; `None` when it is not there.
///
/// Only regular files are opened, so that a pipe in a project cannot hang the command. In the project, links are refused:
/// its files must not stand for something elsewhere.
pub(crate) fn read(path: &Path, project: &Path) -> io::Result<Option<Vec<u8>>> {
    if let Ok(within) = path.strip_prefix(project) {
        let mut place = project.to_owned();
        for part in within {
            place.push(part);
            match fs::symlink_metadata(&place) {
                Ok(facts) if facts.is_symlink() => {
                    return Err(io::Error::other(format!(
                        "`{}` is a link, and links are not followed here",
                        place.display()
                    )));
                }
                Ok(_) => {}
                Err(error) if is_absent(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is not a regular file")),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(CONFIG_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Replaces a file of the user's as a whole, for this user's eyes only.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&draft);
    }
    replaced
}
