// Deliveries that were taken and not sent, and those that a process which is gone was sending: nobody knows whether they
// arrived, so they go out again.

import type { DueBy } from '../../../domain/delivery/delivery.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import type { Transaction } from '../log/transaction.ts';

/** What `giveBack` needs of a row. */
export const GIVEN_BACK = 'delivery, owner_id, listener_id, requests_made, due_by';

/** Makes them due at once. Returns how many. */
export function rescueDeliveries(core: Core, tx: Transaction): number {
  const lost = core.writer.all(`SELECT ${GIVEN_BACK} FROM deliveries WHERE state = 'sending' AND boot < ?`, core.boot);
  for (const row of lost) {
    core.writer.run('UPDATE deliveries SET fence = fence + 1 WHERE delivery = ?', row.delivery as number);
    giveBack(core, tx, row);
  }
  return lost.length;
}

/** It is due at once, by what it was due. Its webhook may be gone or disabled meanwhile: then it ends, or waits. */
export function giveBack(core: Core, tx: Transaction, row: Row): void {
  const listenerId = row.listener_id as string;
  const to = stateToReturnTo(core, listenerId, {
    dueBy: row.due_by as DueBy,
    requestsMade: row.requests_made as number,
  });
  const isOpen = to === 'pending' || to === 'retrying';
  core.writer.run(
    'UPDATE deliveries SET state = ?, due_at_ms = ?, ended_at_ms = ? WHERE delivery = ?',
    to,
    isOpen ? tx.nowMs : null,
    to === 'cancelled' ? tx.nowMs : null,
    row.delivery as number,
  );
  tx.deliveriesMoved({ ownerId: row.owner_id as string, listenerId, from: 'sending', to, dueAtMs: tx.nowMs });
}

/** Where a delivery goes that is no longer on its way, and not over. */
export function stateToReturnTo(
  core: Core,
  listenerId: string,
  { dueBy, requestsMade }: { dueBy: DueBy; requestsMade: number },
): 'pending' | 'retrying' | 'held' | 'cancelled' {
  if (listenerId.startsWith('wh_')) {
    const webhook = core.routes.webhook(listenerId);
    if (!webhook) return 'cancelled';
    if (!webhook.active) return 'held';
  }
  return dueBy === 'event' && requestsMade === 0 ? 'pending' : 'retrying';
}
