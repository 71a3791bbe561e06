//! Locks over what calls write.
//!
//! A request is granted as a whole or waits as a whole, in the order of arrival: a later one may pass an earlier one
//! only where the two do not conflict. Nothing is held while waiting, so no two calls can wait for each other; and an
//! earlier request cannot starve, for whatever conflicts with it queues behind it.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_protocol::{Access, CallId};
use tokio::sync::oneshot;

/// The identity of a directory: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

/// What a lock is about: a name in a directory, whether or not something of that name exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockKey {
    /// The directory, by identity, so that every spelling of a path means the same lock.
    pub directory: DirectoryId,
    /// The name in it, byte by byte.
    pub leaf: Arc<[u8]>,
}

/// What a call lays claim to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The name in question.
    pub key: LockKey,
    /// The identity of the thing itself, where it is a directory.
    pub own: Option<DirectoryId>,
    /// The directories above it, up to its root.
    pub above: Arc<[DirectoryId]>,
    /// What the call does with it.
    pub access: Access,
}

impl Claim {
    fn lies_beneath(&self, other: &Claim) -> bool {
        other.own.is_some_and(|own| self.above.contains(&own))
    }

    /// Tells whether the order of two calls with these claims matters: one of them writes what the other touches.
    ///
    /// Looking at a directory counts as looking at everything beneath it.
    pub fn is_ordered_with(&self, other: &Claim) -> bool {
        (self.access.writes() || other.access.writes())
            && (self.key == other.key || self.lies_beneath(other) || other.lies_beneath(self))
    }

    /// Tells whether two calls with these claims exclude each other. Reads take no locks.
    pub fn excludes(&self, other: &Claim) -> bool {
        let tree = |claim: &Claim| claim.access == Access::WriteTree;
        self.access.writes()
            && other.access.writes()
            && (self.key == other.key
                || (tree(other) && self.lies_beneath(other))
                || (tree(self) && other.lies_beneath(self)))
    }
}

/// Who wants or holds locks: a call, and the calls whose body it runs in, whose locks it inherits.
#[derive(Debug, Clone)]
pub(crate) struct Owner {
    pub(crate) call: CallId,
    pub(crate) ancestors: Arc<[CallId]>,
}

/// The locks of one dispatch.
#[derive(Debug, Clone, Default)]
pub struct LockTable {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    held: BTreeMap<u64, Request>,
    waiting: BTreeMap<u64, Waiting>,
}

#[derive(Debug, Clone)]
struct Request {
    owner: Owner,
    claims: Arc<[Claim]>,
}

#[derive(Debug)]
struct Waiting {
    request: Request,
    granted: oneshot::Sender<()>,
}

impl Request {
    fn excludes(&self, other: &Request) -> bool {
        let related = |one: &Request, two: &Request| one.owner.ancestors.contains(&two.owner.call);
        !related(self, other)
            && !related(other, self)
            && self.claims.iter().any(|claim| other.claims.iter().any(|it| claim.excludes(it)))
    }
}

impl State {
    /// Grants whatever can be granted now, in the order of arrival.
    fn settle(&mut self) {
        let mut blocked: HashSet<u64> = HashSet::new();
        let tickets: Vec<u64> = self.waiting.keys().copied().collect();
        for ticket in tickets {
            let Some(waiting) = self.waiting.get(&ticket) else { continue };
            let request = &waiting.request;
            let inherits =
                self.held.values().any(|held| request.owner.ancestors.contains(&held.owner.call));
            let free = self.held.values().all(|held| !held.excludes(request))
                && (inherits
                    || self
                        .waiting
                        .iter()
                        .filter(|(earlier, _)| blocked.contains(*earlier))
                        .all(|(_, earlier)| !earlier.request.excludes(request)));
            if !free {
                blocked.insert(ticket);
                continue;
            }
            if let Some(Waiting { request, granted }) = self.waiting.remove(&ticket) {
                self.held.insert(ticket, request);
                if granted.send(()).is_err() {
                    // Whoever waited is gone; its guard was dropped before this grant and will not release it.
                    self.held.remove(&ticket);
                }
            }
        }
    }
}

impl LockTable {
    /// Makes a table without locks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until the claims that write are this owner's alone.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropping the future withdraws the request.
    pub(crate) async fn acquire(&self, owner: Owner, claims: &[Claim]) -> LockGuard {
        let claims: Arc<[Claim]> = claims.iter().filter(|it| it.access.writes()).cloned().collect();
        if claims.is_empty() {
            return LockGuard { table: None, ticket: 0 };
        }
        let (granted, wait) = oneshot::channel();
        let guard = {
            let mut state = self.lock();
            let ticket = state.next;
            state.next += 1;
            state.waiting.insert(ticket, Waiting { request: Request { owner, claims }, granted });
            state.settle();
            LockGuard { table: Some(self.clone()), ticket }
        };
        // The sender lives in the table for as long as the guard does, so this resolves by a grant only.
        let _ = wait.await;
        guard
    }

    /// Nothing panics while the state is locked; a poisoned state is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks that are held until this is dropped.
#[derive(Debug)]
pub struct LockGuard {
    table: Option<LockTable>,
    ticket: u64,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        if let Some(table) = self.table.take() {
            let mut state = table.lock();
            state.held.remove(&self.ticket);
            state.waiting.remove(&self.ticket);
            state.settle();
        }
    }
}

#[cfg(test)]
mod tests;
