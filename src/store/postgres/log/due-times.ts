// What time brings: schedule ticks and digests that close. Retention is in retention.ts.

import { digestBody } from '../../../domain/delivery/digest.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { TimeStore } from '../../contract/store.ts';
import { checkTick } from '../../log/ticks.ts';
import { writeEmission } from '../../log/write-emission.ts';
import { toTrigger } from '../../rows/resource-rows.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { toEmission } from '../rows.ts';
import { pairKey } from './batch-needs.ts';
import { releaseLater } from './later-emissions.ts';
import { appendedOf } from './log.ts';
import { PlannedLogWriter } from './log-writer.ts';
import { prune } from './retention.ts';

export function timeVerbs(core: Core): TimeStore {
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
        plan: (pass) => {
          const log = new PlannedLogWriter(pass, admission);
          for (const row of pass.due('overDigests')) closeDigest(log, row);
          return log.claims;
        },
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

function closeDigest(log: PlannedLogWriter, row: Row): void {
  const { pass } = log;
  const ownerId = row.digest_owner as string;
  const digestKey = row.over_key as string;
  if (row.repeats === 0 || row.entry === null) {
    pass.plan.endedDigests.push({ ownerId, digestKey });
    return;
  }
  const window = {
    openedAtMs: row.opened_at_ms as number,
    closesAtMs: row.closes_at_ms as number,
    repeats: row.repeats as number,
  };
  const { entry: _entry, emitId: _emitId, ...mail } = toEmission(row, pass.core);
  // Caused by no single run: it tells of all of them.
  const body = digestBody(window, mail.body);
  const written = writeEmission(log, { ...mail, body, digestKey: null, causeRun: null });
  const windowMs = pass.owner(ownerId)?.digestWindowMs ?? LIMITS.digestWindowMs;
  pass.digests.set(pairKey(ownerId, digestKey), {
    ownerId,
    digestKey,
    openedAtMs: pass.nowMs,
    closesAtMs: pass.nowMs + windowMs,
    repeats: 0,
    newestEntry: written.emission.entry,
    isNew: false,
  });
}
