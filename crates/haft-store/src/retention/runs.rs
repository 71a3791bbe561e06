//! Runs that go, with all their entries.

use haft_protocol::Digest;
use rusqlite::{Connection, params};

use crate::lease::Leases;
use crate::store::Retention;

/// What goes at most, and by which age.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Runs whose last entry is older go.
    pub(super) oldest: i64,
    /// Runs that go at most.
    pub(super) most: usize,
}

/// Tells whether there are no more runs than are kept, and no more bytes of them.
pub(super) fn fit(tx: &Connection, retention: &Retention) -> Result<bool, rusqlite::Error> {
    let (count, bytes) = total(tx)?;
    Ok(count.unsigned_abs() <= retention.runs.get()
        && bytes.unsigned_abs() <= retention.run_bytes.get())
}

/// Returns how many runs there are, and how many bytes their entries have.
fn total(tx: &Connection) -> Result<(i64, i64), rusqlite::Error> {
    tx.prepare_cached("SELECT count(*), coalesce(sum(bytes), 0) FROM runs")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Removes runs that are too old, too many or too large together, those with the oldest last entries first. Stays what
/// somebody has open, and what a call of `needed` belongs to, a JSON array of rows.
///
/// Returns how many went, and the contents that only they led to.
pub(super) fn remove(
    tx: &Connection,
    retention: &Retention,
    leases: &Leases,
    needed: &str,
    bounds: Bounds,
) -> Result<(usize, Vec<(Digest, u64)>), rusqlite::Error> {
    let (mut count, mut bytes) = total(tx)?;
    let most_kept = i64::try_from(retention.runs.get()).unwrap_or(i64::MAX);
    let most_bytes = i64::try_from(retention.run_bytes.get()).unwrap_or(i64::MAX);
    let mut doomed: Vec<i64> = Vec::new();
    let mut statement = tx.prepare_cached(
        "SELECT seq, last_at, lease, bytes FROM runs
         WHERE id NOT IN (SELECT run FROM calls WHERE seq IN (SELECT value FROM json_each(?1)))
         ORDER BY last_at, seq",
    )?;
    let mut rows = statement.query([needed])?;
    while doomed.len() < bounds.most
        && let Some(row) = rows.next()?
    {
        let is_young = row.get::<_, i64>(1)? >= bounds.oldest;
        if is_young && count <= most_kept && bytes <= most_bytes {
            break;
        }
        let lease: Option<String> = row.get(2)?;
        if lease.is_some_and(|lease| leases.is_alive(&lease)) {
            continue;
        }
        doomed.push(row.get(0)?);
        count -= 1;
        bytes -= row.get::<_, i64>(3)?;
    }
    drop(rows);
    let mut loose = Vec::new();
    for run in &doomed {
        let contents = tx
            .prepare_cached("DELETE FROM run_entries WHERE run = ?1 RETURNING digest, bytes")?
            .query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<Vec<(Option<String>, i64)>, _>>()?;
        tx.prepare_cached(
            "DELETE FROM whole_outcomes WHERE call IN (
                SELECT calls.seq FROM calls JOIN runs ON runs.id = calls.run WHERE runs.seq = ?1)",
        )?
        .execute([run])?;
        tx.prepare_cached("DELETE FROM runs WHERE seq = ?1")?.execute([run])?;
        for (digest, bytes) in contents {
            let Some(digest) = digest else { continue };
            let is_needed: bool = tx
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM run_entries WHERE digest = ?1)
                        OR EXISTS (SELECT 1 FROM objects WHERE digest = ?1)",
                )?
                .query_row(params![digest], |row| row.get(0))?;
            if let (false, Ok(digest)) = (is_needed, digest.parse()) {
                loose.push((digest, u64::try_from(bytes).unwrap_or(0)));
            }
        }
    }
    Ok((doomed.len(), loose))
}
