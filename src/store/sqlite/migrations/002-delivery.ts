// Webhooks' settings and health, deliveries that are sent again, and the operations that send many of them again.

export const DELIVERY = `
-- sealed JSON; null: the defaults
ALTER TABLE webhooks ADD COLUMN settings TEXT;

-- attempts that count and those that the receiver put off
ALTER TABLE deliveries ADD COLUMN requests_made INTEGER NOT NULL DEFAULT 0;
-- delays of the schedule that were used up
ALTER TABLE deliveries ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN due_by TEXT NOT NULL DEFAULT 'event';
UPDATE deliveries SET requests_made = attempts_made, tries = attempts_made, due_by = 'schedule' WHERE attempts_made > 0;

-- When the next one is due is kept in memory.
DROP INDEX deliveries_due;
-- The head of an ordered webhook.
CREATE INDEX deliveries_head ON deliveries (listener_id, delivery) WHERE state IN ('pending', 'retrying');
-- What was sent again and waits: an operation looks how many there are.
CREATE INDEX deliveries_resent ON deliveries (listener_id, delivery) WHERE state = 'retrying' AND due_by = 'resend';

-- Only of webhooks that are not well, or were put off.
CREATE TABLE webhook_health (
  webhook_id TEXT PRIMARY KEY,
  failing_since_ms INTEGER,
  exhausted_in_row INTEGER NOT NULL,
  noticed_at_ms INTEGER,
  paused_until_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  -- states of deliveries, separated by blanks
  states TEXT NOT NULL,
  state TEXT NOT NULL,
  -- matched so far while it counts, and whether it has come to the end
  total INTEGER NOT NULL,
  is_counted INTEGER NOT NULL,
  resent INTEGER NOT NULL,
  -- the last delivery that was looked at, of the counting or of the sending
  after_delivery INTEGER NOT NULL,
  -- when it had its last step: the one with the lowest has the next
  turn INTEGER NOT NULL,
  reason TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX operations_owner ON operations (owner_id, id);
CREATE INDEX operations_webhook ON operations (webhook_id, id);
CREATE INDEX operations_running ON operations (turn, id) WHERE state = 'running';
CREATE INDEX operations_ended ON operations (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
`;
