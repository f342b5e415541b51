// The due time that a schedule fired last: one that comes again, since the schedule was switched off and on or the clock was
// set back, is fired no second time. An older process fires without leaving it.

export const TICKS = `
ALTER TABLE triggers ADD COLUMN last_due_at_ms bigint;
`;
