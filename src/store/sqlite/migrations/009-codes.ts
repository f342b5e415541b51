// Code that deployments have in common is stored once. What is there already stays whole until it is shared in the
// background, a little at a time: a start does not wait for that.

export const CODES = `
-- its code stands in \`steps\`
ALTER TABLE deployments ADD COLUMN whole INTEGER NOT NULL DEFAULT 1;
CREATE INDEX deployments_whole ON deployments (id) WHERE whole;

CREATE TABLE codes (
  owner_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  -- JSON
  text TEXT NOT NULL,
  PRIMARY KEY (owner_id, hash)
) STRICT;

-- Which deployments name it.
CREATE TABLE deployment_codes (
  deployment_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (deployment_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX deployment_codes_hash ON deployment_codes (owner_id, hash);

-- Whose deployment must stay.
CREATE INDEX runs_carried ON runs (deployment_id) WHERE carried IS NOT NULL;
`;
