-- Times are milliseconds since 1970. Ids are the text forms of haft-protocol; they sort by time.

CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    -- The qualified name, or what was asked for when `unknown_tool` is 1.
    tool TEXT NOT NULL,
    unknown_tool INTEGER NOT NULL,
    entrance TEXT NOT NULL,
    principal TEXT NOT NULL,
    run TEXT NOT NULL,
    branch TEXT,
    parent TEXT,
    at INTEGER NOT NULL,
    -- The lease of the process that has the call in hand.
    lease TEXT NOT NULL,
    -- intended, waiting or started; then the status of the outcome.
    stage TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    ended_at INTEGER,
    run_ms INTEGER,
    -- The kind of the failure, or the control that denied.
    kind TEXT,
    -- The first line of what a model read.
    head TEXT,
    fingerprint TEXT,
    arguments_digest TEXT,
    decision TEXT,
    because TEXT,
    effects TEXT,
    bindings TEXT,
    arguments TEXT NOT NULL
) STRICT;

CREATE INDEX calls_by_run ON calls (run);
CREATE INDEX calls_by_parent ON calls (parent) WHERE parent IS NOT NULL;
CREATE INDEX calls_open ON calls (lease) WHERE ended_at IS NULL;

CREATE TABLE attempts (
    call INTEGER NOT NULL REFERENCES calls (seq) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    must_last INTEGER NOT NULL,
    PRIMARY KEY (call, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
    id TEXT PRIMARY KEY,
    call INTEGER NOT NULL REFERENCES calls (seq) ON DELETE CASCADE,
    expires INTEGER NOT NULL,
    record TEXT NOT NULL,
    answer TEXT,
    answered_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX tickets_by_call ON tickets (call);
CREATE INDEX tickets_open ON tickets (expires) WHERE answered_at IS NULL;

CREATE TABLE outcomes (
    call INTEGER PRIMARY KEY REFERENCES calls (seq) ON DELETE CASCADE,
    record TEXT NOT NULL
) STRICT;

CREATE TABLE artifacts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- The call's id; the call itself may not be on record.
    call TEXT NOT NULL,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    at INTEGER NOT NULL,
    -- When the bytes made room for later ones.
    evicted_at INTEGER
) STRICT;

CREATE INDEX artifacts_by_call ON artifacts (call);
CREATE INDEX artifacts_by_digest ON artifacts (digest) WHERE evicted_at IS NULL;

-- Content that is stored, once for each digest.
CREATE TABLE objects (
    digest TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
