//! What a call changed beneath directories that it may change anything in: a look before, and one after.

mod compare;
mod scan;

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use haft_protocol::{
    CallId, Change, ChangeKind, ContentRef, EffectState, Evidence, FileState, LogicalPath, Notice,
    NoticeKind, limits,
};
use haft_tool::ports::{Bound, Capture, Checkpoints, Port, PortError};
use haft_tool::{BoxFuture, blocking};

use crate::binder::Bindings;
use crate::file::FileKind;
use crate::resolved::Resolved;
use crate::undo::is_same;
use crate::view::View;
use crate::workspace::{Want, Workspace};
use crate::writer::deed::{Account, root_path};
use crate::writer::standing::not_kept;

use compare::{Difference, differences};
use scan::{Scan, Seen};

/// Why a file that a command changed cannot be brought back.
const NOT_KEPT: &str =
    "what it held was not kept, for no tool had changed it before the command ran";

/// Why a file that a command made or changed is not touched again.
const TOO_MUCH: &str =
    "it could not be read, or too much changed at once to look at what all of it holds";

/// Why what only came into view is not taken away again.
const OLDER: &str =
    "it was made before the command ran, and ignore rules left it out or it lay elsewhere";

/// Why a directory that ignore rules leave out is left as it is.
const CLOSED: &str = "ignore rules leave it out, so what it holds was not looked at";

/// How much the times that the system puts on files lag behind its clock.
const COARSE: Duration = Duration::from_millis(20);

/// Looks at the trees that a call may change anything in, before it runs and after, and says what became different.
///
/// Files that tools have changed before are kept before the call runs, so that they can be brought back. Other files are
/// known by what the system tells of them; what they held is lost where they change, and the change says so.
///
/// Directories that ignore rules leave out may hold more than all the rest: it shows when they come or go, and where
/// something was made or removed in one or right below it, a notice names the directory. What it is, and what happens
/// deeper, is not looked at. What is protected is named in a notice where it changed, and never kept. The folders of version
/// control are not looked at.
///
/// It works on what a [`WorkspaceBinder`](crate::WorkspaceBinder) bound, and with the record of changes of that binder.
#[derive(Debug, Clone, Copy, Default)]
pub struct TreeScan;

/// How the trees of one call stood before it ran.
#[derive(Debug)]
pub(crate) struct Before {
    /// When nothing of the call can have happened yet.
    began: SystemTime,
    scan: Scan,
    /// Content that was kept, by path.
    kept: HashMap<LogicalPath, ContentRef>,
}

impl Port for TreeScan {
    fn describe(&self) -> String {
        "a look at the roots before and after a call that may change anything in them".to_owned()
    }
}

impl Checkpoints for TreeScan {
    fn save<'a>(
        &'a self,
        call: CallId,
        bound: &'a dyn Bound,
    ) -> BoxFuture<'a, Result<(), PortError>> {
        let Some(trees) = Trees::of(call, bound) else { return Box::pin(async { Ok(()) }) };
        Box::pin(async move {
            let before = blocking(move || trees.before()).await?;
            if let Some(bindings) = bindings(bound) {
                bindings.set_before(before);
            }
            Ok(())
        })
    }
}

impl Capture for TreeScan {
    fn changes<'a>(
        &'a self,
        call: CallId,
        bound: &'a dyn Bound,
    ) -> BoxFuture<'a, Result<Vec<Change>, PortError>> {
        let trees = Trees::of(call, bound);
        let before = bindings(bound).and_then(Bindings::take_before);
        let (Some(trees), Some(before)) = (trees, before) else {
            return Box::pin(async { Ok(Vec::new()) });
        };
        Box::pin(async move {
            let (changes, notices) = blocking(move || trees.after(&before)).await?;
            if let Some(bindings) = bindings(bound) {
                bindings.say(notices);
            }
            Ok(changes)
        })
    }
}

fn bindings(bound: &dyn Bound) -> Option<&Bindings> {
    (bound as &dyn Any).downcast_ref()
}

/// The trees that one call may change anything in.
struct Trees {
    workspace: Workspace,
    places: Vec<Arc<Resolved>>,
    account: Account,
}

impl Trees {
    fn of(call: CallId, bound: &dyn Bound) -> Option<Self> {
        let bindings = bindings(bound)?;
        let places = bindings.trees();
        let workspace = bindings.workspace().clone();
        (!places.is_empty()).then(|| Self { workspace, places, account: bindings.account(call) })
    }

    fn before(&self) -> Result<Before, PortError> {
        let began = SystemTime::now().checked_sub(COARSE).unwrap_or(SystemTime::UNIX_EPOCH);
        let scan = self.scan()?;
        let kept = self.keep_touched()?;
        Ok(Before { began, scan, kept })
    }

    fn scan(&self) -> Result<Scan, PortError> {
        let view = View::unfiltered(self.workspace.clone());
        let mut scan = Scan::default();
        for place in &self.places {
            scan.add(&view, place).map_err(|error| {
                PortError::with_source(
                    format!("`{}` cannot be looked through", place.logical()),
                    error,
                )
            })?;
        }
        Ok(scan)
    }

    /// Keeps what files hold that tools have changed before, as much as there is room for.
    fn keep_touched(&self) -> Result<HashMap<LogicalPath, ContentRef>, PortError> {
        let mut kept = HashMap::new();
        let mut left = limits::SCAN_KEPT_BYTES;
        for root in self.workspace.real_roots() {
            for path in self.account.effects.touched(&root.to_string_lossy())? {
                if kept.len() >= limits::SCAN_KEPT_FILES {
                    return Ok(kept);
                }
                let content = self.place(&path).and_then(|it| self.kept_at(&it, &mut left));
                if let Some(content) = content {
                    kept.insert(path, content);
                }
            }
        }
        Ok(kept)
    }

    fn place(&self, path: &LogicalPath) -> Option<Resolved> {
        let place = self.workspace.resolve(path.as_str(), Want::Existing).ok()?;
        place.link().is_none().then_some(place)
    }

    /// Keeps what a file holds. One that cannot be read is lost, and its change says so.
    fn kept_at(&self, place: &Resolved, left: &mut u64) -> Option<ContentRef> {
        let length = place.metadata.filter(|it| it.kind == FileKind::File)?.len;
        *left = left.checked_sub(length)?;
        let view = View::unfiltered(self.workspace.clone());
        let mut file = view.open(place).ok()?;
        self.account.effects.keep(&mut file).ok()
    }

    fn after(&self, before: &Before) -> Result<(Vec<Change>, Vec<Notice>), PortError> {
        let mut scan = self.scan()?;
        scan.look_again(&before.scan, &self.workspace);
        let mut notices = scan.notices();
        notices.extend(scan.unseen_changes(&before.scan));
        // A path that a file tool put on record in the same call is told by that.
        let recorded = self.account.effects.of_call(self.account.call)?;
        let is_recorded = |path: &LogicalPath| recorded.iter().any(|it| it.change.path == *path);
        let mut left = limits::SCAN_KEPT_BYTES;
        let mut records = Vec::new();
        let mut more = 0_u64;
        for difference in differences(&before.scan, &scan) {
            let path = self.workspace.logical(difference.root, &difference.path);
            if is_recorded(&path) {
                continue;
            }
            if records.len() >= limits::RECORD_CHANGES {
                more += 1;
                continue;
            }
            let root = root_path(&self.workspace, difference.root);
            let is_closed = before.scan.is_closed(difference.root, &difference.old)
                || scan.is_closed(difference.root, &difference.path);
            for mut change in self.change(path, &difference, before, &mut left) {
                if is_closed && !matches!(change.kind, ChangeKind::Moved { .. }) {
                    change.not_restorable = Some(CLOSED.to_owned());
                }
                let mut record = self.account.record(root, change);
                record.state = EffectState::Done;
                records.push(record);
            }
        }
        if more > 0 {
            let text = format!("{more} further changes were seen and are not told one by one");
            notices.push(Notice::new(NoticeKind::Skipped, text));
        }
        self.account.effects.announce(&records)?;
        Ok((records.into_iter().map(|it| it.change).collect(), notices))
    }

    /// Puts a difference into words. Nothing, where the content turns out to be the same; two, where something moved and is
    /// found to hold something else than before.
    fn change(
        &self,
        path: LogicalPath,
        difference: &Difference<'_>,
        before: &Before,
        left: &mut u64,
    ) -> Vec<Change> {
        let at = |path: &LogicalPath, kind, before, after, not_restorable| Change {
            path: path.clone(),
            kind,
            evidence: Evidence::Observed,
            before,
            after,
            not_restorable,
        };
        let (was, is) = (difference.was, difference.is);
        let old_path = self.workspace.logical(difference.root, &difference.old);
        let kept = before.kept.get(&old_path).copied();
        if let (Some(from), Some(seen)) = (&difference.from, is) {
            let from = self.workspace.logical(difference.root, from);
            let (after, why) = self.state(&path, seen, left);
            return match (kept, was) {
                // Length and times can be made to look as before.
                (Some(kept), Some(was)) if !holds(&after, &kept) => {
                    let old = FileState::File { content: Some(kept), mode: was.mode };
                    let lost = not_kept(&kept, &self.account);
                    vec![
                        at(&from, ChangeKind::Deleted, Some(old), None, lost),
                        at(&path, ChangeKind::Created, None, Some(after), why),
                    ]
                }
                _ => vec![at(&path, ChangeKind::Moved { from }, None, Some(after), None)],
            };
        }
        let old = was.map(|seen| match seen.kind {
            FileKind::File => FileState::File { content: kept, mode: seen.mode },
            FileKind::Directory => FileState::Directory { mode: seen.mode },
            FileKind::Link => FileState::Link { target: seen.target().to_owned() },
            _ => FileState::Other,
        });
        let (new, mut why) = match is {
            None => (None, None),
            Some(seen) if was.is_none() && self.may_be_older(&path, before) => {
                let content_unknown = &mut 0;
                (Some(self.state(&path, seen, content_unknown).0), Some(OLDER.to_owned()))
            }
            Some(seen) => {
                let (state, why) = self.state(&path, seen, left);
                (Some(state), why)
            }
        };
        if is_same(old.as_ref(), new.as_ref()) {
            return Vec::new();
        }
        if was.is_some_and(|seen| seen.kind == FileKind::File) {
            match &kept {
                Some(content) => why = why.or_else(|| not_kept(content, &self.account)),
                None => why = Some(NOT_KEPT.to_owned()),
            }
        }
        let kind = match (was, is) {
            (None, _) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        vec![at(&path, kind, old, new, why)]
    }

    /// Tells whether what stands at a path may have been there before the call began, and was not looked at.
    fn may_be_older(&self, path: &LogicalPath, before: &Before) -> bool {
        match self.place(path).and_then(|it| it.born()) {
            Some(born) => born < before.began,
            // The system does not remember: only a look that missed nothing can tell.
            None => !before.scan.missed_nothing(),
        }
    }

    /// Returns what stands at a path now, and why what was made of it could not be taken back safely.
    fn state(
        &self,
        path: &LogicalPath,
        seen: &Seen,
        left: &mut u64,
    ) -> (FileState, Option<String>) {
        match seen.kind {
            FileKind::File => {
                let content = self.place(path).and_then(|it| self.kept_at(&it, left));
                let why = content.is_none().then(|| TOO_MUCH.to_owned());
                (FileState::File { content, mode: seen.mode }, why)
            }
            FileKind::Directory => (FileState::Directory { mode: seen.mode }, None),
            FileKind::Link => (FileState::Link { target: seen.target().to_owned() }, None),
            _ => (FileState::Other, None),
        }
    }
}

/// Tells whether a file holds what was kept of one, or is no file whose content was looked at.
fn holds(state: &FileState, kept: &ContentRef) -> bool {
    match state {
        FileState::File { content, .. } => content.is_some_and(|it| it.digest == kept.digest),
        FileState::Directory { .. } | FileState::Link { .. } | FileState::Other => true,
    }
}
