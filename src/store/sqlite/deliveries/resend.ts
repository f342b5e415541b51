// Sending again: a delivery is made due at once, whatever it was due by, and whether or not it was over.

import { type DeliveryState, isWebhook } from '../../../domain/delivery/delivery.ts';
import { isWaiting, type NotResendable, reasonAgainstResending } from '../../../domain/delivery/progress.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { DeliveryRecord } from '../../contract/records.ts';
import { number, text } from '../../rows/cells.ts';
import { toDeliveryRecord } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { DELIVERY_COLUMNS } from '../log/rows.ts';
import type { Transaction } from '../log/transaction.ts';

/** What `sendAgain` needs of a row. */
export const SENT_AGAIN = 'delivery, owner_id, listener_id, state';

export function resendDelivery(
  core: Core,
  tx: Transaction,
  { ownerId, delivery }: { ownerId: string; delivery: number },
): DeliveryRecord | NotResendable | undefined {
  const row = core.writer.get(
    `SELECT ${SENT_AGAIN} FROM deliveries WHERE delivery = ? AND owner_id = ?`,
    delivery,
    ownerId,
  );
  if (!row) return undefined;
  const [state, listenerId] = [text<DeliveryState>(row, 'state'), text(row, 'listener_id')];
  const webhook = isWebhook(listenerId) ? core.routes.webhook(listenerId) : undefined;
  const reason = reasonAgainstResending({ state, listenerId }, webhook);
  if (reason !== null) return reason;
  sendAgain(core, tx, row);
  const written = core.writer.get(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries JOIN emissions USING (entry) WHERE delivery = ?`,
    delivery,
  );
  return toDeliveryRecord(written as Row, core.storeTag);
}

/** Of a delivery that is neither on its way nor held, of a webhook that is active or of the owner's mail. */
export function sendAgain(core: Core, tx: Transaction, row: Row): void {
  const from = text<DeliveryState>(row, 'state');
  const ownerId = text(row, 'owner_id');
  core.writer.run(
    `UPDATE deliveries SET state = 'retrying', due_by = 'resend', due_at_ms = ?, tries = tries * ?, ended_at_ms = NULL
      WHERE delivery = ?`,
    tx.nowMs,
    isWaiting(from) ? 1 : 0,
    number(row, 'delivery'),
  );
  const listenerId = text(row, 'listener_id');
  tx.deliveriesMoved({ ownerId, listenerId, from, to: 'retrying', dueAtMs: tx.nowMs });
  // Its error stays, and tells of no delivery that is exhausted now.
  if (from === 'exhausted') tx.count(ownerId, FURTHER_ERRORS, 1);
}
