//! Listing calls.

use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use haft_protocol::{CallId, Entrance, RunId, Timestamp, limits};
use haft_tool::SystemClock;
use haft_tool::ports::Clock as _;
use rusqlite::{Connection, Row, named_params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::StoreError;
use crate::lease::Leases;
use crate::record::time;
use crate::row::{json_if_any, parsed, parsed_if_any, timestamp, unreadable, word};
use crate::store::Store;

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Recorded and not started; its process is at work.
    Pending,
    /// A question about it can still be answered.
    Waiting,
    /// Started; its process is at work.
    Running,
    /// Started, and its process is gone: nobody knows what it did.
    Unknown,
    /// Recorded, and its process is gone: it never started.
    NotStarted,
    /// Did what it was asked to.
    Ok,
    /// Could not do it.
    Failed,
    /// Refused by a control.
    Denied,
    /// Taken back.
    Cancelled,
    /// Ran past its deadline.
    TimedOut,
}

impl CallStatus {
    /// Every status.
    pub const ALL: [CallStatus; 10] = [
        Self::Pending,
        Self::Waiting,
        Self::Running,
        Self::Unknown,
        Self::NotStarted,
        Self::Ok,
        Self::Failed,
        Self::Denied,
        Self::Cancelled,
        Self::TimedOut,
    ];

    /// Returns the name used in serde forms and filters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Unknown => "unknown",
            Self::NotStarted => "not_started",
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }
}

impl fmt::Display for CallStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is no status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a status: expected one of {}", CallStatus::ALL.map(CallStatus::as_str).join(", "))]
pub struct CallStatusError {
    /// What was given, cut to a length fit for a message.
    pub text: String,
}

impl FromStr for CallStatus {
    type Err = CallStatusError;

    fn from_str(text: &str) -> Result<Self, CallStatusError> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| CallStatusError { text: text.chars().take(40).collect() })
    }
}

/// Which calls to list. What is left out does not narrow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogFilter {
    /// How many at most: by default [`limits::LOG_CALLS`], never more than [`limits::LOG_CALLS_MAX`].
    pub limit: Option<NonZeroU32>,
    /// A tool, by its qualified name or by the last part of it.
    pub tool: Option<String>,
    /// How the call stands.
    pub status: Option<CallStatus>,
    /// Calls that were made at this time or later.
    pub since: Option<Timestamp>,
    /// Calls of one run.
    pub run: Option<RunId>,
    /// Calls of the workspace whose first root this is, by its real path.
    pub root: Option<PathBuf>,
    /// A text in the name of the tool, the arguments or the outcome; letters of ASCII match in either case.
    pub text: Option<String>,
}

/// One call of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallSummary {
    /// The call.
    pub id: CallId,
    /// The tool, or the name that was asked for where there is none of that name.
    pub tool: String,
    /// The door it came in by.
    pub entrance: Entrance,
    /// Who asked.
    pub principal: String,
    /// The run it belongs to.
    pub run: RunId,
    /// The call whose body asked, for a nested call.
    pub parent: Option<CallId>,
    /// When it was made.
    pub at: Timestamp,
    /// How it stands.
    pub status: CallStatus,
    /// The kind of the failure, or the control that denied.
    pub kind: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Milliseconds its body ran, where that was reported.
    pub run_ms: Option<u64>,
    /// How often its body was started.
    pub attempts: u32,
    /// The arguments, redacted; `None` where they take more than [`limits::LOG_ARGUMENTS_BYTES`].
    pub arguments: Option<Value>,
    /// The begin of the arguments as text of JSON, for those that are not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_head: Option<String>,
    /// The real paths of the roots of the workspace it was made in, the first one first; empty where nobody knows.
    pub roots: Vec<String>,
    /// One line of how it ended, redacted.
    pub head: Option<String>,
}

impl CallSummary {
    /// Returns the milliseconds from the making of the call to its end, waits included.
    pub fn duration_ms(&self) -> Option<u64> {
        self.ended_at.map(|ended| ended.ms_since(self.at))
    }
}

impl Store {
    /// Lists calls, the latest first.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn log(&self, filter: &LogFilter) -> Result<Vec<CallSummary>, StoreError> {
        let (filter, leases, now) = (filter.clone(), self.inner.leases.clone(), SystemClock.now());
        let root = filter.root.as_deref().map(|root| self.inner.root(root));
        self.inner.read(move |connection| {
            let limit = filter.limit.map_or(limits::LOG_CALLS, NonZeroU32::get);
            let limit = limit.min(limits::LOG_CALLS_MAX).into();
            let ending = "ORDER BY seq DESC LIMIT :limit";
            select(
                connection,
                &leases,
                now,
                (&filter, root.as_deref()),
                ("*", ending, limit),
                summary,
            )
        })
    }

    /// Counts the calls that a listing without a limit would have.
    ///
    /// # Errors
    ///
    /// Fails when the database cannot be read.
    pub fn log_count(&self, filter: &LogFilter) -> Result<u64, StoreError> {
        let (filter, leases, now) = (filter.clone(), self.inner.leases.clone(), SystemClock.now());
        let root = filter.root.as_deref().map(|root| self.inner.root(root));
        let counted = self.inner.read(move |connection| {
            let count = |row: &Row<'_>| row.get::<_, i64>(0);
            let (what, ending) = ("count(*)", "LIMIT :limit");
            select(connection, &leases, now, (&filter, root.as_deref()), (what, ending, 1), count)
        })?;
        Ok(counted.first().map_or(0, |count| count.unsigned_abs()))
    }
}

/// The columns of a summary. Wants `:alive`, the leases of processes that are at work, `:now`, and `:whole`, the most
/// bytes that arguments may take.
const SUMMARY: &str = "calls.id, tool, entrance, principal, run, parent, calls.at, kind, ended_at, run_ms, attempts, head,
    root, further_roots, iif(octet_length(arguments) <= :whole, arguments, NULL) AS arguments,
    substr(arguments, 1, 200) AS arguments_head,
    CASE
        WHEN stage NOT IN ('intended', 'waiting', 'started') THEN stage
        WHEN stage = 'waiting' AND EXISTS (
            SELECT 1 FROM tickets WHERE call = seq AND answered_at IS NULL AND expires > :now) THEN 'waiting'
        WHEN lease IN (SELECT value FROM json_each(:alive)) THEN iif(stage = 'started', 'running', 'pending')
        ELSE iif(stage = 'started', 'unknown', 'not_started')
    END AS status";

/// Reads something of the calls that a filter lets through: what, how the statement ends, and at most how many rows.
fn select<T>(
    connection: &Connection,
    leases: &Leases,
    now: Timestamp,
    (filter, root): (&LogFilter, Option<&str>),
    (what, ending, limit): (&str, &str, i64),
    read: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
) -> Result<Vec<T>, rusqlite::Error> {
    let text = filter.text.as_deref().filter(|text| !text.is_empty());
    // An index finds the calls of one run or root, but only where nothing is said about listing those of all.
    let of_run = if filter.run.is_some() { "run = :run" } else { ":run IS NULL" };
    let of_root = if root.is_some() { "root = :root" } else { ":root IS NULL" };
    connection
        .prepare_cached(&format!(
            "SELECT {what} FROM (SELECT seq, {SUMMARY}, stage FROM calls
                LEFT JOIN outcomes ON :json IS NOT NULL AND outcomes.call = seq
                WHERE {of_run} AND {of_root}
                    AND (:tool IS NULL OR tool = :tool OR substr(tool, -length(:tool) - 1) = '/' || :tool)
                    AND (:since IS NULL OR calls.at >= :since)
                    AND (:json IS NULL OR tool LIKE :text ESCAPE '\\' OR arguments LIKE :json ESCAPE '\\'
                        OR outcomes.record LIKE :json ESCAPE '\\'))
             WHERE :status IS NULL OR status = :status
             {ending}",
        ))?
        .query_map(
            named_params! {
                ":alive": alive(connection, leases)?,
                ":now": time(now),
                ":tool": filter.tool,
                ":since": filter.since.map(time),
                ":run": filter.run.map(String::from),
                ":root": root,
                ":whole": limits::LOG_ARGUMENTS_BYTES,
                ":text": text.map(contains),
                ":json": text.map(in_json).as_deref().map(contains),
                ":status": filter.status.map(CallStatus::as_str),
                ":limit": limit,
            },
            read,
        )?
        .collect()
}

/// Returns the summary of one call.
pub(crate) fn summary_of(
    connection: &Connection,
    leases: &Leases,
    now: Timestamp,
    id: &str,
) -> Result<CallSummary, rusqlite::Error> {
    connection
        .prepare_cached(&format!("SELECT {SUMMARY} FROM calls WHERE calls.id = :id"))?
        .query_row(
            named_params! {
                ":alive": alive(connection, leases)?,
                ":now": time(now),
                ":whole": limits::LOG_ARGUMENTS_BYTES,
                ":id": id,
            },
            summary,
        )
}

/// Returns the summaries of the calls that one call made, in their order, at most [`limits::LOG_CALLS_MAX`].
pub(crate) fn children_of(
    connection: &Connection,
    leases: &Leases,
    now: Timestamp,
    id: &str,
) -> Result<Vec<CallSummary>, rusqlite::Error> {
    connection
        .prepare_cached(&format!(
            "SELECT {SUMMARY} FROM calls WHERE parent = :id ORDER BY seq LIMIT :limit"
        ))?
        .query_map(
            named_params! {
                ":alive": alive(connection, leases)?,
                ":now": time(now),
                ":whole": limits::LOG_ARGUMENTS_BYTES,
                ":id": id,
                ":limit": limits::LOG_CALLS_MAX,
            },
            summary,
        )?
        .collect()
}

/// Returns the leases of calls that have not ended and whose process is at work, as a JSON array.
fn alive(connection: &Connection, leases: &Leases) -> Result<String, rusqlite::Error> {
    let open: Vec<String> = connection
        .prepare_cached("SELECT DISTINCT lease FROM calls WHERE ended_at IS NULL")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(Value::from(leases.alive(open)).to_string())
}

fn summary(row: &Row<'_>) -> Result<CallSummary, rusqlite::Error> {
    let entrance = word(row.get("entrance")?);
    let arguments: Option<Value> = json_if_any(row, "arguments")?;
    let arguments_head: String = row.get("arguments_head")?;
    let root: Option<String> = row.get("root")?;
    let further: Vec<String> = json_if_any(row, "further_roots")?.unwrap_or_default();
    Ok(CallSummary {
        id: parsed(row, "id")?,
        tool: row.get("tool")?,
        entrance: entrance.map_err(|error| unreadable(row, "entrance", error.into()))?,
        principal: row.get("principal")?,
        run: parsed(row, "run")?,
        parent: parsed_if_any(row, "parent")?,
        at: timestamp(row.get("at")?),
        status: parsed(row, "status")?,
        kind: row.get("kind")?,
        ended_at: row.get::<_, Option<i64>>("ended_at")?.map(timestamp),
        run_ms: row.get::<_, Option<i64>>("run_ms")?.and_then(|ms| u64::try_from(ms).ok()),
        attempts: row.get("attempts")?,
        arguments_head: arguments.is_none().then_some(arguments_head),
        arguments,
        roots: root.into_iter().chain(further).collect(),
        head: row.get("head")?,
    })
}

/// Returns how a text is written within a JSON string.
fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(text).to_owned()
}

/// Returns the pattern of a `LIKE` that finds a text anywhere.
fn contains(text: &str) -> String {
    let mut pattern = String::from("%");
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}
