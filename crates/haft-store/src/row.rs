//! Reading columns back into our types.

use std::error::Error;
use std::str::FromStr;

use haft_protocol::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

/// Reads a column that holds the text form of something.
pub(crate) fn parsed<T>(row: &Row<'_>, column: &str) -> Result<T, rusqlite::Error>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(row, column, Box::new(error)))
}

/// Reads a column that may hold the text form of something.
pub(crate) fn parsed_if_any<T>(row: &Row<'_>, column: &str) -> Result<Option<T>, rusqlite::Error>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse())
        .transpose()
        .map_err(|error| unreadable(row, column, Box::new(error)))
}

/// Reads a column that holds JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T, rusqlite::Error> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(row, column, Box::new(error)))
}

/// Reads a column that may hold JSON.
pub(crate) fn json_if_any<T: DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, rusqlite::Error> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| unreadable(row, column, Box::new(error)))
}

/// Reads a word that a type's serde form has.
pub(crate) fn word<T: DeserializeOwned>(text: String) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(text))
}

pub(crate) fn timestamp(unix_ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(u64::try_from(unix_ms).unwrap_or(0))
}

pub(crate) fn unreadable(
    row: &Row<'_>,
    column: &str,
    error: Box<dyn Error + Send + Sync>,
) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or(0);
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error)
}
