//! When a provider wants to be asked again.

use std::time::Duration;

use haft_net::Incoming;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Returns how long a provider asks to wait, in whichever header and form it says so.
pub(crate) fn retry_after(answer: &Incoming) -> Option<Duration> {
    let milliseconds = answer.header("retry-after-ms").and_then(|text| text.trim().parse().ok());
    let milliseconds =
        milliseconds.and_then(|it: f64| Duration::try_from_secs_f64(it / 1000.0).ok());
    milliseconds.or_else(|| {
        // Clocks differ: a date is compared to the one that the provider has itself.
        let now = answer.header("date").and_then(date).unwrap_or_else(Timestamp::now);
        read(answer.header("retry-after")?, now)
    })
}

fn read(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let wait = date(text)?.duration_since(now);
    Some(Duration::try_from(wait).unwrap_or_default())
}

fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_088_seconds_and_dates_are_read() {
        let now =
            date("Sun, 06 Nov 2026 08:49:37 GMT").or_else(|| date("Fri, 06 Nov 2026 08:49:37 GMT"));
        let now = now.unwrap();
        let cases = [
            ("3", Some(3_000)),
            (" 0.5 ", Some(500)),
            ("3600", Some(3_600_000)),
            ("Fri, 06 Nov 2026 08:49:47 GMT", Some(10_000)),
            ("Fri, 06 Nov 2026 08:49:27 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
            ("1e300", None),
            ("NaN", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text, now), expected.map(Duration::from_millis), "{text}");
        }
    }
}
