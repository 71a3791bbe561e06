//! What every command takes that lets a model work.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use haft::models::{RunLimits, Subagents, ToolChoice};
use haft::{Haft, OnConflict, Selection};

use crate::assemble::UserMistake;

/// What every command takes that lets a model work.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WorkArgs {
    /// The model: a name of your configuration, or `provider/name` [default: the setting `model.default`, else the first that
    /// a server on this machine has]
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// How often the model may be asked for each message of yours [default: 50]
    #[arg(long, value_name = "N", value_parser = turns, allow_negative_numbers = true)]
    max_turns: Option<NonZeroU64>,

    /// What the run may cost in US dollars, such as 0.50; needs a model whose price is known
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    budget: Option<NonZeroU64>,

    /// How long the model may work on each message, such as `90s` or `10m`; waiting for you does not count
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_time: Option<Duration>,

    /// The tools that the model is shown, separated by commas; `none` for none [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,

    /// The tool that the model has to call first, for each message of yours: for models that like to answer without looking
    #[arg(long, value_name = "TOOL")]
    call_first: Option<String>,

    /// Let the model start others that work for it, each with no more rights than it has itself and at its cost
    #[arg(long)]
    subagents: bool,
}

/// The tool that starts a subagent.
const SUBAGENT: &str = "subagent";

impl WorkArgs {
    /// Returns how much a run may take.
    pub(super) fn limits(&self) -> RunLimits {
        let usual = RunLimits::default();
        RunLimits {
            steps: self.max_turns.unwrap_or(usual.steps),
            micro_usd: self.budget,
            time: self.max_time,
            ..usual
        }
    }

    /// Returns the tools that are shown, which have to be there.
    pub(super) fn shown(&self, haft: &Haft) -> anyhow::Result<Selection> {
        if self.subagents {
            haft.registry().register(Arc::new(Subagents), OnConflict::Reject)?;
        }
        if self.tools.iter().any(|it| it.trim().is_empty()) {
            return Err(UserMistake::new("--tools: expected names with commas between them")
                .hint("`haft tools` lists them; `none` stands for none")
                .into());
        }
        let named = self.tools.iter().map(|it| it.trim().to_owned());
        let further = self.subagents.then(|| SUBAGENT.to_owned());
        let shown = match self.tools.as_slice() {
            [] => Selection::All,
            [only] if only == "none" => {
                further.map_or(Selection::None, |it| Selection::Named(vec![it]))
            }
            _ => Selection::Named(named.chain(further).collect()),
        };
        haft.registry().snapshot().select(&shown).map_err(|error| {
            UserMistake::new(format!("--tools: {error}")).hint("`haft tools` lists them")
        })?;
        Ok(shown)
    }

    /// Returns the tools that a run was shown, where no others are asked for now.
    pub(super) fn shown_before(
        &self,
        haft: &Haft,
        before: &[String],
    ) -> anyhow::Result<Option<Selection>> {
        if !self.tools.is_empty() {
            return Ok(None);
        }
        let had_subagents = before.iter().any(|it| it == SUBAGENT);
        if had_subagents || self.subagents {
            haft.registry().register(Arc::new(Subagents), OnConflict::Reject)?;
        }
        let further = (self.subagents && !had_subagents).then(|| SUBAGENT.to_owned());
        let shown = Selection::Named(before.iter().cloned().chain(further).collect());
        haft.registry().snapshot().select(&shown).map_err(|error| {
            UserMistake::new(format!("the run was shown other tools than there are: {error}")).hint(
                "begin it as before, such as with `--toolset verbs`, or name tools with `--tools`",
            )
        })?;
        Ok(Some(shown))
    }

    /// Returns the tool that has to be called first, which has to be one of those that are shown.
    pub(super) fn first(&self, haft: &Haft, shown: &Selection) -> anyhow::Result<ToolChoice> {
        let Some(name) = &self.call_first else { return Ok(ToolChoice::Auto) };
        let snapshot = haft.registry().snapshot();
        let wanted = Selection::Named(vec![name.trim().to_owned()]);
        let wanted = snapshot.select(&wanted).map_err(|error| {
            UserMistake::new(format!("--call-first: {error}")).hint("`haft tools` lists them")
        })?;
        let shown = snapshot.select(shown)?;
        let wire = wanted.into_iter().next().map(|it| it.wire);
        let wire = wire.filter(|wire| shown.iter().any(|it| it.wire == *wire));
        wire.map(ToolChoice::Named).ok_or_else(|| {
            let text = format!("--call-first: `{name}` is not among the tools of `--tools`");
            UserMistake::new(text).into()
        })
    }
}

/// Reads how often a model may be asked.
fn turns(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "expected a whole number of turns, 1 or more".to_owned())
}

/// Reads US dollars as millionths.
fn dollars(text: &str) -> Result<NonZeroU64, String> {
    const MOST: f64 = 1_000_000.0;
    let dollars = text.trim_start_matches('$').parse().unwrap_or(f64::NAN);
    let is_sum = dollars > 0.0 && dollars <= MOST;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is more than nothing, and no more than a bound far below"
    )]
    let millionths = if is_sum { (dollars * 1_000_000.0).ceil() as u64 } else { 0 };
    NonZeroU64::new(millionths)
        .ok_or_else(|| "expected US dollars, such as 0.50, and a million at most".to_owned())
}

fn time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as `90s`, `10m` or `1h 30m`".to_owned();
    let time: jiff::SignedDuration = text.parse().map_err(|_| expected())?;
    Duration::try_from(time).ok().filter(|it| !it.is_zero()).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_one_or_more() {
        assert_eq!(turns("5").map(NonZeroU64::get), Ok(5));
        for text in ["", "0", "-1", "1.5", "many"] {
            assert!(turns(text).is_err_and(|it| it.contains("1 or more")), "{text}");
        }
    }

    #[test]
    fn money_and_time_are_read_as_people_write_them() {
        assert_eq!(dollars("0.50").map(NonZeroU64::get), Ok(500_000));
        assert_eq!(dollars("$2").map(NonZeroU64::get), Ok(2_000_000));
        for text in ["", "0", "-1", "NaN", "inf", "1e12", "a lot"] {
            assert!(dollars(text).is_err(), "{text}");
        }
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1h 30m"), Ok(Duration::from_mins(90)));
        for text in ["", "0s", "-5m", "soon"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
