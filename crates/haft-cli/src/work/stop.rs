//! Why a turn stopped, and how to go on.

use haft::RunId;
use haft::models::{ModelId, RunLimit, StopCause, StopSignal, TokenUsage, UsageTotal};

use super::signals::AskedToEnd;
use crate::exit::Exit;
use crate::print::Tone;

/// Why a turn stopped, for its reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The code of the command.
    pub(crate) exit: Exit,
    /// How grave it is.
    pub(crate) tone: Tone,
    /// Why, in a sentence; nothing where the model is done.
    pub(crate) why: String,
    /// How to go on.
    pub(crate) hints: Vec<String>,
}

/// What a turn left behind, for whoever wants to go on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Left {
    /// The run, where one is kept.
    pub(crate) run: Option<RunId>,
    /// Whether calls changed something.
    pub(crate) has_changed: bool,
    /// Whether the model's last reply has no word in it.
    pub(crate) is_silent: bool,
    /// Whether there is something that the model could go on with by itself. Where it spoke last, it has to be told more.
    pub(crate) is_open: bool,
}

/// Says why a turn stopped.
pub(crate) fn ending(cause: &StopCause, asked: Option<AskedToEnd>, left: Left) -> Ending {
    let (exit, mut tone, mut why) = reason(cause, asked);
    let says_nothing = *cause == StopCause::Done && left.is_silent;
    if says_nothing {
        (tone, why) = (Tone::Warn, "the model said nothing".to_owned());
    }
    let mut hints = Vec::new();
    let Some(run) = left.run else { return Ending { exit, tone, why, hints } };
    let run = run.short();
    match cause {
        StopCause::Done if says_nothing => {
            hints.push(format!("`haft resume {run} 'TEXT'` asks it again"));
        }
        StopCause::Done => {}
        StopCause::Empty => {
            hints.push(format!("`haft resume {run}` or `haft resume {run} 'TEXT'` asks it again"));
        }
        StopCause::Limit { limit, .. } => {
            let run = if left.is_open { run.clone() } else { format!("{run} 'TEXT'") };
            let more = match limit {
                RunLimit::Steps => format!("`haft resume {run}` lets it go on for as many again"),
                RunLimit::Money => format!(
                    "`haft resume {run} --budget USD` goes on with more; what it cost so far counts"
                ),
                RunLimit::Time => format!("`haft resume {run}` gives it as long again"),
                RunLimit::Calls | RunLimit::Tokens => format!("`haft resume {run}` goes on"),
            };
            hints.push(more);
        }
        StopCause::Waits { .. } => {
            hints.push(format!("`haft resume {run}` at a terminal asks you"));
            hints.push(
                "`--yes` answers beforehand, and a rule that allows it does so for good".to_owned(),
            );
        }
        StopCause::Loop { .. } | StopCause::Length | StopCause::Refused { .. } => {
            hints.push(format!("`haft resume {run} 'TEXT'` tells it what to do differently"));
        }
        StopCause::Window { .. } => {
            hints.push(
                "begin anew with fewer tools, such as `--tools reader,search,editor`, with a smaller task, or with a model of a larger window"
                    .to_owned(),
            );
        }
        StopCause::Unpriced { model } => {
            hints.push(price_hint(model));
        }
        StopCause::Model { kind, .. } => {
            if kind == "credentials" || kind == "unknown_model" {
                hints.push("`haft models` says which keys and models are there".to_owned());
            }
            if kind == "stalled" {
                hints.push(
                    "`first_word_seconds` in `[models.NAME]` gives a slow server longer".to_owned(),
                );
            }
            hints.push(format!("`haft resume {run}` tries again"));
        }
        StopCause::Interrupted { .. } | StopCause::Unrecorded { .. } => {
            hints.push(format!("`haft resume {run}` goes on from here"));
        }
    }
    if left.has_changed && *cause != StopCause::Done {
        hints.push(format!("`haft undo {run}` takes back what it changed"));
    }
    Ending { exit, tone, why, hints }
}

fn reason(cause: &StopCause, asked: Option<AskedToEnd>) -> (Exit, Tone, String) {
    let failed = |why: String| (Exit::Failed, Tone::Bad, why);
    match cause {
        StopCause::Done => (Exit::Ok, Tone::Good, String::new()),
        StopCause::Empty => (Exit::Ok, Tone::Warn, "the model said nothing".to_owned()),
        StopCause::Interrupted { by } => {
            let by = asked.map(AskedToEnd::as_str).or(by.map(StopSignal::as_str));
            let why =
                by.map_or_else(|| "interrupted".to_owned(), |by| format!("interrupted by {by}"));
            (asked.map_or(Exit::Cancelled, AskedToEnd::exit), Tone::Warn, why)
        }
        StopCause::Waits { .. } => {
            let why = "a call needs a yes, and there was nobody to say it";
            (Exit::Denied, Tone::Warn, why.to_owned())
        }
        StopCause::Limit { limit, allowed } => {
            (Exit::TimedOut, Tone::Warn, limited(*limit, *allowed))
        }
        StopCause::Unpriced { model } => {
            let why = format!(
                "there is a budget, and nobody knows what `{model}` costs; nothing was asked"
            );
            (Exit::Usage, Tone::Bad, why)
        }
        StopCause::Length => failed(
            "the model's replies were cut off again and again, as longer than it may answer"
                .to_owned(),
        ),
        StopCause::Refused { text } if text.trim().is_empty() => {
            failed("the model declined".to_owned())
        }
        StopCause::Refused { text } => failed(format!("the model declined: {text}")),
        StopCause::Loop { text } => failed(format!("the model goes round in circles: {text}")),
        StopCause::Model { text, .. } => failed(format!("the model could not be asked: {text}")),
        StopCause::Window { text } => failed(text.clone()),
        StopCause::Unrecorded { text } => {
            failed(format!("what was done could not be kept, so nothing more is done: {text}"))
        }
    }
}

fn limited(limit: RunLimit, allowed: u64) -> String {
    match limit {
        RunLimit::Steps if allowed == 1 => {
            "the model was asked once, as often as it may be".to_owned()
        }
        RunLimit::Steps => {
            format!("the model was asked {allowed} times, as often as it may be (`--max-turns`)")
        }
        RunLimit::Calls => format!("the run made {allowed} calls, as many as it may"),
        RunLimit::Tokens => {
            format!("what is left of {allowed} tokens is not enough for another request")
        }
        RunLimit::Money => format!(
            "what is left of {} does not pay for another request (`--budget`)",
            money(allowed)
        ),
        RunLimit::Time => {
            format!("the model worked for {allowed} s, as long as it may (`--max-time`)")
        }
    }
}

/// Says how a model gets a price.
pub(super) fn price_hint(model: &ModelId) -> String {
    format!(
        "say what it costs: `[models.\"{model}\"] price = {{ input = USD, output = USD }}`, for a million tokens"
    )
}

/// Says that more was taken than allowed.
pub(super) fn overran(limit: RunLimit, allowed: u64, taken: u64) -> String {
    let (taken, allowed) = match limit {
        RunLimit::Money => (money(taken), money(allowed)),
        limit => (format!("{taken} {}", limit.as_str()), format!("{allowed} {}", limit.as_str())),
    };
    format!("the run took {taken}, more than its {allowed}: requests took more than was estimated")
}

/// Says what a request took, as it is estimated.
pub(crate) fn estimated(usage: &TokenUsage) -> String {
    let money = usage.micro_usd.map(|it| format!(" and {}", money(it))).unwrap_or_default();
    format!("by estimate {} tokens{money}", usage.total().unwrap_or(0))
}

/// Says what requests took.
pub(crate) fn usage(usage: &UsageTotal) -> String {
    let requests = if usage.requests == 1 { "request" } else { "requests" };
    let mut text = format!("{} {requests}", usage.requests);
    let (tokens, micro_usd) = (usage.estimated_tokens, usage.estimated_micro_usd);
    let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    if usage.tokens() > 0 {
        let least = if usage.uncounted > 0 && tokens == 0 { "at least " } else { "" };
        text.push_str(&format!(
            ", {least}{} tokens ({prompt} in, {} out)",
            usage.tokens(),
            usage.output
        ));
    } else if usage.requests > 0 && tokens == 0 {
        text.push_str(", tokens not counted");
    }
    if usage.micro_usd > 0 {
        let least = if usage.unpriced > 0 && micro_usd == 0 { "at least " } else { "" };
        text.push_str(&format!(", {least}{}", money(usage.micro_usd)));
    }
    // What nobody counted is told apart from what somebody did.
    let tokens = (tokens > 0).then(|| format!("{tokens} tokens"));
    let micro_usd = (micro_usd > 0).then(|| money(micro_usd));
    let estimated: Vec<String> = tokens.into_iter().chain(micro_usd).collect();
    if !estimated.is_empty() {
        text.push_str(&format!("; by estimate {} more", estimated.join(" and ")));
    }
    text
}

fn money(micro_usd: u64) -> String {
    let (dollars, rest) = (micro_usd / 1_000_000, micro_usd % 1_000_000);
    // Ten-thousandths, rounded up: no sum looks smaller than it is.
    let rest = rest.div_ceil(100);
    if rest == 10_000 { format!("${}.0000", dollars + 1) } else { format!("${dollars}.{rest:04}") }
}

#[cfg(test)]
mod tests {
    use haft::models::TokenUsage;

    use super::*;

    const LEFT: Left = Left {
        run: Some(RunId::from_parts(1, 1)),
        has_changed: true,
        is_silent: false,
        is_open: true,
    };

    #[test]
    fn every_stop_has_its_sentence_and_a_way_on() {
        let limit = |limit, allowed| StopCause::Limit { limit, allowed };
        let text = "it said no".to_owned();
        let kind = "credentials".to_owned();
        let causes = [
            (limit(RunLimit::Steps, 50), 4),
            (limit(RunLimit::Money, 500_000), 4),
            (limit(RunLimit::Time, 90), 4),
            (StopCause::Length, 1),
            (StopCause::Refused { text: text.clone() }, 1),
            (StopCause::Loop { text: text.clone() }, 1),
            (StopCause::Model { kind, text: text.clone() }, 1),
            (StopCause::Window { text: text.clone() }, 1),
            (StopCause::Unrecorded { text }, 1),
            (StopCause::Interrupted { by: None }, 130),
        ];
        for (cause, exit) in causes {
            let ending = ending(&cause, None, LEFT);
            assert_eq!(ending.exit as u8, exit, "{cause:?}");
            assert!(!ending.why.is_empty() && ending.hints.len() >= 2, "{ending:?}");
        }
        let done = ending(&StopCause::Done, None, LEFT);
        assert_eq!((done.exit, done.hints.len()), (Exit::Ok, 0));
        let silent = ending(&StopCause::Done, None, Left { is_silent: true, ..LEFT });
        assert_eq!((silent.exit, &*silent.why), (Exit::Ok, "the model said nothing"));
        assert_eq!(silent.hints, ["`haft resume 00000001 'TEXT'` asks it again"]);
        let steps = ending(&limit(RunLimit::Steps, 50), None, Left { is_open: false, ..LEFT });
        assert!(steps.hints[0].starts_with("`haft resume 00000001 'TEXT'` lets"), "{steps:?}");
        let interrupted = StopCause::Interrupted { by: Some(StopSignal::Terminate) };
        let ended = ending(&interrupted, Some(AskedToEnd::Terminate), LEFT);
        assert_eq!((ended.exit as u8, &*ended.why), (143, "interrupted by SIGTERM"));
        assert_eq!(ending(&interrupted, None, LEFT).why, "interrupted by SIGTERM");
    }

    #[test]
    fn what_was_used_is_never_told_as_less_than_it_was() {
        let mut total = UsageTotal::default();
        assert_eq!(usage(&total), "0 requests");
        total.add(&TokenUsage { input: Some(900), output: Some(100), ..TokenUsage::default() });
        assert_eq!(usage(&total), "1 request, 1000 tokens (900 in, 100 out)");
        total.add(&TokenUsage { micro_usd: Some(1_234_501), ..TokenUsage::default() });
        assert_eq!(
            usage(&total),
            "2 requests, at least 1000 tokens (900 in, 100 out), at least $1.2346"
        );
        let estimated = TokenUsage {
            input: Some(800),
            output: Some(9),
            micro_usd: Some(845),
            ..TokenUsage::default()
        };
        total = UsageTotal::default();
        total.add_or(&TokenUsage::default(), &estimated);
        assert_eq!(usage(&total), "1 request; by estimate 809 tokens and $0.0009 more");
        assert_eq!(super::estimated(&estimated), "by estimate 809 tokens and $0.0009");
        assert_eq!(money(999_999), "$1.0000");
        assert_eq!(money(0), "$0.0000");
    }
}
