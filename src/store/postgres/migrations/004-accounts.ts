// Accounts at other services, and data stores with their records. An older process knows nothing of them, and does not
// seal what is in them: see seal-rows.ts.

export const ACCOUNTS = `
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
