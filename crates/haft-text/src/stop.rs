//! Work that can be called off.

/// Asked now and then during long work; `true` ends it.
pub(crate) type Stop<'a> = &'a dyn Fn() -> bool;

/// The work was called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalledOff;

/// Asks whether to stop, once in so much work.
pub(crate) struct Patience<'a> {
    stop: Stop<'a>,
    left: usize,
}

/// How much work, about as much as a byte is, is done between two questions.
const EVERY: usize = 256 * 1024;

impl<'a> Patience<'a> {
    pub(crate) fn new(stop: Stop<'a>) -> Self {
        Self { stop, left: 0 }
    }

    /// Counts work that is about to be done.
    pub(crate) fn work(&mut self, amount: usize) -> Result<(), CalledOff> {
        if let Some(left) = self.left.checked_sub(amount) {
            self.left = left;
            return Ok(());
        }
        self.left = EVERY;
        if (self.stop)() { Err(CalledOff) } else { Ok(()) }
    }
}
