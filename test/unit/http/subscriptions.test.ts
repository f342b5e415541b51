import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Harness, startServer } from './harness.ts';
import { idOf, OWNER_ID, subscription, trigger, webhook } from './records.ts';

const P1 = idOf('p_', 1);
const WH1 = idOf('wh_', 1);

async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  return startServer(t, { actions: { subscribe: () => subscription(1), unsubscribe: () => subscription(1) } });
}

test('no name means the default channel', async (t) => {
  const { call, calls } = await started(t);
  const query = `emitter_id=${P1}&listener_id=${WH1}`;
  await call('POST', `/v1/subscriptions?${query}`, { json: { event_name: null } });
  await call('DELETE', `/v1/subscriptions?${query}`);
  for (const { args } of calls) assert.equal((args[1] as { eventName: string }).eventName, '');
  assert.equal(calls.length, 2);
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

test('lists leave triggers out unless asked', async (t) => {
  const { call, seed } = await started(t);
  await seed.triggers(trigger(1));
  await seed.webhooks(webhook(1));
  await seed.subscriptions(subscription(1));
  const idsOf = async (query: string) => {
    const { json } = await call('GET', `/v1/subscriptions${query}`);
    return json.data.map(({ emitter_id }: { emitter_id: string }) => emitter_id);
  };
  assert.deepEqual(await idsOf(''), [P1]);
  assert.deepEqual(await idsOf('?via=trigger'), [idOf('hi_', 1)]);
  assert.equal((await call('GET', '/v1/subscriptions?via=all')).status, 400);
});
