// What owners may use, and how much each has stored, when that was last measured. An older process knows of neither.

export const QUOTAS = `
CREATE TABLE owner_quotas (
  owner_id text COLLATE "C" PRIMARY KEY,
  -- each null: any number
  processes bigint,
  cpu_seconds_per_minute bigint,
  requests_per_second bigint,
  stored_bytes bigint
);

CREATE TABLE owner_bytes (
  owner_id text COLLATE "C" PRIMARY KEY,
  bytes bigint NOT NULL,
  measured_at_ms bigint NOT NULL
);
`;
