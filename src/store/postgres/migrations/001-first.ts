// The schema of the first release: what owners configure and who shares the database, and the log of what happened
// (001-log.ts). Ids are compared byte by byte (COLLATE "C"), since lists are walked by them. Every table carries its owner,
// or hangs on a row that does; queues, ledger and the configuration start with it.

import { HOT } from './001-hot.ts';
import { LOG } from './001-log.ts';

const CONFIGURATION = `
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

-- Owners, who may act for them, and what they may use ---------------------------------------------------------------

CREATE TABLE owners (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  email text,
  global_error_workflow_id text COLLATE "C",
  digest_window_ms bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  label text NOT NULL,
  -- JSON
  scopes text NOT NULL,
  created_at_ms bigint NOT NULL,
  -- the key that made it
  created_by text COLLATE "C",
  expires_at_ms bigint,
  last_used_at_ms bigint,
  revoked_at_ms bigint
);
CREATE INDEX api_keys_owner ON api_keys (owner_id, id);

CREATE TABLE owner_quotas (
  owner_id text COLLATE "C" PRIMARY KEY,
  -- each null: any number
  processes bigint,
  cpu_seconds_per_minute bigint,
  requests_per_second bigint,
  stored_bytes bigint
);

-- How much each has stored, when that was last measured.
CREATE TABLE owner_bytes (
  owner_id text COLLATE "C" PRIMARY KEY,
  bytes bigint NOT NULL,
  measured_at_ms bigint NOT NULL
);

CREATE TABLE audit (
  id text COLLATE "C" PRIMARY KEY,
  -- in whose log it stands
  owner_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C",
  key_label text NOT NULL,
  by_owner_id text COLLATE "C",
  operation text COLLATE "C" NOT NULL,
  target_id text COLLATE "C",
  method text NOT NULL,
  path text NOT NULL,
  client_ip text NOT NULL,
  request_id text NOT NULL,
  -- null until it is answered
  status integer,
  count bigint NOT NULL,
  at_ms bigint NOT NULL
);
CREATE INDEX audit_owner ON audit (owner_id, id);
CREATE INDEX audit_key ON audit (owner_id, key_id, id);
CREATE INDEX audit_operation ON audit (owner_id, operation, id);
CREATE INDEX audit_target ON audit (owner_id, target_id, id);

-- Workflows, sources and their code ---------------------------------------------------------------------------------

-- Workflows and sources share what running one needs.
CREATE TABLE runnables (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  active boolean NOT NULL,
  deployment_id text COLLATE "C" NOT NULL,
  -- sealed JSON
  settings text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  -- of sources, the code of the active deployment: JSON, or, when it is long, its hash in codes
  component_code text,
  component_code_hash text COLLATE "C",
  -- sources only; sealed JSON
  configured_props text,
  dedupe text,
  secret_props text,
  -- sealed JSON: definitions by name; null: there are none
  additional_props text
);
CREATE INDEX runnables_owner ON runnables (owner_id, id);

CREATE TABLE deployments (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  runnable_id text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  -- JSON; what is long of their code stands in codes, and its hash here
  steps text NOT NULL,
  -- sealed JSON by the step's namespace; null: no step has props
  step_props text
);
CREATE INDEX deployments_runnable ON deployments (runnable_id, id);

-- Code that deployments of one owner have in common is stored once.
CREATE TABLE codes (
  owner_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  -- JSON
  text text NOT NULL,
  PRIMARY KEY (owner_id, hash)
);

-- Which deployments name it.
CREATE TABLE deployment_codes (
  deployment_id text COLLATE "C" NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (deployment_id, hash)
);
CREATE INDEX deployment_codes_hash ON deployment_codes (owner_id, hash);

CREATE TABLE triggers (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  runnable_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  created_at_ms bigint NOT NULL,
  key text COLLATE "C" UNIQUE,
  custom_response boolean NOT NULL,
  token_hash text,
  -- JSON
  schedule text,
  next_at_ms bigint,
  -- The due time that it fired last: one that comes again, since the schedule was switched off and on or the clock was set
  -- back, is fired no second time.
  last_due_at_ms bigint,
  skipped_ticks integer NOT NULL DEFAULT 0
);
CREATE INDEX triggers_runnable ON triggers (runnable_id, id);
CREATE INDEX triggers_due ON triggers (next_at_ms) WHERE next_at_ms IS NOT NULL;

-- What sources remember: their own values, and which items they have emitted.
CREATE TABLE source_db (
  source_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  value text NOT NULL
);
-- By hash: a name may be longer than an index entry.
CREATE UNIQUE INDEX source_db_name ON source_db (source_id, md5(name));

CREATE TABLE dedupe (
  source_id text COLLATE "C" NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  entry bigint NOT NULL,
  PRIMARY KEY (source_id, item_id)
);
CREATE INDEX dedupe_age ON dedupe (source_id, entry);

-- Sources that are being changed.
CREATE TABLE source_changes (
  source_id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  -- that changes it
  node bigint NOT NULL,
  -- when it began, or was last written
  since_ms bigint NOT NULL
);

-- Who hears of what -------------------------------------------------------------------------------------------------

CREATE TABLE subscriptions (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  emitter_id text COLLATE "C" NOT NULL,
  listener_id text COLLATE "C" NOT NULL,
  event_name text COLLATE "C" NOT NULL,
  via text NOT NULL,
  active boolean NOT NULL,
  created_at_ms bigint NOT NULL,
  -- The trigger's place among those of the listener, as they were given; null: it stands for no trigger.
  position integer,
  UNIQUE (owner_id, emitter_id, listener_id, event_name, via)
);
CREATE INDEX subscriptions_owner ON subscriptions (owner_id, id);
CREATE INDEX subscriptions_listener ON subscriptions (owner_id, listener_id, id);

CREATE TABLE webhooks (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  name text,
  description text,
  active boolean NOT NULL,
  -- sealed JSON
  settings text NOT NULL,
  -- of the settings, what claims go by
  is_ordered boolean NOT NULL,
  -- sealed JSON
  secrets text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);
CREATE INDEX webhooks_owner ON webhooks (owner_id, id);

-- Accounts at other services, and data stores with their records ----------------------------------------------------

CREATE TABLE accounts (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  app text NOT NULL,
  name text NOT NULL,
  -- sealed JSON
  fields text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);
CREATE INDEX accounts_owner ON accounts (owner_id, id);

CREATE TABLE data_stores (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- its records have the same; those of a lower one were cleared, and are deleted in steps
  generation integer NOT NULL,
  -- of this generation, also those that have expired and are still there
  records bigint NOT NULL,
  bytes bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX data_stores_owner ON data_stores (owner_id, id);

CREATE TABLE data_records (
  store_id text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  key text COLLATE "C" NOT NULL,
  -- of key and value
  bytes integer NOT NULL,
  expires_at_ms bigint,
  updated_at_ms bigint NOT NULL,
  -- JSON
  value text NOT NULL,
  PRIMARY KEY (store_id, generation, key)
);
CREATE INDEX data_records_expiry ON data_records (store_id, generation, expires_at_ms) WHERE expires_at_ms IS NOT NULL;
CREATE INDEX data_records_expired ON data_records (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- Whose records are still to be deleted: the store is gone, or was cleared.
CREATE TABLE data_gone (
  store_id text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  PRIMARY KEY (store_id, generation)
);
`;

export const FIRST = CONFIGURATION + LOG;
