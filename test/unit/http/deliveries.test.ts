import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordId } from '../../../src/domain/ids.ts';
import { Refusal } from '../../../src/domain/refusal.ts';
import type { DeliveryRecord } from '../../../src/store/contract/records.ts';
import { anAttempt, mail, only, succeeded } from '../../contract/fixtures.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';
import { addReadKey, type Harness, OTHER_KEY, startServer } from './harness.ts';
import { entryAt, idOf, OWNER_ID, subscription, T0_MS, webhook, workflow } from './records.ts';

const P1 = idOf('p_', 1);
const WH1 = idOf('wh_', 1);

const NUMBER = entryAt(999);
const DELIVERY_ID = `dl_${NUMBER.toString(36)}`;

const idOfDelivery = ({ delivery }: { delivery: number }): string => `dl_${delivery.toString(36)}`;

/** A workflow whose events go to a webhook. */
async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  const harness = await startServer(t);
  await harness.seed.workflows(workflow(1));
  await harness.seed.webhooks(webhook(1));
  await harness.seed.subscriptions(subscription(1, { eventName: '' }));
  return harness;
}

test('a delivery shows what the wire agrees', async (t) => {
  const { call, stage } = await started(t);
  const { emitId } = await stage.append(P1);
  const delivery = only(await stage.deliveries());
  await stage.retrying(delivery, 5000, {
    startedAtMs: T0_MS,
    status: 503,
    detail: 'The receiver answered 503.',
    tookMs: 12.5,
  });
  const { json } = await call('GET', `/v1/deliveries/${idOfDelivery(delivery)}`);
  assert.deepEqual(withoutIso(json.data), {
    id: idOfDelivery(delivery),
    kind: 'webhook',
    webhook_id: WH1,
    subscription_id: idOf('sub_', 1),
    emission_id: emitId,
    emitter_id: P1,
    event_name: '',
    state: 'retrying',
    attempts_made: 1,
    next_attempt_at_ms: T0_MS + 5000,
    why: 'Attempt 1 failed: The receiver answered 503. Attempt 2 follows after 5 s, 5 s in the schedule of retries, give or take 10 %. It is due at 2026-06-21T00:00:05Z.',
    created_at_ms: T0_MS,
    ended_at_ms: null,
    event: { hello: 'world' },
    attempts: [
      {
        n: 1,
        trigger: 'event',
        started_at_ms: T0_MS,
        took_ms: 12.5,
        timing: { dns_ms: 1, connect_ms: 2, first_byte_ms: 9 },
        outcome: 'answered',
        status: 503,
        response_headers: { 'content-type': 'text/plain' },
        response_body: 'ok',
        detail: 'The receiver answered 503.',
        retry_after_ms: null,
        permanent: false,
      },
    ],
  });
});

test('deliveries are filtered by webhook and state', async (t) => {
  const { call, seed, stage } = await started(t);
  await seed.webhooks(webhook(2));
  await seed.subscriptions(subscription(2, { listenerId: idOf('wh_', 2), eventName: 'other' }));
  await stage.append(P1);
  const first = only(await stage.deliveries());
  await stage.delivered(first);
  await stage.append(P1);
  await stage.append(P1, { name: 'other' });
  const run = await stage.started(workflow(1));
  await stage.end(run, succeeded({ outgoing: [mail('Hello')] }));
  const all = (await call('GET', '/v1/deliveries')).json.data;
  assert.deepEqual(
    all.map((one: { kind: string; webhook_id: string | null; state: string }) => [one.kind, one.webhook_id, one.state]),
    [
      ['mail', null, 'pending'],
      ['webhook', idOf('wh_', 2), 'pending'],
      ['webhook', WH1, 'pending'],
      ['webhook', WH1, 'delivered'],
    ],
  );
  const ids = all.map(({ id }: { id: string }) => id);
  const idsOf = async (path: string) => {
    const { json } = await call('GET', path);
    return json.data.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await idsOf('/v1/deliveries?kind=mail'), [ids[0]]);
  assert.deepEqual(await idsOf('/v1/deliveries?kind=webhook'), ids.slice(1));
  assert.deepEqual(await idsOf(`/v1/deliveries?webhook_id=${WH1}`), [ids[2], ids[3]]);
  assert.deepEqual(await idsOf(`/v1/deliveries?kind=webhook&webhook_id=${WH1}`), [ids[2], ids[3]]);
  for (const [n, { emission_id: emission }] of all.entries()) {
    assert.deepEqual(await idsOf(`/v1/deliveries?emission_id=${emission}`), [ids[n]]);
  }
  const record = recordId(first.emission.entry);
  assert.deepEqual(await idsOf(`/v1/deliveries?emission_id=${record}&state=delivered`), [ids[3]]);
  assert.deepEqual(await idsOf(`/v1/webhooks/${WH1}/deliveries?state=delivered`), [idOfDelivery(first)]);
});

test('filters that cannot be are refused', async (t) => {
  const { call } = await startServer(t);
  for (const query of [
    'state=sent',
    'kind=sms',
    `kind=mail&webhook_id=${WH1}`,
    'emission_id=evt_109',
    'emission_id=',
  ]) {
    assert.equal((await call('GET', `/v1/deliveries?${query}`)).status, 400, query);
  }
});

test('a delivery of another owner answers 404', async (t) => {
  const { call, stage } = await started(t);
  await stage.append(P1);
  const delivery = only(await stage.deliveries());
  assert.equal((await call('GET', `/v1/deliveries/${idOfDelivery(delivery)}`)).status, 200);
  assert.equal((await call('GET', `/v1/deliveries/${idOfDelivery(delivery)}`, { key: OTHER_KEY })).status, 404);
  for (const id of [DELIVERY_ID, 'dl_x', 'x']) assert.equal((await call('GET', `/v1/deliveries/${id}`)).status, 404);
});

test('due times respect the webhook’s pause everywhere', async (t) => {
  const { call, stage } = await started(t);
  const pauseUntilMs = T0_MS + 3_600_000;
  for (let n = 0; n < 3; n++) await stage.append(P1);
  const [done, paused, waiting, ...more] = await stage.deliveries();
  assert.ok(done && paused && waiting && more.length === 0);
  await stage.delivered(done);
  const put = { state: 'retrying', pauseUntilMs, nextAttemptAtMs: pauseUntilMs } as const;
  await stage.attempt({ delivery: paused, ...put, made: anAttempt({ status: 429, retryAfterMs: 3_600_000 }) });
  await stage.store.releaseDeliveries([waiting]);
  for (const path of [`/v1/webhooks/${WH1}/deliveries`, '/v1/deliveries']) {
    const { json } = await call('GET', path);
    assert.deepEqual(
      json.data.map((d: { next_attempt_at_ms: number | null }) => d.next_attempt_at_ms),
      [pauseUntilMs, pauseUntilMs, null],
    );
  }
  const { json } = await call('GET', `/v1/deliveries/${idOfDelivery(waiting)}`);
  assert.equal(json.data.next_attempt_at_ms, pauseUntilMs);
  assert.match(json.data.why, /paused \(Retry-After\): nothing goes to it before 2026-06-21T01:00:00Z/);
});

test('a delivery that is sent again is answered', async (t) => {
  const record: DeliveryRecord = {
    delivery: NUMBER,
    kind: 'webhook',
    listenerId: WH1,
    subscriptionId: idOf('sub_', 1),
    entry: entryAt(0),
    emitId: 'abcde0',
    emitterId: P1,
    eventName: '',
    ledBy: [],
    subject: null,
    state: 'retrying',
    attemptsMade: 1,
    nextAttemptAtMs: T0_MS,
    dueBy: 'resend',
    endedAtMs: null,
    unsent: null,
  };
  const { call, calls } = await startServer(t, { actions: { resendDelivery: () => record } });
  const { json } = await call('POST', `/v1/deliveries/${DELIVERY_ID}/resend`);
  assert.deepEqual(
    [json.data.id, json.data.state, json.data.next_attempt_at_ms, json.data.why],
    [DELIVERY_ID, 'retrying', T0_MS, 'Is sent again by hand: attempt 2.'],
  );
  assert.deepEqual(calls, [{ verb: 'resendDelivery', args: [OWNER_ID, NUMBER] }]);
});

test('what cannot be sent again is refused', async (t) => {
  let code: 'conflict' | 'impossible' | 'not_found' = 'conflict';
  const resendDelivery = () => Promise.reject(new Refusal(code, 'It cannot be sent again'));
  const harness = await startServer(t, { actions: { resendDelivery } });
  const { call, calls } = harness;
  const path = `/v1/deliveries/${DELIVERY_ID}/resend`;
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
  assert.equal((await call('POST', path, { key: await addReadKey(harness) })).status, 403);
  assert.deepEqual(calls, []);
});
