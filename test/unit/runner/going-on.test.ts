// Runs that go on behind steps that are done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { bodies, deploymentOf, earlier, faultOf, kit, returned } from './kit.ts';

const DONE = {
  one: { returnValue: '{"n":12}', exports: { answer: '42', ['__proto__']: '"own"' }, resumeData: '{"ok":true}' },
} as const;

test('a run goes on behind the steps done', async (t) => {
  const outcome = await kit(t).run(
    [
      'export default () => { throw new Error("done already") }',
      'export default ({ steps }) => steps',
      'export default ({ steps }) => [Object.keys(steps), steps.two.$return_value.one]',
    ],
    { earlier: earlier(DONE), event: Buffer.from('{"e":1}') },
  );
  const one = { answer: 42, $return_value: { n: 12 }, $resume_data: { ok: true } };
  assert.deepEqual(
    outcome.steps.map(({ namespace }) => namespace),
    ['two', 'three'],
  );
  const [names, shown] = returned(outcome) as [string[], object];
  assert.deepEqual(names, ['trigger', 'one', 'two']);
  assert.deepEqual(shown, { ...one, ['__proto__']: 'own' });
});

test('what is carried is parsed when it is read', async (t) => {
  const outcome = await kit(t).run(
    [
      'export default () => 1',
      `export default ({ steps }) => {
        const value = steps.one.$return_value;
        value.seen = true;
        return [steps.one.$return_value === value, typeof Object.getOwnPropertyDescriptor(steps.one, 'answer').get];
      }`,
    ],
    { earlier: earlier(DONE) },
  );
  assert.deepEqual(returned(outcome), [true, 'function']);
});

test('the context tells executions, attempt and request', async (t) => {
  const request = {
    method: 'POST',
    path: '/',
    query: {},
    headers: {},
    client_ip: '::1',
    url: 'http://x/',
    body: { a: 1 },
  };
  const show = 'export default ({ $ }) => { const { deadline, ...rest } = $.context; return rest }';
  const deployment = await deploymentOf([show, show, show]);
  const { run } = kit(t);
  const given = { context: { id: 'e', test: true }, attempt: 2 };
  const callback = JSON.stringify(request);
  const reruns = { runs: 4, context: '{"left":[1]}' };
  const outcome = await run(deployment, { ...given, earlier: earlier({ one: {} }, { reruns, callback }) });
  const rest = { id: 'e', attempt: 2, test: true };
  assert.deepEqual(
    outcome.steps.map(({ returnValue }) => JSON.parse(returnValue as string)),
    [
      { ...rest, run: { runs: 5, context: { left: [1] }, callback_request: request } },
      { ...rest, run: { runs: 1, callback_request: request } },
    ],
  );
  const fresh = await run(deployment, given);
  assert.deepEqual(JSON.parse(fresh.steps[0]?.returnValue as string), { ...rest, run: { runs: 1 } });
});

test('later steps see what ended a rerun', async (t) => {
  const deployment = await deploymentOf([
    'export default () => "again"',
    'export default ({ steps }) => [steps.one.$return_value, steps.one.$resume_data]',
  ]);
  const { run } = kit(t);
  const reruns = { runs: 1, context: null };
  const resumed = await run(deployment, { earlier: earlier({}, { reruns, callback: '{"body":{"ok":1}}' }) });
  assert.deepEqual(returned(resumed), ['again', { ok: 1 }]);
  assert.deepEqual(returned(await run(deployment, { earlier: earlier({}, { reruns }) })), ['again', null]);
});

test('results of all segments count together', async (t) => {
  const deployment = await deploymentOf([
    'export default () => 1',
    'export default ({ steps }) => "x".repeat(steps.trigger.event)',
  ]);
  const { run } = kit(t);
  const resumeData = `"${'y'.repeat(500)}"`;
  const carried = earlier({ one: { returnValue: '"ää"', exports: { name: '"xx"' }, resumeData } });
  const left = LIMITS.resultBytes - Buffer.byteLength(`"ää"name"xx"${resumeData}""`);
  const returning = (length: number) => run(deployment, { earlier: carried, event: Buffer.from(String(length)) });
  assert.equal((returned(await returning(left)) as string).length, left);
  assert.equal(faultOf(await returning(left + 1)).code, 'PayloadTooLarge');
  // The body of the request that had a step executed again will be that step's.
  const again = earlier({ one: {} }, { reruns: { runs: 1, context: null }, callback: `{"body":${resumeData}}` });
  const asked = (length: number) => run(deployment, { earlier: again, event: Buffer.from(String(length)) });
  const room = LIMITS.resultBytes - Buffer.byteLength(`${resumeData}""`);
  assert.equal((returned(await asked(room)) as string).length, room);
  assert.equal(faultOf(await asked(room + 1)).code, 'PayloadTooLarge');
});

test('log lines of all segments count together', async (t) => {
  const { run } = kit(t);
  const code = ['export default () => 1', 'export default () => { console.log("x".repeat(100)); console.log("more") }'];
  const logBytes = LIMITS.logBytes - LIMITS.logLineBytes - 10;
  const { logs, logBytesDropped } = await run(code, { earlier: earlier({ one: {} }, { logBytes }) });
  assert.deepEqual([logs.map(({ text }) => text.length), logBytesDropped], [[10], 90 + 'more\n'.length]);
});

test('a fault names the step that was executed', async (t) => {
  const { run } = kit(t);
  // Others have time to load their code on a machine that is busy.
  const going = (body: string, code: string) =>
    run(['export default () => 1', `export default async () => { ${body} }`, 'export default () => 1'], {
      earlier: earlier({ one: {} }),
      timeoutMs: code === 'Timeout' ? 4000 : 60_000,
    });
  for (const [body, code] of [
    ['throw new RangeError("x")', 'RangeError'],
    ['for (;;);', 'Timeout'],
    ['await new Promise(() => {})', 'Timeout'],
    ['process.kill = undefined; process.exit(1)', 'WorkerExit'],
    ['(await import("node:fs")).closeSync(3); await new Promise(() => {})', 'WorkerLost'],
  ] as const) {
    const outcome = await going(body, code);
    const fault = faultOf(outcome);
    assert.deepEqual([fault.code, fault.cellId, fault.namespace], [code, 'c_two', 'two'], body);
    assert.deepEqual(
      outcome.steps.map(({ namespace, state }) => [namespace, state]),
      [['two', 'failed']],
    );
  }
});

test('what was made before a death stands', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ $ }) => { $.send.emit("sent"); console.log("printed"); $.export("$summary", "so far"); return 1 }',
    'export default async ({ $ }) => { $.send.emit("lost"); (await import("node:fs")).closeSync(3); await new Promise(() => {}) }',
  ]);
  assert.equal(faultOf(outcome).code, 'WorkerLost');
  assert.deepEqual([bodies(outcome), outcome.outgoingOfDone], [['sent'], 1]);
  assert.deepEqual([outcome.logs.map(({ text }) => text), outcome.summary], [['printed'], 'so far']);
});

test('what a failed step sent is told apart', async (t) => {
  const outcome = await kit(t).run([
    'export default ({ $ }) => { $.send.emit(1); $.send.emit(2) }',
    'export default ({ $ }) => { $.send.emit(3); throw new Error("x") }',
  ]);
  assert.deepEqual([bodies(outcome), outcome.outgoingOfDone], [[1, 2, 3], 2]);
  const late = await kit(t).run(
    [
      'export default ({ $ }) => $.send.emit(1)',
      'export default async ({ $ }) => { $.send.emit(2); await new Promise(() => {}) }',
    ],
    { timeoutMs: 4000 },
  );
  assert.deepEqual([faultOf(late).code, bodies(late), late.outgoingOfDone], ['Timeout', [1, 2], 1]);
});

test('left-over work fails a step that had returned', async (t) => {
  const outcome = await kit(t).run(`export default () => {
    const fail = (turns) => queueMicrotask(() => { if (turns > 0) fail(turns - 1); else throw new RangeError('left over') });
    for (let turns = 0; turns < 12; turns++) fail(turns);
    return 1;
  }`);
  assert.equal(faultOf(outcome).code, 'RangeError');
  assert.deepEqual(
    outcome.steps.map(({ namespace, state }) => [namespace, state]),
    [['one', 'failed']],
  );
});
