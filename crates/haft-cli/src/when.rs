//! Points in time, as people write and read them.

use haft::Timestamp;
use jiff::tz::TimeZone;
use jiff::{Span, ZonedDateTime};

/// Reads `2h`, `3 days`, `2026-11-30` or a full timestamp, in the local time zone.
pub(crate) fn read(text: &str) -> Result<Timestamp, String> {
    let expected =
        || format!("`{text}` is no time: expected `2h`, `3d`, `2026-11-30` or a full timestamp");
    let now = ZonedDateTime::now();
    let at = if let Ok(span) = text.parse::<Span>() {
        now.checked_sub(span).map_err(|_| expected())?.timestamp()
    } else if let Ok(at) = text.parse::<jiff::Timestamp>() {
        at
    } else if let Ok(date) = text.parse::<jiff::civil::DateTime>() {
        date.to_zoned_datetime(now.time_zone().clone()).map_err(|_| expected())?.timestamp()
    } else {
        return Err(expected());
    };
    u64::try_from(at.as_millisecond()).map(Timestamp::from_unix_ms).map_err(|_| expected())
}

/// Shows a point in time in the local time zone, to the second.
pub(crate) fn show(at: Timestamp) -> String {
    let ms = i64::try_from(at.unix_ms()).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => {
            at.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
        }
        Err(_) => format!("{ms} ms"),
    }
}
