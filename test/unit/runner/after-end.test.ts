// What code asks for when its step or its run has ended has no effect, and is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LateCalls } from '../../../src/runner/child/late-calls.ts';
import { readLateCalls, readLateFailure } from '../../../src/runner/process/inbound.ts';
import { MessageBudget } from '../../../src/runner/process/message-budget.ts';
import { deploymentOf, type Kit, kit, returned, until } from './kit.ts';

const told = ({ logged }: Kit) => logged.filter(({ name }) => name === 'runner.after_end');

test('calls behind the end are told once a run', async (t) => {
  const given = kit(t);
  const deployment = await deploymentOf(`export default ({ $ }) => {
    setTimeout(() => {
      for (let i = 0; i < 3; i++) $.send.emit({ i });
      $.send.email({ subject: 's' });
      $.send.http({ url: 'https://example.com/' });
      $.flow.trigger('p_0Vj3aBc9dEfGhIjK', {});
      $.export('late', 1);
      $.respond({ body: 'late' });
      $.flow.exit('late');
      $.flow.delay(1);
    }, 1);
    return 'done';
  }`);
  const calls = {
    ...{ '$.send.emit': 3, '$.send.email': 1, '$.send.http': 1, '$.flow.trigger': 1 },
    ...{ '$.export': 1, '$.respond': 1, '$.flow.exit': 1, '$.flow.delay': 1 },
  };
  for (const run of [71, 72]) {
    const outcome = await given.run(deployment, { run });
    assert.deepEqual([returned(outcome), outcome.outgoing, outcome.answer], ['done', [], null]);
    await until(() => told(given).length === run - 70);
  }
  assert.deepEqual(
    told(given).map(({ level, fields }) => [level, fields.run, fields.deployment_id, fields.calls]),
    ['r_1z', 'r_20'].map((run) => ['warn', run, deployment.id, calls]),
  );
});

test('a failed run tells what it left behind', async (t) => {
  const given = kit(t);
  const outcome = await given.run(`export default async ({ $ }) => {
    const behind = async () => { await new Promise((resolve) => setTimeout(resolve, 1)); $.send.emit({}); };
    await Promise.all([behind(), Promise.reject(new Error('first'))]);
  }`);
  assert.deepEqual([outcome.end.kind, outcome.outgoing], ['failed', []]);
  await until(() => told(given).length === 1);
  assert.deepEqual(told(given)[0]?.fields.calls, { '$.send.emit': 1 });
});

test('a source is told of a late answer', async (t) => {
  const given = kit(t);
  const outcome = await given.source(`export default {
    props: { http: { type: '$.interface.http', customResponse: true } },
    run() { const { http } = this; setTimeout(() => http.respond({ status: 200 }), 1); },
  }`);
  assert.equal(outcome.end.kind, 'succeeded');
  await until(() => told(given).length === 1);
  assert.deepEqual(told(given)[0]?.fields.calls, { 'this.http.respond': 1 });
});

test('calls behind a step are told in the run', async (t) => {
  const given = kit(t);
  const outcome = await given.run([
    `export default ({ $ }) => {
      $.export('kept', 1);
      globalThis.behind = () => {
        for (let i = 0; i < 3; i++) $.export('late', i);
        $.flow.exit();
        $.send.emit({ still: true });
      };
    }`,
    'export default ({ steps }) => { globalThis.behind(); return steps.one; }',
  ]);
  assert.deepEqual(returned(outcome), { kept: 1 });
  assert.deepEqual(outcome.steps[0]?.exports, { kept: '1' });
  assert.deepEqual(
    outcome.logs.map(({ level, namespace, text }) => [level, namespace, text]),
    ['$.export', '$.flow.exit'].map((call) => [
      'warn',
      'one',
      `${call} was called after its step had ended, and has no effect: the code must await what it begins`,
    ]),
  );
  assert.equal(outcome.outgoing.length, 1, 'what is sent while the run is under way is sent');
});

test('a process tells a hundred times', () => {
  const posted: unknown[] = [];
  const pending: (() => void)[] = [];
  const fault = { step: 1, code: 'Error', msg: 'late', tsMs: 5, stack: '    at send (step.js:1:1)' };
  const lateCalls = new LateCalls({
    here: () => fault,
    post: (message) => posted.push(message),
    later: (then) => pending.push(then),
  });
  for (let run = 1; run <= 99; run++) for (let i = 0; i < 2; i++) lateCalls.add(run, '$.export');
  for (const then of pending.splice(0)) then();
  lateCalls.add(1, '$.export');
  assert.deepEqual([posted.length, pending.length], [99, 0]);
  assert.deepEqual(posted[98], { t: 'late', run: 99, calls: { '$.export': 2 } });
  for (const call of ['$.send.http', '$.send.http', '$.respond'] as const) lateCalls.add(1, call);
  for (const then of pending.splice(0)) then();
  const calls = { '$.send.http': 2, '$.respond': 1 };
  assert.deepEqual(posted[99], { t: 'late', run: 1, calls, fault }, 'what is lost is told once');
  for (const run of [1, 2, 100, 150]) lateCalls.add(run, '$.send.http');
  assert.deepEqual([posted.length, pending.length], [100, 0]);
  const budget = new MessageBudget();
  for (let i = 0; i < 100; i++) budget.count('late', i % 2 === 0);
  assert.throws(() => budget.count('late', false), RangeError);
});

test('forged late calls are refused', async () => {
  const deployment = await deploymentOf('export default () => 1;');
  assert.deepEqual(readLateCalls({ run: 36, calls: { '$.export': 2 } }), { run: 'r_10', calls: { '$.export': 2 } });
  for (const message of [
    { run: 0, calls: {} },
    { run: 'r_1', calls: {} },
    { run: 1, calls: null },
    { run: 1, calls: { '$.other': 1 } },
    { run: 1, calls: { '$.export': 'x' } },
  ]) {
    assert.throws(() => readLateCalls(message), Error, JSON.stringify(message));
  }
  const fault = { step: 7, code: 'LostAfterEnd', msg: 'x', tsMs: 1, stack: '' };
  const read = readLateFailure({ run: 36, fault, calls: { '$.send.emit': 1, '$.export': 2 } }, deployment);
  assert.deepEqual([read.run, read.step, read.lost, read.fault.code], [36, 7, ['$.send.emit'], 'Error']);
  for (const calls of [{ '$.export': 1 }, {}, null, 'x']) {
    assert.throws(() => readLateFailure({ run: 36, fault, calls }, deployment), Error, JSON.stringify(calls));
  }
});
