//! The tools visible to one branch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_protocol::limits::NEAREST_NAMES;
use haft_protocol::{QualifiedName, WireName, WireNames};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::alias::Alias;
use crate::source::{BuildContext, FixedTools, Scope, SourceError, ToolSource};
use crate::waking::Waking;
use crate::{Descriptor, DescriptorError, Tool, Wording};

/// What to do with a name that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Refuse the newcomer.
    Reject,
    /// Put the newcomer in its place, where it also keeps its position in lists and its wire name.
    Replace,
}

/// A registration or a clone that failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A name is taken.
    #[error("tool `{name}` of source `{newcomer}` is already registered by source `{holder}`")]
    Taken {
        /// The name.
        name: QualifiedName,
        /// The source that has it.
        holder: String,
        /// The source that wants it.
        newcomer: String,
    },
    /// An alias of a tool that is not there.
    #[error("alias `{alias}` stands for `{name}`, which is not registered")]
    NoSuchTool {
        /// The alias.
        alias: QualifiedName,
        /// The missing tool.
        name: QualifiedName,
    },
    /// A name in a selection that is not there.
    #[error("there is no tool `{name}`{}", nearest_text(nearest))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
    /// Tools that cannot be built again for another branch.
    #[error("these tools belong to one branch and cannot be cloned: {}", .names.join(", "))]
    NotCloneable {
        /// Their names.
        names: Vec<String>,
    },
    /// A source that could not build.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An alias that cannot be described.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
}

fn nearest_text(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) }
}

/// One registered tool.
#[derive(Clone)]
pub struct Registered {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// Its descriptor as it was when it was registered.
    pub descriptor: Arc<Descriptor>,
    /// Its name on the wire.
    pub wire: WireName,
    /// The tool behind it, for an alias.
    pub alias_of: Option<QualifiedName>,
    /// The arguments that an alias fixes.
    pub fixed: Arc<Map<String, Value>>,
    pub(crate) waking: Arc<Waking>,
}

impl Registered {
    /// Returns the name of the source it came from.
    pub fn source(&self) -> &str {
        self.waking.source().name()
    }
}

impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registered({} from {})", self.descriptor.name(), self.source())
    }
}

/// Which tools to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// None.
    None,
    /// Those with these wire names or qualified names, in this order.
    Named(Vec<String>),
}

impl Selection {
    /// Returns the names that are selected; nothing where that is all there are.
    pub fn names(&self) -> Option<&[String]> {
        match self {
            Self::All => None,
            Self::None => Some(&[]),
            Self::Named(names) => Some(names),
        }
    }
}

/// The tools of a registry at one moment. It never changes; a later registration makes another.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    generation: u64,
    tools: IndexMap<QualifiedName, Registered>,
    wire: WireNames,
}

impl Snapshot {
    /// Returns how often the registry had changed.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the tools in the order of their registration.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Registered> {
        self.tools.values()
    }

    /// Returns the tool of a wire name or a qualified name, in that order.
    pub fn find(&self, name: &str) -> Option<&Registered> {
        match self.wire.resolve(name) {
            Some(qualified) => self.tools.get(qualified),
            None => self.tools.get(&name.parse::<QualifiedName>().ok()?),
        }
    }

    /// Returns the wire names nearest to one that nobody has.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let wanted = name.to_ascii_lowercase();
        let mut scored: Vec<(f64, &str)> = self
            .tools
            .values()
            .map(|it| {
                (
                    strsim::normalized_damerau_levenshtein(
                        &wanted,
                        &it.wire.as_str().to_ascii_lowercase(),
                    ),
                    it.wire.as_str(),
                )
            })
            .filter(|(score, _)| *score >= 0.4)
            .collect();
        scored.sort_by(|one, two| two.0.total_cmp(&one.0));
        scored.into_iter().take(NEAREST_NAMES).map(|(_, wire)| wire.to_owned()).collect()
    }

    /// Returns the tools of a selection, always as a list.
    ///
    /// # Errors
    ///
    /// Fails naming the first name that is not there.
    pub fn select(&self, selection: &Selection) -> Result<Vec<Registered>, RegistryError> {
        match selection {
            Selection::All => Ok(self.tools.values().cloned().collect()),
            Selection::None => Ok(Vec::new()),
            Selection::Named(names) => names
                .iter()
                .map(|name| {
                    self.find(name).cloned().ok_or_else(|| RegistryError::Unknown {
                        name: name.clone(),
                        nearest: self.nearest(name),
                    })
                })
                .collect(),
        }
    }

    /// Returns a snapshot of no other tools than those of a selection, in its order: whoever is told of these calls nothing
    /// else.
    ///
    /// # Errors
    ///
    /// Fails naming the first name that is not there.
    pub fn only(self: &Arc<Self>, selection: &Selection) -> Result<Arc<Self>, RegistryError> {
        if *selection == Selection::All {
            return Ok(Arc::clone(self));
        }
        let chosen = self.select(selection)?.into_iter();
        let tools = chosen.map(|it| (it.descriptor.name().clone(), it)).collect();
        Ok(Arc::new(Self { generation: self.generation, tools, wire: self.wire.clone() }))
    }

    /// Returns how somebody who is shown these tools asks for one of them with these arguments: by `own` where that does
    /// it, else by the tool itself, else by the alias that fixes most of them.
    pub(crate) fn wording(
        &self,
        own: &QualifiedName,
        tool: &QualifiedName,
        arguments: Map<String, Value>,
    ) -> Option<Wording> {
        let does_it = |it: &&Registered| {
            let is_tool = it.alias_of.as_ref().unwrap_or_else(|| it.descriptor.name()) == tool;
            is_tool && it.fixed.iter().all(|(name, value)| arguments.get(name) == Some(value))
        };
        let own = self.tools.get(own).filter(does_it);
        let plain = || self.tools.get(tool).filter(does_it);
        let alias = || self.tools.values().filter(does_it).max_by_key(|it| it.fixed.len());
        let (is_own, chosen) = (own.is_some(), own.or_else(plain).or_else(alias)?);
        let mut arguments = arguments;
        arguments.retain(|name, _| !chosen.fixed.contains_key(name));
        Some(Wording { name: chosen.wire.clone(), is_own, arguments })
    }

    fn add(&mut self, added: NewTool, on_conflict: OnConflict) -> Result<(), RegistryError> {
        let name = added.descriptor.name().clone();
        if let Some(holder) = self.tools.get(&name)
            && on_conflict == OnConflict::Reject
        {
            let holder = holder.source().to_owned();
            let newcomer = added.waking.source().name().to_owned();
            return Err(RegistryError::Taken { name, holder, newcomer });
        }
        let NewTool { tool, descriptor, alias_of, fixed, waking } = added;
        let wire = self.wire.assign(&name);
        self.tools.insert(name, Registered { tool, descriptor, wire, alias_of, fixed, waking });
        Ok(())
    }
}

struct NewTool {
    tool: Arc<dyn Tool>,
    descriptor: Arc<Descriptor>,
    alias_of: Option<QualifiedName>,
    fixed: Arc<Map<String, Value>>,
    waking: Arc<Waking>,
}

/// One step of how a registry came to be, kept so that another branch can take it again.
#[derive(Clone)]
enum Step {
    Source { waking: Arc<Waking>, on_conflict: OnConflict },
    Alias { alias: Alias, of: QualifiedName, on_conflict: OnConflict },
    Show(Selection),
}

/// How a registry is built: its sources and what was done with them, in order.
#[derive(Clone)]
pub struct Recipe {
    steps: Arc<[Step]>,
}

impl Recipe {
    /// Builds a registry for a context.
    ///
    /// # Errors
    ///
    /// Fails when a source cannot build for it.
    pub fn build(&self, context: BuildContext) -> Result<Registry, RegistryError> {
        let mut state = State { context, ..State::default() };
        self.steps.iter().cloned().try_for_each(|step| state.take(step))?;
        Ok(Registry { state: Mutex::new(state) })
    }
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recipe({} steps)", self.steps.len())
    }
}

/// The tools visible to one branch.
///
/// A registry keeps the sources and the order they were registered in, never closures over a branch: a
/// [clone for another branch](Registry::clone_for) builds its tools again. Reading never registers, and a failed
/// registration changes nothing.
#[derive(Default)]
pub struct Registry {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    context: BuildContext,
    steps: Vec<Step>,
    snapshot: watch::Sender<Arc<Snapshot>>,
}

/// Somebody who hears of each change of a registry.
#[derive(Debug, Clone)]
pub struct Watching(watch::Receiver<Arc<Snapshot>>);

impl Watching {
    /// Waits for the next change and returns the tools as they are then; nothing, once the registry is gone.
    ///
    /// Changes that follow one another quickly may come as one.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropping the future misses nothing.
    pub async fn changed(&mut self) -> Option<Arc<Snapshot>> {
        self.0.changed().await.ok()?;
        Some(Arc::clone(&self.0.borrow_and_update()))
    }
}

impl Registry {
    /// Makes an empty registry for a context.
    pub fn new(context: BuildContext) -> Self {
        Self { state: Mutex::new(State { context, ..State::default() }) }
    }

    /// Registers all tools of a source, or none of them.
    ///
    /// # Errors
    ///
    /// Fails when the source cannot build, or a name is taken and `on_conflict` says to reject.
    pub fn register(
        &self,
        source: Arc<dyn ToolSource>,
        on_conflict: OnConflict,
    ) -> Result<(), RegistryError> {
        self.lock().take(Step::Source { waking: Arc::new(Waking::new(source)), on_conflict })
    }

    /// Registers one tool that any branch may share.
    ///
    /// # Errors
    ///
    /// Fails when its name is taken and `on_conflict` says to reject.
    pub fn register_tool(
        &self,
        tool: Arc<dyn Tool>,
        on_conflict: OnConflict,
    ) -> Result<(), RegistryError> {
        let name = tool.descriptor().name().to_string();
        self.register(Arc::new(FixedTools::shared(name, vec![tool])), on_conflict)
    }

    /// Registers an alias of a tool that is there.
    ///
    /// # Errors
    ///
    /// Fails when the tool is not there, the fixed arguments do not fit it, or the name is taken.
    pub fn register_alias(
        &self,
        alias: Alias,
        of: &QualifiedName,
        on_conflict: OnConflict,
    ) -> Result<(), RegistryError> {
        self.lock().take(Step::Alias { alias, of: of.clone(), on_conflict })
    }

    /// Takes everything out of view that is not of the selection, and puts what is into its order.
    ///
    /// An alias goes on to work when the tool behind it is out of view.
    ///
    /// # Errors
    ///
    /// Fails naming the first name that is not there.
    pub fn show(&self, selection: Selection) -> Result<(), RegistryError> {
        self.lock().take(Step::Show(selection))
    }

    /// Returns the tools as they are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.lock().snapshot.borrow())
    }

    /// Returns somebody who hears of each change from now on.
    pub fn watch(&self) -> Watching {
        Watching(self.lock().snapshot.subscribe())
    }

    /// Makes the registry of another branch by building every tool again for it.
    ///
    /// # Errors
    ///
    /// Fails naming all tools that belong to one branch, before anything is built.
    pub fn clone_for(&self, context: BuildContext) -> Result<Self, RegistryError> {
        self.recipe()?.build(context)
    }

    /// Returns how this registry is built, as it is now, to build another one later.
    ///
    /// # Errors
    ///
    /// Fails naming all tools that belong to one branch.
    pub fn recipe(&self) -> Result<Recipe, RegistryError> {
        let (steps, snapshot) = {
            let state = self.lock();
            (state.steps.clone(), Arc::clone(&state.snapshot.borrow()))
        };
        let names: Vec<String> = snapshot
            .tools()
            .filter(|it| it.waking.source().scope() == Scope::SingleUse)
            .map(|it| it.descriptor.name().to_string())
            .collect();
        if !names.is_empty() {
            return Err(RegistryError::NotCloneable { names });
        }
        Ok(Recipe { steps: steps.into() })
    }

    /// Puts every source to sleep, in the reverse order of registration.
    pub async fn deactivate(&self) {
        let steps = self.lock().steps.clone();
        for step in steps.iter().rev() {
            if let Step::Source { waking, .. } = step {
                waking.sleep().await;
            }
        }
    }

    /// A panic while the state was locked left the old state in place: changes are made to a copy.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, step: Step) -> Result<(), RegistryError> {
        let mut next = Snapshot::clone(&self.snapshot.borrow());
        match &step {
            Step::Source { waking, on_conflict } => {
                for tool in waking.source().build(&self.context)? {
                    let descriptor = tool.descriptor();
                    let waking = Arc::clone(waking);
                    let (alias_of, fixed) = (None, Arc::default());
                    let added = NewTool { tool, descriptor, alias_of, fixed, waking };
                    next.add(added, *on_conflict)?;
                }
            }
            Step::Alias { alias, of, on_conflict } => {
                let behind = next.tools.get(of).ok_or_else(|| RegistryError::NoSuchTool {
                    alias: alias.name.clone(),
                    name: of.clone(),
                })?;
                // An alias of an alias stands for the tool at the end, so that rules see one canonical name.
                let alias_of = behind.alias_of.clone().unwrap_or_else(|| of.clone());
                let (waking, tool) = (Arc::clone(&behind.waking), alias.over(&behind.tool)?);
                let descriptor = tool.descriptor();
                let mut fixed = Map::clone(&behind.fixed);
                fixed.extend(alias.fixed.clone());
                let (alias_of, fixed) = (Some(alias_of), Arc::new(fixed));
                let added = NewTool { tool, descriptor, alias_of, fixed, waking };
                next.add(added, *on_conflict)?;
            }
            Step::Show(selection) => {
                let shown = next.select(selection)?.into_iter();
                next.tools = shown.map(|it| (it.descriptor.name().clone(), it)).collect();
            }
        }
        next.generation += 1;
        self.snapshot.send_replace(Arc::new(next));
        self.steps.push(step);
        Ok(())
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let snapshot = self.snapshot();
        write!(f, "Registry({} tools, generation {})", snapshot.tools.len(), snapshot.generation)
    }
}
