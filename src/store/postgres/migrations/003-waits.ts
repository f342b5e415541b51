// Runs that wait and go on, and workflows that are throttled.
//
// A run that waits stays where it is. So that it costs the others nothing, what it keeps is off the page (TOAST) as soon as
// it is large, and when it is due is set only while it waits: the index of what is due has no other rows, the one that
// claims walk has none of these, and no column in either changes with a claim. The state does, and is in no index: a
// predicate with it would cost every claim its place on the page (HOT).
//
// An older process knows nothing of this. It executes a run that goes on from its first step, and none of its own waits.

export const WAITS = `
ALTER TABLE open_runs
  -- how often it has waited, this time included
  ADD COLUMN waits integer NOT NULL DEFAULT 0,
  -- of its last wait
  ADD COLUMN wait_kind text,
  -- null when it does not wait
  ADD COLUMN due_at_ms bigint,
  -- the request that ended its last wait; JSON
  ADD COLUMN resumed text,
  -- an order for the wait to come, {order, request}; JSON
  ADD COLUMN early text,
  -- of a run that has waited, or goes on for another one: JSON text of Carried, and what is told of it
  ADD COLUMN carried text,
  ADD COLUMN summary_so_far text,
  ADD COLUMN detail_so_far text;
ALTER TABLE open_runs ALTER COLUMN resumed SET STORAGE EXTERNAL;
ALTER TABLE open_runs ALTER COLUMN early SET STORAGE EXTERNAL;
ALTER TABLE open_runs ALTER COLUMN carried SET STORAGE EXTERNAL;
CREATE INDEX open_runs_due ON open_runs (due_at_ms, run) WHERE due_at_ms IS NOT NULL;
-- In an order that no other index has: else a plan made while nothing waits might walk over all that waits later.
CREATE INDEX open_runs_ready ON open_runs (runnable_id DESC, run) WHERE due_at_ms IS NULL;

-- Of a throttled workflow: when its last runs began, and that it is ready when the next one may.
ALTER TABLE lines ADD COLUMN starts text;
CREATE INDEX lines_throttled ON lines (ready_at_ms) WHERE is_run AND ready_at_ms > 0;

CREATE OR REPLACE VIEW all_runs AS
  SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, started_at_ms,
    NULL::bigint AS ended_at_ms, summary_so_far AS summary, NULL::bigint AS error_entry, NULL::text AS error_code,
    detail_so_far AS detail, wait_kind, due_at_ms FROM open_runs
  UNION ALL
  SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, started_at_ms,
    ended_at_ms, summary, error_entry, error_code, detail, NULL::text, NULL::bigint FROM runs;
`;
