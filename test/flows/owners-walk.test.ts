// Another owner's things do not exist: every route of the OpenAPI document, walked with ids that belong to somebody else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Belongings,
  createBelongings,
  fill,
  type Operation,
  operationsOf,
  readAll,
} from '../support/belongings.ts';
import type { Answer, Client, Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner, type OwnerOn } from '../support/owners.ts';

const THROW = `export default () => { throw new Error('secret-of-a'); };`;

/** An id of the same shape that nobody has. */
const invented = (id: string): string => (/^\d+-\d+$/.test(id) ? '17-0' : id.replace(/_./, '_1'));

const ask = (client: Client, { method, example }: Operation, path: string): Promise<Answer> =>
  client.request(method, path, method === 'GET' || method === 'DELETE' ? undefined : (example ?? {}));

function assertNothingOf(belongings: Belongings, answer: Answer, asked: string[], what: string): void {
  for (const id of belongings.all) {
    if (!asked.includes(id)) assert.ok(!answer.text.includes(id), `${what} tells of ${id}: ${answer.text}`);
  }
}

async function twoOwners(errand: Errand): Promise<{ b: OwnerOn; operations: Operation[]; belongings: Belongings }> {
  const belongings = await createBelongings(errand);
  const b = await createOwner(errand);
  return { b, operations: await operationsOf(errand.client), belongings };
}

test('every route with foreign ids is 404', async () => {
  await using errand = await startErrand();
  const { b, operations, belongings } = await twoOwners(errand);
  const before = await readAll(errand.client, operations, belongings);
  const withHoles = operations.filter(({ path }) => path.includes('{'));
  assert.ok(withHoles.length > 30);
  for (const operation of withHoles) {
    const values = belongings.holesOf(operation.path);
    const path = fill(operation.path, values);
    const name = `${operation.method} ${operation.path}`;
    const answer = await ask(b.client, operation, path);
    const isAdmin = operation.path.startsWith('/v1/owners');
    assert.equal(answer.status, isAdmin ? 403 : 404, `${name}: ${answer.status} ${answer.text}`);
    assertNothingOf(belongings, answer, values, name);
    const other = await ask(b.client, operation, fill(operation.path, values.map(invented)));
    assert.equal(other.status, answer.status, `${name}: as if it did not exist`);
    let text = answer.text;
    for (const id of values.filter((id) => id !== '')) text = text.replaceAll(id, invented(id));
    assert.equal(text, other.text, `${name}: in the same words`);
  }
  const after = await readAll(errand.client, operations, belongings);
  assert.deepEqual(after, before, 'and nothing changed for its owner');
});

test('every route with ids of another kind is 404', async () => {
  await using errand = await startErrand();
  const belongings = await createBelongings(errand);
  const kinds = ['workflows', 'sources', 'webhooks'];
  for (const operation of await operationsOf(errand.client)) {
    const [, kind = ''] = /^\/v1\/(\w+)\/\{/.exec(operation.path) ?? [];
    if (!kinds.includes(kind)) continue;
    for (const other of kinds.filter((name) => name !== kind)) {
      const values = belongings.holesOf(operation.path.replace(kind, other));
      const answer = await ask(errand.client, operation, fill(operation.path, values));
      assert.equal(answer.status, 404, `${operation.method} ${operation.path} of ${values[0]}: ${answer.text}`);
    }
  }
});

test('lists of another owner are empty', async () => {
  await using errand = await startErrand();
  const { b, operations, belongings } = await twoOwners(errand);
  for (const operation of operations.filter((o) => o.method === 'GET' && !o.path.includes('{'))) {
    if (['/v1/openapi.json', '/v1/owners', '/v1/settings', '/v1/errors/stream'].includes(operation.path)) continue;
    for (const query of ['', '?limit=100', '?emitter_id=*', `?webhook_id=${belongings.holesOf('/v1/webhooks')[0]}`]) {
      const answer = await b.client.request('GET', operation.path + query);
      assert.ok([200, 400, 404].includes(answer.status), `${operation.path}${query}: ${answer.status} ${answer.text}`);
      assertNothingOf(
        belongings,
        answer,
        query.includes('webhook_id') ? belongings.holesOf('/v1/webhooks') : [],
        operation.path,
      );
    }
  }
});

test('the own copy of each listing still works', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const workflow = await b.workflow(THROW);
  await b.send(workflow, { n: 1 });
  const [record] = await b.errors(workflow.id, 1);
  assert.equal(record.event.original_context.owner_id, b.id);
  const cursors = [`after=${record.id}`, `before=${record.id}`];
  for (const cursor of cursors) {
    const page = await b.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries?${cursor}`);
    assert.deepEqual(page.data, []);
  }
});

test('foreign cursors are as good as invented ones', async () => {
  await using errand = await startErrand();
  const { b, operations, belongings } = await twoOwners(errand);
  await b.workflow(THROW, { name: 'of b' });
  for (const { path } of operations.filter((o) => o.method === 'GET' && !o.path.includes('{'))) {
    const kind = path.split('/').at(-1) ?? '';
    const [id = ''] = belongings.holesOf(`/v1/${kind}`);
    if (id === '' || kind === 'owners') continue;
    for (const direction of ['after', 'before']) {
      const foreign = await b.client.request('GET', `${path}?${direction}=${id}`);
      const unknown = await b.client.request('GET', `${path}?${direction}=${invented(id)}`);
      const name = `${path}?${direction}=`;
      assertNothingOf(belongings, foreign, [id], name);
      if (foreign.status !== 200) {
        assert.equal(foreign.status, 400, `${name}: ${foreign.text}`);
        assert.equal(unknown.status, foreign.status, `${name} ${invented(id)} answered ${unknown.text}`);
        assert.equal(foreign.text.replaceAll(id, invented(id)), unknown.text, name);
      }
    }
  }
});

test('a foreign cursor shows own errors only', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const mine = await b.workflow(THROW);
  await b.send(mine, { n: 1 });
  await b.errors(mine.id, 1);
  const theirs = await errand.workflow(THROW);
  await errand.send(theirs, { n: 2 });
  const [foreign] = await errand.errors(theirs.id, 1);
  const path = `/v1/workflows/${mine.id}/$errors/event_summaries`;
  const [own] = (await b.client.get(path)).data;
  const answer = await b.client.request('GET', `${path}?after=${foreign.id}`);
  if (answer.status === 200)
    assert.deepEqual(
      answer.json.data.map((r: Json) => r.id),
      [own.id],
    );
  else assert.equal(answer.status, 400);
  assert.equal((await b.client.request('GET', `${path}/${foreign.id}`)).status, 404);
});

/** Ids that a query or a body may name, by the name of the parameter or member. */
function namedIn({ holesOf }: Belongings): Readonly<Record<string, string>> {
  const first = (kind: string): string => holesOf(`/v1/${kind}`)[0] ?? '';
  const [workflow = '', record = ''] = holesOf('/v1/workflows/{id}');
  const [, deployment = ''] = holesOf('/v1/workflows/{id}/deployments/{deployment_id}');
  const records = Object.fromEntries(
    ['emission_id', 'error_ids', 'last_event_id', 'start_id', 'end_id'].map((name) => [name, record]),
  );
  return {
    ...records,
    workflow_id: workflow,
    emitter_id: workflow,
    target: workflow,
    global_error_workflow_id: workflow,
    listener_id: first('webhooks'),
    webhook_id: first('webhooks'),
    source_id: first('sources'),
    channel_id: first('channels'),
    channels: first('channels'),
    group_id: first('error_groups'),
    key: first('keys'),
    deployment_id: deployment,
    deployment,
  };
}

/** Returns a request of B that names an id. */
function naming(b: OwnerOn, { method, path, example }: Operation, name: string): (id: string) => Promise<Answer> {
  if (method === 'GET' || method === 'DELETE') return (id) => b.client.request(method, `${path}?${name}=${id}`);
  const isList = name === 'error_ids' || name === 'channels';
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return (id) => {
    const body = JSON.stringify({ ...example, [name]: isList ? [id] : id });
    return b.client.request(method, path, body, { 'content-type': type });
  };
}

/** Returns what was answered, without the id that was named, and what each answer has of its own. */
function comparable({ status, text }: Answer, id: string): string {
  const own = /"(searched_until\w*|looked_at)":[^,}]*|op_\w+|\d{13}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;
  return `${status} ${text.replaceAll(id, 'an id').replace(own, '')}`;
}

test('foreign ids in queries and bodies are as good as invented ones', async () => {
  await using errand = await startErrand();
  const { b, operations, belongings } = await twoOwners(errand);
  const { paths, components } = await errand.client.get('/v1/openapi.json');
  const ids = namedIn(belongings);
  let seen = 0;
  for (const operation of operations) {
    const { method, path } = operation;
    // A stream has no end.
    if (path.includes('{') || path.endsWith('/stream')) continue;
    const { parameters = [], requestBody } = paths[path][method.toLowerCase()];
    const [media] = Object.values<Json>(requestBody?.content ?? {});
    const named = media?.schema.$ref?.split('/').at(-1);
    const { properties = {} } = (named === undefined ? media?.schema : components.schemas[named]) ?? {};
    const names = new Set([...parameters.map((one: Json) => one.name), ...Object.keys(properties)]);
    for (const [name, id] of Object.entries(ids)) {
      if (!names.has(name)) continue;
      const request = naming(b, operation, name);
      const [foreign, unknown] = [await request(id), await request(invented(id))];
      const what = `${method} ${path} ${name}`;
      assert.equal(comparable(foreign, id), comparable(unknown, invented(id)), what);
      assertNothingOf(belongings, foreign, [id], what);
      seen += 1;
    }
  }
  assert.ok(seen > 30, `${seen} parameters`);
});
