//! A tool's contract in JSON Schema: derive, check, repair, narrow.
