// The log of the first schema. Hot tables (emissions, runs, deliveries) have the number from the store's clock as primary
// key, so rows are appended at the right edge of the tree, and the large column last, so that scans do not read it. Indexes
// on them are partial where the rest of the rows would only cost writes. JSON columns are text that the store never queries.

export const LOG = `
-- Emissions ---------------------------------------------------------------------------------------------------------

CREATE TABLE emissions (
  entry INTEGER PRIMARY KEY,
  owner_id TEXT NOT NULL,
  emitter_id TEXT NOT NULL,
  name TEXT NOT NULL,
  source_type TEXT NOT NULL,
  origin_id TEXT NOT NULL,
  -- 1 verified, 2 replay, 4 test, 8 listed (its emitter has a list: p_, dc_, wh_)
  flags INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  -- ids, oldest first, separated by blanks
  lineage TEXT NOT NULL,
  hops INTEGER NOT NULL,
  cause_run INTEGER,
  cause_delivery INTEGER,
  summary TEXT,
  item_id TEXT,
  item_ts INTEGER,
  code TEXT,
  original_start INTEGER,
  original_length INTEGER,
  only_listener_id TEXT,
  digest_key TEXT,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX emissions_channel ON emissions (emitter_id, name, entry) WHERE flags & 8;
CREATE INDEX emissions_cause_run ON emissions (cause_run) WHERE cause_run IS NOT NULL;
CREATE INDEX emissions_cause_delivery ON emissions (cause_delivery) WHERE cause_delivery IS NOT NULL;

-- Emissions of sources that are to be delivered later. They are in the log when their time has come, and not before: the
-- log's order is that of what has happened.
CREATE TABLE later_emissions (
  entry INTEGER PRIMARY KEY,
  due_at_ms INTEGER NOT NULL,
  owner_id TEXT NOT NULL,
  emitter_id TEXT NOT NULL,
  -- the channel on which it will be emitted
  name TEXT NOT NULL,
  source_type TEXT NOT NULL,
  origin_id TEXT NOT NULL,
  -- as those of emissions
  flags INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  lineage TEXT NOT NULL,
  hops INTEGER NOT NULL,
  cause_run INTEGER,
  summary TEXT,
  item_id TEXT,
  item_ts INTEGER,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX later_emissions_due ON later_emissions (due_at_ms, entry);
CREATE INDEX later_emissions_emitter ON later_emissions (emitter_id, entry);

-- Who did not get an emission that was theirs, and why.
CREATE TABLE withheld (
  entry INTEGER NOT NULL,
  listener_id TEXT NOT NULL,
  subscription_id TEXT,
  via TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX withheld_entry ON withheld (entry);

CREATE TABLE idempotency (
  trigger_id TEXT NOT NULL,
  key TEXT NOT NULL,
  -- Of the request that the key came with: another one with the same key is refused, and not answered with what the first
  -- one caused.
  request_hash TEXT NOT NULL,
  entry INTEGER NOT NULL,
  run INTEGER,
  expires_at_ms INTEGER NOT NULL,
  answer TEXT,
  PRIMARY KEY (trigger_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_run ON idempotency (run) WHERE run IS NOT NULL;
CREATE INDEX idempotency_expires ON idempotency (expires_at_ms);

CREATE TABLE digests (
  owner_id TEXT NOT NULL,
  digest_key TEXT NOT NULL,
  opened_at_ms INTEGER NOT NULL,
  closes_at_ms INTEGER NOT NULL,
  repeats INTEGER NOT NULL,
  newest_entry INTEGER NOT NULL,
  PRIMARY KEY (owner_id, digest_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX digests_closes ON digests (closes_at_ms);

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
  detail TEXT
) STRICT;
CREATE INDEX runs_runnable ON runs (runnable_id, run);
CREATE INDEX runs_entry ON runs (entry);
CREATE INDEX runs_open ON runs (state, runnable_id, run) WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX runs_failed ON runs (runnable_id, run) WHERE state = 'failed';
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
CREATE INDEX deliveries_listener ON deliveries (owner_id, listener_id, delivery);
CREATE INDEX deliveries_entry ON deliveries (entry);
-- When the next one is due is kept in memory.
CREATE INDEX deliveries_open ON deliveries (listener_id, state, due_at_ms, delivery)
  WHERE state IN ('pending', 'retrying', 'sending', 'held');
CREATE INDEX deliveries_sending ON deliveries (boot) WHERE state = 'sending';
-- The head of an ordered webhook.
CREATE INDEX deliveries_head ON deliveries (listener_id, delivery) WHERE state IN ('pending', 'retrying');
-- What was sent again and waits: an operation looks how many there are.
CREATE INDEX deliveries_resent ON deliveries (listener_id, delivery) WHERE state = 'retrying' AND due_by = 'resend';
-- The list of requests that code asked for. No other delivery is in it.
CREATE INDEX deliveries_http ON deliveries (owner_id, delivery) WHERE kind = 'http';

CREATE TABLE attempts (
  delivery INTEGER NOT NULL,
  n INTEGER NOT NULL,
  trigger TEXT NOT NULL,
  -- JSON
  made TEXT NOT NULL,
  PRIMARY KEY (delivery, n)
) STRICT;

-- Only of webhooks that are not well, or were put off.
CREATE TABLE webhook_health (
  webhook_id TEXT PRIMARY KEY,
  failing_since_ms INTEGER,
  exhausted_in_row INTEGER NOT NULL,
  noticed_at_ms INTEGER,
  paused_until_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Each sends many deliveries of a webhook again, step by step.
CREATE TABLE operations (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  -- states of deliveries, separated by blanks
  states TEXT NOT NULL,
  state TEXT NOT NULL,
  -- matched so far while it counts, and whether it has come to the end
  total INTEGER NOT NULL,
  is_counted INTEGER NOT NULL,
  resent INTEGER NOT NULL,
  -- the last delivery that was looked at, of the counting or of the sending
  after_delivery INTEGER NOT NULL,
  -- when it had its last step: the one with the lowest has the next
  turn INTEGER NOT NULL,
  reason TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX operations_owner ON operations (owner_id, id);
CREATE INDEX operations_webhook ON operations (webhook_id, id);
CREATE INDEX operations_running ON operations (turn, id) WHERE state = 'running';
CREATE INDEX operations_ended ON operations (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
`;
