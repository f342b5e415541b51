// Code that fails in every way there is, caused for real: the outcome says which way it was, in which step and on which
// line, it comes within a second of the timeout, and the server is none the worse for it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { RunOutcome } from '../../../../src/domain/run/run.ts';
import type { RunRequest } from '../../../../src/runner/runner.ts';
import { HOSTILE_CASES, type HostileCase } from '../../../support/data/hostile-cases.ts';
import { timesOf } from '../../../support/data/thorough.ts';
import { DEADLINE_MS, faultOf, kit, manualTimers, returned, signal, until } from '../kit.ts';

const MIB = 1024 * 1024;
const LATEST_MS = 1000;
/** Several times what the server may grow by. */
const OUTPUT_MIB = timesOf(1024, 384);

/** The outcome, which must be there a second after the timeout. Both wait for the same event loop, so a busy machine does not matter. */
async function inTime(outcome: Promise<RunOutcome>, timeoutMs: number): Promise<RunOutcome> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`no outcome after ${timeoutMs} ms and a second`)),
    timeoutMs + LATEST_MS,
  );
  try {
    return await Promise.race([outcome, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** How much more memory the server had at most, while that went on. */
async function grownMib(during: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 10);
  await during();
  clearInterval(look);
  return (Math.max(most, process.memoryUsage.rss()) - before) / MIB;
}

function stepsOf(body: string, before = ''): string[] {
  return [
    'export default ({ $ }) => { $.send.emit("of the first"); return 1 }',
    `const forEver = new Promise(() => {});\nexport default async ({ steps, $ }) => { ${before}\n${body}\n}`,
  ];
}

function player(t: TestContext) {
  const { run, ...rest } = kit(t);
  const play = (body: string, given: Partial<RunRequest> = {}) =>
    inTime(run(stepsOf(body), given), given.timeoutMs ?? DEADLINE_MS);
  return { run, play, ...rest };
}

/** Runs code that does not end, whose time is up once the second step has begun. */
async function playUntilTimeout(t: TestContext, { body, timeoutMs = 0, isSilent }: HostileCase): Promise<RunOutcome> {
  const timers = manualTimers(t);
  const { run } = kit(t);
  const { came, onAnswer } = signal();
  const outcome = run(stepsOf(body, 'await $.respond({ immediate: true });'), { timeoutMs, onAnswer });
  await came;
  timers.pass(timeoutMs);
  if (isSilent) await timers.passUntil(outcome);
  return await outcome;
}

for (const [name, hostile] of Object.entries(HOSTILE_CASES)) {
  const { body, code, msg, line, ...given } = hostile;
  const skip = code === 'OutOfMemory' && !existsSync('/proc/self/status') && 'needs /proc';
  test(`told as what it is: ${name}`, { skip }, async (t) => {
    const outcome = given.timeoutMs ? await playUntilTimeout(t, hostile) : await player(t).play(body, given);
    const fault = faultOf(outcome);
    assert.deepEqual([fault.code, fault.cellId, fault.namespace], [code, 'c_two', 'two'], fault.msg);
    assert.match(fault.msg, msg);
    if (line === null) assert.doesNotMatch(fault.stack, /one\.ts/);
    else
      assert.match(
        fault.stack.split('\n').find((frame) => frame.includes('.ts:')) ?? '',
        new RegExp(`two\\.ts:${line}:`),
      );
    for (const frame of fault.stack.split('\n').filter(Boolean)) assert.match(frame, /^ {4}at /);
    assert.deepEqual(
      outcome.steps.map(({ namespace, state }) => [namespace, state]),
      [
        ['one', 'succeeded'],
        ['two', 'failed'],
      ],
    );
    // What the first step sent takes effect, however the second one ended.
    assert.deepEqual([outcome.outgoing.length, outcome.outgoingOfDone], [1, 1]);
  });
}

test('a rejection after its step fails the run there', async (t) => {
  const outcome = await kit(t).run([
    'export default () => {\n  setImmediate(() => { Promise.reject(new RangeError("late")) })\n}',
    'export default () => new Promise(() => {})',
  ]);
  const fault = faultOf(outcome);
  assert.deepEqual([fault.code, fault.msg, fault.cellId], ['RangeError', 'late', 'c_one']);
  assert.match(fault.stack, /one\.ts:2:/);
});

test('a rejection after its run is told to the log', async (t) => {
  const { run, logged } = kit(t);
  const late = 'setImmediate(() => setImmediate(() => Promise.reject(new RangeError("too late"))))';
  assert.equal(returned(await run(`export default () => { ${late}; return 1 }`)), 1);
  await until(() => logged.some(({ name }) => name === 'runner.stray_exception'));
});

test('a process killed from outside is told as lost', async (t) => {
  const { play } = player(t);
  const { came, onAnswer } = signal();
  const outcome = play('await $.respond({ immediate: true, body: String(process.pid) }); await forEver', { onAnswer });
  process.kill(Number(Buffer.from((await came).body).toString()), 'SIGKILL');
  const fault = faultOf(await outcome);
  assert.deepEqual(
    [fault.code, fault.cellId, fault.msg],
    ['WorkerLost', 'c_two', 'The process was ended from outside, by SIGKILL'],
  );
});

test('code that closes its pipe is blamed for it', async (t) => {
  const { play } = player(t);
  for (const then of ['for (;;);', 'await forEver', 'throw new Error("after")']) {
    const fault = faultOf(await play(`process.getBuiltinModule('node:fs').closeSync(3); ${then}`));
    assert.deepEqual([fault.code, fault.cellId], ['WorkerLost', 'c_two'], then);
    assert.match(fault.msg, /^The code broke the connection/, then);
  }
});

test('code that fails at import says where', async (t) => {
  const { run } = kit(t);
  const outcome = await inTime(
    run(['export default () => 1', '\n\nthrow new RangeError("no config");\nexport default 1']),
    DEADLINE_MS,
  );
  const fault = faultOf(outcome);
  assert.deepEqual(
    [fault.code, fault.msg, fault.cellId, fault.stack],
    ['StartFailed', 'no config', 'c_two', '    at two.ts:3:7'],
  );
  // Its time begins when the process is up, however long that takes.
  const endless = faultOf(await run('await new Promise(() => {}); export default 1', { timeoutMs: 700 }));
  assert.deepEqual([endless.code, endless.cellId], ['Timeout', 'c_one']);
});

test('code that closes its outputs goes on', async (t) => {
  const { run } = kit(t);
  const code = `import fs from 'node:fs'; export default async () => {
    for (const fd of [0, 1, 2]) fs.closeSync(fd);
    console.log('still heard');
    return (await import('node:fs/promises')).readFile(import.meta.filename).then(() => 'still works');
  }`;
  const outcome = await run(code);
  assert.equal(returned(outcome), 'still works');
  assert.deepEqual(
    outcome.logs.map(({ text }) => text),
    ['still heard'],
  );
});

test('output without end leaves the server flat', async (t) => {
  const { run } = kit(t);
  // Written past Node's own queues, which would keep it in the process.
  const write = (fd: number) => `for (let sent = 0; sent < ${OUTPUT_MIB} * 2 ** 20;) {
    try { sent += fs.writeSync(${fd}, block) } catch (error) { if (error.code !== 'EAGAIN') throw error }
  }`;
  const floods = {
    stdout: write(1),
    stderr: write(2),
    console: `const text = block.toString(); for (let lines = 0; lines < ${OUTPUT_MIB * 16}; lines++) console.log(text)`,
  };
  for (const [where, flood] of Object.entries(floods)) {
    let outcome: RunOutcome | undefined;
    const grown = await grownMib(async () => {
      const code = `import fs from 'node:fs'; const block = Buffer.alloc(1 << 16, 'x'); export default () => { ${flood}; return 'done' }`;
      outcome = await inTime(run(code, { timeoutMs: 60_000 }), 60_000);
    });
    assert.equal(returned(outcome as RunOutcome), 'done', where);
    assert.ok(grown < 150, `${where}: ${grown} MiB`);
    if (where === 'console') assert.ok((outcome?.logBytesDropped ?? 0) > (OUTPUT_MIB - 4) * MIB);
  }
});

test('what fails in any way leaves the server flat', async (t) => {
  const { play } = player(t);
  const large = ['a message of 100 MB', 'a full heap', 'too many Buffers', 'a stack overflow'];
  const grown = await grownMib(async () => {
    for (const name of large) {
      const { body, memoryMb } = HOSTILE_CASES[name] as HostileCase;
      faultOf(await play(body, memoryMb === undefined ? {} : { memoryMb }));
    }
  });
  assert.ok(grown < 150, `${grown} MiB`);
});
