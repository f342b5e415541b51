// Keys that expire, and know who made them and when they were used last; and the audit log.
//
// What `write` allowed before is now `write`, `keys` and `account`. The first key of each owner keeps all of it, since nothing
// else could make keys for that owner; every other key has from now on what it says, and no more.

export const ACCESS = `
ALTER TABLE api_keys ADD COLUMN expires_at_ms INTEGER;
ALTER TABLE api_keys ADD COLUMN created_by TEXT;
ALTER TABLE api_keys ADD COLUMN last_used_at_ms INTEGER;

UPDATE api_keys SET scopes = replace(scopes, ']', ',"keys","account"]')
  WHERE id IN (SELECT min(id) FROM api_keys GROUP BY owner_id) AND label = 'first key' AND scopes LIKE '%"write"%';

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
`;
