//! How much more a provider takes, and when it wants to be asked again, as its headers say.

use std::time::Duration;

use haft_model::{Allowance, RateFacts};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};

/// The headers that tell of one thing: how much of it there is in all, how much is left, and when all of it is again.
struct Names {
    limit: &'static str,
    left: &'static str,
    renewed: &'static str,
}

const fn names(limit: &'static str, left: &'static str, renewed: &'static str) -> Names {
    Names { limit, left, renewed }
}

/// Last compared on 2026-11-30: to the pages on rate limits of Anthropic and OpenAI; Groq and others word it like the latter.
const REQUESTS: [Names; 2] = [
    names(
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ),
    names(
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
    ),
];

const TOKENS: [Names; 3] = [
    names(
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ),
    names(
        "anthropic-ratelimit-input-tokens-limit",
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
    ),
    names("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
];

/// The longest that is believed.
const LONGEST: Duration = Duration::from_hours(24);

/// Returns how much more a provider takes. What it does not say, or says in a form that nobody knows, it does not say.
pub(crate) fn facts<'h>(header: impl Fn(&str) -> Option<&'h str>) -> RateFacts {
    let now = now(&header);
    let of = |all: &[Names]| {
        let told = all.iter().filter_map(|names| {
            let number = |name| header(name)?.trim().parse::<u64>().ok();
            let renewed_in = wait(header(names.renewed)?, now)?.min(LONGEST);
            let limit = number(names.limit).filter(|limit| *limit > 0);
            Some(Allowance { left: number(names.left)?, limit, renewed_in })
        });
        told.min_by_key(|it| it.left)
    };
    RateFacts { requests: of(&REQUESTS), tokens: of(&TOKENS) }
}

/// Returns how long a provider asks to wait, in whichever header and form it says so.
pub(crate) fn retry_after<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|text| text.trim().parse().ok());
    let milliseconds =
        milliseconds.and_then(|it: f64| Duration::try_from_secs_f64(it / 1000.0).ok());
    milliseconds.or_else(|| wait(header("retry-after")?, now(&header)))
}

/// Clocks differ: a date is compared to the one that the provider has itself.
fn now<'h>(header: &impl Fn(&str) -> Option<&'h str>) -> Timestamp {
    header("date").and_then(date).unwrap_or_else(Timestamp::now)
}

/// Reads seconds, a time such as `6m0s`, or a date, which may be over.
fn wait(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    if let Some(date) = date(text) {
        return Some(Duration::try_from(date.duration_since(now)).unwrap_or_default());
    }
    text.parse::<SignedDuration>().ok().and_then(|it| Duration::try_from(it).ok())
}

fn date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    DateTimeParser::new().parse_timestamp(text).ok().or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "Fri, 06 Nov 2026 08:49:37 GMT";

    #[test]
    fn o_088_seconds_times_and_dates_are_read() {
        let cases = [
            ("3", Some(3_000)),
            (" 0.5 ", Some(500)),
            ("3600", Some(3_600_000)),
            ("Fri, 06 Nov 2026 08:49:47 GMT", Some(10_000)),
            ("Fri, 06 Nov 2026 08:49:27 GMT", Some(0)),
            ("2026-11-06T08:49:40Z", Some(3_000)),
            ("6m0s", Some(360_000)),
            ("20ms", Some(20)),
            ("1h2m3.5s", Some(3_723_500)),
            ("soon", None),
            ("-1", None),
            ("-5s", None),
            ("1e300", None),
            ("NaN", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                wait(text, date(NOW).unwrap()),
                expected.map(Duration::from_millis),
                "{text}"
            );
        }
    }

    fn told(headers: &[(&str, &'static str)]) -> RateFacts {
        facts(|name| headers.iter().find(|(it, _)| *it == name).map(|(_, value)| *value))
    }

    #[test]
    fn the_least_that_is_left_counts_and_nonsense_does_not() {
        let rate = told(&[
            ("date", NOW),
            ("anthropic-ratelimit-tokens-limit", "100000"),
            ("anthropic-ratelimit-tokens-remaining", "80000"),
            ("anthropic-ratelimit-tokens-reset", "2026-11-06T08:49:57Z"),
            ("anthropic-ratelimit-input-tokens-limit", "50000"),
            ("anthropic-ratelimit-input-tokens-remaining", "1000"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-11-06T08:50:37Z"),
        ]);
        let renewed_in = Duration::from_mins(1);
        assert_eq!(rate.requests, None);
        assert_eq!(rate.tokens, Some(Allowance { left: 1_000, limit: Some(50_000), renewed_in }));
        assert_eq!(rate.until_some_is_left(), None);
        // As some servers say where they do not know.
        let rate = told(&[
            ("x-ratelimit-limit-tokens", "-1"),
            ("x-ratelimit-remaining-tokens", "-1"),
            ("x-ratelimit-reset-tokens", "0"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "999999h"),
        ]);
        let all = Allowance { left: 0, limit: None, renewed_in: LONGEST };
        assert_eq!(rate, RateFacts { requests: Some(all), tokens: None });
        assert_eq!(rate.until_some_is_left(), Some(LONGEST));
    }
}
