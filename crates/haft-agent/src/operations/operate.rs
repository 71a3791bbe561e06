//! Work that ends in a value.

use haft_protocol::{Notice, NoticeKind, UserMessage};
use haft_schema::Contract;
use haft_session::Branch;
use serde_json::Value;

use super::parse::{ParseError, Parsed, parse};
use super::said_in;
use crate::agent::{Agent, TurnEnd, TurnOptions};

/// What came of work that ends in a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Operated {
    /// The value. It conforms to the contract.
    pub value: Value,
    /// What was changed to read it, one a line.
    pub repairs: Vec<String>,
    /// How the turn ended.
    pub end: TurnEnd,
}

/// Says something to a branch's model, lets it work with its tools, and makes a value of what it says in the end.
///
/// # Errors
///
/// Fails where the model does not get to its end, and where no value comes of what it says.
///
/// ```
#[doc = include_str!("setup.txt")]
/// # use haft_schema::Contract;
/// # use serde_json::json;
/// let contract = Contract::foreign(json!({
///     "type": "object",
///     "properties": { "answer": { "type": "string" } },
///     "required": ["answer"],
/// }))?;
/// let (agent, branch) = set_up(vec![
///     Line::calls(&[("echo", json!({ "text": "four" }))]),
///     Line::say(r#"{"answer": "four"}"#),
/// ]);
/// let asked = said(&agent, "What does it say?");
/// let operated = operate(&agent, &branch, asked, &contract, &options).await?;
/// assert_eq!(operated.value, json!({ "answer": "four" }));
/// assert_eq!(operated.end.calls, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn operate(
    agent: &Agent,
    branch: &Branch,
    mut said: UserMessage,
    contract: &Contract,
    options: &TurnOptions,
) -> Result<Operated, ParseError> {
    let form = format!(
        "when you are done, answer with one JSON object alone, which conforms to this JSON Schema: {}",
        contract.schema()
    );
    said.notices.push(Notice::new(NoticeKind::Remark, form));
    let end = agent.turn(branch, said, options).await;
    let text = said_in(&end).map_err(|stopped| ParseError::Stopped {
        cause: stopped.cause,
        problem: "it did not get to its end".to_owned(),
    })?;
    let Parsed { value, repairs, .. } = parse(agent, branch, &text, contract, options).await?;
    Ok(Operated { value, repairs, end })
}
