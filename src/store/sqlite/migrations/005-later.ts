// Emissions of sources that are to be delivered later. They are in the log when their time has come, and not before: the
// log's order is that of what has happened.

export const LATER = `
CREATE TABLE later_emissions (
  entry INTEGER PRIMARY KEY,
  due_at_ms INTEGER NOT NULL,
  owner_id TEXT NOT NULL,
  emitter_id TEXT NOT NULL,
  -- the channel on which it will be emitted
  name TEXT NOT NULL,
  source_type TEXT NOT NULL,
  origin_id TEXT NOT NULL,
  -- as those of emissions
  flags INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  lineage TEXT NOT NULL,
  hops INTEGER NOT NULL,
  cause_run INTEGER,
  summary TEXT,
  item_id TEXT,
  item_ts INTEGER,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX later_emissions_due ON later_emissions (due_at_ms, entry);
CREATE INDEX later_emissions_emitter ON later_emissions (emitter_id, entry);
`;
