// What time brings, once, however many nodes look at the clock: schedule ticks, digests, retention.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { createSource, emissions } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';
import { seenFrom, startNodes } from './nodes.ts';

/** Longer than any of these tests takes, also on a machine that is busy: real time passes, too. */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOURLY = { type: 'schedule', interval_seconds: HOUR_MS / 1000 };
const ECHO = 'export default ({ steps }) => steps.trigger.event';

interface Ageing {
  readonly all: readonly [Errand, Errand, Errand];
  forward(ms: number): void;
}

/** Lets time pass. A change wakes all nodes at once, at which their polls would find out one after the other. */
async function pass({ all, forward }: Ageing, ms: number): Promise<void> {
  forward(ms);
  await all[0].client.put('/v1/users/me', { name: `at ${ms}` });
}

function runsOf(node: Errand, workflow: Json): Promise<Json> {
  return node.client.get(`/v1/workflows/${workflow.id}/runs?limit=100`);
}

/** A clock that leaps by a day makes nodes look gone to each other for a moment, so a mail may be sent again: as the same. */
async function differentMails(nodes: readonly Errand[]): Promise<string[]> {
  const all = (await Promise.all(nodes.map((node) => node.outbox()))).flat();
  return [...new Map(all.map((mail) => [/^message-id: *(.*)$/im.exec(mail)?.[1], mail])).values()];
}

function mails(nodes: readonly Errand[], count: number): Promise<string[]> {
  return until(`${count} mails`, async () => {
    const found = await differentMails(nodes);
    return found.length >= count && found;
  });
}

test('each tick fires once', async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b] = nodes.all;
  const triggers = Array.from({ length: 10 }, () => HOURLY);
  const workflow = await a.workflow(ECHO, { triggers });
  for (let round = 1; round <= 5; round++) {
    await pass(nodes, HOUR_MS);
    await b.runs(workflow.id, 10 * round);
    await b.settled();
  }
  const { data, page_info } = await runsOf(b, workflow);
  assert.equal(page_info.total_count, 50);
  const byTrigger = Map.groupBy(data as Json[], (run) => run.emitter_id);
  assert.deepEqual(
    workflow.triggers.map(({ id }: Json) => byTrigger.get(id)?.length),
    Array.from({ length: 10 }, () => 5),
  );
});

test('a change at that moment fires no tick again', async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b] = nodes.all;
  const triggers = Array.from({ length: 10 }, () => HOURLY);
  const workflow = await a.workflow(ECHO, { triggers });
  for (let round = 1; round <= 5; round++) {
    nodes.forward(HOUR_MS);
    // Each of them wakes all nodes, while the others are under way.
    await Promise.all(
      [...nodes.all, ...nodes.all].map(({ client }, n) =>
        client.put(`/v1/workflows/${workflow.id}`, { name: `change ${n} of round ${round}` }),
      ),
    );
    await b.runs(workflow.id, 10 * round);
    await b.settled();
  }
  assert.equal((await runsOf(b, workflow)).page_info.total_count, 50);
});

test('a cron fires once an hour', async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b] = nodes.all;
  const workflow = await a.workflow(ECHO, { triggers: [{ type: 'schedule', cron: '0 * * * *' }] });
  for (let round = 1; round <= 5; round++) {
    await pass(nodes, HOUR_MS);
    await b.runs(workflow.id, round);
  }
  await b.settled();
  const { data } = await runsOf(b, workflow);
  const runs = await Promise.all(data.map(({ id }: Json) => b.client.get(`/v1/runs/${id}`)));
  // Not when they began: a late one may begin in the hour of the next.
  const due = runs.map((run: Json) => run.data.steps[0].return_value.due_at_ms);
  assert.deepEqual([new Set(due).size, due.filter((ms) => ms % HOUR_MS !== 0)], [due.length, []]);
});

test('ticks that all nodes missed come once', async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b] = nodes.all;
  const workflow = await a.workflow(ECHO, { triggers: [HOURLY] });
  await Promise.all(nodes.all.map((node) => node.stop()));
  nodes.forward(DAY_MS);
  await Promise.all(nodes.all.map((node) => node.restart()));
  await b.runs(workflow.id, 1);
  await pass(nodes, HOUR_MS);
  await b.runs(workflow.id, 2);
  await b.settled();
  assert.equal((await runsOf(b, workflow)).page_info.total_count, 2);
});

test('a schedule stops at once elsewhere', async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b, c] = nodes.all;
  const schedule = { triggers: [HOURLY] };
  const [going, resting, gone] = [
    await a.workflow(ECHO, schedule),
    await a.workflow(ECHO, schedule),
    await a.workflow(ECHO, schedule),
  ];
  await b.client.put(`/v1/workflows/${resting.id}`, { active: false });
  await c.client.delete(`/v1/workflows/${gone.id}`);
  await pass(nodes, HOUR_MS);
  await b.runs(going.id, 1);
  assert.equal((await b.settled()).runs.total, 1);
  await b.client.put(`/v1/workflows/${resting.id}`, { active: true });
  await pass(nodes, HOUR_MS);
  await a.runs(resting.id, 1);
  await a.runs(going.id, 2);
  assert.equal((await a.settled()).runs.total, 3);
});

test("a source's timer fires once", async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b] = nodes.all;
  const source = await createSource(
    a,
    `export default {
      props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } }, db: '$.service.db' },
      run() {
        const n = (this.db.get('n') ?? 0) + 1;
        this.db.set('n', n);
        this.$emit({ n });
      },
    };`,
  );
  for (let round = 1; round <= 5; round++) {
    await pass(nodes, HOUR_MS);
    await emissions(b, source.id, round);
    await b.settled();
  }
  const records = await emissions(b, source.id, 5);
  assert.deepEqual(
    records.map(({ event }) => event.n),
    [5, 4, 3, 2, 1],
  );
});

test('repeats from all nodes make one digest', async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b] = nodes.all;
  await a.client.put('/v1/users/me', { digest_window_ms: HOUR_MS });
  const { global_error_workflow_id: globalId } = (await a.client.get('/v1/users/me')).data;
  const workflow = await a.workflow('export default () => { throw new Error("again"); }', { name: 'Noisy' });
  const fail = (): Promise<unknown> => Promise.all(nodes.all.map((node) => node.send(seenFrom(node, workflow), {})));
  for (let round = 1; round <= 3; round++) {
    // The first round opens the window with a mail; the digest that closes one opens the next.
    await fail();
    await b.runs(globalId, 3 * round);
    await b.settled();
    assert.equal((await differentMails(nodes.all)).length, round);
    await pass(nodes, HOUR_MS);
    await mails(nodes.all, round + 1);
    await b.settled();
  }
  const digests = (await differentMails(nodes.all)).map((mail) => /\+(\d+) more since/.exec(mail)?.[1] ?? 'first');
  assert.deepEqual(digests.toSorted(), ['2', '3', '3', 'first']);
});

test('all nodes may forget at once', async () => {
  await using nodes = await startNodes({}, {}, {});
  const [a, b] = nodes.all;
  const workflow = await a.workflow(ECHO);
  for (let n = 0; n < 10; n++) {
    await Promise.all(nodes.all.map((node) => node.send(seenFrom(node, workflow), { n })));
  }
  const before = await b.settled();
  await Promise.all(nodes.all.map((node) => node.stop()));
  nodes.forward(31 * DAY_MS);
  await Promise.all(nodes.all.map((node) => node.restart()));
  await until('nothing is left', async () => (await runsOf(b, workflow)).page_info.total_count === 0);
  for (const { client } of nodes.all) assert.deepEqual((await client.get('/v1/ledger')).data, before);
  const failed = nodes.all.flatMap(({ logged }) => logged.filter(({ level }) => level === 'error'));
  assert.deepEqual(failed, []);
});
