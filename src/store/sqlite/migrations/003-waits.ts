// Runs that wait and go on, and the memory of throttled workflows.

export const WAITS = `
-- the last one that has begun; each has addresses of its own
ALTER TABLE runs ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
-- while it waits
ALTER TABLE runs ADD COLUMN wait_kind TEXT;
ALTER TABLE runs ADD COLUMN due_at_ms INTEGER;
-- an order for the wait to come, {order, request}; JSON
ALTER TABLE runs ADD COLUMN early TEXT;
-- JSON of the request that ended its last wait
ALTER TABLE runs ADD COLUMN resumed TEXT;
-- behind what it goes on; not of a run that is over
ALTER TABLE runs ADD COLUMN carried TEXT;
CREATE INDEX runs_due ON runs (due_at_ms) WHERE state = 'waiting';

-- Only of throttled workflows: when their newest runs began, as a JSON list, oldest first.
CREATE TABLE throttles (
  runnable_id TEXT PRIMARY KEY,
  starts TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
