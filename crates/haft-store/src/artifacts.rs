//! Bytes behind a handle.

use std::sync::Arc;

use haft_protocol::{ArtifactId, CallId, Digest, Timestamp};
use haft_tool::ports::{Artifacts, Clock as _, Ids as _, KeptArtifact, NewArtifact, PortError};
use haft_tool::{BoxFuture, SystemClock, SystemIds};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::Value;

use crate::StoreError;
use crate::objects::Staged;
use crate::record::{head, time};
use crate::retention::{Keeper, Removed, immediate};
use crate::row::{parsed, timestamp};
use crate::store::{Inner, Store};

/// Bytes of a title or of a media type.
const TITLE_BYTES: usize = 500;

/// What is known of an artifact without its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactInfo {
    /// The handle.
    pub id: ArtifactId,
    /// The call it comes from.
    pub call: CallId,
    /// What the bytes are, in a few words.
    pub title: String,
    /// The media type.
    pub media_type: String,
    /// The digest of the bytes.
    pub digest: Digest,
    /// How many bytes there are.
    pub bytes: u64,
    /// When they were kept.
    pub at: Timestamp,
    /// When the bytes made room for later ones.
    pub evicted_at: Option<Timestamp>,
}

/// An artifact with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// What is known of it.
    pub info: ArtifactInfo,
    /// The bytes, checked against their digest.
    pub bytes: Arc<[u8]>,
}

/// Text is redacted like any record. Bytes of any other media type are kept as they are: what has to come back byte by
/// byte, such as a file to be restored, must not claim to be text.
impl Artifacts for Store {
    fn keep(&self, artifact: NewArtifact) -> BoxFuture<'_, Result<ArtifactId, PortError>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let keep = move || inner.keep(artifact);
            // Megabytes are searched, digested and written: not on a thread that others want to run on.
            let kept = match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    runtime.spawn_blocking(keep).await.unwrap_or(Err(StoreError::Stopped))
                }
                Err(_) => keep(),
            };
            Ok(kept?)
        })
    }

    fn fetch(&self, id: ArtifactId) -> BoxFuture<'_, Result<Option<KeptArtifact>, PortError>> {
        let store = self.clone();
        Box::pin(async move {
            let fetch = move || store.artifact_of_workspace(id);
            let fetched = match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    runtime.spawn_blocking(fetch).await.unwrap_or(Err(StoreError::Stopped))
                }
                Err(_) => fetch(),
            };
            Ok(fetched?.map(|Artifact { info, bytes }| KeptArtifact {
                title: info.title,
                media_type: info.media_type,
                bytes,
            }))
        })
    }
}

impl Store {
    /// Returns an artifact with its bytes.
    ///
    /// # Errors
    ///
    /// Fails when there is none of that id, and when its bytes made room for later ones, or are not what they were.
    pub fn artifact(&self, id: ArtifactId) -> Result<Artifact, StoreError> {
        let found = self.inner.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM artifacts WHERE id = ?1"))?
                .query_row([id.to_string()], info)
                .optional()
        })?;
        let info = found.ok_or(StoreError::NoSuchArtifact { id })?;
        if info.evicted_at.is_some() {
            let cap = self.inner.retention.artifact_bytes_total.get();
            return Err(StoreError::ArtifactEvicted { id, cap });
        }
        let bytes =
            self.inner.objects.read(info.digest).ok_or(StoreError::ArtifactDamaged { id })?;
        Ok(Artifact { info, bytes })
    }
}

impl Store {
    /// Returns an artifact that a call of this workspace kept.
    fn artifact_of_workspace(&self, id: ArtifactId) -> Result<Option<Artifact>, StoreError> {
        let first_root = self.roots.first().cloned();
        let is_of_workspace = self.inner.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT 1 FROM artifacts JOIN calls ON calls.id = artifacts.call
                     WHERE artifacts.id = ?1 AND calls.root IS ?2",
                )?
                .exists(params![id.to_string(), first_root])
        })?;
        if is_of_workspace { self.artifact(id).map(Some) } else { Ok(None) }
    }
}

/// Returns the artifacts of one call, in the order in which they were kept.
pub(crate) fn of_call(
    connection: &Connection,
    call: &str,
) -> Result<Vec<ArtifactInfo>, rusqlite::Error> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM artifacts WHERE call = ?1 ORDER BY seq"))?
        .query_map([call], info)?
        .collect()
}

const COLUMNS: &str = "id, call, title, media_type, digest, bytes, at, evicted_at";

fn info(row: &Row<'_>) -> Result<ArtifactInfo, rusqlite::Error> {
    Ok(ArtifactInfo {
        id: parsed(row, "id")?,
        call: parsed(row, "call")?,
        title: row.get("title")?,
        media_type: row.get("media_type")?,
        digest: parsed(row, "digest")?,
        bytes: u64::try_from(row.get::<_, i64>("bytes")?).unwrap_or(0),
        at: timestamp(row.get("at")?),
        evicted_at: row.get::<_, Option<i64>>("evicted_at")?.map(timestamp),
    })
}

/// What came of putting an artifact on record.
enum Kept {
    Yes,
    NoRoom,
}

impl Inner {
    fn keep(&self, artifact: NewArtifact) -> Result<ArtifactId, StoreError> {
        let NewArtifact { call, title, media_type, bytes } = artifact;
        let bytes = self.redacted(&media_type, bytes);
        let each = self.retention.artifact_bytes_each.get();
        let too_large =
            |problem: String| StoreError::ArtifactTooLarge { bytes: bytes.len() as u64, problem };
        if bytes.len() as u64 > each {
            return Err(too_large(format!("one artifact may have {each}")));
        }
        let now = SystemClock.now();
        let info = ArtifactInfo {
            id: ArtifactId::from_parts(now.unix_ms(), SystemIds.random()),
            call,
            title: head(&self.redaction.text(&title), TITLE_BYTES).to_owned(),
            media_type: head(&media_type, TITLE_BYTES).to_owned(),
            digest: Digest::of_bytes(&bytes),
            bytes: bytes.len() as u64,
            at: now,
            evicted_at: None,
        };
        let id = info.id;
        let staged = self.objects.stage(&bytes)?;
        let keeper = Keeper::of(self);
        let on_record = move |connection: &mut Connection| put(connection, &keeper, &info, &staged);
        let (kept, placed) = self.writer.with(on_record)?.map_err(self.place.error())?;
        placed?;
        match kept {
            Kept::Yes => Ok(id),
            Kept::NoRoom => {
                let total = self.retention.artifact_bytes_total.get();
                Err(too_large(format!(
                    "all artifacts together may have {total}, and those of running calls stay"
                )))
            }
        }
    }

    fn redacted(&self, media_type: &str, bytes: Arc<[u8]>) -> Arc<[u8]> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let is_json = essence.eq_ignore_ascii_case("application/json");
        let is_text = essence.get(..5).is_some_and(|kind| kind.eq_ignore_ascii_case("text/"));
        let Ok(text) = std::str::from_utf8(&bytes) else { return bytes };
        if is_json && let Ok(value) = serde_json::from_str::<Value>(text) {
            let redacted = self.redaction.json(&value);
            return if redacted == value {
                bytes
            } else {
                redacted.to_string().into_bytes().into()
            };
        }
        if !is_json && !is_text {
            return bytes;
        }
        match self.redaction.text(text) {
            std::borrow::Cow::Borrowed(same) if same.len() == text.len() => bytes,
            redacted => redacted.into_owned().into_bytes().into(),
        }
    }
}

/// Puts an artifact on record and its content in its place; makes room where the cap asks for it.
fn put(
    connection: &mut Connection,
    keeper: &Keeper,
    info: &ArtifactInfo,
    staged: &Staged,
) -> Result<(Kept, Result<(), StoreError>), rusqlite::Error> {
    let tx = immediate(connection)?;
    let bytes = i64::try_from(info.bytes).unwrap_or(i64::MAX);
    tx.prepare_cached(
        "INSERT INTO objects (digest, bytes) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING",
    )?
    .execute(params![info.digest.to_string(), bytes])?;
    tx.prepare_cached(
        "INSERT INTO artifacts (id, call, title, media_type, digest, bytes, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        info.id.to_string(),
        info.call.to_string(),
        info.title,
        info.media_type,
        info.digest.to_string(),
        bytes,
        time(info.at),
    ])?;
    // The new one is on record by now, so that content it shares with one that goes stays.
    let mut needed = keeper.needed(&tx, info.at)?;
    needed.keep(info.call);
    let mut removed = Removed::default();
    if !keeper.evict(&tx, info.at, &needed, &mut removed)? {
        tx.rollback()?;
        return Ok((Kept::NoRoom, Ok(())));
    }
    // Within the transaction: nobody can find the content unused, and remove it, between here and the commit.
    if let Err(error) = keeper.objects.place(staged, info.digest) {
        tx.rollback()?;
        return Ok((Kept::NoRoom, Err(error)));
    }
    tx.commit()?;
    keeper.drop_objects(connection, removed)?;
    Ok((Kept::Yes, Ok(())))
}
