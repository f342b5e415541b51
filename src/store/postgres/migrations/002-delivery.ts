// Webhooks' settings and health, deliveries that are sent again, and the operations that send many of them again.
//
// An older process knows nothing of the new columns, writes rows without them and counts its attempts in attempts_made
// alone. So none is filled here, which would rewrite the tables: what is absent follows from attempts_made, wherever it
// is read, and the view says how.

export const DELIVERY = `
ALTER TABLE webhooks
  -- sealed JSON; null: the defaults
  ADD COLUMN settings text,
  -- of the settings, what claims go by; null: moved here, and told by the first process that opens the settings
  ADD COLUMN is_ordered boolean DEFAULT false;

ALTER TABLE open_deliveries
  -- attempts that count and those that the receiver put off
  ADD COLUMN requests_made integer NOT NULL DEFAULT 0,
  -- delays of the schedule that were used up; null: as many as attempts_made
  ADD COLUMN tries integer,
  -- null: 'event' before the first attempt, 'schedule' after it
  ADD COLUMN due_by text;

ALTER TABLE deliveries
  ADD COLUMN requests_made integer NOT NULL DEFAULT 0,
  ADD COLUMN tries integer,
  ADD COLUMN due_by text,
  -- the last lease's, so that a delivery that is sent again goes on behind it; null: written by an older process
  ADD COLUMN fence integer;

-- What was sent again and waits: an operation looks how many there are.
CREATE INDEX open_deliveries_resent ON open_deliveries (owner_id, listener_id, delivery)
  WHERE due_by = 'resend' AND state = 'retrying';

-- A webhook's health stands with its counters: whoever ends an attempt has that row locked anyway.
ALTER TABLE lines
  ADD COLUMN failing_since_ms bigint,
  ADD COLUMN exhausted_in_row integer NOT NULL DEFAULT 0,
  ADD COLUMN noticed_at_ms bigint,
  ADD COLUMN paused_until_ms bigint,
  -- of a webhook with a rate limit, nothing of which is on its way: until then its holder's to go on with, if that lives,
  -- since what began there counts; null: anybody's
  ADD COLUMN kept_until_ms bigint;

-- An older process does not, and cannot read what is sealed.
ALTER TABLE nodes ADD COLUMN seals boolean NOT NULL DEFAULT false;

CREATE TABLE operations (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  since_ms bigint NOT NULL,
  until_ms bigint NOT NULL,
  -- states of deliveries, separated by blanks
  states text NOT NULL,
  state text NOT NULL,
  -- matched so far while it counts, and whether it has come to the end
  total bigint NOT NULL,
  is_counted boolean NOT NULL,
  resent bigint NOT NULL,
  -- the last delivery that was looked at, of the counting or of the sending
  after_delivery bigint NOT NULL,
  -- when it had its last step: the one with the lowest has the next
  turn bigint NOT NULL,
  reason text,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  ended_at_ms bigint
) WITH (fillfactor = 70);
CREATE INDEX operations_owner ON operations (owner_id, id);
CREATE INDEX operations_webhook ON operations (webhook_id, id);
CREATE INDEX operations_running ON operations (turn, id) WHERE state = 'running';
CREATE INDEX operations_ended ON operations (ended_at_ms) WHERE ended_at_ms IS NOT NULL;

CREATE OR REPLACE VIEW all_deliveries AS
  SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made, due_at_ms,
    NULL::bigint AS ended_at_ms, greatest(requests_made, attempts_made) AS requests_made,
    coalesce(tries, attempts_made) AS tries,
    coalesce(due_by, CASE attempts_made WHEN 0 THEN 'event' ELSE 'schedule' END) AS due_by FROM open_deliveries
  UNION ALL
  SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made, NULL::bigint,
    ended_at_ms, greatest(requests_made, attempts_made), coalesce(tries, attempts_made),
    coalesce(due_by, CASE attempts_made WHEN 0 THEN 'event' ELSE 'schedule' END) FROM deliveries;
`;
