//! From a text to a value.

use haft_model::ResponseFormat;
use haft_protocol::{RawArguments, StopCause, UserMessage, WireName, limits};
use haft_schema::{Contract, Ending, Extra, Reading};
use haft_session::{Branch, State, Transcript};
use serde_json::Value;

use super::chat::aside;
use super::extract::candidates;
use crate::agent::{Agent, TurnOptions};

/// A value that was made of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value. It conforms to the contract.
    pub value: Value,
    /// What was changed to read it, one a line.
    pub repairs: Vec<String>,
    /// How often a model was asked to bring it into form.
    pub asked: u32,
}

/// A text of which no value could be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// There is no value in it, or it is not what the contract says, and asking did not help.
    #[error("{}: {problem}", match fault { ParseFault::Extraction => "there is no JSON object in the text", ParseFault::Validation => "the JSON object is not what it should be" })]
    Unfit {
        /// What is wrong with it.
        fault: ParseFault,
        /// The same in words.
        problem: String,
        /// The text as it was last.
        text: String,
    },
    /// The model could not be asked.
    #[error("the model could not be asked to bring the text into form: {problem}")]
    Stopped {
        /// Why.
        cause: StopCause,
        /// What was wrong with the text.
        problem: String,
    },
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseFault {
    /// There is no JSON object in it.
    Extraction,
    /// There is one, and it is not what the contract says.
    Validation,
}

/// Makes a value of a text, by a contract.
///
/// The text is looked through first, and near misses are repaired. Where that is not enough, the branch's model is asked to
/// bring the text into form, [a few times](limits::PARSE_REPAIRS) at most, each time with what was wrong. None of it becomes
/// a part of the conversation.
///
/// # Errors
///
/// Fails where no value comes of it, and says whether there was none or whether it was a wrong one.
///
/// ```
#[doc = include_str!("setup.txt")]
/// # use haft_schema::Contract;
/// # use serde_json::json;
/// let contract = Contract::foreign(json!({
///     "type": "object",
///     "properties": { "lines": { "type": "integer" } },
///     "required": ["lines"],
/// }))?;
/// let (agent, branch) = set_up(vec![]);
/// let text = "Sure:\n```json\n{\"lines\": \"12\",}\n```";
/// let parsed = parse(&agent, &branch, text, &contract, &options).await?;
/// assert_eq!(parsed.value, json!({ "lines": 12 }));
/// assert_eq!(parsed.asked, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn parse(
    agent: &Agent,
    branch: &Branch,
    text: &str,
    contract: &Contract,
    options: &TurnOptions,
) -> Result<Parsed, ParseError> {
    match read(text, contract) {
        Ok(parsed) => Ok(parsed),
        Err(misfit) => {
            let mut state = branch.turn().await;
            repair(agent, &mut state, text, contract, options, misfit).await
        }
    }
}

/// What is wrong with a text, and how.
struct Misfit {
    fault: ParseFault,
    problem: String,
}

/// Reads a value without asking anybody.
fn read(text: &str, contract: &Contract) -> Result<Parsed, Misfit> {
    let mut misfit = Misfit {
        fault: ParseFault::Extraction,
        problem: "it has no `{`, where a JSON object would begin".to_owned(),
    };
    let mut is_first = true;
    for candidate in candidates(text) {
        let reading = Reading { extra: Extra::Drop, ending: Ending::Finished };
        let problem = match contract.decode(RawArguments::from(candidate), reading) {
            Ok(decoded) => match contract.normalise(decoded.arguments) {
                Ok(normalised) => {
                    let repairs = decoded.repairs.iter().map(ToString::to_string).collect();
                    let value = Value::Object(normalised.arguments);
                    return Ok(Parsed { value, repairs, asked: 0 });
                }
                Err(problems) => (ParseFault::Validation, problems.model_text()),
            },
            Err(error) => (ParseFault::Extraction, error.to_string()),
        };
        // What is said of the likeliest is said, unless another got further.
        if is_first || (misfit.fault, problem.0) == (ParseFault::Extraction, ParseFault::Validation)
        {
            let problem_text = haft_text::head(&problem.1, limits::PARSE_PROBLEM_BYTES);
            misfit = Misfit { fault: problem.0, problem: problem_text.to_owned() };
        }
        is_first = false;
    }
    Err(misfit)
}

/// Asks the model to bring a text into form.
async fn repair(
    agent: &Agent,
    state: &mut State,
    text: &str,
    contract: &Contract,
    options: &TurnOptions,
    misfit: Misfit,
) -> Result<Parsed, ParseError> {
    let (mut text, mut misfit) = (text.to_owned(), misfit);
    let name = WireName::new("value").ok();
    let format = name.map(|name| ResponseFormat { name, schema: contract.schema().clone() });
    for asked in 1..=limits::PARSE_REPAIRS {
        let options = TurnOptions { format: format.clone(), ..options.clone() };
        let said = request(agent, &text, contract, &misfit.problem);
        let end = aside(agent, state, Transcript::new(), said, &options).await;
        if !matches!(end.cause, StopCause::Done | StopCause::Empty) {
            return Err(ParseError::Stopped { cause: end.cause, problem: misfit.problem });
        }
        let answer = end.reply.as_ref().map(|it| it.text()).unwrap_or_default();
        match read(&answer, contract) {
            Ok(parsed) => return Ok(Parsed { asked, ..parsed }),
            Err(next) => misfit = next,
        }
        // An answer without a value holds nothing to go on from.
        if misfit.fault == ParseFault::Validation {
            text = answer;
        }
    }
    let Misfit { fault, problem } = misfit;
    Err(ParseError::Unfit { fault, problem, text })
}

fn request(agent: &Agent, text: &str, contract: &Contract, problem: &str) -> UserMessage {
    let text = haft_text::head(text, limits::PARSE_BYTES);
    let said = format!(
        "Bring the text below into one JSON object that conforms to this JSON Schema. Take everything from the text and add nothing to it. Answer with the JSON object alone.\n\nSchema:\n{}\n\nWhat is wrong with the text as it is: {problem}\n\nText:\n{text}",
        contract.schema()
    );
    let mut message = super::remark(agent, String::new());
    message.notices.clear();
    message.content.push(haft_protocol::ContentPart::text(said));
    message
}
