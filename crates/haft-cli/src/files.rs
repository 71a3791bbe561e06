//! The command's own files: configuration and trust.

#![expect(
    clippy::disallowed_methods,
    reason = "a face reads its own configuration; user files go through the workspace"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use haft::config::PROJECT_FILE;
use haft::limits::CONFIG_BYTES;

/// The name of the file of trusted projects, beside the user's configuration.
pub(crate) const TRUST_FILE: &str = "trust.json";

/// Returns the real path of a directory.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Returns the nearest folder above a project that has a project's file of its own.
pub(crate) fn project_above(project: &Path) -> Option<PathBuf> {
    let project = real_path(project).ok()?;
    let mut above = project.ancestors().skip(1);
    above.find(|it| it.join(PROJECT_FILE).is_file()).map(Path::to_owned)
}

/// Reads a configuration file; `None` when it is not there.
///
/// Only regular files are opened, so that a pipe in a project cannot hang the command. In the project, links of both kinds
/// are refused: its files must not stand for something elsewhere.
pub(crate) fn read(path: &Path, project: Option<&Path>) -> io::Result<Option<Vec<u8>>> {
    let within = project.and_then(|project| Some((project, path.strip_prefix(project).ok()?)));
    if let Some((project, within)) = within {
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
    let file = File::open(path)?;
    if within.is_some() && has_other_names(&file.metadata()?) {
        return Err(io::Error::other(
            "it has other names (hard links), and may be a file of elsewhere: copy it",
        ));
    }
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(unix)]
fn has_other_names(facts: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(facts) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &fs::Metadata) -> bool {
    false
}

/// Tells whether this process was started to ignore a signal, as `nohup` does. Where the system does not say, it is not.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    u32::try_from(signal - 1).is_ok_and(|bit| mask.checked_shr(bit).unwrap_or_default() & 1 == 1)
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
