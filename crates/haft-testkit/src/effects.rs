//! A record of changes made of memory.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard};

use haft_protocol::{
    CallId, ChangedCall, ChangedCalls, ContentRef, Digest, EffectRecord, EffectState, LogicalPath,
    Timestamp,
};
use haft_tool::ports::{Effects, Port, PortError};

use crate::doors::Temper;

/// Keeps what changes take away, in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryEffects {
    /// Whether it works; hanging counts as failing.
    pub temper: Temper,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    contents: HashMap<Digest, Arc<[u8]>>,
    records: Vec<EffectRecord>,
    largest: Option<usize>,
}

impl MemoryEffects {
    /// Keeps no content of more bytes than this from now on.
    pub fn keep_at_most(&self, bytes: usize) {
        self.kept().largest = Some(bytes);
    }

    /// Returns all changes on record, in the order in which they were announced.
    pub fn records(&self) -> Vec<EffectRecord> {
        self.kept().records.clone()
    }

    /// Puts a change on record as another process left it.
    pub fn left_behind(&self, record: EffectRecord) {
        self.kept().records.push(record);
    }

    /// Forgets a content, as when it made room for another.
    pub fn forget(&self, digest: Digest) {
        self.kept().contents.remove(&digest);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }
}

impl Port for MemoryEffects {
    fn describe(&self) -> String {
        "memory of a test".to_owned()
    }
}

impl Effects for MemoryEffects {
    fn keep(&self, content: &mut dyn Read) -> Result<ContentRef, PortError> {
        self.temper.act_now("record of changes")?;
        let mut bytes = Vec::new();
        content
            .read_to_end(&mut bytes)
            .map_err(|error| PortError::with_source("the content cannot be read", error))?;
        let mut kept = self.kept();
        let stored = kept.largest.is_none_or(|largest| bytes.len() <= largest);
        let (digest, length) = (Digest::of_bytes(&bytes), bytes.len() as u64);
        if stored {
            kept.contents.insert(digest, bytes.into());
        }
        Ok(ContentRef { digest, bytes: length, stored })
    }

    fn fetch(&self, digest: Digest) -> Result<Option<Arc<[u8]>>, PortError> {
        Ok(self.kept().contents.get(&digest).cloned())
    }

    fn announce(&self, effects: &[EffectRecord]) -> Result<(), PortError> {
        self.temper.act_now("record of changes")?;
        self.kept().records.extend_from_slice(effects);
        Ok(())
    }

    fn settle(&self, effect: &EffectRecord) -> Result<(), PortError> {
        self.temper.act_now("record of changes")?;
        let mut kept = self.kept();
        let same = |it: &&mut EffectRecord| it.call == effect.call && it.number == effect.number;
        let record = kept.records.iter_mut().find(same).expect("it was announced");
        *record = effect.clone();
        Ok(())
    }

    fn of_call(&self, call: CallId) -> Result<Vec<EffectRecord>, PortError> {
        Ok(self.kept().records.iter().filter(|it| it.call == call).cloned().collect())
    }

    fn made_again(&self, root: &str, born: Timestamp) -> Result<Option<Timestamp>, PortError> {
        let is_it = |it: &&EffectRecord| it.root == root && it.born == Some(born);
        Ok(self.kept().records.iter().filter(is_it).find_map(|it| it.stands_for))
    }

    fn changed_calls(&self, roots: &[String], most: u32) -> Result<ChangedCalls, PortError> {
        let kept = self.kept();
        let mut calls: Vec<ChangedCall> = Vec::new();
        for effect in kept.records.iter().rev() {
            let counts = effect.state == EffectState::Done && roots.contains(&effect.root);
            if counts && calls.iter().all(|it| it.call != effect.call) {
                let (call, at) = (effect.call, effect.at);
                calls.push(ChangedCall {
                    call,
                    at,
                    tool: None,
                    run: None,
                    undone: false,
                    undoes: None,
                });
            }
        }
        let earlier = calls.len().saturating_sub(most as usize) as u64;
        calls.truncate(most as usize);
        Ok(ChangedCalls { calls, earlier })
    }

    fn cut_short(&self) -> Result<Vec<EffectRecord>, PortError> {
        let is_open = |it: &&EffectRecord| it.state == EffectState::Announced;
        Ok(self.kept().records.iter().filter(is_open).cloned().collect())
    }

    fn touched(&self, root: &str) -> Result<BTreeSet<LogicalPath>, PortError> {
        let beneath = |it: &&EffectRecord| it.root == root && it.state == EffectState::Done;
        Ok(self.kept().records.iter().filter(beneath).map(|it| it.change.path.clone()).collect())
    }
}
