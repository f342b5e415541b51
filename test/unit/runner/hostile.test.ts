// Code that fails in every way there is, caused for real: the outcome says which way it was, in which step and on which
// line, it comes within a second of the timeout, and the server is none the worse for it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { RunOutcome } from '../../../src/domain/run.ts';
import type { RunRequest } from '../../../src/runner/runner.ts';
import { faultOf, kit, returned, signal, until } from './kit.ts';

const MIB = 1024 * 1024;
const LATEST_MS = 1000;

interface Case {
  /** What the second step does, on its third line. */
  readonly body: string;
  readonly code: string;
  readonly msg: RegExp;
  /** Null: nothing of the thrown value, or of a process that is gone, says which line it was. */
  readonly line: 3 | null;
  readonly memoryMb?: number;
  readonly timeoutMs?: number;
}

const HOSTILE = '() => { throw new Error("trap") }';
const HANGS = { code: 'Timeout', msg: /^The run took longer than its limit of 700 ms$/, line: null, timeoutMs: 700 };

const CASES: Record<string, Case> = {
  'a throw': { body: 'throw new RangeError("thrown")', code: 'RangeError', msg: /^thrown$/, line: 3 },
  'an async rejection': {
    body: 'await null; return Promise.reject(new RangeError("rejected"))',
    code: 'RangeError',
    msg: /^rejected$/,
    line: 3,
  },
  'a rejection nobody handles': {
    body: 'Promise.reject(new RangeError("forgotten")); await forEver',
    code: 'RangeError',
    msg: /^forgotten$/,
    line: 3,
  },
  'an exception in a timer': {
    body: 'setTimeout(() => { throw new RangeError("timer") }, 1); await forEver',
    code: 'RangeError',
    msg: /^timer$/,
    line: 3,
  },
  'a thrown string': { body: 'throw "only text"', code: 'Error', msg: /^only text$/, line: null },
  'a thrown null': { body: 'throw null', code: 'Error', msg: /^null$/, line: null },
  'a frozen error': { body: 'throw Object.freeze(new TypeError("ice"))', code: 'TypeError', msg: /^ice$/, line: 3 },
  'a frozen object': { body: 'throw Object.freeze({ a: 1 })', code: 'Error', msg: /^\{ a: 1 \}$/, line: null },
  'a hostile Proxy': {
    body: `throw new Proxy(new Error('inner'), { get: ${HOSTILE}, getPrototypeOf: ${HOSTILE}, ownKeys: ${HOSTILE} })`,
    code: 'Error',
    msg: /inner/,
    line: null,
  },
  'getters that throw': {
    body: `throw Object.defineProperties(new Error('m'), { message: { get: ${HOSTILE} }, code: { get: ${HOSTILE} }, cause: { get: ${HOSTILE} } })`,
    code: 'Error',
    msg: /./,
    line: 3,
  },
  'a circular cause': {
    body: 'const a = new Error("outer"); a.cause = new Error("inner", { cause: a }); throw a',
    code: 'Error',
    msg: /^outer$/,
    line: 3,
  },
  'an AggregateError': {
    body: 'await Promise.any([Promise.reject(new Error("a")), Promise.reject(new Error("b"))])',
    code: 'AggregateError',
    msg: /^All promises were rejected: a; b$/,
    line: null,
  },
  'a BigInt returned': {
    body: 'return { n: 1n }',
    code: 'TypeError',
    msg: /^The return value of the step two is not a JSON value \(.*BigInt\)$/,
    line: null,
  },
  'a message of 100 MB': {
    body: 'throw new RangeError("x".repeat(100 << 20))',
    code: 'RangeError',
    msg: /^x{8192}$/,
    line: 3,
  },
  'process.exit': { body: 'process.exit(7)', code: 'WorkerExit', msg: /process\.exit\(7\)/, line: 3 },
  'process.abort': { body: 'process.abort()', code: 'WorkerExit', msg: /process\.abort\(\)/, line: 3 },
  'an endless loop': { body: 'for (;;);', ...HANGS },
  'an endless loop of microtasks': { body: 'for (;;) await null', ...HANGS },
  'endless microtasks beside it': {
    body: 'const again = () => queueMicrotask(again); again(); await forEver',
    ...HANGS,
  },
  'endless ticks': { body: 'const again = () => process.nextTick(again); again(); await forEver', ...HANGS },
  'a step that never settles': { body: 'await forEver', ...HANGS },
  'a full heap': {
    body: 'const all = []; for (;;) all.push(new Array(10_000).fill(all.length))',
    code: 'OutOfMemory',
    msg: /^The code used more than its 32 MB of memory$/,
    line: null,
    memoryMb: 32,
  },
  'too many Buffers': {
    body: 'const all = []; for (;;) all.push(Buffer.alloc(8_000_000, 1))',
    code: 'OutOfMemory',
    msg: /^The code used more than its 32 MB of memory$/,
    line: null,
    memoryMb: 32,
  },
  'a stack overflow': {
    body: 'const f = () => f() + 1; return f()',
    code: 'RangeError',
    msg: /^Maximum call stack size exceeded$/,
    line: 3,
  },
  'a broken pipe': {
    body: '(await import("node:fs")).closeSync(3); await forEver',
    code: 'WorkerLost',
    msg: /./,
    line: null,
  },
};

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

function player(t: TestContext) {
  const { run, ...rest } = kit(t);
  const play = (body: string, given: Partial<RunRequest> = {}) => {
    const steps = [
      'export default ({ $ }) => { $.send.emit("of the first"); return 1 }',
      `const forEver = new Promise(() => {});\nexport default async ({ steps, $ }) => {\n${body}\n}`,
    ];
    return inTime(run(steps, { timeoutMs: 10_000, ...given }), given.timeoutMs ?? 10_000);
  };
  return { run, play, ...rest };
}

for (const [name, { body, code, msg, line, ...given }] of Object.entries(CASES)) {
  const skip = code === 'OutOfMemory' && !existsSync('/proc/self/status') && 'needs /proc';
  test(`told as what it is: ${name}`, { skip }, async (t) => {
    const outcome = await player(t).play(body, given);
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

test('code that fails at import says where', async (t) => {
  const { run } = kit(t);
  const outcome = await inTime(
    run(['export default () => 1', '\n\nthrow new RangeError("no config");\nexport default 1'], { timeoutMs: 10_000 }),
    10_000,
  );
  const fault = faultOf(outcome);
  assert.deepEqual(
    [fault.code, fault.msg, fault.cellId, fault.stack],
    ['StartFailed', 'no config', 'c_two', '    at two.ts:3:7'],
  );
  const endless = faultOf(await inTime(run('await new Promise(() => {}); export default 1', { timeoutMs: 700 }), 700));
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

test('a gigabyte of output leaves the server flat', async (t) => {
  const { run } = kit(t);
  // Written past Node's own queues, which would keep it in the process.
  const write = (fd: number) => `for (let sent = 0; sent < 1 << 30;) {
    try { sent += fs.writeSync(${fd}, block) } catch (error) { if (error.code !== 'EAGAIN') throw error }
  }`;
  const floods = {
    stdout: write(1),
    stderr: write(2),
    console: 'const text = block.toString(); for (let lines = 0; lines < 16_384; lines++) console.log(text)',
  };
  for (const [where, flood] of Object.entries(floods)) {
    let outcome: RunOutcome | undefined;
    const grown = await grownMib(async () => {
      const code = `import fs from 'node:fs'; const block = Buffer.alloc(1 << 16, 'x'); export default () => { ${flood}; return 'done' }`;
      outcome = await inTime(run(code, { timeoutMs: 60_000 }), 60_000);
    });
    assert.equal(returned(outcome as RunOutcome), 'done', where);
    assert.ok(grown < 150, `${where}: ${grown} MiB`);
    if (where === 'console') assert.ok((outcome?.logBytesDropped ?? 0) > 1020 * MIB);
  }
});

test('what fails in any way leaves the server flat', async (t) => {
  const { play } = player(t);
  const large = ['a message of 100 MB', 'a full heap', 'too many Buffers', 'a stack overflow'];
  const grown = await grownMib(async () => {
    for (const name of large) {
      const { body, memoryMb } = CASES[name] as Case;
      faultOf(await play(body, memoryMb === undefined ? {} : { memoryMb }));
    }
  });
  assert.ok(grown < 150, `${grown} MiB`);
});
