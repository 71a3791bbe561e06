//! Whether an object is closed, told piece by piece.

/// Follows the braces of JSON text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Balance {
    depth: usize,
    in_text: bool,
    escaped: bool,
    closed: bool,
    spilled: bool,
}

impl Balance {
    /// Takes the next piece.
    pub(super) fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            if self.closed && !byte.is_ascii_whitespace() {
                self.spilled = true;
                return;
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                b'{' | b'[' if !self.in_text => self.depth += 1,
                b'}' | b']' if !self.in_text => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Tells whether one object was opened and closed, and perhaps more came.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Tells whether more came behind it.
    pub(super) fn is_spilled(&self) -> bool {
        self.spilled
    }
}
