// Deliveries: recording attempts, claiming what is due, handing back. What is read of them is in delivery-records.ts.

import { MAIL } from '../../domain/delivery.ts';
import type { AttemptEnd, DeliveryStore, Finished } from '../store.ts';
import type { Core } from './core.ts';
import { deliveryReads } from './delivery-records.ts';
import { claimsOf, type Hands, type Line, type Pass } from './pass.ts';
import { leaseKey } from './reads.ts';
import { sendBack, stateToReturnTo } from './rescue.ts';
import { claimDeliveries } from './turn-deliveries.ts';
import { writeEmission } from './write.ts';

/** Two, so that a queue shrinks also while new hands are free. */
const HANDED_OVER = 2;

export function deliveryVerbs(core: Core): DeliveryStore {
  return {
    ...deliveryReads(core),
    claimDeliveries: (limit, admission) => claimDeliveries(core, limit, admission),

    recordAttempt: (end, admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.attempt(end.delivery);
          needs.owners.add(end.delivery.emission.ownerId);
        },
        plan: (pass) => recordAttempt(pass, pass.handsOf(admission), end),
      }),

    releaseDeliveries: (leases) =>
      core.batch.write({
        needs: (needs) => {
          for (const lease of leases) needs.attempt(lease);
        },
        plan: (pass) => {
          for (const { delivery, fence } of leases) {
            const row = pass.leased('attempts', leaseKey(delivery, fence));
            if (row) sendBack(pass, { row, delivery, fence });
          }
        },
      }),
  };
}

function recordAttempt(pass: Pass, hands: Hands, end: AttemptEnd): Finished {
  const { delivery, fence } = end.delivery;
  const row = pass.leased('attempts', leaseKey(delivery, fence));
  if (!row) return { held: false, claims: claimsOf(hands), errorEntry: null };
  const ownerId = row.owner_id as string;
  const listenerId = row.listener_id as string;
  const n = (row.attempts_made as number) + 1;
  const line = pass.line(ownerId, listenerId, false);
  if (end.disableWebhook) pass.goneWebhooks.add(line);
  const state = end.state === 'retrying' ? stateToReturnTo(pass, { ownerId, listenerId, attemptsMade: n }) : end.state;
  const isOpen = state === 'retrying';
  if (isOpen || state === 'held') {
    const dueAtMs = isOpen ? end.nextAttemptAtMs : null;
    pass.plan.deliveryChanges.push({ delivery, state, attemptsMade: n, fence, dueAtMs });
  } else pass.plan.deliveryEnds.push({ delivery, state, attemptsMade: n });
  const { trigger } = end.delivery;
  pass.plan.attempts.push({ delivery, n, trigger, made: JSON.stringify(end.made) });
  pass.ledger.moved(ownerId, 'deliveries', { from: 'sending', to: state });
  line.change({ taken: -1, waiting: isOpen ? 1 : 0 }, pass.core.node.id);
  const errorEntry = end.error ? writeEmission(pass, hands, { made: end.error }).emission.entry : null;
  if (!pass.isGone(line)) handOver(pass, hands, line);
  return { held: true, claims: claimsOf(hands), errorEntry };
}

/** The hands that an attempt's end freed take the next due delivery of the same listener, without a tick between. */
function handOver(pass: Pass, hands: Hands, line: Line): void {
  if (line.waiting === 0) return;
  // What a claim will tell with it is read by now.
  if (line.listenerId === MAIL) pass.owner(line.ownerId);
  else if (!pass.webhook(line.ownerId, line.listenerId)?.active) return;
  let granted = pass.grantedTo(line);
  for (let taken = 0; taken < HANDED_OVER && line.waiting > granted; taken++) {
    if (!pass.takeDelivery(hands, line.listenerId)) return;
    pass.grants.push({ line, hands, count: 1, runnable: null });
    granted++;
  }
}
