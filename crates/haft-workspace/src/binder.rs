//! The workspace behind the call path: slots are bound to places, and a body finds its view and its places in the call.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

use haft_policy::PathFilter as RuleFilter;
use haft_protocol::{Access, BindingRecord, CallId, ErrorKind, Failure, LogicalPath, Notice};
use haft_tool::ports::none::NoEffects;
use haft_tool::ports::{BindRefusal, Binder, Bound, Effects, Port, SlotValue};
use haft_tool::{
    BoxFuture, Call, Claim, DirectoryId, Existence, Extensions, Links, LockKey, Slot, SlotSource,
    blocking,
};

use crate::capture::Before;
use crate::error::PathError;
use crate::file::{FileId, FileKind};
use crate::resolve::{Naming, Resolver};
use crate::resolved::Resolved;
use crate::skipped::{Hidden, HiddenCount, Skipped};
use crate::view::{PathFilter, View};
use crate::workspace::{Want, Workspace};
use crate::writer::deed::Account;
use crate::writer::step::{Step, Watch};
use crate::writer::{SlotPlace, WritePlace, Writer};

/// Binds the slots of calls to places of a workspace.
#[derive(Clone)]
pub struct WorkspaceBinder {
    workspace: Workspace,
    effects: Arc<dyn Effects>,
    watch: Watch,
}

impl WorkspaceBinder {
    /// Makes a binder for a workspace. What its calls change is not kept.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace, effects: Arc::new(NoEffects), watch: Watch::default() }
    }

    /// Keeps what calls take away, and puts their changes on record, with `effects`.
    #[must_use]
    pub fn with_effects(mut self, effects: Arc<dyn Effects>) -> Self {
        self.effects = effects;
        self
    }

    /// Tells somebody of each step of each change, as a test wants to know that ends the process there.
    #[must_use]
    pub fn watched(mut self, watch: impl Fn(Step) + Send + Sync + 'static) -> Self {
        self.watch = Watch::new(watch);
        self
    }
}

impl fmt::Debug for WorkspaceBinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkspaceBinder({:?}, {})", self.workspace, self.effects.describe())
    }
}

/// What a body finds of the workspace in its call.
pub trait WorkspaceCall {
    /// Returns the workspace as this call may see it.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Internal`] when the call was not bound by a [`WorkspaceBinder`].
    fn view(&self) -> Result<View, Failure>;

    /// Returns the workspace as this call may change it.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Internal`] when the call was not bound by a [`WorkspaceBinder`].
    fn writer(&self) -> Result<Writer, Failure>;

    /// Returns the places a slot is bound to: none where its argument was left out, several where it is a list.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Internal`] when the call was not bound by a [`WorkspaceBinder`].
    fn places(&self, slot: &str) -> Result<Vec<Arc<Resolved>>, Failure>;

    /// Returns the one place a slot is bound to.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Internal`] when the slot is not bound, or to several places.
    fn resolved(&self, slot: &str) -> Result<Arc<Resolved>, Failure>;
}

impl WorkspaceCall for Call {
    fn view(&self) -> Result<View, Failure> {
        Ok(installed(self)?.writer.view.clone())
    }

    fn writer(&self) -> Result<Writer, Failure> {
        Ok(installed(self)?.writer.clone())
    }

    fn places(&self, slot: &str) -> Result<Vec<Arc<Resolved>>, Failure> {
        let places = installed(self)?.places.clone();
        Ok(places.iter().filter(|it| it.slot == slot).map(|it| Arc::clone(&it.place)).collect())
    }

    fn resolved(&self, slot: &str) -> Result<Arc<Resolved>, Failure> {
        match <[_; 1]>::try_from(self.places(slot)?) {
            Ok([place]) => Ok(place),
            Err(places) => {
                let text =
                    format!("the slot `{slot}` is bound to {} places, not one", places.len());
                Err(Failure::new(ErrorKind::Internal, text))
            }
        }
    }
}

fn installed(call: &Call) -> Result<Arc<Installed>, Failure> {
    call.extension()
        .ok_or_else(|| Failure::new(ErrorKind::Internal, "this call was made without a workspace"))
}

/// What is put into a call's extensions.
struct Installed {
    writer: Writer,
    places: Arc<[BoundPlace]>,
}

#[derive(Debug)]
struct BoundPlace {
    slot: String,
    access: Access,
    existence: Existence,
    place: Arc<Resolved>,
}

/// What the slots of one call are bound to.
pub(crate) struct Bindings {
    workspace: Workspace,
    effects: Arc<dyn Effects>,
    watch: Watch,
    /// The number of the call's next change.
    next: Arc<AtomicU32>,
    places: Arc<[BoundPlace]>,
    records: Vec<BindingRecord>,
    claims: Vec<Claim>,
    /// What the body that runs, or ran last, did not get to see.
    hidden: Arc<HiddenCount>,
    /// How the trees that the call may change anything in stood before it ran.
    before: Mutex<Option<Before>>,
    /// What a look at these trees has to say.
    said: Mutex<Vec<Notice>>,
}

impl Port for WorkspaceBinder {
    fn describe(&self) -> String {
        let roots: Vec<String> =
            self.workspace.real_roots().map(|it| it.display().to_string()).collect();
        let effects = self.effects.describe();
        format!("the workspace of {}; record of changes: {effects}", roots.join(", "))
    }
}

impl Binder for WorkspaceBinder {
    fn bind(&self, values: Vec<SlotValue>) -> BoxFuture<'_, Result<Arc<dyn Bound>, BindRefusal>> {
        if values.is_empty() {
            let nothing: Arc<dyn Bound> = Arc::new(Bindings::of(self.clone(), Vec::new()));
            return Box::pin(std::future::ready(Ok(nothing)));
        }
        let binder = self.clone();
        Box::pin(async move {
            let bound = blocking(move || {
                let workspace = &binder.workspace;
                let mut places = Vec::with_capacity(values.len());
                for value in values {
                    match value.slot.source {
                        SlotSource::Argument(_) => {
                            places.push((place(workspace, &value)?, value));
                        }
                        SlotSource::Roots => {
                            for root in workspace.root_places()? {
                                let given = root.logical().to_string();
                                if value.slot.access.writes() {
                                    workspace.check_writable(&root, &given)?;
                                }
                                if value.slot.access.is_of_tree() {
                                    workspace.check_tree(&root, &given)?;
                                }
                                places.push((root, SlotValue { given, ..value.clone() }));
                            }
                        }
                    }
                }
                Ok(Arc::new(Bindings::of(binder, places)) as Arc<dyn Bound>)
            });
            bound.await.map_err(refusal)
        })
    }
}

fn refusal(error: PathError) -> BindRefusal {
    match error.denial() {
        Some(denial) => BindRefusal::Denied(denial),
        None => BindRefusal::Failed(error.into()),
    }
}

/// Follows the path to a slot and checks what the slot's tool wants to do there.
///
/// Whether it is there comes out later, see [`Bound::settle`]: policy decides first.
fn place(workspace: &Workspace, value: &SlotValue) -> Result<Resolved, PathError> {
    let naming = match value.slot.existence {
        Existence::Required => Naming::Nothing,
        Existence::Optional => Naming::All,
    };
    let resolver = Resolver::new(workspace, &value.given, naming);
    let place = resolver.keeping_link(value.slot.links == Links::Kept).resolve_text(Want::Any)?;
    if value.slot.access.writes() {
        for place in [Some(&place), place.link()].into_iter().flatten() {
            workspace.check_writable(place, &value.given)?;
        }
    }
    if value.slot.access.is_of_tree() {
        workspace.check_tree(&place, &value.given)?;
    }
    Ok(place)
}

impl Bindings {
    fn of(binder: WorkspaceBinder, values: Vec<(Resolved, SlotValue)>) -> Self {
        let mut places = Vec::with_capacity(values.len());
        let mut records = Vec::with_capacity(values.len());
        let mut claims = Vec::with_capacity(values.len());
        for (place, SlotValue { slot, given, .. }) in values {
            // What writes may take the link for itself, so that is decided about and locked as well.
            let link = place.link().filter(|_| slot.access.writes());
            for place in [Some(&place), link].into_iter().flatten() {
                claims.push(claim(place, slot.access));
                records.push(BindingRecord {
                    slot: slot.name.clone(),
                    given: given.clone(),
                    path: place.logical().clone(),
                    access: slot.access,
                });
            }
            let Slot { name: slot, access, existence, .. } = slot;
            places.push(BoundPlace { slot, access, existence, place: Arc::new(place) });
        }
        let WorkspaceBinder { workspace, effects, watch } = binder;
        Self {
            workspace,
            effects,
            watch,
            next: Arc::default(),
            places: shared(places),
            records,
            claims,
            hidden: Arc::default(),
            before: Mutex::default(),
            said: Mutex::default(),
        }
    }
}

impl Bindings {
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the trees that the call may change anything in.
    pub(crate) fn trees(&self) -> Vec<Arc<Resolved>> {
        let is_tree = |it: &&BoundPlace| it.access == Access::WriteTree;
        self.places.iter().filter(is_tree).map(|it| Arc::clone(&it.place)).collect()
    }

    pub(crate) fn set_before(&self, before: Before) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    }

    pub(crate) fn take_before(&self) -> Option<Before> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn say(&self, notices: Vec<Notice>) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).extend(notices);
    }

    /// Returns where the changes of the call go on record.
    pub(crate) fn account(&self, call: CallId) -> Account {
        Account {
            effects: Arc::clone(&self.effects),
            call,
            next: Arc::clone(&self.next),
            watch: self.watch.clone(),
        }
    }
}

/// Shares items; where there are none, nothing is allocated.
fn shared<T>(items: Vec<T>) -> Arc<[T]> {
    if items.is_empty() { Arc::default() } else { items.into() }
}

fn claim(place: &Resolved, access: Access) -> Claim {
    let directory = |id: &FileId| DirectoryId { device: id.device, inode: id.inode };
    let above: Vec<DirectoryId> = place.above().iter().map(directory).collect();
    let names: Vec<&[u8]> = place
        .missing()
        .iter()
        .map(|name| name.as_bytes())
        .chain(place.leaf().map(OsStrExt::as_bytes))
        .collect();
    let key = LockKey {
        // A place always has a directory.
        directory: above.first().copied().unwrap_or(DirectoryId { device: 0, inode: 0 }),
        leaf: names.join(&b'/').into(),
    };
    let own = place.id().filter(|_| place.kind() == Some(FileKind::Directory));
    Claim {
        key,
        own: own.as_ref().map(directory),
        // A root has nothing above it.
        above: if place.leaf().is_some() { above.into() } else { [].into() },
        access,
    }
}

impl Bound for Bindings {
    fn records(&self) -> &[BindingRecord] {
        &self.records
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }

    fn settle<'a>(&'a self, filter: &'a RuleFilter) -> BoxFuture<'a, Result<(), BindRefusal>> {
        let is_missing =
            |it: &BoundPlace| it.existence == Existence::Required && it.place.kind().is_none();
        let Some(position) = self.places.iter().position(is_missing) else {
            return Box::pin(std::future::ready(Ok(())));
        };
        let (workspace, places) = (self.workspace.clone(), Arc::clone(&self.places));
        let filter = filter.clone();
        Box::pin(async move {
            blocking(move || {
                let Some(missing) = places.get(position) else { return Ok(()) };
                let sees = |path: &LogicalPath| filter.sees(path);
                let naming = Naming::Seen(&sees);
                let found = workspace.again(&missing.place, Want::Existing, naming);
                match found {
                    // It came to be meanwhile; the look at what was bound notices that.
                    Ok(_) => Ok(()),
                    Err(error) => Err(refusal(error)),
                }
            })
            .await
        })
    }

    fn is_current(&self) -> BoxFuture<'_, bool> {
        let (workspace, places) = (self.workspace.clone(), Arc::clone(&self.places));
        Box::pin(async move {
            if places.is_empty() {
                return true;
            }
            blocking(move || places.iter().all(|it| workspace.revalidate(&it.place).is_ok())).await
        })
    }

    fn install(&self, call: CallId, filter: RuleFilter, extensions: &mut Extensions) {
        let workspace = self.workspace.clone();
        let filter: Option<PathFilter> =
            if filter.is_open() { None } else { Some(Arc::new(move |path| filter.sees(path))) };
        self.hidden.begin_anew();
        let view = View::counting(workspace, filter, Arc::clone(&self.hidden));
        let places = Arc::clone(&self.places);
        let writes = |it: &&BoundPlace| it.access.writes();
        let slot_place = |it: &BoundPlace| SlotPlace {
            slot: it.slot.clone(),
            place: WritePlace(Arc::clone(&it.place)),
        };
        let writer = Writer {
            view,
            places: shared(places.iter().filter(writes).map(slot_place).collect()),
            account: self.account(call),
        };
        extensions.insert(Installed { writer, places });
    }

    fn notices(&self) -> Vec<Notice> {
        let mut notices: Vec<Notice> =
            self.places.iter().filter_map(|it| it.place.notice()).collect();
        let hidden = self.hidden.get();
        if hidden != Hidden::default() {
            notices.extend(Skipped { hidden, ..Skipped::default() }.notices());
        }
        notices.append(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner));
        notices
    }
}

impl fmt::Debug for Bindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.places.iter()).finish()
    }
}
