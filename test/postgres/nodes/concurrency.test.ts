// How many runs of a workflow or source are under way, and in which order they begin, holds for all nodes together.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { type Gate, startGate } from '../../support/gate.ts';
import { createSource, emissions, post } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';
import { seenFrom, shareNodes, startNodes } from './nodes.ts';

/** Tells when it begins and when it is about to end. */
const TELLING = `export default async ({ steps }) => {
  const { n } = steps.trigger.event.body;
  await (await fetch(process.env.GATE + '/in/' + n)).text();
  await (await fetch(process.env.GATE + '/out/' + n)).text();
  return n;
};`;

function telling(node: Errand, gate: Gate, settings: Json): Promise<Json> {
  return node.workflow(TELLING, { settings: { env: { GATE: gate.url }, ...settings } });
}

/** Sends events from `from` on, each to the next node, all at once. */
async function spread(nodes: readonly Errand[], workflow: Json, [from, to]: [number, number]): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, i) => from + i);
  await Promise.all(
    numbers.map((n) => {
      const node = nodes[n % nodes.length] as Errand;
      return node.send(seenFrom(node, workflow), { n });
    }),
  );
}

/** The largest number that had begun and was not about to end. */
function mostAtOnce({ asked }: Gate): number {
  let [now, most] = [0, 0];
  for (const path of asked) {
    now += path.startsWith('/in/') ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

function begun({ asked }: Gate): number[] {
  return asked.filter((path) => path.startsWith('/in/')).map((path) => Number(path.slice('/in/'.length)));
}

test('no more run at once than allowed, on all nodes', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(3);
  const [a, b, c] = nodes.all;
  const workflow = await telling(a, gate, { concurrency: 3 });
  await spread(nodes.all, workflow, [0, 60]);
  await gate.wait(3);
  // Those that wait could begin by now: what came after them has begun and ended, at every node.
  const other = await a.workflow('export default () => 1');
  await spread(nodes.all, other, [0, 9]);
  await c.runs(other.id, 9);
  assert.equal(gate.holding, 3);
  for (const node of nodes.all) {
    const { data } = await node.client.get('/v1/ledger');
    assert.deepEqual([data.runs.running, data.runs.queued], [3, 57]);
  }
  for (let count = 4; count <= 40; count++) {
    gate.letOne();
    await gate.wait(count);
    assert.ok(gate.holding <= 3);
  }
  gate.open();
  const { runs } = await b.settled();
  assert.deepEqual([runs.succeeded, runs.total], [69, 69]);
  assert.equal(mostAtOnce(gate), 3);
  assert.deepEqual(
    begun(gate).toSorted((x, y) => x - y),
    Array.from({ length: 60 }, (_, n) => n),
  );
});

test('a limit holds while events stream in', async () => {
  await using gate = await startGate();
  gate.open();
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const workflow = await telling(a, gate, { concurrency: 2 });
  for (let n = 0; n < 150; n += 15) await spread(nodes.all, workflow, [n, n + 15]);
  const { runs } = await b.settled();
  assert.equal(runs.succeeded, 150);
  assert.equal(mostAtOnce(gate), 2);
  assert.equal(new Set(begun(gate)).size, 150);
});

test("one sender's order is kept across nodes", async () => {
  await using gate = await startGate();
  gate.open();
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const workflow = await telling(a, gate, { concurrency: 1 });
  for (let n = 0; n < 60; n++) await spread(nodes.all, workflow, [n, n + 1]);
  await b.settled();
  assert.deepEqual(
    begun(gate),
    Array.from({ length: 60 }, (_, n) => n),
  );
  assert.equal(mostAtOnce(gate), 1);
});

test('order is kept while a run holds all back', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const workflow = await telling(a, gate, { concurrency: 1 });
  for (let n = 0; n < 30; n++) await spread(nodes.all, workflow, [n, n + 1]);
  await gate.wait(1);
  gate.open();
  await b.settled();
  assert.deepEqual(
    begun(gate),
    Array.from({ length: 30 }, (_, n) => n),
  );
});

test('a raised limit counts for what waits elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  const workflow = await telling(a, gate, { concurrency: 1 });
  for (let n = 0; n < 6; n++) await b.send(seenFrom(b, workflow), { n });
  await gate.wait(1);
  const settings = { env: { GATE: gate.url }, concurrency: 3 };
  await a.client.put(`/v1/workflows/${workflow.id}`, { settings });
  await gate.wait(3);
  await a.client.put(`/v1/workflows/${workflow.id}`, { settings: { ...settings, concurrency: 1 } });
  // The three go on to their second request, and end when the gate is open; nobody takes their places before.
  for (let count = 4; count <= 6; count++) {
    gate.letOne();
    await gate.wait(count);
  }
  gate.open();
  await b.settled();
  const [before, after] = [gate.asked.slice(0, 6), gate.asked.slice(6)];
  assert.deepEqual(before.filter((path) => path.startsWith('/in/')).length, 3);
  assert.deepEqual(
    after.map((path) => path.split('/')[1]),
    ['in', 'out', 'in', 'out', 'in', 'out'],
  );
});

const COUNTER = `export default {
  props: { http: '$.interface.http', db: '$.service.db' },
  async run() {
    const n = (this.db.get('n') ?? 0) + 1;
    await new Promise((resolve) => setTimeout(resolve, n % 3));
    this.db.set('n', n);
    this.$emit({ n }, { id: n });
  },
};`;

test('a source loses no update across nodes', async () => {
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const source = await createSource(a, COUNTER);
  const posts = Array.from({ length: 51 }, (_, n) => post(seenFrom(nodes.all[n % 3] as Errand, source), {}));
  await Promise.all(posts);
  const records = await emissions(b, source.id, 51);
  assert.deepEqual(
    records.map(({ event }) => event.n).toReversed(),
    Array.from({ length: 51 }, (_, n) => n + 1),
  );
  const { runs } = await b.settled();
  assert.equal(runs.succeeded, 51);
});

const SEEN = `export default {
  dedupe: 'unique',
  props: { http: '$.interface.http' },
  run(event) { for (const id of event.body) this.$emit({ id }, { id }); },
};`;

test('a source forgets nothing that it saw elsewhere', async () => {
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const source = await createSource(a, SEEN);
  const posts = Array.from({ length: 30 }, (_, n) =>
    post(seenFrom(nodes.all[n % 3] as Errand, source), [n, (n + 1) % 30, (n + 7) % 30]),
  );
  await Promise.all(posts);
  await b.settled();
  const records = await emissions(b, source.id, 30);
  assert.deepEqual(
    records.map(({ event }) => event.id).toSorted((x, y) => x - y),
    Array.from({ length: 30 }, (_, n) => n),
  );
});

test('exactly the queue limit waits, on all nodes', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(3);
  const [a, b, c] = nodes.all;
  const workflow = await telling(a, gate, { concurrency: 2, queue_limit: 10 });
  await spread(nodes.all, workflow, [0, 2]);
  await gate.wait(2);
  await spread(nodes.all, workflow, [2, 32]);
  const errors = await b.errors(workflow.id, 20);
  assert.deepEqual(
    errors.map(({ event }) => event.error.code),
    Array.from({ length: 20 }, () => 'QueueFull'),
  );
  // Of the errors the global error workflow hears; its runs are over when only ours are left.
  const left = await until('the errors are told', async () => {
    const { data } = await c.client.get('/v1/ledger');
    return (
      data.runs.running + data.runs.queued === 12 && data.deliveries.pending + data.deliveries.sending === 0 && data
    );
  });
  assert.deepEqual([left.runs.running, left.runs.queued, left.runs.failed, left.errors.captured], [2, 10, 20, 20]);
  for (const node of nodes.all) assert.deepEqual((await node.client.get('/v1/ledger')).data, left);
  gate.open();
  const { runs } = await a.settled();
  const { queued, running, waiting, succeeded, failed, cancelled, total } = runs;
  assert.equal(queued + running + waiting + succeeded + failed + cancelled, total);
  assert.deepEqual([succeeded, failed], [12 + 20, 20]);
  assert.equal(begun(gate).length, 12);
});

test('a changed queue limit counts at once elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const settings = (limit: number): Json => ({ env: { GATE: gate.url }, concurrency: 1, queue_limit: limit });
  const workflow = await telling(a, gate, settings(1));
  const limitTo = (limit: number): Promise<Json> =>
    a.client.put(`/v1/workflows/${workflow.id}`, { settings: settings(limit) });
  await b.send(seenFrom(b, workflow), { n: 0 });
  await gate.wait(1);
  let queued = 0;
  let refused = 0;
  for (const limit of [2, 4, 3, 7, 5, 8]) {
    await limitTo(limit);
    for (let n = 0; n < 3; n++) {
      await b.send(seenFrom(b, workflow), { n: 1 });
      if (queued < limit) queued++;
      else refused++;
    }
    const { page_info } = await b.client.get(`/v1/workflows/${workflow.id}/runs?state=queued`);
    assert.equal(page_info.total_count, queued);
  }
  assert.equal((await b.errors(workflow.id, refused)).length, refused);
  gate.open();
  await b.settled();
  assert.equal(begun(gate).length, queued + 1);
});
