//! Which processes are at work: a locked file for each.
//!
//! The system lets go of a lock when its process ends, however it ends. So a lease that can be locked is that of a
//! process that is gone, and there is nothing to time out and no number that could be somebody else's by now.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use haft_tool::SystemIds;
use haft_tool::ports::Ids as _;

use crate::StoreError;
use crate::directory::{is_old, new_private_file};
use crate::lock_file::{Mode, remove_if_free, try_lock_open};

/// The sign of life of one open store.
#[derive(Debug)]
pub(crate) struct Lease {
    id: String,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

impl Lease {
    /// Takes a lease in a folder.
    pub(crate) fn take(folder: &Path) -> Result<Self, StoreError> {
        let id = random_name();
        let path = path_of(folder, &id);
        // Under its own name the file is locked from the first moment.
        let fresh = folder.join(format!(".new-{id}"));
        let file = new_private_file(&fresh).map_err(StoreError::file("make", &fresh))?;
        // Nobody else knows the name, so nobody else holds the lock.
        try_lock_open(&file, Mode::Alone).map_err(StoreError::lock(&fresh))?;
        fs::rename(&fresh, &path).map_err(StoreError::file("rename", &fresh))?;
        Ok(Self { id, held: Some(Held { path, _file: file }) })
    }

    /// Makes the lease of a store that no other process sees.
    pub(crate) fn unseen() -> Self {
        Self { id: random_name(), held: None }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            // A file that stays behind is no longer locked, which says the same.
            let _ = fs::remove_file(&held.path);
        }
    }
}

/// Tells which leases are those of a process that is still there.
#[derive(Debug, Clone)]
pub(crate) struct Leases {
    folder: Option<PathBuf>,
    ours: String,
}

impl Leases {
    pub(crate) fn new(folder: Option<PathBuf>, ours: &Lease) -> Self {
        Self { folder, ours: ours.id.clone() }
    }

    /// Returns the lease of this store.
    pub(crate) fn ours(&self) -> &str {
        &self.ours
    }

    /// Tells whether the process behind a lease is there. Where that cannot be told, it counts as there.
    pub(crate) fn is_alive(&self, id: &str) -> bool {
        if id == self.ours {
            return true;
        }
        let Some(folder) = &self.folder else { return false };
        // The id comes from the database; it names a file, and nothing else.
        if !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
        match File::open(path_of(folder, id)) {
            Ok(file) => !try_lock_open(&file, Mode::Shared).unwrap_or(false),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }

    /// Returns those of some leases whose process is there.
    pub(crate) fn alive(&self, ids: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut known: HashMap<String, bool> = HashMap::new();
        for id in ids {
            let alive = known.get(&id).copied().unwrap_or_else(|| self.is_alive(&id));
            known.insert(id, alive);
        }
        known.into_iter().filter_map(|(id, alive)| alive.then_some(id)).collect()
    }

    /// Removes what ended processes left behind, and returns how many files that was.
    pub(crate) fn sweep(&self) -> usize {
        let Some(folder) = &self.folder else { return 0 };
        let Ok(entries) = fs::read_dir(folder) else { return 0 };
        entries
            .flatten()
            .filter(|entry| {
                // A lease in the making is not locked yet.
                let in_the_making = entry.file_name().as_encoded_bytes().starts_with(b".new-");
                (!in_the_making || is_old(entry)) && remove_if_free(&entry.path())
            })
            .count()
    }
}

fn path_of(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.lock"))
}

/// Returns a name that nothing else has.
pub(crate) fn random_name() -> String {
    format!("{:032x}", SystemIds.random())
}
