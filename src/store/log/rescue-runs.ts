// Runs with an expired lease: their process is gone, or their code is stuck. Each is queued again, and fails when
// its lease expires for the LIMITS.rescues-th time.

import { workerLost } from '../../domain/failure.ts';
import { LIMITS } from '../../domain/limits.ts';
import { endOf, startBefore } from '../../domain/run/run-times.ts';
import type { Claims } from '../contract/store.ts';
import { rescueDeliveries } from './deliveries.ts';
import type { DeliveryPort } from './delivery-port.ts';
import { announce, cancelUnfinished } from './finish-run.ts';
import type { LeasedRun, LogWriter } from './port.ts';
import { noteRun } from './watch/notes.ts';
import { writeFailure } from './write-emission.ts';

/** Implements RunStore.rescue. */
export function rescue<Q>(port: DeliveryPort<Q>): { runs: number; deliveries: number; claims: Claims } {
  const { log } = port;
  const runs = rescueRuns(log);
  return { runs, deliveries: rescueDeliveries(port), claims: log.claims };
}

/** Rescues expired runs. Returns how many there were. */
function rescueRuns(log: LogWriter): number {
  const expired = log.expiredRuns();
  for (const run of expired) rescueRun(log, run);
  return expired.length;
}

function rescueRun(log: LogWriter, run: LeasedRun): void {
  const { ownerId, attempt, startedAtMs } = run;
  const runnable = log.runnable(ownerId, run.runnableId);
  // Its workflow may have been deleted meanwhile, or its owner has cancelled it.
  if (!runnable || run.isStopped || run.isAbandonedHook) {
    cancelUnfinished(log, run);
    return;
  }
  const queue = log.runQueue(ownerId, run.runnableId);
  if (run.rescues + 1 < LIMITS.rescues) {
    queue.moved('running', 'queued');
    run.queueAgain({ attempt: attempt + 1, startedAtMs: startBefore(run), isAlone: false, isRescued: true });
    announce(log);
    return;
  }
  queue.moved('running', 'failed');
  noteRun(log, run, 'failed');
  const failed = { emission: run.readEmission(), runnable, run: run.run, attempt };
  const error = writeFailure(log, failed, workerLost(log.nowMs));
  run.end({ state: 'failed', attempt, endedAtMs: endOf(startedAtMs, log.nowMs), error, reported: null });
}
