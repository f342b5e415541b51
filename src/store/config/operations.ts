// Operations: their records, and the orders of their owners.

import { LIMITS } from '../../domain/limits.ts';
import { cursorAt, ordered } from '../../domain/operation.ts';
import type { OperationStore } from '../contract/operations.ts';
import { number, textOrNull } from '../rows/cells.ts';
import { toOperation, toReplayResult } from '../rows/operation-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { stepOperation } from './operation-steps.ts';
import { readPage } from './pages.ts';
import { FOR_KEY_SHARE, FOR_UPDATE, raw, type Sql, sql } from './sql.ts';
import { get, send } from './steps.ts';

const FROM = raw('operations AS o');
const COLUMNS = raw('o.*, (SELECT w.active FROM webhooks AS w WHERE w.id = o.webhook_id) AS is_active');

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT ${COLUMNS} FROM ${FROM} WHERE o.id = ${id} AND o.owner_id = ${ownerId}`;

type OperationVerbs = Omit<OperationStore, 'previewReplay' | 'nextReplays' | 'countReplayed'>;

export function operationVerbs({ database }: ConfigCore): OperationVerbs {
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
            is_counted, resent, after_number, turn, created_at_ms, updated_at_ms)
          VALUES (${made.id}, ${ownerId}, ${made.kind}, ${webhookId}, ${made.sinceMs}, ${made.untilMs},
            ${made.states.join(' ')}, 'running', 0, false, 0, ${cursorAt(made.sinceMs)}, ${w.nextTurn()}, ${createdAtMs},
            ${createdAtMs})`);
        return true;
      }),

    createReplay: ({ id, ownerId, kind, order, logEnd, createdAtMs }) =>
      database.write(function* (w) {
        const { selection, deploymentId, canary, stopOnFailures } = order;
        const newest = yield* get(sql`SELECT entry FROM emissions WHERE owner_id = ${ownerId} AND name = '$errors'
          AND entry <= ${logEnd} ORDER BY owner_id DESC, entry DESC LIMIT 1`);
        const lastEntry = selection.entries?.at(-1) ?? (newest ? number(newest, 'entry') : 0);
        yield* send(sql`INSERT INTO operations (id, owner_id, kind, since_ms, until_ms, states, state, total, is_counted,
            resent, after_number, turn, created_at_ms, updated_at_ms, replay, deployment_id, last_entry, is_canary_over,
            stop_at)
          VALUES (${id}, ${ownerId}, ${kind}, ${selection.sinceMs ?? 0}, ${selection.untilMs ?? createdAtMs}, '', 'running',
            0, false, 0, -1, ${w.nextTurn()}, ${createdAtMs}, ${createdAtMs}, ${JSON.stringify(order)}, ${deploymentId},
            ${lastEntry}, ${canary === 0}, ${stopOnFailures})`);
        const row = yield* get(one(ownerId, id));
        if (!row) throw new Error(`operation ${id} is not there after its insertion`);
        return toOperation(row);
      }),

    getOperation: async (ownerId, id) => {
      const row = await database.get(one(ownerId, id));
      return row && toOperation(row);
    },

    listOperations: ({ ownerId, webhookId, kind }, page) =>
      readPage(database, {
        from: FROM,
        columns: COLUMNS,
        where: [
          sql`owner_id = ${ownerId}`,
          ...(webhookId === undefined ? [] : [sql`webhook_id = ${webhookId}`]),
          ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
        ],
        countUpTo: LIMITS.countedRecords,
        page,
        map: toOperation,
      }),

    listReplayResults: ({ ownerId, operationId, outcome }, page) =>
      readPage(database, {
        from: raw('operation_results'),
        columns: raw('*'),
        key: raw('entry'),
        within: { column: raw('operation_id'), value: operationId },
        where: [
          sql`EXISTS (SELECT 1 FROM operations AS o WHERE o.id = ${operationId} AND o.owner_id = ${ownerId})`,
          ...(outcome === undefined ? [] : [sql`outcome = ${outcome}`]),
        ],
        countUpTo: LIMITS.countedRecords,
        page,
        map: toReplayResult,
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
        // Why it paused does not hold any more; a cancelled one keeps it.
        const reason = state === 'running' ? null : textOrNull(row, 'reason');
        yield* send(sql`UPDATE operations SET state = ${state}, reason = ${reason}, updated_at_ms = ${nowMs},
          ended_at_ms = ${endedAtMs} WHERE id = ${id}`);
        const after = { ...row, state, reason, updated_at_ms: nowMs, ended_at_ms: endedAtMs };
        return { operation: toOperation(after), refused: false };
      }),
  };
}
