// Watches told over channels: once when something is silent or unhealthy, and once when that is over.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { beat, pass } from '../../support/heartbeats.ts';
import { createOwner } from '../../support/owners.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

interface Told extends AsyncDisposable {
  readonly slack: Receiver;
  readonly pagerduty: Receiver;
}

/** An owner who is told over a chat and an incident service. */
async function toldOver(client: Client): Promise<Told> {
  const [slack, pagerduty] = [await startReceiver(), await startReceiver()];
  const base = pagerduty.url.replace('/hook', '');
  const { id: chat } = await client.post('/v1/channels', { kind: 'slack', config: { url: slack.url } });
  const incidents = { kind: 'pagerduty', config: { url: base, key: 'routing-key' } };
  const { id: duty } = await client.post('/v1/channels', incidents);
  await client.put('/v1/users/me', { channels: [chat, duty] });
  const dispose = async (): Promise<void> => {
    for (const receiver of [slack, pagerduty]) await receiver[Symbol.asyncDispose]();
  };
  return { slack, pagerduty, [Symbol.asyncDispose]: dispose };
}

const bodiesOf = ({ received }: Receiver): Json[] => received.map(({ body }) => JSON.parse(String(body)));

/** What the incident service was told: each event with the words of its title. */
const incidentsOf = ({ pagerduty }: Told): [action: string, key: string, title: string][] =>
  bodiesOf(pagerduty).map(({ event_action: action, dedup_key: key, payload }) => [action, key, payload?.summary ?? '']);

const ping = (errand: Errand, { ping_url: url }: Json, end = '') =>
  fetch(`${url.replace(/^.*\/h\//, `${errand.url}/h/`)}${end}`);

test('a missed heartbeat is told once, also after a restart, and its next ping as a recovery', async () => {
  await using errand = await startErrand();
  await using told = await toldOver(errand.client);
  const { client: other } = await createOwner(errand, 'other');
  await using others = await toldOver(other);
  const made = await beat(errand);
  await ping(errand, made);
  await pass(errand);
  await told.pagerduty.wait(1);
  await told.slack.wait(1);
  await errand.restart();
  await pass(errand);
  const [action, key, title] = incidentsOf(told)[0] ?? [];
  equal(action, 'trigger');
  match(`${title}`, /Backup/);
  match(JSON.stringify(bodiesOf(told.slack)[0]), /Backup.*Silent|Silent.*Backup/);
  await ping(errand, made);
  await told.pagerduty.wait(2);
  await told.slack.wait(2);
  deepEqual(incidentsOf(told)[1]?.slice(0, 2), ['resolve', key]);
  match(JSON.stringify(bodiesOf(told.slack)[1]), /recovered/);
  // The other owner hears of an own heartbeat, and of nothing else.
  // The restart gave the server another port.
  const { post } = createClient(errand.url, other.key);
  const own = await post('/v1/heartbeats', { name: 'Other backup', interval_seconds: 3600 });
  await ping(errand, own, '/fail');
  await others.pagerduty.wait(1);
  await others.slack.wait(1);
  await errand.settled();
  match(`${incidentsOf(others)[0]?.[2]}`, /Other backup/);
  for (const [receiver, count] of [
    [told.slack, 2],
    [told.pagerduty, 2],
    [others.slack, 1],
    [others.pagerduty, 1],
  ] as const) {
    equal(receiver.received.length, count);
  }
});

test('a job that begins as soon as the server is there again, and hangs, is missed', async () => {
  await using errand = await startErrand();
  const made = await beat(errand);
  await ping(errand, made, '/start');
  await pass(errand, 1);
  await errand.stop();
  errand.forward(3_600_000);
  await errand.restart();
  equal((await ping(errand, made, '/start')).status, 200);
  await pass(errand);
  const { codes, pings } = (await errand.client.get(`/v1/heartbeats/${made.id}`)).data;
  deepEqual([codes, pings], [['Silent'], 2]);
});

test('a workflow that is silent is told once, and its next run as a recovery', async () => {
  await using errand = await startErrand();
  await using told = await toldOver(errand.client);
  const settings = { watch: { silent_after_ms: 60_000 } };
  const { id } = await errand.workflow('export default () => 1', { name: 'Nightly', settings });
  for (let n = 0; n < 3; n++) await pass(errand);
  await told.pagerduty.wait(1);
  await errand.restart();
  for (let n = 0; n < 2; n++) await pass(errand);
  await errand.client.post(`/v1/workflows/${id}/runs`, { event: {} });
  await told.pagerduty.wait(2);
  await told.slack.wait(2);
  await errand.settled();
  const incidents = incidentsOf(told);
  deepEqual(
    incidents.map(([action]) => action),
    ['trigger', 'resolve'],
  );
  equal(incidents[0]?.[1], incidents[1]?.[1]);
  match(`${incidents[0]?.[2]}`, /Nightly/);
  equal(told.slack.received.length, 2);
  const { data } = await errand.client.get(`/v1/workflows/${id}/event_summaries?event_name=$recovered&expand=event`);
  deepEqual(
    data.map(({ event }: Json) => event.code),
    ['Silent'],
  );
});

test('a workflow that is unhealthy is an incident of its own until its failures are few', async () => {
  await using errand = await startErrand();
  await using told = await toldOver(errand.client);
  const settings = { watch: { error_ratio: { over: 0.5, of_at_least: 2, window_ms: 60_000 } } };
  const workflow = await errand.workflow(
    `export default ({ steps }) => { if (!steps.trigger.event.good) throw new Error('no') }`,
    {
      name: 'Orders',
      settings,
    },
  );
  for (let n = 0; n < 3; n++) await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: {} });
  await told.pagerduty.wait(2);
  for (let n = 0; n < 2; n++) await pass(errand);
  await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: { good: true } });
  await pass(errand);
  await told.pagerduty.wait(3);
  const { data: groups } = await errand.client.get(`/v1/error_groups?emitter_id=${workflow.id}`);
  const keyOf = (code: string): string => groups.find(({ fingerprint }: Json) => fingerprint.code === code)?.id;
  const incidents = incidentsOf(told).map(([action, key]) => `${action} ${key}`);
  deepEqual(
    incidents.slice(0, 2).toSorted(),
    [`trigger ${keyOf('Error')}`, `trigger ${keyOf('Unhealthy')}`].toSorted(),
  );
  deepEqual(incidents.slice(2), [`resolve ${keyOf('Unhealthy')}`]);
  const states = Object.fromEntries(groups.map(({ fingerprint, state }: Json) => [fingerprint.code, state]));
  deepEqual(states, { Error: 'open', Unhealthy: 'resolved' });
  const shown = await until('the chat', () => told.slack.received.length >= 3 && bodiesOf(told.slack));
  ok(shown.some((body) => /Unhealthy/.test(JSON.stringify(body))));
});
