// Operations: their records, and what their owners order. What a step of one does is in operation-steps.ts.

import { LIMITS } from '../../../domain/limits.ts';
import {
  type NewOperation,
  type Operation,
  type OperationOrder,
  type OperationState,
  ordered,
} from '../../../domain/operation.ts';
import type { OperationStore } from '../../contract/operations.ts';
import { toOperation } from '../../rows/operation-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import type { Transaction } from '../log/transaction.ts';
import { readPage } from '../pages.ts';
import { beforeFirst, stepOperation } from './operation-steps.ts';

export function operationVerbs(core: Core): OperationStore {
  const { reader } = core;
  return {
    createOperation: (operation) => core.batch.write((tx) => createOperation(core, tx, operation)),

    getOperation: async (ownerId, id) => {
      const row = reader.get('SELECT * FROM operations WHERE id = ? AND owner_id = ?', id, ownerId);
      return row && toOperation(row);
    },

    listOperations: async ({ ownerId, webhookId }, page) => {
      const ofWebhook = webhookId === undefined ? [] : ['webhook_id = ?'];
      const listing = {
        from: 'operations',
        columns: '*',
        key: 'id',
        where: ['owner_id = ?', ...ofWebhook],
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
    beforeFirst(operation.sinceMs),
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
  const row = core.writer.get('SELECT * FROM operations WHERE id = ? AND owner_id = ?', id, ownerId);
  if (!row) return undefined;
  const before = row.state as OperationState;
  if (order === 'cancel' && before === 'cancelled') return { operation: toOperation(row), refused: false };
  const state = ordered(before, order);
  if (state === undefined) return { operation: toOperation(row), refused: true };
  if (state === before) return { operation: toOperation(row), refused: false };
  const written = core.writer.get(
    'UPDATE operations SET state = ?, reason = NULL, updated_at_ms = ?, ended_at_ms = ? WHERE id = ? RETURNING *',
    state,
    tx.nowMs,
    state === 'cancelled' ? tx.nowMs : null,
    id,
  );
  return { operation: toOperation(written as Row), refused: false };
}
