// Claims queued runs. They are counted in memory, so a claim reads only the rows that it takes.

import type { Runnable } from '../../../domain/resource.ts';
import type { Claims } from '../../contract/store.ts';
import type { Core } from '../core.ts';
import type { SqliteLogWriter } from '../log/log-writer.ts';
import { claimOldest } from './run-queue.ts';

export function claimRuns(core: Core, w: SqliteLogWriter, limit: number): Claims & { nextDueAtMs: number | null } {
  const { granted, throttled } = grantRuns(core, w, limit);
  for (const [runnable, count] of granted) claimOldest(w, runnable, count);
  const times = throttled.map((runnable) => core.throttles.nextMs(runnable, w.tx.nowMs));
  return { ...w.claims, nextDueAtMs: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)) };
}

interface Granted {
  /** How many runs each workflow or source may start now. */
  readonly granted: ReadonlyMap<Runnable, number>;
  /** Workflows with more queued runs than their throttle lets begin. */
  readonly throttled: readonly Runnable[];
}

/**
 * Grants slots round robin, by owner first, until no workflow or source may start more or the limit is reached. Served ones come
 * last next time, so that small claims are fair, too.
 */
function grantRuns(core: Core, w: SqliteLogWriter, limit: number): Granted {
  const granted = new Map<Runnable, number>();
  const throttled: Runnable[] = [];
  let rest = limit;
  const candidates = [...core.openRuns.counts.keys()].flatMap((id) => core.routes.runnable(id) ?? []);
  core.openRuns.owners.goRound(candidates, (runnable) => {
    const count = granted.get(runnable) ?? 0;
    if (count >= w.tx.runsWaiting(runnable.id)) return false;
    if (count >= core.throttles.room(runnable, w.tx.nowMs)) {
      throttled.push(runnable);
      return false;
    }
    if (rest === 0 || !w.takeRun(runnable)) {
      w.claims.runsWaiting = true;
      return false;
    }
    granted.set(runnable, count + 1);
    rest--;
    return true;
  });
  for (const { id } of granted.keys()) core.openRuns.toTheEnd(id);
  return { granted, throttled };
}
