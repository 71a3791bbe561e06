//! Content by digest: `objects/ab/cdef…`, or a table in memory.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_protocol::Digest;

use crate::StoreError;
use crate::directory::{is_old, make_directory, new_private_file};
use crate::effects::copy_bounded;
use crate::lease::random_name;

/// Where content is kept. A clone is the same place.
#[derive(Debug, Clone)]
pub(crate) enum Objects {
    Folder(Arc<Path>),
    Memory(Arc<Mutex<HashMap<Digest, Arc<[u8]>>>>),
}

/// Content that is written and has no name yet. Dropping it removes it.
#[derive(Debug)]
pub(crate) enum Staged {
    File { path: PathBuf },
    Bytes(Arc<[u8]>),
}

impl Objects {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self::Folder(folder.into())
    }

    pub(crate) fn in_memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// Writes content under a name of no meaning.
    pub(crate) fn stage(&self, bytes: &Arc<[u8]>) -> Result<Staged, StoreError> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Memory(_) => return Ok(Staged::Bytes(Arc::clone(bytes))),
        };
        let path = folder.join(format!(".new-{}", random_name()));
        let staged = Staged::File { path: path.clone() };
        new_private_file(&path)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(StoreError::file("write", path))?;
        Ok(staged)
    }

    /// Writes content as it is read, under a name of no meaning; what is more than `most` bytes is only digested.
    pub(crate) fn stage_from(
        &self,
        content: &mut dyn Read,
        most: u64,
    ) -> Result<(Option<Staged>, Digest, u64), StoreError> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Memory(_) => {
                let mut bytes = Vec::new();
                let mut put = |piece: &[u8]| {
                    bytes.extend_from_slice(piece);
                    Ok(())
                };
                let (digest, length) = copy_bounded(content, most, &mut put)
                    .map_err(StoreError::file("read", "what is kept"))?;
                let staged = (length <= most).then(|| Staged::Bytes(bytes.into()));
                return Ok((staged, digest, length));
            }
        };
        let path = folder.join(format!(".new-{}", random_name()));
        let staged = Staged::File { path: path.clone() };
        let (digest, length) = new_private_file(&path)
            .and_then(|mut file| copy_bounded(content, most, |piece| file.write_all(piece)))
            .map_err(StoreError::file("write", path))?;
        Ok(((length <= most).then_some(staged), digest, length))
    }

    /// Gives content a name beside the one of no meaning, which others may wait for, and returns when all of it outlasts
    /// a power failure.
    pub(crate) fn place_lasting(&self, staged: &Staged, digest: Digest) -> Result<(), StoreError> {
        let beside = match (self, staged) {
            (Self::Folder(folder), Staged::File { path }) => {
                let beside = Staged::File { path: folder.join(format!(".new-{}", random_name())) };
                if let Staged::File { path: other } = &beside {
                    // Not every file system gives a file two names.
                    fs::hard_link(path, other)
                        .or_else(|_| fs::copy(path, other).map(drop))
                        .and_then(|()| File::open(other)?.sync_all())
                        .map_err(StoreError::file("sync", path))?;
                }
                Some(beside)
            }
            _ => None,
        };
        self.place(beside.as_ref().unwrap_or(staged), digest)?;
        if let Self::Folder(folder) = self {
            let to = path_of(folder, digest);
            for folder in [to.parent(), Some(folder)].into_iter().flatten() {
                File::open(folder)
                    .and_then(|folder| folder.sync_all())
                    .map_err(StoreError::file("sync", folder))?;
            }
        }
        Ok(())
    }

    /// Gives content its name.
    pub(crate) fn place(&self, staged: &Staged, digest: Digest) -> Result<(), StoreError> {
        match (self, staged) {
            (Self::Folder(folder), Staged::File { path }) => {
                let to = path_of(folder, digest);
                if let Some(parent) = to.parent() {
                    make_directory(parent)?;
                }
                fs::rename(path, &to).map_err(StoreError::file("rename", path))
            }
            (Self::Memory(table), Staged::Bytes(bytes)) => {
                lock(table).insert(digest, Arc::clone(bytes));
                Ok(())
            }
            // Staged by another store, which cannot be: there is one for each.
            (Self::Folder(_), Staged::Bytes(_)) | (Self::Memory(_), Staged::File { .. }) => {
                Err(StoreError::Stopped)
            }
        }
    }

    /// Returns the content behind a digest, if it is there and still what it was.
    pub(crate) fn read(&self, digest: Digest) -> Option<Arc<[u8]>> {
        let bytes: Arc<[u8]> = match self {
            Self::Folder(folder) => fs::read(path_of(folder, digest)).ok()?.into(),
            Self::Memory(table) => lock(table).get(&digest).cloned()?,
        };
        (Digest::of_bytes(&bytes) == digest).then_some(bytes)
    }

    pub(crate) fn remove(&self, digest: Digest) {
        match self {
            Self::Folder(folder) => {
                let path = path_of(folder, digest);
                if let Err(error) = fs::remove_file(&path)
                    && error.kind() != ErrorKind::NotFound
                {
                    tracing::warn!(path = %path.display(), %error, "an object was not removed");
                }
            }
            Self::Memory(table) => {
                lock(table).remove(&digest);
            }
        }
    }

    /// Returns digests of content that nothing touched for an hour, at most `most`, those of the first folders.
    pub(crate) fn settled(&self, most: usize) -> Vec<Digest> {
        let Self::Folder(folder) = self else { return Vec::new() };
        let digest_of = |first: &OsStr, object: &DirEntry| -> Option<Digest> {
            format!("{}{}", first.to_str()?, object.file_name().to_str()?).parse().ok()
        };
        entries(folder)
            .flat_map(|folder| {
                entries(&folder.path()).map(move |object| (folder.file_name(), object))
            })
            .filter(|(_, object)| is_old(object))
            .filter_map(|(first, object)| digest_of(&first, &object))
            .take(most)
            .collect()
    }

    /// Removes what was staged and never given a name.
    pub(crate) fn sweep_staged(&self) {
        let Self::Folder(folder) = self else { return };
        for entry in entries(folder) {
            if entry.file_name().as_encoded_bytes().starts_with(b".new-") && is_old(&entry) {
                // Nobody waits for it any more; if it cannot be removed now, it can the next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Self::File { path } = self {
            // Not there any more when it was given its name.
            let _ = fs::remove_file(path);
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(io::Result::ok)
}

fn path_of(folder: &Path, digest: Digest) -> PathBuf {
    let name = digest.to_string();
    let (first, rest) = name.split_at_checked(2).unwrap_or(("", &name));
    folder.join(first).join(rest)
}

/// Nothing panics while the table is locked; a poisoned table is whole.
fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
