//! What a run is, in the forms that are kept.

use serde::{Deserialize, Serialize};

use crate::{
    ArtifactId, BranchId, CallId, Digest, LogicalPath, ModelId, Outcome, Reply, RunId, Summary,
    TicketId, Timestamp, TokenUsage, UsageTotal, UserMessage, limits,
};

/// What a run was started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The run.
    pub run: RunId,
    /// When it began.
    pub at: Timestamp,
    /// What it is for, in one line.
    pub title: String,
    /// The model.
    pub model: ModelId,
    /// The roots of its workspace, as they were named.
    pub roots: Vec<String>,
    /// The preset of its policy.
    pub preset: String,
    /// The names of the tools that its model is shown; nothing where that is all there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The shape of the built-in tools, by its name; nothing where its face has one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// The digest of its policy.
    pub policy: Digest,
    /// The digest of what its operator tells the model.
    pub system: Digest,
    /// The run that it was forked from, and how many of its entries it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<(RunId, u64)>,
    /// The call that started it, for a subagent's run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// The branch that its calls carry, for a subagent's run: they are calls of the run that it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchId>,
    /// The directory that it is confined to, for a subagent's run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<LogicalPath>,
}

impl RunFacts {
    /// Makes the title of a run: the first line of what it is for that is not blank.
    pub fn title_of(text: &str) -> String {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        line.unwrap_or_default().chars().take(limits::RUN_TITLE_CHARS).collect()
    }
}

/// What one section of a request showed, and what it did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionRecord {
    /// Which: `system`, `instructions`, `tools`, `task`, `summary`, `history` or `notices`.
    pub section: String,
    /// How many things it showed: texts, tools, entries, notices.
    pub kept: u64,
    /// Texts that it showed, by their names, where they have any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// What it did not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutRecord>,
}

/// Something that a request did not show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutRecord {
    /// How much, in its unit.
    pub count: u64,
    /// The unit: `entries` or `bytes`.
    pub unit: String,
    /// Of what, and why.
    pub why: String,
}

/// One line of the record of a run. Each is kept before what follows from it happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum RunEntry {
    /// The run began.
    Began(RunFacts),
    /// Somebody said something to the model.
    Said(UserMessage),
    /// A request is about to be made.
    Asked {
        /// When.
        at: Timestamp,
        /// Which request of the run, from 1.
        request: u64,
        /// Tokens of the prompt, as they were estimated.
        estimated_tokens: u64,
        /// What it is made of, section by section; empty where nobody said so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        made_of: Vec<SectionRecord>,
    },
    /// A request got no whole reply.
    Unanswered {
        /// When.
        at: Timestamp,
        /// What kind of error it was, by its name.
        kind: String,
        /// What happened.
        text: String,
        /// What it had said to its reader by then.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
        /// What it took by then, as it is estimated, for nobody counted; nothing where it was refused before it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        estimated: Option<TokenUsage>,
    },
    /// The model replied. Its calls have their ids, and none has been made.
    Replied(Reply),
    /// A call of the last reply waits for a person.
    Waits {
        /// The call.
        call: CallId,
        /// The ticket.
        ticket: TicketId,
        /// The artifact that holds the ticket, where it was too large for a line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<ArtifactId>,
    },
    /// A call of the last reply, whose body had started and of which no end is known, is made again under another id.
    MadeAgain {
        /// The call.
        call: CallId,
        /// The id that it is made under, and that what it comes to is on record by.
        made_as: CallId,
    },
    /// A call of the last reply ended.
    Ended {
        /// The call.
        call: CallId,
        /// How.
        outcome: Box<Outcome>,
    },
    /// A summary took the place of earlier entries.
    Summarised(Summary),
    /// The run stopped, and can be resumed.
    Stopped(Stopped),
    /// The run was taken up again.
    Resumed {
        /// When.
        at: Timestamp,
    },
}

/// How a run stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub cause: StopCause,
    /// What all its requests took so far.
    pub usage: UsageTotal,
}

/// Why a turn or a run stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum StopCause {
    /// The model said what it had to say.
    Done,
    /// The model's last reply was empty, and so was the one after it was told so.
    Empty,
    /// The model's output was cut by its cap, and asking again did not help.
    Length,
    /// The provider or the model declined.
    Refused {
        /// In whose words.
        text: String,
    },
    /// A limit of the run was reached.
    Limit {
        /// Which.
        limit: RunLimit,
        /// How much was allowed, in the limit's unit.
        allowed: u64,
    },
    /// There is a budget of money, and nobody knows what the model costs. Nothing was asked.
    Unpriced {
        /// The model.
        model: ModelId,
    },
    /// The model went round in circles.
    Loop {
        /// What it repeated.
        text: String,
    },
    /// The model could not be asked.
    Model {
        /// The kind of error, by its name.
        kind: String,
        /// What happened.
        text: String,
    },
    /// The window is full, and summarising does not help.
    Window {
        /// What fills it.
        text: String,
    },
    /// Somebody interrupted it.
    Interrupted {
        /// By which signal, where it was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<StopSignal>,
    },
    /// A call waits for a person who is not there.
    Waits {
        /// The ticket.
        ticket: TicketId,
    },
    /// Its record could not be kept, so nothing more was done.
    Unrecorded {
        /// What happened.
        text: String,
    },
}

/// A signal that asks a process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StopSignal {
    /// `SIGINT`: Ctrl-C.
    #[serde(rename = "SIGINT")]
    Interrupt,
    /// `SIGHUP`: the terminal is gone.
    #[serde(rename = "SIGHUP")]
    Hangup,
    /// `SIGTERM`: the system, or another program.
    #[serde(rename = "SIGTERM")]
    Terminate,
}

impl StopSignal {
    /// Returns the name by which systems know it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Hangup => "SIGHUP",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// A limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLimit {
    /// Requests to the model in one turn.
    Steps,
    /// Calls of the run, those of subagents included.
    Calls,
    /// Tokens of all prompts and replies.
    Tokens,
    /// Millionths of a US dollar.
    Money,
    /// Seconds.
    Time,
}

impl RunLimit {
    /// Returns the name used in records and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Time => "time",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        assert_eq!(RunFacts::title_of("\n  fix the build \nand more"), "fix the build");
        assert_eq!(RunFacts::title_of(&"é".repeat(500)).chars().count(), limits::RUN_TITLE_CHARS);
        assert_eq!(RunFacts::title_of(" \n"), "");
    }
}
