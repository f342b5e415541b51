// Deliveries that a process which is gone was sending: nobody knows whether they arrived, so they go out again.

import type { Pass } from './pass.ts';

/** Makes them due at once. Their webhook may be gone or disabled meanwhile: then they end, or wait. Returns how many. */
export function rescueDeliveries(pass: Pass): number {
  const lost = pass.first(pass.reads.lostDeliveries);
  for (const row of lost) {
    const lease = { delivery: row.delivery as number, fence: (row.fence as number) + 1 };
    sendBack(pass, { row, ...lease });
  }
  return lost.length;
}

interface Back {
  readonly row: Pass['reads']['lostDeliveries'][number];
  readonly delivery: number;
  readonly fence: number;
}

/** A delivery that was taken and not sent: where it goes, with all counters. */
export function sendBack(pass: Pass, { row, delivery, fence }: Back): void {
  const ownerId = row.owner_id as string;
  const listenerId = row.listener_id as string;
  const attemptsMade = row.attempts_made as number;
  const state = stateToReturnTo(pass, { ownerId, listenerId, attemptsMade });
  const isOpen = state === 'pending' || state === 'retrying';
  const line = pass.line(ownerId, listenerId, false);
  if (state === 'cancelled') pass.plan.deliveryEnds.push({ delivery, state, attemptsMade });
  else pass.plan.deliveryChanges.push({ delivery, state, attemptsMade, fence, dueAtMs: isOpen ? pass.nowMs : null });
  pass.ledger.moved(ownerId, 'deliveries', { from: 'sending', to: state });
  line.change({ taken: -1, waiting: isOpen ? 1 : 0 }, pass.core.node.id);
  if (isOpen) pass.told.add('deliveries');
}

/** Where a delivery goes that was taken and not sent. */
export function stateToReturnTo(
  pass: Pass,
  of: { ownerId: string; listenerId: string; attemptsMade: number },
): 'pending' | 'retrying' | 'held' | 'cancelled' {
  if (of.listenerId.startsWith('wh_')) {
    const webhook = pass.webhook(of.ownerId, of.listenerId);
    if (!webhook) return 'cancelled';
    const isGone = pass.isGone(pass.line(of.ownerId, of.listenerId, false));
    if (!webhook.active || isGone) return 'held';
  }
  return of.attemptsMade === 0 ? 'pending' : 'retrying';
}
