// The writing verbs of the log; each runs within the transaction of its batch.

import { bytesOfEnd } from '../../../domain/run/run-end.ts';
import type { LogStore, RunStore, TimeStore } from '../../contract/store.ts';
import { append } from '../../log/append.ts';
import { closeDigests } from '../../log/digests.ts';
import { tellGlobal } from '../../log/fallbacks.ts';
import { finishRun, NO_SLOTS } from '../../log/finish-run.ts';
import { releaseLater } from '../../log/later-emissions.ts';
import { replayErrors } from '../../log/replays/replay-errors.ts';
import { rescue } from '../../log/rescue-runs.ts';
import { checkTick, fireTrigger } from '../../log/ticks.ts';
import { decideWatch } from '../../log/watch/decisions.ts';
import type { Core } from '../core.ts';
import { SqliteDeliveryPort } from '../deliveries/delivery-port.ts';
import { claimRuns } from '../runs/claim-runs.ts';
import { SqliteLogWriter } from './log-writer.ts';

type LogVerbs = Pick<LogStore, 'append' | 'replayErrors'> &
  Pick<RunStore, 'finishRun' | 'claimRuns' | 'rescue'> &
  Pick<TimeStore, 'fireTrigger' | 'decideWatch' | 'closeDigests' | 'releaseLater' | 'tellGlobal'>;

export function logVerbs(core: Core): LogVerbs {
  const { batch } = core;
  return {
    append: (emission, admission, options) =>
      batch.write((tx) => append(new SqliteLogWriter(core, tx, admission), emission, options), {
        flow: emission.emitterId,
        bytes: emission.body.byteLength,
        writes: 'counted',
      }),
    finishRun: (end, admission) =>
      batch.write((tx) => finishRun(new SqliteLogWriter(core, tx, admission), end), {
        flow: end.runnableId,
        bytes: bytesOfEnd(end),
        writes: 'counted',
      }),
    claimRuns: (limit, admission) =>
      batch.write((tx) => claimRuns(core, new SqliteLogWriter(core, tx, admission), limit), { writes: 'counted' }),
    rescue: (admission) =>
      batch.write((tx) => rescue(new SqliteDeliveryPort(new SqliteLogWriter(core, tx, admission)))),
    fireTrigger: async (tick, emission, admission) => {
      checkTick(tick);
      return batch.write((tx) => fireTrigger(new SqliteLogWriter(core, tx, admission), tick, emission));
    },
    closeDigests: (admission) => batch.write((tx) => closeDigests(new SqliteLogWriter(core, tx, admission))),
    decideWatch: (decision, admission) =>
      batch.write((tx) => decideWatch(new SqliteLogWriter(core, tx, admission), decision)),
    releaseLater: (admission) => batch.write((tx) => releaseLater(new SqliteLogWriter(core, tx, admission))),
    tellGlobal: (admission) => batch.write((tx) => tellGlobal(new SqliteLogWriter(core, tx, admission))),
    replayErrors: (step) =>
      batch.write((tx) => replayErrors(new SqliteLogWriter(core, tx, NO_SLOTS), step), {
        flow: step.operationId,
      }),
  };
}
