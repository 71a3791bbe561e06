//! Contracts kept for those who ask again.

use std::any::TypeId;
use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use haft_protocol::Digest;
use haft_protocol::limits::ARGUMENTS_DEPTH;
use schemars::JsonSchema;
use serde_json::Value;

use crate::contract::Contract;
use crate::error::SchemaError;
use crate::measure::Measure;

/// Contracts by what they were made from, so that each is compiled once however many conversations use it.
///
/// Owned by whoever builds tools; bounded, the longest unused going first.
#[derive(Debug)]
pub struct Contracts {
    capacity: NonZeroUsize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    clock: u64,
    by_type: HashMap<TypeId, (u64, Contract)>,
    by_schema: HashMap<Digest, (u64, Contract)>,
}

impl Contracts {
    /// Makes an empty store for as many contracts of either origin.
    pub fn new(capacity: NonZeroUsize) -> Self {
        Self { capacity, kept: Mutex::default() }
    }

    /// Returns the contract of a type, as [`Contract::of`] makes it.
    ///
    /// # Errors
    ///
    /// Fails as [`Contract::of`] does.
    pub fn of<T: JsonSchema + ?Sized + 'static>(&self) -> Result<Contract, SchemaError> {
        self.keep(|kept| &mut kept.by_type, TypeId::of::<T>(), Contract::of::<T>)
    }

    /// Returns the contract of a schema, as [`Contract::foreign`] makes it.
    ///
    /// # Errors
    ///
    /// Fails as [`Contract::foreign`] does. A failure is not kept.
    pub fn foreign(&self, schema: Value) -> Result<Contract, SchemaError> {
        // Digesting recurses; admission refuses such a schema anyway.
        if Measure::of(&schema).depth > ARGUMENTS_DEPTH {
            return Contract::foreign(schema);
        }
        let digest = Digest::of_json(&schema);
        self.keep(|kept| &mut kept.by_schema, digest, || Contract::foreign(schema))
    }

    /// The lock is not held while a contract is made: two who ask at once may both make it, and the first one stays.
    fn keep<K: Eq + Hash + Copy>(
        &self,
        side: impl Fn(&mut Kept) -> &mut HashMap<K, (u64, Contract)>,
        key: K,
        make: impl FnOnce() -> Result<Contract, SchemaError>,
    ) -> Result<Contract, SchemaError> {
        if let Some(known) = self.touch(&side, key) {
            return Ok(known);
        }
        let made = make()?;
        if let Some(known) = self.touch(&side, key) {
            return Ok(known);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = kept.clock;
        let contracts = side(&mut kept);
        if contracts.len() >= self.capacity.get() {
            let oldest = contracts.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            oldest.map(|key| contracts.remove(&key));
        }
        contracts.insert(key, (now, made.clone()));
        Ok(made)
    }

    fn touch<K: Eq + Hash>(
        &self,
        side: impl Fn(&mut Kept) -> &mut HashMap<K, (u64, Contract)>,
        key: K,
    ) -> Option<Contract> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let now = kept.clock;
        let (used, contract) = side(&mut kept).get_mut(&key)?;
        *used = now;
        Some(contract.clone())
    }
}
