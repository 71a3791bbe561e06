//! State that a client carries, and cannot change.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use haft_protocol::{Digest, TicketId, TicketRecord, Timestamp};
use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde_json::{Value, json};

/// Bytes of the key.
const KEY_BYTES: usize = 32;

/// The key that state is sealed with. Whoever has it can answer every open question of a workspace, so it shows itself
/// nowhere.
///
/// Kept with the records, it lets a question outlive the process that asked it.
#[derive(Clone)]
pub struct SealKey([u8; KEY_BYTES]);

impl SealKey {
    /// Makes a key of its bytes.
    pub fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Makes a key that nobody has.
    ///
    /// # Errors
    ///
    /// Fails when the system gives no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    /// Returns the bytes, to keep them where only their owner reads.
    pub fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// Seals what a stateless client has to bring back with its answer.
///
/// What is sealed is authenticated, and bound to who asked, to the call with its arguments, and to an end of its validity.
/// It is not hidden: a client can read the record of its own question, with the paths and the rule, and no arguments.
#[derive(Debug)]
pub(crate) struct Seal {
    codec: RequestStateCodec,
    /// Questions that were answered here and could be answered again by bringing the same once more, each until when.
    answered: Mutex<HashMap<TicketId, Timestamp>>,
}

/// Who brings a state, and with which call.
pub(crate) struct Bearing {
    pub(crate) principal: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

impl Seal {
    /// Makes a seal of a key.
    pub(crate) fn new(key: &SealKey) -> Self {
        Self { codec: RequestStateCodec::new_unchecked(key.0.to_vec()), answered: Mutex::default() }
    }

    /// Seals an open question.
    pub(crate) fn close(
        &self,
        record: &TicketRecord,
        bearing: &Bearing,
        valid: Duration,
    ) -> Result<String, serde_json::Error> {
        let payload = serde_json::to_vec(record)?;
        let bound = bearing.bound();
        let options = SealOptions::new().associated_data(&bound).ttl(valid);
        Ok(self.codec.seal_with(&payload, &options))
    }

    /// Opens what a client brought.
    ///
    /// # Errors
    ///
    /// Fails for everything that was not sealed here for this client and this call, and after its time. The text says
    /// no more than a person needs.
    pub(crate) fn open(
        &self,
        sealed: &str,
        bearing: &Bearing,
    ) -> Result<TicketRecord, &'static str> {
        let opened =
            self.codec.open_with(sealed, &bearing.bound()).map_err(|error| match error {
                RequestStateError::Expired => "its time is over",
                _ => "it was not given to this client for this call",
            })?;
        serde_json::from_slice(&opened).map_err(|_| "it comes from another version of this server")
    }

    /// Takes note that a question is answered, and tells whether this is the first answer.
    ///
    /// The journal takes one answer too, where there is a journal.
    pub(crate) fn takes_answer(&self, record: &TicketRecord, now: Timestamp) -> bool {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, expires| *expires > now);
        answered.insert(record.ticket, record.expires).is_none()
    }
}

impl Bearing {
    fn bound(&self) -> Vec<u8> {
        let Self { principal, tool, arguments } = self;
        Digest::of_json(&json!([principal, tool, arguments])).to_string().into_bytes()
    }
}
