//! What a server says of itself.

/// What a server says of itself before anything is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The name a client shows.
    pub name: String,
    /// The version of whoever serves.
    pub version: String,
    /// What a model should know before it calls anything; clients put it into the model's instructions.
    pub instructions: Option<String>,
    /// Where its tools work, as whoever is asked about a call should read it.
    pub place: Option<String>,
}

impl About {
    /// Names a server.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), instructions: None, place: None }
    }

    /// Adds what a model should know.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Says where its tools work, to whoever is asked about a call: several servers may ask at once.
    pub fn place(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }
}
