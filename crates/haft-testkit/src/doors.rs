//! Doors made of memory.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use haft_policy::PathFilter;
use haft_protocol::{
    ArtifactId, BindingRecord, CallId, Change, Control, Denial, ErrorKind, Failure, IntentRecord,
    LogicalPath, Notice, OutcomeRecord, TicketId, TicketRecord, Timestamp,
};
use haft_tool::ports::{
    Approver, Artifacts, BindRefusal, Binder, Bound, Capture, Checkpoints, Clock, Entry, Exclusion,
    Held, Ids, Journal, KeptArtifact, NewArtifact, Port, PortError, Question, SlotValue,
};
use haft_tool::{Answer, BoxFuture, Claim, DirectoryId, Existence, Extensions, LockKey};

/// What a door does at its next uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mood {
    /// Its work.
    #[default]
    Works,
    /// Fails.
    Fails,
    /// Panics.
    Panics,
    /// Never answers.
    Hangs,
}

/// The mood of one door, which a test sets while the door is in use.
#[derive(Debug, Clone, Default)]
pub struct Temper(Arc<Mutex<Mood>>);

impl Temper {
    /// Sets the mood.
    pub fn set(&self, mood: Mood) {
        *self.0.lock().unwrap() = mood;
    }

    /// Works or fails, at a door that cannot wait: hanging counts as failing.
    pub(crate) fn act_now(&self, door: &str) -> Result<(), PortError> {
        let mood = *self.0.lock().unwrap();
        match mood {
            Mood::Works => Ok(()),
            Mood::Panics => panic!("the {door} panics because a test said so"),
            Mood::Fails | Mood::Hangs => {
                Err(PortError::new(format!("the {door} fails because a test said so")))
            }
        }
    }

    async fn act(&self, door: &str) -> Result<(), PortError> {
        let mood = *self.0.lock().unwrap();
        match mood {
            Mood::Works => Ok(()),
            Mood::Fails => Err(PortError::new(format!("the {door} fails because a test said so"))),
            Mood::Panics => panic!("the {door} panics because a test said so"),
            Mood::Hangs => std::future::pending().await,
        }
    }
}

macro_rules! ports {
    ($($name:ident = $text:literal;)*) => {$(
        impl Port for $name {
            fn describe(&self) -> String {
                $text.to_owned()
            }
        }
    )*};
}

ports! {
    MemoryJournal = "memory of a test";
    TreeBinder = "tree of a test";
    Steps = "step log of a test";
    MemoryArtifacts = "memory of a test";
    Oracle = "answers of a test";
    SteppingClock = "clock of a test";
    CountedIds = "counter of a test";
}

/// One journalled entry.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the variants are those of the port's entries")]
pub enum Kept {
    Intent(Box<IntentRecord>),
    Ticket(Box<TicketRecord>),
    Answered { ticket: TicketId, answer: String },
    Started { call: CallId, attempt: u32, must_last: bool },
    Outcome(Box<OutcomeRecord>),
}

impl Kept {
    /// Returns the kind of entry in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Intent(_) => "intent",
            Self::Ticket(_) => "ticket",
            Self::Answered { .. } => "answered",
            Self::Started { .. } => "started",
            Self::Outcome(_) => "outcome",
        }
    }
}

/// A journal in memory.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    entries: Mutex<Vec<Kept>>,
    answered: Mutex<HashSet<TicketId>>,
    /// The mood for intents and tickets.
    pub intents: Temper,
    /// The mood for starts.
    pub starts: Temper,
    /// The mood for outcomes.
    pub outcomes: Temper,
}

impl MemoryJournal {
    /// Returns everything kept so far, in order.
    pub fn entries(&self) -> Vec<Kept> {
        self.entries.lock().unwrap().clone()
    }

    /// Returns the outcomes of a call.
    pub fn outcomes_of(&self, call: CallId) -> Vec<OutcomeRecord> {
        let entries = self.entries();
        let outcomes = entries.into_iter().filter_map(|entry| match entry {
            Kept::Outcome(record) if record.call == call => Some(*record),
            _ => None,
        });
        outcomes.collect()
    }
}

impl Journal for MemoryJournal {
    fn append<'a>(&'a self, entry: Entry<'a>) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async move {
            match entry {
                Entry::Intent(_) | Entry::Ticket(_) | Entry::Answered { .. } => {
                    self.intents.act("journal").await?;
                }
                Entry::Started(_) => self.starts.act("journal").await?,
                Entry::Outcome(_) => self.outcomes.act("journal").await?,
            }
            if let Entry::Answered { ticket, .. } = entry
                && !self.answered.lock().unwrap().insert(ticket)
            {
                return Err(PortError::new(format!("ticket {ticket} was answered before")));
            }
            self.entries.lock().unwrap().push(match entry {
                Entry::Intent(record) => Kept::Intent(Box::new(record.clone())),
                Entry::Ticket(record) => Kept::Ticket(Box::new(record.clone())),
                Entry::Answered { ticket, answer, .. } => {
                    Kept::Answered { ticket, answer: answer.to_owned() }
                }
                Entry::Started(record) => Kept::Started {
                    call: record.call,
                    attempt: record.attempt,
                    must_last: record.must_last,
                },
                Entry::Outcome(record) => Kept::Outcome(Box::new(record.clone())),
            });
            Ok(())
        })
    }
}

/// A tree of names in memory. A path is its parts between slashes; a directory is a path that others lie beneath.
#[derive(Debug, Default)]
pub struct TreeBinder {
    existing: Arc<Mutex<HashSet<String>>>,
    version: Arc<AtomicU64>,
    /// The mood for binding.
    pub binds: Temper,
}

impl TreeBinder {
    /// Lets a path exist.
    pub fn make(&self, path: &str) {
        self.existing.lock().unwrap().insert(path.to_owned());
    }

    /// Lets every binding made so far be out of date.
    pub fn shake(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    fn refuse(kind: ErrorKind, text: String) -> BindRefusal {
        BindRefusal::Failed(Failure::new(kind, text))
    }
}

/// Returns a stable identity for a path of the tree.
fn identity(path: &str) -> DirectoryId {
    let inode =
        path.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    DirectoryId { device: 1, inode }
}

/// Makes the claim of a path of the tree.
pub fn claim(path: &str, access: haft_protocol::Access) -> Claim {
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let above: Vec<DirectoryId> =
        (0..parts.len()).map(|depth| identity(&parts[..depth].join("/"))).collect();
    let leaf = parts.last().copied().unwrap_or_default();
    Claim {
        key: LockKey {
            directory: above.last().copied().unwrap_or_else(|| identity("")),
            leaf: leaf.as_bytes().into(),
        },
        own: Some(identity(&parts.join("/"))),
        above: above.into(),
        access,
    }
}

struct TreeBound {
    wanted: Vec<String>,
    existing: Arc<Mutex<HashSet<String>>>,
    records: Vec<BindingRecord>,
    claims: Vec<Claim>,
    made_at: u64,
    version: Arc<AtomicU64>,
}

/// The filter a body was given, for tests that ask it.
#[derive(Debug, Clone)]
pub struct SeenFilter(pub PathFilter);

impl Bound for TreeBound {
    fn records(&self) -> &[BindingRecord] {
        &self.records
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }

    fn settle<'a>(&'a self, _: &'a PathFilter) -> BoxFuture<'a, Result<(), BindRefusal>> {
        let existing = self.existing.lock().unwrap();
        let missing = self.wanted.iter().find(|it| !existing.contains(*it));
        let refused = missing
            .map(|it| TreeBinder::refuse(ErrorKind::NotFound, format!("`{it}` does not exist")));
        Box::pin(std::future::ready(refused.map_or(Ok(()), Err)))
    }

    fn is_current(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(self.made_at == self.version.load(Ordering::SeqCst)))
    }

    fn install(&self, _: CallId, filter: PathFilter, extensions: &mut Extensions) {
        extensions.insert(SeenFilter(filter));
    }

    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
}

impl Binder for TreeBinder {
    fn bind(&self, values: Vec<SlotValue>) -> BoxFuture<'_, Result<Arc<dyn Bound>, BindRefusal>> {
        Box::pin(async move {
            let acted = self.binds.act("binder").await;
            acted.map_err(|error| Self::refuse(ErrorKind::Unavailable, error.text))?;
            let made_at = self.version.load(Ordering::SeqCst);
            let mut records = Vec::new();
            for value in &values {
                if value.given.starts_with("..") {
                    let text = format!("`{}` leads out of the workspace", value.given);
                    return Err(BindRefusal::Denied(Denial::new(Control::Workspace, text)));
                }
                records.push(BindingRecord {
                    slot: value.slot.name.clone(),
                    given: value.given.clone(),
                    // A slot that every root fills is given nothing.
                    path: LogicalPath::new(if value.given.is_empty() { "." } else { &value.given }),
                    access: value.slot.access,
                });
            }
            let claims =
                values.iter().map(|value| claim(&value.given, value.slot.access)).collect();
            let has_to_exist = values.iter().filter(|it| it.slot.existence == Existence::Required);
            let wanted = has_to_exist.map(|it| it.given.clone()).collect();
            let bound: Arc<dyn Bound> = Arc::new(TreeBound {
                records,
                wanted,
                existing: Arc::clone(&self.existing),
                claims,
                made_at,
                version: Arc::clone(&self.version),
            });
            Ok(bound)
        })
    }
}

/// Checkpoints, capture and exclusion that only say that they were asked.
#[derive(Debug, Default)]
pub struct Steps {
    log: Mutex<Vec<&'static str>>,
    /// What the next captures report.
    pub changes: Mutex<Vec<Change>>,
    /// The mood for checkpoints.
    pub checkpoints: Temper,
    /// The mood for capture.
    pub captures: Temper,
    /// The mood for exclusion.
    pub exclusions: Temper,
}

impl Steps {
    /// Returns what was asked, in order.
    pub fn log(&self) -> Vec<&'static str> {
        self.log.lock().unwrap().clone()
    }
}

impl Checkpoints for Steps {
    fn save<'a>(&'a self, _: CallId, _: &'a dyn Bound) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async move {
            self.log.lock().unwrap().push("checkpoint");
            self.checkpoints.act("checkpoint").await
        })
    }
}

impl Capture for Steps {
    fn changes<'a>(
        &'a self,
        _: CallId,
        _: &'a dyn Bound,
    ) -> BoxFuture<'a, Result<Vec<Change>, PortError>> {
        Box::pin(async move {
            self.log.lock().unwrap().push("capture");
            self.captures.act("capture").await?;
            Ok(self.changes.lock().unwrap().clone())
        })
    }
}

impl Exclusion for Steps {
    fn hold<'a>(&'a self, claims: &'a [Claim]) -> BoxFuture<'a, Result<Held, PortError>> {
        Box::pin(async move {
            if claims.iter().any(|claim| claim.access.writes()) {
                self.log.lock().unwrap().push("exclusion");
            }
            self.exclusions.act("exclusion").await?;
            let held: Held = Box::new(());
            Ok(held)
        })
    }
}

/// Artifacts in memory.
#[derive(Debug, Default)]
pub struct MemoryArtifacts {
    kept: Mutex<HashMap<ArtifactId, NewArtifact>>,
    /// The mood.
    pub temper: Temper,
}

impl MemoryArtifacts {
    /// Returns everything kept, in no order.
    pub fn all(&self) -> Vec<NewArtifact> {
        self.kept.lock().unwrap().values().cloned().collect()
    }
}

impl Artifacts for MemoryArtifacts {
    fn keep(&self, artifact: NewArtifact) -> BoxFuture<'_, Result<ArtifactId, PortError>> {
        Box::pin(async move {
            self.temper.act("store of artifacts").await?;
            let mut kept = self.kept.lock().unwrap();
            let id = ArtifactId::from_parts(0, kept.len() as u128);
            kept.insert(id, artifact);
            Ok(id)
        })
    }

    fn fetch(&self, id: ArtifactId) -> BoxFuture<'_, Result<Option<KeptArtifact>, PortError>> {
        let kept = self.kept.lock().unwrap().get(&id).cloned();
        Box::pin(async move {
            self.temper.act("store of artifacts").await?;
            Ok(kept.map(|NewArtifact { title, media_type, bytes, .. }| KeptArtifact {
                title,
                media_type,
                bytes,
            }))
        })
    }
}

/// An approver that gives the answers a test prepared, then says that there is nobody.
#[derive(Debug, Default)]
pub struct Oracle {
    answers: Mutex<Vec<Answer>>,
    questions: Mutex<Vec<Question>>,
    /// The mood.
    pub temper: Temper,
}

impl Oracle {
    /// Prepares the next answer.
    pub fn say(&self, answer: Answer) {
        self.answers.lock().unwrap().insert(0, answer);
    }

    /// Returns what was asked.
    pub fn questions(&self) -> Vec<Question> {
        self.questions.lock().unwrap().clone()
    }
}

impl Approver for Oracle {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            self.questions.lock().unwrap().push(question.clone());
            let _ = self.temper.act("approver").await;
            let answer = self.answers.lock().unwrap().pop();
            answer.unwrap_or_else(|| Answer::Nobody { ways_out: vec!["add a rule".to_owned()] })
        })
    }
}

/// A clock that moves on by a millisecond with every look.
#[derive(Debug)]
pub struct SteppingClock(AtomicU64);

impl Default for SteppingClock {
    fn default() -> Self {
        Self(AtomicU64::new(1_800_000_000_000))
    }
}

impl SteppingClock {
    /// Moves the clock.
    pub fn forward_ms(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.fetch_add(1, Ordering::SeqCst))
    }
}

/// Ids that count.
#[derive(Debug, Default)]
pub struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn random(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}
