// Accounts at other services, and data stores with their records.

export const ACCOUNTS = `
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
