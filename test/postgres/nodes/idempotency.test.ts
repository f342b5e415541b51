// One idempotency key, and callers of several nodes: one run, and one answer for all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { API, answering, atGate, call, inState, PATIENT, RUN } from './callers.ts';
import { seenFrom, shareNodes, startNodes } from './nodes.ts';

const COUNTING = `let count = 0;
export default async ({ $ }) => {
  count++;
  await (await fetch(process.env.GATE)).text();
  await $.respond({ status: 200, body: process.pid + ' ' + count });
};`;

for (const [what, role] of [
  ['nodes that run', {}],
  ['nodes that do not run', API],
] as const) {
  test(`callers with one key at ${what} make one run`, async () => {
    await using gate = await startGate();
    await using nodes = await startNodes(role, role, RUN);
    const [a, b] = nodes.all;
    const callable = [a, b];
    const workflow = await answering(a, COUNTING, atGate(gate));
    for (let round = 1; round <= 3; round++) {
      const headers = { 'idempotency-key': `round ${round}` };
      const there = (n: number): Json => seenFrom(callable[n % callable.length] as Errand, workflow);
      const calls = Array.from({ length: 20 }, (_, n) => call(there(n), {}, headers));
      await gate.wait(round);
      calls.push(...callable.map((_, n) => call(there(n), {}, headers)));
      gate.letOne();
      const answers = await Promise.all(calls);
      assert.deepEqual([...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length, 1);
      assert.equal(answers[0]?.status, 200);
      const later = await call(there(round), {}, headers);
      assert.equal(later.text, answers[0]?.text);
      assert.equal((await a.runs(workflow.id, round)).length, round);
    }
    assert.equal(gate.asked.length, 3);
    assert.equal((await a.settled()).emissions, 3);
  });
}

test('a plain trigger with one key answers one id', async () => {
  await using nodes = await shareNodes(3);
  const [a] = nodes.all;
  const workflow = await a.workflow('export default () => 1');
  for (let round = 1; round <= 5; round++) {
    const headers = { 'idempotency-key': `round ${round}` };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => call(seenFrom(nodes.all[n % 3] as Errand, workflow), {}, headers)),
    );
    assert.deepEqual([...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length, 1);
  }
  assert.equal((await a.settled()).runs.total, 5);
});

test('another request with one key is refused at every node', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow('export default () => 1');
  const headers = { 'idempotency-key': 'one' };
  assert.equal((await call(workflow, { n: 1 }, headers)).status, 200);
  for (const node of [b, a]) {
    assert.equal((await call(seenFrom(node, workflow), { n: 2 }, headers)).status, 422);
    assert.equal((await call(seenFrom(node, workflow), { n: 1 }, headers)).status, 200);
  }
  const race = { 'idempotency-key': 'two' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => call(seenFrom(n % 4 < 2 ? a : b, workflow), { n: n % 2 }, race)),
  );
  const statuses = answers.map(({ status }) => status);
  const [even, odd] = [0, 1].map((rest) => new Set(statuses.filter((_, n) => n % 2 === rest)));
  assert.deepEqual([...(even ?? []), ...(odd ?? [])].sort(), [200, 422], 'all of one body, and none of the other');
  assert.equal((await a.settled()).runs.total, 2);
});

test('a repeat elsewhere hears that the queue was full', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await answering(a, PATIENT, atGate(gate, { concurrency: 1, queue_limit: 1 }));
  const waiting = [call(workflow)];
  await gate.wait(1);
  waiting.push(call(workflow));
  await inState(a, workflow, 'queued');
  const headers = { 'idempotency-key': 'one' };
  for (const node of [a, b, a]) assert.equal((await call(seenFrom(node, workflow), {}, headers)).status, 429);
  gate.open();
  await Promise.all(waiting);
  assert.equal((await a.errors(workflow.id, 1)).length, 1);
});
