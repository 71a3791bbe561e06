//! Thinking first, then working, then an answer.

use std::num::{NonZeroU32, NonZeroU64};

use haft_protocol::{Notice, NoticeKind, RunLimit, StopCause, UserMessage};
use haft_session::Branch;

use super::{Stopped, communicate, remark, said_in};
use crate::agent::{Agent, TurnOptions};

/// What came of work in rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Reacted {
    /// What the model thought of the task before it began.
    pub analysis: String,
    /// Its answer.
    pub answer: String,
    /// Rounds that it took.
    pub rounds: u64,
    /// Whether the rounds were used up before it was done, so that the answer is of what there was.
    pub is_cut: bool,
}

/// Lets a branch's model think about a task without tools, work on it in at most so many rounds of calls, and answer. All of
/// it becomes a part of the conversation.
///
/// # Errors
///
/// Fails where the model does not get to its end for another reason than that its rounds are used up.
///
/// ```
#[doc = include_str!("setup.txt")]
/// # use std::num::NonZeroU32;
/// # use serde_json::json;
/// let (agent, branch) = set_up(vec![
///     Line::say("I should look what it says."),
///     Line::calls(&[("echo", json!({ "text": "four" }))]),
///     Line::say("It says four."),
/// ]);
/// let asked = said(&agent, "What does it say?");
/// let reacted = react(&agent, &branch, asked, NonZeroU32::new(3), &options).await?;
/// assert_eq!(reacted.analysis, "I should look what it says.");
/// assert_eq!(reacted.answer, "It says four.");
/// assert!(!reacted.is_cut);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn react(
    agent: &Agent,
    branch: &Branch,
    mut said: UserMessage,
    rounds: Option<NonZeroU32>,
    options: &TurnOptions,
) -> Result<Reacted, Stopped> {
    let think = "first say, in a few sentences, what has to be found out or done and how; you have no tools yet";
    said.notices.push(Notice::new(NoticeKind::Remark, think));
    let analysis = communicate(agent, branch, said, options).await?;
    let most = rounds.map_or(haft_protocol::limits::REACT_ROUNDS, NonZeroU32::get);
    let mut limited = options.clone();
    limited.limits.steps =
        NonZeroU64::new(u64::from(most)).unwrap_or(NonZeroU64::MIN).min(options.limits.steps);
    let begin =
        format!("now do it: you have your tools, for at most {most} rounds of calls; then answer");
    let end = agent.turn(branch, remark(agent, begin), &limited).await;
    let rounds = end.steps;
    if !matches!(end.cause, StopCause::Limit { limit: RunLimit::Steps, .. }) {
        let answer = said_in(&end)?;
        return Ok(Reacted { analysis, answer, rounds, is_cut: false });
    }
    let enough = "your rounds are used up: answer from what you have, and say what is missing";
    let answer = communicate(agent, branch, remark(agent, enough.to_owned()), options).await?;
    Ok(Reacted { analysis, answer, rounds, is_cut: true })
}
