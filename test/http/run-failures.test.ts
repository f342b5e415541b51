// Every way in which a run fails: one record each, with its code, its step, and a message that says what happened.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it, test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { startGate } from '../support/gate.ts';
import { until } from '../support/wait.ts';

const PLAIN = 'export default () => 1';

interface Failure {
  readonly code: string;
  readonly settings?: Json;
  readonly expected: string;
  readonly msg?: RegExp;
}

/** Runs `code` as the second of three steps, and again as told to succeed; returns the one error. */
async function failOnce(errand: Errand, { code, settings = {} }: Omit<Failure, 'expected'>): Promise<Json> {
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'failing',
    steps: [
      { namespace: 'before', code: PLAIN },
      { namespace: 'failing', code },
      { namespace: 'after', code: PLAIN },
    ],
    triggers: [{ type: 'http' }],
    settings,
  });
  // Its process is there before the clock of the failing run begins; code that fails whatever comes is not warmed.
  const warming = code.includes('body.fail') ? await warm(errand, workflow) : 0;
  await errand.send(workflow, { fail: true });
  const [run] = await errand.runs(workflow.id, warming + 1);
  assert.equal(run.state, 'failed');
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(run.error_id, error.id);
  assert.equal(error.event.original_event.body.fail, true);
  assert.equal(error.event.original_context.deployment_id, workflow.deployment_id);

  const mended = { steps: [{ namespace: 'failing', code: PLAIN }], settings: { timeout_ms: 60_000 } };
  await errand.client.put(`/v1/workflows/${workflow.id}`, mended);
  await errand.send(workflow, {});
  const runs = await errand.runs(workflow.id, warming + 2);
  assert.equal(runs[0].state, 'succeeded');
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries`);
  const failed = runs.filter(({ state }) => state === 'failed');
  assert.deepEqual(
    data.map(({ id }: Json) => id),
    failed.map(({ error_id }) => error_id),
    'exactly one record of each run that failed',
  );
  const step = workflow.steps.find((each: Json) => each.namespace === 'failing');
  return { ...error.event.error, step, runId: run.id };
}

async function assertFails(failure: Failure): Promise<Json> {
  await using errand = await startErrand();
  const error = await failOnce(errand, failure);
  assert.deepEqual(
    [error.code, error.namespace, error.cellId],
    [failure.expected, 'failing', error.step.id],
    JSON.stringify(error),
  );
  assert.match(error.msg, failure.msg ?? /./);
  assert.match(error.ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(typeof error.stack, 'string');
  return error;
}

/** Until a run has succeeded: on a busy machine a process may take longer to start than a run may take. Returns how many it took. */
async function warm(errand: Errand, workflow: Json): Promise<number> {
  for (let sent = 1; ; sent++) {
    await errand.send(workflow, {});
    const [run] = await errand.runs(workflow.id, sent);
    if (run.state === 'succeeded') return sent;
    assert.equal((await errand.errors(workflow.id, sent))[0].event.error.code, 'Timeout');
  }
}

const whenTold = (statements: string) =>
  `export default async ({ steps }) => { if (steps.trigger.event.body.fail) { ${statements} } };`;
const thrown = (expression: string) => `export default () => { throw ${expression}; }`;

/** Long enough for a process to start on a busy machine: that counts, too. */
const TIMEOUT_MS = 1500;

describe('codes of the platform', { concurrency: 2 }, () => {
  it('a loop that never ends is Timeout', async () => {
    await assertFails({
      code: whenTold('for (;;);'),
      settings: { timeout_ms: TIMEOUT_MS },
      expected: 'Timeout',
      msg: /1500/,
    });
  });

  it('a promise that never settles is Timeout', async () => {
    const code = whenTold('await new Promise(() => {});');
    await assertFails({ code, settings: { timeout_ms: TIMEOUT_MS }, expected: 'Timeout', msg: /1500/ });
  });

  it('a timer that outlives the limit is Timeout', async () => {
    const code = whenTold('await new Promise((resolve) => setTimeout(resolve, 60_000));');
    await assertFails({ code, settings: { timeout_ms: TIMEOUT_MS }, expected: 'Timeout' });
  });

  it('too many objects are OutOfMemory', async () => {
    const code = whenTold('const kept = []; for (;;) kept.push(new Array(100_000).fill({ n: kept.length }));');
    await assertFails({ code, settings: { memory_mb: 64 }, expected: 'OutOfMemory', msg: /64/ });
  });

  it('one long text is OutOfMemory', async () => {
    const code = whenTold(`const kept = []; for (;;) kept.push(JSON.stringify(new Array(100_000).fill('text')));`);
    await assertFails({ code, settings: { memory_mb: 64 }, expected: 'OutOfMemory', msg: /64/ });
  });

  // memory_mb bounds V8's heap; Buffers lie outside of it.
  it('too many bytes are OutOfMemory', async () => {
    const code = whenTold('const kept = []; for (;;) kept.push(Buffer.alloc(8_000_000, 1));');
    await assertFails({ code, settings: { memory_mb: 64 }, expected: 'OutOfMemory', msg: /64/ });
  });

  it('ending the process is WorkerExit', async () => {
    await assertFails({ code: 'export default () => { process.exit(3); }', expected: 'WorkerExit', msg: /3/ });
  });

  it('ending it with zero is WorkerExit', async () => {
    await assertFails({ code: 'export default () => { process.exit(0); }', expected: 'WorkerExit' });
  });

  it('ending it later is WorkerExit', async () => {
    const code = 'export default () => new Promise(() => setTimeout(() => process.exit(4), 10))';
    await assertFails({ code, expected: 'WorkerExit', msg: /4/ });
  });

  it('aborting the process is WorkerExit', async () => {
    await assertFails({ code: whenTold('process.abort();'), expected: 'WorkerExit' });
  });

  it('a process that is killed is WorkerLost', async () => {
    await using errand = await startErrand();
    await using gate = await startGate();
    const code = whenTold(`await fetch(process.env.GATE + '/' + process.pid);`);
    gate.wait(1).then(([path = '']) => process.kill(Number(path.slice(1)), 'SIGKILL'));
    const error = await failOnce(errand, { code, settings: { env: { GATE: gate.url } } });
    assert.deepEqual([error.code, error.namespace, error.cellId], ['WorkerLost', 'failing', error.step.id]);
  });

  it('a value over 6 MB is PayloadTooLarge', async () => {
    await assertFails({ code: `export default () => 'x'.repeat(6_300_000)`, expected: 'PayloadTooLarge' });
  });

  it('exports over 6 MB are PayloadTooLarge', async () => {
    const code = `export default ({ $ }) => { for (const n of [1, 2, 3]) $.export('n' + n, 'x'.repeat(2_100_000)); }`;
    await assertFails({ code, expected: 'PayloadTooLarge' });
  });

  it('a throw at import is StartFailed', async () => {
    await using errand = await startErrand();
    const code = `throw new TypeError('not today'); export default () => 1;`;
    const error = await failOnce(errand, { code });
    assert.equal(error.code, 'StartFailed');
    assert.match(error.msg, /not today/);
    assert.deepEqual([error.namespace, error.cellId], ['failing', error.step.id]);
  });

  it('a default export that is nothing is StartFailed', async () => {
    await using errand = await startErrand();
    const steps = [{ namespace: 'empty', code: 'export default 7' }];
    const answer = await errand.client.request('POST', '/v1/workflows', {
      name: 'x',
      steps,
      triggers: [{ type: 'http' }],
    });
    if (answer.status === 422) return assert.match(answer.text, /empty/);
    await errand.send(answer.json.data, {});
    const [error] = await errand.errors(answer.json.data.id, 1);
    assert.equal(error.event.error.code, 'StartFailed');
  });

  it('an event beyond the queue is QueueFull', async () => {
    await using errand = await startErrand();
    await using gate = await startGate();
    const workflow = await errand.workflow('export default async () => { await fetch(process.env.GATE); }', {
      settings: { concurrency: 1, queue_limit: 1, env: { GATE: gate.url } },
    });
    const send = (n: number) =>
      fetch(workflow.triggers[0].endpoint_url, { method: 'POST', body: `event ${n}` }).then((answer) => answer.status);
    assert.equal(await send(1), 200);
    await gate.wait(1);
    assert.equal(await send(2), 200);
    const third = await send(3);
    assert.ok([200, 429, 503].includes(third), `${third}`);
    const [error] = await errand.errors(workflow.id, 1);
    const { error: what, original_event: event } = error.event;
    assert.deepEqual([what.code, event.body], ['QueueFull', 'event 3']);
    assert.equal(typeof what.cellId, 'string');
    gate.open();
    await until('the others succeed', async () => {
      const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=succeeded`);
      return data.length === 2;
    });
    assert.equal((await errand.errors(workflow.id, 1)).length, 1);
  });
});

// It takes the code out of the file, as a damaged disk might.
test('a run whose code is lost is Internal', {
  skip: process.env.TEST_STORE === 'postgres' && 'of a file',
}, async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(`export default () => 1; // ${'long '.repeat(100)}`);
  await errand.stop();
  using file = new DatabaseSync(join(errand.dataDir, 'errand.db'));
  file.exec('DELETE FROM codes');
  await errand.restart();
  await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: { n: 1 } });
  const [record] = await errand.errors(workflow.id, 1);
  assert.deepEqual([record.event.error.code, record.event.original_event], ['Internal', { n: 1 }]);
  assert.match(record.event.error.msg, /its log says more/);
});

describe('codes of the thrown value', { concurrency: 2 }, () => {
  // One service for all: each case has a workflow of its own.
  let errand: Errand;
  before(async () => {
    errand = await startErrand();
  });
  after(() => errand[Symbol.asyncDispose]());

  const cases: [string, string, string, RegExp][] = [
    ['a plain error has code Error', `new Error('plain')`, 'Error', /^plain$/],
    ['a subclass gives its name', `new TypeError('of a type')`, 'TypeError', /^of a type$/],
    ['an own code is kept', `Object.assign(new Error('gone'), { code: 'E_GONE' })`, 'E_GONE', /^gone$/],
    ['a thrown text is code Error', `'just text'`, 'Error', /^just text$/],
    ['a thrown null is code Error', 'null', 'Error', /null/],
    ['a thrown undefined is code Error', 'undefined', 'Error', /undefined/],
    ['a thrown number is code Error', '42n', 'Error', /42/],
    ['a thrown object is code Error', `{ reason: 'an object' }`, 'Error', /an object/],
    ['a thrown symbol is code Error', `Symbol('sym')`, 'Error', /sym/],
    [
      'a configuration error keeps its name',
      `Object.assign(new Error('set me'), { name: 'ConfigurationError' })`,
      'ConfigurationError',
      /set me/,
    ],
    ['a rejected promise counts as thrown', `await Promise.reject(new RangeError('later'))`, 'RangeError', /later/],
    ['a circular value loses no error', '(() => { const a = { n: 1 }; a.a = a; return a; })()', 'Error', /./],
    [
      'a getter that throws loses no error',
      `Object.defineProperties(new Error(), { message: { get() { throw 1; } }, stack: { get() { throw 2; } }, code: { get() { throw 3; } } })`,
      'Error',
      /^/,
    ],
    [
      'a proxy that throws loses no error',
      `new Proxy({}, { get() { throw new Error('trap'); }, getPrototypeOf() { throw 1; }, ownKeys() { throw 2; } })`,
      'Error',
      /^/,
    ],
    ['a lone surrogate loses no error', `new Error('half \\ud800 pair')`, 'Error', /^half .+ pair$/],
    ['a zero byte loses no error', `new Error('a\\u0000b')`, 'Error', /^a.?b$/s],
    [
      'a code that is no text loses no error',
      `Object.assign(new Error('odd'), { code: { toString() { throw 1; } } })`,
      'Error',
      /^odd$/,
    ],
    [
      'a code cannot pass for ours',
      `Object.assign(new Error('forged'), { code: 'x'.repeat(100_000) })`,
      '',
      /^forged$/,
    ],
  ];
  for (const [claim, expression, expected, msg] of cases) {
    it(claim, async () => {
      const code = thrown(expression).replace('() =>', 'async () =>');
      const error = await failOnce(errand, { code });
      assert.deepEqual([error.namespace, error.cellId], ['failing', error.step.id]);
      if (expected === '') assert.ok(error.code.length <= 1000, 'a code has a length that can be listed');
      else assert.equal(error.code, expected);
      assert.match(error.msg, msg);
      const { data: run } = await errand.client.get(`/v1/runs/${error.runId}`);
      const states = run.steps.map((step: Json) => [step.namespace, step.state]);
      assert.deepEqual(states.slice(0, 2), [
        ['before', 'succeeded'],
        ['failing', 'failed'],
      ]);
    });
  }
});
