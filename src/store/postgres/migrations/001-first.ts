// The first schema. What is open (queued, running, pending, being sent) lives in small hot tables of its own and moves
// out when it ends: into runs and deliveries, which are only ever appended to. So claims never scan history, and dead
// rows gather only where autovacuum is quick. Columns that change with every claim are in no index, so that most updates
// stay on their page (HOT). Ids are compared byte by byte (COLLATE "C"), since lists are walked by them.
//
// Every table carries its owner, or hangs on a row that does; lines, ledger and the configuration start with it.

const HOT = `WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0)`;

export const FIRST = `
CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);

-- How far each lane of a process has come (commit-marker.ts).
CREATE TABLE marks (lane text COLLATE "C" PRIMARY KEY, n bigint NOT NULL, at timestamptz NOT NULL DEFAULT now()) ${HOT};

-- Who shares this database. The slot is part of every number that a node gives, so no two living ones have the same.
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

-- Grows with every write to an owner's configuration; routing that was read at another version is read anew.
CREATE TABLE versions (owner_id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 50);

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
  scopes text NOT NULL,
  created_at_ms bigint NOT NULL,
  revoked_at_ms bigint
);
CREATE INDEX api_keys_owner ON api_keys (owner_id, id);

-- Workflows and sources share what running one needs.
CREATE TABLE runnables (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  active boolean NOT NULL,
  deployment_id text COLLATE "C" NOT NULL,
  settings text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  -- sources only
  component_code text,
  configured_props text,
  dedupe text,
  secret_props text
);
CREATE INDEX runnables_owner ON runnables (owner_id, id);

CREATE TABLE deployments (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  runnable_id text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  steps text NOT NULL
);
CREATE INDEX deployments_runnable ON deployments (runnable_id, id);

CREATE TABLE triggers (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  runnable_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  created_at_ms bigint NOT NULL,
  key text COLLATE "C" UNIQUE,
  custom_response boolean NOT NULL,
  token_hash text,
  schedule text,
  next_at_ms bigint
);
CREATE INDEX triggers_runnable ON triggers (runnable_id, id);
CREATE INDEX triggers_due ON triggers (next_at_ms) WHERE next_at_ms IS NOT NULL;

CREATE TABLE subscriptions (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  emitter_id text COLLATE "C" NOT NULL,
  listener_id text COLLATE "C" NOT NULL,
  event_name text COLLATE "C" NOT NULL,
  via text NOT NULL,
  active boolean NOT NULL,
  created_at_ms bigint NOT NULL,
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
  secrets text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);
CREATE INDEX webhooks_owner ON webhooks (owner_id, id);

-- The log. The body is last and never compressed: it is read whole, and compressing costs more than the disk.
CREATE TABLE emissions (
  entry bigint PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  emitter_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  source_type text NOT NULL,
  origin_id text COLLATE "C" NOT NULL,
  verified boolean NOT NULL,
  replay boolean NOT NULL,
  test boolean NOT NULL,
  -- its emitter has a list: p_, dc_, wh_
  listed boolean NOT NULL,
  trace_id text NOT NULL,
  -- ids, oldest first, separated by blanks
  lineage text NOT NULL,
  hops integer NOT NULL,
  cause_run bigint,
  cause_delivery bigint,
  summary text,
  item_id text,
  item_ts double precision,
  code text,
  original_start integer,
  original_length integer,
  only_listener_id text COLLATE "C",
  digest_key text,
  body bytea NOT NULL
);
ALTER TABLE emissions ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX emissions_channel ON emissions (emitter_id, name, entry) WHERE listed;
CREATE INDEX emissions_cause_run ON emissions (cause_run) WHERE cause_run IS NOT NULL;
CREATE INDEX emissions_cause_delivery ON emissions (cause_delivery) WHERE cause_delivery IS NOT NULL;

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
  cancel_asked boolean NOT NULL DEFAULT false
) ${HOT};
CREATE INDEX open_runs_runnable ON open_runs (runnable_id, run);
CREATE INDEX open_runs_entry ON open_runs (entry);
CREATE INDEX open_runs_cancel ON open_runs (run) WHERE cancel_asked;

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

-- Answers on their way to a caller at another node.
CREATE TABLE answers (run bigint PRIMARY KEY, owner_id text COLLATE "C" NOT NULL, answer text NOT NULL, at_ms bigint NOT NULL) ${HOT};

-- Deliveries that are not over, and those that are.
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
  fence integer NOT NULL,
  node bigint,
  lease_until_ms bigint,
  due_at_ms bigint
) ${HOT};
CREATE INDEX open_deliveries_listener ON open_deliveries (owner_id, listener_id, delivery);
CREATE INDEX open_deliveries_due ON open_deliveries (owner_id, listener_id, state, due_at_ms, delivery)
  WHERE state IN ('pending', 'retrying');
CREATE INDEX open_deliveries_entry ON open_deliveries (entry);

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
  ended_at_ms bigint NOT NULL
);
CREATE INDEX deliveries_listener ON deliveries (owner_id, listener_id, delivery);
CREATE INDEX deliveries_entry ON deliveries (entry);

CREATE TABLE attempts (
  delivery bigint NOT NULL,
  n integer NOT NULL,
  trigger text NOT NULL,
  made text NOT NULL,
  PRIMARY KEY (delivery, n)
);

CREATE TABLE withheld (
  entry bigint NOT NULL,
  listener_id text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C",
  via text NOT NULL,
  reason text NOT NULL
);
CREATE INDEX withheld_entry ON withheld (entry);

-- What waits for a workflow, source or webhook and how many of it are under way, on all nodes together: the row that
-- whoever claims, queues or ends something for this listener locks. Held by one node: only a webhook's line (or that of
-- the owner's mail), so that its order, its rate and its requests in flight are one node's affair while it sends.
CREATE TABLE lines (
  owner_id text COLLATE "C" NOT NULL,
  listener_id text COLLATE "C" NOT NULL,
  is_run boolean NOT NULL,
  waiting integer NOT NULL,
  taken integer NOT NULL,
  holder bigint,
  -- the earliest that something waiting is due; 0 for a queued run; null when nothing waits
  ready_at_ms bigint,
  PRIMARY KEY (owner_id, listener_id)
) ${HOT};
CREATE INDEX lines_ready ON lines (is_run, listener_id, owner_id) WHERE ready_at_ms IS NOT NULL;

CREATE TABLE idempotency (
  trigger_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  entry bigint NOT NULL,
  run bigint,
  expires_at_ms bigint NOT NULL,
  answer text,
  PRIMARY KEY (trigger_id, key)
);
CREATE INDEX idempotency_run ON idempotency (run) WHERE run IS NOT NULL;
CREATE INDEX idempotency_expires ON idempotency (expires_at_ms);

CREATE TABLE digests (
  owner_id text COLLATE "C" NOT NULL,
  digest_key text NOT NULL,
  opened_at_ms bigint NOT NULL,
  closes_at_ms bigint NOT NULL,
  repeats integer NOT NULL,
  newest_entry bigint NOT NULL,
  PRIMARY KEY (owner_id, digest_key)
) ${HOT};
CREATE INDEX digests_closes ON digests (closes_at_ms);
CREATE INDEX digests_newest ON digests (newest_entry);

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

-- What has ever been accepted and where it stands, kept by the transactions that change it. Each node counts in a row of
-- its own slot, so that nodes do not wait for each other; the sum over the slots is the figure.
CREATE TABLE ledger (
  owner_id text COLLATE "C" NOT NULL,
  fact text COLLATE "C" NOT NULL,
  slot smallint NOT NULL,
  n bigint NOT NULL,
  PRIMARY KEY (owner_id, fact, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

CREATE VIEW all_runs AS
  SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, started_at_ms,
    NULL::bigint AS ended_at_ms, NULL::text AS summary, NULL::bigint AS error_entry, NULL::text AS error_code,
    NULL::text AS detail FROM open_runs
  UNION ALL
  SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, started_at_ms,
    ended_at_ms, summary, error_entry, error_code, detail FROM runs;

CREATE VIEW all_deliveries AS
  SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made, due_at_ms,
    NULL::bigint AS ended_at_ms FROM open_deliveries
  UNION ALL
  SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made, NULL::bigint,
    ended_at_ms FROM deliveries;
`;
