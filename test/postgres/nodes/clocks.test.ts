// Machines whose clocks are wrong by weeks, one ahead and one behind: all that is due, listed, remembered or judged goes
// by the database's clock, so none of it shows. (The test's process and the database have the right time.)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createSource, emissions } from '../../support/sources/sources.ts';
import { deliveries } from '../../support/webhooks.ts';
import { seenFrom, startNodesAhead } from './nodes.ts';

const SECOND_MS = 1000;
/** More than anything is kept for. */
const WRONG_MS = 40 * 24 * 3600 * SECOND_MS;
/** Far less than the clocks are wrong by, and far more than a test takes. */
const NEAR_MS = 300 * SECOND_MS;
const NOTHING = 'export default () => 1';

function startWrong() {
  return startNodesAhead(WRONG_MS, -WRONG_MS, 0);
}

function assertNear(ms: number, what: string): void {
  const offMs = ms - Date.now();
  assert.ok(Math.abs(offMs) < NEAR_MS, `${what} is off by ${offMs} ms`);
}

function at(nodes: readonly Errand[], n: number): Errand {
  return nodes[n % nodes.length] as Errand;
}

test('a retry is due in seconds', async () => {
  await using nodes = await startWrong();
  for (const node of nodes.all) {
    await using receiver = await startReceiver();
    receiver.answer(500);
    const workflow = await node.workflow(NOTHING);
    const webhook = await node.client.post('/v1/webhooks', { url: receiver.url });
    await node.subscribe(workflow.triggers[0].id, webhook.id);
    await node.send(workflow, {});
    const [refused] = await deliveries(node, webhook.id, 'retrying');
    const [attempt] = refused.attempts;
    assertNear(attempt.started_at_ms, 'started_at_ms');
    const waitMs = refused.next_attempt_at_ms - attempt.started_at_ms - attempt.took_ms;
    assert.ok(waitMs > 4 * SECOND_MS && waitMs < 60 * SECOND_MS, `it waits ${waitMs} ms`);
    assertNear(Number(receiver.received[0]?.headers['webhook-timestamp']) * SECOND_MS, 'webhook-timestamp');
  }
});

test('a retry comes when it is due', async () => {
  await using receiver = await startReceiver();
  await using nodes = await startWrong();
  receiver.answer((n) => (n < 3 ? 500 : 200));
  const delivered = nodes.all.map(async (node) => {
    const workflow = await node.workflow(NOTHING);
    const webhook = await node.client.post('/v1/webhooks', { url: receiver.url });
    await node.subscribe(workflow.triggers[0].id, webhook.id);
    await node.send(workflow, {});
    return deliveries(node, webhook.id, 'delivered');
  });
  for (const [delivery] of await Promise.all(delivered)) {
    assert.equal(delivery.attempts_made, 2);
    const [first, second] = delivery.attempts;
    assert.ok(second.started_at_ms - first.started_at_ms > 4 * SECOND_MS, 'not before it is due');
  }
  assert.equal(receiver.received.length, 6);
});

test('schedules tick in time, and nobody is taken for dead', async () => {
  await using gate = await startGate();
  await using nodes = await startWrong();
  const held = await nodes.all[2].workflow(
    'export default async () => { await (await fetch(process.env.GATE)).text(); }',
    {
      settings: { env: { GATE: gate.url } },
    },
  );
  for (const node of nodes.all) await node.send(seenFrom(node, held), {});
  await gate.wait(3);
  const schedules = [{ interval_seconds: 1 }, { cron: '* * * * * *' }];
  const ticking = [];
  for (const node of nodes.all) {
    for (const schedule of schedules) {
      const triggers = [{ type: 'schedule', ...schedule }];
      ticking.push(await node.workflow('export default ({ steps }) => steps.trigger.event', { triggers }));
    }
  }
  // Longer than a node lives that is not heard of.
  for (const { id } of ticking) {
    const ticks = await nodes.all[2].runs(id, 9);
    const [newest, oldest] = [ticks[0], ticks.at(-1)];
    const spanS = (newest.created_at_ms - oldest.created_at_ms) / SECOND_MS;
    assert.ok(ticks.length < 1.5 * spanS + 2, `${ticks.length} ticks in ${spanS} s`);
    for (const run of [newest, oldest]) assertNear(run.created_at_ms, 'created_at_ms');
    const { data } = await nodes.all[2].client.get(`/v1/runs/${newest.id}`);
    assertNear(data.event.timestamp * SECOND_MS, 'timestamp');
    assertNear(data.ended_at_ms, 'ended_at_ms');
  }
  gate.open();
  const runs = await nodes.all[2].runs(held.id, 3);
  assert.deepEqual(
    runs.map(({ attempt }) => attempt),
    [1, 1, 1],
  );
  assert.equal(gate.asked.length, 3);
  const taken = nodes.all.flatMap(({ logged }) => logged.filter(({ name }) => name.startsWith('took over')));
  assert.deepEqual(taken, []);
});

test("a source's timer ticks in time", async () => {
  await using nodes = await startWrong();
  for (const node of nodes.all.slice(0, 2)) {
    const source = await createSource(
      node,
      `export default {
        props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 1 } } },
        run(event) { this.$emit(event); },
      };`,
    );
    const [, first] = await emissions(nodes.all[2], source.id, 2);
    assertNear(first.event.timestamp * SECOND_MS, 'timestamp');
    assertNear(first.indexed_at_ms, 'indexed_at_ms');
    await node.client.delete(`/v1/sources/${source.id}`);
  }
});

test('what is made sorts by when it was made', async () => {
  await using nodes = await startWrong();
  const made: Record<string, string[]> = { workflows: [], webhooks: [], keys: [] };
  for (let n = 0; n < 12; n++) {
    const { client, workflow } = at(nodes.all, n);
    const webhook = await client.post('/v1/webhooks?url=https://example.com/');
    const all = {
      workflows: await workflow(NOTHING),
      webhooks: webhook,
      keys: await client.post('/v1/keys', { label: 'k' }),
    };
    for (const [path, { id, created_at }] of Object.entries(all)) {
      made[path]?.unshift(id);
      assertNear(created_at * SECOND_MS, `created_at of ${id}`);
    }
    const changed = await at(nodes.all, n + 1).client.put(`/v1/webhooks/${webhook.id}`, { name: `${n}` });
    assertNear(changed.updated_at * SECOND_MS, 'updated_at');
  }
  for (const [path, ids] of Object.entries(made)) {
    for (const { client } of nodes.all) {
      const { data } = await client.get(`/v1/${path}?limit=12`);
      assert.deepEqual(
        data.map(({ id }: Json) => id),
        ids,
        path,
      );
    }
  }
});

test('what happens sorts by when it happened', async () => {
  await using nodes = await startWrong();
  const [a, b] = nodes.all;
  const workflow = await a.workflow('export default () => { throw new Error("no"); }');
  for (let n = 0; n < 12; n++) {
    const node = at(nodes.all, n);
    await node.send(seenFrom(node, workflow), { n });
    await node.errors(workflow.id, n + 1);
  }
  for (const { errors, runs } of nodes.all) {
    const records = await errors(workflow.id, 12);
    assert.deepEqual(
      records.map(({ event }) => event.original_event.body.n),
      Array.from({ length: 12 }, (_, n) => 11 - n),
    );
    for (const { indexed_at_ms, event } of records) {
      assertNear(indexed_at_ms, 'indexed_at_ms');
      assertNear(Date.parse(event.original_context.ts), 'original_context.ts');
    }
    for (const run of await runs(workflow.id, 12)) {
      for (const ms of [run.created_at_ms, run.started_at_ms, run.ended_at_ms]) assertNear(ms, 'a time of a run');
      assert.ok(run.created_at_ms <= run.started_at_ms && run.started_at_ms <= run.ended_at_ms);
    }
  }
  // What starts again looks for what is too old at once.
  await Promise.all([a.restart(), b.restart()]);
  await nodes.all[2].send(seenFrom(nodes.all[2], workflow), { n: 12 });
  assert.equal((await b.errors(workflow.id, 13)).length, 13);
});

test('the time of a timeout is right', async () => {
  await using nodes = await startWrong();
  for (const node of nodes.all) {
    const workflow = await node.workflow('export default () => new Promise(() => {})', {
      settings: { timeout_ms: 200 },
    });
    await node.send(workflow, {});
    const [error] = await node.errors(workflow.id, 1);
    assertNear(Date.parse(error.event.error.ts), 'error.ts');
    const [run] = await node.runs(workflow.id, 1);
    const { data } = await node.client.get(`/v1/runs/${run.id}`);
    for (const step of data.steps) assertNear(step.started_at_ms, "a step's started_at_ms");
  }
});

test('an idempotency key is remembered', async () => {
  await using nodes = await startWrong();
  const workflow = await nodes.all[0].workflow(NOTHING);
  for (let first = 0; first < 3; first++) {
    const ids = new Set<string>();
    for (let n = 0; n < 6; n++) {
      const { triggers } = seenFrom(at(nodes.all, first + n), workflow);
      const headers = { 'idempotency-key': `made at ${first}` };
      const answer = await fetch(triggers[0].endpoint_url, { method: 'POST', headers });
      ids.add(await answer.text());
    }
    assert.equal(ids.size, 1);
  }
  assert.equal((await nodes.all[2].runs(workflow.id, 3)).length, 3);
});
