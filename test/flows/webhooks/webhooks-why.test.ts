// What a delivery says about itself in each situation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { createOwner } from '../../support/owners.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { attempted, createWebhook, deliveries, EMIT_BODY, newestDelivery } from '../../support/webhooks.ts';

const newErrand = shareErrand();

/** An emitter with a webhook of these settings. */
async function made(errand: Errand, url: string, more: Json = {}): Promise<{ emitter: Json; webhook: Json }> {
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, { url }, more);
  await errand.subscribe(emitter.id, webhook.id);
  return { emitter, webhook };
}

const whyOf = async (errand: Errand, id: string): Promise<string | null> =>
  (await errand.client.get(`/v1/deliveries/${id}`)).data.why;

test('a crowd before a delivery is counted', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const { emitter, webhook } = await made(errand, gate.url, { max_in_flight: 1, timeout_ms: 60_000 });
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    await errand.send(emitter, { n });
    const id = await until('the next delivery', async () => {
      const { data } = await errand.client.get(`/v1/webhooks/${webhook.id}/deliveries?limit=1`);
      return data[0]?.id !== ids.at(-1) && data[0]?.id;
    });
    ids.push(id);
    if (n === 1) await gate.wait(1);
  }
  const [first = '', second = '', third = ''] = ids;
  assert.equal(await whyOf(errand, first), 'Attempt 1 is on its way.');
  assert.equal(
    await whyOf(errand, second),
    'It waits for its first attempt. It is due now. 1 of at most 1 request to the webhook on the way.',
  );
  assert.equal(
    await whyOf(errand, third),
    'It waits for its first attempt. It is due now. 1 of at most 1 request to the webhook on the way. 1 delivery comes before it.',
  );
  const again = await errand.client.request('POST', `/v1/deliveries/${first}/resend`);
  assert.equal(again.status, 409);
  gate.open();
  await deliveries(errand, webhook.id, 'delivered', 3);
  assert.equal(await whyOf(errand, first), null);
});

test('a schedule is told with delay and due time', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const { emitter, webhook } = await made(errand, receiver.url);
  await errand.send(emitter, { n: 1 });
  const delivery = await attempted(errand, (await newestDelivery(errand, webhook.id)).id, 1);
  const dueAt = new Date(delivery.next_attempt_at_ms).toISOString().replace(/\.\d+Z$/, 'Z');
  assert.match(
    delivery.why,
    /^Attempt 1 failed: The receiver answered 500\. Attempt 2 follows after \d(\.\d)? s, 5 s in the schedule of retries, give or take 10 %\. It is due at /,
  );
  assert.ok(delivery.why.endsWith(`It is due at ${dueAt}.`), delivery.why);
  const [listed] = (await errand.client.get('/v1/deliveries?state=retrying')).data;
  assert.equal(listed.why, 'Attempt 1 failed; attempt 2 follows by the schedule of retries.');
  assert.equal(listed.next_attempt_at_ms, delivery.next_attempt_at_ms);
});

test('what is sent by hand says so', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await using gate = await startGate();
  receiver.answer(500);
  const { emitter, webhook } = await made(errand, receiver.url, { retry: { delays_ms: [] } });
  const path = `/v1/webhooks/${webhook.id}`;
  await errand.send(emitter, { n: 1 });
  const [given] = await deliveries(errand, webhook.id, 'exhausted');
  receiver.answer(429, { 'retry-after': '3600' });
  await errand.send(emitter, { n: 2 });
  await deliveries(errand, webhook.id, 'retrying');
  const resent = await errand.client.post(`/v1/deliveries/${given.id}/resend`);
  assert.deepEqual([resent.state, resent.why], ['retrying', 'Is sent again by hand: attempt 2.']);
  const { paused_until_ms: untilMs } = (await errand.client.get(path)).data.health;
  assert.equal(resent.next_attempt_at_ms, untilMs, 'not before the pause is over');
  assert.match(
    (await whyOf(errand, given.id)) ?? '',
    /^It is sent again by hand: attempt 2, .* The webhook is paused \(Retry-After\): nothing goes to it before /,
  );
  await errand.client.put(path, { url: gate.url });
  await gate.wait(1);
  assert.equal(await whyOf(errand, given.id), 'It is being sent again by hand: attempt 2 is on its way.');
  gate.open();
  await deliveries(errand, webhook.id, 'delivered');
});

test('what is held says what it waits for', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const { emitter, webhook } = await made(errand, receiver.url);
  await errand.send(emitter, { n: 1 });
  await deliveries(errand, webhook.id, 'retrying');
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: false });
  const [held] = await deliveries(errand, webhook.id, 'held');
  assert.equal(held.why, 'The webhook is not active; this goes out when it is enabled again. It has had 1 attempt.');
  assert.equal(held.next_attempt_at_ms, null);
  const b = await createOwner(errand);
  assert.equal((await b.client.request('GET', `/v1/deliveries/${held.id}`)).status, 404);
  receiver.answer(200);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  const [delivered] = await deliveries(errand, webhook.id, 'delivered');
  assert.equal(delivered.attempts_made, 2);
});

test('a mail says why it waits as well', async () => {
  await using errand = await startErrand({ ERRAND_SMTP_URL: 'smtp://127.0.0.1:1' });
  const workflow = await errand.workflow(`export default ({ $ }) => $.send.email({ subject: 'a', text: 'b' })`);
  await errand.send(workflow, {});
  const [mail] = await until('a mail that waits', async () => {
    const { data } = await errand.client.get('/v1/deliveries?kind=mail&state=retrying');
    return data.length > 0 && data;
  });
  assert.match((await whyOf(errand, mail.id)) ?? '', /^Attempt 1 failed: .* Attempt 2 follows after .* It is due at /);
});
