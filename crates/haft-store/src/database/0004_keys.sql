-- Keys that were made here and that nobody else has.

CREATE TABLE keys (
    name TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;
