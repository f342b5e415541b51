// Which fault comes when: an endless row that a seed brings back. How long the machine takes for each, it does not.

import { createDice, type Dice } from '../random.ts';

/** What may happen to any server, by how often it does. */
export const ON_PROCESSES = {
  'kill one': 20,
  'kill at start': 10,
  'kill while it stops': 6,
  'terminate one': 2,
  'stand still': 1,
  'kill children': 2,
  'children stand still': 2,
  'receivers away': 2,
  'callers leave': 1,
  'clock forward': 2,
  'clock back': 2,
  'disk full': 2,
} as const;

/** And to several. */
export const ON_SEVERAL = {
  'kill all': 6,
  'terminate all': 1,
} as const;

/** And to those that share a database. */
export const ON_DATABASE = {
  reset: 2,
  hang: 2,
  'half-open': 2,
  refuse: 2,
  silence: 1,
  'partly silent': 3,
  'database restarted fast': 2,
  'database restarted immediate': 2,
} as const;

export type FaultKind = keyof typeof ON_PROCESSES | keyof typeof ON_SEVERAL | keyof typeof ON_DATABASE;

export interface Fault {
  readonly kind: FaultKind;
  /** Which of the servers, when it befalls one: a number in [0, 1) of their count. */
  readonly victim: number;
  /** The network of all servers, and not of one. */
  readonly isForAll: boolean;
  readonly beforeMs: number;
  readonly lastsMs: number;
  /** By how much a clock is set. */
  readonly jumpMs: number;
  /** What was changed stays as it is, where it can. */
  readonly stays: boolean;
}

/** Longer than a node's lease (6 s). */
const LONG_MS = {
  'stand still': [7000, 9000],
  hang: [8000, 11_000],
  silence: [7000, 10_000],
  'partly silent': [3000, 8000],
} as const;
const SHORT_MS = [200, 2500] as const;
const MINUTE_MS = 60_000;
const JUMP_MINUTES = [2, 300] as const;

export function* planOf(seed: number, weights: Partial<Record<FaultKind, number>>): Generator<Fault, never> {
  const dice = createDice(seed);
  for (;;) yield next(dice, weights as Record<FaultKind, number>);
}

function next(dice: Dice, weights: Readonly<Record<FaultKind, number>>): Fault {
  const kind = dice.pick(weights);
  const [min, max] = kind in LONG_MS ? LONG_MS[kind as keyof typeof LONG_MS] : SHORT_MS;
  return {
    kind,
    victim: dice.next(),
    isForAll: dice.next() < 0.3,
    beforeMs: dice.between(200, 1200),
    lastsMs: dice.between(min, max),
    jumpMs: dice.between(...JUMP_MINUTES) * MINUTE_MS,
    stays: dice.next() < 0.5,
  };
}

export function textOfFault({ kind, victim, isForAll, beforeMs, lastsMs, jumpMs, stays }: Fault): string {
  const jump = kind.startsWith('clock') ? `, by ${jumpMs / MINUTE_MS} min` : '';
  return `${kind} (victim ${victim.toFixed(2)}${isForAll ? ', for all' : ''}${stays ? ', stays' : ''}${jump}), after ${beforeMs} ms, for ${lastsMs} ms`;
}
