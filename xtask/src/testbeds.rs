//! `cargo xtask testbeds`: real programs and data that tests need, in `.testbeds/`.
//!
//! A part lies in `.testbeds/<name>/`, put there in one rename, with a stamp that says which
//! version it is; a part whose stamp differs is fetched again. One lock file lets runs that
//! start together share the folder. A part that cannot be had is a warning: the tests that
//! need it skip and say so.

mod fetch;
mod parts;

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use self::parts::{LARGE_PARTS, PARTS, Part};
use crate::repository;

/// The folder of parts, beneath the root of the repository.
const FOLDER: &str = ".testbeds";

/// The file in a part's folder that says which part it is.
const STAMP: &str = ".part";

/// What `cargo xtask testbeds` understands.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Parts to install; without a name all but the large ones.
    names: Vec<String>,
    /// Fetch nothing, only say what is there.
    #[arg(long)]
    offline: bool,
}

/// Installs parts; fails if one of those asked for cannot be had.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = repository::root()?;
    let missing = prepare(&root, &arguments.names, arguments.offline)?;
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Installs the named parts, or all but the large ones, and returns how many are missing afterwards.
///
/// # Errors
///
/// When a name is unknown or the folder cannot be written; a part that cannot be fetched is
/// not an error.
pub(crate) fn prepare(root: &Path, names: &[String], offline: bool) -> Result<usize> {
    let wanted = select(names)?;
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {FOLDER}"))?;
    let lock = File::create(folder.join("lock")).context("cannot open the lock of testbeds")?;
    lock.lock().context("cannot lock testbeds")?;

    let mut missing = 0;
    for part in wanted {
        let there = folder.join(part.name);
        if is_installed(&there, part) {
            eprintln!("testbed {} {}: here", part.name, part.version);
        } else if offline {
            missing += 1;
            eprintln!("warning: testbed {} {}: not here", part.name, part.version);
        } else {
            eprintln!("testbed {} {}: fetching", part.name, part.version);
            if let Err(error) = install(&folder, part) {
                missing += 1;
                eprintln!("warning: testbed {} cannot be had: {error:#}", part.name);
            }
        }
    }
    if missing > 0 {
        eprintln!("warning: tests that need a missing part are skipped");
    }
    Ok(missing)
}

fn select(names: &[String]) -> Result<Vec<&'static Part>> {
    if names.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let find = |name: &String| {
        known().find(|part| part.name == name).with_context(|| {
            let known: Vec<_> = known().map(|part| part.name).collect();
            format!("no testbed is called `{name}`, there are {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

fn known() -> impl Iterator<Item = &'static Part> {
    PARTS.iter().chain(LARGE_PARTS)
}

fn is_installed(there: &Path, part: &Part) -> bool {
    fs::read_to_string(there.join(STAMP)).is_ok_and(|stamp| stamp == part.stamp())
}

/// Fetches beside the final place, checks, stamps, then renames.
fn install(folder: &Path, part: &Part) -> Result<()> {
    let staging = folder.join(format!(".staging-{}", part.name));
    remove(&staging)?;
    fs::create_dir_all(&staging)?;
    fetch::fetch(part, &staging)?;

    let ready = staging.join("ready");
    if !ready.join(part.proof).exists() {
        bail!("what was fetched holds no {}", part.proof);
    }
    fs::write(ready.join(STAMP), part.stamp())?;
    let there = folder.join(part.name);
    remove(&there)?;
    fs::rename(&ready, &there)?;
    remove(&staging)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parts_are_named_with_those_that_exist() {
        let error = select(&["ripgerp".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("no testbed is called `ripgerp`, there are "), "{error}");
        assert!(error.contains("ripgrep"), "{error}");
    }

    #[test]
    fn a_stamp_changes_with_version_and_hash() {
        for (index, part) in known().enumerate() {
            assert!(part.stamp().contains(part.version));
            assert!(!known().take(index).any(|other| other.name == part.name));
        }
    }

    #[test]
    fn a_large_part_is_installed_only_by_name() {
        let [large] = *select(&["model-large".to_owned()]).unwrap() else { panic!("one part") };
        assert!(!select(&[]).unwrap().iter().any(|part| part.name == large.name));
    }
}
