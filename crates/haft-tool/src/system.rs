//! The clock and the ids of this machine.

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
