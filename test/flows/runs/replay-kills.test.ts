// A thousand errors replayed by a server that is killed in the middle, again and again: each event runs again once.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { databaseFor } from '../../support/database.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { spawnErrand } from '../../support/process.ts';
import { until } from '../../support/wait.ts';

const COUNT = 1000;
const KEY = 'test-key-test-key-test-key';
/** How many are replayed when the server is killed. */
const KILLED_AT = [100, 500];

async function results(client: Client, id: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = ''; ; ) {
    const { data, page_info: page } = await client.get(`/v1/operations/${id}/results?limit=100${after}`);
    all.push(...data);
    if (data.length < 100) return all;
    after = `&after=${page.end_cursor}`;
  }
}

test('a thousand replays outlive kills, each once', { timeout: 120_000 }, async () => {
  await using folder = await createFolder();
  // Kept from one process to the next.
  await using _database = await databaseFor({}, folder.path);
  const env = { ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY, ERRAND_CODE_USER: 'server' };
  let id = '';
  for (const killedAt of KILLED_AT) {
    await using server = await spawnErrand(env);
    const client = createClient(server.url, KEY);
    if (id === '') id = await begin(client);
    const path = `/v1/operations/${id}`;
    await until('it to be replaying', async () => (await client.get(path)).data.replay.replayed >= killedAt);
    server.child.kill('SIGKILL');
    await server.exited;
  }
  await using server = await spawnErrand(env);
  const client = createClient(server.url, KEY);
  const done = await until('all to be replayed', async () => {
    const { data } = await client.get(`/v1/operations/${id}`);
    return data.state === 'done' && data;
  });
  deepEqual([done.total, done.replay.replayed, done.replay.fixed, done.reason], [COUNT, COUNT, COUNT, null]);
  const all = await results(client, id);
  equal(new Set(all.map((one) => one.id)).size, COUNT, 'each error');
  equal(new Set(all.map((one) => one.run_id)).size, COUNT, 'each with a run of its own');
  const { runs, errors } = (await client.get('/v1/ledger')).data;
  deepEqual([runs.total, runs.failed, runs.succeeded, errors.captured], [2 * COUNT, COUNT, COUNT, COUNT]);
  const [group] = (await client.get('/v1/error_groups')).data;
  deepEqual([group.count, group.state], [COUNT, 'resolved']);
});

/** Returns the operation. */
async function begin(client: Client): Promise<string> {
  const errand = createErrandOn(() => client);
  const settings = { notify: false };
  const workflow = await errand.workflow(`export default () => { throw new Error('lost') }`, { settings });
  for (let n = 0; n < COUNT; n += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => errand.send(workflow, { n: n + i })));
  }
  await errand.settled();
  // Slow enough to be killed in the middle of some.
  const code = 'export default () => new Promise((resolve) => setTimeout(resolve, 5))';
  await client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'step', code }] });
  const [group] = (await client.get('/v1/error_groups')).data;
  const operation = await client.post('/v1/replays', { group_id: group.id });
  ok(operation.id.startsWith('op_'));
  return operation.id;
}
