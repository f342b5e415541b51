// The verbs of leased deliveries: claims, attempts, releases. The other verbs are in store/config/deliveries.ts.

import type { DeliveryLease } from '../../../domain/delivery/delivery.ts';
import type { DeliveryStore } from '../../contract/store.ts';
import { recordAttempt, releaseDeliveries } from '../../log/deliveries.ts';
import { NO_SLOTS } from '../../log/finish-run.ts';
import { claimDeliveries } from '../claims/claim-deliveries.ts';
import type { LogCore } from '../log/batch.ts';
import { digestsOf } from '../log/expected-needs.ts';
import { PlannedLogWriter } from '../log/log-writer.ts';
import { PlannedDeliveryPort } from './delivery-port.ts';

type LeaseVerbs = Pick<DeliveryStore, 'claimDeliveries' | 'recordAttempt' | 'releaseDeliveries'>;

export function deliveryVerbs(core: LogCore): LeaseVerbs {
  return {
    claimDeliveries: (limit, admission) => claimDeliveries(core, limit, admission),

    recordAttempt: (end, admission) =>
      core.batch.write({
        kind: `${end.delivery.emission.emitterId} ${end.delivery.kind} ${end.state}`,
        digests: end.state === 'exhausted' ? digestsOf(end.delivery.emission) : [],
        needs: (needs) => {
          needs.attempt(end.delivery);
          needs.owners.add(end.delivery.emission.ownerId);
        },
        plan: (planner) => recordAttempt(new PlannedDeliveryPort(new PlannedLogWriter(planner, admission)), end),
      }),

    releaseDeliveries: (leases) => releaseLeases(core, leases),
  };
}

/** Releases deliveries that were not sent; leases that are no longer ours are skipped. */
export function releaseLeases(core: LogCore, leases: readonly DeliveryLease[]): Promise<void> {
  return core.batch.write({
    needs: (needs) => {
      for (const lease of leases) needs.attempt(lease);
    },
    plan: (planner) => releaseDeliveries(new PlannedDeliveryPort(new PlannedLogWriter(planner, NO_SLOTS)), leases),
  });
}
