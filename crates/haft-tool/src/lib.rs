//! What a tool is, where tools come from, and the one path from call to outcome.
