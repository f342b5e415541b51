// The schema of the first release.
//
// What is open (queued, running, pending, being sent) lives in small hot tables of its own and
// moves out when it ends: into runs and deliveries, which are only ever appended to. So claims never scan history, and dead
// rows gather only where autovacuum is quick. Columns that change with every claim are in no index, so that most updates
// stay on their page (HOT).
//
// A run that waits stays where it is. So that it costs the others nothing, what it keeps is off the page (TOAST) as soon as
// it is large, and when it is due is set only while it waits: the index of what is due has no other rows, the one that
// claims walk has none of these, and no column in either changes with a claim. The state does, and is in no index: a
// predicate with it would cost every claim its place on the page.

import { CONFIGURATION } from '../../migrations/001-configuration.ts';
import { DATA } from '../../migrations/001-data.ts';
import { ATTEMPTS, EMISSIONS, ERROR_GROUPS, LEDGER_HOURS, OPERATIONS } from '../../migrations/001-log.ts';
import { HOT, schemaFor } from '../../migrations/words.ts';

const NODES = `
-- What belongs to the whole store, by name: its tag, the key that seals its secrets.
CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);

-- Processes that share this database --------------------------------------------------------------------------------

-- The slot is part of every number that a node gives, so no two living ones have the same.
CREATE TABLE nodes (
  node bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slot smallint NOT NULL,
  name text NOT NULL,
  version text NOT NULL,
  started_at_ms bigint NOT NULL,
  beat_at_ms bigint NOT NULL,
  gone_at_ms bigint
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX nodes_slot ON nodes (slot) WHERE gone_at_ms IS NULL;

-- The number of the last transaction that each connection of a process has committed (commit-marker.ts).
CREATE TABLE commit_markers (connection text COLLATE "C" PRIMARY KEY, n bigint NOT NULL, at timestamptz NOT NULL DEFAULT now())
  ${HOT};

-- Grows with every write to an owner's configuration; routing that was read at another version is read again.
CREATE TABLE versions (owner_id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 50);
`;

const WORK = `
-- What has ever been accepted and where it stands, kept by the transactions that change it. Each node counts in a row of
-- its own slot, so that nodes do not wait for each other; the sum over the slots is the figure.
CREATE TABLE ledger (
  owner_id text COLLATE "C" NOT NULL,
  fact text COLLATE "C" NOT NULL,
  slot smallint NOT NULL,
  n bigint NOT NULL,
  PRIMARY KEY (owner_id, fact, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- What waits, for whom ----------------------------------------------------------------------------------------------

-- What waits for a workflow, source or webhook and how many of it are under way, on all nodes together: the row that is
-- locked by every claim, and by what queues or ends something for this listener.
CREATE TABLE listener_queues (
  owner_id text COLLATE "C" NOT NULL,
  listener_id text COLLATE "C" NOT NULL,
  is_run boolean NOT NULL,
  waiting integer NOT NULL,
  taken integer NOT NULL,
  -- Of a webhook's queue (or that of the owner's mail) alone: the node that sends, so that its order, its rate and its requests
  -- in flight are one node's affair while it does.
  holder bigint,
  -- of a webhook with a rate limit, nothing of which is on its way: until then its holder's to go on with, if that lives,
  -- since what began there counts; null: anybody's
  kept_until_ms bigint,
  -- the earliest that something waiting is due; 0 for a queued run; null when nothing waits
  ready_at_ms bigint,
  -- of a throttled workflow: when its last runs began, and that it is ready when the next one may
  starts text,
  -- a webhook's health: every end of an attempt has this row locked anyway
  failing_since_ms bigint,
  exhausted_in_row integer NOT NULL DEFAULT 0,
  noticed_at_ms bigint,
  paused_until_ms bigint,
  PRIMARY KEY (owner_id, listener_id)
) ${HOT};
CREATE INDEX listener_queues_ready ON listener_queues (is_run, listener_id, owner_id) WHERE ready_at_ms IS NOT NULL;
CREATE INDEX listener_queues_throttled ON listener_queues (ready_at_ms) WHERE is_run AND ready_at_ms > 0;

-- Runs --------------------------------------------------------------------------------------------------------------

-- Runs that are not over.
CREATE TABLE open_runs (
  run bigint PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  runnable_id text COLLATE "C" NOT NULL,
  deployment_id text COLLATE "C" NOT NULL,
  entry bigint NOT NULL,
  via text NOT NULL,
  subscription_id text COLLATE "C",
  state text NOT NULL,
  attempt integer NOT NULL,
  fence integer NOT NULL,
  -- who holds it
  node bigint,
  -- a lease that is over is taken back also from a node that lives: its code is stuck
  lease_until_ms bigint,
  alone boolean NOT NULL,
  rescues integer NOT NULL,
  started_at_ms bigint,
  -- the node at which a caller waits for the answer or the end
  awaited_by bigint,
  cancel_asked boolean NOT NULL DEFAULT false,
  -- how often it has waited, this time included
  waits integer NOT NULL DEFAULT 0,
  -- of its last wait
  wait_kind text,
  -- null when it does not wait
  due_at_ms bigint,
  -- the request that ended its last wait; JSON
  resumed text,
  -- an order for the wait to come, {order, request}; JSON
  early text,
  -- of a run that has waited, or goes on for another one: JSON text of Carried, and what is told of it
  carried text,
  summary_so_far text,
  detail_so_far text
) ${HOT};
ALTER TABLE open_runs ALTER COLUMN resumed SET STORAGE EXTERNAL;
ALTER TABLE open_runs ALTER COLUMN early SET STORAGE EXTERNAL;
ALTER TABLE open_runs ALTER COLUMN carried SET STORAGE EXTERNAL;
CREATE INDEX open_runs_runnable ON open_runs (runnable_id, run);
CREATE INDEX open_runs_owner ON open_runs (owner_id, run);
CREATE INDEX open_runs_entry ON open_runs (entry);
CREATE INDEX open_runs_cancel ON open_runs (run) WHERE cancel_asked;
CREATE INDEX open_runs_due ON open_runs (due_at_ms, run) WHERE due_at_ms IS NOT NULL;
-- In an order that no other index has: else a plan made while nothing waits might walk over all that waits later.
CREATE INDEX open_runs_ready ON open_runs (runnable_id DESC, run) WHERE due_at_ms IS NULL;
-- Whose deployment must stay. Neither column changes with a claim, which keeps its place on the page (HOT).
CREATE INDEX open_runs_carried ON open_runs (deployment_id) WHERE carried IS NOT NULL;

-- Runs that are over: appended, read, and one day deleted.
CREATE TABLE runs (
  run bigint PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  runnable_id text COLLATE "C" NOT NULL,
  deployment_id text COLLATE "C" NOT NULL,
  entry bigint NOT NULL,
  via text NOT NULL,
  subscription_id text COLLATE "C",
  state text NOT NULL,
  attempt integer NOT NULL,
  started_at_ms bigint,
  ended_at_ms bigint NOT NULL,
  summary text,
  error_entry bigint,
  error_code text,
  awaited_by bigint,
  detail text
);
CREATE INDEX runs_runnable ON runs (runnable_id, run);
CREATE INDEX runs_entry ON runs (entry);
CREATE INDEX runs_failed ON runs (runnable_id, run) WHERE state = 'failed';
CREATE INDEX runs_cancelled ON runs (runnable_id, run) WHERE state = 'cancelled';
-- The search of all runs of an owner.
CREATE INDEX runs_owner ON runs (owner_id, run);
CREATE INDEX runs_owner_failed ON runs (owner_id, run) WHERE state = 'failed';

CREATE VIEW all_runs AS
  SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, started_at_ms,
    NULL::bigint AS ended_at_ms, summary_so_far AS summary, NULL::bigint AS error_entry, NULL::text AS error_code,
    detail_so_far AS detail, wait_kind, due_at_ms FROM open_runs
  UNION ALL
  SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, started_at_ms,
    ended_at_ms, summary, error_entry, error_code, detail, NULL::text, NULL::bigint FROM runs;

-- Answers on their way to a caller at another node.
CREATE TABLE answers (run bigint PRIMARY KEY, owner_id text COLLATE "C" NOT NULL, answer text NOT NULL, at_ms bigint NOT NULL) ${HOT};

-- Deliveries --------------------------------------------------------------------------------------------------------

-- Deliveries that are not over.
CREATE TABLE open_deliveries (
  delivery bigint PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  listener_id text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C",
  via text NOT NULL,
  entry bigint NOT NULL,
  state text NOT NULL,
  attempts_made integer NOT NULL,
  -- attempts that count and those that the receiver put off
  requests_made integer NOT NULL DEFAULT 0,
  -- delays of the schedule that were used up
  tries integer NOT NULL,
  due_by text NOT NULL,
  fence integer NOT NULL,
  node bigint,
  lease_until_ms bigint,
  due_at_ms bigint
) ${HOT};
CREATE INDEX open_deliveries_owner ON open_deliveries (owner_id, delivery);
CREATE INDEX open_deliveries_listener ON open_deliveries (owner_id, listener_id, delivery);
CREATE INDEX open_deliveries_due ON open_deliveries (owner_id, listener_id, state, due_at_ms, delivery)
  WHERE state IN ('pending', 'retrying');
CREATE INDEX open_deliveries_entry ON open_deliveries (entry);
-- What was sent again and waits: an operation looks how many there are.
CREATE INDEX open_deliveries_resent ON open_deliveries (owner_id, listener_id, delivery)
  WHERE due_by = 'resend' AND state = 'retrying';
-- Lists of the mails and requests that code asked for. No other delivery is in it.
CREATE INDEX open_deliveries_kind ON open_deliveries (owner_id, kind, delivery) WHERE kind = 'mail' OR kind = 'http';

-- Deliveries that are over.
CREATE TABLE deliveries (
  delivery bigint PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  listener_id text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C",
  via text NOT NULL,
  entry bigint NOT NULL,
  state text NOT NULL,
  attempts_made integer NOT NULL,
  requests_made integer NOT NULL DEFAULT 0,
  tries integer NOT NULL,
  due_by text NOT NULL,
  -- the last lease's, so that a delivery that is sent again goes on behind it
  fence integer NOT NULL,
  ended_at_ms bigint NOT NULL
);
CREATE INDEX deliveries_owner ON deliveries (owner_id, delivery);
CREATE INDEX deliveries_listener ON deliveries (owner_id, listener_id, delivery);
-- Lists of the few that were lost among the many that were delivered.
CREATE INDEX deliveries_lost ON deliveries (owner_id, state, delivery) WHERE state = 'exhausted' OR state = 'cancelled';
CREATE INDEX deliveries_listener_lost ON deliveries (owner_id, listener_id, state, delivery)
  WHERE state = 'exhausted' OR state = 'cancelled';
CREATE INDEX deliveries_entry ON deliveries (entry);
CREATE INDEX deliveries_kind ON deliveries (owner_id, kind, delivery) WHERE kind = 'mail' OR kind = 'http';

CREATE VIEW all_deliveries AS
  SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made, due_at_ms,
    NULL::bigint AS ended_at_ms, requests_made, tries, due_by FROM open_deliveries
  UNION ALL
  SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made, NULL::bigint,
    ended_at_ms, requests_made, tries, due_by FROM deliveries;
`;

const shared = (text: string): string => schemaFor('postgres', text);

export const FIRST = [
  NODES,
  shared(CONFIGURATION),
  shared(DATA),
  shared(EMISSIONS),
  shared(ERROR_GROUPS),
  WORK,
  shared(ATTEMPTS),
  shared(OPERATIONS),
  shared(LEDGER_HOURS),
].join('');
