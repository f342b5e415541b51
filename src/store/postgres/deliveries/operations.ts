// Operations: sending again what a webhook was sent, step by step. A step is one transaction: it locks one operation that
// no other node is at, looks at the next deliveries behind the last one that was looked at, and writes with what it did to
// them how far it has come. So nodes share the work, and none of it is done twice or lost, whichever of them is killed.
//
// Locks are taken in this order: the operation, the events of what is sent again, the webhook's line.

import { LIMITS } from '../../../domain/limits.ts';
import { cursorAt, ordered } from '../../../domain/operation.ts';
import type { OperationStore } from '../../contract/operations.ts';
import { OPERATION_COLUMNS, toOperation } from '../../rows/operation-rows.ts';
import type { Row, Value } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { NEXT_TURN, stepOperation } from './operation-steps.ts';

const FROM = 'operations AS o LEFT JOIN webhooks AS w ON w.id = o.webhook_id';

export function operationVerbs(core: Core): OperationStore {
  const { pool } = core;
  return {
    createOperation: async (made) => {
      // Locked against being deleted: whoever deletes the webhook finds this one and cancels it.
      const written = await pool.write(
        `INSERT INTO operations (id, owner_id, kind, webhook_id, since_ms, until_ms, states, state, total, is_counted,
            resent, after_delivery, turn, created_at_ms, updated_at_ms)
          SELECT $1, $2, $3, $4, $5::bigint, $6::bigint, $7, 'running', 0, false, 0, $8::bigint, ${NEXT_TURN}, $9::bigint, $9::bigint
            FROM webhooks WHERE id = $4 AND owner_id = $2 FOR KEY SHARE
          RETURNING id`,
        made.id,
        made.ownerId,
        made.kind,
        made.webhookId,
        made.sinceMs,
        made.untilMs,
        made.states.join(' '),
        cursorAt(made.sinceMs),
        made.createdAtMs,
      );
      return written.length === 1;
    },

    getOperation: async (ownerId, id) => {
      const row = await pool.get(
        `SELECT ${OPERATION_COLUMNS} FROM ${FROM} WHERE o.id = $1 AND o.owner_id = $2`,
        id,
        ownerId,
      );
      return row && toOperation(row);
    },

    listOperations: ({ ownerId, webhookId }, page) => {
      const where = ['o.owner_id = $1'];
      const values: Value[] = [ownerId];
      if (webhookId !== undefined) where.push(`o.webhook_id = $${values.push(webhookId)}`);
      const listing = {
        from: FROM,
        countFrom: 'operations AS o',
        columns: OPERATION_COLUMNS,
        key: 'o.id',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: toOperation });
    },

    orderOperation: (ownerId, id, order) =>
      core.config.transact(async (tx) => {
        const [row] = await tx.query(
          `SELECT ${OPERATION_COLUMNS} FROM ${FROM} WHERE o.id = $1 AND o.owner_id = $2 FOR UPDATE OF o`,
          id,
          ownerId,
        );
        if (!row) return undefined;
        const before = toOperation(row);
        const isCancelled = order === 'cancel' && before.state === 'cancelled';
        const state = isCancelled ? before.state : ordered(before.state, order);
        if (state === undefined) return { operation: before, refused: true };
        if (state === before.state) return { operation: before, refused: false };
        const nowMs = core.clock.nowMs();
        const endedAtMs = state === 'cancelled' ? nowMs : null;
        await tx.query(
          'UPDATE operations SET state = $2, updated_at_ms = $3::bigint, ended_at_ms = $4::bigint WHERE id = $1',
          id,
          state,
          nowMs,
          endedAtMs,
        );
        const after: Row = { ...row, state, updated_at_ms: nowMs, ended_at_ms: endedAtMs };
        return { operation: toOperation(after), refused: false };
      }),

    stepOperation: () => stepOperation(core),
  };
}
