// Props of steps, props that components add to their own, and ticks that were skipped.

export const PROPS = `
-- sealed JSON: definitions by name; null: there are none
ALTER TABLE runnables ADD COLUMN additional_props TEXT;
-- sealed JSON by the step's namespace; null: no step has props
ALTER TABLE deployments ADD COLUMN step_props TEXT;
ALTER TABLE triggers ADD COLUMN skipped_ticks INTEGER NOT NULL DEFAULT 0;
`;
