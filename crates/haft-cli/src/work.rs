//! Letting a model work: what `run`, `chat`, `resume` and `fork` have in common.

mod args;
mod diffs;
mod prose;
mod show;
mod signals;
mod stop;
pub(crate) mod task;
mod words;

use std::sync::Arc;

use haft::config::Config;
use haft::models::{
    Branch, ChatModel, Entry, Fates, Gauge, Keeper, LimitError, NoKeeper, Reply, RunEntry,
    RunFacts, RunLimits, StopCause, System, ToolChoice, TurnEnd, TurnOptions, mend,
};
use haft::policy::Preset;
use haft::store::{OpenedRun, RunQuery, RunSummary, Store};
use haft::{CallId, ContentPart, Haft, RunId, RunKeeper, Selection, fates};
use serde_json::json;

use crate::args::{Global, ToolsetArg};
use crate::assemble::{Assembled, UserMistake, assemble, open_with_config};
use crate::command::Invocation;
use crate::exit::Exit;
use crate::model::{Chosen, choose};
use crate::print::Tone;
pub(crate) use args::WorkArgs;
use show::Show;
pub(crate) use signals::{AskedToEnd, Signals};
use stop::price_hint;
pub(crate) use stop::{Left, ending, estimated, usage};
pub(crate) use words::said_of_call;

/// The parts, before it is known what is worked on.
pub(crate) struct Bench<'a> {
    invocation: &'a Invocation<'a>,
    args: WorkArgs,
    /// The library's parts.
    pub(crate) haft: Haft,
    /// The shape of the built-in tools.
    toolset: ToolsetArg,
    shown: Selection,
    /// The tool that the model has to call first.
    first: ToolChoice,
    config: Config,
    show: Arc<Show>,
}

/// A model on a branch, ready to work.
pub(crate) struct Work<'a> {
    bench: Bench<'a>,
    branch: Branch,
    run: Option<RunId>,
    keeper: Arc<dyn Keeper>,
}

/// Where a conversation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Nothing was said yet.
    Unbegun,
    /// The model has something to do although nobody says anything: an answer that is due, or calls.
    Open,
    /// The model has had its say.
    Answered,
}

/// How a turn ended, and who asked for that.
pub(crate) struct Ended {
    /// How.
    pub(crate) end: TurnEnd,
    /// Who asked for it.
    pub(crate) asked: Option<AskedToEnd>,
}

impl<'a> Bench<'a> {
    /// Puts the parts together.
    pub(crate) fn open(invocation: &'a Invocation<'a>, args: WorkArgs) -> anyhow::Result<Self> {
        Self::open_to_go_on(invocation, args)?.showing()
    }

    /// Puts the parts together for a run that began before. Which tools it is shown is known when it is.
    pub(crate) fn open_to_go_on(
        invocation: &'a Invocation<'a>,
        args: WorkArgs,
    ) -> anyhow::Result<Self> {
        let (haft, config) = open_with_config(invocation)?;
        let show = Show::new(invocation, haft.store());
        let (shown, first) = (Selection::All, ToolChoice::Auto);
        let toolset = invocation.global.toolset.unwrap_or_default();
        Ok(Self { invocation, args, haft, toolset, shown, first, config, show })
    }

    /// Shows the tools that are asked for.
    fn showing(mut self) -> anyhow::Result<Self> {
        self.shown = self.args.shown(&self.haft)?;
        self.first = self.args.first(&self.haft, &self.shown)?;
        Ok(self)
    }

    /// Returns the records, which have to be kept.
    pub(crate) fn store(&self) -> anyhow::Result<&Store> {
        self.haft.store().ok_or_else(|| {
            UserMistake::new("`--no-state` keeps no records, so there are no runs to go on with")
                .into()
        })
    }

    /// Finds a run of this workspace.
    pub(crate) fn find(&self, text: &str) -> anyhow::Result<RunSummary> {
        let runs = self.store()?.runs();
        let query: RunQuery = text.parse().map_err(|error| {
            let mistake = UserMistake::new(format!("{error}"));
            if text.contains(char::is_whitespace) {
                return mistake.hint("`haft resume last 'TEXT'` says something to the last run");
            }
            mistake
        })?;
        let found = match query {
            RunQuery::Last => runs.last_of_workspace()?.ok_or_else(|| {
                UserMistake::new("no run of this workspace is on record that a model was asked in")
                    .hint(
                        "`haft run TASK` begins one; `haft runs --all` lists those of all workspaces",
                    )
            })?,
            query => runs.find(&query)?,
        };
        let here = self.haft.workspace().recorded_roots();
        if let (Some(there), Some(here)) = (found.roots.first(), here.first())
            && there != here
        {
            let text = format!("run {} is one of `{there}`, and this is `{here}`", found.id);
            return Err(UserMistake::new(text)
                .hint(format!(
                    "go on with it there: `haft --root {there} resume {}`",
                    found.id.short()
                ))
                .into());
        }
        Ok(found)
    }

    /// Shows the tools that a run was shown by its entries, where no others are asked for now.
    fn showing_as(mut self, entries: &[RunEntry]) -> anyhow::Result<Self> {
        let Some(RunEntry::Began(RunFacts { tools: Some(before), .. })) = entries.first() else {
            return self.showing();
        };
        let Some(shown) = self.args.shown_before(&self.haft, before)? else {
            return self.showing();
        };
        let tools = if before.is_empty() { "none".to_owned() } else { before.join(", ") };
        let text = format!("{tools}, as the run began; `--tools` shows others");
        self.show.aside(Tone::Faint, "tools", &text);
        self.first = self.args.first(&self.haft, &shown)?;
        self.shown = shown;
        Ok(self)
    }

    /// Puts the parts together anew as a run began, where that is not as they are: with its shape of the built-in tools,
    /// and under its preset where that is narrower, unless others were asked for.
    pub(crate) fn begun_as(self, found: &RunSummary) -> anyhow::Result<Self> {
        let preset = self.preset_before(found);
        let toolset = self.toolset_before(found)?;
        if preset.is_none() && toolset.is_none() {
            return Ok(self);
        }
        let Self { invocation, args, haft, toolset: now, .. } = self;
        drop(haft);
        let toolset = toolset.unwrap_or(now);
        let preset = preset.map(Into::into).or(invocation.global.preset);
        let global = Global { preset, toolset: Some(toolset), ..invocation.global.clone() };
        let narrowed = Invocation {
            global: &global,
            progress: Arc::clone(&invocation.progress),
            agreed: invocation.agreed.clone(),
            ..*invocation
        };
        let Assembled { haft, config, .. } = assemble(&narrowed)?;
        let show = Show::new(invocation, haft.store());
        let (shown, first) = (Selection::All, ToolChoice::Auto);
        Ok(Self { invocation, args, haft, toolset, shown, first, config, show })
    }

    /// Returns the shape of the built-in tools that a run began with, where it is another one and none was asked for.
    fn toolset_before(&self, found: &RunSummary) -> anyhow::Result<Option<ToolsetArg>> {
        if self.invocation.global.toolset.is_some() {
            return Ok(None);
        }
        // A subagent has the tools of the run that it works for.
        let above = match found.parent_run {
            Some(above) => self.store()?.runs().find(&above.into())?.toolset,
            None => None,
        };
        let before = found.toolset.as_deref().or(above.as_deref()).and_then(ToolsetArg::named);
        let Some(before) = before.filter(|it| *it != self.toolset) else { return Ok(None) };
        let text = format!(
            "{}, as the run began; `--toolset {}` shows the others",
            before.name(),
            self.toolset.name()
        );
        self.show.aside(Tone::Faint, "toolset", &text);
        Ok(Some(before))
    }

    /// Returns the preset that a run began with, where it is narrower than what is in force and none was asked for.
    fn preset_before(&self, found: &RunSummary) -> Option<Preset> {
        let now = self.haft.policy().presets().min().unwrap_or(Preset::ReadOnly);
        let before = narrowest(&found.preset);
        let run = found.id.short();
        if before >= now {
            return None;
        }
        if self.invocation.global.preset.is_some() {
            let text = format!("run {run} began under {before}, and may do more now: {now}");
            self.show.aside(Tone::Warn, "preset", &text);
            return None;
        }
        let text = format!(
            "run {run} began under {before}, and goes on under it; `--preset {now}` lets it do more"
        );
        self.show.aside(Tone::Faint, "preset", &text);
        Some(before)
    }

    /// Begins a run.
    pub(crate) async fn begin(self, title: &str) -> anyhow::Result<Work<'a>> {
        let chosen = self.choose(None).await?;
        let system = self.system();
        let opened = match self.haft.store() {
            Some(store) => {
                let facts = self.facts(title, &*chosen.model, &system);
                let writer = store.runs().begin(&facts)?;
                Some(OpenedRun { entries: Vec::new(), writer, unreadable: None })
            }
            None => None,
        };
        self.on(chosen, system, opened).await
    }

    /// Goes on with a run. Nobody else can as long as this does.
    pub(crate) async fn go_on_with(self, found: &RunSummary) -> anyhow::Result<Work<'a>> {
        goes_on(found)?;
        let opened = self.store()?.runs().open_to_go_on(found.id)?;
        if let Some(unreadable) = &opened.unreadable {
            self.show.aside(Tone::Warn, "record", &unreadable.to_string());
        }
        let bench = self.showing_as(&opened.entries)?;
        let chosen = bench.choose(Some(found)).await?;
        let system = bench.system();
        bench.on(chosen, system, Some(opened)).await
    }

    /// Begins a run as another one began.
    pub(crate) async fn fork(
        self,
        found: &RunSummary,
        upto: Option<u64>,
    ) -> anyhow::Result<Work<'a>> {
        let source = self.store()?.runs().read(found.id)?;
        let bench = self.showing_as(&source.entries)?;
        let chosen = bench.choose(Some(found)).await?;
        let system = bench.system();
        let facts = bench.facts(&found.title, &*chosen.model, &system);
        let opened = bench.store()?.runs().fork(found.id, upto, &facts)?;
        bench.on(chosen, system, Some(opened)).await
    }

    fn facts(&self, title: &str, model: &dyn ChatModel, system: &System) -> RunFacts {
        let tools = self.shown.names().map(<[_]>::to_vec);
        let toolset = Some(self.toolset.name().to_owned());
        RunFacts { tools, toolset, ..self.haft.run_facts(title, model, system) }
    }

    async fn choose(&self, run: Option<&RunSummary>) -> anyhow::Result<Chosen> {
        let before = run.map(|run| run.model.to_string());
        self.choose_named(self.args.model.as_deref(), before.as_deref()).await
    }

    async fn choose_named(
        &self,
        wanted: Option<&str>,
        before: Option<&str>,
    ) -> anyhow::Result<Chosen> {
        let show = Arc::clone(&self.show);
        let watcher = move |waiting: &haft::models::Waiting| show.wait(waiting);
        let Invocation { environment, .. } = self.invocation;
        let chosen = choose(environment, &self.config, wanted, before, watcher).await?;
        self.priced(&chosen)?;
        self.show.model(chosen.model.facts(), &chosen.because);
        if chosen.model.facts().window_tokens.is_none() {
            let text = format!(
                "how many tokens fit into its window is not known; `[models.\"{}\"] window_tokens = N` says it",
                chosen.model.facts().id
            );
            self.show.aside(Tone::Faint, "window", &text);
        }
        if self.first != ToolChoice::Auto && !chosen.model.facts().calls_on_demand {
            let text = format!("`{}` cannot be made to call a tool first", chosen.model.facts().id);
            return Err(UserMistake::new(text)
                .hint("leave `--call-first` out, and say in the task what to look at")
                .into());
        }
        Ok(chosen)
    }

    /// Refuses a model that the limits cannot be held against, before anything is on record of it.
    fn priced(&self, chosen: &Chosen) -> Result<(), UserMistake> {
        let Err(LimitError::NoPrice { model }) = self.limits().check(chosen.model.facts()) else {
            return Ok(());
        };
        let text = format!("there is a budget, and nobody knows what `{model}` costs");
        Err(UserMistake::new(text).hint(price_hint(&model)))
    }

    fn limits(&self) -> RunLimits {
        self.args.limits()
    }

    /// Makes what the model is told by its operator, with what the project tells whoever works on it.
    fn system(&self) -> System {
        let found = self.haft.instructions();
        for remark in &found.remarks {
            self.show.aside(Tone::Warn, "instructions", remark);
        }
        let names: Vec<&str> = found.instructions.iter().map(|it| it.name.as_str()).collect();
        if !names.is_empty() {
            self.show.aside(Tone::Faint, "instructions", &names.join(", "));
        }
        System::standard(&self.haft.place(), found.instructions)
    }

    async fn on(
        self,
        chosen: Chosen,
        system: System,
        opened: Option<OpenedRun>,
    ) -> anyhow::Result<Work<'a>> {
        let reporter = self.invocation.progress.reporter();
        let mut builder = self
            .haft
            .branch(chosen.model)
            .sampling(chosen.sampling)
            .system(system)
            .shown(self.shown.clone())
            .context(|context| context.reporter = reporter);
        let Some(OpenedRun { entries, writer, .. }) = opened else {
            let branch = builder.open();
            return Ok(Work { bench: self, branch, run: None, keeper: Arc::new(NoKeeper) });
        };
        let run = writer.run();
        let roots = self.haft.workspace().recorded_roots();
        self.show.run(run);
        let mended = mend(&entries);
        for remark in &mended.remarks {
            self.show.aside(Tone::Warn, "mended", remark);
        }
        let keeper: Arc<dyn Keeper> = Arc::new(RunKeeper::new(writer, roots));
        builder = builder
            .keeper(Arc::clone(&keeper))
            .transcript(mended.transcript)
            .context(|context| context.caller.run = run);
        let branch = builder.open();
        // What the run took before counts against its budget.
        branch.turn().await.usage = self.store()?.runs().find(&run.into())?.usage;
        Ok(Work { bench: self, branch, run: Some(run), keeper })
    }
}

impl Work<'_> {
    /// Returns the library's parts.
    pub(crate) fn haft(&self) -> &Haft {
        &self.bench.haft
    }

    /// Returns the calls of the last turn that changed something, the latest first.
    pub(crate) fn changed(&self) -> Vec<CallId> {
        self.bench.show.changed()
    }

    /// Lets another model go on from here.
    pub(crate) async fn change_model(&self, name: &str) -> anyhow::Result<()> {
        if name.is_empty() {
            return Err(
                UserMistake::new("which one? `/model NAME`; `haft models` lists them").into()
            );
        }
        let Chosen { model, sampling, .. } = self.bench.choose_named(Some(name), None).await?;
        let mut state = self.branch.turn().await;
        state.gauge = Gauge::new(model.facts());
        (state.parts.model, state.parts.sampling) = (model, sampling);
        Ok(())
    }

    /// Returns by which name the run is on record.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.run
    }

    /// Tells where the conversation stands.
    pub(crate) async fn stands(&self) -> Stands {
        match self.branch.turn().await.transcript.last() {
            None => Stands::Unbegun,
            // An empty reply is no answer, and is asked about once more.
            Some(Entry::Step(step)) if is_empty(&step.reply) => Stands::Open,
            Some(Entry::Step(step)) if step.reply.calls().next().is_none() => Stands::Answered,
            Some(Entry::User(_) | Entry::Step(_) | Entry::Summary(_)) => Stands::Open,
        }
    }

    /// Shows the last reply, which nobody may have seen to its end.
    pub(crate) async fn show_last_reply(&self) {
        if let Some(Entry::Step(step)) = self.branch.turn().await.transcript.last() {
            self.bench.show.again(&step.reply.text());
        }
    }

    /// Returns the calls whose end is not known yet.
    pub(crate) async fn has_open_calls(&self) -> bool {
        self.branch.turn().await.transcript.open_calls().next().is_some()
    }

    /// Lets the model work: on what is said, or on what is open.
    ///
    /// Who asks the process to end interrupts the turn; who asks again ends it where it is.
    pub(crate) async fn turn(
        &self,
        signals: &mut Signals,
        said: Option<Vec<ContentPart>>,
    ) -> anyhow::Result<Ended> {
        // What is gone on with had its first call already.
        let first = said.as_ref().map(|_| self.bench.first.clone());
        let options = TurnOptions {
            limits: self.bench.limits(),
            choice: first.unwrap_or_default(),
            watcher: self.bench.show.watcher(),
            ..TurnOptions::default()
        };
        // What became of calls is looked up when it is needed, for a turn of this process may have left them open.
        let fates = match (&said, self.run, self.bench.haft.store()) {
            (None, Some(run), Some(store)) => fates(store, &store.runs().read(run)?.entries)?,
            _ => Fates::default(),
        };
        self.bench.show.begin();
        let agent = self.bench.haft.agent();
        let turn = async {
            match said {
                Some(content) => {
                    agent.turn(&self.branch, self.bench.haft.said(content), &options).await
                }
                None => agent.go_on(&self.branch, &fates, &options).await,
            }
        };
        tokio::pin!(turn);
        let mut asked = None;
        let end = loop {
            tokio::select! {
                end = &mut turn => break end,
                by = signals.next() => {
                    if asked.is_some() {
                        self.bench.show.end();
                        return Err(EndedAtOnce(by).into());
                    }
                    asked = Some(by);
                    let text = match by {
                        AskedToEnd::Interrupt => "the turn ends here; Ctrl-C again ends haft at once",
                        AskedToEnd::Hangup | AskedToEnd::Terminate => "the turn ends here",
                    };
                    self.bench.show.aside(Tone::Warn, by.as_str(), text);
                    options.stopped_by.say(by.signal());
                    options.cancellation.cancel();
                }
            }
        };
        self.bench.show.end();
        Ok(Ended { end, asked })
    }

    /// Says how a turn ended, and returns the code of the command.
    pub(crate) fn told(&self, ended: &Ended) -> anyhow::Result<Exit> {
        let Ended { end, asked } = ended;
        let show = &self.bench.show;
        let reply = end.reply.as_ref();
        let left = Left {
            run: self.run,
            has_changed: !show.changed().is_empty(),
            is_silent: reply.is_some_and(|it| it.text().trim().is_empty()),
            is_open: reply.is_none_or(|it| it.calls().next().is_some()),
        };
        let how = ending(&end.cause, *asked, left);
        let printer = self.bench.invocation.printer;
        if printer.is_json() {
            let text = end.reply.as_ref().map(|reply| reply.text()).unwrap_or_default();
            let result = json!({
                "run": self.run, "text": text, "stop": end.cause, "why": how.why, "hints": how.hints,
                "usage": end.usage,
            });
            return printer.envelope(how.exit, result);
        }
        if !how.why.is_empty() {
            show.aside(how.tone, "stopped", &how.why);
        }
        for hint in &how.hints {
            printer.aside(Tone::Warn, "hint", hint);
        }
        printer.aside(Tone::Faint, "used", &usage(&end.usage));
        Ok(how.exit)
    }

    /// Lets go of the run.
    pub(crate) fn close(self) {
        drop(self.keeper);
    }
}

/// Tells whether a turn came to its end, so that more can be said.
pub(crate) fn is_at_its_end(cause: &StopCause) -> bool {
    matches!(cause, StopCause::Done | StopCause::Empty)
}

/// Tells whether a model stopped by itself and said nothing.
fn is_empty(reply: &Reply) -> bool {
    let asks = reply.calls().next().is_some();
    reply.stop.lets_calls_run() && !asks && reply.text().trim().is_empty()
}

/// Returns the narrowest of the presets that a run began with. What this haft does not know is taken for the strictest.
fn narrowest(presets: &str) -> Preset {
    let named = presets.split(" and ").map(|it| it.parse().unwrap_or(Preset::ReadOnly));
    named.min().unwrap_or(Preset::ReadOnly)
}

/// Refuses a subagent's run: it had less than its user may, and nobody else knows how much.
pub(crate) fn goes_on(found: &RunSummary) -> Result<(), UserMistake> {
    let Some(call) = found.parent else { return Ok(()) };
    let run = found.id.short();
    let above = match found.parent_run {
        Some(above) => {
            format!("`haft resume {}` goes on with the run that it worked for", above.short())
        }
        None => format!("it worked for call {call}, which is no longer on record"),
    };
    let text = format!("run {run} is a subagent's, and cannot be gone on with by itself");
    Err(UserMistake::new(text)
        .hint(format!("{above}; `haft fork {run}` begins one of yours from it")))
}

/// Somebody asked twice for the end.
#[derive(Debug)]
pub(crate) struct EndedAtOnce(pub(crate) AskedToEnd);

impl std::fmt::Display for EndedAtOnce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ended at once by {}", self.0.as_str())
    }
}

impl std::error::Error for EndedAtOnce {}
