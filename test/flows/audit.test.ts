// The audit log over HTTP: what leaves a record, who sees it, and for how long.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../src/domain/limits.ts';
import { createBelongings, fill, operationsOf } from '../support/belongings.ts';
import { type Client, createClient, type Json } from '../support/client.ts';
import { databaseFor } from '../support/database.ts';
import { startErrand } from '../support/errand.ts';
import { createFolder } from '../support/folders/folder.ts';
import { createOwner, runCommand, withScopes } from '../support/owners.ts';
import { spawnErrand } from '../support/process.ts';
import { until } from '../support/wait.ts';

const ALL = ['ingest', 'read', 'write', 'keys', 'account', 'admin'];
const HIDDEN = 'hidden-in-no-record';

/** All records, newest first. */
async function recordsOf(client: Client, query = ''): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = ''; ; ) {
    const page = await client.get(`/v1/audit?limit=100${query}${after}`);
    all.push(...page.data);
    if (page.data.length < 100) return all;
    after = `&after=${page.page_info.end_cursor}`;
  }
}

test('every operation that is no GET leaves a record', async () => {
  await using errand = await startErrand();
  const belongings = await createBelongings(errand);
  // Who signs in shows only in the body: it has a test of its own (test/unit/http/access/session.test.ts).
  const operations = (await operationsOf(errand.client)).filter(
    ({ id, method }) => method !== 'GET' && id !== 'createSession',
  );
  assert.ok(operations.length > 45, `${operations.length} operations`);
  const { id: ownerId } = (await errand.client.get('/v1/users/me')).data;
  const asked = new Map<string, Json>();
  for (const { id, method, path, example } of operations) {
    // A key for each: what one key is refused is counted beyond a few.
    const { client, key } = await withScopes(errand.client, ALL);
    const filled = fill(path, belongings.holesOf(path));
    const own =
      path === '/v1/owners/{id}/keys'
        ? filled
        : filled.replace(/[^/]+_[0-9A-Za-z]{16}/, (one) => `${one.split('_')[0]}_1`);
    const answer = await client.request(method, `${own}?name=${HIDDEN}`, { ...example, description: HIDDEN });
    asked.set(answer.headers.get('x-request-id') as string, { id, method, own, key: key.id, status: answer.status });
  }
  const { client: reader, key } = await withScopes(errand.client, ['read']);
  // A question that needs a body is answered to a key that reads, and so is the end of its own sessions.
  const open = ['previewErrorGroups', 'endSession', 'endAllSessions'];
  const refused = operations.filter(({ id }) => !open.includes(id));
  for (const { id, method, path, example } of refused) {
    const answer = await reader.request(method, fill(path, ['x', 'x']), example ?? {});
    assert.equal(answer.status, 403);
    if (asked.size < operations.length + 20) {
      const request = { id, method, own: fill(path, ['x', 'x']), key: key.id, status: 403 };
      asked.set(answer.headers.get('x-request-id') as string, request);
    }
  }
  await errand.restart();
  const records = await recordsOf(errand.client);
  const byRequest = new Map(records.map((record) => [record.request_id, record]));
  for (const [requestId, { id, method, own, key: keyId, status }] of asked) {
    const record = byRequest.get(requestId);
    assert.ok(record, `${id} left no record`);
    assert.deepEqual(
      [record.operation, record.method, record.path, record.key_id, record.status, record.owner_id, record.client_ip],
      [id, method, own, keyId, status, ownerId, '127.0.0.1'],
    );
  }
  const counting = records.filter(({ count }) => count > 1);
  assert.deepEqual(
    counting.map((one) => [one.key_id, one.count, one.status]),
    [[key.id, refused.length - 20, 403]],
  );
  const text = JSON.stringify(records);
  for (const secret of [HIDDEN, 'secret-of-a', errand.client.key]) assert.ok(!text.includes(secret), secret);
});

test('a record tells who did what to what', async () => {
  await using errand = await startErrand();
  const { client, key } = await withScopes(errand.client, ['read', 'write']);
  const webhook = await client.post('/v1/webhooks?url=https://example.com/');
  await client.put(`/v1/webhooks/${webhook.id}`, { name: 'changed' });
  await client.delete(`/v1/webhooks/${webhook.id}`);
  assert.equal((await client.request('DELETE', `/v1/webhooks/${webhook.id}`)).status, 404);
  const of = async (query: string) =>
    (await recordsOf(errand.client, query)).map((one) => [one.operation, one.target_id, one.status]).reverse();
  const whole = [
    ['createWebhook', webhook.id, 200],
    ['updateWebhook', webhook.id, 200],
    ['deleteWebhook', webhook.id, 200],
    ['deleteWebhook', webhook.id, 404],
  ];
  assert.deepEqual(await of(`&key=${key.id}`), whole);
  assert.deepEqual(await of(`&target=${webhook.id}`), whole);
  assert.deepEqual(await of(`&target=${webhook.id}&operation=updateWebhook`), [whole[1]]);
  assert.deepEqual(await of(`&target=${key.id}`), [['createKey', key.id, 200]]);
  const { at_ms: atMs } = (await recordsOf(errand.client, '&operation=updateWebhook'))[0];
  assert.deepEqual(
    await of(`&key=${key.id}&until=${new Date(atMs + 60_000).toISOString()}&since=${atMs - 60_000}`),
    whole,
  );
  assert.deepEqual(await of(`&until=${atMs - 60_000}`), []);
  for (const query of ['since=soon', 'since=2&until=1', 'after=key_0000000000000000', 'limit=0']) {
    assert.equal((await errand.client.request('GET', `/v1/audit?${query}`)).status, 400, query);
  }
});

test('each owner has a log of its own, and an admin may look', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  await b.client.post('/v1/webhooks?url=https://example.com/b');
  await errand.client.post('/v1/webhooks?url=https://example.com/a');
  const made = await errand.client.post(`/v1/owners/${b.id}/keys`, { label: 'by the admin' });
  await errand.client.delete(`/v1/owners/${b.id}/keys/${made.id}`);
  const me = (await errand.client.get('/v1/users/me')).data;
  const seen = (records: Json[]) => records.map((one) => [one.operation, one.by_owner_id, one.target_id === made.id]);
  const theirs = await recordsOf(b.client);
  assert.deepEqual(seen(theirs), [
    ['revokeOwnerKey', me.id, true],
    ['createOwnerKey', me.id, true],
    ['createWebhook', b.id, false],
  ]);
  assert.deepEqual((await errand.client.get(`/v1/owners/${b.id}/audit`)).data, theirs);
  assert.deepEqual(seen(await recordsOf(errand.client)).slice(0, 2), seen(theirs).slice(0, 2));
  assert.equal((await b.client.request('GET', `/v1/owners/${me.id}/audit`)).status, 403);
  assert.equal((await errand.client.request('GET', '/v1/owners/u_none/audit')).status, 404);
  const { client: writer } = await withScopes(b.client, ['read', 'write', 'keys']);
  assert.equal((await writer.request('GET', '/v1/audit')).status, 403);
});

test('records go when retention takes them', async () => {
  await using errand = await startErrand({ ERRAND_RETENTION_DAYS: '1' });
  await errand.client.post('/v1/webhooks?url=https://example.com/');
  assert.equal((await recordsOf(errand.client)).length, 1);
  errand.forward(2 * DAY_MS);
  await errand.restart();
  await until('the record is gone', async () => (await recordsOf(errand.client)).length === 0);
});

test('the command line lists and exports the log', async () => {
  await using errand = await startErrand();
  for (let n = 0; n < 120; n++) await errand.client.post(`/v1/webhooks?url=https://example.com/${n}`);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(errand, ['audit', ...args]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const linesOf = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  assert.equal(JSON.parse(await run('list', '--json')).length, 100);
  assert.equal(JSON.parse(await run('list', '--json', '--limit', '3')).length, 3);
  assert.equal(JSON.parse(await run('list', '--json', '--limit', '0')).length, 120);
  const exported = linesOf(await run('export'));
  assert.deepEqual(exported, await recordsOf(errand.client));
  assert.equal(exported.length, 120);
  const [newest] = exported;
  assert.deepEqual(linesOf(await run('export', '--target', newest.target_id)), [newest]);
  await errand.stop();
  const revoked = await runCommand(errand, ['keys', 'create', '--label', 'offline', '--json']);
  assert.equal(revoked.code, 0, revoked.stderr);
  const [offline, ...rest] = linesOf(await run('export'));
  assert.deepEqual(rest, exported);
  assert.deepEqual(
    [offline.operation, offline.key_id, offline.key_label, offline.target_id, offline.status],
    ['createKey', null, 'errand keys create', JSON.parse(revoked.stdout).id, 200],
  );
});

/** Makes webhooks on many connections until the server is killed. */
async function makeUntilKilled(client: Client, tag: string, killed: Promise<unknown>): Promise<void> {
  let isOver = false;
  void killed.then(() => {
    isOver = true;
  });
  const work = async (worker: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const made = await client
        .request('POST', `/v1/webhooks?url=https://example.com/&name=${tag}-${worker}-${n}`)
        .catch(() => null);
      if (made === null) return;
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
}

test('no change is without a record when the server is killed', async () => {
  await using folder = await createFolder();
  const key = 'a-key-that-only-this-test-knows';
  // On Postgres: one database for all of them.
  await using database = await databaseFor({}, folder.path);
  const env = { ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: key, ERRAND_CODE_USER: 'server', ...database.settings };
  for (let round = 0; round < 3; round++) {
    await using server = await spawnErrand(env);
    const client = createClient(server.url, key);
    const count = async () => (await client.get('/v1/webhooks?limit=1')).page_info.total_count;
    const before = await count();
    const making = makeUntilKilled(client, `round${round}`, server.exited);
    await until('some are made', async () => (await count()) > before + 20 + 7 * round);
    server.child.kill('SIGKILL');
    await making;
  }
  await using server = await spawnErrand(env);
  const client = createClient(server.url, key);
  const total = (await client.get('/v1/webhooks?limit=1')).page_info.total_count;
  const records = await recordsOf(client, '&operation=createWebhook');
  const done = records.filter(({ status }) => status === 200);
  const open = records.filter(({ status }) => status === null);
  assert.equal(done.length + open.length, records.length);
  assert.ok(total > 60 && done.length <= total, `${done.length} done, ${total} webhooks`);
  assert.ok(total <= records.length, `${total} webhooks, ${records.length} records`);
});
