// What a step printed is in the run's log, however its process dies.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunOutcome } from '../../../../src/domain/run/run.ts';
import { LogReports } from '../../../../src/runner/child/log-reports.ts';
import { deploymentOf, faultOf, kit, manualTimers, signal } from '../kit.ts';

const texts = ({ logs }: RunOutcome): string[] => logs.map(({ text }) => text);

test('an endless loop keeps what was printed', async (t) => {
  const timers = manualTimers(t);
  const { run } = kit(t);
  const { came, onAnswer } = signal();
  const deployment = await deploymentOf([
    'export default () => console.log("earlier")',
    'export default async ({ $ }) => { console.log("one"); console.error("two"); await $.respond({ immediate: true }); for (;;); }',
  ]);
  const running = run(deployment, { timeoutMs: 200, onAnswer });
  await came;
  timers.pass(200);
  await timers.passUntil(running);
  const outcome = await running;
  assert.equal(faultOf(outcome).code, 'Timeout');
  assert.deepEqual(
    outcome.logs.map(({ namespace, level, text }) => [namespace, level, text]),
    [
      ['one', 'info', 'earlier'],
      ['two', 'info', 'one'],
      ['two', 'error', 'two'],
    ],
  );
});

test('a loop keeps what it printed without a pause', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf(
    'export default ({ steps }) => { if (steps.trigger.event.loops) { console.log("last"); for (;;); } }',
  );
  await run(deployment); // its process is warm: the timeout begins with the code
  const outcome = await run(deployment, { event: Buffer.from('{"loops":true}'), timeoutMs: 2000 });
  assert.equal(faultOf(outcome).code, 'Timeout');
  assert.deepEqual(texts(outcome), ['last']);
});

test('a full memory keeps what was printed', async (t) => {
  const outcome = await kit(t).run(
    'export default () => { console.log("last"); const a = []; for (;;) a.push(new Array(10000).fill(a.length)) }',
    { memoryMb: 32 },
  );
  assert.equal(faultOf(outcome).code, 'OutOfMemory');
  assert.deepEqual(texts(outcome), ['last']);
});

for (const death of ['SIGABRT', 'SIGKILL'] as const) {
  test(`a process that dies by ${death} keeps what was printed`, async (t) => {
    const { came, onAnswer } = signal();
    // More lines than are written one by one, and a pause in which the rest is written.
    const outcome = kit(t).run(
      `export default async ({ $ }) => {
        for (let i = 0; i < 500; i++) console.log(i);
        await new Promise((resolve) => setTimeout(resolve, 100));
        await $.respond({ immediate: true, body: String(process.pid) });
        await new Promise(() => {});
      }`,
      { onAnswer },
    );
    process.kill(Number(Buffer.from((await came).body).toString()), death);
    const died = await outcome;
    assert.equal(faultOf(died).code, 'WorkerLost');
    assert.deepEqual(
      texts(died),
      Array.from({ length: 500 }, (_, i) => String(i)),
    );
  });
}

test('code that closes its pipe keeps what it printed', async (t) => {
  const outcome = await kit(t).run(
    'export default async () => { console.log("last"); process.getBuiltinModule("node:fs").closeSync(3); await new Promise(() => {}) }',
  );
  assert.equal(faultOf(outcome).code, 'WorkerLost');
  assert.deepEqual(texts(outcome), ['last']);
});

test('each line is in the log once', async (t) => {
  const { run } = kit(t);
  const step = 'export default async () => { for (let i = 0; i < 100; i++) console.log("x".repeat(1000) + i) }';
  const outcome = await run([step, step]);
  const once = Array.from({ length: 100 }, (_, i) => 'x'.repeat(1000) + i);
  assert.deepEqual(texts(outcome), [...once, ...once]);
});

function reports() {
  const told = { nowMs: 0, writes: 0, lines: 0, later: null as (() => void) | null };
  const logReports = new LogReports({
    flush: () => void told.writes++,
    nowMs: () => told.nowMs,
    later: (then) => {
      told.later = then;
    },
  });
  const run = {
    ended: false,
    unreportedBytes: 0,
    reportLog: () => {
      told.lines++;
      run.unreportedBytes = 0;
    },
  };
  const print = (bytes = 100): void => {
    run.unreportedBytes += bytes;
    logReports.printed(run);
  };
  return { told, run, print };
}

test('lines are written at once until many come', () => {
  const { told, run, print } = reports();
  for (let i = 0; i < 100; i++) print();
  assert.deepEqual([told.writes, run.unreportedBytes], [32, 6800]);
  told.later?.();
  assert.deepEqual([told.writes, run.unreportedBytes], [33, 0]);
  told.nowMs += 25;
  for (let i = 0; i < 100; i++) print();
  assert.equal(told.writes, 35, 'one for each 10 ms');
  told.nowMs += 60_000;
  for (let i = 0; i < 100; i++) print();
  assert.equal(told.writes, 67, 'no more in a row after a long time');
});

test('many bytes are written at once', () => {
  const { told, run, print } = reports();
  for (let i = 0; i < 32; i++) print();
  print(16 * 1024 - 1);
  assert.equal(told.writes, 32);
  print(1);
  assert.deepEqual([told.writes, run.unreportedBytes], [33, 0]);
});

test('a run that has ended reports no lines', () => {
  const { told, run, print } = reports();
  for (let i = 0; i < 33; i++) print();
  run.ended = true;
  told.later?.();
  assert.equal(told.lines, 32);
});
