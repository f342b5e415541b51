// ETag and If-Match: a change that is meant for what was read overwrites no other change.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operationsOf } from '../../support/belongings.ts';
import type { Client, Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, ECHO_SOURCE } from '../../support/sources/sources.ts';

const newOwner = shareErrand();
type Owner = Awaited<ReturnType<typeof newOwner>>;

interface Record {
  readonly path: string;
  readonly change: (n: number) => object;
  /** The member that is changed. */
  readonly member: 'name' | 'note' | 'value';
}

/** One of each that callers change. */
async function recordsOf(errand: Owner): Promise<Record[]> {
  const { client } = errand;
  const workflow = await errand.workflow('export default () => {}');
  const source = await createSource(errand, ECHO_SOURCE);
  const webhook = await client.post('/v1/webhooks', { url: 'https://example.com/hook' });
  const heartbeat = await client.post('/v1/heartbeats', { name: 'x', interval_seconds: 600 });
  const channel = await client.post('/v1/channels', { kind: 'mail', config: { to: 'a@example.com' } });
  const account = await client.post('/v1/accounts', { app: 'slack', fields: { token: 't' } });
  const dataStore = await client.post('/v1/data_stores', { name: 'x' });
  const record = `/v1/data_stores/${dataStore.id}/records/${encodeURIComponent('a "key"/%')}`;
  await client.request('PUT', record, { value: 'x' });
  const failing = await errand.workflow('export default () => { throw new Error("no"); }');
  await errand.send(failing, {});
  await errand.errors(failing.id, 1);
  const [group] = (await client.get(`/v1/error_groups?emitter_id=${failing.id}`)).data;
  const name = (n: number): object => ({ name: `name ${n}` });
  const named = [
    ...[`/v1/workflows/${workflow.id}`, `/v1/sources/${source.id}`, `/v1/webhooks/${webhook.id}`, '/v1/users/me'],
    ...[`/v1/heartbeats/${heartbeat.id}`, `/v1/channels/${channel.id}`, `/v1/accounts/${account.id}`],
    `/v1/data_stores/${dataStore.id}`,
  ];
  return [
    ...named.map((path): Record => ({ path, change: name, member: 'name' })),
    { path: `/v1/error_groups/${group.id}`, change: (n) => ({ note: `name ${n}` }), member: 'note' },
    { path: record, change: (n) => ({ value: `name ${n}` }), member: 'value' },
  ];
}

interface Put {
  readonly path: string;
  readonly body: object;
  readonly ifMatch: string | null;
}

async function put(
  { url, key }: Client,
  { path, body, ifMatch }: Put,
): Promise<{ status: number; tag: string; json: Json }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const more = ifMatch === null ? {} : { 'if-match': ifMatch };
  const answer = await fetch(url + path, {
    method: 'PUT',
    headers: { ...headers, ...more },
    body: JSON.stringify(body),
  });
  return { status: answer.status, tag: answer.headers.get('etag') ?? '', json: await answer.json() };
}

async function tagOf(client: Client, path: string): Promise<string> {
  const answer = await client.request('GET', path);
  assert.equal(answer.status, 200, answer.text);
  return answer.headers.get('etag') ?? '';
}

test('a change for an old tag is refused', async () => {
  const errand = await newOwner();
  const { client } = errand;
  for (const { path, change, member } of await recordsOf(errand)) {
    const read = await tagOf(client, path);
    assert.match(read, /^"[0-9a-z]+"$/, path);
    const first = await put(client, { path, body: change(1), ifMatch: read });
    assert.equal(first.status, 200, `${path}: ${JSON.stringify(first.json)}`);
    assert.notEqual(first.tag, read, path);
    assert.equal(await tagOf(client, path), first.tag, path);

    const late = await put(client, { path, body: change(2), ifMatch: read });
    assert.equal(late.status, 412, path);
    assert.match(late.json.type, /#precondition_failed$/);
    assert.equal((await client.get(path)).data[member], 'name 1', path);

    const weak = await put(client, { path, body: change(3), ifMatch: `"xy", W/${first.tag}` });
    assert.equal(weak.status, 200, `${path}: ${JSON.stringify(weak.json)}`);
    for (const ifMatch of ['*', null])
      assert.equal((await put(client, { path, body: change(4), ifMatch })).status, 200);
    for (const ifMatch of ['abc', '', '"', '"a" "b"']) {
      assert.equal((await put(client, { path, body: change(5), ifMatch })).status, 400, `${path} ${ifMatch}`);
    }
    assert.equal((await put(client, { path, body: change(6), ifMatch: '"nothing-of-ours"' })).status, 412);
    assert.equal((await client.get(path)).data[member], 'name 4', path);
  }
});

test('of changes for one tag a single one is made', async () => {
  const errand = await newOwner();
  const { client } = errand;
  for (const { path, change, member } of await recordsOf(errand)) {
    const ifMatch = await tagOf(client, path);
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => put(client, { path, body: change(n), ifMatch })));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 412, 412, 412, 412], path);
    const made = answers.find(({ status }) => status === 200);
    assert.equal((await client.get(path)).data[member], made?.json.data[member], path);
  }
});

test('changes of different members at the same time are all made', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const workflow = await errand.workflow('export default () => {}');
  const path = `/v1/workflows/${workflow.id}`;
  const [first] = (await client.get(`${path}/deployments`)).data;
  await client.put(path, { steps: [{ namespace: 'step', code: 'export default () => 2' }] });
  const auth = { type: 'bearer', token: 'a-token-of-the-trigger' };
  for (let n = 0; n < 5; n++) {
    await client.put(path, { name: 'x', active: true, triggers: [{ type: 'http' }], settings: { concurrency: 1 } });
    await client.put('/v1/users/me', { name: 'x', email: 'x@example.com' });
    await Promise.all([
      client.put(path, { name: `name ${n}` }),
      client.put(path, { active: false }),
      client.put(path, { triggers: [{ type: 'http', auth }] }),
      client.put(path, { settings: { concurrency: 7 } }),
      client.post(`${path}/deployments/${first.id}/activate`),
      client.put('/v1/users/me', { name: `name ${n}` }),
      client.put('/v1/users/me', { email: 'y@example.com' }),
    ]);
    const { name, active, triggers, settings, deployment_id: deployment } = (await client.get(path)).data;
    const made = { name, active, auth: triggers[0].auth?.type, concurrency: settings.concurrency, deployment };
    const asked = { name: `name ${n}`, active: false, auth: 'bearer', concurrency: 7, deployment: first.id };
    assert.deepEqual(made, asked);
    const me = (await client.get('/v1/users/me')).data;
    assert.deepEqual([me.name, me.email], [`name ${n}`, 'y@example.com']);
  }
});

test('a record of another content or end is not overwritten', async () => {
  const { client } = await newOwner();
  const { id } = await client.post('/v1/data_stores', { name: 'x' });
  const path = `/v1/data_stores/${id}/records/stock`;
  for (const ifMatch of ['*', '"abc"']) {
    assert.equal((await put(client, { path, body: { value: 1 }, ifMatch })).status, 412, `${ifMatch} creates nothing`);
  }
  assert.equal((await client.request('GET', path)).status, 404);
  const made = await put(client, { path, body: { value: 7 }, ifMatch: null });
  const kept = await put(client, { path, body: { value: 7, ttl: 600 }, ifMatch: made.tag });
  assert.equal(kept.status, 200);
  assert.notEqual(kept.tag, made.tag, 'it has an end now');
  assert.equal((await put(client, { path, body: { value: 8 }, ifMatch: made.tag })).status, 412);
  assert.equal((await client.request('DELETE', path)).status, 200);
  const late = await put(client, { path, body: { value: 8 }, ifMatch: kept.tag });
  assert.equal(late.status, 412);
  assert.match(late.json.detail, /^the record "stock" is not what If-Match names/);
  assert.equal((await client.request('GET', path)).status, 404, 'what was deleted stays deleted');
});

const remove = (client: Client, path: string, headers: { [name: string]: string }) =>
  client.request('DELETE', path, undefined, headers);

test('a record is deleted only as it was read', async () => {
  const { client } = await newOwner();
  const { id } = await client.post('/v1/data_stores', { name: 'x' });
  const path = `/v1/data_stores/${id}/records/stock`;
  for (const ifMatch of ['*', '"abc"'])
    assert.equal((await remove(client, path, { 'if-match': ifMatch })).status, 412, `there is none: ${ifMatch}`);
  assert.equal((await remove(client, path, {})).status, 404);
  const first = await put(client, { path, body: { value: 1 }, ifMatch: null });
  const second = await put(client, { path, body: { value: 2 }, ifMatch: first.tag });
  assert.equal((await remove(client, path, { 'if-match': 'abc' })).status, 400);
  const late = await remove(client, path, { 'if-match': first.tag });
  assert.equal(late.status, 412);
  assert.match(late.json.detail, /^the record "stock" is not what If-Match names/);
  assert.equal((await client.get(path)).data.value, 2);
  const other = (await newOwner()).client;
  assert.equal((await remove(other, path, { 'if-match': second.tag })).status, 404);
  const answers = await Promise.all([1, 2, 3, 4].map(() => remove(client, path, { 'if-match': second.tag })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412]);
  assert.equal(answers.find(({ status }) => status === 200)?.json.data.value, 2);
  const third = await put(client, { path, body: { value: 3 }, ifMatch: null });
  assert.equal((await remove(client, path, { 'if-match': `"xy", W/${third.tag}` })).status, 200);
});

test('a record that is only to be created replaces none', async () => {
  const { client } = await newOwner();
  const { id } = await client.post('/v1/data_stores', { name: 'x' });
  const path = `/v1/data_stores/${id}/records/${encodeURIComponent('a "key"/%')}`;
  const create = (value: unknown, more: object = {}, ifNoneMatch = '*') =>
    client.request('PUT', path, { value, ...more }, { 'if-none-match': ifNoneMatch });
  for (const wrong of ['"abc"', '', '**', 'W/"x"', '*, "x"']) {
    const refused = await create(0, {}, wrong);
    assert.deepEqual([refused.status, refused.json.errors[0].parameter], [400, 'If-None-Match'], wrong);
  }
  assert.equal((await client.request('GET', path)).status, 404);
  const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => create(n)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412, 412]);
  const made = answers.find(({ status }) => status === 200);
  const late = await create(7);
  assert.match(late.json.type, /#precondition_failed$/);
  assert.match(late.json.detail, /^the record "a \\"key\\"\/%" exists/);
  assert.equal((await client.get(path)).data.value, made?.json.data.value);
  const tagged = { 'if-none-match': '*', 'if-match': made?.headers.get('etag') ?? '' };
  assert.equal((await client.request('PUT', path, { value: 8 }, tagged)).status, 412, 'both cannot be');
  const other = (await newOwner()).client;
  const theirs = await other.request('PUT', path, { value: 8 }, { 'if-none-match': '*' });
  assert.equal(theirs.status, 404, 'of another owner there is nothing to tell');
  assert.equal((await remove(client, path, {})).status, 200);
  assert.equal((await create(9)).status, 200, 'what was deleted is not there');
  assert.equal((await client.get(path)).data.value, 9);
});

test('ten counters of one record lose no count', async () => {
  const { client } = await newOwner();
  const { id } = await client.post('/v1/data_stores', { name: 'x' });
  const path = `/v1/data_stores/${id}/records/n`;
  await put(client, { path, body: { value: 0 }, ifMatch: null });
  const count = async (): Promise<void> => {
    for (;;) {
      const read = await client.request('GET', path);
      const body = { value: read.json.data.value + 1 };
      const { status } = await put(client, { path, body, ifMatch: read.headers.get('etag') });
      if (status === 200) return;
      assert.equal(status, 412);
    }
  };
  await Promise.all(Array.from({ length: 10 }, count));
  assert.equal((await client.get(path)).data.value, 10);
});

test('quotas that were changed since are not overwritten', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const { id } = await createOwner(errand);
  const path = `/v1/owners/${id}/quotas`;
  const read = await tagOf(client, path);
  const answers = await Promise.all(
    [3, 4, 5].map((processes) => put(client, { path, body: { processes }, ifMatch: read })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412]);
  const made = answers.find(({ status }) => status === 200);
  assert.equal((await client.get(path)).data.limits.processes, made?.json.data.limits.processes);
  assert.equal(await tagOf(client, path), made?.tag);
  assert.equal((await put(client, { path, body: { processes: null }, ifMatch: made?.tag ?? '' })).status, 200);
  assert.equal(await tagOf(client, path), read, 'as before: the tag is of what they are');
});

/** Of which one may be deleted only as it was read, and made only when there is none. */
const RECORD = '/v1/data_stores/{id}/records/{key}';

/** What is deployed of a file is a version of its own; the one before it stays, and can be active again. */
const DEPLOYING: ReadonlySet<string> = new Set(['/v1/workflow_files', '/v1/source_files']);

test('every PUT and PATCH compares tags of its GET', async () => {
  const { client } = await newOwner();
  const document = await client.get('/v1/openapi.json');
  let seen = 0;
  for (const { method, path } of await operationsOf(client)) {
    if ((method !== 'PUT' && method !== 'PATCH') || DEPLOYING.has(path)) continue;
    const parameters: Json[] = document.paths[path][method.toLowerCase()].parameters ?? [];
    assert.ok(
      parameters.some(({ name }) => name === 'if-match'),
      `${method} ${path}`,
    );
    assert.ok(document.paths[path].get, `GET ${path}`);
    seen += 1;
  }
  assert.ok(seen >= 27, `${seen} seen`);
});

for (const [header, value] of [
  ['If-Match', '"a"'],
  ['If-None-Match', '*'],
] as const) {
  test(`a request that does not compare ${header} refuses it`, () => refusesElsewhere(header, value));
}

async function refusesElsewhere(header: string, value: string): Promise<void> {
  const { client } = await newOwner();
  const headers = { authorization: `Bearer ${client.key}`, 'content-type': 'application/json', [header]: value };
  const document = await client.get('/v1/openapi.json');
  let taking = 0;
  for (const { method, path, scope } of await operationsOf(client)) {
    if (method === 'GET' || scope === null || scope === 'admin') continue;
    const parameters: Json[] = document.paths[path][method.toLowerCase()].parameters ?? [];
    if (parameters.some(({ name, in: where }) => where === 'header' && name === header.toLowerCase())) {
      const creates = header === 'If-None-Match';
      const isRecord = path === RECORD && (method === 'PUT' || (method === 'DELETE' && !creates));
      assert.ok(isRecord || (!creates && ['PUT', 'PATCH'].includes(method)), `${method} ${path}`);
      taking += 1;
      continue;
    }
    const answer = await fetch(client.url + path.replace(/\{[^}]+\}/g, 'x_1'), { method, headers, body: '{}' });
    const text = await answer.text();
    // A key of this owner may be short of a scope.
    if (answer.status === 403) continue;
    assert.equal(answer.status, 400, `${method} ${path}: ${text}`);
    assert.ok(text.includes(`does not take ${header}`), `${method} ${path}`);
  }
  assert.ok(header === 'If-Match' ? taking >= 26 : taking === 1, `${taking} take it`);
}
