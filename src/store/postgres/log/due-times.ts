// What time brings: schedule ticks and digests that close. Retention is in retention.ts.

import type { TimeStore } from '../../contract/store.ts';
import { closeDigests } from '../../log/digests.ts';
import { releaseLater } from '../../log/later-emissions.ts';
import { checkTick, fireTrigger } from '../../log/ticks.ts';
import type { LogCore } from './batch.ts';
import { PlannedLogWriter } from './log-writer.ts';
import { prune } from './retention.ts';

export function timeVerbs(core: LogCore): Omit<TimeStore, 'dueTriggers' | 'nextDueAtMs'> {
  return {
    fireTrigger: async (tick, emission, admission) => {
      checkTick(tick);
      return core.batch.write({
        needs: (needs) => {
          needs.ticks.push(tick);
          needs.owners.add(emission.ownerId);
        },
        plan: (planner) => fireTrigger(new PlannedLogWriter(planner, admission), tick, emission),
      });
    },

    closeDigests: (admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.overDigests = true;
        },
        plan: (planner) => closeDigests(new PlannedLogWriter(planner, admission)),
      }),

    releaseLater: (admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.dueLater = true;
        },
        plan: (planner) => releaseLater(new PlannedLogWriter(planner, admission)),
      }),

    prune: (beforeMs, from) => prune(core, beforeMs, from),
  };
}
