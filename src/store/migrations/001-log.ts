// Of the schema of the first release: the tables of the log that both databases have, in the words of words.ts. How runs and
// deliveries are stored is each database's own affair.
//
// Hot tables have the number from the store's clock as primary key, so rows are appended at the right edge of the tree, and
// the large column last, so that scans do not read it. JSON columns are text that the store never queries.

export const EMISSIONS = `
-- Emissions ---------------------------------------------------------------------------------------------------------

@postgres -- The body is last and never compressed: it is read whole, and compressing costs more than the disk.
CREATE TABLE emissions (
  entry BIGINT PRIMARY KEY,
  owner_id ID NOT NULL,
  emitter_id ID NOT NULL,
  name ID NOT NULL,
  source_type TEXT NOT NULL,
  origin_id ID NOT NULL,
@sqlite   -- 1 verified, 2 replay, 4 test, 8 listed (its emitter has a list: p_, dc_, wh_, hb_)
@sqlite   flags INTEGER NOT NULL,
@postgres   verified BOOLEAN NOT NULL,
@postgres   replay BOOLEAN NOT NULL,
@postgres   test BOOLEAN NOT NULL,
@postgres   -- its emitter has a list: p_, dc_, wh_, hb_
@postgres   listed BOOLEAN NOT NULL,
  trace_id TEXT NOT NULL,
  -- of W3C Trace Context: what the original event came with
  traceparent TEXT,
  -- ids, oldest first, separated by blanks
  lineage TEXT NOT NULL,
  hops INT NOT NULL,
  cause_run BIGINT,
  cause_delivery BIGINT,
  summary TEXT,
  item_id TEXT,
@sqlite   item_ts INTEGER,
@postgres   item_ts double precision,
  code TEXT,
  original_start INT,
  original_length INT,
  only_listener_id ID,
  -- of a mail, what it repeats; of a notice, the group that it tells of
  digest_key TEXT,
  -- of an error
  group_id ID,
  body BLOB NOT NULL
) STRICT;
@sqlite CREATE INDEX emissions_channel ON emissions (emitter_id, name, entry) WHERE flags & 8;
@postgres ALTER TABLE emissions ALTER COLUMN body SET STORAGE EXTERNAL;
@postgres CREATE INDEX emissions_channel ON emissions (emitter_id, name, entry) WHERE listed;
-- Streams of many emitters of an owner, which are told from it alone.
@sqlite CREATE INDEX emissions_owner ON emissions (owner_id, entry, emitter_id, name) WHERE flags & 8;
@postgres CREATE INDEX emissions_owner ON emissions (owner_id, entry, emitter_id, name) WHERE listed;
-- The search of all errors of an owner. Nothing else is in it.
CREATE INDEX emissions_errors ON emissions (owner_id, entry, code) WHERE name = '$errors';
-- Of the many that a run may have emitted, those that run its event again.
CREATE INDEX emissions_replays ON emissions (owner_id, cause_run) WHERE name = '$replay';
CREATE INDEX emissions_cause_run ON emissions (cause_run) WHERE cause_run IS NOT NULL;
CREATE INDEX emissions_cause_delivery ON emissions (cause_delivery) WHERE cause_delivery IS NOT NULL;
CREATE INDEX emissions_group ON emissions (group_id, entry) WHERE group_id IS NOT NULL;
CREATE INDEX emissions_notices ON emissions (digest_key, entry) WHERE name = '$notice';

-- Emissions of sources that are to be delivered later. They are in the log when their time has come, and not before: the
-- log's order is that of what has happened.
CREATE TABLE later_emissions (
  entry BIGINT PRIMARY KEY,
  due_at_ms BIGINT NOT NULL,
  owner_id ID NOT NULL,
  emitter_id ID NOT NULL,
  -- the channel on which it will be emitted
  name ID NOT NULL,
  source_type TEXT NOT NULL,
  origin_id ID NOT NULL,
@sqlite   -- as those of emissions
@sqlite   flags INTEGER NOT NULL,
@postgres   verified BOOLEAN NOT NULL,
@postgres   replay BOOLEAN NOT NULL,
@postgres   test BOOLEAN NOT NULL,
  trace_id TEXT NOT NULL,
  traceparent TEXT,
  lineage TEXT NOT NULL,
  hops INT NOT NULL,
  cause_run BIGINT,
  summary TEXT,
  item_id TEXT,
@sqlite   item_ts INTEGER,
@postgres   item_ts double precision,
  body BLOB NOT NULL
) STRICT;
@postgres ALTER TABLE later_emissions ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX later_emissions_due ON later_emissions (due_at_ms, entry);
CREATE INDEX later_emissions_emitter ON later_emissions (emitter_id, entry);

-- Who did not get an emission that was theirs, and why.
CREATE TABLE withheld (
  entry BIGINT NOT NULL,
  listener_id ID NOT NULL,
  subscription_id ID,
  via TEXT NOT NULL,
  reason TEXT NOT NULL,
  -- of the global error workflow: when to look whether another listener has taken the error; null: it is decided
  due_at_ms BIGINT
) STRICT;
CREATE INDEX withheld_entry ON withheld (entry);
CREATE INDEX withheld_due ON withheld (due_at_ms) WHERE due_at_ms IS NOT NULL;

CREATE TABLE idempotency (
  trigger_id ID NOT NULL,
  key ID NOT NULL,
  -- Of the request that the key came with: another one with the same key is refused, and not answered with what the first
@sqlite   -- one caused.
@sqlite   request_hash TEXT NOT NULL,
@postgres   -- one caused. Null only within the transaction that takes the key.
@postgres   request_hash TEXT,
  entry BIGINT NOT NULL,
  run BIGINT,
  expires_at_ms BIGINT NOT NULL,
  answer TEXT,
  PRIMARY KEY (trigger_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_run ON idempotency (run) WHERE run IS NOT NULL;
CREATE INDEX idempotency_expires ON idempotency (expires_at_ms);

CREATE TABLE digests (
  owner_id ID NOT NULL,
  digest_key TEXT NOT NULL,
  opened_at_ms BIGINT NOT NULL,
  closes_at_ms BIGINT NOT NULL,
  repeats INT NOT NULL,
  newest_entry BIGINT NOT NULL,
  PRIMARY KEY (owner_id, digest_key)
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) HOT;
CREATE INDEX digests_closes ON digests (closes_at_ms);
@postgres CREATE INDEX digests_newest ON digests (newest_entry);
`;

export const ERROR_GROUPS = `
-- Groups of errors --------------------------------------------------------------------------------------------------

CREATE TABLE error_groups (
  -- made of the owner, the emitter and the fingerprint, or the rule's name
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  emitter_id ID NOT NULL,
  version INT NOT NULL,
  namespace TEXT NOT NULL,
  code ID NOT NULL,
  template TEXT NOT NULL,
  frame TEXT NOT NULL,
  -- the name that a rule of the workflow gave it
  rule TEXT,
  -- errors captured, also those that retention has deleted
  n BIGINT NOT NULL,
  first_entry BIGINT NOT NULL,
  last_entry BIGINT NOT NULL,
  first_deployment ID,
  last_deployment ID,
  state TEXT NOT NULL,
  until_ms BIGINT,
  until_count BIGINT,
  after_deployment ID,
  -- JSON; null: it was never opened again
  reopened TEXT,
  note TEXT,
  assignee TEXT,
  -- when its next notice is due, or was taken and is taken again; null: there is nothing to tell
  notice_due_ms BIGINT,
  -- until then repeats are counted; null: nobody was told since the group opened
  notice_after_ms BIGINT,
  -- how many notices there were, and the errors counted when the last one was sent
  notices INT NOT NULL DEFAULT 0,
  told_n BIGINT NOT NULL DEFAULT 0,
  -- when a notice of its own was sent last; and whether its next one tells of other groups of its workflow, too
  notice_told_ms BIGINT,
  notice_folded BOOLEAN NOT NULL DEFAULT false,
  updated_at_ms BIGINT NOT NULL
@sqlite ) STRICT;
@postgres ) HOT;
CREATE INDEX error_groups_seen ON error_groups (owner_id, last_entry);
CREATE INDEX error_groups_emitter ON error_groups (owner_id, emitter_id, last_entry);
CREATE INDEX error_groups_notices ON error_groups (notice_due_ms) WHERE notice_due_ms IS NOT NULL;

-- How many errors of a group came in each hour since 1970.
CREATE TABLE error_group_hours (
  group_id ID NOT NULL,
  hour INT NOT NULL,
  n BIGINT NOT NULL,
  PRIMARY KEY (group_id, hour)
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) HOT;

CREATE TABLE error_group_deployments (
  group_id ID NOT NULL,
  deployment_id ID NOT NULL,
  n BIGINT NOT NULL,
  first_entry BIGINT NOT NULL,
  last_entry BIGINT NOT NULL,
  PRIMARY KEY (group_id, deployment_id)
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) HOT;
`;

export const LEDGER_HOURS = `
-- The figures of the ledger as they were last noted within each hour since 1970, of owners for whom something happened then.
CREATE TABLE ledger_hours (
  owner_id ID NOT NULL,
  hour INT NOT NULL,
  events BIGINT NOT NULL,
  runs BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  deliveries BIGINT NOT NULL,
  PRIMARY KEY (owner_id, hour)
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) HOT;
`;

export const ATTEMPTS = `
CREATE TABLE attempts (
  delivery BIGINT NOT NULL,
  n INT NOT NULL,
  trigger TEXT NOT NULL,
  -- JSON
  made TEXT NOT NULL,
  PRIMARY KEY (delivery, n)
) STRICT;
`;

export const OPERATIONS = `
-- Each sends many deliveries of a webhook again, or replays many errors, step by step.
CREATE TABLE operations (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  -- resend, replay
  kind TEXT NOT NULL,
  -- of a resend: its webhook, the time of its deliveries, and their states, separated by blanks
  webhook_id ID,
  since_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  states TEXT NOT NULL,
  state TEXT NOT NULL,
  -- matched so far while it counts, and whether it has come to the end
  total BIGINT NOT NULL,
  is_counted BOOLEAN NOT NULL,
  resent BIGINT NOT NULL,
  -- the last delivery or error that was looked at, of the counting or of what follows
  after_number BIGINT NOT NULL,
  -- when it had its last step: the one with the lowest has the next
  turn BIGINT NOT NULL,
  reason TEXT,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT,
  -- of a replay, JSON: what it was asked for
  replay TEXT,
  -- the deployment that it was asked for: it is kept while the operation is open
  deployment_id ID,
  -- the last error that it is about
  last_entry BIGINT NOT NULL DEFAULT 0,
  is_through BOOLEAN NOT NULL DEFAULT false,
  is_canary_over BOOLEAN NOT NULL DEFAULT false,
  -- an error was left although its replay has failed in another way
  has_left_unfixed BOOLEAN NOT NULL DEFAULT false,
  stop_at BIGINT,
  -- how many replays may begin now, and by its rate not before when
  room BIGINT NOT NULL DEFAULT 0,
  due_at_ms BIGINT NOT NULL DEFAULT 0,
  -- how many errors have come to which outcome
  under_way BIGINT NOT NULL DEFAULT 0,
  fixed BIGINT NOT NULL DEFAULT 0,
  failed_same BIGINT NOT NULL DEFAULT 0,
  failed_differently BIGINT NOT NULL DEFAULT 0,
  cancelled BIGINT NOT NULL DEFAULT 0,
  unknown BIGINT NOT NULL DEFAULT 0,
  not_replayed BIGINT NOT NULL DEFAULT 0,
  replayed_before BIGINT NOT NULL DEFAULT 0
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) WITH (fillfactor = 70);
CREATE INDEX operations_owner ON operations (owner_id, id);
CREATE INDEX operations_webhook ON operations (webhook_id, id);
CREATE INDEX operations_open ON operations (turn, id) WHERE (state = 'running' OR under_way > 0);
CREATE INDEX operations_deployment ON operations (deployment_id) WHERE deployment_id IS NOT NULL;
CREATE INDEX operations_ended ON operations (ended_at_ms) WHERE ended_at_ms IS NOT NULL;

-- What became of each error that an operation has looked at.
CREATE TABLE operation_results (
  operation_id ID NOT NULL,
  entry BIGINT NOT NULL,
  -- what failed; null: the error is not there
  emitter_id ID,
  -- the group of the error
  group_id ID,
  run BIGINT,
  outcome TEXT NOT NULL,
  reason TEXT,
  -- the error that the replay ended in
  error_entry BIGINT,
  PRIMARY KEY (operation_id, entry)
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) HOT;
-- The operation that made a replay: it has no reason to say what else has.
CREATE INDEX operation_results_run ON operation_results (run) WHERE reason IS NULL AND run IS NOT NULL;
CREATE INDEX operation_results_open ON operation_results (operation_id, entry) WHERE outcome = 'under_way';
`;
