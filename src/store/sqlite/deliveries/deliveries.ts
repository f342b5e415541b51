// Deliveries: claiming what is due, recording attempts, handing back, sending again, listing.

import type { Attempt } from '../../../domain/delivery/delivery.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { AttemptRecord, DeliveryWhole } from '../../contract/records.ts';
import type { DeliveryStore } from '../../contract/store.ts';
import { recordAttempt, releaseDeliveries } from '../../log/deliveries.ts';
import { NO_SLOTS } from '../../log/finish-run.ts';
import { number, text } from '../../rows/cells.ts';
import { toDeliveryRecord } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row, Value } from '../database.ts';
import { SqliteLogWriter } from '../log/log-writer.ts';
import { DELIVERY_COLUMNS } from '../log/rows.ts';
import { readPage } from '../pages.ts';
import { claimDeliveries, LostCount, recountDoubtful } from './claim-deliveries.ts';
import { SqliteDeliveryPort } from './delivery-port.ts';
import { standingOf } from './delivery-queue-state.ts';
import { resendDelivery } from './resend.ts';

export function deliveryVerbs(core: Core): DeliveryStore {
  return {
    claimDeliveries: (limit, admission) =>
      core.batch.write((tx) => claimDeliveries(core, new SqliteLogWriter(core, tx, admission), limit)),
    recordAttempt: async (end, admission) => {
      const record = () =>
        core.batch.write((tx) => {
          recountDoubtful(core);
          return recordAttempt(new SqliteDeliveryPort(new SqliteLogWriter(core, tx, admission)), end);
        });
      // What is due next must not keep the end of an attempt from being written.
      return record().catch((error) => (error instanceof LostCount ? record() : Promise.reject(error)));
    },
    releaseDeliveries: (leases) =>
      core.batch.write((tx) =>
        releaseDeliveries(new SqliteDeliveryPort(new SqliteLogWriter(core, tx, NO_SLOTS)), leases),
      ),
    resendDelivery: (ownerId, delivery) => core.batch.write((tx) => resendDelivery(core, tx, { ownerId, delivery })),
    getDelivery: async (ownerId, delivery) => getDelivery(core, ownerId, delivery),

    listDeliveries: async ({ ownerId, listenerId, kind, state }, page) => {
      const where = ['deliveries.owner_id = ?'];
      const values: Value[] = [ownerId];
      if (listenerId !== undefined) {
        where.push('listener_id = ?');
        values.push(listenerId);
      }
      if (kind !== undefined) where.push(`deliveries.kind = '${kind}'`);
      if (state !== undefined) {
        where.push('state = ?');
        values.push(state);
      }
      const listing = {
        from: 'deliveries JOIN emissions USING (entry)',
        countFrom: 'deliveries',
        columns: DELIVERY_COLUMNS,
        key: 'delivery',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(core.reader, listing, { page, map: (row) => toDeliveryRecord(row, core.storeTag) });
    },
  };
}

function getDelivery(core: Core, ownerId: string, delivery: number): DeliveryWhole | undefined {
  const row = core.reader.get(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries JOIN emissions USING (entry)
      WHERE delivery = ? AND deliveries.owner_id = ?`,
    delivery,
    ownerId,
  );
  if (!row) return undefined;
  const attempts = core.reader.all('SELECT n, trigger, made FROM attempts WHERE delivery = ? ORDER BY n', delivery);
  return {
    record: toDeliveryRecord(row, core.storeTag),
    attempts: attempts.map(toAttempt),
    standing: standingOf(core, row),
    ...(row.kind === 'http' ? { pausedUntilMs: pausedUntilMs(core, row) } : {}),
  };
}

function pausedUntilMs({ turns, clock }: Core, row: Row): number | null {
  const untilMs = turns.find(text(row, 'listener_id'))?.pausedUntilMs ?? 0;
  return untilMs > clock.nowMs() ? untilMs : null;
}

function toAttempt(row: Row): AttemptRecord {
  return { ...(JSON.parse(text(row, 'made')) as Attempt), n: number(row, 'n'), trigger: text(row, 'trigger') };
}
