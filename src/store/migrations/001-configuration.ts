// Of the schema of the first release: what owners configure, in the words of words.ts. Every table carries its owner, or
// refers to a row that does.

export const CONFIGURATION = `
-- Owners, who may act for them, and what they may use ---------------------------------------------------------------

CREATE TABLE owners (
  id ID PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT,
  global_error_workflow_id ID,
  digest_window_ms BIGINT NOT NULL,
  -- JSON: ids of the channels that hear of errors
  channel_ids TEXT NOT NULL DEFAULT '[]',
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL,
  -- when its deletion was asked for, and when what it owns is deleted; null: it is not being deleted
  deleted_at_ms BIGINT,
  purge_at_ms BIGINT,
  -- how far that is, JSON; null: it has not begun
  purge TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX owners_purge ON owners (purge_at_ms) WHERE purge_at_ms IS NOT NULL;

CREATE TABLE api_keys (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  hash ID NOT NULL UNIQUE,
  label TEXT NOT NULL,
  -- JSON
  scopes TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  -- the key that made it
  created_by ID,
  expires_at_ms BIGINT,
  last_used_at_ms BIGINT,
  revoked_at_ms BIGINT,
  -- how often all of its sessions were ended
  session_epoch INT NOT NULL DEFAULT 0,
  -- the only one whose errors it reports; null: any of the owner's
  workflow_id ID
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_owner ON api_keys (owner_id, id);

CREATE TABLE owner_quotas (
  owner_id ID PRIMARY KEY,
  -- each null: any number
  processes BIGINT,
  cpu_seconds_per_minute BIGINT,
  requests_per_second BIGINT,
  stored_bytes BIGINT
) STRICT, WITHOUT ROWID;

-- What is hidden where events are shown, by scope: the owner or a workflow, also a deleted one. Keys and patterns: JSON lists.
CREATE TABLE redactions (owner_id ID NOT NULL, scope_id ID NOT NULL, keys TEXT NOT NULL, patterns TEXT NOT NULL,
  before_storing BOOLEAN NOT NULL, PRIMARY KEY (owner_id, scope_id)) STRICT, WITHOUT ROWID;

-- How much each has stored, when that was last measured.
CREATE TABLE owner_bytes (
  owner_id ID PRIMARY KEY,
  bytes BIGINT NOT NULL,
  measured_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  id ID PRIMARY KEY,
  -- in whose log it stands
  owner_id ID NOT NULL,
  key_id ID,
  key_label TEXT NOT NULL,
  by_owner_id ID,
  operation ID NOT NULL,
  target_id ID,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  client_ip TEXT NOT NULL,
  request_id TEXT NOT NULL,
  -- null until it is answered
  status INT,
  count BIGINT NOT NULL,
  at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_owner ON audit (owner_id, id);
CREATE INDEX audit_key ON audit (owner_id, key_id, id);
CREATE INDEX audit_operation ON audit (owner_id, operation, id);
CREATE INDEX audit_target ON audit (owner_id, target_id, id);

-- Workflows, sources and their code ---------------------------------------------------------------------------------

-- Workflows and sources share what running one needs.
CREATE TABLE runnables (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  name TEXT NOT NULL,
  active BOOLEAN NOT NULL,
  deployment_id ID NOT NULL,
  -- sealed JSON
  settings TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL,
  -- of sources, the code of the active deployment: JSON, or, when it is long, its hash in codes
  component_code TEXT,
  component_code_hash ID,
  -- sources only; sealed JSON
  configured_props TEXT,
  dedupe TEXT,
  secret_props TEXT,
  -- sealed JSON: definitions by name; null: there are none
  additional_props TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runnables_owner ON runnables (owner_id, id);

-- Of the settings of workflows, what retention reads: whose errors are kept longer than everything is.
CREATE TABLE error_retentions (emitter_id ID PRIMARY KEY, owner_id ID NOT NULL, days INT, newest INT) STRICT, WITHOUT ROWID;

CREATE TABLE deployments (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  runnable_id ID NOT NULL,
  created_at_ms BIGINT NOT NULL,
  -- JSON; what is long of their code stands in codes, and its hash here
  steps TEXT NOT NULL,
  -- sealed JSON by the step's namespace; null: no step has props
  step_props TEXT
) STRICT;
CREATE INDEX deployments_runnable ON deployments (runnable_id, id);

-- Code that deployments of one owner have in common is stored once.
CREATE TABLE codes (
  owner_id ID NOT NULL,
  hash ID NOT NULL,
  -- JSON
  text TEXT NOT NULL,
  PRIMARY KEY (owner_id, hash)
) STRICT;

-- Which deployments name it.
CREATE TABLE deployment_codes (
  deployment_id ID NOT NULL,
  owner_id ID NOT NULL,
  hash ID NOT NULL,
  PRIMARY KEY (deployment_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX deployment_codes_hash ON deployment_codes (owner_id, hash);

CREATE TABLE triggers (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  runnable_id ID NOT NULL,
  kind TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  key ID UNIQUE,
  custom_response BOOLEAN NOT NULL,
  token_hash TEXT,
  -- JSON
  schedule TEXT,
  next_at_ms BIGINT,
  -- The due time that it fired last: one that comes again, since the schedule was switched off and on or the clock was set
  -- back, is fired no second time.
  last_due_at_ms BIGINT,
  skipped_ticks INT NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX triggers_runnable ON triggers (runnable_id, id);
CREATE INDEX triggers_due ON triggers (next_at_ms) WHERE next_at_ms IS NOT NULL;

-- What sources remember: their own values, and which items they have emitted.
CREATE TABLE source_db (
  source_id ID NOT NULL,
  name TEXT NOT NULL,
@sqlite   value TEXT NOT NULL,
@sqlite   PRIMARY KEY (source_id, name)
@postgres   value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
@postgres -- By hash: a name may be longer than an index entry.
@postgres CREATE UNIQUE INDEX source_db_name ON source_db (source_id, md5(name));

CREATE TABLE dedupe (
  source_id ID NOT NULL,
  item_id ID NOT NULL,
  entry BIGINT NOT NULL,
  PRIMARY KEY (source_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dedupe_age ON dedupe (source_id, entry);

-- Sources that are being changed.
CREATE TABLE source_changes (
  source_id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  kind TEXT NOT NULL,
@sqlite   -- of the process that changes it
@sqlite   boot INTEGER NOT NULL,
@postgres   -- that changes it
@postgres   node BIGINT NOT NULL,
  -- when it began, or was last written
  since_ms BIGINT NOT NULL
) STRICT;

-- What is expected to happen in time -----------------------------------------------------------------------------------

-- Jobs that run elsewhere and call an address.
CREATE TABLE heartbeats (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  name TEXT NOT NULL,
  active BOOLEAN NOT NULL,
  key ID NOT NULL UNIQUE,
  post_only BOOLEAN NOT NULL,
  -- JSON
  schedule TEXT NOT NULL,
  grace_ms BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX heartbeats_owner ON heartbeats (owner_id, id);

-- One for each heartbeat, and for each thing that a workflow is watched for.
CREATE TABLE watches (
  id ID NOT NULL,
  kind ID NOT NULL,
  owner_id ID NOT NULL,
  -- grows with each decision and change
  version BIGINT NOT NULL,
  -- grows with each note of a run
  heard BIGINT NOT NULL,
  -- JSON
  rule TEXT NOT NULL,
  watched_at_ms BIGINT NOT NULL,
  last_at_ms BIGINT,
  -- since then, without a server
  excused_ms BIGINT NOT NULL,
  expected_at_ms BIGINT,
  -- null: it is not looked at until something is noted
  due_at_ms BIGINT,
  -- the errors that it has told of and that are not over; JSON, null: none
  open TEXT,
  -- JSON
  counts TEXT NOT NULL,
  PRIMARY KEY (id, kind)
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) WITH (fillfactor = 70);
CREATE INDEX watches_due ON watches (due_at_ms) WHERE due_at_ms IS NOT NULL;

-- How many runs of a workflow ended in each part of the window in which their errors are counted.
CREATE TABLE watch_counts (
  id ID NOT NULL,
  part BIGINT NOT NULL,
  succeeded BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  PRIMARY KEY (id, part)
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) WITH (fillfactor = 70);

-- Up to when some server has looked at them: one row.
CREATE TABLE watch_clock (
  name ID PRIMARY KEY,
  at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who hears of what -------------------------------------------------------------------------------------------------

CREATE TABLE subscriptions (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  emitter_id ID NOT NULL,
  listener_id ID NOT NULL,
  event_name ID NOT NULL,
  via TEXT NOT NULL,
  active BOOLEAN NOT NULL,
  created_at_ms BIGINT NOT NULL,
  -- The trigger's place among those of the listener, as they were given; null: it stands for no trigger.
  position INT,
  -- JSON; null: everything goes through
  filter TEXT,
  UNIQUE (owner_id, emitter_id, listener_id, event_name, via)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_owner ON subscriptions (owner_id, id);
CREATE INDEX subscriptions_listener ON subscriptions (owner_id, listener_id, id);

CREATE TABLE webhooks (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  url TEXT NOT NULL,
  name TEXT,
  description TEXT,
  active BOOLEAN NOT NULL,
  -- sealed JSON
  settings TEXT NOT NULL,
@sqlite   -- of the settings, what Postgres claims by: a store that is moved there has it
@postgres   -- of the settings, what claims go by
  is_ordered BOOLEAN NOT NULL,
  -- sealed JSON
  secrets TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_owner ON webhooks (owner_id, id);

-- Where notices of errors go: chats, incident services, addresses and mailboxes.
CREATE TABLE channels (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  active BOOLEAN NOT NULL,
  -- sealed JSON
  config TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX channels_owner ON channels (owner_id, id);
`;
