// Operations: their records, and the orders of their owners.

import { LIMITS } from '../../domain/limits.ts';
import { cursorAt, ordered } from '../../domain/operation.ts';
import type { OperationStore } from '../contract/operations.ts';
import { toOperation } from '../rows/operation-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { stepOperation } from './operation-steps.ts';
import { readPage } from './pages.ts';
import { FOR_KEY_SHARE, FOR_UPDATE, raw, type Sql, sql } from './sql.ts';
import { get, send } from './steps.ts';

const FROM = raw('operations AS o');
const COLUMNS = raw('o.*, (SELECT w.active FROM webhooks AS w WHERE w.id = o.webhook_id) AS is_active');

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT ${COLUMNS} FROM ${FROM} WHERE o.id = ${id} AND o.owner_id = ${ownerId}`;

export function operationVerbs({ database }: ConfigCore): OperationStore {
  return {
    stepOperation: () => database.write(stepOperation),

    createOperation: (made) =>
      database.write(function* (w) {
        const { webhookId, ownerId, createdAtMs } = made;
        // The webhook's deletion waits, finds this operation, and cancels it.
        const webhook = yield* get(sql`SELECT id FROM webhooks WHERE id = ${webhookId} AND owner_id = ${ownerId}
          ${FOR_KEY_SHARE}`);
        if (!webhook) return false;
        yield* send(sql`INSERT INTO operations (id, owner_id, kind, webhook_id, since_ms, until_ms, states, state, total,
            is_counted, resent, after_delivery, turn, created_at_ms, updated_at_ms)
          VALUES (${made.id}, ${ownerId}, ${made.kind}, ${webhookId}, ${made.sinceMs}, ${made.untilMs},
            ${made.states.join(' ')}, 'running', 0, false, 0, ${cursorAt(made.sinceMs)}, ${w.nextTurn()}, ${createdAtMs},
            ${createdAtMs})`);
        return true;
      }),

    getOperation: async (ownerId, id) => {
      const row = await database.get(one(ownerId, id));
      return row && toOperation(row);
    },

    listOperations: ({ ownerId, webhookId }, page) =>
      readPage(database, {
        from: FROM,
        columns: COLUMNS,
        where: [sql`owner_id = ${ownerId}`, ...(webhookId === undefined ? [] : [sql`webhook_id = ${webhookId}`])],
        countUpTo: LIMITS.countedRecords,
        page,
        map: toOperation,
      }),

    orderOperation: (ownerId, id, order) =>
      database.write(function* ({ nowMs }) {
        const row = yield* get(sql`${one(ownerId, id)} ${FOR_UPDATE}`);
        if (!row) return undefined;
        const operation = toOperation(row);
        const isCancelled = order === 'cancel' && operation.state === 'cancelled';
        const state = isCancelled ? operation.state : ordered(operation.state, order);
        if (state === undefined) return { operation, refused: true };
        if (state === operation.state) return { operation, refused: false };
        const endedAtMs = state === 'cancelled' ? nowMs : null;
        yield* send(sql`UPDATE operations SET state = ${state}, updated_at_ms = ${nowMs}, ended_at_ms = ${endedAtMs}
          WHERE id = ${id}`);
        const after = { ...row, state, updated_at_ms: nowMs, ended_at_ms: endedAtMs };
        return { operation: toOperation(after), refused: false };
      }),
  };
}
