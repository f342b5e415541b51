// What an error says of itself: the message, the frames, and where they come from.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Errand } from '../support/errand.ts';
import { shareErrand } from '../support/shared-errand.ts';

const newErrand = shareErrand();

const KIB = 1024;

async function errorOf(errand: Errand, code: string) {
  const workflow = await errand.workflow(code);
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  return error.event.error;
}

test('a long message is cut, not lost', async () => {
  await using errand = await newErrand();
  const error = await errorOf(errand, `export default () => { throw new Error('begin ' + 'é'.repeat(50_000_000)); }`);
  assert.equal(error.code, 'Error');
  assert.match(error.msg, /^begin é/);
  assert.ok(Buffer.byteLength(error.msg) <= 8 * KIB, `${Buffer.byteLength(error.msg)}`);
});

test('a deep stack is cut to fifty frames', async () => {
  await using errand = await newErrand();
  const code = `Error.stackTraceLimit = Infinity;
    const down = (n) => { if (n === 0) throw new Error('deep'); return down(n - 1) + 1; };
    export default () => down(500);`;
  const { stack } = await errorOf(errand, code);
  const frames = stack.split('\n');
  assert.ok(frames.length <= 50 && frames.length >= 10, `${frames.length}`);
  for (const frame of frames) assert.match(frame, /^\s+at /);
});

test('a stack overflow is an error', async () => {
  await using errand = await newErrand();
  const error = await errorOf(errand, 'const down = () => down() + 1; export default () => down();');
  assert.deepEqual([error.code, error.msg], ['RangeError', 'Maximum call stack size exceeded']);
});

test('frames name the lines as written', async () => {
  await using errand = await newErrand();
  const code = [
    'interface Order { readonly id: number }',
    '',
    'function check(order: Order): void {',
    `  throw new Error('order ' + order.id);`,
    '}',
    '',
    'export default async (): Promise<void> => {',
    '  await null;',
    '  check({ id: 7 });',
    '};',
  ].join('\n');
  const { stack, msg } = await errorOf(errand, code);
  assert.equal(msg, 'order 7');
  const [first, second] = stack.split('\n');
  assert.match(first, /check.*\bstep\b.*:4:9\)?$/);
  assert.match(second, /\bstep\b.*:9:3\)?$/);
});

test('frames of the platform are left out', async () => {
  await using errand = await newErrand();
  const { stack } = await errorOf(errand, `export default async () => { await null; throw new Error('x'); }`);
  const frames = stack.split('\n');
  assert.equal(frames.length, 1, stack);
  assert.match(frames[0], /step/);
});

test('a value without stack has no frames', async () => {
  await using errand = await newErrand();
  const { stack } = await errorOf(errand, `export default () => { throw 'text'; }`);
  assert.equal(stack, '');
});

test('an error with a cause keeps its own', async () => {
  await using errand = await newErrand();
  const code = `export default () => { throw new Error('outer', { cause: new Error('inner') }); }`;
  const { msg } = await errorOf(errand, code);
  assert.match(msg, /^outer/);
});

test('a rejection without a handler is an error', async () => {
  await using errand = await newErrand();
  const code = `export default () => new Promise(() => { Promise.reject(new RangeError('nobody awaits')); });`;
  const workflow = await errand.workflow(code, { settings: { timeout_ms: 2000 } });
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  const { code: given, msg } = error.event.error;
  assert.deepEqual([given, msg], ['RangeError', 'nobody awaits']);
  const [run] = await errand.runs(workflow.id, 1);
  assert.equal(run.state, 'failed');
});

test('a throw in a timer is an error', async () => {
  await using errand = await newErrand();
  const code = `export default () => new Promise(() => { setTimeout(() => { throw new RangeError('in a timer'); }, 1); });`;
  const workflow = await errand.workflow(code, { settings: { timeout_ms: 2000 } });
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  const { code: given, msg } = error.event.error;
  assert.deepEqual([given, msg], ['RangeError', 'in a timer']);
});
