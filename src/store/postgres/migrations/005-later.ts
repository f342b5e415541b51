// Emissions of sources that are to be delivered later. They are in the log when their time has come, and not before: the
// log's order is that of what has happened.

export const LATER = `
CREATE TABLE later_emissions (
  entry bigint PRIMARY KEY,
  due_at_ms bigint NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  emitter_id text COLLATE "C" NOT NULL,
  -- the channel on which it will be emitted
  name text COLLATE "C" NOT NULL,
  source_type text NOT NULL,
  origin_id text COLLATE "C" NOT NULL,
  verified boolean NOT NULL,
  replay boolean NOT NULL,
  test boolean NOT NULL,
  trace_id text NOT NULL,
  lineage text NOT NULL,
  hops integer NOT NULL,
  cause_run bigint,
  summary text,
  item_id text,
  item_ts double precision,
  body bytea NOT NULL
);
ALTER TABLE later_emissions ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX later_emissions_due ON later_emissions (due_at_ms, entry);
CREATE INDEX later_emissions_emitter ON later_emissions (emitter_id, entry);
`;
