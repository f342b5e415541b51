// Code that deployments have in common is stored once.
//
// An older process reads and writes deployments whole, with their code in `steps`, and knows of no others. So while one
// lives, the newer ones write them like that too, and prune none; behind that, what is whole is shared in the background.
// No row is rewritten here, so that nobody waits for it.

export const CODES = `
-- reads deployments whose code is shared
ALTER TABLE nodes ADD COLUMN shares_code boolean NOT NULL DEFAULT false;

-- its code stands in \`steps\`
ALTER TABLE deployments ADD COLUMN whole boolean NOT NULL DEFAULT true;
CREATE INDEX deployments_whole ON deployments (id) WHERE whole;

CREATE TABLE codes (
  owner_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  -- JSON
  text text NOT NULL,
  PRIMARY KEY (owner_id, hash)
);

-- Which deployments name it.
CREATE TABLE deployment_codes (
  deployment_id text COLLATE "C" NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (deployment_id, hash)
);
CREATE INDEX deployment_codes_hash ON deployment_codes (owner_id, hash);

-- Whose deployment must stay. Neither column changes with a claim, which keeps its place on the page (HOT).
CREATE INDEX open_runs_carried ON open_runs (deployment_id) WHERE carried IS NOT NULL;
`;
