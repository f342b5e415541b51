// Keys that expire, and know who made them and when they were used last; and the audit log. An older process knows nothing
// of them: it takes keys that have expired, lets `write` make keys, and writes no records.
//
// What `write` allowed before is now `write`, `keys` and `account`. The first key of each owner keeps all of it, since nothing
// else could make keys for that owner; every other key has from now on what it says, and no more.

export const ACCESS = `
ALTER TABLE api_keys ADD COLUMN expires_at_ms bigint;
ALTER TABLE api_keys ADD COLUMN created_by text COLLATE "C";
ALTER TABLE api_keys ADD COLUMN last_used_at_ms bigint;

UPDATE api_keys SET scopes = replace(scopes, ']', ',"keys","account"]')
  WHERE id IN (SELECT min(id) FROM api_keys GROUP BY owner_id) AND label = 'first key' AND scopes LIKE '%"write"%';

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
`;
