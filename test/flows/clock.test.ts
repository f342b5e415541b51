// A clock that is set back by an hour and forward by a day: what waits goes on; lists, notices, mutes and watches go by it as it is.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { beat, pass } from '../support/heartbeats.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const THROWS = `export default ({ steps }) => { throw new Error('no card ' + steps.trigger.event.body.n); };`;

/** The workflow's address at the server as it was started last. */
const at = ({ url }: Errand, workflow: Json): Json => ({
  ...workflow,
  triggers: workflow.triggers.map((trigger: Json) => ({
    ...trigger,
    endpoint_url: url + new URL(trigger.endpoint_url).pathname,
  })),
});

async function fail(errand: Errand, workflow: Json, ns: readonly number[]): Promise<void> {
  for (const n of ns) {
    await errand.send(at(errand, workflow), { n });
    await errand.settled();
  }
}

/** Returns all records of a list, by pages of three. */
async function walked({ client }: Errand, path: string, way: 'after' | 'before'): Promise<Json[]> {
  const pages: Json[][] = [];
  for (let cursor = way === 'after' ? '' : '&before=1-0'; ; ) {
    const { data, page_info: page } = await client.get(`${path}limit=3${cursor}`);
    if (data.length === 0) break;
    pages.push(data);
    cursor = way === 'after' ? `&after=${page.end_cursor}` : `&before=${page.start_cursor}`;
  }
  return (way === 'after' ? pages : pages.reverse()).flat();
}

/** Sets the clock, and waits until the scheduler has looked by it. */
async function jump(errand: Errand, ms: number): Promise<void> {
  const judgedAtMs = async (): Promise<number> => {
    const { text } = await errand.client.request('GET', '/metrics');
    return 1000 * Number(/^errand_watches_judged_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
  };
  // Behind a start it has not looked yet.
  const before = await until('the first look', async () => (await judgedAtMs()) || null);
  errand.forward(ms);
  await until('the scheduler looks', async () => Math.abs((await judgedAtMs()) - before - ms) < HOUR_MS / 2);
}

const only = (list: Json[]): Json => {
  equal(list.length, 1);
  return list[0];
};

const kindsOf = ({ received }: Receiver): Json[] => received.map(({ body }) => JSON.parse(String(body)));

test('lists keep the order in which errors came, whatever the clock', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(THROWS, { settings: { notify: false } });
  await fail(errand, workflow, [0, 1, 2]);
  errand.forward(-HOUR_MS);
  await fail(errand, workflow, [3, 4]);
  await errand.restart();
  await fail(errand, workflow, [5, 6]);
  errand.forward(DAY_MS);
  await fail(errand, workflow, [7]);
  errand.forward(-DAY_MS);
  await errand.restart();
  await fail(errand, workflow, [8, 9]);
  const newest = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
  const wanted = newest.map((n) => `no card ${n}`);
  const { id } = workflow;
  const messages = (records: Json[]): string[] =>
    records.map(({ event, error, ...run }) => (event?.error ?? error ?? run).msg);
  for (const path of ['/v1/errors?expand=event&', `/v1/workflows/${id}/$errors/event_summaries?expand=event&`]) {
    for (const way of ['after', 'before'] as const)
      deepEqual(messages(await walked(errand, path, way)), wanted, path + way);
  }
  for (const path of ['/v1/runs?', `/v1/workflows/${id}/runs?`]) {
    const runs = await walked(errand, path, 'after');
    equal(new Set(runs.map((run) => run.id)).size, runs.length, path);
    deepEqual(messages(runs.filter((run) => run.workflow_id === id)), wanted, path);
  }
  const { text } = await errand.client.request('GET', '/v1/errors/export');
  const lines: Json[] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  deepEqual(messages(lines.slice(0, -1)), wanted.toReversed());
  const { data: groups } = await errand.client.get('/v1/error_groups');
  deepEqual([groups.length, groups[0].count], [1, 10]);
  const { data: group } = await errand.client.get(`/v1/error_groups/${groups[0].id}`);
  ok(group.first_seen_ms <= group.last_seen_ms);
  // What is made later is listed once, too.
  for (let n = 0; n < 4; n++) await errand.workflow(THROWS);
  const workflows = await walked(errand, '/v1/workflows?', 'after');
  equal(new Set(workflows.map((one) => one.id)).size, workflows.length);
  equal(workflows.filter((one) => one.name === 'test').length, 5);
});

test('repeats are counted in one digest, whatever the clock', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await errand.client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  await errand.client.put('/v1/users/me', { channels: [channel.id] });
  const workflow = await errand.workflow(THROWS);
  await fail(errand, workflow, [0]);
  await receiver.wait(1);
  errand.forward(-HOUR_MS);
  await fail(errand, workflow, [1, 2]);
  await errand.restart();
  await fail(errand, workflow, [3]);
  equal(receiver.received.length, 1);
  errand.forward(DAY_MS + HOUR_MS);
  await receiver.wait(2);
  await fail(errand, workflow, [4, 5]);
  errand.forward(DAY_MS);
  await receiver.wait(3);
  await errand.settled();
  deepEqual(
    kindsOf(receiver).map(({ kind, more, count }) => [kind, more, count]),
    [
      ['error', 1, 1],
      ['digest', 3, 4],
      ['digest', 2, 6],
    ],
  );
  const mails = await until('the mails', async () => (await errand.outbox()).length >= 3 && errand.outbox());
  equal(mails.length, 3);
});

test('a mute ends by the clock as it is, and what came meanwhile is told of once', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await errand.client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  await errand.client.put('/v1/users/me', { channels: [channel.id] });
  const workflow = await errand.workflow(THROWS);
  await fail(errand, workflow, [0]);
  await receiver.wait(1);
  const [{ id }] = (await errand.client.get('/v1/error_groups')).data;
  const shown = async (): Promise<Json> => (await errand.client.get(`/v1/error_groups/${id}`)).data;
  const untilMs = (await shown()).last_seen_ms + 2 * HOUR_MS;
  await errand.client.put(`/v1/error_groups/${id}`, { state: 'muted', muted_until: untilMs });
  errand.forward(-HOUR_MS);
  await fail(errand, workflow, [1]);
  await errand.restart();
  await fail(errand, workflow, [2]);
  deepEqual([(await shown()).state, (await shown()).count, receiver.received.length], ['muted', 3, 1]);
  errand.forward(DAY_MS);
  await fail(errand, workflow, [3]);
  await receiver.wait(2);
  await errand.settled();
  deepEqual([(await shown()).state, (await shown()).count, receiver.received.length], ['open', 4, 2]);
});

test('nothing is silent because the clock was set', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow('export default () => 1', {
    settings: { watch: { silent_after_ms: 60_000 } },
  });
  await errand.send(workflow, {});
  const heartbeat = await beat(errand);
  const ping = (): Promise<Response> => fetch(heartbeat.ping_url.replace(/^.*\/h\//, `${errand.url}/h/`));
  await ping();
  const told = async (): Promise<number[]> => {
    const codes = async (query: string): Promise<number> =>
      (await errand.client.get(`/v1/errors?code=Silent${query}`)).data.length;
    return [await codes(`&emitter_id=${workflow.id}`), await codes(`&emitter_id=${heartbeat.id}`)];
  };
  await pass(errand, 1);
  for (const ms of [DAY_MS, -HOUR_MS, -DAY_MS, HOUR_MS]) {
    await jump(errand, ms);
    await pass(errand, 1);
    deepEqual(await told(), [0, 0], `after ${ms} ms`);
    await errand.restart();
    await ping();
    await errand.send(at(errand, workflow), {});
    await errand.settled();
  }
  // And what is really silent is told of once.
  await pass(errand, 6);
  await errand.restart();
  await pass(errand, 1);
  deepEqual(await told(), [1, 1]);
  await ping();
  await errand.send(at(errand, workflow), {});
  await pass(errand, 1);
  for (const { id } of [workflow, heartbeat]) {
    const kind = id.startsWith('p_') ? 'workflows' : 'heartbeats';
    const path = `/v1/${kind}/${id}/event_summaries?event_name=$recovered`;
    await until('the recovery', async () => (await errand.client.get(path)).data.length > 0);
    equal((await errand.client.get(path)).data.length, 1);
  }
  deepEqual(await told(), [1, 1]);
});

for (const how of ['while the server runs', 'and the server starts again'] as const) {
  test(`schedules, waits and retries go on when the clock was set back ${how}`, async () => {
    await using errand = await startErrand();
    await using receiver = await startReceiver();
    receiver.answer((n) => (n === 0 ? 500 : 200));
    const ticking = await errand.workflow('export default () => 1', {
      triggers: [{ type: 'schedule', interval_seconds: 600 }],
    });
    const waiting = await errand.workflow('export default ({ $ }) => { $.flow.delay(600_000); }');
    const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
    await errand.subscribe(waiting.triggers[0].id, webhook.id);
    await errand.send(waiting, {});
    await receiver.wait(1);
    const waitingNow = async (): Promise<boolean> => (await errand.client.get('/v1/ledger')).data.runs.waiting === 1;
    await until('the run waits', waitingNow);
    errand.forward(-DAY_MS);
    if (how === 'and the server starts again') await errand.restart();
    await until('the clock is followed', () =>
      errand.logged.some(({ name }) => name.startsWith('the clock was set back')),
    );
    await receiver.wait(2);
    ok(await waitingNow(), 'no wait ends early');
    errand.forward(600_000);
    equal(only(await errand.runs(waiting.id, 1)).state, 'succeeded');
    equal((await errand.runs(ticking.id, 1)).length, 1);
    await errand.settled();
    equal(receiver.received.length, 2);
  });
}
