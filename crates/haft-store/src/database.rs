//! Opening the database: modes of work, form, and the way to a later form.

mod log_check;

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::StoreError;
use crate::directory::private_file;
use crate::error::explain;

/// How long one process waits for another.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// What marks a database as ours: `haft` in ASCII.
const APPLICATION: i64 = 0x6861_6674;

/// The way from each form to the next. A form that was released is never changed: later ones add to it.
const MIGRATIONS: &[&str] = &[
    include_str!("database/0001_calls.sql"),
    include_str!("database/0002_roots.sql"),
    include_str!("database/0003_effects.sql"),
    include_str!("database/0004_keys.sql"),
    include_str!("database/0005_runs.sql"),
];

/// Bytes the write-ahead log is cut down to after a checkpoint.
const LOG_BYTES: i64 = 8 * 1024 * 1024;

/// Bytes of the log that the end of a process leaves to the next one: what is lost at most if somebody loses the log.
const LOG_BYTES_LEFT: u64 = 256 * 1024;

/// Bytes of a database that has nothing but its first page, so that everything is in the log.
const BARE_BYTES: u64 = 4 * 1024;

/// Statements kept prepared for each connection.
const STATEMENTS: usize = 64;

/// Where a database lies.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    File(PathBuf),
    Memory,
}

impl Place {
    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Memory => "in memory".to_owned(),
        }
    }

    /// Returns a wrapper for errors of this database.
    pub(crate) fn error(&self) -> impl Fn(rusqlite::Error) -> StoreError {
        let name = self.name();
        move |error| StoreError::Database { text: explain(&name, &error), source: error.into() }
    }
}

/// Opens the connection that writes, and brings the database to the latest form.
///
/// Nobody else may be opening the same file at that time.
pub(crate) fn open(place: &Place) -> Result<Connection, StoreError> {
    let mut connection = match place {
        Place::File(path) => Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_NOFOLLOW,
        ),
        Place::Memory => Connection::open_in_memory(),
    }
    .map_err(place.error())?;
    connection.busy_timeout(BUSY).map_err(place.error())?;
    let is_fresh = match place {
        Place::File(path) => {
            // Looked at before SQLite does, who begins a new log in place of one that it cannot use.
            let before = LogBefore::of(path);
            let is_fresh = check_form(&connection, path)?;
            if before.report(path, is_fresh) {
                // Else what is left of the damaged log would be met again each time. Others at it keep this from being.
                let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            }
            is_fresh
        }
        Place::Memory => true,
    };
    prepare(&connection, is_fresh).map_err(place.error())?;
    migrate(&mut connection).map_err(place.error())?;
    Ok(connection)
}

/// Opens a connection that only reads.
pub(crate) fn open_reading(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW,
    )?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Opens a connection that only reads, where SQLite may have no place for the files that it keeps beside a database, and
/// checks that the form is one that can be read.
pub(crate) fn open_looking(path: &Path) -> Result<Connection, StoreError> {
    let place = Place::File(path.to_owned());
    let opened = open_reading(path).map_err(place.error());
    let looked = opened.and_then(|it| check_form(&it, path).map(|_| it));
    let connection = match looked {
        // What is in a log that has no index cannot be passed over.
        Err(StoreError::Database { .. }) if !has_log(path) => {
            let connection = open_as_it_is(path).map_err(place.error())?;
            check_form(&connection, path)?;
            connection
        }
        looked => looked?,
    };
    let form: i64 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(place.error())?;
    if usize::try_from(form).is_ok_and(|form| form < MIGRATIONS.len()) {
        let problem = "cannot be written to, and its records have an earlier form".to_owned();
        return Err(StoreError::Unwritable { path: path.to_owned(), problem });
    }
    Ok(connection)
}

/// Refuses a database of another program, before anything is changed for its sake.
pub(crate) fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    let place = Place::File(path.to_owned());
    let connection = open_as_it_is(path).map_err(place.error())?;
    check_form(&connection, path).map(drop)
}

/// Opens a database as its file is, without its log and without locks: nothing is made and nothing is changed.
fn open_as_it_is(path: &Path) -> Result<Connection, rusqlite::Error> {
    let mut name = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                name.push(char::from(*byte));
            }
            byte => name.push_str(&format!("%{byte:02x}")),
        }
    }
    Connection::open_with_flags(
        format!("{name}?immutable=1"),
        OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW,
    )
}

fn has_log(database: &Path) -> bool {
    fs::metadata(log_of(database)).is_ok_and(|facts| facts.len() > 0)
}

fn prepare(connection: &Connection, is_fresh: bool) -> Result<(), rusqlite::Error> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    if is_fresh {
        // Has to be set before there is a table.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if !matches!(mode.as_str(), "wal" | "memory") {
        tracing::warn!(mode, "the file system is not up to a write-ahead log; writing is slower");
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Where a plain flush leaves data in the drive's cache, a record that must last needs the stronger one.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Clearing the log away takes several flushes, too many for the end of every short process: see `close`.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

/// Closes the connection that writes, and clears the log away if it has grown, or has all there is, and nobody else is
/// at it.
pub(crate) fn close(connection: Connection, place: &Place) {
    let Place::File(path) = place else { return };
    let grown = fs::metadata(log_of(path)).is_ok_and(|facts| facts.len() > LOG_BYTES_LEFT);
    let bare = || fs::metadata(path).is_ok_and(|facts| facts.len() <= BARE_BYTES);
    if grown || bare() {
        let clear = || -> Result<(), rusqlite::Error> {
            connection.busy_timeout(Duration::ZERO)?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        if let Err(error) = clear() {
            tracing::debug!(%error, "the log of the state database was left for the next process");
        }
    }
}

/// Returns the file of the latest writes, which SQLite moves to the database in its own time.
pub(crate) fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Returns the file that a damaged log is kept in, so that what can be saved from it is not overwritten. It is empty
/// where the log was missing.
pub(crate) fn damaged_log_of(database: &Path) -> PathBuf {
    let mut name = log_of(database).into_os_string();
    name.push(".damaged");
    name.into()
}

/// What the log of a database looked like before SQLite opened it.
struct LogBefore {
    is_damaged: bool,
    is_missing: bool,
    is_empty: bool,
    database_bytes: u64,
}

impl LogBefore {
    fn of(database: &Path) -> Self {
        let log = log_of(database);
        let looks_damaged = || log_check::is_damaged(&log).unwrap_or(false);
        let facts = fs::metadata(&log);
        // SQLite leaves the index and the log together, or neither.
        let index_is_left = || {
            let mut index = database.as_os_str().to_owned();
            index.push("-shm");
            fs::exists(index).unwrap_or(false)
        };
        let is_gone = facts.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        Self {
            // A second look: at the first one another process may have been within a write.
            is_damaged: looks_damaged() && looks_damaged(),
            is_missing: is_gone && index_is_left(),
            is_empty: is_gone || facts.is_ok_and(|facts| facts.len() == 0),
            database_bytes: fs::metadata(database).map_or(0, |facts| facts.len()),
        }
    }

    /// Keeps what is left of a log that lost records, and says so. Tells whether there was one.
    fn report(&self, database: &Path, is_fresh: bool) -> bool {
        // A database gets its first page just before its first records.
        let nothing_is_left = self.is_empty && is_fresh && self.database_bytes > 0;
        let problem = match self {
            Self { is_damaged: true, .. } => "is damaged",
            Self { is_missing: true, .. } => "is missing",
            _ if nothing_is_left => "is missing",
            _ => return false,
        };
        let (log, kept) = (log_of(database), damaged_log_of(database));
        tracing::warn!(
            log = %log.display(), kept = %kept.display(),
            "the log of the state database {problem}: the latest records are lost"
        );
        if let Err(error) = keep(&log, &kept) {
            tracing::warn!(%error, kept = %kept.display(), "the damaged log could not be kept");
        }
        true
    }
}

fn keep(log: &Path, kept: &Path) -> io::Result<()> {
    let mut kept = private_file(kept)?;
    // The first damage tells most.
    if kept.metadata()?.len() > 0 {
        return Ok(());
    }
    match File::open(log) {
        Ok(mut log) => io::copy(&mut log, &mut kept).map(drop),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Looks at the form before anything is changed: what is not ours stays as it is. Tells whether there is nothing yet.
fn check_form(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let place = Place::File(path.to_owned());
    let pragma = |name: &str| -> Result<i64, StoreError> {
        connection.pragma_query_value(None, name, |row| row.get(0)).map_err(place.error())
    };
    let found = pragma("user_version")?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let application = pragma("application_id")?;
    let things: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(place.error())?;
    let is_fresh = found == 0 && application == 0 && things == 0;
    if !is_fresh && (application != APPLICATION || found < 0) {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    Ok(is_fresh)
}

/// Takes every step that is missing, each whole or not at all.
fn migrate(connection: &mut Connection) -> Result<(), rusqlite::Error> {
    loop {
        let form: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let Some(step) = usize::try_from(form).ok().and_then(|form| MIGRATIONS.get(form)) else {
            return Ok(());
        };
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch(step)?;
        tx.pragma_update(None, "application_id", APPLICATION)?;
        tx.pragma_update(None, "user_version", form + 1)?;
        tx.commit()?;
    }
}
