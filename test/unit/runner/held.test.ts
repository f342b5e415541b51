// Runs leased ahead of their slot, with a real process of their code.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunOutcome } from '../../../src/domain/run/run.ts';
import { ReadyRuns } from '../../../src/engine/runs/ready-runs.ts';
import type { Runner, RunRequest } from '../../../src/runner/runner.ts';
import { deploymentOf, kit, requestOf, returned } from './kit.ts';

/** Says when it ran, by the machine's clock, and does what it is asked. */
const TIMED = `
  const nowNs = () => Number(process.hrtime.bigint());
  export default async ({ steps }) => {
    const { act, n } = steps.trigger.event;
    const from = nowNs();
    if (act === 'exit') process.exit(1);
    if (act === 'break') { JSON.parse = null; throw new Error('broken'); }
    await new Promise((resolve) => setTimeout(resolve, { long: 60, medium: 20 }[act] ?? 0));
    return { n, from, to: nowNs() };
  }`;
/** Says in which context of its own it began, and stays in one that has its number. */
const IN_CONTEXT = `
  import { AsyncLocalStorage } from 'node:async_hooks';
  const context = new AsyncLocalStorage();
  export default async ({ steps }) => {
    const before = context.getStore();
    const { n } = steps.trigger.event;
    context.enterWith(n);
    return { n, before };
  }`;
const AT_ONCE = 4;

interface Timed {
  readonly n: number;
  readonly from: number;
  readonly to: number;
}

/** Returns how many runs were executed at once, in whichever processes. */
function mostAtOnce(outcomes: readonly RunOutcome[]): number {
  const changes = outcomes
    .map((outcome) => returned(outcome) as Timed)
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ]);
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** `held`: how many runs were sent to be held. */
function counting(runner: Runner) {
  const told = { held: 0, most: 0, inFlight: 0 };
  const run = async (request: RunRequest): Promise<RunOutcome> => {
    if (request.atOnce !== undefined) told.held++;
    told.inFlight++;
    told.most = Math.max(told.most, told.inFlight);
    try {
      return await runner.run(request);
    } finally {
      told.inFlight--;
    }
  };
  const ready = new ReadyRuns({ run, runsBeside: (request) => runner.runsBeside(request), cancel: () => false });
  return { ready, told };
}

async function started(t: Parameters<typeof kit>[0], code = TIMED) {
  const { runner } = kit(t);
  const deployment = await deploymentOf(code);
  const { ready, told } = counting(runner);
  const send = (event: object, given: Partial<RunRequest> = {}) =>
    ready.run(requestOf(deployment, { event: Buffer.from(JSON.stringify(event)), ...given }), AT_ONCE);
  // Until its pace is known.
  for (let n = 0; n < 40; n++) await send({ n });
  equal(told.held, 0);
  return { send, told };
}

test('of quick runs some wait in their process, and no more are executed at once than there are slots', async (t) => {
  const { send, told } = await started(t);
  const outcomes = await Promise.all(Array.from({ length: 400 }, (_, n) => send({ n })));
  deepEqual(
    outcomes.map((outcome) => (returned(outcome) as Timed).n),
    Array.from({ length: 400 }, (_, n) => n),
  );
  ok(told.held > 0, 'a machine that is busy holds fewer, and some');
  ok(told.most > AT_ONCE);
  equal(mostAtOnce(outcomes), AT_ONCE);
});

test('a run that was held begins in no context of the code before it', async (t) => {
  const { send, told } = await started(t, IN_CONTEXT);
  const outcomes = await Promise.all(Array.from({ length: 400 }, (_, n) => send({ n })));
  ok(told.held > 0, 'a machine that is busy holds fewer, and some');
  deepEqual(
    outcomes.map(returned),
    Array.from({ length: 400 }, (_, n) => ({ n })),
  );
});

test('large events wait outside of the process', async (t) => {
  const { send, told } = await started(t);
  const text = 'x'.repeat(20_000);
  await Promise.all(Array.from({ length: 50 }, (_, n) => send({ n, text })));
  equal(told.held, 0);
});

test('of runs that have become slow none waits in its process', async (t) => {
  const { send, told } = await started(t);
  for (let turn = 0; turn < 10; turn++)
    await Promise.all(Array.from({ length: 8 }, (_, n) => send({ n, act: 'long' })));
  const before = told.held;
  const outcomes = await Promise.all(Array.from({ length: 12 }, (_, n) => send({ n, act: 'long' })));
  equal(told.held, before);
  equal(mostAtOnce(outcomes), AT_ONCE);
});

// While some are held already, and while more would be.
for (const [act, count, place] of [
  ['long', 60, 18],
  ['medium', 120, 50],
] as const) {
  test(`a run that is alone counts as one of those that are executed (${act})`, async (t) => {
    const { send, told } = await started(t);
    const runs = Array.from({ length: count }, (_, n) =>
      n === place ? send({ n, act: 'long' }, { alone: true }) : send({ n, act }),
    );
    equal(mostAtOnce(await Promise.all(runs)), AT_ONCE);
    ok(told.held > 0);
  });
}

for (const bad of ['exit', 'break']) {
  test(`when code has to leave its process (${bad}), each run behind it is executed once`, async (t) => {
    const { send, told } = await started(t);
    const ends = new Map<number, string[]>();
    const well: RunOutcome[] = [];
    /** As the engine does it: what was given back is sent again, what nobody is blamed for runs alone. */
    const settle = async (n: number): Promise<void> => {
      const event = { n, act: n % 50 === 49 ? bad : 'quick' };
      for (let alone = false; ; ) {
        const outcome = await send(event, { alone });
        const { end } = outcome;
        if (end.kind === 'succeeded') well.push(outcome);
        ends.set(n, [...(ends.get(n) ?? []), end.kind]);
        if (end.kind === 'unattributed') alone = true;
        else if (end.kind === 'returned') await pause(1);
        else return;
      }
    };
    await Promise.all(Array.from({ length: 300 }, (_, n) => settle(n)));
    const odd = [...ends].filter(([n, kinds]) => kinds.at(-1) !== (n % 50 === 49 ? 'failed' : 'succeeded'));
    // Those that began in the same turn as one that broke the language run in what it has broken.
    ok(odd.length <= (bad === 'break' ? 6 * (AT_ONCE - 1) : 0), JSON.stringify(odd));
    ok(mostAtOnce(well) <= AT_ONCE);
    ok(told.held > 0);
  });
}
