//! What dispatch needs from the doors, as traits.
//!
//! Dispatch stands below the doors and names their effects here. [`Ports`] has a public field for each and no default,
//! so that leaving one out does not compile; a deliberate nothing is a type of [`none`] with a name of its own, which
//! `haft doctor` shows.

pub mod none;

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::sync::Arc;

use haft_policy::PathFilter;
use haft_protocol::{
    ArtifactId, AttemptRecord, BindingRecord, BranchId, CallId, Change, ChangedCalls, ContentRef,
    Denial, Digest, EffectRecord, ErrorKind, Failure, IntentRecord, LogicalPath, MessageId, Notice,
    OutcomeRecord, RunId, TicketId, TicketRecord, Timestamp,
};
use haft_text::{visible_exactly, visible_json, visible_line};

use crate::locks::Claim;
use crate::tool::BoxFuture;
use crate::{Extensions, Slot};

/// The doors behind one dispatch.
#[derive(Clone)]
pub struct Ports {
    /// Keeps what happened.
    pub journal: Arc<dyn Journal>,
    /// Turns paths into handles.
    pub binder: Arc<dyn Binder>,
    /// Saves what a call may overwrite.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// Says what a call changed.
    pub capture: Arc<dyn Capture>,
    /// Keeps bytes that are too many for an outcome.
    pub artifacts: Arc<dyn Artifacts>,
    /// Asks a person.
    pub approver: Arc<dyn Approver>,
    /// Keeps other processes of haft out.
    pub exclusion: Arc<dyn Exclusion>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn Ids>,
}

impl Ports {
    /// Names what stands behind each port, in a fixed order, for `haft doctor`.
    pub fn report(&self) -> Vec<PortReport> {
        let row = |port, behind: &dyn Port| PortReport {
            port,
            behind: behind.describe(),
            is_none: behind.is_none(),
        };
        vec![
            row("journal", &*self.journal),
            row("binder", &*self.binder),
            row("checkpoints", &*self.checkpoints),
            row("capture", &*self.capture),
            row("artifacts", &*self.artifacts),
            row("approver", &*self.approver),
            row("exclusion", &*self.exclusion),
            row("clock", &*self.clock),
            row("ids", &*self.ids),
        ]
    }
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.report()).finish()
    }
}

/// What stands behind one port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortReport {
    /// The port.
    pub port: &'static str,
    /// What stands behind it, in a few words.
    pub behind: String,
    /// Whether that is a deliberate nothing.
    pub is_none: bool,
}

/// What every port can say of itself.
pub trait Port: Send + Sync + 'static {
    /// Returns what stands behind the port, in a few words.
    fn describe(&self) -> String;

    /// Tells whether that is a deliberate nothing.
    fn is_none(&self) -> bool {
        false
    }
}

/// A port that failed.
///
/// The text may reach a model; the source stays with the operator.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct PortError {
    /// What could not be done and what would help.
    pub text: String,
    /// Why, for the operator.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl PortError {
    /// Makes an error without a source.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), source: None }
    }

    /// Makes an error with a source.
    pub fn with_source(
        text: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { text: text.into(), source: Some(source.into()) }
    }
}

impl From<PortError> for Failure {
    fn from(error: PortError) -> Self {
        tracing::error!(error = %error, source = ?error.source, "a port failed");
        Failure::new(ErrorKind::Unavailable, error.text)
    }
}

/// One thing for the journal to keep.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    /// A call is about to happen, or was refused.
    Intent(&'a IntentRecord),
    /// A call waits for an answer.
    Ticket(&'a TicketRecord),
    /// A ticket was answered; each can be answered once.
    Answered {
        /// The ticket.
        ticket: TicketId,
        /// Who answered, and what.
        answer: &'a str,
        /// When.
        at: Timestamp,
    },
    /// A body starts.
    Started(&'a AttemptRecord),
    /// A call ended.
    Outcome(&'a OutcomeRecord),
}

/// Keeps what happened.
pub trait Journal: Port {
    /// Keeps an entry. The future resolves when the entry is as safe as its kind asks for.
    ///
    /// Entries of one call arrive in order and must be kept in order. `Started` with `must_last` must survive a power
    /// failure; all others must survive the end of this process, except that `Intent` and `Started` of a call that
    /// changes nothing may resolve as soon as they are in line.
    ///
    /// # Errors
    ///
    /// Fails when the entry could not be kept, and for a second answer to one ticket.
    fn append<'a>(&'a self, entry: Entry<'a>) -> BoxFuture<'a, Result<(), PortError>>;
}

/// One path on its way to a slot.
#[derive(Debug, Clone)]
pub struct SlotValue {
    /// The slot.
    pub slot: Slot,
    /// JSON pointer of the argument; empty for a slot that every root fills.
    pub argument: String,
    /// What the caller wrote; empty for a slot that every root fills.
    pub given: String,
}

/// Why paths could not be bound.
#[derive(Debug)]
pub enum BindRefusal {
    /// A border or the protection list refused.
    Denied(Denial),
    /// The path does not lead anywhere, or to the wrong kind of thing.
    Failed(Failure),
}

/// Turns paths into handles.
pub trait Binder: Port {
    /// Opens what each path names, beneath the roots, as far as it exists.
    ///
    /// Nothing is decided about the call yet, so a refusal tells nothing of what is there: only that the text is no
    /// path, or that it leads out or to something protected. What is missing comes out in [`Bound::settle`].
    fn bind(&self, values: Vec<SlotValue>) -> BoxFuture<'_, Result<Arc<dyn Bound>, BindRefusal>>;
}

/// What the slots of one call were bound to.
pub trait Bound: Any + Send + Sync {
    /// Returns what was bound, for policy, the approver and the journal.
    fn records(&self) -> &[BindingRecord];

    /// Returns what the call lays claim to, for locks and for the order within a batch.
    fn claims(&self) -> &[Claim];

    /// Checks that what has to exist does, after policy decided. A refusal may name what `filter` lets the call see.
    ///
    /// Not asked where nothing was bound, by [`records`](Self::records).
    fn settle<'a>(&'a self, filter: &'a PathFilter) -> BoxFuture<'a, Result<(), BindRefusal>>;

    /// Tells whether every handle still is what its path leads to. Not asked where nothing was bound.
    fn is_current(&self) -> BoxFuture<'_, bool>;

    /// Puts what the body of `call` works with into the call's extensions, seen through the verdict's filter.
    fn install(&self, call: CallId, filter: PathFilter, extensions: &mut Extensions);

    /// Returns what the body's view hid or passed over, and what the binding has to say.
    fn notices(&self) -> Vec<Notice>;
}

/// Saves what a call may overwrite.
///
/// What was bound comes from the [`Binder`] beside it, and is told apart by its type (`dyn Any`).
pub trait Checkpoints: Port {
    /// Saves what the bound resources hold now.
    ///
    /// # Errors
    ///
    /// Fails when something could not be saved; the call then does not start.
    fn save<'a>(
        &'a self,
        call: CallId,
        bound: &'a dyn Bound,
    ) -> BoxFuture<'a, Result<(), PortError>>;
}

/// Says what a call changed.
pub trait Capture: Port {
    /// Returns what changed since the checkpoint of this call.
    ///
    /// # Errors
    ///
    /// Fails when the changes cannot be told; the outcome then says so.
    fn changes<'a>(
        &'a self,
        call: CallId,
        bound: &'a dyn Bound,
    ) -> BoxFuture<'a, Result<Vec<Change>, PortError>>;
}

/// Keeps what effects take away, so that a person can take them back.
///
/// Binders, checkpoints and captures of one workspace share one of these. Its methods block; they are called on threads
/// that may.
pub trait Effects: Port {
    /// Keeps content, once for each digest, and reads it to its end in any case.
    ///
    /// Content that is too much to keep comes back with `stored: false`.
    ///
    /// # Errors
    ///
    /// Fails when the content cannot be read or kept.
    fn keep(&self, content: &mut dyn Read) -> Result<ContentRef, PortError>;

    /// Returns content that was kept and is still there.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be looked up.
    fn fetch(&self, digest: Digest) -> Result<Option<Arc<[u8]>>, PortError>;

    /// Puts changes on record before they happen; what they take away has been kept.
    ///
    /// When this returns, the record and the content outlast the end of this process and a power failure.
    ///
    /// # Errors
    ///
    /// Fails when that cannot be promised; the changes then must not happen.
    fn announce(&self, effects: &[EffectRecord]) -> Result<(), PortError>;

    /// Says how an announced change ended. The final form of the change replaces the announced one.
    ///
    /// # Errors
    ///
    /// Fails when that cannot be recorded; the record then shows the change as cut short.
    fn settle(&self, effect: &EffectRecord) -> Result<(), PortError>;

    /// Returns the changes of a call that are on record, in order.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    fn of_call(&self, call: CallId) -> Result<Vec<EffectRecord>, PortError>;

    /// Returns when the directory was made that another was made again in place of, by when the file system says that the
    /// other was made.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    fn made_again(&self, root: &str, born: Timestamp) -> Result<Option<Timestamp>, PortError>;

    /// Returns the latest calls that changed something beneath one of these roots, by their real paths.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    fn changed_calls(&self, roots: &[String], most: u32) -> Result<ChangedCalls, PortError>;

    /// Returns changes that were announced by a process that is gone, and never settled.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    fn cut_short(&self) -> Result<Vec<EffectRecord>, PortError>;

    /// Returns the paths beneath a root that recorded changes were made to.
    ///
    /// # Errors
    ///
    /// Fails when the record cannot be read.
    fn touched(&self, root: &str) -> Result<BTreeSet<LogicalPath>, PortError>;
}

/// Bytes to keep.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// The call they come from.
    pub call: CallId,
    /// What they are, in a few words.
    pub title: String,
    /// The media type.
    pub media_type: String,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}

/// Bytes that were kept, as they came back.
#[derive(Debug, Clone)]
pub struct KeptArtifact {
    /// What they are, in a few words.
    pub title: String,
    /// The media type.
    pub media_type: String,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}

/// Keeps bytes that are too many for an outcome.
pub trait Artifacts: Port {
    /// Keeps bytes and returns their handle.
    ///
    /// # Errors
    ///
    /// Fails when they cannot be kept, or are more than one artifact may hold.
    fn keep(&self, artifact: NewArtifact) -> BoxFuture<'_, Result<ArtifactId, PortError>>;

    /// Returns what a call of this workspace kept under a handle; nothing, where there is none of it.
    ///
    /// # Errors
    ///
    /// Fails when the bytes are gone to make room for later ones, are not what they were, or cannot be read. The error's
    /// text says which.
    fn fetch(&self, id: ArtifactId) -> BoxFuture<'_, Result<Option<KeptArtifact>, PortError>>;
}

/// A question to a person: may this call happen?
#[derive(Debug, Clone)]
pub struct Question {
    /// The ticket, as journalled.
    pub ticket: TicketRecord,
    /// The arguments, whole: what is shown is what runs.
    pub arguments: Arc<serde_json::Map<String, serde_json::Value>>,
    /// The commands that the call would run, those that they run included, and what of them is not clear: each on one
    /// line, nothing cut.
    pub commands: Vec<String>,
}

impl Question {
    /// Returns the question as a person reads it, safe to show: which tool, why it is asked about, the arguments whole,
    /// then what they do not show themselves: the commands in them, and where paths lead that lead elsewhere. What is
    /// shown is what runs.
    pub fn to_text(&self) -> String {
        let ticket = &self.ticket;
        let tool = if ticket.tool.is_builtin() {
            ticket.tool.name().to_owned()
        } else {
            ticket.tool.to_string()
        };
        let (tool, because) = (visible_line(&tool), visible_line(&ticket.because));
        let mut lines = vec![format!("{tool} wants to run ({because})")];
        for (name, value) in self.arguments.iter() {
            let json = value.to_string();
            let value = value.as_str().map_or_else(|| visible_json(&json), visible_exactly);
            lines.push(format!("  {}: {value}", visible_exactly(name)));
        }
        // A text that is one command was shown as that just now.
        let text = self.arguments.get("command").and_then(serde_json::Value::as_str);
        if !matches!((&*self.commands, text), ([only], Some(text)) if only == text) {
            let commands = self.commands.iter();
            lines.extend(commands.map(|command| format!("  runs {}", visible_line(command))));
        }
        let elsewhere = ticket
            .bindings
            .iter()
            .filter(|it| !it.given.is_empty() && it.given != it.path.as_str());
        lines.extend(elsewhere.map(|binding| {
            format!("  {} is {}", binding.slot, visible_line(binding.path.as_str()))
        }));
        lines.join("\n")
    }
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, once.
    Approve {
        /// Who said it.
        by: String,
    },
    /// No.
    Refuse {
        /// Who said it.
        by: String,
        /// Why, where they said.
        reason: Option<String>,
    },
    /// Not now: the call waits as a ticket.
    Later,
    /// There is nobody to ask.
    Nobody {
        /// How to get past this, as instructions.
        ways_out: Vec<String>,
    },
}

/// Asks a person.
pub trait Approver: Port {
    /// Asks. May wait as long as the ticket lives.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// What holds other processes out; dropping it lets them in.
pub type Held = Box<dyn Send + Sync>;

/// Keeps other processes of haft out of what a call writes.
pub trait Exclusion: Port {
    /// Holds others out of everything claimed for writing, taken in the order given. Not asked where nothing is claimed.
    ///
    /// # Errors
    ///
    /// Fails when the locks cannot be had.
    fn hold<'a>(&'a self, claims: &'a [Claim]) -> BoxFuture<'a, Result<Held, PortError>>;
}

/// Tells the time.
pub trait Clock: Port {
    /// Returns the time now.
    fn now(&self) -> Timestamp;
}

/// Makes ids.
pub trait Ids: Port {
    /// Returns 128 random bits.
    fn random(&self) -> u128;
}

macro_rules! make_ids {
    ($($(#[$doc:meta])* $method:ident -> $kind:ty;)*) => {
        impl Ports {
            $($(#[$doc])*
            pub fn $method(&self) -> $kind {
                <$kind>::from_parts(self.clock.now().unix_ms(), self.ids.random())
            })*
        }
    };
}

make_ids! {
    /// Makes the id of a call.
    call_id -> CallId;
    /// Makes the id of a run.
    run_id -> RunId;
    /// Makes the id of a branch.
    branch_id -> BranchId;
    /// Makes the id of a ticket.
    ticket_id -> TicketId;
    /// Makes the id of a message.
    message_id -> MessageId;
}
