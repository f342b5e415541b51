// What owners may use, and how much each has stored, when that was last measured.

export const QUOTAS = `
CREATE TABLE owner_quotas (
  owner_id TEXT PRIMARY KEY,
  -- each null: any number
  processes INTEGER,
  cpu_seconds_per_minute INTEGER,
  requests_per_second INTEGER,
  stored_bytes INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE owner_bytes (
  owner_id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  measured_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
