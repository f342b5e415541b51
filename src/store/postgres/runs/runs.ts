// Runs: what each verb reads before it is planned.

import type { RunLease } from '../../../domain/run/run.ts';
import { bytesOfEnd } from '../../../domain/run/run-end.ts';
import type { RunStore } from '../../contract/store.ts';
import { rescueDeliveries } from '../../log/deliveries.ts';
import { finishRun, NO_SLOTS, releaseRuns } from '../../log/finish-run.ts';
import { rescueRuns } from '../../log/rescue-runs.ts';
import { claimRuns } from '../claims/claim-runs.ts';
import { PlannedDeliveryPort } from '../deliveries/delivery-port.ts';
import type { LogCore } from '../log/batch.ts';
import { PlannedLogWriter } from '../log/log-writer.ts';

export function runVerbs(core: LogCore): Omit<RunStore, 'listRuns' | 'getRun' | 'cancelRun'> {
  return {
    claimRuns: (limit, admission) => claimRuns(core, limit, admission),

    finishRun: (end, admission) =>
      core.batch.write(
        {
          needs: (needs) => {
            const { lease, source } = end;
            if (end.state === 'queued' || end.state === 'waiting') needs.returnRun(lease);
            else needs.endRun(lease);
            if (source) needs.sources.add(source.id);
            for (const { ownerId } of end.emissions) needs.owners.add(ownerId);
          },
          plan: (planner) => finishRun(new PlannedLogWriter(planner, admission), end),
        },
        end.runnableId,
        bytesOfEnd(end),
      ),

    releaseRuns: (leases) => releaseLeases(core, leases),

    rescue: (admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.expired = true;
        },
        plan: (planner) => {
          const log = new PlannedLogWriter(planner, admission);
          const runs = rescueRuns(log);
          const deliveries = rescueDeliveries(new PlannedDeliveryPort(log));
          return { runs, deliveries, claims: log.claims };
        },
      }),
  };
}

/** Queues runs again, the attempt not counted; leases that have expired are passed over. */
export function releaseLeases(core: LogCore, leases: readonly RunLease[]): Promise<void> {
  return core.batch.write({
    needs: (needs) => {
      for (const lease of leases) needs.returnRun(lease);
    },
    plan: (planner) => releaseRuns(new PlannedLogWriter(planner, NO_SLOTS), leases),
  });
}
