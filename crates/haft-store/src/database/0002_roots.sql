-- The real paths of the roots the call was made with, the first one apart; of calls before this form nobody knows.
ALTER TABLE calls ADD COLUMN root TEXT;
ALTER TABLE calls ADD COLUMN further_roots TEXT;

CREATE INDEX calls_by_root ON calls (root);
