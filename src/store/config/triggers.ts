// Triggers: HTTP endpoints and timers.

import type { Trigger } from '../../domain/resource.ts';
import type { TriggerStore } from '../contract/resources.ts';
import { text } from '../rows/cells.ts';
import { toTrigger } from '../rows/resource-rows.ts';
import type { ConfigCore, Listener } from './config-database.ts';
import { isAmong, isNotAmong, sql, tableOf } from './sql.ts';
import { all, type Steps, send } from './steps.ts';

export function triggerVerbs({ database }: ConfigCore): TriggerStore {
  return {
    listTriggers: async (ownerId, runnableId) => {
      const rows = await database.all(sql`SELECT * FROM triggers
        WHERE runnable_id = ${runnableId} AND owner_id = ${ownerId} ORDER BY created_at_ms, id`);
      return rows.map(toTrigger);
    },

    triggerByKey: database.hotReads.triggerByKey,
  };
}

const COLUMNS = {
  id: 'text',
  owner_id: 'text',
  runnable_id: 'text',
  kind: 'text',
  created_at_ms: 'bigint',
  key: 'text',
  custom_response: 'boolean',
  token_hash: 'text',
  schedule: 'text',
  next_at_ms: 'bigint',
} as const;

/**
 * Inserts triggers, and updates those that exist. The next tick moves back only with a new schedule: the tick that the caller
 * has read may have fired meanwhile, and would fire again. With a new schedule, later due times of the old one (the clock was set
 * back) hold up none of its own.
 */
export function* putTriggers(triggers: readonly Trigger[]): Steps<void> {
  if (triggers.length === 0) return;
  const rows = triggers.map((trigger) => ({
    id: trigger.id,
    owner_id: trigger.ownerId,
    runnable_id: trigger.runnableId,
    kind: trigger.kind,
    created_at_ms: trigger.createdAtMs,
    key: trigger.key,
    custom_response: trigger.customResponse,
    token_hash: trigger.tokenHash,
    schedule: trigger.schedule === null ? null : JSON.stringify(trigger.schedule),
    next_at_ms: trigger.nextAtMs,
  }));
  const written = yield* all(sql`INSERT INTO triggers
      (id, owner_id, runnable_id, kind, created_at_ms, key, custom_response, token_hash, schedule, next_at_ms)
    SELECT * FROM ${tableOf(COLUMNS, rows)} WHERE true
    ON CONFLICT (id) DO UPDATE SET custom_response = excluded.custom_response, token_hash = excluded.token_hash,
      schedule = excluded.schedule, next_at_ms = CASE
        WHEN triggers.schedule = excluded.schedule AND triggers.next_at_ms > excluded.next_at_ms
        THEN triggers.next_at_ms ELSE excluded.next_at_ms END, last_due_at_ms = CASE
        WHEN triggers.schedule = excluded.schedule OR triggers.last_due_at_ms <= excluded.next_at_ms
        THEN triggers.last_due_at_ms END
      WHERE triggers.runnable_id = excluded.runnable_id
    RETURNING id`);
  if (written.length < triggers.length) throw new Error('a trigger of this id belongs to another workflow or source');
}

/** Deletes triggers that are not kept, with the subscriptions to them and the idempotency keys of their callers. */
export function* removeTriggers({ ownerId, id }: Listener, kept: readonly string[]): Steps<void> {
  const gone = yield* all(sql`DELETE FROM triggers
    WHERE runnable_id = ${id} AND owner_id = ${ownerId} AND id ${isNotAmong(kept)} RETURNING id`);
  if (gone.length === 0) return;
  const ids = isAmong(gone.map((row) => text(row, 'id')));
  yield* send(sql`DELETE FROM subscriptions WHERE owner_id = ${ownerId} AND emitter_id ${ids}`);
  yield* send(sql`DELETE FROM idempotency WHERE trigger_id ${ids}`);
}
