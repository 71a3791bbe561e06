//! Changes to files, and what they took away.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_protocol::{
    CallId, ChangedCall, ChangedCalls, ContentRef, Digest, EffectRecord, EffectState, FileState,
    LogicalPath, Timestamp,
};
use haft_tool::SystemClock;
use haft_tool::ports::{Clock as _, Effects, PortError};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::StoreError;
use crate::objects::Staged;
use crate::record::time;
use crate::retention::{Keeper, Removed, forget_object, immediate};
use crate::row::{json, parsed, parsed_if_any, timestamp};
use crate::store::{Inner, Store};

/// How long content waits for the change that takes it away to be announced.
const PATIENCE: Duration = Duration::from_mins(10);

/// Why what was kept cannot be brought back any more.
const NOT_KEPT: &str = "it is no longer kept: it made room for later changes";

/// Content that was kept and that no change on record needs yet.
#[derive(Debug, Default)]
pub(crate) struct Pending(Mutex<HashMap<Digest, Waiting>>);

/// Content that waits for the changes that take it away.
#[derive(Debug)]
struct Waiting {
    staged: Arc<Staged>,
    bytes: u64,
    /// How many changes it waits for: calls that change equal files keep it once each.
    changes: u64,
    since: Instant,
}

impl Pending {
    fn put(&self, digest: Digest, bytes: u64, staged: Staged) {
        let since = Instant::now();
        let mut pending = self.lock();
        pending.retain(|_, it| it.since.elapsed() < PATIENCE);
        let waiting = pending.entry(digest).or_insert_with(|| Waiting {
            staged: Arc::new(staged),
            bytes,
            changes: 0,
            since,
        });
        waiting.changes += 1;
        waiting.since = since;
    }

    /// Hands out what changes need. It stays for other changes that wait for the same.
    fn take(&self, digests: &BTreeSet<Digest>) -> HashMap<Digest, (Arc<Staged>, u64)> {
        let mut pending = self.lock();
        let mut taken = HashMap::new();
        for digest in digests {
            let Some(waiting) = pending.get_mut(digest) else { continue };
            taken.insert(*digest, (Arc::clone(&waiting.staged), waiting.bytes));
            waiting.changes = waiting.changes.saturating_sub(1);
            if waiting.changes == 0 {
                pending.remove(digest);
            }
        }
        taken
    }

    /// Nothing panics while the table is locked; a poisoned table is whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What files held is kept as it is, byte by byte, with whatever secrets are in it: nothing else could bring it back.
impl Effects for Store {
    fn keep(&self, content: &mut dyn Read) -> Result<ContentRef, PortError> {
        let inner = &self.inner;
        let most = inner.retention.artifact_bytes_each.get();
        let (staged, digest, bytes) = inner.objects.stage_from(content, most)?;
        let stored = staged.is_some();
        if let Some(staged) = staged {
            inner.pending.put(digest, bytes, staged);
        }
        Ok(ContentRef { digest, bytes, stored })
    }

    fn fetch(&self, digest: Digest) -> Result<Option<Arc<[u8]>>, PortError> {
        Ok(self.inner.objects.read(digest))
    }

    fn announce(&self, effects: &[EffectRecord]) -> Result<(), PortError> {
        let inner = &self.inner;
        let needed: BTreeSet<Digest> = effects.iter().flat_map(stored_digests).flatten().collect();
        let pending = inner.pending.take(&needed);
        let announcing = Announcing {
            rows: effects.iter().map(EffectRow::of).collect::<Result<_, _>>()?,
            calls: effects.iter().map(|it| it.call).collect(),
            needed,
            pending,
            lease: inner.leases.ours().to_owned(),
        };
        let keeper = Keeper::of(inner);
        let announced = inner.writer.with(move |connection| announcing.run(connection, &keeper))?;
        Ok(announced.map_err(inner.place.error())??)
    }

    fn settle(&self, effect: &EffectRecord) -> Result<(), PortError> {
        let inner = &self.inner;
        let row = EffectRow::of(effect)?;
        let keeper = Keeper::of(inner);
        let settled = inner.writer.with(move |connection| row.settle(connection, &keeper))?;
        Ok(settled.map_err(inner.place.error())?)
    }

    fn of_call(&self, call: CallId) -> Result<Vec<EffectRecord>, PortError> {
        Ok(self.inner.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT record, evicted_at FROM effects WHERE call = ?1 ORDER BY number",
                )?
                .query_map([call.to_string()], effect)?
                .collect()
        })?)
    }

    fn made_again(&self, root: &str, born: Timestamp) -> Result<Option<Timestamp>, PortError> {
        let (root, born) = (root.to_owned(), time(born));
        Ok(self.inner.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT record ->> '$.stands_for' FROM effects
                     WHERE root = ?1 AND state = 'done' AND record ->> '$.born' = ?2
                        AND record ->> '$.stands_for' IS NOT NULL LIMIT 1",
                )?
                .query_row(params![root, born], |row| row.get(0).map(timestamp))
                .optional()
        })?)
    }

    fn changed_calls(&self, roots: &[String], most: u32) -> Result<ChangedCalls, PortError> {
        let roots = serde_json::Value::from(roots.to_vec());
        let counted: Vec<(ChangedCall, u64)> = self.inner.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT call, latest, tool, run, count(*) OVER () AS total,
                        iif(tool = 'builtin/undo' AND json_valid(arguments), arguments ->> '$.call', NULL) AS undoes
                     FROM (SELECT call, max(at) AS latest FROM effects
                        WHERE state = 'done' AND root IN (SELECT value FROM json_each(?1)) GROUP BY call)
                     LEFT JOIN calls ON calls.id = call
                     ORDER BY latest DESC, call DESC LIMIT ?2",
                )?
                .query_map(params![roots.to_string(), most], |row| {
                    Ok((changed_call(row)?, row.get::<_, i64>("total")?.unsigned_abs()))
                })?
                .collect()
        })?;
        let earlier = counted.first().map_or(0, |(_, total)| *total) - counted.len() as u64;
        let mut undone = HashSet::new();
        let mut calls: Vec<ChangedCall> = counted.into_iter().map(|(call, _)| call).collect();
        for call in &mut calls {
            call.undone = undone.contains(&call.call);
            // What took changes back counts until it was taken back itself.
            undone.extend(call.undoes.filter(|_| !call.undone));
        }
        Ok(ChangedCalls { calls, earlier })
    }

    fn cut_short(&self) -> Result<Vec<EffectRecord>, PortError> {
        let open: Vec<(String, EffectRecord)> = self.inner.glance(|connection| {
            connection
                .prepare_cached(
                    "SELECT record, evicted_at, lease FROM effects WHERE state = 'announced' ORDER BY call, number",
                )?
                .query_map([], |row| Ok((row.get("lease")?, effect(row)?)))?
                .collect()
        })?;
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let alive = self.inner.leases.alive(open.iter().map(|(lease, _)| lease.clone()));
        Ok(open.into_iter().filter(|(lease, _)| !alive.contains(lease)).map(|it| it.1).collect())
    }

    fn touched(&self, root: &str) -> Result<BTreeSet<LogicalPath>, PortError> {
        let root = root.to_owned();
        Ok(self.inner.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT DISTINCT path FROM effects WHERE root = ?1 AND state = 'done'",
                )?
                .query_map([root], |row| Ok(LogicalPath::new(row.get::<_, String>(0)?)))?
                .collect()
        })?)
    }
}

/// Reads a call that changed something. What took changes back says so in its arguments.
fn changed_call(row: &Row<'_>) -> Result<ChangedCall, rusqlite::Error> {
    let undoes: Option<String> = row.get("undoes")?;
    Ok(ChangedCall {
        call: parsed(row, "call")?,
        tool: row.get("tool")?,
        run: parsed_if_any(row, "run")?,
        at: timestamp(row.get("latest")?),
        undone: false,
        undoes: undoes.and_then(|text| text.parse().ok()),
    })
}

/// Reads a change back. What is no longer kept says so.
fn effect(row: &Row<'_>) -> Result<EffectRecord, rusqlite::Error> {
    let mut effect: EffectRecord = json(row, "record")?;
    if row.get::<_, Option<i64>>("evicted_at")?.is_some() {
        for state in [&mut effect.change.before, &mut effect.change.after].into_iter().flatten() {
            if let FileState::File { content: Some(content), .. } = state {
                content.stored = false;
            }
        }
        if effect.change.before.as_ref().is_some_and(|before| before.content().is_some()) {
            effect.change.not_restorable.get_or_insert_with(|| NOT_KEPT.to_owned());
        }
    }
    Ok(effect)
}

/// Returns the digests of what stood there before and after, where it is stored.
fn stored_digests(effect: &EffectRecord) -> [Option<Digest>; 2] {
    [&effect.change.before, &effect.change.after].map(|state| {
        let content = state.as_ref().and_then(FileState::content);
        content.filter(|content| content.stored).map(|content| content.digest)
    })
}

/// A change as its row has it.
#[derive(Debug)]
struct EffectRow {
    call: String,
    number: u32,
    root: String,
    path: String,
    at: i64,
    state: EffectState,
    before: Option<String>,
    after: Option<String>,
    record: String,
}

impl EffectRow {
    fn of(effect: &EffectRecord) -> Result<Self, StoreError> {
        let refused = |error: serde_json::Error| StoreError::Refused { text: error.to_string() };
        let [before, after] = stored_digests(effect).map(|digest| digest.map(|it| it.to_string()));
        Ok(Self {
            call: effect.call.to_string(),
            number: effect.number,
            root: effect.root.clone(),
            path: effect.change.path.to_string(),
            at: time(effect.at),
            state: effect.state,
            before,
            after,
            record: serde_json::to_string(effect).map_err(refused)?,
        })
    }

    fn state(&self) -> &'static str {
        match self.state {
            EffectState::Announced => "announced",
            EffectState::Done => "done",
            EffectState::NotDone => "not_done",
        }
    }

    /// What did not happen took nothing away, so nothing is kept for it.
    fn settle(&self, connection: &mut Connection, keeper: &Keeper) -> Result<(), rusqlite::Error> {
        let tx = immediate(connection)?;
        let is_kept = self.state != EffectState::NotDone;
        tx.prepare_cached(
            "UPDATE effects SET state = ?3, record = ?4, before = iif(?5, before, NULL), after = iif(?5, after, NULL)
             WHERE call = ?1 AND number = ?2",
        )?
        .execute(params![self.call, self.number, self.state(), self.record, is_kept])?;
        let mut removed = Removed::default();
        if !is_kept {
            for digest in [&self.before, &self.after].into_iter().flatten() {
                removed.objects.extend(forget_object(&tx, digest)?);
            }
        }
        tx.commit()?;
        keeper.drop_objects(connection, removed)
    }
}

/// Changes on their way on record.
struct Announcing {
    rows: Vec<EffectRow>,
    calls: Vec<CallId>,
    needed: BTreeSet<Digest>,
    pending: HashMap<Digest, (Arc<Staged>, u64)>,
    lease: String,
}

impl Announcing {
    /// The outer error is the database's, the inner one is about contents.
    fn run(
        self,
        connection: &mut Connection,
        keeper: &Keeper,
    ) -> Result<Result<(), StoreError>, rusqlite::Error> {
        let level: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let announced = self.put(connection, keeper);
        connection.pragma_update(None, "synchronous", level)?;
        announced
    }

    fn put(
        &self,
        connection: &mut Connection,
        keeper: &Keeper,
    ) -> Result<Result<(), StoreError>, rusqlite::Error> {
        let tx = immediate(connection)?;
        let mut fresh = Vec::new();
        for digest in &self.needed {
            let bytes = self.pending.get(digest).map_or(0, |(_, bytes)| *bytes);
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let is_new = tx
                .prepare_cached(
                    "INSERT INTO objects (digest, bytes) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING",
                )?
                .execute(params![digest.to_string(), bytes])?
                > 0;
            if is_new {
                let Some((staged, _)) = self.pending.get(digest) else {
                    tx.rollback()?;
                    let text = "what a change takes away was not kept in time; try again";
                    return Ok(Err(StoreError::Refused { text: text.to_owned() }));
                };
                fresh.push((*digest, staged));
            }
        }
        for row in &self.rows {
            tx.prepare_cached(
                "INSERT INTO effects (call, number, root, path, at, lease, state, before, after, record)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                row.call,
                row.number,
                row.root,
                row.path,
                row.at,
                self.lease,
                row.state(),
                row.before,
                row.after,
                row.record,
            ])?;
        }
        // The new ones are on record by now, so that content they share with one that goes stays.
        let now = SystemClock.now();
        let mut needed = keeper.needed(&tx, now)?;
        self.calls.iter().for_each(|call| needed.keep(*call));
        let mut removed = Removed::default();
        if !keeper.evict(&tx, now, &needed, &mut removed)? {
            tx.rollback()?;
            let total = keeper.retention.artifact_bytes_total.get();
            let text = format!(
                "what it takes away is too much to keep: all that is kept may have {total} bytes, and what running calls \
                 need stays"
            );
            return Ok(Err(StoreError::Refused { text }));
        }
        // Within the transaction: nobody can find the content unused, and remove it, between here and the commit.
        for (digest, staged) in fresh {
            if let Err(error) = keeper.objects.place_lasting(staged, digest) {
                tx.rollback()?;
                return Ok(Err(error));
            }
        }
        tx.commit()?;
        keeper.drop_objects(connection, removed)?;
        Ok(Ok(()))
    }
}

/// Takes out of the record the changes of a call, and returns the contents that these led to.
pub(crate) fn remove_of_call(
    connection: &Connection,
    call: &str,
) -> Result<(usize, Vec<String>), rusqlite::Error> {
    removed(
        connection,
        "DELETE FROM effects WHERE call = ?1 RETURNING before, after",
        params![call],
    )
}

/// Does so for changes of calls that are not on record, made before a time.
pub(crate) fn remove_strays(
    connection: &Connection,
    oldest: i64,
) -> Result<(usize, Vec<String>), rusqlite::Error> {
    removed(
        connection,
        "DELETE FROM effects WHERE at < ?1 AND NOT EXISTS (SELECT 1 FROM calls WHERE id = effects.call)
         RETURNING before, after",
        params![oldest],
    )
}

fn removed(
    connection: &Connection,
    statement: &str,
    values: impl rusqlite::Params,
) -> Result<(usize, Vec<String>), rusqlite::Error> {
    let rows: Vec<[Option<String>; 2]> = connection
        .prepare_cached(statement)?
        .query_map(values, |row| Ok([row.get(0)?, row.get(1)?]))?
        .collect::<Result<_, _>>()?;
    Ok((rows.len(), rows.into_iter().flatten().flatten().collect()))
}

impl Inner {
    /// Tells how many changes are on record.
    pub(crate) fn changes(connection: &Connection) -> Result<i64, rusqlite::Error> {
        connection.query_row("SELECT count(*) FROM effects WHERE state <> 'not_done'", [], |row| {
            row.get(0)
        })
    }
}

/// Reads content to its end into a file, or lets it pass where it is too much.
pub(crate) fn copy_bounded(
    content: &mut dyn Read,
    most: u64,
    mut into: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(Digest, u64)> {
    let mut digester = haft_protocol::Digester::default();
    let mut piece = vec![0; haft_protocol::limits::PIECE_BYTES];
    let mut bytes: u64 = 0;
    loop {
        let count = match content.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        let Some(read) = piece.get(..count).filter(|read| !read.is_empty()) else {
            return Ok(digester.finish());
        };
        digester.update(read);
        bytes += read.len() as u64;
        if bytes <= most {
            into(read)?;
        }
    }
}
