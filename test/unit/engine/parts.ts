// What unit tests of the engine stand on: ports that are set, and claimed rows that are only as whole as the test needs.

import { PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import { DEFAULT_SETTINGS, type Runnable } from '../../../src/domain/resource.ts';
import type { ClaimedRun } from '../../../src/domain/run.ts';
import type { Log, Random } from '../../../src/ports.ts';
import type { Appended, Claims } from '../../../src/store/store.ts';

/** Jitter in the middle: none. */
export const random: Random = { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 };

export interface Line {
  readonly level: string;
  readonly name: string;
  readonly fields: object;
}

export function createLog(): { log: Log; lines: Line[] } {
  const lines: Line[] = [];
  const keep = (level: string) => (fields: object, name: string) => void lines.push({ level, name, fields });
  return { log: { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }, lines };
}

export const NOTHING: Claims = { runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false };

export const runnable: Runnable = {
  id: 'p_1',
  ownerId: 'u_1',
  name: 'orders',
  active: true,
  deploymentId: 'd_1',
  settings: DEFAULT_SETTINGS,
};

export const emission = {
  ...PLAIN_EMISSION,
  ownerId: 'u_1',
  emitterId: 'hi_1',
  originId: 'hi_1',
  sourceType: 'HTTP' as const,
  body: Buffer.from('{}'),
};

export function claimedRun(run: number, more: Partial<ClaimedRun> = {}): ClaimedRun {
  return {
    run,
    fence: 1,
    runnable,
    emission: { ...emission, entry: run, emitId: `e${run}`, traceId: `e${run}` },
    via: 'trigger',
    subscriptionId: null,
    attempt: 1,
    alone: false,
    isAwaitedElsewhere: false,
    ...more,
  };
}

export function appended(firstRun: number | null, more: Partial<Appended> = {}): Appended {
  return { entry: 1, emitId: 'e1', claims: NOTHING, firstRun, firstRunRefused: false, repeated: null, ...more };
}
