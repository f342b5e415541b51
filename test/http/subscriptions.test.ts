// Subscriptions as records: made, found, listed, refused and taken away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Json } from '../support/client.ts';
import { type OwnerOn, sharedErrand } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';

const newOwner = sharedErrand();

const PLAIN = 'export default () => 1';
const MEMBERS = ['id', 'emitter_id', 'listener_id', 'event_name', 'active', 'created_at'];

const plain = (errand: OwnerOn): Promise<Json> => errand.workflow(PLAIN, { triggers: [] });

function query(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}

function create(errand: OwnerOn, parameters: Record<string, string>): Promise<Answer> {
  return errand.client.request('POST', `/v1/subscriptions?${query(parameters)}`);
}

/** Those that a caller made; triggers are subscriptions too. */
async function listed(errand: OwnerOn, filter = ''): Promise<string[]> {
  const { page_info, data } = await errand.client.get(`/v1/subscriptions?${filter}`);
  assert.equal(page_info.total_count, data.length);
  return data.map((subscription: Json) => subscription.id);
}

test('a query makes a subscription', async () => {
  const errand = await newOwner();
  const [emitter, listener] = [await plain(errand), await plain(errand)];
  const parameters = { emitter_id: emitter.id, listener_id: listener.id, event_name: '$errors' };
  const { status, json } = await create(errand, parameters);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ['data']);
  assert.equal(json.data.length, 1);
  const [subscription] = json.data;
  assert.deepEqual(
    MEMBERS.filter((member) => !(member in subscription)),
    [],
  );
  assert.match(subscription.id, /^sub_\w+$/);
  assert.deepEqual({ ...subscription, ...parameters, active: true }, subscription);
  assert.ok(Math.abs(subscription.created_at - Date.now() / 1000) < 60);
  const { data: read } = await errand.client.get(`/v1/subscriptions/${subscription.id}`);
  assert.deepEqual(read, subscription);
});

test('an empty JSON body is fine', async () => {
  const errand = await newOwner();
  const [emitter, listener] = [await plain(errand), await plain(errand)];
  const path = `/v1/subscriptions?${query({ emitter_id: emitter.id, listener_id: listener.id })}`;
  const made = await errand.client.request('POST', path, '', { 'content-type': 'application/json' });
  assert.deepEqual([made.status, made.json.data[0].event_name], [200, '']);
  const read = await fetch(`${errand.client.url}/v1/subscriptions`, {
    headers: { authorization: `Bearer ${errand.client.key}`, 'content-type': 'application/json' },
  });
  assert.equal(read.status, 200);
  await read.body?.cancel();
  const gone = await errand.client.request('DELETE', path, '', { 'content-type': 'application/json' });
  assert.equal(gone.status, 200, gone.text);
});

test('a body makes a subscription too', async () => {
  const errand = await newOwner();
  const [emitter, listener, other] = [await plain(errand), await plain(errand), await plain(errand)];
  const body = { emitter_id: emitter.id, listener_id: listener.id, event_name: 'paid' };
  const [made] = await errand.client.post('/v1/subscriptions', body);
  assert.deepEqual([made.emitter_id, made.listener_id, made.event_name], Object.values(body));
  const mixed = await errand.client.request('POST', `/v1/subscriptions?listener_id=${other.id}`, body);
  assert.equal(mixed.json.data[0].listener_id, other.id, 'the query wins');
});

test('the same triple is one subscription', async () => {
  const errand = await newOwner();
  const [emitter, listener] = [await plain(errand), await plain(errand)];
  const triple = { emitter_id: emitter.id, listener_id: listener.id };
  const answers = await Promise.all(Array.from({ length: 5 }, () => create(errand, triple)));
  const later = await create(errand, { ...triple, event_name: '' });
  assert.deepEqual([...new Set([...answers, later].map(({ status, text }) => `${status} ${text}`))].length, 1);
  const named = await create(errand, { ...triple, event_name: 'x' });
  assert.notEqual(named.json.data[0].id, later.json.data[0].id);
  assert.equal((await listed(errand)).length, 2);
});

test('filters find what they name', async () => {
  const errand = await newOwner();
  const [one, two, three] = [await plain(errand), await plain(errand), await plain(errand)];
  const make = async (emitter: Json, listener: Json, name?: string) =>
    (await errand.subscribe(emitter.id, listener.id, name))[0].id;
  const errors = await make(one, two, '$errors');
  const default_ = await make(one, three);
  const named = await make(two, three, 'paid');
  assert.deepEqual(await listed(errand), [named, default_, errors]);
  assert.deepEqual(await listed(errand, `emitter_id=${one.id}`), [default_, errors]);
  assert.deepEqual(await listed(errand, `listener_id=${three.id}`), [named, default_]);
  assert.deepEqual(await listed(errand, 'event_name=$errors'), [errors]);
  assert.deepEqual(await listed(errand, 'event_name=%24errors'), [errors]);
  assert.deepEqual(await listed(errand, 'event_name='), [default_]);
  assert.deepEqual(await listed(errand, `emitter_id=${one.id}&listener_id=${three.id}`), [default_]);
  assert.deepEqual(await listed(errand, `emitter_id=${three.id}`), []);
});

test('pages and the owner list agree', async () => {
  const errand = await newOwner();
  const emitter = await plain(errand);
  for (const name of ['a', 'b', 'c']) await errand.subscribe(emitter.id, (await plain(errand)).id, name);
  const whole = await errand.client.get('/v1/subscriptions');
  assert.deepEqual(await errand.client.get('/v1/users/me/subscriptions'), whole);
  const first = await errand.client.get('/v1/subscriptions?limit=2');
  const second = await errand.client.get(`/v1/subscriptions?limit=2&after=${first.page_info.end_cursor}`);
  assert.deepEqual([...first.data, ...second.data], whole.data);
  const [{ id: start_cursor }, { id: end_cursor }] = first.data;
  assert.deepEqual(first.page_info, { total_count: 3, count: 2, start_cursor, end_cursor });
  assert.equal(second.page_info.count, 1);
});

test('the triple deletes a subscription', async () => {
  const errand = await newOwner();
  const [emitter, listener] = [await plain(errand), await plain(errand)];
  const triple = { emitter_id: emitter.id, listener_id: listener.id };
  const [unnamed] = await errand.subscribe(emitter.id, listener.id);
  const [named] = await errand.subscribe(emitter.id, listener.id, 'paid');
  const [errors] = await errand.subscribe(emitter.id, listener.id, '$errors');
  const first = await errand.client.request('DELETE', `/v1/subscriptions?${query(triple)}`);
  assert.equal(first.status, 200, first.text);
  assert.ok(JSON.stringify(first.json.data).includes(unnamed.id), 'it answers with what was deleted');
  assert.deepEqual(await listed(errand), [errors.id, named.id]);
  const second = await errand.client.request('DELETE', '/v1/subscriptions', { ...triple, event_name: 'paid' });
  assert.equal(second.status, 200, second.text);
  assert.deepEqual(await listed(errand), [errors.id]);
  assertProblem(await errand.client.request('DELETE', `/v1/subscriptions?${query(triple)}`), 404);
  assertProblem(
    await errand.client.request('DELETE', `/v1/subscriptions?emitter_id=${emitter.id}`),
    400,
    'listener_id',
  );
});

test('an id deletes a subscription', async () => {
  const errand = await newOwner();
  const [emitter, listener] = [await plain(errand), await plain(errand)];
  const [subscription] = await errand.subscribe(emitter.id, listener.id);
  const gone = await errand.client.delete(`/v1/subscriptions/${subscription.id}`);
  assert.ok(JSON.stringify(gone).includes(subscription.id));
  for (const method of ['GET', 'DELETE']) {
    assertProblem(await errand.client.request(method, `/v1/subscriptions/${subscription.id}`), 404, subscription.id);
  }
  assert.deepEqual(await listed(errand), []);
  const [again] = await errand.subscribe(emitter.id, listener.id);
  assert.deepEqual(await listed(errand), [again.id]);
});

test('an automatic subscription has every emitter', async () => {
  const errand = await newOwner();
  const listener = await plain(errand);
  const path = `/v1/auto_subscriptions?${query({ event_name: '$errors', listener_id: listener.id })}`;
  const answer = await errand.client.request('POST', path);
  assert.equal(answer.status, 200, answer.text);
  const { data } = await errand.client.get(`/v1/subscriptions?listener_id=${listener.id}`);
  assert.deepEqual(
    data.map(({ emitter_id, listener_id, event_name }: Json) => [emitter_id, listener_id, event_name]),
    [['*', listener.id, '$errors']],
  );
  const again = await create(errand, { emitter_id: '*', listener_id: listener.id, event_name: '$errors' });
  assert.equal(again.json.data[0].id, data[0].id);
});

test('what is missing or misplaced is 400', async () => {
  const errand = await newOwner();
  const [one, two] = [await plain(errand), await plain(errand)];
  const webhook = await errand.client.post('/v1/webhooks?url=https://example.com/hook');
  const bad: [Record<string, string>, string][] = [
    [{}, 'emitter_id'],
    [{ listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: one.id }, 'listener_id'],
    [{ emitter_id: '', listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: 'nonsense', listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: 'd_1', listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: 'c_1', listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: 'sub_1', listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: 'r_1', listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: 'wh_*', listener_id: two.id }, 'emitter_id'],
    [{ emitter_id: one.id, listener_id: two.id, event_name: 'x'.repeat(129) }, 'event_name'],
    [{ emitter_id: one.id, listener_id: 'nonsense' }, 'listener_id'],
    [{ emitter_id: one.id, listener_id: one.owner_id }, 'listener_id'],
    [{ emitter_id: one.id, listener_id: '*' }, 'listener_id'],
    [{ emitter_id: one.id, listener_id: 'hi_1' }, 'listener_id'],
  ];
  for (const [parameters, named] of bad) {
    assertProblem(await create(errand, parameters), 400, named);
  }
  const body = { emitter_id: one.id, listener_id: webhook.id, smell: 1 };
  assertProblem(await errand.client.request('POST', '/v1/subscriptions', body), 400, 'smell');
  const misspelt = { emitter_id: one.id, listener_id: webhook.id, event_nmae: '$errors' };
  assertProblem(await create(errand, misspelt), 400, 'event_nmae');
  assert.equal((await listed(errand)).length, 0);
  const unknown = await create(errand, { emitter_id: one.id, listener_id: webhook.id, smell: '1' });
  assert.equal(unknown.status, 200, 'unknown parameters are ignored');
  assert.equal((await listed(errand)).length, 1);
});

test('who is unknown is named', async () => {
  const errand = await newOwner();
  const known = await plain(errand);
  for (const emitter_id of ['p_nobody1', 'dc_nobody1', 'wh_nobody1', 'hi_nobody1', 'ti_nobody1', 'u_nobody1']) {
    assertProblem(await create(errand, { emitter_id, listener_id: known.id }), 404, emitter_id);
  }
  for (const listener_id of ['p_nobody1', 'dc_nobody1', 'wh_nobody1']) {
    assertProblem(await create(errand, { emitter_id: known.id, listener_id }), 404, listener_id);
  }
  for (const id of ['p_does_not_exist', 'p_no-such.one', `wh_${'x'.repeat(100)}`]) {
    assertProblem(await create(errand, { emitter_id: id, listener_id: known.id }), 404, `no emitter ${id}`);
    assertProblem(await create(errand, { emitter_id: known.id, listener_id: id }), 404, `no listener ${id}`);
  }
  assert.deepEqual(await listed(errand), []);
  assertProblem(await errand.client.request('GET', '/v1/subscriptions/sub_nobody1'), 404, 'sub_nobody1');
});

test('a workflow does not hear its own errors', async () => {
  const errand = await newOwner();
  const workflow = await plain(errand);
  const own = { emitter_id: workflow.id, listener_id: workflow.id, event_name: '$errors' };
  assertProblem(await create(errand, own), 422, workflow.id);
  const fine = await create(errand, { ...own, event_name: '' });
  assert.equal(fine.status, 200, fine.text);
});

test('a name that nothing has is refused', async () => {
  const errand = await newOwner();
  const [emitter, listener] = [await plain(errand), await plain(errand)];
  const ends = { emitter_id: emitter.id, listener_id: listener.id };
  for (const event_name of ['$error', '$in', '$']) {
    const answer = await create(errand, { ...ends, event_name });
    assertProblem(answer, 422);
    assert.equal(
      answer.json.detail,
      `nothing is emitted with the name "${event_name}": names that begin with $ are Errand’s own; for errors use $errors`,
    );
  }
  const triggers = [{ type: 'emitter', emitter_id: emitter.id, event_name: '$error' }];
  assertProblem(
    await errand.client.request('PUT', `/v1/workflows/${listener.id}`, { triggers }),
    422,
    'nothing is emitted with the name',
  );
  assert.deepEqual(await listed(errand), []);
  assertProblem(await errand.client.request('POST', '/v1/subscriptions', { ...ends, event_name: 'a\ud800' }), 400);
  assert.deepEqual(await listed(errand), [], 'no emission has half of a character in its name');
  for (const event_name of ['$errors', 'error']) {
    assert.equal((await create(errand, { ...ends, event_name })).status, 200, event_name);
  }
});

test('subscriptions go with their ends', async () => {
  const errand = await newOwner();
  const [one, two, three] = [await plain(errand), await plain(errand), await plain(errand)];
  const webhook = await errand.client.post('/v1/webhooks?url=https://example.com/hook');
  await errand.subscribe(one.id, two.id, '$errors');
  await errand.subscribe(two.id, three.id, '$errors');
  await errand.subscribe(one.id, webhook.id, '$errors');
  const [kept] = await errand.subscribe(one.id, three.id, '$errors');
  await errand.client.delete(`/v1/webhooks/${webhook.id}`);
  await errand.client.delete(`/v1/workflows/${two.id}`);
  assert.deepEqual(await listed(errand), [kept.id]);
});
