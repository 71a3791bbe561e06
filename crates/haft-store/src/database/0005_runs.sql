-- Runs, and what is kept of each of them, entry by entry.

CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    began_at INTEGER NOT NULL,
    -- When the last of its entries was made.
    last_at INTEGER NOT NULL,
    -- What it is for, redacted.
    title TEXT NOT NULL,
    model TEXT NOT NULL,
    preset TEXT NOT NULL,
    -- The real paths of its roots, the first one apart.
    root TEXT,
    further_roots TEXT,
    -- The id of the call that started it, where one did.
    parent TEXT,
    -- The id of the run whose first entries it shares, and how many.
    forked_from TEXT,
    forked_entries INTEGER,
    -- Who may add to it: the lease of a process, its number, and since when.
    lease TEXT,
    pid INTEGER,
    since INTEGER,
    -- How it stopped, redacted; nothing again from the next entry on.
    stopped TEXT,
    usage TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    entries INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX runs_by_time ON runs (last_at);
CREATE INDEX runs_by_root ON runs (root);

-- What was said and done, whole and not redacted: it has to go back to a model as it was.
CREATE TABLE run_entries (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    -- The entry, or the digest of the stored content that it is.
    json TEXT,
    digest TEXT,
    bytes INTEGER NOT NULL,
    -- When it could not be read and made room for what came later.
    set_aside_at INTEGER,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- There are few.
CREATE INDEX run_entries_made_again ON run_entries (run) WHERE kind = 'made_again';
CREATE INDEX run_entries_by_digest ON run_entries (digest) WHERE digest IS NOT NULL;

-- Outcomes as they were, of calls of runs, where the journal has less and the run has no entry of them yet.
CREATE TABLE whole_outcomes (
    call INTEGER PRIMARY KEY REFERENCES calls (seq) ON DELETE CASCADE,
    record TEXT NOT NULL
) STRICT;

-- Whether the outcome is as it was: nothing redacted, nothing cut. Of earlier ones nobody knows.
ALTER TABLE outcomes ADD COLUMN is_whole INTEGER;
