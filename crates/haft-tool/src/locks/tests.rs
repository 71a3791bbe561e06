//! The table of locks against a model that is too simple to be wrong.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use haft_protocol::{Access, CallId};
use proptest::prelude::*;

use super::{Claim, DirectoryId, LockGuard, LockKey, LockTable, Owner};

/// Paths of a small tree; a path that others begin with is a directory.
const PATHS: [&str; 6] = ["a", "d", "d/f", "d/e", "d/e/g", "b"];
const ACCESSES: [Access; 3] = [Access::Read, Access::Write, Access::WriteTree];

fn identity(path: &str) -> DirectoryId {
    let inode = PATHS.iter().position(|it| *it == path).map_or(99, |position| position as u64);
    DirectoryId { device: 1, inode }
}

fn claim(path: &str, access: Access) -> Claim {
    let parts: Vec<&str> = path.split('/').collect();
    let above: Vec<DirectoryId> =
        (0..parts.len()).map(|depth| identity(&parts[..depth].join("/"))).collect();
    Claim {
        key: LockKey {
            directory: above[above.len() - 1],
            leaf: parts[parts.len() - 1].as_bytes().into(),
        },
        own: Some(identity(path)),
        above: above.into(),
        access,
    }
}

/// What the documentation says, in terms of paths alone.
fn conflict(one: (&str, Access), two: (&str, Access)) -> bool {
    let beneath = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    one.1.writes()
        && two.1.writes()
        && (one.0 == two.0
            || (two.1 == Access::WriteTree && beneath(one.0, two.0))
            || (one.1 == Access::WriteTree && beneath(two.0, one.0)))
}

#[derive(Debug, Clone)]
enum Step {
    Ask(usize, usize),
    GiveBack(usize),
    Withdraw(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..PATHS.len(), 0..ACCESSES.len()).prop_map(|(path, access)| Step::Ask(path, access)),
        2 => any::<prop::sample::Index>().prop_map(|it| Step::GiveBack(it.index(64))),
        1 => any::<prop::sample::Index>().prop_map(|it| Step::Withdraw(it.index(64))),
    ];
    prop::collection::vec(step, 1..60)
}

type Waiting = Pin<Box<dyn Future<Output = LockGuard>>>;

/// One request as both sides see it.
struct Request {
    what: (&'static str, Access),
    waiting: Option<Waiting>,
    held: Option<LockGuard>,
}

impl Request {
    fn poll(&mut self) {
        if let Some(waiting) = &mut self.waiting
            && let Poll::Ready(guard) =
                waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            self.held = Some(guard);
            self.waiting = None;
        }
    }
}

/// Says which requests the documentation lets through: those that conflict with nothing held and nothing that came
/// earlier and still waits.
fn model(requests: &[Request], granted: &mut Vec<bool>) {
    granted.resize(requests.len(), false);
    for index in 0..requests.len() {
        let alive = |at: usize| requests[at].held.is_some() || requests[at].waiting.is_some();
        if granted[index] || !alive(index) {
            continue;
        }
        let free =
            (0..requests.len()).filter(|other| *other != index && alive(*other)).all(|other| {
                let stands_before = granted[other] || other < index;
                !stands_before || !conflict(requests[index].what, requests[other].what)
            });
        granted[index] = free || !requests[index].what.1.writes();
    }
}

proptest! {
    #[test]
    fn locks_are_granted_exactly_as_documented(steps in steps()) {
        let table = LockTable::new();
        let mut requests: Vec<Request> = Vec::new();
        let mut granted: Vec<bool> = Vec::new();
        for step in steps {
            match step {
                Step::Ask(path, access) => {
                    let what = (PATHS[path], ACCESSES[access]);
                    let call = CallId::from_parts(0, requests.len() as u128);
                    let owner = Owner { call, ancestors: Arc::from([]) };
                    let table = table.clone();
                    let waiting: Waiting =
                        Box::pin(async move { table.acquire(owner, &[claim(what.0, what.1)]).await });
                    requests.push(Request { what, waiting: Some(waiting), held: None });
                }
                Step::GiveBack(at) => {
                    if let Some(request) = requests.get_mut(at) {
                        request.held = None;
                    }
                }
                Step::Withdraw(at) => {
                    if let Some(request) = requests.get_mut(at) {
                        request.waiting = None;
                    }
                }
            }
            requests.iter_mut().for_each(Request::poll);
            // Polling twice lets whoever was released by the first round through.
            requests.iter_mut().for_each(Request::poll);
            model(&requests, &mut granted);
            for (index, request) in requests.iter().enumerate() {
                if request.held.is_some() || request.waiting.is_some() {
                    prop_assert_eq!(request.held.is_some(), granted[index], "request {}: {:?}", index, request.what);
                }
            }
        }
        drop(requests);
        let state = table.lock();
        prop_assert!(state.held.is_empty() && state.waiting.is_empty(), "something stayed behind");
    }

    #[test]
    fn exclusion_by_handles_is_exclusion_by_paths(
        one in (0..PATHS.len(), 0..ACCESSES.len()),
        two in (0..PATHS.len(), 0..ACCESSES.len()),
    ) {
        let name = |(path, access): (usize, usize)| (PATHS[path], ACCESSES[access]);
        let (one, two) = (name(one), name(two));
        prop_assert_eq!(claim(one.0, one.1).excludes(&claim(two.0, two.1)), conflict(one, two));
        prop_assert_eq!(claim(one.0, one.1).excludes(&claim(two.0, two.1)), claim(two.0, two.1).excludes(&claim(one.0, one.1)));
    }
}
