//! Everything that is on record about one call.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use haft_protocol::{
    AttemptRecord, CallId, Caller, DecisionRecord, IntentRecord, Outcome, OutcomeRecord,
    TicketRecord, Timestamp,
};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;

use crate::StoreError;
use crate::artifacts::{self, ArtifactInfo};
use crate::lease::Leases;
use crate::log::{CallSummary, children_of, summary_of};
use crate::record::{head, time};
use crate::row::{json, json_if_any, parsed, parsed_if_any, timestamp, unreadable, word};
use crate::store::Store;

/// Characters that part of an id has at least.
const PART_CHARS: usize = 4;

/// Characters of an id.
const ID_CHARS: usize = 26;

/// Calls named when a part of an id fits several.
pub(crate) const CANDIDATES: usize = 10;

/// Which call is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdQuery {
    /// The call that was recorded last; written `last`.
    Last,
    /// The call of this id.
    Id(CallId),
    /// The one call whose id, or the last eight letters of it, begins or ends with this.
    Part(IdPart),
}

/// The begin or the end of an id: at least four of its letters and digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdPart(String);

/// What a text says about which one is meant, of any kind that has ids.
pub(crate) enum Meant<I> {
    Last,
    Id(I),
    ByPart(IdPart),
}

impl<I: FromStr> Meant<I> {
    /// Reads `last`, an id or part of one. `None` for what can be none of these.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("last") {
            return Some(Self::Last);
        }
        let lower = text.to_ascii_lowercase();
        if let Ok(id) = lower.parse() {
            return Some(Self::Id(id));
        }
        let fits = lower.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && (PART_CHARS..ID_CHARS).contains(&lower.len());
        fits.then_some(Self::ByPart(IdPart(lower)))
    }
}

impl IdPart {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for IdQuery {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        match Meant::of(text) {
            Some(Meant::Last) => Ok(Self::Last),
            Some(Meant::Id(id)) => Ok(Self::Id(id)),
            Some(Meant::ByPart(part)) => Ok(Self::Part(part)),
            None => Err(StoreError::NotAnId { query: text.trim().chars().take(40).collect() }),
        }
    }
}

impl From<CallId> for IdQuery {
    fn from(id: CallId) -> Self {
        Self::Id(id)
    }
}

impl fmt::Display for IdQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Id(id) => id.fmt(f),
            Self::Part(part) => part.fmt(f),
        }
    }
}

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
            let ids = find(&tx, &asked)?;
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

/// Returns the ids that fit, newest first, at most one more than are named.
fn find(connection: &Connection, query: &IdQuery) -> Result<Vec<String>, rusqlite::Error> {
    let id = |row: &Row<'_>| row.get(0);
    match query {
        IdQuery::Last => connection
            .prepare_cached("SELECT id FROM calls ORDER BY seq DESC LIMIT 1")?
            .query_map([], id)?
            .collect(),
        IdQuery::Id(call) => connection
            .prepare_cached("SELECT id FROM calls WHERE id = ?1")?
            .query_map([call.to_string()], id)?
            .collect(),
        // Ids sort by time, and in their order the index alone answers.
        IdQuery::Part(IdPart(part)) => connection
            .prepare_cached(
                // The last eight letters are how ids are listed, so their first ones are what people type.
                "SELECT id FROM calls WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
                    OR substr(id, -8, length(?1)) = ?1
                 ORDER BY id DESC LIMIT ?2",
            )?
            .query_map(params![head(part, ID_CHARS), (CANDIDATES + 1) as u32], id)?
            .collect(),
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
