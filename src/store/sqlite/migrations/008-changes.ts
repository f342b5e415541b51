// Sources that are being changed.

export const CHANGES = `
CREATE TABLE source_changes (
  source_id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- of the process that changes it
  boot INTEGER NOT NULL,
  -- when it began, or was last written
  since_ms INTEGER NOT NULL
) STRICT;
`;
