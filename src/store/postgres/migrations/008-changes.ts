// Sources that are being changed. An older process changes sources without.

export const CHANGES = `
CREATE TABLE source_changes (
  source_id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  -- that changes it
  node bigint NOT NULL,
  -- when it began, or was last written
  since_ms bigint NOT NULL
);
`;
