// Which fault comes when: an endless row that a seed brings back. How long the machine takes for each, it does not.

import { createDice, type Dice } from '../random.ts';

/** What may happen to any server, by how often it does. */
export const ON_PROCESSES = {
  'kill one': 8,
  'kill all': 4,
  'kill at start': 3,
  'kill while it stops': 3,
  'terminate one': 2,
  'terminate all': 1,
  'stand still': 2,
  'kill children': 2,
  'receivers away': 2,
  'callers leave': 1,
} as const;

/** And to those that share a database. */
export const ON_DATABASE = {
  reset: 2,
  hang: 3,
  'half-open': 3,
  refuse: 2,
  silence: 2,
  'partly silent': 4,
  'database restarted fast': 2,
  'database restarted immediate': 2,
} as const;

export type FaultKind = keyof typeof ON_PROCESSES | keyof typeof ON_DATABASE;

export interface Fault {
  readonly kind: FaultKind;
  /** Which of the servers, when it befalls one: a number in [0, 1) of their count. */
  readonly victim: number;
  /** The network of all servers, and not of one. */
  readonly isForAll: boolean;
  readonly beforeMs: number;
  readonly lastsMs: number;
}

/** Longer than a node's lease (6 s). */
const LONG_MS = {
  'stand still': [7000, 9000],
  hang: [8000, 11_000],
  silence: [7000, 10_000],
  'partly silent': [3000, 8000],
} as const;
const SHORT_MS = [200, 2500] as const;

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
  };
}
