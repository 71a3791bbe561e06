-- Changes to files: on record before they happen.
CREATE TABLE effects (
    -- The call's id; the call itself may not be on record.
    call TEXT NOT NULL,
    number INTEGER NOT NULL,
    -- The real path of the root, and the path of the change as it was shown.
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- The lease of the process that made the change.
    lease TEXT NOT NULL,
    -- announced, done or not_done.
    state TEXT NOT NULL,
    -- Stored contents of what stood there before and after, as long as they are kept.
    before TEXT,
    after TEXT,
    -- When those made room for later ones.
    evicted_at INTEGER,
    record TEXT NOT NULL,
    PRIMARY KEY (call, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX effects_open ON effects (lease) WHERE state = 'announced';
CREATE INDEX effects_by_root ON effects (root, path);
CREATE INDEX effects_by_time ON effects (at);
CREATE INDEX effects_by_before ON effects (before) WHERE before IS NOT NULL;
CREATE INDEX effects_by_after ON effects (after) WHERE after IS NOT NULL;
