import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryState } from '../../../src/domain/delivery/delivery.ts';
import { HEALTHY } from '../../../src/domain/delivery/health.ts';
import { Refusal } from '../../../src/domain/fault.ts';
import type { AttemptRecord } from '../../../src/store/contract/records.ts';
import { entryAt, type FakeData, idOf, OTHER_ID, OWNER_ID, T0_MS, webhook } from './fake-store.ts';
import { addReadKey, startServer } from './harness.ts';

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
    dueBy: 'schedule',
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
    why: 'Attempt 1 failed: The receiver answered 503. Attempt 2 follows after 5 s, 5 s in the schedule of retries, give or take 10 %. It is due at 2026-06-21T00:00:05Z.',
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
        retry_after_ms: null,
        permanent: false,
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

test('due times respect the webhook’s pause everywhere', async (t) => {
  const { call, data } = await startServer(t);
  const pausedUntilMs = T0_MS + 3_600_000;
  data.webhooks.push(webhook(1));
  data.healths.set(WH1, { ...HEALTHY, pausedUntilMs });
  const standing = { webhook: webhook(1), pausedUntilMs, sending: 0, ahead: 0, head: null };
  data.deliveries.push(delivery(1, { standing }), delivery(2, { state: 'delivered', nextAttemptAtMs: null }));
  for (const path of [`/v1/webhooks/${WH1}/deliveries`, '/v1/deliveries']) {
    const { json } = await call('GET', path);
    assert.deepEqual(
      json.data.map((d: { next_attempt_at_ms: number | null }) => d.next_attempt_at_ms),
      [null, pausedUntilMs],
    );
  }
  const { json } = await call('GET', `/v1/deliveries/${idOfDelivery(1)}`);
  assert.equal(json.data.next_attempt_at_ms, pausedUntilMs);
  assert.match(json.data.why, /paused \(Retry-After\): nothing goes to it before 2026-06-21T01:00:00Z/);
});

test('a delivery that is sent again is answered', async (t) => {
  const { ownerId: _, attempts: __, ...record } = delivery(1, { dueBy: 'resend', nextAttemptAtMs: T0_MS });
  const { call, calls } = await startServer(t, { actions: { resendDelivery: () => record } });
  const { json } = await call('POST', `/v1/deliveries/${idOfDelivery(1)}/resend`);
  assert.deepEqual(
    [json.data.id, json.data.state, json.data.next_attempt_at_ms, json.data.why],
    [idOfDelivery(1), 'retrying', T0_MS, 'Is sent again by hand: attempt 2.'],
  );
  assert.deepEqual(calls, [{ verb: 'resendDelivery', args: [OWNER_ID, entryAt(1)] }]);
});

test('what cannot be sent again is refused', async (t) => {
  let code: 'conflict' | 'impossible' | 'not_found' = 'conflict';
  const resendDelivery = () => Promise.reject(new Refusal(code, 'It cannot be sent again'));
  const harness = await startServer(t, { actions: { resendDelivery } });
  const { call, calls } = harness;
  const path = `/v1/deliveries/${idOfDelivery(1)}/resend`;
  for (const [next, status] of [
    ['conflict', 409],
    ['impossible', 422],
    ['not_found', 404],
  ] as const) {
    code = next;
    assert.equal((await call('POST', path)).status, status);
  }
  calls.length = 0;
  assert.equal((await call('POST', '/v1/deliveries/dl_x/resend')).status, 404);
  assert.equal((await call('POST', path, { json: { at: 1 } })).status, 400);
  assert.equal((await call('POST', path, { key: addReadKey(harness) })).status, 403);
  assert.deepEqual(calls, []);
});
