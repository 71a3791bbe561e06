//! What became of a call, for a run that is gone on with.

use haft_protocol::{CallId, Capabilities, ContentPart, Outcome, OutcomeRecord, TicketRecord};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::StoreError;
use crate::log::{CallStatus, CallSummary, summary_of};
use crate::record::time;
use crate::row::{json, json_if_any};
use crate::store::Store;

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallFate {
    /// Its body never started: there is no record of it, or none of a start, or the question about it can no longer be
    /// answered. Making it is safe, whatever it does.
    NeverStarted,
    /// A question about it can still be answered.
    Waiting(Box<TicketRecord>),
    /// Its body started, and no end is on record.
    Started(StartedCall),
    /// It ended.
    Ended(Box<EndedCall>),
}

/// A call whose body started and of which no end is on record.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedCall {
    /// Whether a process is still at it. Then its end may come.
    pub is_running: bool,
    /// How often its body was started.
    pub attempts: u32,
    /// What it may do, where that is on record.
    pub effects: Option<Capabilities>,
}

impl StartedCall {
    /// Tells whether making it again does no harm: it changes nothing, or comes to the same when it is done twice, and
    /// nobody is at it.
    pub fn can_be_repeated(&self) -> bool {
        !self.is_running
            && self.effects.as_ref().is_some_and(|it| it.is_read_only() || it.is_idempotent())
    }
}

/// A call that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedCall {
    /// How it ended, and when.
    pub record: OutcomeRecord,
    /// What is not there any more of what the call once came to, one a line. Empty where it is whole.
    pub left_out: Vec<String>,
}

impl Store {
    /// Returns what became of a call.
    ///
    /// The outcome of a call of a run is whole until the run has an entry of it. Of any other call it is what the journal
    /// keeps: redacted and bounded.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn fate(&self, call: CallId) -> Result<CallFate, StoreError> {
        let (leases, now) = (self.inner.leases.clone(), SystemClock.now());
        self.inner.read(move |connection| {
            let tx = connection.unchecked_transaction()?;
            let id = call.to_string();
            let Some(summary) = summary_of(&tx, &leases, now, &id).optional()? else {
                return Ok(CallFate::NeverStarted);
            };
            Ok(match summary.status {
                CallStatus::Pending | CallStatus::NotStarted => CallFate::NeverStarted,
                CallStatus::Waiting => {
                    let ticket = tx
                        .prepare_cached(
                            "SELECT tickets.record FROM tickets JOIN calls ON calls.seq = tickets.call
                             WHERE calls.id = ?1 AND answered_at IS NULL AND expires > ?2
                             ORDER BY tickets.id DESC LIMIT 1",
                        )?
                        .query_row(params![id, time(now)], |row| json(row, "record"))
                        .optional()?;
                    ticket.map_or(CallFate::NeverStarted, |it| CallFate::Waiting(Box::new(it)))
                }
                CallStatus::Running | CallStatus::Unknown => CallFate::Started(StartedCall {
                    is_running: summary.status == CallStatus::Running,
                    attempts: summary.attempts,
                    effects: tx
                        .prepare_cached("SELECT effects FROM calls WHERE id = ?1")?
                        .query_row([&id], |row| json_if_any(row, "effects"))?,
                }),
                CallStatus::Ok
                | CallStatus::Failed
                | CallStatus::Denied
                | CallStatus::Cancelled
                | CallStatus::TimedOut => CallFate::Ended(Box::new(ended(&tx, &summary)?)),
            })
        })
    }
}

fn ended(connection: &Connection, summary: &CallSummary) -> Result<EndedCall, rusqlite::Error> {
    let (outcome, is_whole): (Outcome, Option<bool>) = connection
        .prepare_cached(
            "SELECT coalesce(whole_outcomes.record, outcomes.record) AS record,
                iif(whole_outcomes.record IS NULL, is_whole, 1) AS is_whole
             FROM calls JOIN outcomes ON outcomes.call = calls.seq
                LEFT JOIN whole_outcomes ON whole_outcomes.call = calls.seq
             WHERE calls.id = ?1",
        )?
        .query_row([summary.id.to_string()], |row| {
            Ok((json(row, "record")?, row.get("is_whole")?))
        })?;
    let mut left_out = Vec::new();
    match is_whole {
        Some(true) => {}
        Some(false) => left_out.push(
            "the outcome is what the journal keeps: without secrets, images and the ends of long texts"
                .to_owned(),
        ),
        None => left_out.push(
            "the outcome is what an earlier haft kept in the journal, which may be less than it was"
                .to_owned(),
        ),
    }
    for part in &outcome.content {
        let ContentPart::Artifact { id, .. } = part else { continue };
        let evicted: Option<Option<i64>> = connection
            .prepare_cached("SELECT evicted_at FROM artifacts WHERE id = ?1")?
            .query_row([id.to_string()], |row| row.get(0))
            .optional()?;
        match evicted {
            Some(None) => {}
            Some(Some(_)) => left_out.push(format!("artifact {id} made room for later ones")),
            None => left_out.push(format!("artifact {id} is not on record")),
        }
    }
    let at = summary.ended_at.unwrap_or_default();
    Ok(EndedCall { record: OutcomeRecord { call: summary.id, at, outcome }, left_out })
}
