// What is tried on several nodes that share a Postgres: each scenario on one of its own. `npm run prove -- --postgres` goes
// through all of it at length, test/postgres/faults/ through a short version.

import type { Result } from '../setting.ts';
import { diskFull } from './disk.ts';
import { failedOver, fellSilent } from './failover.ts';
import { killed } from './killed.ts';
import { locked } from './locked.ts';
import { cutOff } from './network.ts';
import { paused } from './paused.ts';
import { restarted } from './restarted.ts';
import { rolesApart } from './roles.ts';
import { upgraded } from './upgraded.ts';

/** A reason instead, where it cannot be tried. */
export type Run = (seed: number) => Promise<Result | string>;

type Scenarios = Readonly<
  Record<
    | 'killed'
    | 'paused'
    | 'database restarted'
    | 'connections cut'
    | 'primary lost'
    | 'primary silent'
    | 'disk full'
    | 'disk full with the log'
    | 'locked'
    | 'upgraded'
    | 'roles apart',
    Run
  >
>;

/** `kills`: of one node after the other. */
export function atLength(kills: number): Scenarios {
  return {
    killed: (seed) => killed(seed, kills),
    paused: (seed) => paused(seed, { times: 3, pauseMs: 12_000 }),
    'database restarted': (seed) => restarted(seed, { times: 3, longestMs: 6000 }),
    'connections cut': (seed) => cutOff(seed, { cutForMs: 10_000, heldForMs: [8000, 30_000], lostAnswers: 10 }),
    'primary lost': (seed) => failedOver(seed, { restarts: 3, headlessMs: 4000 }),
    'primary silent': fellSilent,
    'disk full': (seed) => diskFull(seed, { isLogElsewhere: true, lastsMs: 6000 }),
    'disk full with the log': (seed) => diskFull(seed, { isLogElsewhere: false, lastsMs: 6000 }),
    locked: (seed) => locked(seed, { tables: ['open_runs', 'listener_queues'], lockedMs: 20_000, slowMs: 40_000 }),
    upgraded,
    'roles apart': (seed) => rolesApart(seed, 3),
  };
}

/** Each fault once, for as long as it takes to show. */
export const inShort: Scenarios = {
  killed: (seed) => killed(seed, 1),
  paused: (seed) => paused(seed, { times: 1, pauseMs: 9000 }),
  'database restarted': (seed) => restarted(seed, { times: 1, longestMs: 1500 }),
  'connections cut': (seed) => cutOff(seed, { cutForMs: 2000, heldForMs: [1500], lostAnswers: 2 }),
  'primary lost': (seed) => failedOver(seed, { restarts: 1, headlessMs: 1500 }),
  'primary silent': fellSilent,
  'disk full': (seed) => diskFull(seed, { isLogElsewhere: true, lastsMs: 1000 }),
  'disk full with the log': (seed) => diskFull(seed, { isLogElsewhere: false, lastsMs: 1000 }),
  locked: (seed) => locked(seed, { tables: ['open_runs, listener_queues'], lockedMs: 7500, slowMs: 0 }),
  upgraded,
  'roles apart': (seed) => rolesApart(seed, 1),
};
