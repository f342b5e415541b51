// Props of steps, props that components add to their own, and ticks that were skipped. An older process writes rows
// without them, and skips no ticks.

export const PROPS = `
ALTER TABLE runnables
  -- sealed JSON: definitions by name; null: there are none
  ADD COLUMN additional_props text;

ALTER TABLE deployments
  -- sealed JSON by the step's namespace; null: no step has props
  ADD COLUMN step_props text;

ALTER TABLE triggers
  ADD COLUMN skipped_ticks integer NOT NULL DEFAULT 0;
`;
