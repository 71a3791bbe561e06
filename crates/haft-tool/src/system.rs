//! The clock and the ids of this machine.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use haft_protocol::Timestamp;

use crate::ports::{Clock, Ids, Port};

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Port for SystemClock {
    fn describe(&self) -> String {
        "system clock".to_owned()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix_ms(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Ids from the random numbers of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl Port for SystemIds {
    fn describe(&self) -> String {
        "random numbers of the operating system".to_owned()
    }
}

impl Ids for SystemIds {
    fn random(&self) -> u128 {
        use std::hash::{BuildHasher as _, RandomState};
        // Without the system's random numbers, the keys of the standard library's hash maps, which are seeded from
        // another source, keep ids apart; an id is a name, not a secret.
        let mut bytes = [0_u8; 16];
        if getrandom::fill(&mut bytes).is_ok() {
            return u128::from_le_bytes(bytes);
        }
        let half = || u128::from(RandomState::new().hash_one(SystemTime::now()));
        (half() << 64) | half()
    }
}

/// Ids that are drawn at one time.
const DRAWN: usize = 64;

/// Ids from the random numbers of this machine, drawn many at a time: asking for them takes longer than a short call.
#[derive(Debug, Default)]
pub struct DrawnIds(Mutex<Vec<u128>>);

impl Port for DrawnIds {
    fn describe(&self) -> String {
        SystemIds.describe()
    }
}

impl Ids for DrawnIds {
    fn random(&self) -> u128 {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if left.is_empty() {
            let mut bytes = [0_u8; DRAWN * 16];
            if getrandom::fill(&mut bytes).is_ok() {
                left.extend(bytes.as_chunks().0.iter().map(|id| u128::from_le_bytes(*id)));
            }
        }
        left.pop().unwrap_or_else(|| SystemIds.random())
    }
}
