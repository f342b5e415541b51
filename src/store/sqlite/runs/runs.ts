// Runs: how they end, are claimed, handed back and rescued.

import { bytesOfEnd } from '../../../domain/run/run-end.ts';
import type { Claims, RunStore } from '../../contract/store.ts';
import { rescueDeliveries } from '../../log/deliveries.ts';
import { finishRun, NO_SLOTS, releaseRuns } from '../../log/finish-run.ts';
import { rescueRuns } from '../../log/rescue-runs.ts';
import type { Core } from '../core.ts';
import { SqliteDeliveryPort } from '../deliveries/delivery-port.ts';
import { SqliteLogWriter } from '../log/log-writer.ts';
import { claimRuns } from './claim-runs.ts';

export function runVerbs(core: Core): Omit<RunStore, 'listRuns' | 'getRun' | 'cancelRun'> {
  return {
    finishRun: (end, admission) =>
      core.batch.write(
        (tx) => finishRun(new SqliteLogWriter(core, tx, admission), end),
        end.runnableId,
        bytesOfEnd(end),
      ),
    claimRuns: (limit, admission) =>
      core.batch.write((tx) => claimRuns(core, new SqliteLogWriter(core, tx, admission), limit)),
    releaseRuns: (leases) => core.batch.write((tx) => releaseRuns(new SqliteLogWriter(core, tx, NO_SLOTS), leases)),
    rescue: (admission) => core.batch.write((tx) => rescue(new SqliteLogWriter(core, tx, admission))),
  };
}

function rescue(w: SqliteLogWriter): { runs: number; deliveries: number; claims: Claims } {
  const runs = rescueRuns(w);
  const deliveries = rescueDeliveries(new SqliteDeliveryPort(w));
  return { runs, deliveries, claims: w.claims };
}
