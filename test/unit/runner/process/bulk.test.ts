// Texts of heavy messages cross as bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { withoutBulk } from '../../../../src/runner/child/bulk.ts';
import type { EndMessage } from '../../../../src/runner/child/protocol.ts';
import { withBulk } from '../../../../src/runner/process/inbound-bulk.ts';
import { deploymentOf, kit, requestOf, returned } from '../kit.ts';

const MESSAGE: EndMessage = {
  t: 'end',
  run: 7,
  kind: 'waiting',
  wait: ['rerun', 5, '{"context":"ü☃"}'],
  step: [0, 0, 1, 2, '"returned"', { b: '1', 1: '[]', a: '"x"' }],
  logs: [
    [1, 'info', 'one', 'line'],
    [2, 'warn', 'one', ''],
  ],
  outgoing: [
    ['emit', 'c', '{"a":1}', 'summary', null, 3, 4, true],
    ['email', '', '{}', null, null],
  ],
  dbWrites: { x: '1', gone: null },
};

/** Through JSON, and `take`n from the bytes. */
function sent(message: EndMessage, weight: number): Readonly<Record<string, unknown>> {
  const light = withoutBulk(message, weight);
  const bytes = Buffer.concat(light.texts);
  let at = 0;
  const take = (count: unknown): Buffer => {
    at += count as number;
    return bytes.subarray(at - (count as number), at);
  };
  const { bulk: _, ...whole } = withBulk(JSON.parse(JSON.stringify(light.message)), take);
  assert.equal(at, bytes.length);
  return JSON.parse(JSON.stringify(whole));
}

test('a heavy message is what it would be as a light one', () => {
  assert.deepEqual(sent(MESSAGE, 1e6), sent(MESSAGE, 0));
  const bare: EndMessage = { t: 'end', run: 1, kind: 'succeeded' };
  assert.deepEqual(sent(bare, 1e6), bare);
  const { message, texts } = withoutBulk(MESSAGE, 1e6);
  assert.doesNotMatch(JSON.stringify(message), /returned|line|summary|context/);
  assert.equal(texts.length, 11);
  assert.equal(withoutBulk(MESSAGE, 0).message, MESSAGE);
});

test('each text has one place', () => {
  const take = (count: unknown): Buffer => Buffer.alloc(count as number);
  const message = (bulk: unknown, texts: unknown) => withBulk({ bulk, step: [0, 0, 1, 1, null, texts] }, take);
  message([1, 1], { a: 0, b: 1 });
  assert.throws(() => message([1], { a: 0, b: 0 }), RangeError);
  for (const place of [1, -1, 0.5, Number.NaN]) assert.throws(() => message([1], { a: place }), RangeError);
  assert.throws(() => message('x', {}), TypeError);
  assert.throws(() => message(new Array(1e6).fill(0), {}), TypeError);
});

test('runs that make much tell all of it', async (t) => {
  const { run } = kit(t);
  const outcome = await run(`export default ({ $ }) => {
    for (let i = 0; i < 3000; i++) { $.export('e' + i, 'ü☃'.repeat(100)); console.log('line ' + i); $.send.emit({ i, text: '"'.repeat(300) }) }
    return 'x'.repeat(1e6);
  }`);
  assert.equal((returned(outcome) as string).length, 1e6);
  const [step] = outcome.steps;
  assert.deepEqual(
    [Object.keys(step?.exports ?? {}).length, step?.exports.e2999],
    [3000, JSON.stringify('ü☃'.repeat(100))],
  );
  assert.deepEqual([outcome.logs.length, outcome.logs[2999]?.text], [3000, 'line 2999']);
  assert.deepEqual([outcome.outgoing.length, JSON.parse(String(outcome.outgoing[2999]?.body)).i], [3000, 2999]);
});

test('more exports than there may be are refused', async (t) => {
  const { run } = kit(t);
  const outcome = await run(
    `export default ({ $ }) => { for (let i = 0; i <= ${LIMITS.exportsPerRun}; i++) $.export('e' + i, 1) }`,
  );
  assert.equal(outcome.end.kind === 'failed' && outcome.end.fault.code, 'PayloadTooLarge');
});

test('a source writes no more names than it may', async (t) => {
  const { runner } = kit(t);
  const code = (count: number) =>
    `export default { props: { db: '$.service.db' }, run() { for (let i = 0; i < ${count}; i++) this.db.set('n' + i, i) } }`;
  const source = { sourceId: 'dc_1', call: 'run', configuredProps: {}, endpoints: {}, db: {} } as const;
  const made = async (count: number) =>
    await runner.run(requestOf(await deploymentOf(code(count), 'dc_1'), { source }));
  const all = await made(LIMITS.dbWritesPerRun);
  assert.equal(Object.keys(all.dbWrites).length, LIMITS.dbWritesPerRun);
  const { end } = await made(LIMITS.dbWritesPerRun + 1);
  assert.equal(end.kind === 'failed' && end.fault.code, 'PayloadTooLarge');
});

test('a value that a source sets again and again counts once', async (t) => {
  const { runner } = kit(t);
  const bytes = LIMITS.resultBytes / 2;
  const code = `export default { props: { db: '$.service.db' }, run(event) {
    for (let i = 0; i < 10; i++) this.db.set('seen', 'x'.repeat(${bytes}) + i);
    try { this.db.set('other', 'x'.repeat(${bytes})); } catch ({ message }) { console.log(message); }
    this.db.set('seen', undefined);
    this.db.set('other', 'x'.repeat(${bytes}));
  } }`;
  const source = { sourceId: 'dc_1', call: 'run', configuredProps: {}, endpoints: {}, db: {} } as const;
  const { end, dbWrites, logs } = await runner.run(requestOf(await deploymentOf(code, 'dc_1'), { source }));
  assert.equal(end.kind, 'succeeded');
  assert.deepEqual([dbWrites.seen, dbWrites.other?.length], [null, bytes + 2]);
  assert.deepEqual(
    logs.map(({ text }) => text),
    [`A run may write at most ${LIMITS.resultBytes} bytes to the db`],
  );
});

test('much that is little is returned as it is', async (t) => {
  const { run } = kit(t);
  const outcome = await run('export default () => Array.from({ length: 1.9e6 }, () => [])');
  assert.equal(outcome.steps[0]?.returnValue?.length, 1.9e6 * 3 + 1);
});
