//! The statements behind each kind of entry.

use rusqlite::{Connection, OptionalExtension as _, named_params, params};

use crate::record::{IntentRow, OutcomeRow, TicketRow};
use crate::runs::{EntryRow, let_go};

/// An entry on its way into the database, redacted and in its stored form.
#[derive(Debug)]
pub(crate) enum Write {
    Intent(Box<IntentRow>),
    Ticket(TicketRow),
    Answered { ticket: String, answer: String, at: i64 },
    Started { call: String, attempt: u32, at: i64, must_last: bool },
    Outcome(OutcomeRow),
    RunEntry { run: i64, row: Box<EntryRow> },
    RunLeft { run: i64 },
}

/// What an entry came to: written, or refused for a reason.
type Applied = Result<Result<(), String>, rusqlite::Error>;

impl Write {
    /// Returns the call, where the entry names it.
    pub(super) fn call(&self) -> Option<&str> {
        match self {
            Self::Intent(row) => Some(&row.id),
            Self::Ticket(row) => Some(&row.call),
            Self::Answered { .. } | Self::RunEntry { .. } | Self::RunLeft { .. } => None,
            Self::Started { call, .. } => Some(call),
            Self::Outcome(row) => Some(&row.call),
        }
    }

    /// Tells whether the entry has to survive a power failure.
    pub(super) fn must_last(&self) -> bool {
        matches!(self, Self::Started { must_last: true, .. })
    }

    /// Names the entry, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Intent(row) => format!("the intent of call {}", row.id),
            Self::Ticket(row) => format!("ticket {}", row.id),
            Self::Answered { ticket, .. } => format!("the answer to ticket {ticket}"),
            Self::Started { call, attempt, .. } => format!("attempt {attempt} of call {call}"),
            Self::Outcome(row) => format!("the outcome of call {}", row.call),
            Self::RunEntry { .. } => "an entry of a run".to_owned(),
            Self::RunLeft { .. } => "the end of the work on a run".to_owned(),
        }
    }

    /// Writes the entry. Whoever calls takes back a half-written one.
    pub(super) fn apply(&self, connection: &Connection, lease: &str) -> Applied {
        match self {
            Self::Intent(row) => intent(connection, row, lease),
            Self::Ticket(row) => ticket(connection, row),
            Self::Answered { ticket, answer, at } => {
                answered(connection, ticket, answer, *at, lease)
            }
            Self::Started { call, attempt, at, must_last } => {
                started(connection, call, *attempt, *at, *must_last)
            }
            Self::Outcome(row) => outcome(connection, row),
            Self::RunEntry { run, row } => row.insert(connection, *run, lease),
            Self::RunLeft { run } => let_go(connection, *run, lease).map(Ok),
        }
    }
}

/// A call may be bound anew until it starts: it is one row, which says what was decided last.
fn intent(connection: &Connection, row: &IntentRow, lease: &str) -> Applied {
    let written = connection
        .prepare_cached(
            "INSERT INTO calls
                (id, version, tool, unknown_tool, entrance, principal, run, branch, parent, at, lease, stage,
                 fingerprint, arguments_digest, decision, because, effects, bindings, arguments, root, further_roots)
             VALUES
                (:id, :version, :tool, :unknown_tool, :entrance, :principal, :run, :branch, :parent, :at, :lease,
                 'intended', :fingerprint, :arguments_digest, :decision, :because, :effects, :bindings, :arguments,
                 :root, :further_roots)
             ON CONFLICT (id) DO UPDATE SET
                version = excluded.version, tool = excluded.tool, unknown_tool = excluded.unknown_tool,
                lease = excluded.lease, stage = excluded.stage, fingerprint = excluded.fingerprint,
                arguments_digest = excluded.arguments_digest, decision = excluded.decision,
                because = excluded.because, effects = excluded.effects, bindings = excluded.bindings,
                arguments = excluded.arguments
             WHERE calls.stage IN ('intended', 'waiting')",
        )?
        .execute(named_params! {
            ":id": row.id,
            ":version": row.version,
            ":tool": row.tool,
            ":unknown_tool": row.unknown_tool,
            ":entrance": row.entrance,
            ":principal": row.principal,
            ":run": row.run,
            ":branch": row.branch,
            ":parent": row.parent,
            ":at": row.at,
            ":lease": lease,
            ":fingerprint": row.fingerprint,
            ":arguments_digest": row.arguments_digest,
            ":decision": row.decision,
            ":because": row.because,
            ":effects": row.effects,
            ":bindings": row.bindings,
            ":arguments": row.arguments,
            ":root": row.root,
            ":further_roots": row.further_roots,
        })?;
    if written > 0 {
        return Ok(Ok(()));
    }
    standing(connection, &row.id)
}

fn ticket(connection: &Connection, row: &TicketRow) -> Applied {
    let written = connection
        .prepare_cached(
            "INSERT INTO tickets (id, call, expires, record)
             SELECT ?1, seq, ?3, ?4 FROM calls WHERE id = ?2 AND stage IN ('intended', 'waiting')",
        )?
        .execute(params![row.id, row.call, row.expires, row.record])?;
    if written == 0 {
        return standing(connection, &row.call);
    }
    connection
        .prepare_cached("UPDATE calls SET stage = 'waiting' WHERE id = ?1")?
        .execute([&row.call])?;
    Ok(Ok(()))
}

fn answered(connection: &Connection, ticket: &str, answer: &str, at: i64, lease: &str) -> Applied {
    let written = connection
        .prepare_cached(
            "UPDATE tickets SET answer = ?2, answered_at = ?3 WHERE id = ?1 AND answered_at IS NULL",
        )?
        .execute(params![ticket, answer, at])?;
    if written == 0 {
        let earlier: Option<Option<String>> = connection
            .prepare_cached("SELECT answer FROM tickets WHERE id = ?1")?
            .query_row([ticket], |row| row.get(0))
            .optional()?;
        return Ok(Err(match earlier {
            None => format!("ticket {ticket} is not on record"),
            Some(answer) => format!(
                "ticket {ticket} was answered already ({}); make the call again",
                answer.unwrap_or_default()
            ),
        }));
    }
    connection
        .prepare_cached(
            "UPDATE calls SET stage = 'intended', lease = ?2
             WHERE seq = (SELECT call FROM tickets WHERE id = ?1) AND stage = 'waiting'",
        )?
        .execute([ticket, lease])?;
    Ok(Ok(()))
}

fn started(connection: &Connection, call: &str, attempt: u32, at: i64, must_last: bool) -> Applied {
    let written = connection
        .prepare_cached(
            "INSERT INTO attempts (call, attempt, at, must_last)
             SELECT seq, ?2, ?3, ?4 FROM calls WHERE id = ?1 AND stage IN ('intended', 'started')",
        )?
        .execute(params![call, attempt, at, must_last])?;
    if written == 0 {
        return standing(connection, call);
    }
    connection
        .prepare_cached("UPDATE calls SET stage = 'started', attempts = ?2 WHERE id = ?1")?
        .execute(params![call, attempt])?;
    Ok(Ok(()))
}

fn outcome(connection: &Connection, row: &OutcomeRow) -> Applied {
    let written = connection
        .prepare_cached(
            "INSERT INTO outcomes (call, record, is_whole)
             SELECT seq, ?2, ?3 FROM calls WHERE id = ?1 AND ended_at IS NULL",
        )?
        .execute(params![row.call, row.record, row.is_whole])?;
    if written == 0 {
        return standing(connection, &row.call);
    }
    if let Some(whole) = &row.whole {
        // A call that another call made is in no transcript.
        connection
            .prepare_cached(
                "INSERT INTO whole_outcomes (call, record) SELECT seq, ?2 FROM calls
                 WHERE id = ?1 AND parent IS NULL AND EXISTS (SELECT 1 FROM runs WHERE runs.id = calls.run)",
            )?
            .execute([&row.call, whole])?;
    }
    connection
        .prepare_cached(
            "UPDATE calls SET stage = ?2, ended_at = ?3, run_ms = ?4, kind = ?5, head = ?6 WHERE id = ?1",
        )?
        .execute(params![row.call, row.status, row.at, row.run_ms, row.kind, row.head])?;
    Ok(Ok(()))
}

/// Says why nothing could be added to a call.
fn standing(connection: &Connection, call: &str) -> Applied {
    let stage: Option<String> = connection
        .prepare_cached("SELECT stage FROM calls WHERE id = ?1")?
        .query_row([call], |row| row.get(0))
        .optional()?;
    Ok(Err(match stage.as_deref() {
        None => format!("call {call} is not on record; its intent comes first"),
        Some("started") => format!("call {call} has started already"),
        Some("waiting") => format!("call {call} waits for an answer"),
        Some("intended") => format!("call {call} has not started"),
        Some(status) => format!("call {call} has ended already ({status})"),
    }))
}
