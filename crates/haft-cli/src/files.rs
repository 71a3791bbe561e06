//! The command's own files: configuration and trust.

#![expect(
    clippy::disallowed_methods,
    reason = "a face reads its own configuration; user files go through the workspace"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use haft::config::PROJECT_FILE;
use haft::limits::CONFIG_BYTES;

/// The name of the file of trusted projects, beside the user's configuration.
pub(crate) const TRUST_FILE: &str = "trust.json";

/// What makes a folder a project.
const PROJECT_FOLDER: &str = ".haft";

/// The bit of a mode that lets everybody write.
const OTHERS_WRITE: u32 = 0o002;

/// Returns the real path of a directory.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Fails where the names in a directory cannot be followed by this user.
pub(crate) fn can_enter(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path.join(PROJECT_FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        _ => Ok(()),
    }
}

/// Returns the nearest folder above a directory that is a project, for it holds a folder `.haft`; `None` where the
/// directory is one itself.
///
/// The way up ends before the home folder and the root of the file system, and before a folder that lies on another file
/// system, belongs to somebody else than the directory, or is open to everybody: what is found there could have been put
/// there by anybody.
pub(crate) fn project_around(here: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let here = real_path(here).ok()?;
    let home = home.and_then(|home| real_path(home).ok());
    let facts = fs::metadata(&here).ok()?;
    let is_ours = |it: &fs::Metadata| it.uid() == facts.uid() && it.dev() == facts.dev();
    for folder in here.ancestors() {
        let is_home = home.as_ref().is_some_and(|home| home.starts_with(folder));
        let within = fs::symlink_metadata(folder).ok()?;
        let is_open_to_all = within.mode() & OTHERS_WRITE != 0;
        let is_border = is_home || folder.parent().is_none() || is_open_to_all || !is_ours(&within);
        if is_border && folder != here {
            return None;
        }
        match fs::symlink_metadata(folder.join(PROJECT_FOLDER)) {
            Ok(_) if folder == here => return None,
            Ok(found) => return (found.is_dir() && is_ours(&found)).then(|| folder.to_owned()),
            Err(error) if is_absent(&error) => {}
            Err(_) => return None,
        }
        if is_border {
            return None;
        }
    }
    None
}

/// Returns the nearest folder above a project that has a project's file of its own, and whether it belongs to the same
/// user.
pub(crate) fn project_above(project: &Path) -> Option<(PathBuf, bool)> {
    let project = real_path(project).ok()?;
    let owner = |path: &Path| fs::metadata(path).ok().map(|facts| facts.uid());
    let mut above = project.ancestors().skip(1);
    let found = above.find(|it| it.join(PROJECT_FILE).is_file())?;
    let is_same = [found, &found.join(PROJECT_FILE)].iter().all(|it| owner(it) == owner(&project));
    Some((found.to_owned(), is_same))
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
    if within.is_some() && file.metadata()?.nlink() > 1 {
        return Err(io::Error::other(
            "it has other names (hard links), and may be a file of elsewhere: copy it",
        ));
    }
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Reads a file that was named on the command line: as much of it as may be, and one byte more where there is more.
pub(crate) fn read_given(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The signals that this process was started to ignore, as with `nohup`. Where the system does not say, there are none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IgnoredSignals(u64);

impl IgnoredSignals {
    pub(crate) fn read() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default())
    }

    pub(crate) fn contains(self, signal: i32) -> bool {
        let bit = u32::try_from(signal - 1).ok();
        bit.is_some_and(|bit| self.0.checked_shr(bit).unwrap_or_default() & 1 == 1)
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What a path names, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// Something else.
    Other,
}

/// Tells what a path names; `None` where there is nothing.
pub(crate) fn kind(path: &Path) -> io::Result<Option<Kind>> {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_symlink() => Ok(Some(Kind::Link)),
        Ok(facts) if facts.is_file() => Ok(Some(Kind::File)),
        Ok(_) => Ok(Some(Kind::Other)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a file of the user's; whether it is there any more is nobody's concern.
pub(crate) fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Replaces a file of the user's as a whole, for this user's eyes only.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
    let written = opened.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&draft);
    }
    replaced
}
