// The schema of the first release: what owners configure, and the log of what happened (001-log.ts).

import { LOG } from './001-log.ts';

const CONFIGURATION = `
-- What belongs to the whole store, by name: its tag, the key that seals its secrets, how often it was opened.
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Owners, who may act for them, and what they may use ---------------------------------------------------------------

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
  -- JSON
  scopes TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  -- the key that made it
  created_by TEXT,
  expires_at_ms INTEGER,
  last_used_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_owner ON api_keys (owner_id, id);

CREATE TABLE owner_quotas (
  owner_id TEXT PRIMARY KEY,
  -- each null: any number
  processes INTEGER,
  cpu_seconds_per_minute INTEGER,
  requests_per_second INTEGER,
  stored_bytes INTEGER
) STRICT, WITHOUT ROWID;

-- How much each has stored, when that was last measured.
CREATE TABLE owner_bytes (
  owner_id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  measured_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  -- in whose log it stands
  owner_id TEXT NOT NULL,
  key_id TEXT,
  key_label TEXT NOT NULL,
  by_owner_id TEXT,
  operation TEXT NOT NULL,
  target_id TEXT,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  client_ip TEXT NOT NULL,
  request_id TEXT NOT NULL,
  -- null until it is answered
  status INTEGER,
  count INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_owner ON audit (owner_id, id);
CREATE INDEX audit_key ON audit (owner_id, key_id, id);
CREATE INDEX audit_operation ON audit (owner_id, operation, id);
CREATE INDEX audit_target ON audit (owner_id, target_id, id);

-- Workflows, sources and their code ---------------------------------------------------------------------------------

-- Workflows and sources share what running one needs.
CREATE TABLE runnables (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  name TEXT NOT NULL,
  active INTEGER NOT NULL,
  deployment_id TEXT NOT NULL,
  -- sealed JSON
  settings TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  -- of sources, the code of the active deployment: JSON, or, when it is long, its hash in codes
  component_code TEXT,
  component_code_hash TEXT,
  -- sources only; sealed JSON
  configured_props TEXT,
  dedupe TEXT,
  secret_props TEXT,
  -- sealed JSON: definitions by name; null: there are none
  additional_props TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runnables_owner ON runnables (owner_id, id);

CREATE TABLE deployments (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  runnable_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  -- JSON; what is long of their code stands in codes, and its hash here
  steps TEXT NOT NULL,
  -- sealed JSON by the step's namespace; null: no step has props
  step_props TEXT
) STRICT;
CREATE INDEX deployments_runnable ON deployments (runnable_id, id);

-- Code that deployments of one owner have in common is stored once.
CREATE TABLE codes (
  owner_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  -- JSON
  text TEXT NOT NULL,
  PRIMARY KEY (owner_id, hash)
) STRICT;

-- Which deployments name it.
CREATE TABLE deployment_codes (
  deployment_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (deployment_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX deployment_codes_hash ON deployment_codes (owner_id, hash);

CREATE TABLE triggers (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  runnable_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  key TEXT UNIQUE,
  custom_response INTEGER NOT NULL,
  token_hash TEXT,
  -- JSON
  schedule TEXT,
  next_at_ms INTEGER,
  -- The due time that it fired last: one that comes again, since the schedule was switched off and on or the clock was set
  -- back, is fired no second time.
  last_due_at_ms INTEGER,
  skipped_ticks INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX triggers_runnable ON triggers (runnable_id, id);
CREATE INDEX triggers_due ON triggers (next_at_ms) WHERE next_at_ms IS NOT NULL;

-- What sources remember: their own values, and which items they have emitted.
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

-- Sources that are being changed.
CREATE TABLE source_changes (
  source_id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- of the process that changes it
  boot INTEGER NOT NULL,
  -- when it began, or was last written
  since_ms INTEGER NOT NULL
) STRICT;

-- Who hears of what -------------------------------------------------------------------------------------------------

CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  emitter_id TEXT NOT NULL,
  listener_id TEXT NOT NULL,
  event_name TEXT NOT NULL,
  via TEXT NOT NULL,
  active INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  -- The trigger's place among those of the listener, as they were given; null: it stands for no trigger.
  position INTEGER,
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
  -- sealed JSON
  settings TEXT NOT NULL,
  -- of the settings, what Postgres claims by: a store that is moved there has it
  is_ordered INTEGER NOT NULL,
  -- sealed JSON
  secrets TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_owner ON webhooks (owner_id, id);

-- Accounts at other services, and data stores with their records ----------------------------------------------------

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  app TEXT NOT NULL,
  name TEXT NOT NULL,
  -- sealed JSON
  fields TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_owner ON accounts (owner_id, id);

CREATE TABLE data_stores (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- its records have the same; those of a lower one were cleared, and are deleted in steps
  generation INTEGER NOT NULL,
  -- of this generation, also those that have expired and are still there
  records INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX data_stores_owner ON data_stores (owner_id, id);

-- The value comes last: who asks for anything else does not read it.
CREATE TABLE data_records (
  store_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  key TEXT NOT NULL,
  -- of key and value
  bytes INTEGER NOT NULL,
  expires_at_ms INTEGER,
  updated_at_ms INTEGER NOT NULL,
  -- JSON
  value TEXT NOT NULL,
  PRIMARY KEY (store_id, generation, key)
) STRICT;
CREATE INDEX data_records_expiry ON data_records (store_id, generation, expires_at_ms) WHERE expires_at_ms IS NOT NULL;
CREATE INDEX data_records_expired ON data_records (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- Whose records are still to be deleted: the store is gone, or was cleared.
CREATE TABLE data_gone (
  store_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  PRIMARY KEY (store_id, generation)
) STRICT, WITHOUT ROWID;
`;

export const FIRST = CONFIGURATION + LOG;
