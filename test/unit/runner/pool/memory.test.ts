// Memory outside of the JavaScript heap, which no flag of Node bounds.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { isOverMemory, processMb, usedMemoryMb } from '../../../../src/runner/pool/memory.ts';
import { deploymentOf, faultOf, kit, returned, signal, until } from '../kit.ts';

const skip = !existsSync('/proc/self/status') && 'needs /proc';
const FILL = 'const kept = []; for (;;) kept.push(Buffer.alloc(8_000_000, 1));';

test('Buffers beyond the limit are OutOfMemory', { skip }, async (t) => {
  const { run, logged } = kit(t);
  const fault = faultOf(await run(`export default () => { ${FILL} }`, { memoryMb: 64 }));
  assert.equal(fault.code, 'OutOfMemory');
  assert.match(fault.msg, /64 MB/);
  const died = logged.find(({ name }) => name === 'runner.process_died');
  assert.equal(died?.fields.kind, 'memory');
});

test('of several runs none is blamed for memory', { skip }, async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf(`export default async ({ steps, $ }) => {
    await $.respond({ immediate: true });
    if (steps.trigger.event.idle) await new Promise(() => {});
    ${FILL}
  }`);
  const { came, onAnswer } = signal();
  const idle = run(deployment, { memoryMb: 64, onAnswer, event: Buffer.from('{"idle":true}') });
  await came;
  const outcomes = await Promise.all([idle, run(deployment, { memoryMb: 64 })]);
  assert.deepEqual(
    outcomes.map(({ end }) => end.kind),
    ['unattributed', 'unattributed'],
  );
});

test('an idle process over its limit is ended', { skip }, async (t) => {
  const { run, runner, logged } = kit(t);
  // Not before the run's end has been written out, which is one turn later.
  const later = `setImmediate(() => setImmediate(() => { ${FILL} }))`;
  assert.equal(returned(await run(`export default () => { ${later}; return 1 }`, { memoryMb: 64 })), 1);
  const deaths = () => logged.filter(({ name }) => name === 'runner.process_died');
  // It is counted no more a moment before it is told.
  await until(() => runner.stats().processes === 0 && deaths().length > 0);
  const [died] = deaths();
  assert.deepEqual([died?.fields.kind, died?.fields.lost], ['memory', 0]);
});

test('code that fills memory cannot be deployed', { skip }, async (t) => {
  const { runner } = kit(t);
  const described = await runner.describe(await deploymentOf(`${FILL} export default {}`));
  assert.match(described.ok ? '' : described.message, /more than \d+ MB of memory/);
});

test('what is not there uses nothing known', { skip }, () => {
  assert.equal(usedMemoryMb(2 ** 30), null);
  assert.ok((usedMemoryMb(process.pid) ?? 0) > 1);
  assert.deepEqual([isOverMemory(1000, 100_000), isOverMemory(1000, 100)], [false, true]);
});

test('a process may take 96 MB beside its code', () => {
  assert.equal(processMb(64), 160);
  assert.deepEqual([isOverMemory(160, 64), isOverMemory(160.1, 64)], [false, true]);
});

test('what a process uses is told in MiB', { skip }, () => {
  const before = usedMemoryMb(process.pid) ?? 0;
  const kept = Buffer.alloc(512 * 2 ** 20, 1);
  const more = (usedMemoryMb(process.pid) ?? 0) - before;
  assert.ok(Math.abs(more - kept.length / 2 ** 20) < 6, `${more} MiB more`);
});
