//! Messages that many requests share.

use std::sync::Arc;

use rpds::VectorSync;

use super::Fragment;

/// Messages of one piece.
const PIECE: usize = 128;

/// The messages of a request, in order.
///
/// They stand in pieces that clones share: a clone costs the same however many there are, and adding one never more than a
/// copy of one piece. So a conversation keeps what its next request shows, and the request is a clone of that.
#[derive(Debug, Clone, Default)]
pub struct Fragments {
    whole: VectorSync<Arc<Vec<Arc<Fragment>>>>,
    /// What comes behind the whole pieces; empty only where there is nothing at all.
    last: Arc<Vec<Arc<Fragment>>>,
}

impl Fragments {
    /// Makes a list without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many messages there are.
    pub fn len(&self) -> usize {
        self.whole.len().saturating_mul(PIECE).saturating_add(self.last.len())
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Returns the message at a place, from 0.
    pub fn get(&self, place: usize) -> Option<&Arc<Fragment>> {
        let (piece, within) = (place / PIECE, place % PIECE);
        if piece == self.whole.len() {
            return self.last.get(within);
        }
        self.whole.get(piece)?.get(within)
    }

    /// Returns the last message.
    pub fn last(&self) -> Option<&Arc<Fragment>> {
        self.last.last()
    }

    /// Returns the messages.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Fragment>> + ExactSizeIterator {
        self.iter_from(0)
    }

    /// Returns the messages from a place on. Those before it cost nothing.
    pub fn iter_from(
        &self,
        place: usize,
    ) -> impl DoubleEndedIterator<Item = &Arc<Fragment>> + ExactSizeIterator {
        Iter { fragments: self, places: place.min(self.len())..self.len() }
    }

    /// Adds a message behind the others.
    pub fn push(&mut self, fragment: Arc<Fragment>) {
        if self.last.len() >= PIECE {
            let whole = std::mem::replace(&mut self.last, Arc::new(Vec::with_capacity(PIECE)));
            self.whole.push_back_mut(whole);
        }
        Arc::make_mut(&mut self.last).push(fragment);
    }

    /// Puts a message in the place of the last one, where there is one.
    pub fn replace_last(&mut self, fragment: Arc<Fragment>) {
        if let Some(last) = Arc::make_mut(&mut self.last).last_mut() {
            *last = fragment;
        }
    }
}

impl PartialEq for Fragments {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl FromIterator<Arc<Fragment>> for Fragments {
    fn from_iter<I: IntoIterator<Item = Arc<Fragment>>>(fragments: I) -> Self {
        let mut all = Self::new();
        all.extend(fragments);
        all
    }
}

impl Extend<Arc<Fragment>> for Fragments {
    fn extend<I: IntoIterator<Item = Arc<Fragment>>>(&mut self, fragments: I) {
        fragments.into_iter().for_each(|it| self.push(it));
    }
}

impl From<Vec<Arc<Fragment>>> for Fragments {
    fn from(fragments: Vec<Arc<Fragment>>) -> Self {
        fragments.into_iter().collect()
    }
}

/// Messages between two places.
struct Iter<'a> {
    fragments: &'a Fragments,
    places: std::ops::Range<usize>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Arc<Fragment>;

    fn next(&mut self) -> Option<Self::Item> {
        self.fragments.get(self.places.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.fragments.get(self.places.next_back()?)
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use haft_protocol::ContentPart;
    use proptest::prelude::*;

    use super::*;
    use crate::RequestMessage;

    fn fragment(number: usize) -> Arc<Fragment> {
        let said = Arc::new([ContentPart::text(number.to_string())]);
        Fragment::new(RequestMessage::User(said))
    }

    /// Fails unless the list says of itself what a plain one says.
    fn check(ours: &Fragments, plain: &[Arc<Fragment>], from: usize) -> Result<(), TestCaseError> {
        prop_assert_eq!(ours.len(), plain.len());
        prop_assert_eq!(ours.is_empty(), plain.is_empty());
        prop_assert!(ours.iter().eq(plain));
        prop_assert!(ours.iter().rev().eq(plain.iter().rev()));
        prop_assert!(ours.iter_from(from).eq(plain.iter().skip(from)));
        prop_assert_eq!(ours.iter_from(from).len(), plain.len().saturating_sub(from));
        prop_assert_eq!(ours.get(from), plain.get(from));
        prop_assert_eq!(ours.get(plain.len()), None);
        prop_assert_eq!(ours, &Fragments::from(plain.to_vec()));
        Ok(())
    }

    proptest! {
        #[test]
        fn it_holds_what_a_plain_list_holds_and_clones_go_their_own_way(
            pushes in prop::collection::vec(any::<bool>(), 0..600),
            fork in any::<prop::sample::Index>(),
            from in 0_usize..700,
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
            check(&ours, &plain, from)?;
            if let Some((ours, plain)) = forked {
                check(&ours, &plain, from)?;
            }
        }
    }
}
