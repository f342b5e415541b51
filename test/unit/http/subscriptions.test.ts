import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../../src/domain/fault.ts';
import type { Subscription } from '../../../src/domain/resource.ts';
import { idOf, OWNER_ID, T0_MS } from './fake-store.ts';
import { type Harness, startServer } from './harness.ts';

const P1 = idOf('p_', 1);
const WH1 = idOf('wh_', 1);

function subscription(n: number, more: Partial<Subscription> = {}): Subscription {
  return {
    id: idOf('sub_', n),
    ownerId: OWNER_ID,
    emitterId: P1,
    listenerId: WH1,
    eventName: '$errors',
    via: 'subscription',
    active: true,
    createdAtMs: T0_MS,
    ...more,
  };
}

const SHOWN = {
  id: idOf('sub_', 1),
  emitter_id: P1,
  listener_id: WH1,
  event_name: '$errors',
  active: true,
  created_at: 1_782_000_000,
};

async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  return startServer(t, { actions: { subscribe: () => subscription(1), unsubscribe: () => subscription(1) } });
}

test('creating answers an array of one', async (t) => {
  const { call, calls } = await started(t);
  const query = `emitter_id=${P1}&listener_id=${WH1}&event_name=$errors`;
  const { status, json } = await call('POST', `/v1/subscriptions?${query}`);
  assert.equal(status, 200);
  assert.deepEqual(json, { data: [SHOWN] });
  const body = { emitter_id: P1, listener_id: WH1, event_name: '$errors' };
  assert.deepEqual((await call('POST', '/v1/subscriptions', { json: body })).json, json);
  const triple = { emitterId: P1, listenerId: WH1, eventName: '$errors' };
  assert.deepEqual(
    calls.map(({ args }) => args),
    [
      [OWNER_ID, triple],
      [OWNER_ID, triple],
    ],
  );
});

test('no name means the default channel', async (t) => {
  const { call, calls } = await started(t);
  const query = `emitter_id=${P1}&listener_id=${WH1}`;
  await call('POST', `/v1/subscriptions?${query}`);
  await call('POST', `/v1/subscriptions?${query}&event_name=`);
  await call('POST', `/v1/subscriptions?${query}`, { json: { event_name: null } });
  await call('DELETE', `/v1/subscriptions?${query}`);
  for (const { args } of calls) assert.equal((args[1] as { eventName: string }).eventName, '');
  assert.equal(calls.length, 4);
});

test('emitters of every kind are taken', async (t) => {
  const { call, calls } = await started(t);
  const emitters = [P1, 'dc_a', 'wh_a', 'hi_a', 'ti_a', '*', 'p_*', 'dc_*', OWNER_ID];
  for (const emitter of emitters) {
    const { status } = await call('POST', `/v1/subscriptions?emitter_id=${emitter}&listener_id=${WH1}`);
    assert.equal(status, 200, emitter);
  }
  assert.deepEqual(calls.at(-1)?.args[1], { emitterId: OWNER_ID, listenerId: WH1, eventName: '' });
});

test('missing and wrong ids are refused', async (t) => {
  const { call, calls } = await started(t);
  const cases = [
    [`listener_id=${WH1}`, 'emitter_id'],
    [`emitter_id=${P1}`, 'listener_id'],
    [`emitter_id=r_1&listener_id=${WH1}`, 'emitter_id'],
    [`emitter_id=&listener_id=${WH1}`, 'emitter_id'],
    [`emitter_id=wh_*&listener_id=${WH1}`, 'emitter_id'],
    [`emitter_id=${P1}&listener_id=hi_a`, 'listener_id'],
    [`emitter_id=${P1}&listener_id=*`, 'listener_id'],
    [`emitter_id=${P1}&listener_id=${WH1}&event_name=${'x'.repeat(129)}`, 'event_name'],
  ] as const;
  for (const [query, parameter] of cases) {
    const { status, json } = await call('POST', `/v1/subscriptions?${query}`);
    assert.equal(status, 400, query);
    assert.equal(json.errors[0].parameter, parameter);
  }
  assert.deepEqual(calls, []);
});

test('a listener that is missing is named', async (t) => {
  const subscribe = () => Promise.reject(new Refusal('not_found', `listener_id: there is no ${WH1}`));
  const { call } = await startServer(t, { actions: { subscribe } });
  const { status, json } = await call('POST', `/v1/subscriptions?emitter_id=${P1}&listener_id=${WH1}`);
  assert.deepEqual([status, json.error], [404, `listener_id: there is no ${WH1}`]);
});

test('an auto subscription has the emitter of all', async (t) => {
  const { call, calls } = await started(t);
  const { json } = await call('POST', `/v1/auto_subscriptions?event_name=$errors&listener_id=${WH1}`);
  assert.equal(Array.isArray(json.data), true);
  assert.deepEqual(calls[0]?.args[1], { emitterId: '*', listenerId: WH1, eventName: '$errors' });
});

test('lists leave triggers out unless asked', async (t) => {
  const { call, data } = await started(t);
  data.subscriptions.push(
    subscription(1),
    subscription(2, { via: 'trigger', listenerId: P1, emitterId: idOf('hi_', 1), eventName: '' }),
    subscription(3, { eventName: '', emitterId: OWNER_ID }),
  );
  const idsOf = async (query: string, path = '/v1/subscriptions') => {
    const { json } = await call('GET', `${path}${query}`);
    return json.data.map(({ id }: { id: string }) => id.slice(4, 11));
  };
  assert.deepEqual(await idsOf(''), ['0000003', '0000001']);
  assert.deepEqual(await idsOf('', '/v1/users/me/subscriptions'), ['0000003', '0000001']);
  assert.deepEqual(await idsOf('?via=trigger'), ['0000002']);
  assert.deepEqual(await idsOf('?event_name='), ['0000003']);
  assert.deepEqual(await idsOf('?event_name=$errors'), ['0000001']);
  assert.deepEqual(await idsOf(`?emitter_id=${OWNER_ID}`), ['0000003']);
  assert.deepEqual(await idsOf(`?listener_id=${P1}`), []);
  assert.equal((await call('GET', '/v1/subscriptions?via=all')).status, 400);
});

test('one is read and deleted by id', async (t) => {
  const { call, calls, data } = await started(t);
  data.subscriptions.push(subscription(1));
  assert.deepEqual((await call('GET', `/v1/subscriptions/${idOf('sub_', 1)}`)).json, { data: SHOWN });
  assert.equal((await call('GET', `/v1/subscriptions/${idOf('sub_', 2)}`)).status, 404);
  assert.deepEqual((await call('DELETE', `/v1/subscriptions/${idOf('sub_', 1)}`)).json, { data: SHOWN });
  assert.deepEqual(calls[0]?.args, [OWNER_ID, { id: idOf('sub_', 1) }]);
});

test('the triple is a key for deleting', async (t) => {
  const { call, calls } = await started(t);
  const query = `emitter_id=${OWNER_ID}&listener_id=${WH1}&event_name=$errors`;
  assert.deepEqual((await call('DELETE', `/v1/subscriptions?${query}`)).json, { data: SHOWN });
  assert.deepEqual(calls[0]?.args[1], { emitterId: OWNER_ID, listenerId: WH1, eventName: '$errors' });
  assert.equal((await call('DELETE', '/v1/subscriptions')).status, 400);
});
