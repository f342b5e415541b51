import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryState } from '../../../src/domain/delivery.ts';
import type { AttemptRecord } from '../../../src/store/store.ts';
import { entryAt, type FakeData, idOf, OTHER_ID, OWNER_ID, T0_MS, webhook } from './fake-store.ts';
import { startServer } from './harness.ts';

const WH1 = idOf('wh_', 1);

const ATTEMPT: AttemptRecord = {
  n: 1,
  trigger: 'event',
  startedAtMs: T0_MS,
  tookMs: 12.5,
  timing: { dnsMs: 1, connectMs: 2, firstByteMs: null },
  outcome: 'answered',
  status: 503,
  responseHeaders: { 'retry-after': '5' },
  responseBody: 'later',
  detail: 'The receiver answered 503.',
  permanent: false,
};

type Fake = FakeData['deliveries'][number];

function delivery(n: number, more: Partial<Fake> = {}): Fake {
  return {
    ownerId: OWNER_ID,
    delivery: entryAt(n),
    kind: 'webhook',
    listenerId: WH1,
    subscriptionId: idOf('sub_', 1),
    entry: entryAt(n - 1),
    emitId: `abcde${n - 1}`,
    emitterId: idOf('p_', 1),
    eventName: '$errors',
    state: 'retrying',
    attemptsMade: 1,
    nextAttemptAtMs: T0_MS + 5000,
    endedAtMs: null,
    attempts: [ATTEMPT],
    ...more,
  };
}

function idOfDelivery(n: number): string {
  return `dl_${entryAt(n).toString(36)}`;
}

test('a delivery shows what the wire agrees', async (t) => {
  const { call, data } = await startServer(t);
  data.deliveries.push(delivery(10));
  const { json } = await call('GET', `/v1/deliveries/${idOfDelivery(10)}`);
  assert.deepEqual(json.data, {
    id: idOfDelivery(10),
    kind: 'webhook',
    webhook_id: WH1,
    subscription_id: idOf('sub_', 1),
    emission_id: 'abcde9',
    emitter_id: idOf('p_', 1),
    event_name: '$errors',
    state: 'retrying',
    attempts_made: 1,
    next_attempt_at_ms: T0_MS + 5000,
    why: 'Attempt 1 failed; attempt 2 follows by the schedule of retries.',
    created_at_ms: T0_MS + 10,
    ended_at_ms: null,
    attempts: [
      {
        n: 1,
        trigger: 'event',
        started_at_ms: T0_MS,
        took_ms: 12.5,
        timing: { dns_ms: 1, connect_ms: 2, first_byte_ms: null },
        outcome: 'answered',
        status: 503,
        response_headers: { 'retry-after': '5' },
        response_body: 'later',
        detail: 'The receiver answered 503.',
      },
    ],
  });
});

test('every open state says why it waits', async (t) => {
  const { call, data } = await startServer(t);
  const states: DeliveryState[] = ['pending', 'sending', 'retrying', 'held', 'delivered', 'exhausted', 'cancelled'];
  for (const [i, state] of states.entries()) data.deliveries.push(delivery(i + 1, { state }));
  const { json } = await call('GET', '/v1/deliveries');
  const why = new Map(json.data.map((d: { state: string; why: string | null }) => [d.state, d.why !== null]));
  assert.deepEqual(
    states.map((state) => why.get(state)),
    [true, true, true, true, false, false, false],
  );
});

test('deliveries are filtered by webhook and state', async (t) => {
  const { call, data } = await startServer(t);
  data.webhooks.push(webhook(1));
  const mail = { kind: 'mail', listenerId: 'mail', subscriptionId: null } as const;
  data.deliveries.push(
    delivery(1),
    delivery(2, { listenerId: idOf('wh_', 2) }),
    delivery(3, mail),
    delivery(4, { state: 'delivered' }),
  );
  const idsOf = async (path: string) => {
    const { json } = await call('GET', path);
    return json.data.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await idsOf('/v1/deliveries?kind=mail'), [idOfDelivery(3)]);
  assert.deepEqual(await idsOf(`/v1/deliveries?webhook_id=${WH1}`), [idOfDelivery(4), idOfDelivery(1)]);
  assert.deepEqual(await idsOf(`/v1/webhooks/${WH1}/deliveries?state=delivered`), [idOfDelivery(4)]);
  assert.equal((await idsOf('/v1/deliveries')).length, 4);
  assert.equal((await call('GET', '/v1/deliveries?kind=mail')).json.data[0].webhook_id, null);
});

test('filters that cannot be are refused', async (t) => {
  const { call } = await startServer(t);
  for (const query of ['state=sent', 'kind=webhook', `kind=mail&webhook_id=${WH1}`]) {
    assert.equal((await call('GET', `/v1/deliveries?${query}`)).status, 400, query);
  }
});

test('a delivery of somebody else answers 404', async (t) => {
  const { call, data } = await startServer(t);
  data.deliveries.push(delivery(1, { ownerId: OTHER_ID }));
  for (const id of [idOfDelivery(1), idOfDelivery(2), 'dl_x', 'x']) {
    assert.equal((await call('GET', `/v1/deliveries/${id}`)).status, 404);
  }
});
