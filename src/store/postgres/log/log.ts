// The writing verbs of the log, each with what it needs before it is planned. See batch.ts.

import type { RunLease } from '../../../domain/run/run.ts';
import { bytesOfEnd, type RunEnd } from '../../../domain/run/run-end.ts';
import type { LogStore, RunStore, TimeStore } from '../../contract/store.ts';
import { append } from '../../log/append.ts';
import { closeDigests } from '../../log/digests.ts';
import { tellGlobal } from '../../log/fallbacks.ts';
import { finishRun, NO_SLOTS, releaseRuns } from '../../log/finish-run.ts';
import { releaseLater } from '../../log/later-emissions.ts';
import { replayErrors } from '../../log/replays/replay-errors.ts';
import { rescue } from '../../log/rescue-runs.ts';
import { checkTick, fireTrigger } from '../../log/ticks.ts';
import { decideWatch } from '../../log/watch/decisions.ts';
import { claimRuns } from '../claims/claim-runs.ts';
import { PlannedDeliveryPort } from '../deliveries/delivery-port.ts';
import type { LogCore } from './batch.ts';
import { pairKey } from './batch-needs.ts';
import { digestsOf } from './expected-needs.ts';
import { PlannedLogWriter } from './log-writer.ts';

type LogVerbs = Pick<LogStore, 'append' | 'replayErrors'> &
  Pick<RunStore, 'finishRun' | 'claimRuns' | 'rescue'> &
  Pick<TimeStore, 'fireTrigger' | 'decideWatch' | 'closeDigests' | 'releaseLater' | 'tellGlobal'>;

export function logVerbs(core: LogCore): LogVerbs {
  const { batch } = core;
  return {
    append: (emission, admission, options) =>
      batch.write(
        {
          kind: options?.idempotency || options?.unlessReplayed ? null : `${emission.emitterId} ${emission.name}`,
          needs: (needs) => {
            const idempotency = options?.idempotency;
            needs.owners.add(emission.ownerId);
            if (idempotency) needs.keys.set(pairKey(idempotency.triggerId, idempotency.key), idempotency);
            if (options?.unlessReplayed) needs.retry(emission.ownerId, options.unlessReplayed);
          },
          plan: (planner) => append(new PlannedLogWriter(planner, admission), emission, options),
        },
        emission.emitterId,
        emission.body.byteLength,
      ),

    finishRun: (end, admission) =>
      batch.write(
        {
          kind: kindOfEnd(end),
          digests: end.emissions.flatMap(digestsOf),
          needs: (needs) => {
            const { lease, memory } = end;
            if (end.state === 'queued' || end.state === 'waiting') needs.returnRun(lease);
            else needs.endRun(lease);
            if (memory) needs.memories.add(memory.id);
            for (const { ownerId } of end.emissions) needs.owners.add(ownerId);
          },
          plan: (planner) => finishRun(new PlannedLogWriter(planner, admission), end),
        },
        end.runnableId,
        bytesOfEnd(end),
      ),

    claimRuns: (limit, admission) => claimRuns(core, limit, admission),

    rescue: (admission) =>
      batch.write({
        needs: (needs) => {
          needs.expired = true;
        },
        plan: (planner) => rescue(new PlannedDeliveryPort(new PlannedLogWriter(planner, admission))),
      }),

    fireTrigger: async (tick, emission, admission) => {
      checkTick(tick);
      return batch.write({
        needs: (needs) => {
          needs.ticks.push(tick);
          needs.owners.add(emission.ownerId);
        },
        plan: (planner) => fireTrigger(new PlannedLogWriter(planner, admission), tick, emission),
      });
    },

    closeDigests: (admission) =>
      batch.write({
        needs: (needs) => {
          needs.overDigests = true;
        },
        plan: (planner) => closeDigests(new PlannedLogWriter(planner, admission)),
      }),

    decideWatch: (decision, admission) =>
      batch.write(
        {
          needs: (needs) => {
            needs.owners.add(decision.next.ownerId);
            needs.decide(decision);
          },
          plan: (planner) => decideWatch(new PlannedLogWriter(planner, admission), decision),
        },
        decision.next.id,
      ),

    releaseLater: (admission) =>
      batch.write({
        needs: (needs) => {
          needs.dueLater = true;
        },
        plan: (planner) => releaseLater(new PlannedLogWriter(planner, admission)),
      }),

    tellGlobal: (admission) =>
      batch.write({
        needs: (needs) => {
          needs.fallbacks = true;
        },
        plan: (planner) => tellGlobal(new PlannedLogWriter(planner, admission)),
      }),

    replayErrors: (step) =>
      batch.write(
        {
          needs: (needs) => {
            needs.owners.add(step.ownerId);
            needs.replays.push(step);
          },
          plan: (planner) => replayErrors(new PlannedLogWriter(planner, NO_SLOTS), step),
        },
        step.operationId,
      ),
  };
}

/** Ends that emit much are not told apart by what they emit: they may need any queue. */
const NAMES_OF_KIND = 3;

function kindOfEnd({ runnableId, state, memory, emissions }: RunEnd): string | null {
  if (memory || emissions.length > NAMES_OF_KIND) return null;
  return [runnableId, state, ...emissions.map(({ name }) => name)].join(' ');
}

/** Queues runs again that were leased by a transaction whose outcome was unknown; expired leases are skipped. */
export function releaseLeases(core: LogCore, leases: readonly RunLease[]): Promise<void> {
  return core.batch.write({
    needs: (needs) => {
      for (const lease of leases) needs.returnRun(lease);
    },
    plan: (planner) => releaseRuns(new PlannedLogWriter(planner, NO_SLOTS), leases),
  });
}
