// What time brings: schedule ticks and digests that close. Retention is in retention.ts.

import type { TimeStore } from '../../contract/store.ts';
import { appendedOf } from '../../log/append.ts';
import { closeDigests } from '../../log/digests.ts';
import { releaseLater } from '../../log/later-emissions.ts';
import { checkTick } from '../../log/ticks.ts';
import { writeEmission } from '../../log/write-emission.ts';
import { toTrigger } from '../../rows/resource-rows.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { LogCore } from './batch.ts';
import { PlannedLogWriter } from './log-writer.ts';
import { prune } from './retention.ts';

export function timeVerbs(core: LogCore): TimeStore {
  return {
    dueTriggers: async (limit) => {
      // The database says itself what is due: no tick comes before its time, whatever this node takes for the time.
      const rows = await core.pool.all(
        `SELECT * FROM triggers WHERE next_at_ms <= (SELECT coalesce($1::bigint, ${NOW_SQL}))
          ORDER BY next_at_ms LIMIT $2::int`,
        core.clock.standMs(),
        limit,
      );
      return rows.map(toTrigger);
    },

    fireTrigger: async (tick, emission, admission) => {
      checkTick(tick);
      return core.batch.write({
        needs: (needs) => {
          needs.ticks.push(tick);
          needs.owners.add(emission.ownerId);
        },
        plan: (pass) => {
          if (!pass.fires(tick.triggerId)) return null;
          const log = new PlannedLogWriter(pass, admission);
          return appendedOf(log, writeEmission(log, emission));
        },
      });
    },

    nextDueAtMs: async () => {
      const row = await core.pool.get(
        `SELECT least((SELECT min(next_at_ms) FROM triggers WHERE next_at_ms IS NOT NULL),
          (SELECT min(closes_at_ms) FROM digests), (SELECT min(due_at_ms) FROM later_emissions),
          (SELECT min(due_at_ms) FROM open_runs WHERE due_at_ms IS NOT NULL)) AS at`,
      );
      return (row?.at as number | null | undefined) ?? null;
    },

    closeDigests: (admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.overDigests = true;
        },
        plan: (pass) => closeDigests(new PlannedLogWriter(pass, admission)),
      }),

    releaseLater: (admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.dueLater = true;
        },
        plan: (pass) => releaseLater(new PlannedLogWriter(pass, admission)),
      }),

    prune: (beforeMs, from) => prune(core, beforeMs, from),
  };
}
