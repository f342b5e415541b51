// The first schema. Hot tables (emissions, runs, deliveries) have the number from the store's clock as primary key, so
// rows are appended at the right edge of the tree, and the large column last, so that scans do not read it. Indexes on
// them are partial where the rest of the rows would only cost writes. JSON columns are text that the store never queries.

export const FIRST = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE owners (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT,
  global_error_workflow_id TEXT,
  digest_window_ms INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  label TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_owner ON api_keys (owner_id, id);

-- Workflows and sources share what running one needs.
CREATE TABLE runnables (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  name TEXT NOT NULL,
  active INTEGER NOT NULL,
  deployment_id TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  -- sources only
  component_code TEXT,
  configured_props TEXT,
  dedupe TEXT,
  secret_props TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runnables_owner ON runnables (owner_id, id);

CREATE TABLE deployments (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  runnable_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  steps TEXT NOT NULL
) STRICT;
CREATE INDEX deployments_runnable ON deployments (runnable_id, id);

CREATE TABLE triggers (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  runnable_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  key TEXT UNIQUE,
  custom_response INTEGER NOT NULL,
  token_hash TEXT,
  schedule TEXT,
  next_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX triggers_runnable ON triggers (runnable_id, id);
CREATE INDEX triggers_due ON triggers (next_at_ms) WHERE next_at_ms IS NOT NULL;

CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  emitter_id TEXT NOT NULL,
  listener_id TEXT NOT NULL,
  event_name TEXT NOT NULL,
  via TEXT NOT NULL,
  active INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  UNIQUE (owner_id, emitter_id, listener_id, event_name, via)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_owner ON subscriptions (owner_id, id);
CREATE INDEX subscriptions_listener ON subscriptions (owner_id, listener_id, id);

CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  url TEXT NOT NULL,
  name TEXT,
  description TEXT,
  active INTEGER NOT NULL,
  secrets TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_owner ON webhooks (owner_id, id);

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
  summary TEXT,
  error_entry INTEGER,
  error_code TEXT,
  detail TEXT
) STRICT;
CREATE INDEX runs_runnable ON runs (runnable_id, run);
CREATE INDEX runs_entry ON runs (entry);
CREATE INDEX runs_open ON runs (state, runnable_id, run) WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX runs_failed ON runs (runnable_id, run) WHERE state = 'failed';

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
  fence INTEGER NOT NULL,
  boot INTEGER NOT NULL,
  due_at_ms INTEGER,
  ended_at_ms INTEGER
) STRICT;
CREATE INDEX deliveries_listener ON deliveries (owner_id, listener_id, delivery);
CREATE INDEX deliveries_entry ON deliveries (entry);
CREATE INDEX deliveries_open ON deliveries (listener_id, state, due_at_ms, delivery)
  WHERE state IN ('pending', 'retrying', 'sending', 'held');
CREATE INDEX deliveries_due ON deliveries (due_at_ms) WHERE state IN ('pending', 'retrying');
CREATE INDEX deliveries_sending ON deliveries (boot) WHERE state = 'sending';

CREATE TABLE attempts (
  delivery INTEGER NOT NULL,
  n INTEGER NOT NULL,
  trigger TEXT NOT NULL,
  made TEXT NOT NULL,
  PRIMARY KEY (delivery, n)
) STRICT;

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

CREATE TABLE source_db (
  source_id TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (source_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE dedupe (
  source_id TEXT NOT NULL,
  item_id TEXT NOT NULL,
  entry INTEGER NOT NULL,
  PRIMARY KEY (source_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dedupe_age ON dedupe (source_id, entry);

-- What has ever been accepted and where it stands; kept by the transactions that change it, so that it stays true
-- after retention has deleted the rows.
CREATE TABLE ledger (
  owner_id TEXT NOT NULL,
  fact TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (owner_id, fact)
) STRICT, WITHOUT ROWID;
`;
