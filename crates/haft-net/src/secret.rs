//! Values that nobody may see.

use std::fmt;
use std::sync::Arc;

/// A credential. It goes into a header and into no text.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a credential. White space around it, such as the newline at the end of a file, does not belong to it.
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text.trim()))
    }

    /// Tells whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text of somebody else's with this value taken out, wherever it stands.
    pub fn taken_out_of(&self, text: &str) -> String {
        if self.0.len() < 4 {
            return text.to_owned();
        }
        text.replace(&*self.0, "[secret]")
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
