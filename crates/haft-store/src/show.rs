//! Everything that is on record about one call.

use std::sync::Arc;

use haft_protocol::{
    AttemptRecord, Caller, DecisionRecord, IntentRecord, Outcome, OutcomeRecord, TicketRecord,
    Timestamp,
};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;

use crate::StoreError;
use crate::artifacts::{self, ArtifactInfo};
use crate::lease::Leases;
use crate::log::{CallSummary, children_of, summary_of};
use crate::query::{CANDIDATES, IdQuery, Table};
use crate::record::time;
use crate::row::{json, json_if_any, parsed, parsed_if_any, timestamp, unreadable, word};
use crate::store::Store;

/// Where calls are, and which one is the last.
const CALLS: Table = Table { name: "calls", last: "ORDER BY seq DESC" };

/// Everything that is on record about one call. Texts are redacted, and long ones are cut.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallDetail {
    /// The call in short, with how it stands.
    pub summary: CallSummary,
    /// What was about to happen.
    pub intent: IntentRecord,
    /// The questions that were asked about it.
    pub tickets: Vec<TicketDetail>,
    /// Each start of its body.
    pub attempts: Vec<AttemptRecord>,
    /// How it ended.
    pub outcome: Option<OutcomeRecord>,
    /// What it left in the artifact store.
    pub artifacts: Vec<ArtifactInfo>,
    /// The calls that its body made.
    pub children: Vec<CallSummary>,
}

/// A question and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TicketDetail {
    /// The question.
    pub record: TicketRecord,
    /// The answer, in words.
    pub answer: Option<String>,
    /// When it was answered.
    pub answered_at: Option<Timestamp>,
}

impl Store {
    /// Returns everything that is on record about one call.
    ///
    /// # Errors
    ///
    /// Fails when no call or more than one is meant, naming the candidates, and when the database cannot be read.
    pub fn show(&self, query: &IdQuery) -> Result<CallDetail, StoreError> {
        let (leases, now) = (self.inner.leases.clone(), SystemClock.now());
        let asked = query.clone();
        let mut found = self.inner.read(move |connection| {
            let tx = connection.unchecked_transaction()?;
            let ids = asked.find(&tx, &CALLS)?;
            let detail = match ids.as_slice() {
                [id] => Some(detail(&tx, &leases, now, id)?),
                _ => None,
            };
            Ok((ids, detail))
        })?;
        match found.1.take() {
            Some(detail) => Ok(detail),
            None if found.0.is_empty() => Err(StoreError::NoSuchCall { query: query.to_string() }),
            None => {
                found.0.truncate(CANDIDATES);
                Err(StoreError::AmbiguousCall { query: query.to_string(), candidates: found.0 })
            }
        }
    }

    /// Returns the questions that can still be answered, the oldest first.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn open_tickets(&self) -> Result<Vec<TicketRecord>, StoreError> {
        let now = SystemClock.now();
        self.inner.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT tickets.record FROM tickets JOIN calls ON calls.seq = tickets.call
                     WHERE answered_at IS NULL AND expires > ?1 AND ended_at IS NULL ORDER BY tickets.id",
                )?
                .query_map([time(now)], |row| json(row, "record"))?
                .collect()
        })
    }
}

fn detail(
    connection: &Connection,
    leases: &Leases,
    now: Timestamp,
    id: &str,
) -> Result<CallDetail, rusqlite::Error> {
    let (seq, intent) = connection
        .prepare_cached(
            "SELECT seq, id, version, tool, unknown_tool, entrance, principal, run, branch, parent, at, fingerprint,
                arguments_digest, decision, because, effects, bindings, arguments
             FROM calls WHERE id = ?1",
        )?
        .query_row([id], |row| Ok((row.get::<_, i64>("seq")?, intent(row)?)))?;
    let call = intent.call;
    let tickets = connection
        .prepare_cached(
            "SELECT record, answer, answered_at FROM tickets WHERE call = ?1 ORDER BY id",
        )?
        .query_map([seq], |row| {
            Ok(TicketDetail {
                record: json(row, "record")?,
                answer: row.get("answer")?,
                answered_at: row.get::<_, Option<i64>>("answered_at")?.map(timestamp),
            })
        })?
        .collect::<Result<_, _>>()?;
    let attempts = connection
        .prepare_cached(
            "SELECT attempt, at, must_last FROM attempts WHERE call = ?1 ORDER BY attempt",
        )?
        .query_map([seq], |row| {
            Ok(AttemptRecord {
                call,
                attempt: row.get("attempt")?,
                at: timestamp(row.get("at")?),
                must_last: row.get("must_last")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    let summary = summary_of(connection, leases, now, id)?;
    let outcome: Option<Outcome> = connection
        .prepare_cached("SELECT record FROM outcomes WHERE call = ?1")?
        .query_row([seq], |row| json(row, "record"))
        .optional()?;
    let outcome = outcome.map(|outcome| OutcomeRecord {
        call,
        at: summary.ended_at.unwrap_or_default(),
        outcome,
    });
    Ok(CallDetail {
        intent,
        tickets,
        attempts,
        outcome,
        artifacts: artifacts::of_call(connection, id)?,
        children: children_of(connection, leases, now, id)?,
        summary,
    })
}

fn intent(row: &Row<'_>) -> Result<IntentRecord, rusqlite::Error> {
    let entrance = word(row.get("entrance")?);
    let decision = row.get::<_, Option<String>>("decision")?.map(word).transpose();
    let decision = decision.map_err(|error| unreadable(row, "decision", error.into()))?;
    let because: Option<String> = row.get("because")?;
    let tool =
        if row.get("unknown_tool")? { Err(row.get("tool")?) } else { Ok(parsed(row, "tool")?) };
    Ok(IntentRecord {
        version: row.get("version")?,
        call: parsed(row, "id")?,
        tool,
        caller: Caller {
            entrance: entrance.map_err(|error| unreadable(row, "entrance", error.into()))?,
            principal: row.get("principal")?,
            run: parsed(row, "run")?,
            branch: parsed_if_any(row, "branch")?,
            parent: parsed_if_any(row, "parent")?,
        },
        at: timestamp(row.get("at")?),
        fingerprint: parsed_if_any(row, "fingerprint")?,
        arguments_digest: parsed_if_any(row, "arguments_digest")?,
        arguments: Arc::new(json(row, "arguments")?),
        bindings: json_if_any(row, "bindings")?.unwrap_or_default(),
        effects: json_if_any(row, "effects")?,
        decision: decision.map(|decision| DecisionRecord {
            decision,
            because: because.unwrap_or_default().into(),
        }),
    })
}
