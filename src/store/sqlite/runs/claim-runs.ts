// Claims queued runs. They are counted in memory, so a claim reads only the rows that it takes.

import type { Claims } from '../../contract/store.ts';
import { grantRuns } from '../../log/grant-runs.ts';
import type { Core } from '../core.ts';
import type { SqliteLogWriter } from '../log/log-writer.ts';
import { claimOldest } from './run-queue.ts';

/**
 * Implements RunStore.claimRuns. Workflows and sources that were served come last next time, so that small claims are fair,
 * too.
 */
export function claimRuns(core: Core, w: SqliteLogWriter, limit: number): Claims & { nextDueAtMs: number | null } {
  const { openRuns, throttles, routes } = core;
  const candidates = [...openRuns.counts.keys()].flatMap((id) => {
    const runnable = routes.runnable(id);
    if (!runnable) return [];
    const { ownerId } = runnable;
    const room = throttles.room(runnable, w.nowMs);
    // The concurrency is that of the slots of this process.
    return { ownerId, runnable, waiting: w.tx.runsWaiting(id), room, free: Number.POSITIVE_INFINITY };
  });
  const takeRun = w.takeRun.bind(w);
  const { granted, throttled, isMoreWaiting } = grantRuns(candidates, { round: openRuns.owners, limit, takeRun });
  for (const { id } of granted.keys()) openRuns.toTheEnd(id);
  for (const [runnable, count] of granted) claimOldest(w, runnable, count);
  w.claims.runsWaiting = isMoreWaiting;
  const times = throttled.map((runnable) => throttles.nextMs(runnable, w.nowMs));
  return { ...w.claims, nextDueAtMs: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)) };
}
