//! The statements behind runs and their entries.

use haft_protocol::{RunEntry, RunFacts, RunId, TokenUsage, UsageTotal};
use rusqlite::{Connection, OptionalExtension as _, named_params, params};
use serde::Serialize;

use crate::StoreError;
use crate::record::{Recorder, time};
use crate::store::Store;

/// Bytes of what a listing shows of a text.
const LINE_BYTES: usize = 500;

/// A run as its row has it.
#[derive(Debug)]
pub(super) struct RunRow {
    id: String,
    at: i64,
    title: String,
    model: String,
    preset: String,
    root: Option<String>,
    further_roots: Option<String>,
    parent: Option<String>,
    forked_from: Option<(String, i64)>,
}

impl RunRow {
    pub(super) fn of(store: &Store, facts: &RunFacts) -> Result<Self, StoreError> {
        let redaction = &store.inner.redaction;
        let line = |text: &str| Recorder::new(redaction).line(text, LINE_BYTES);
        let named: Vec<String> = match &*store.roots {
            [] => facts.roots.iter().map(|root| line(root)).collect(),
            known => known.to_vec(),
        };
        Ok(Self {
            id: facts.run.to_string(),
            at: time(facts.at),
            title: line(&facts.title),
            model: facts.model.to_string(),
            preset: line(&facts.preset),
            root: named.first().cloned(),
            further_roots: named.get(1..).filter(|it| !it.is_empty()).map(json).transpose()?,
            parent: facts.parent.map(String::from),
            forked_from: facts.forked_from.map(|(run, entries)| {
                (run.to_string(), i64::try_from(entries).unwrap_or(i64::MAX))
            }),
        })
    }

    /// Puts the run on record, held by a lease. `None` where there is one of its id.
    pub(super) fn insert(
        &self,
        tx: &Connection,
        lease: &str,
    ) -> Result<Option<i64>, rusqlite::Error> {
        let forked = self.forked_from.as_ref();
        let usage = serde_json::to_string(&UsageTotal::default()).unwrap_or_default();
        tx.prepare_cached(
            "INSERT INTO runs
                (id, began_at, last_at, title, model, preset, root, further_roots, parent, forked_from, forked_entries,
                 lease, pid, since, usage)
             VALUES
                (:id, :at, :at, :title, :model, :preset, :root, :further_roots, :parent, :forked_from, :forked_entries,
                 :lease, :pid, :at, :usage)
             ON CONFLICT (id) DO NOTHING RETURNING seq",
        )?
        .query_row(
            named_params! {
                ":id": self.id,
                ":at": self.at,
                ":title": self.title,
                ":model": self.model,
                ":preset": self.preset,
                ":root": self.root,
                ":further_roots": self.further_roots,
                ":parent": self.parent,
                ":forked_from": forked.map(|(run, _)| run),
                ":forked_entries": forked.map(|(_, entries)| entries),
                ":lease": lease,
                ":pid": std::process::id(),
                ":usage": usage,
            },
            |row| row.get(0),
        )
        .optional()
    }
}

/// An entry as its row has it, and what it does to the row of its run.
#[derive(Debug)]
pub(crate) struct EntryRow {
    pub(super) at: i64,
    pub(super) version: u32,
    pub(super) kind: &'static str,
    pub(super) json: Option<String>,
    pub(super) digest: Option<String>,
    pub(super) bytes: i64,
    pub(super) totals: Totals,
    /// The cause, where the run stopped.
    pub(super) stopped: Option<String>,
    /// The call, where one ended.
    pub(super) ended: Option<String>,
}

/// What an entry says about what the run took.
#[derive(Debug)]
pub(super) enum Totals {
    Nothing,
    More(TokenUsage),
    Estimated(TokenUsage),
    All(UsageTotal),
}

impl Totals {
    pub(super) fn of(entry: &RunEntry) -> Self {
        match entry {
            RunEntry::Replied(reply) => Self::More(reply.usage),
            RunEntry::Summarised(summary) if summary.model.is_some() => Self::More(summary.usage),
            RunEntry::Unanswered { estimated: Some(estimated), .. } => Self::Estimated(*estimated),
            RunEntry::Stopped(stopped) => Self::All(stopped.usage),
            RunEntry::Began(_)
            | RunEntry::Said(_)
            | RunEntry::Asked { .. }
            | RunEntry::Unanswered { .. }
            | RunEntry::Waits { .. }
            | RunEntry::MadeAgain { .. }
            | RunEntry::Ended { .. }
            | RunEntry::Summarised(_)
            | RunEntry::Resumed { .. } => Self::Nothing,
        }
    }

    /// Returns the new total, where there is one.
    fn total(&self, tx: &Connection, run: i64) -> Result<Option<String>, rusqlite::Error> {
        let nobody_said = TokenUsage::default();
        let (usage, estimated) = match self {
            Self::Nothing => return Ok(None),
            Self::All(total) => return Ok(serde_json::to_string(total).ok()),
            Self::More(usage) => (usage, &nobody_said),
            Self::Estimated(estimated) => (&nobody_said, estimated),
        };
        let before: String = tx
            .prepare_cached("SELECT usage FROM runs WHERE seq = ?1")?
            .query_row([run], |row| row.get(0))?;
        let mut total: UsageTotal = serde_json::from_str(&before).unwrap_or_default();
        total.add_or(usage, estimated);
        Ok(serde_json::to_string(&total).ok())
    }
}

impl EntryRow {
    /// Puts the entry behind the others of its run, for whoever holds it. The inner error says why it cannot be.
    pub(crate) fn insert(
        &self,
        tx: &Connection,
        run: i64,
        lease: &str,
    ) -> Result<Result<(), String>, rusqlite::Error> {
        let written = tx
            .prepare_cached(
                "INSERT INTO run_entries (run, seq, at, version, kind, json, digest, bytes)
                 SELECT seq, (SELECT coalesce(max(seq), -1) + 1 FROM run_entries WHERE run = :run), :at, :version, :kind,
                    :json, :digest, :bytes
                 FROM runs WHERE seq = :run AND lease = :lease",
            )?
            .execute(named_params! {
                ":run": run,
                ":at": self.at,
                ":version": self.version,
                ":kind": self.kind,
                ":json": self.json,
                ":digest": self.digest,
                ":bytes": self.bytes,
                ":lease": lease,
            })?;
        if written == 0 {
            let text =
                "the run is no longer open here: another process took it over, or it was removed";
            return Ok(Err(text.to_owned()));
        }
        tx.prepare_cached(
            "UPDATE runs SET last_at = max(last_at, :at), entries = entries + 1, bytes = bytes + :bytes,
                calls = calls + :calls, stopped = :stopped, usage = coalesce(:usage, usage)
             WHERE seq = :run",
        )?
        .execute(named_params! {
            ":run": run,
            ":at": self.at,
            ":bytes": self.bytes,
            ":calls": self.ended.is_some(),
            ":stopped": self.stopped,
            ":usage": self.totals.total(tx, run)?,
        })?;
        if let Some(call) = &self.ended {
            // What a call came to that was made again is on record by another id.
            tx.prepare_cached(
                "DELETE FROM whole_outcomes WHERE call IN (SELECT seq FROM calls WHERE id = ?2 OR id IN (
                    SELECT json ->> '$.made_as' FROM run_entries
                    WHERE run = ?1 AND kind = 'made_again' AND json ->> '$.call' = ?2))",
            )?
            .execute(params![run, call])?;
        }
        Ok(Ok(()))
    }
}

/// Lets go of a run, if a lease holds it.
pub(crate) fn let_go(
    connection: &Connection,
    run: i64,
    lease: &str,
) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "UPDATE runs SET lease = NULL, pid = NULL, since = NULL WHERE seq = ?1 AND lease = ?2",
        )?
        .execute(params![run, lease])?;
    Ok(())
}

/// Returns the row of a run.
pub(super) fn find(connection: &Connection, run: RunId) -> Result<Option<i64>, rusqlite::Error> {
    connection
        .prepare_cached("SELECT seq FROM runs WHERE id = ?1")?
        .query_row([run.to_string()], |row| row.get(0))
        .optional()
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Refused { text: error.to_string() })
}
