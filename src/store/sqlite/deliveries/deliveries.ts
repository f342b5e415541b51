// The verbs of leased deliveries: claims, attempts, releases. The other verbs are in store/config/deliveries.ts.

import type { DeliveryStore } from '../../contract/store.ts';
import { recordAttempt, releaseDeliveries } from '../../log/deliveries.ts';
import { NO_SLOTS } from '../../log/finish-run.ts';
import type { Core } from '../core.ts';
import { SqliteLogWriter } from '../log/log-writer.ts';
import { claimDeliveries, recountDoubtful, WrongCount } from './claim-deliveries.ts';
import { SqliteDeliveryPort } from './delivery-port.ts';

type LeaseVerbs = Pick<DeliveryStore, 'claimDeliveries' | 'recordAttempt' | 'releaseDeliveries'>;

export function deliveryVerbs(core: Core): LeaseVerbs {
  return {
    claimDeliveries: (limit, admission) =>
      core.batch.write((tx) => claimDeliveries(core, new SqliteLogWriter(core, tx, admission), limit)),
    recordAttempt: async (end, admission) => {
      const record = () =>
        core.batch.write((tx) => {
          recountDoubtful(core);
          return recordAttempt(new SqliteDeliveryPort(new SqliteLogWriter(core, tx, admission)), end);
        });
      // A wrong count of deliveries that are due next must not keep the end of an attempt from being written.
      return record().catch((error) => (error instanceof WrongCount ? record() : Promise.reject(error)));
    },
    releaseDeliveries: (leases) =>
      core.batch.write((tx) =>
        releaseDeliveries(new SqliteDeliveryPort(new SqliteLogWriter(core, tx, NO_SLOTS)), leases),
      ),
  };
}
