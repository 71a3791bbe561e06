//! Following a path, name by name.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_protocol::{LogicalPath, limits};
use rustix::io::Errno;

use crate::error::PathError;
use crate::file::{FileId, FileKind, Metadata};
use crate::name::{self, Alike};
use crate::protection::Protected;
use crate::protection::own::{self, OwnPlaces};
use crate::resolved::Resolved;
use crate::sys::Dir;
use crate::text::{PathText, Step};
use crate::twins::Twins;
use crate::workspace::{FIRST_ROOT, Want, Workspace};

/// How often one name is looked at again that changed between looking and opening.
const DISTURBED: usize = 16;

/// A walk along one path. It stands in a directory that it holds, and it got there through directories that it holds.
pub(crate) struct Resolver<'a> {
    workspace: &'a Workspace,
    /// The path as given.
    text: &'a str,
    /// The same, made harmless.
    given: String,
    root: usize,
    /// The directories from below the root to where the walk stands. `..` drops the last: the walk never asks a
    /// directory what is above it.
    below: Vec<Level>,
    /// The names of those directories.
    real: PathBuf,
    /// What is left to do, the next step last.
    steps: Vec<Pending>,
    wants_directory: bool,
    hops: u32,
    /// The link that was followed last.
    link: Option<String>,
    is_folded: bool,
    /// The link that the path names, where its last name is one.
    named_link: Option<Arc<Resolved>>,
    naming: Naming<'a>,
    /// Whether the walk ends at a link that the path names.
    keeps_link: bool,
    own: OwnPlaces,
}

/// Which names beside the one that is missing an error may tell.
#[derive(Clone, Copy)]
pub(crate) enum Naming<'a> {
    /// None: nobody has decided yet what the caller may see.
    Nothing,
    /// All that are not protected.
    All,
    /// Those that the caller may see, and that are not protected.
    Seen(&'a (dyn Fn(&LogicalPath) -> bool + Sync)),
}

struct Level {
    dir: Arc<Dir>,
    id: FileId,
}

struct Pending {
    step: Step,
    /// Whether the caller wrote it, and not a link.
    is_given: bool,
}

/// Where a walk ends.
enum End {
    /// At a name in the directory where it stands.
    Leaf(OsString, Metadata),
    /// At names of which not even the first is there; the last is the leaf.
    Missing(Vec<OsString>),
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(workspace: &'a Workspace, text: &'a str, naming: Naming<'a>) -> Self {
        Self {
            workspace,
            text,
            given: haft_text::visible_line(text).into_owned(),
            root: FIRST_ROOT,
            below: Vec::new(),
            real: PathBuf::new(),
            steps: Vec::new(),
            wants_directory: false,
            hops: 0,
            link: None,
            is_folded: false,
            named_link: None,
            naming,
            keeps_link: false,
            own: workspace.protection().own_places(),
        }
    }

    /// Ends at a link that the path names, wherever it points.
    pub(crate) fn keeping_link(mut self, keeps_link: bool) -> Self {
        self.keeps_link = keeps_link;
        self
    }

    /// Follows what a caller wrote.
    pub(crate) fn resolve_text(mut self, want: Want) -> Result<Resolved, PathError> {
        self.push(PathText::of_text(self.text)?, true)?;
        self.run(want)
    }

    /// Follows a link that was met in a listing: names from a root that are real, and the link's last.
    pub(crate) fn resolve_met(mut self, root: usize, path: &Path) -> Result<Resolved, PathError> {
        self.root = root;
        self.push(PathText::of_link(path.as_os_str()), false)?;
        self.run(Want::Existing)
    }

    /// Puts steps before what is left to do.
    fn push(&mut self, steps: PathText, is_given: bool) -> Result<(), PathError> {
        // A slash at the end of a link in the middle of a path says nothing new.
        self.wants_directory |= steps.wants_directory && self.steps.is_empty();
        let mut steps_in_root = steps.steps;
        if steps.is_absolute {
            let Some((root, rest)) = self.workspace.locate(&steps_in_root) else {
                return Err(self.outside(is_given));
            };
            self.root = root;
            self.below.clear();
            self.real.clear();
            steps_in_root = rest;
        }
        let pending = steps_in_root.into_iter().rev().map(|step| Pending { step, is_given });
        self.steps.extend(pending);
        Ok(())
    }

    fn run(mut self, want: Want) -> Result<Resolved, PathError> {
        loop {
            let end = match self.steps.pop() {
                Some(Pending { step: Step::Up, is_given }) => {
                    if self.below.pop().is_none() {
                        return Err(self.outside(is_given));
                    }
                    self.real.pop();
                    None
                }
                Some(Pending { step: Step::Name(name), is_given }) => {
                    self.go_to(name, is_given, want)?
                }
                // `..` was the last step: the place is the directory itself, seen from the one above it.
                None => match self.real.file_name().map(OsStr::to_owned) {
                    Some(name) => {
                        self.below.pop();
                        self.real.pop();
                        self.go_to(name, false, want)?
                    }
                    None => return self.at_root(),
                },
            };
            if let Some(end) = end {
                return self.at_end(end);
            }
        }
    }

    /// Goes to a name in the directory where the walk stands.
    fn go_to(
        &mut self,
        name: OsString,
        is_given: bool,
        want: Want,
    ) -> Result<Option<End>, PathError> {
        self.check_protection(&self.real, &name)?;
        let is_last = self.steps.is_empty();
        for _ in 0..DISTURBED {
            let metadata = match self.here()?.look(&name) {
                Err(Errno::NOENT) => return self.at_missing(name, is_given, want),
                looked => looked.map_err(|error| self.failed(&name, error))?,
            };
            let is_named_link = is_last && is_given && !self.wants_directory;
            match metadata.kind {
                FileKind::Link if is_named_link && self.keeps_link => {
                    return Ok(Some(End::Leaf(name, metadata)));
                }
                FileKind::Link => match self.here()?.read_link(&name) {
                    Ok(target) => {
                        if is_named_link {
                            self.named_link = Some(Arc::new(self.place_of(&name, metadata)?));
                        }
                        self.follow(&name, &target)?;
                        return Ok(None);
                    }
                    Err(Errno::INVAL | Errno::NOENT) => {}
                    Err(error) => return Err(self.failed(&name, error)),
                },
                FileKind::Directory if !is_last => match self.enter(&name) {
                    Ok(()) => return Ok(None),
                    Err(Entering::Refused(error)) => return Err(error),
                    Err(Entering::Failed(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => {}
                    Err(Entering::Failed(error)) => return Err(self.failed(&name, error)),
                },
                kind if kind != FileKind::Directory && (!is_last || self.wants_directory) => {
                    return Err(PathError::NotADirectory { path: self.path_of(&name), kind });
                }
                _ => return Ok(Some(End::Leaf(name, metadata))),
            }
        }
        Err(PathError::Changed { path: self.path_of(&name) })
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), Entering> {
        let dir = self.here().map_err(Entering::Refused)?.child(name).map_err(Entering::Failed)?;
        let id = dir.metadata().map_err(Entering::Failed)?.id;
        // Only what is mounted can be a view of processes.
        if self.above().first().is_none_or(|here| here.device != id.device) && dir.is_of_processes()
        {
            let name = name::shown(name).into_owned();
            let why = "it shows processes, whose files hold secrets";
            return Err(Entering::Refused(self.protected(Protected { name, why })));
        }
        self.check_own(name, self.own.is(id)).map_err(Entering::Refused)?;
        self.below.push(Level { dir: Arc::new(dir), id });
        self.real.push(name);
        Ok(())
    }

    /// Returns the place of a name in the directory where the walk stands.
    fn place_of(&self, name: &OsStr, metadata: Metadata) -> Result<Resolved, PathError> {
        Ok(Resolved {
            root: self.root,
            directory: Arc::clone(self.here()?),
            above: self.above().into(),
            directory_path: self.real.clone(),
            missing: Vec::new(),
            leaf: Some(name.to_owned()),
            metadata: Some(metadata),
            logical: self.workspace.logical(self.root, &self.real.join(name)),
            given: self.text.to_owned(),
            folded: None,
            link: None,
            keeps_link: true,
        })
    }

    fn follow(&mut self, name: &OsStr, target: &OsStr) -> Result<(), PathError> {
        self.hop()?;
        self.link = Some(self.path_of(name));
        self.push(PathText::of_link(target), false)
    }

    fn hop(&mut self) -> Result<(), PathError> {
        self.hops += 1;
        if self.hops > limits::LINK_HOPS {
            return Err(PathError::TooManyLinks { given: self.given.clone() });
        }
        Ok(())
    }

    fn at_missing(
        &mut self,
        name: OsString,
        is_given: bool,
        want: Want,
    ) -> Result<Option<End>, PathError> {
        let dir = Arc::clone(self.here()?);
        let text = name.to_str().filter(|_| is_given).map(ToOwned::to_owned);
        match text.as_deref().map_or(Alike::None, |text| name::alike(&dir, text)) {
            Alike::One(real) => {
                // Names that come and go could be found alike without end.
                self.hop()?;
                self.is_folded = true;
                self.steps.push(Pending { step: Step::Name(real), is_given });
                return Ok(None);
            }
            // Who may not hear the candidates yet hears of them when it is decided.
            Alike::Several(_) if want == Want::Any && matches!(self.naming, Naming::Nothing) => {}
            Alike::Several(names) => {
                let may_show = |name: &&OsString| self.may_name(name);
                let candidates: Vec<String> = names
                    .iter()
                    .filter(may_show)
                    .map(|name| name::spelled_out(&name::shown(name)))
                    .collect();
                return Err(PathError::Ambiguous { given: self.given.clone(), candidates });
            }
            Alike::None => {}
        }
        let mut names = vec![name];
        let mut goes_up = false;
        for pending in self.steps.iter().rev() {
            match &pending.step {
                Step::Name(name) => names.push(name.clone()),
                Step::Up => goes_up = true,
            }
        }
        let mut parent = self.real.clone();
        for name in &names {
            self.check_protection(&parent, name)?;
            parent.push(name);
        }
        if let Some(here) = self.above().first() {
            let name = names.last().map(OsString::as_os_str).unwrap_or_default();
            self.check_own(name, self.own.would_be(*here, &names))?;
        }
        if want == Want::Any && !goes_up {
            return Ok(Some(End::Missing(names)));
        }
        let name = names.first().map(OsString::as_os_str).unwrap_or_default();
        Err(PathError::NotFound {
            given: self.given.clone(),
            missing: self.path_of(name),
            link: self.link.clone().filter(|_| !is_given),
            nearest: name::near(&dir, &name::shown(name), |near| self.may_name(near))
                .iter()
                .map(|near| self.path_of(near))
                .collect(),
        })
    }

    /// Tells whether an error may name something in the directory where the walk stands.
    fn may_name(&self, name: &OsStr) -> bool {
        let is_seen = match self.naming {
            Naming::Nothing => false,
            Naming::All => true,
            Naming::Seen(sees) => sees(&self.workspace.logical(self.root, &self.real.join(name))),
        };
        is_seen && !self.is_protected(name)
    }

    fn at_root(self) -> Result<Resolved, PathError> {
        let dir = Arc::clone(self.here()?);
        let metadata = dir.metadata().map_err(|error| PathError::of_system(".", error))?;
        self.check_root()?;
        Ok(Resolved {
            root: self.root,
            directory: dir,
            above: self.above().into(),
            logical: self.workspace.logical(self.root, &self.real),
            directory_path: self.real,
            missing: Vec::new(),
            leaf: None,
            metadata: Some(metadata),
            given: self.text.to_owned(),
            folded: None,
            link: self.named_link,
            keeps_link: self.keeps_link,
        })
    }

    fn at_end(self, end: End) -> Result<Resolved, PathError> {
        let (mut names, metadata) = match end {
            End::Leaf(name, metadata) => (vec![name], Some(metadata)),
            End::Missing(names) => (names, None),
        };
        self.check_root()?;
        if let Some(metadata) = &metadata {
            let name = names.last().map(OsString::as_os_str).unwrap_or_default();
            self.check_own(name, self.own.is(metadata.id))?;
            self.check_twins(metadata)?;
        }
        let mut path = self.real.clone();
        path.extend(&names);
        let logical = self.workspace.logical(self.root, &path);
        let leaf = names.pop();
        Ok(Resolved {
            root: self.root,
            directory: Arc::clone(self.here()?),
            above: self.above().into(),
            directory_path: self.real,
            missing: names,
            leaf,
            metadata,
            given: self.text.to_owned(),
            folded: self.is_folded.then(|| name::spelled_out(logical.as_str())),
            link: self.named_link,
            keeps_link: self.keeps_link,
            logical,
        })
    }

    /// Returns the directory where the walk stands.
    fn here(&self) -> Result<&Arc<Dir>, PathError> {
        if let Some(level) = self.below.last() {
            return Ok(&level.dir);
        }
        let root = self.workspace.root(self.root).map(|root| &root.dir);
        root.ok_or_else(|| self.outside(true))
    }

    /// Returns the identities of the directories from where the walk stands up to the root.
    fn above(&self) -> Vec<FileId> {
        let root = self.workspace.root(self.root).map(|root| root.id);
        self.below.iter().rev().map(|level| level.id).chain(root).collect()
    }

    fn is_protected(&self, name: &OsStr) -> bool {
        self.workspace.protection().covers(&self.real, name)
    }

    fn check_protection(&self, parent: &Path, name: &OsStr) -> Result<(), PathError> {
        match self.workspace.protection().of_name(parent, name) {
            Some(protected) => Err(self.protected(protected)),
            None => Ok(()),
        }
    }

    /// Refuses what haft itself lives in.
    fn check_own(&self, name: &OsStr, why: Option<&'static str>) -> Result<(), PathError> {
        why.map_or(Ok(()), |why| Err(self.protected(own::protected(name, why))))
    }

    /// Refuses everything in a root that lies within what haft itself lives in.
    fn check_root(&self) -> Result<(), PathError> {
        let Some(root) = self.workspace.root(self.root) else { return Ok(()) };
        let name = root.path.file_name().unwrap_or_default();
        let why = root.around.iter().chain([&root.id]).find_map(|id| self.own.is(*id));
        self.check_own(name, why)
    }

    /// Refuses a file that has a protected name as well.
    fn check_twins(&self, metadata: &Metadata) -> Result<(), PathError> {
        let Some(root) = self.workspace.root(self.root) else { return Ok(()) };
        let protection = self.workspace.protection();
        if Twins::default().is_protected(metadata, &self.real, root, protection) {
            return Err(PathError::protected_twin(self.given.clone()));
        }
        Ok(())
    }

    fn path_of(&self, name: &OsStr) -> String {
        self.workspace.logical(self.root, &self.real.join(name)).to_string()
    }

    fn failed(&self, name: &OsStr, error: Errno) -> PathError {
        PathError::of_system(self.path_of(name), error)
    }

    fn protected(&self, protected: Protected) -> PathError {
        PathError::Protected { given: self.given.clone(), protected }
    }

    fn outside(&self, is_given: bool) -> PathError {
        PathError::Outside {
            given: self.given.clone(),
            link: self.link.clone().filter(|_| !is_given),
            roots: self.workspace.roots().map(|root| format!("`{root}`")).collect(),
        }
    }
}

/// Why a directory was not entered.
enum Entering {
    Refused(PathError),
    Failed(Errno),
}
