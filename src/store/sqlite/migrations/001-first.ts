// The schema of the first release. Runs and deliveries stay in one table each; indexes are partial where the rest of the rows
// would only cost writes.

import { CONFIGURATION } from '../../migrations/001-configuration.ts';
import { DATA } from '../../migrations/001-data.ts';
import { ATTEMPTS, EMISSIONS, ERROR_GROUPS, LEDGER_HOURS, OPERATIONS } from '../../migrations/001-log.ts';
import { schemaFor } from '../../migrations/words.ts';

const META = `
-- What belongs to the whole store, by name: its tag, the key that seals its secrets, how often it was opened.
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

const WORK = `
-- What has ever been accepted and where it stands; kept by the transactions that change it, so that it stays true
-- after retention has deleted the rows.
CREATE TABLE ledger (
  owner_id TEXT NOT NULL,
  fact TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (owner_id, fact)
) STRICT, WITHOUT ROWID;

-- Runs --------------------------------------------------------------------------------------------------------------

CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  owner_id TEXT NOT NULL,
  runnable_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  entry INTEGER NOT NULL,
  via TEXT NOT NULL,
  subscription_id TEXT,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  -- which opening of the store holds it
  boot INTEGER NOT NULL,
  alone INTEGER NOT NULL,
  rescues INTEGER NOT NULL,
  started_at_ms INTEGER,
  ended_at_ms INTEGER,
  -- the last one that has begun; each has addresses of its own
  waits INTEGER NOT NULL DEFAULT 0,
  -- while it waits
  wait_kind TEXT,
  due_at_ms INTEGER,
  summary TEXT,
  error_entry INTEGER,
  error_code TEXT,
  -- an order for the wait to come, {order, request}; JSON
  early TEXT,
  -- JSON of the request that ended its last wait
  resumed TEXT,
  -- behind what it goes on; not of a run that is over
  carried TEXT,
  detail TEXT,
  -- blanks in the place of what the end will write; see runs/row-room.ts
  room TEXT
) STRICT;
CREATE INDEX runs_runnable ON runs (runnable_id, run);
CREATE INDEX runs_entry ON runs (entry);
CREATE INDEX runs_open ON runs (state, runnable_id, run) WHERE state = 'queued' OR state = 'running' OR state = 'waiting';
CREATE INDEX runs_failed ON runs (runnable_id, run) WHERE state = 'failed';
CREATE INDEX runs_cancelled ON runs (runnable_id, run) WHERE state = 'cancelled';
-- The search of all runs of an owner.
CREATE INDEX runs_owner ON runs (owner_id, run);
CREATE INDEX runs_owner_failed ON runs (owner_id, run) WHERE state = 'failed';
CREATE INDEX runs_due ON runs (due_at_ms) WHERE state = 'waiting';
-- Whose deployment must stay.
CREATE INDEX runs_carried ON runs (deployment_id) WHERE carried IS NOT NULL;

-- Only of throttled workflows: when their newest runs began, as a JSON list, oldest first.
CREATE TABLE throttles (
  runnable_id TEXT PRIMARY KEY,
  starts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Deliveries --------------------------------------------------------------------------------------------------------

CREATE TABLE deliveries (
  delivery INTEGER PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  listener_id TEXT NOT NULL,
  subscription_id TEXT,
  via TEXT NOT NULL,
  entry INTEGER NOT NULL,
  state TEXT NOT NULL,
  attempts_made INTEGER NOT NULL,
  -- attempts that count and those that the receiver put off
  requests_made INTEGER NOT NULL DEFAULT 0,
  -- delays of the schedule that were used up
  tries INTEGER NOT NULL DEFAULT 0,
  due_by TEXT NOT NULL DEFAULT 'event',
  fence INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  due_at_ms INTEGER,
  ended_at_ms INTEGER
) STRICT;
CREATE INDEX deliveries_owner ON deliveries (owner_id, delivery);
CREATE INDEX deliveries_listener ON deliveries (owner_id, listener_id, delivery);
-- Lists of the few that were lost among the many that were delivered.
CREATE INDEX deliveries_lost ON deliveries (owner_id, state, delivery) WHERE state = 'exhausted' OR state = 'cancelled';
CREATE INDEX deliveries_listener_lost ON deliveries (owner_id, listener_id, state, delivery)
  WHERE state = 'exhausted' OR state = 'cancelled';
CREATE INDEX deliveries_entry ON deliveries (entry);
-- When the next one is due is kept in memory.
CREATE INDEX deliveries_open ON deliveries (listener_id, state, due_at_ms, delivery)
  WHERE state = 'pending' OR state = 'retrying' OR state = 'sending' OR state = 'held';
CREATE INDEX deliveries_sending ON deliveries (boot) WHERE state = 'sending';
-- The head of an ordered webhook.
CREATE INDEX deliveries_head ON deliveries (listener_id, delivery) WHERE state IN ('pending', 'retrying');
-- What was sent again and waits: an operation looks how many there are.
CREATE INDEX deliveries_resent ON deliveries (listener_id, delivery) WHERE state = 'retrying' AND due_by = 'resend';
-- Lists of the mails and requests that code asked for. No other delivery is in it.
CREATE INDEX deliveries_kind ON deliveries (owner_id, kind, delivery) WHERE kind = 'mail' OR kind = 'http';
`;

const HEALTH = `
-- Only of webhooks that are not well, or were put off.
CREATE TABLE webhook_health (
  webhook_id TEXT PRIMARY KEY,
  failing_since_ms INTEGER,
  exhausted_in_row INTEGER NOT NULL,
  noticed_at_ms INTEGER,
  paused_until_ms INTEGER
) STRICT, WITHOUT ROWID;
`;

export const FIRST = schemaFor(
  'sqlite',
  [META, CONFIGURATION, DATA, EMISSIONS, ERROR_GROUPS, WORK, ATTEMPTS, HEALTH, OPERATIONS, LEDGER_HOURS].join(''),
);
