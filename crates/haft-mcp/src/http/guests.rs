//! Connections on which nobody has shown the token yet.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::AbortHandle;

/// How long somebody may stand at the door: from the connection to a request that is let in.
const KNOCK: Duration = Duration::from_secs(5);

/// Who is at the other end of a connection.
#[derive(Debug, Default)]
pub(super) struct Guest(OnceLock<Fate>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    LetIn,
    ShownOut,
}

impl Guest {
    /// Lets in whoever this is, from now on, and tells whether that came in time.
    pub(super) fn let_in(&self) -> bool {
        *self.0.get_or_init(|| Fate::LetIn) == Fate::LetIn
    }

    /// Ends once this has stood at the door for too long, and never for somebody who was let in.
    pub(super) async fn overstays(&self) {
        tokio::time::sleep(KNOCK).await;
        if !self.show_out() {
            std::future::pending::<()>().await;
        }
    }

    fn show_out(&self) -> bool {
        *self.0.get_or_init(|| Fate::ShownOut) == Fate::ShownOut
    }

    fn is_at_the_door(&self) -> bool {
        self.0.get().is_none()
    }
}

/// Those at the door, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Guests(VecDeque<(Arc<Guest>, AbortHandle)>);

impl Guests {
    /// Adds a connection.
    pub(super) fn add(&mut self, guest: Arc<Guest>, connection: AbortHandle) {
        self.0.push_back((guest, connection));
    }

    /// Tells whether somebody is at the door.
    pub(super) fn are_there(&mut self) -> bool {
        self.0.retain(|(guest, connection)| guest.is_at_the_door() && !connection.is_finished());
        !self.0.is_empty()
    }

    /// Ends the connection of whoever has been at the door for longest, and tells whether there was somebody.
    pub(super) fn show_out_the_first(&mut self) -> bool {
        while let Some((guest, connection)) = self.0.pop_front() {
            if !connection.is_finished() && guest.show_out() {
                connection.abort();
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_at_the_door_is_shown_out_and_nobody_who_was_let_in() {
        let mut guests = Guests::default();
        let mut come = || {
            let guest = Arc::new(Guest::default());
            let connection = tokio::spawn(std::future::pending::<()>());
            guests.add(Arc::clone(&guest), connection.abort_handle());
            (guest, connection)
        };
        let (known, stays) = come();
        let (first, goes) = come();
        let (second, _) = come();
        assert!(known.let_in());
        assert!(guests.are_there());
        assert!(guests.show_out_the_first());
        assert!(goes.await.unwrap_err().is_cancelled());
        assert!(!first.let_in() && second.let_in() && known.let_in());
        assert!(!guests.show_out_the_first() && !guests.are_there());
        assert!(!stays.is_finished());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_stands_at_the_door_for_long() {
        let (stranger, known) = (Guest::default(), Guest::default());
        known.let_in();
        stranger.overstays().await;
        assert!(!stranger.let_in());
        assert!(tokio::time::timeout(4 * KNOCK, known.overstays()).await.is_err());
    }
}
