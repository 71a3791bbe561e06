//! Points in time as callers write them.

use std::time::SystemTime;

use haft_protocol::{ErrorKind, Failure};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

/// Reads an age such as `3d`, a time as RFC 3339 writes it, or a date, which begins at midnight in UTC.
pub(super) fn parse(name: &str, text: &str, now: Timestamp) -> Result<SystemTime, Failure> {
    let text = text.trim();
    let age = || {
        let span: Span = text.parse().ok()?;
        let age = span.abs().to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        now.checked_sub(age).ok()
    };
    let time = || text.parse::<Timestamp>().ok();
    let date = || {
        let day: Date = text.parse().ok()?;
        Some(day.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp())
    };
    let moment = time().or_else(date).or_else(age);
    moment.and_then(|moment| SystemTime::try_from(moment).ok()).ok_or_else(|| {
        let shown = haft_text::visible_line(haft_text::head(text, 60)).into_owned();
        Failure::new(
            ErrorKind::InvalidArguments,
            format!("\"{name}\": `{shown}` is neither an age nor a time"),
        )
        .hint("write an age such as `2h` or `3d`, or a time such as `2026-01-31T12:00:00Z`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let now = "2026-03-31T12:00:00Z".parse().unwrap();
        match parse("newer_than", text, now) {
            Ok(time) => Timestamp::try_from(time).unwrap().to_string(),
            Err(failure) => failure.model_text,
        }
    }

    #[test]
    fn ages_and_times_are_read() {
        let cases = [
            "2h",
            "3d",
            "90 min",
            "1w 2d",
            "2026-01-31T12:00:00Z",
            "2026-01-31T12:00:00+02:00",
            "2026-01-31",
            "",
            "soon",
            "5",
            "2mo",
            "999999999999d",
            "-1h",
        ];
        let read = cases.map(|text| format!("{text} = {}", read(text))).join("\n");
        insta::assert_snapshot!(read, @r#"
        2h = 2026-03-31T10:00:00Z
        3d = 2026-03-28T12:00:00Z
        90 min = 2026-03-31T10:30:00Z
        1w 2d = 2026-03-22T12:00:00Z
        2026-01-31T12:00:00Z = 2026-01-31T12:00:00Z
        2026-01-31T12:00:00+02:00 = 2026-01-31T10:00:00Z
        2026-01-31 = 2026-01-31T00:00:00Z
         = "newer_than": `` is neither an age nor a time
        soon = "newer_than": `soon` is neither an age nor a time
        5 = "newer_than": `5` is neither an age nor a time
        2mo = "newer_than": `2mo` is neither an age nor a time
        999999999999d = "newer_than": `999999999999d` is neither an age nor a time
        -1h = 2026-03-31T11:00:00Z
        "#);
    }
}
