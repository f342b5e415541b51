// Deliveries that a process which is gone was sending: nobody knows whether they arrived, so they go out again.

import type { Core } from './core.ts';
import type { Transaction } from './transaction.ts';

/** Makes them due at once. Their webhook may be gone or disabled meanwhile: then they end, or wait. Returns how many. */
export function rescueDeliveries(core: Core, tx: Transaction): number {
  const lost = core.writer.all(
    "SELECT delivery, owner_id, listener_id, attempts_made FROM deliveries WHERE state = 'sending' AND boot < ?",
    core.boot,
  );
  for (const row of lost) {
    const listenerId = row.listener_id as string;
    const state = stateToReturnTo(core, listenerId, row.attempts_made as number);
    core.writer.run(
      'UPDATE deliveries SET state = ?, fence = fence + 1, due_at_ms = ?, ended_at_ms = ? WHERE delivery = ?',
      state,
      state === 'cancelled' || state === 'held' ? null : tx.nowMs,
      state === 'cancelled' ? tx.nowMs : null,
      row.delivery as number,
    );
    tx.moved(row.owner_id as string, 'deliveries', { from: 'sending', to: state });
    if (state === 'pending' || state === 'retrying') tx.opened('deliveries', listenerId, 1);
  }
  return lost.length;
}

/** Where a delivery goes that was taken and not sent. */
export function stateToReturnTo(
  core: Core,
  listenerId: string,
  attemptsMade: number,
): 'pending' | 'retrying' | 'held' | 'cancelled' {
  if (listenerId.startsWith('wh_')) {
    const webhook = core.routes.webhook(listenerId);
    if (!webhook) return 'cancelled';
    if (!webhook.active) return 'held';
  }
  return attemptsMade === 0 ? 'pending' : 'retrying';
}
