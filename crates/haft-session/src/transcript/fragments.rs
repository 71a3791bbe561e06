//! A list of messages that is cheap to clone, to add to and to copy out.

use std::sync::Arc;

use haft_model::Fragment;
use rpds::VectorSync;

/// Messages of one piece.
const PIECE: usize = 128;

/// Messages in order, in pieces that clones share.
///
/// Copying them out costs what copying that many pointers costs, and adding one never more than a copy of one piece.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fragments {
    whole: VectorSync<Arc<Vec<Arc<Fragment>>>>,
    /// What comes behind the whole pieces; empty only where there is nothing at all.
    last: Arc<Vec<Arc<Fragment>>>,
}

impl Fragments {
    pub(super) fn push(&mut self, fragment: Arc<Fragment>) {
        if self.last.len() >= PIECE {
            let whole = std::mem::replace(&mut self.last, Arc::new(Vec::with_capacity(PIECE)));
            self.whole.push_back_mut(whole);
        }
        Arc::make_mut(&mut self.last).push(fragment);
    }

    pub(super) fn replace_last(&mut self, fragment: Arc<Fragment>) {
        if let Some(last) = Arc::make_mut(&mut self.last).last_mut() {
            *last = fragment;
        }
    }

    pub(super) fn last(&self) -> Option<&Arc<Fragment>> {
        self.last.last()
    }

    /// Returns a copy, with room for one more.
    pub(crate) fn to_vec(&self) -> Vec<Arc<Fragment>> {
        let pieces = self.whole.len().saturating_mul(PIECE);
        let mut all = Vec::with_capacity(pieces.saturating_add(self.last.len()).saturating_add(1));
        for piece in &self.whole {
            all.extend_from_slice(piece);
        }
        all.extend_from_slice(&self.last);
        all
    }
}

#[cfg(test)]
mod tests {
    use haft_model::RequestMessage;
    use haft_protocol::ContentPart;
    use proptest::prelude::*;

    use super::*;

    fn fragment(number: usize) -> Arc<Fragment> {
        let said = Arc::new([ContentPart::text(number.to_string())]);
        Fragment::new(RequestMessage::User(said))
    }

    proptest! {
        #[test]
        fn it_holds_what_a_plain_list_holds_and_clones_go_their_own_way(
            pushes in prop::collection::vec(any::<bool>(), 0..600),
            fork in any::<prop::sample::Index>(),
        ) {
            let (mut ours, mut plain) = (Fragments::default(), Vec::new());
            let mut forked = None;
            let at = fork.index(pushes.len() + 1);
            for (number, is_push) in pushes.iter().enumerate() {
                if number == at {
                    forked = Some((ours.clone(), plain.clone()));
                }
                let fragment = fragment(number);
                if *is_push || plain.is_empty() {
                    ours.push(Arc::clone(&fragment));
                    plain.push(fragment);
                } else {
                    ours.replace_last(Arc::clone(&fragment));
                    if let Some(last) = plain.last_mut() {
                        *last = fragment;
                    }
                }
                prop_assert_eq!(ours.last(), plain.last());
            }
            prop_assert_eq!(ours.to_vec(), plain);
            if let Some((ours, plain)) = forked {
                prop_assert_eq!(ours.to_vec(), plain);
            }
        }
    }
}
