// Deliveries that a process which is gone was sending: nobody knows whether they arrived, so they go out again.

import type { Pass } from '../log/batch-planner.ts';
import type { Line } from '../log/listener-queue.ts';
import { standingOf, waitingState } from './delivery-schedule.ts';

/** Makes them due at once. Their webhook may be gone or disabled meanwhile: then they end, or wait. Returns how many. */
export function rescueDeliveries(pass: Pass): number {
  const lost = pass.lost('deliveries');
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
  const standing = standingOf(row);
  const line = pass.line(ownerId, listenerId, false);
  const state = closedStateOf(pass, line) ?? waitingState(standing);
  const isOpen = state === 'pending' || state === 'retrying';
  if (state === 'cancelled') pass.plan.deliveryEnds.push({ delivery, state, standing });
  else pass.plan.deliveryChanges.push({ delivery, state, standing, fence, dueAtMs: isOpen ? pass.nowMs : null });
  pass.ledger.moved(ownerId, 'deliveries', { from: 'sending', to: state });
  line.change({ taken: -1, waiting: isOpen ? 1 : 0, keptUntilMs: keptUntilMs(pass, line) }, pass.core.node.id);
  if (!isOpen) return;
  pass.wentBack.add(line);
  pass.told.add('deliveries');
}

/** Where a delivery goes that cannot wait for its next attempt, since its webhook is gone or disabled. */
export function closedStateOf(pass: Pass, line: Line): 'held' | 'cancelled' | null {
  if (!line.listenerId.startsWith('wh_')) return null;
  const webhook = pass.webhook(line.ownerId, line.listenerId);
  if (!webhook) return 'cancelled';
  return !webhook.active || pass.isGone(line) ? 'held' : null;
}

/** For how long a line stays with its node when nothing is on its way any more: as long as what began there counts. */
export function keptUntilMs(pass: Pass, line: Line): number | null {
  if (!line.listenerId.startsWith('wh_')) return null;
  const rate = pass.webhook(line.ownerId, line.listenerId)?.settings.rateLimit;
  return rate ? pass.nowMs + rate.intervalMs : null;
}
