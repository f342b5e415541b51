// What a process does that has some of the roles. On one store, one after the other: what the one leaves, the next does.

import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { test } from 'node:test';
import { dataPaths, readConfig } from '../../../src/server/config.ts';
import { clock, random } from '../../../src/server/real-ports.ts';
import { startService } from '../../../src/server/service.ts';
import type { Role } from '../../../src/server/settings/roles.ts';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { call, SIGNED } from '../../support/data/signed.ts';
import { createErrandOn, type ErrandActions } from '../../support/flows.ts';
import { createFolder, type Folder } from '../../support/folders/folder.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

const KEY = 'a-key-that-only-this-test-knows';
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

interface Process extends ErrandActions, AsyncDisposable {
  readonly url: string;
  readonly client: Client;
}

const NOW = { ms: 0 };

/** The settings refuse this with SQLite, since two such processes cannot be there at once. */
async function start({ path }: Folder, ahead: { ms: number }, ...roles: Role[]): Promise<Process> {
  const config = readConfig({
    ERRAND_PORT: '0',
    ERRAND_DATA_DIR: path,
    ERRAND_API_KEY: KEY,
    ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
  });
  const service = await startService(
    { ...config, roles: new Set(roles) },
    { clock: { nowMs: () => clock.nowMs() + ahead.ms }, random, log: quiet },
  );
  const client = createClient(service.url, KEY);
  const stop = (): Promise<void> => service.stop(5000);
  return { url: service.url, client, ...createErrandOn(() => client), [Symbol.asyncDispose]: stop };
}

test('each role does its part', async () => {
  await using folder = await createFolder();
  await using receiver = await startReceiver();
  let url: string;
  let id: string;
  {
    await using api = await start(folder, NOW, 'api');
    const workflow = await api.workflow('export default ({ $ }) => { $.send.emit({ n: 1 }); };');
    const webhook = await api.client.post('/v1/webhooks', { url: receiver.url });
    await api.subscribe(workflow.id, webhook.id);
    await api.send(workflow, {});
    [url, id] = [workflow.triggers[0].endpoint_url, workflow.id];
    assert.match((await api.client.request('GET', '/metrics')).text, /^errand_runner_processes 0$/m, 'none is warmed');
    // The owner's own requests are answered, and so is a bundle made; nothing of it runs.
    const { data } = await api.client.get(`/v1/workflows/${id}/runs`);
    assert.deepEqual(
      data.map(({ state }: { state: string }) => state),
      ['queued'],
    );
  }
  {
    await using api = await start(folder, NOW, 'api', 'run');
    const [run] = await api.runs(id, 1);
    assert.equal(run.state, 'succeeded');
    const { data } = await api.client.get('/v1/ledger');
    assert.deepEqual([data.deliveries.pending, data.deliveries.total], [1, 1]);
    assert.deepEqual(receiver.received, []);
  }
  await using deliver = await start(folder, NOW, 'deliver');
  await receiver.wait(1);
  assertProblem(await deliver.client.request('POST', new URL(url).pathname), 503);
});

test('what arrived in time is verified when it runs late', async () => {
  await using folder = await createFolder();
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = '{"type": "user.created"}';
  const ahead = { ms: -600_000 };
  const path = async (): Promise<string> => {
    await using errand = await start(folder, ahead, 'api', 'run');
    const made = { component: 'standard-webhook', configured_props: { secrets: [secret] } };
    return new URL((await errand.client.post('/v1/sources', made)).endpoint_url).pathname;
  };
  const endpoint = await path();
  const sign = (id: string, atMs: number) => SIGNED.standard({ secret, body, id }, Math.floor(atMs / 1000));
  {
    await using api = await start(folder, ahead, 'api');
    const source = { endpoint_url: api.url + endpoint };
    // Nobody answers them here.
    const gone = new AbortController();
    void call(source, body, sign('msg_1', Date.now() + ahead.ms), gone.signal).catch(() => undefined);
    void call(source, body, sign('msg_2', Date.now() + ahead.ms - 400_000), gone.signal).catch(() => undefined);
    await until('both are taken', async () => (await api.client.get('/v1/ledger')).data.runs.queued === 2);
    gone.abort();
  }
  await using late = await start(folder, { ms: 0 }, 'api', 'run');
  await late.settled();
  const [source] = (await late.client.get('/v1/sources')).data;
  const { data } = await late.client.get(`/v1/sources/${source.id}/event_summaries?expand=event`);
  assert.deepEqual(
    data.map(({ event }: Json) => event.id),
    ['msg_1'],
  );
});

test('without the role api only health is answered', async () => {
  await using folder = await createFolder();
  await using errand = await start(folder, NOW, 'run', 'deliver');
  for (const path of ['/healthz', '/readyz', '/metrics', '/healthz?x=1']) {
    assert.equal((await errand.client.request('GET', path)).status, 200, path);
  }
  for (const path of ['/v1/users/me', '/docs', '/', '/e/some-key', '/v1/openapi.json', '/metricsx']) {
    const answer = await errand.client.request('GET', path);
    assertProblem(answer, 503);
    assert.match(answer.json.detail, /role "api"/);
    assert.ok(answer.headers.get('retry-after'));
  }
  await assert.rejects(access(dataPaths(folder.path).running), 'the command line must not find it');
});

test('schedules tick where workflows run', async () => {
  await using folder = await createFolder();
  let id: string;
  {
    await using api = await start(folder, NOW, 'api');
    const schedule = { type: 'schedule', interval_seconds: 1 };
    ({ id } = await api.workflow('export default () => 1', { triggers: [schedule] }));
  }
  await using run = await start(folder, NOW, 'api', 'run');
  await run.runs(id, 1);
});
