//! Text as bytes that survive: encodings, windows, cuts, visible control characters.
