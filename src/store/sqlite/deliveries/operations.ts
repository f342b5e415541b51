// Operations: their records, and what their owners order. What a step of one does is in operation-steps.ts.

import { LIMITS } from '../../../domain/limits.ts';
import {
  cursorAt,
  type NewOperation,
  type Operation,
  type OperationOrder,
  ordered,
} from '../../../domain/operation.ts';
import type { OperationStore } from '../../contract/operations.ts';
import { OPERATION_COLUMNS, toOperation } from '../../rows/operation-rows.ts';
import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';
import { readPage } from '../pages.ts';
import { stepOperation } from './operation-steps.ts';

const FROM = 'operations AS o LEFT JOIN webhooks AS w ON w.id = o.webhook_id';

export function operationVerbs(core: Core): OperationStore {
  const { reader } = core;
  return {
    createOperation: (operation) => core.batch.write((tx) => createOperation(core, tx, operation)),

    getOperation: async (ownerId, id) => {
      const row = reader.get(`SELECT ${OPERATION_COLUMNS} FROM ${FROM} WHERE o.id = ? AND o.owner_id = ?`, id, ownerId);
      return row && toOperation(row);
    },

    listOperations: async ({ ownerId, webhookId }, page) => {
      const ofWebhook = webhookId === undefined ? [] : ['o.webhook_id = ?'];
      const listing = {
        from: FROM,
        countFrom: 'operations AS o',
        columns: OPERATION_COLUMNS,
        key: 'o.id',
        where: ['o.owner_id = ?', ...ofWebhook],
        values: webhookId === undefined ? [ownerId] : [ownerId, webhookId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(reader, listing, { page, map: toOperation });
    },

    orderOperation: (ownerId, id, order) => core.batch.write((tx) => orderOperation(core, tx, { ownerId, id, order })),
    stepOperation: () => core.batch.write((tx) => stepOperation(core, tx)),
  };
}

function createOperation(core: Core, tx: Transaction, operation: NewOperation): boolean {
  if (core.routes.webhook(operation.webhookId)?.ownerId !== operation.ownerId) return false;
  core.writer.run(
    `INSERT INTO operations (id, owner_id, kind, webhook_id, since_ms, until_ms, states, state, total, is_counted, resent,
      after_delivery, turn, created_at_ms, updated_at_ms) VALUES (?,?,?,?,?,?,?,'running',0,0,0,?,?,?,?)`,
    operation.id,
    operation.ownerId,
    operation.kind,
    operation.webhookId,
    operation.sinceMs,
    operation.untilMs,
    operation.states.join(' '),
    cursorAt(operation.sinceMs),
    tx.number(),
    operation.createdAtMs,
    operation.createdAtMs,
  );
  return true;
}

function orderOperation(
  core: Core,
  tx: Transaction,
  { ownerId, id, order }: { ownerId: string; id: string; order: OperationOrder },
): { operation: Operation; refused: boolean } | undefined {
  const row = core.writer.get(
    `SELECT ${OPERATION_COLUMNS} FROM ${FROM} WHERE o.id = ? AND o.owner_id = ?`,
    id,
    ownerId,
  );
  if (!row) return undefined;
  const operation = toOperation(row);
  const before = operation.state;
  const state = order === 'cancel' && before === 'cancelled' ? before : ordered(before, order);
  if (state === undefined) return { operation, refused: true };
  if (state === before) return { operation, refused: false };
  const endedAtMs = state === 'cancelled' ? tx.nowMs : null;
  core.writer.run(
    'UPDATE operations SET state = ?, updated_at_ms = ?, ended_at_ms = ? WHERE id = ?',
    state,
    tx.nowMs,
    endedAtMs,
    id,
  );
  const after = { ...row, state, updated_at_ms: tx.nowMs, ended_at_ms: endedAtMs };
  return { operation: toOperation(after), refused: false };
}
