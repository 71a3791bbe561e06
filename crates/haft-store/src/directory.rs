//! The state directory: where things lie in it, and whether it can be trusted with them.

use std::fs::{self, DirBuilder, DirEntry, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{StoreError, database};

/// The mode of our directories.
const DIRECTORY_MODE: u32 = 0o700;

/// The mode of our files.
const FILE_MODE: u32 = 0o600;

/// The bits of a mode that let others in.
const OTHERS: u32 = 0o077;

/// The bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// The bit of a directory that many share.
const STICKY: u32 = 0o1000;

/// What a state directory that another process has only begun may hold, and a file system of its own.
const OWN_NAMES: &[&str] = &[
    "haft.db",
    "haft.db-wal",
    "haft.db-wal.damaged",
    "haft.db-shm",
    "haft.db-journal",
    "objects",
    "leases",
    "locks",
    "open.lock",
    "lost+found",
];

/// How long nothing touches a file that is still in use.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// A directory that belongs to this user alone.
#[derive(Debug, Clone)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Makes the directory if need be, shuts others out of it, and refuses one that is not ours.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let us = user().map_err(StoreError::file("look up the owner of", path))?;
        let path = std::path::absolute(path).map_err(StoreError::file("resolve", path))?;
        refuse_planted_links(&path, us)?;
        make_directory(&path)?;
        let path = fs::canonicalize(&path).map_err(StoreError::file("resolve", &path))?;
        let facts = fs::metadata(&path).map_err(StoreError::file("look at", &path))?;
        if !facts.is_dir() {
            return Err(StoreError::Directory { path, problem: "is no directory".to_owned() });
        }
        if facts.uid() != us {
            let problem = format!("belongs to user {}, not to user {us}", facts.uid());
            return Err(StoreError::Directory { path, problem });
        }
        let directory = Self { path };
        directory.refuse_what_is_not_for_state(&facts, us)?;
        directory.refuse_foreign(&facts)?;
        shut_out_others(&directory.path, &facts, DIRECTORY_MODE)?;
        for inner in [directory.objects(), directory.leases(), directory.locks()] {
            make_directory(&inner)?;
            let facts =
                fs::symlink_metadata(&inner).map_err(StoreError::file("look at", &inner))?;
            if !facts.is_dir() {
                let problem = "is in the way: a directory of haft has to be there".to_owned();
                return Err(StoreError::Directory { path: inner, problem });
            }
            shut_out_others(&inner, &facts, DIRECTORY_MODE)?;
        }
        let database = directory.database();
        let facts = database_file(&database).map_err(StoreError::file("open", &database))?;
        shut_out_others(&database, &facts, FILE_MODE)?;
        Ok(directory)
    }

    /// Returns a directory as it is, to look at what is in it.
    pub(crate) fn look(path: &Path) -> Result<Self, StoreError> {
        let path = fs::canonicalize(path).map_err(StoreError::file("resolve", path))?;
        Ok(Self { path })
    }

    /// Refuses a database of another program where something would be made or changed beside it. Where nothing would,
    /// opening it tells.
    fn refuse_foreign(&self, facts: &Metadata) -> Result<(), StoreError> {
        let database = self.database();
        let Ok(of_database) = fs::symlink_metadata(&database) else { return Ok(()) };
        let inner = [self.objects(), self.leases(), self.locks()];
        let is_as_we_leave_it = facts.mode() & OTHERS == 0
            && of_database.mode() & OTHERS == 0
            && inner.iter().all(|it| fs::symlink_metadata(it).is_ok());
        if is_as_we_leave_it || !of_database.is_file() || of_database.len() == 0 {
            return Ok(());
        }
        // No store of this process is at it yet, so closing it again lets go of nobody's locks.
        database::refuse_foreign(&database)
    }

    /// Refuses a directory that is there for something else. Taking others' access away would break that.
    fn refuse_what_is_not_for_state(&self, facts: &Metadata, us: u32) -> Result<(), StoreError> {
        let refused = |problem: String| StoreError::Directory { path: self.path.clone(), problem };
        let is_begun = fs::symlink_metadata(self.database())
            .is_ok_and(|database| database.is_file() && database.uid() == us);
        let is_shared =
            facts.mode() & STICKY != 0 || (facts.mode() & OTHERS_WRITE != 0 && !is_begun);
        if is_shared {
            return Err(refused(format!(
                "can be written by others (mode {:o}): state needs a new directory, or one of mode 700",
                facts.mode() & 0o7777
            )));
        }
        if is_begun {
            return Ok(());
        }
        let entries = fs::read_dir(&self.path).map_err(StoreError::file("list", &self.path))?;
        for entry in entries {
            let name = entry.map_err(StoreError::file("list", &self.path))?.file_name();
            if !OWN_NAMES.iter().any(|own| name == **own) {
                let name = name.to_string_lossy();
                return Err(refused(format!(
                    "holds `{}` and no records of haft: state needs a new or empty directory",
                    name.escape_debug()
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The database; SQLite keeps its log and its index beside it, with the same mode.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("haft.db")
    }

    /// Content by digest.
    pub(crate) fn objects(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// One locked file for each process at work.
    pub(crate) fn leases(&self) -> PathBuf {
        self.path.join("leases")
    }

    /// One file for each resource that somebody writes to.
    pub(crate) fn locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    /// What is locked while a database is made or migrated.
    pub(crate) fn opening(&self) -> PathBuf {
        self.path.join("open.lock")
    }
}

/// Makes the database's file if need be, and returns its facts.
///
/// A file that is there is never opened: closing it again would let go of the locks that SQLite holds on it for another
/// store of this process.
fn database_file(path: &Path) -> io::Result<Metadata> {
    match new_private_file(path) {
        // What must survive a power failure does so only if the file's name does.
        Ok(_) => path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => refuse_link(path)?,
        Err(error) => return Err(error),
    }
    fs::symlink_metadata(path)
}

/// Opens a file for reading and writing, and makes it if need be. Never follows a link.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    refuse_link(path)?;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
}

/// Makes a file that must not be there yet.
pub(crate) fn new_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// The directory is ours alone by now, so nobody can plant a link after this look.
fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_file() => Ok(()),
        Ok(_) => {
            Err(io::Error::new(ErrorKind::InvalidInput, "something other than a file is there"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a directory, and those above it, for this user alone.
pub(crate) fn make_directory(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(path)
        .map_err(StoreError::file("make directory", path))
}

/// Tells whether a file was left behind: nothing has touched it for an hour.
pub(crate) fn is_old(entry: &DirEntry) -> bool {
    let age = entry.metadata().and_then(|facts| facts.modified()).map(|at| at.elapsed());
    age.is_ok_and(|age| age.is_ok_and(|age| age > LEFT_BEHIND))
}

fn shut_out_others(path: &Path, facts: &Metadata, mode: u32) -> Result<(), StoreError> {
    if facts.mode() & OTHERS == 0 {
        return Ok(());
    }
    tracing::warn!(path = %path.display(), mode = format!("{:o}", facts.mode() & 0o7777), "others had access; taken away");
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(StoreError::file("shut others out of", path))
}

/// Refuses a path that leads through a link which anybody could have put there.
fn refuse_planted_links(path: &Path, us: u32) -> Result<(), StoreError> {
    for part in path.ancestors() {
        let (Ok(link), Some(above)) = (fs::symlink_metadata(part), part.parent()) else { continue };
        if !link.is_symlink() || link.uid() == us || link.uid() == 0 {
            continue;
        }
        let open_to_all = fs::metadata(above).is_ok_and(|facts| facts.mode() & 0o002 != 0);
        if open_to_all {
            let problem = format!(
                "is a link that user {} put into a directory open to everybody",
                link.uid()
            );
            return Err(StoreError::Directory { path: part.to_owned(), problem });
        }
    }
    Ok(())
}

/// Returns the user this process acts as: a pipe belongs to whoever makes it.
fn user() -> io::Result<u32> {
    let (reader, _writer) = io::pipe()?;
    Ok(File::from(OwnedFd::from(reader)).metadata()?.uid())
}
