// Of the schema of the first release: what code of owners keeps and needs, in the words of words.ts.

export const DATA = `
-- Accounts at other services, and data stores with their records ----------------------------------------------------

CREATE TABLE accounts (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  app TEXT NOT NULL,
  name TEXT NOT NULL,
  -- sealed JSON
  fields TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_owner ON accounts (owner_id, id);

CREATE TABLE data_stores (
  id ID PRIMARY KEY,
  owner_id ID NOT NULL,
  name TEXT NOT NULL,
  -- its records have the same; those of a lower one were cleared, and are deleted in steps
  generation INT NOT NULL,
  -- of this generation, also those that have expired and are still there
  records BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL
@sqlite ) STRICT, WITHOUT ROWID;
@postgres ) WITH (fillfactor = 70);
CREATE INDEX data_stores_owner ON data_stores (owner_id, id);

@sqlite -- The value comes last: who asks for anything else does not read it.
CREATE TABLE data_records (
  store_id ID NOT NULL,
  generation INT NOT NULL,
  key ID NOT NULL,
  -- of key and value
  bytes INT NOT NULL,
  expires_at_ms BIGINT,
  updated_at_ms BIGINT NOT NULL,
  -- JSON
  value TEXT NOT NULL,
  PRIMARY KEY (store_id, generation, key)
) STRICT;
CREATE INDEX data_records_expiry ON data_records (store_id, generation, expires_at_ms) WHERE expires_at_ms IS NOT NULL;
CREATE INDEX data_records_expired ON data_records (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- Whose records are still to be deleted: the store is gone, or was cleared.
CREATE TABLE data_gone (
  store_id ID NOT NULL,
  generation INT NOT NULL,
  PRIMARY KEY (store_id, generation)
) STRICT, WITHOUT ROWID;
`;
