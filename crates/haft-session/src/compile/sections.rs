//! The record of what a request is made of.

use haft_model::{Estimator, TokenCounter};
use haft_protocol::{Entry, LeftOutRecord, MessageId, SectionRecord};

use super::{Ask, render};

/// What became of one section of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Which.
    pub kind: SectionKind,
    /// What is done with it where there is no room.
    pub posture: Posture,
    /// What the request shows.
    pub kept: Vec<Kept>,
    /// What it does not show.
    pub left_out: Vec<LeftOut>,
    /// Texts whose ends it does not show, by their names, and how many bytes of each.
    pub cut: Vec<(String, u64)>,
}

/// A section of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SectionKind {
    /// What its operator tells the model.
    System,
    /// What the project tells it.
    Instructions,
    /// The tools.
    Tools,
    /// The task: what was said first.
    Task,
    /// A summary of what is left out of the history.
    Summary,
    /// What was said and done since.
    History,
    /// What the runtime has to say now.
    Notices,
}

impl SectionKind {
    /// Returns the name used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Instructions => "instructions",
            Self::Tools => "tools",
            Self::Task => "task",
            Self::Summary => "summary",
            Self::History => "history",
            Self::Notices => "notices",
        }
    }

    /// Returns the section in words, as in "how much … takes".
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::System => "the system text",
            Self::Instructions => "the project's instructions",
            Self::Tools => "the tools",
            Self::Task => "the task",
            Self::Summary => "the summary",
            Self::History => "the history",
            Self::Notices => "notices",
        }
    }

    /// Tells whether it is the same in every request, whatever is summarised.
    pub const fn is_fixed(self) -> bool {
        match self {
            Self::System | Self::Instructions | Self::Tools | Self::Task => true,
            Self::Summary | Self::History | Self::Notices => false,
        }
    }
}

/// What is done with a section where there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Posture {
    /// Without it no request is made.
    Refuse,
    /// Its oldest part is summarised.
    Summarise,
    /// It is left out.
    Skip,
}

/// Something that a request shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// An entry of the transcript.
    Entry(MessageId),
    /// Entries of the transcript, one after the other; those that stand between them and are not shown are named as left
    /// out.
    Entries {
        /// The first entry.
        first: MessageId,
        /// The last entry.
        last: MessageId,
        /// How many entries.
        entries: usize,
    },
    /// A text, by its name.
    Named(String),
    /// How many of a kind.
    Count(usize),
}

/// Something that a request does not show, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The first entry.
    pub first: MessageId,
    /// The last entry.
    pub last: MessageId,
    /// How many entries.
    pub entries: usize,
    /// Why.
    pub why: &'static str,
}

impl Kept {
    /// Returns how many things that are.
    fn count(&self) -> u64 {
        match self {
            Self::Entry(_) | Self::Named(_) => 1,
            Self::Entries { entries: count, .. } | Self::Count(count) => *count as u64,
        }
    }
}

impl Section {
    /// Returns what is kept of the section; nothing of one that shows nothing and leaves nothing out.
    pub fn record(&self) -> Option<SectionRecord> {
        let names = self.kept.iter().filter_map(|kept| match kept {
            Kept::Named(name) if self.kind != SectionKind::System => Some(name.clone()),
            Kept::Named(_) | Kept::Entry(_) | Kept::Entries { .. } | Kept::Count(_) => None,
        });
        let entries = self.left_out.iter().map(|it| LeftOutRecord {
            count: it.entries as u64,
            unit: "entries".to_owned(),
            why: it.why.to_owned(),
        });
        let cut = self.cut.iter().map(|(name, bytes)| LeftOutRecord {
            count: *bytes,
            unit: "bytes".to_owned(),
            why: format!("{name} is too long"),
        });
        let record = SectionRecord {
            section: self.kind.as_str().to_owned(),
            kept: self.kept.iter().map(Kept::count).sum(),
            names: names.collect(),
            left_out: entries.chain(cut).collect(),
        };
        (record.kept > 0 || !record.left_out.is_empty()).then_some(record)
    }
}

/// How much one section of a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// Which.
    pub kind: SectionKind,
    /// Tokens, as they are estimated.
    pub estimated_tokens: u64,
}

/// Makes the record of a request. It costs the same however long the transcript is.
pub(super) fn of(ask: &Ask<'_>) -> Vec<Section> {
    use Posture::{Refuse, Skip, Summarise};
    use SectionKind::{History, Instructions, Notices, Summary, System, Task, Tools};
    let section = |kind, posture, kept| Section {
        kind,
        posture,
        kept,
        left_out: Vec::new(),
        cut: Vec::new(),
    };
    let shown = ask.transcript.shown();
    let entry = |id: Option<MessageId>| id.map(Kept::Entry).into_iter().collect::<Vec<_>>();
    let instructions = ask.system.instructions().iter();
    let history = Section {
        kind: History,
        posture: Summarise,
        kept: shown.kept().into_iter().collect(),
        left_out: shown.left_out(),
        cut: Vec::new(),
    };
    let cut = instructions.clone().filter(|it| it.left_out_bytes > 0);
    let cut = cut.map(|it| (it.name.clone(), it.left_out_bytes)).collect();
    vec![
        section(System, Refuse, vec![Kept::Named("system".to_owned())]),
        Section {
            cut,
            ..section(
                Instructions,
                Refuse,
                instructions.map(|it| Kept::Named(it.name.clone())).collect(),
            )
        },
        section(Tools, Refuse, vec![Kept::Count(ask.tools.len())]),
        section(Task, Refuse, entry(shown.task())),
        section(Summary, Refuse, entry(shown.summary())),
        history,
        section(Notices, Skip, vec![Kept::Count(ask.notices.len())]),
    ]
}

impl Ask<'_> {
    /// Estimates what each section takes, in the order in which a model meets them: what fills a window, for people.
    pub fn weigh(&self, estimator: &Estimator) -> Vec<Weight> {
        let sum = |tokens: &mut dyn Iterator<Item = u64>| tokens.fold(0, u64::saturating_add);
        let text = estimator.text(&self.system.text());
        let instructions = self.system.instructions().iter();
        let instructions = sum(&mut instructions.map(|it| estimator.text(&it.text))).min(text);
        let tools = match &*self.tools {
            [] => 0,
            tools => estimator
                .before_tools()
                .saturating_add(sum(&mut tools.iter().map(|it| estimator.tool(it)))),
        };
        let format = self.format.as_ref();
        let format = format.map_or(0, |it| estimator.text(&it.schema.to_string()));
        let shown = self.transcript.shown();
        let (mut task, mut summary, mut history) = (0, 0, 0);
        for (place, node) in self.transcript.nodes_from(0) {
            let section = match node.entry() {
                _ if place == 0 => &mut task,
                Entry::Summary(it) if Some(it.id) == shown.summary() => &mut summary,
                Entry::User(_) | Entry::Step(_) if place >= shown.from() => &mut history,
                Entry::User(_) | Entry::Step(_) | Entry::Summary(_) => continue,
            };
            let tokens = node.fragments().iter().map(|it| it.estimated_tokens(estimator));
            *section = tokens.fold(*section, u64::saturating_add);
        }
        let notices = self.notices.iter().map(|it| estimator.part(&render::notice(it)));
        let notices = notices.fold(0, u64::saturating_add);
        [
            (SectionKind::System, text.saturating_sub(instructions)),
            (SectionKind::Instructions, instructions),
            (SectionKind::Tools, tools.saturating_add(format)),
            (SectionKind::Task, task),
            (SectionKind::Summary, summary),
            (SectionKind::History, history),
            (SectionKind::Notices, notices),
        ]
        .map(|(kind, estimated_tokens)| Weight { kind, estimated_tokens })
        .to_vec()
    }
}
