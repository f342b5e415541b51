// The moments at which the server is killed.

import { setTimeout as pause } from 'node:timers/promises';
import { BURST, LIGHT, type Load } from './load.ts';
import type { Dice } from './random.ts';
import { type Receiver, USUALLY_REFUSED_PART } from './receiver.ts';
import { type Rescued, type Server, sumOf } from './server.ts';

/**
 * `idle`: a few events a second. `burst`: as many as it takes. `start`: with a backlog, somewhere between the spawn and a
 * moment after it listens. `retry`: about when deliveries that were refused are tried again.
 */
export const PHASES = ['idle', 'burst', 'start', 'retry'] as const;
export type Phase = (typeof PHASES)[number];

export interface Kill {
  readonly phase: Phase;
  /** Of that life of the process; null: it did not listen yet. */
  readonly afterReadyMs: number | null;
  readonly afterSpawnMs: number;
  /** Events accepted so far. */
  readonly accepted: number;
  /** What the next start found under way. */
  rescued: Rescued;
}

export interface Stage {
  readonly server: Server;
  readonly load: Load;
  readonly receiver: Receiver;
  readonly dice: Dice;
  /** Events of one burst, so that the end comes in time. */
  readonly burst: number;
}

// The first retry is due 5 s after the refusal, ±10 %, and the loop that sends it looks every second.
const RETRY_DUE_MS = [4300, 6200] as const;
const REFUSED_PART = 0.5;
const BACKLOG_MS = 400;
const REFUSAL_DEADLINE_MS = 10_000;

/** Brings the server to a moment of that phase, kills it, starts it again, and waits until it listens. */
export async function killOnce(stage: Stage, phase: Phase): Promise<Kill> {
  const { server, load } = stage;
  await APPROACHES[phase](stage);
  const { startedAt, readyAt } = server.life;
  const now = Date.now();
  await server.kill();
  const kill: Kill = {
    phase,
    afterReadyMs: readyAt === null ? null : now - readyAt,
    afterSpawnMs: now - startedAt,
    accepted: load.accepted,
    rescued: { runs: 0, deliveries: 0 },
  };
  load.set(LIGHT);
  const life = server.start();
  await life.ready;
  return Object.assign(kill, { rescued: sumOf(life.rescues) });
}

const APPROACHES: Readonly<Record<Phase, (stage: Stage) => Promise<void>>> = {
  idle: async ({ load, dice }) => {
    load.set(LIGHT);
    await pause(dice.between(50, 700));
  },
  burst: async ({ load, dice, burst }) => {
    load.set(BURST, burst);
    await pause(dice.between(50, 1500));
  },
  start: async ({ server, load, dice, burst }) => {
    load.set(BURST, burst);
    await pause(BACKLOG_MS);
    await server.kill();
    const { ready } = server.start();
    // Half of them before it listens.
    if (dice.next() < 0.5) await ready;
    await pause(dice.between(0, 500));
  },
  retry: async ({ load, receiver, dice }) => {
    load.set(LIGHT);
    const before = receiver.refusals();
    const deadline = Date.now() + REFUSAL_DEADLINE_MS;
    receiver.refuse(REFUSED_PART);
    while (receiver.refusals() === before && Date.now() < deadline) await pause(5);
    receiver.refuse(USUALLY_REFUSED_PART);
    await pause(dice.between(...RETRY_DUE_MS));
  },
};

/** `count` phases, as evenly as they go, in an order of the dice. */
export function planPhases(count: number, dice: Dice): Phase[] {
  const plan = Array.from({ length: count }, (_, index) => PHASES[index % PHASES.length] as Phase);
  for (let at = plan.length - 1; at > 0; at--) {
    const other = dice.between(0, at);
    [plan[at], plan[other]] = [plan[other] as Phase, plan[at] as Phase];
  }
  return plan;
}
