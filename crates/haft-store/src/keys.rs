//! Keys that are made once for a state directory.

use haft_tool::SystemIds;
use haft_tool::ports::Ids as _;
use rusqlite::{Connection, params};

use crate::StoreError;
use crate::store::Store;

impl Store {
    /// Returns the key of this name, which is made at first use and lasts as long as the state directory. All processes
    /// that share the directory get the same one.
    ///
    /// # Errors
    ///
    /// Fails when the key cannot be kept.
    pub fn key(&self, name: &str) -> Result<[u8; 32], StoreError> {
        let name = name.to_owned();
        let fresh: [u8; 32] = {
            let mut bytes = [0; 32];
            let (low, high) = bytes.split_at_mut(16);
            low.copy_from_slice(&SystemIds.random().to_le_bytes());
            high.copy_from_slice(&SystemIds.random().to_le_bytes());
            bytes
        };
        let key = move |connection: &mut Connection| {
            let made =
                "INSERT INTO keys (name, bytes) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
            connection.execute(made, params![name, fresh])?;
            connection.query_row("SELECT bytes FROM keys WHERE name = ?1", [name], |row| row.get(0))
        };
        self.inner.writer.at_once(key)?.map_err(self.inner.place.error())
    }
}
